"""Which item of a list became which of another, so that those in between can come and go."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Pair = tuple[int | None, int | None]


def aligned(old: Sequence[Any], new: Sequence[Any]) -> list[Pair]:
    """Index in ``old`` and in ``new`` of every item, in order; ``None`` where one has it not.

    Equal items are paired, and between two of them the others by their order.
    """
    pairs: list[Pair] = []
    for _, start, end, new_start, new_end in _blocks(old, new):
        pairs += [
            (
                None if index is None else start + index,
                None if new_index is None else new_start + new_index,
            )
            for index, new_index in in_order(old[start:end], new[new_start:new_end])
        ]
    return pairs


def in_order(old: Sequence[Any], new: Sequence[Any]) -> list[Pair]:
    """The same, all items paired by their order."""
    both = min(len(old), len(new))
    pairs: list[Pair] = [(index, index) for index in range(both)]
    pairs += [(index, None) for index in range(both, len(old))]
    pairs += [(None, index) for index in range(both, len(new))]
    return pairs


def _blocks(old: Sequence[Any], new: Sequence[Any]) -> Sequence[tuple[str, int, int, int, int]]:
    # Imported here because most edits change no list's length.
    from difflib import SequenceMatcher

    def spelled(items: Sequence[Any]) -> list[str]:
        return [json.dumps(item, sort_keys=True) for item in items]

    return SequenceMatcher(None, spelled(old), spelled(new), autojunk=False).get_opcodes()
