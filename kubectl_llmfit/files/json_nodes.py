"""Reading JSON with the position of every part: one value after another, as kubectl takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.files import nodes, scalars
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree, Unusable

_SPACE_RE = re.compile(r"[ \t\r\n]*")
_STRING_RE = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER_RE = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def looks_like_json(text: str) -> bool:
    """Whether ``text`` starts as kubectl expects JSON to start."""
    return text.startswith("{", _after_space(text, 0))


def read(text: str) -> Iterator[Tree]:
    """Every value of ``text``, as long as they can be read.

    Raises:
        Unusable: what follows is not JSON.
    """
    position = _after_space(text, 0)
    while position < len(text):
        root = _value(text, position, 0)
        yield Tree(text, root, {})
        position = _after_space(text, root.end)


def _value(text: str, start: int, depth: int) -> Node:
    if depth > nodes.MAX_DEPTH:
        raise Unusable(f"is nested more than {nodes.MAX_DEPTH} levels deep", start)
    first = text[start : start + 1]
    if first in {"{", "["}:
        return _collection(text, start, depth)
    if first == '"':
        value, end = _string(text, start)
        return Node(Kind.SCALAR, start, start, end, value, flow=True)
    for word, meaning in _WORDS.items():
        if text.startswith(word, start):
            return Node(Kind.SCALAR, start, start, start + len(word), meaning, flow=True)
    number = _NUMBER_RE.match(text, start)
    if number is None:
        raise _unexpected(text, start)
    return Node(Kind.SCALAR, start, start, number.end(), scalars.plain(number[0]), flow=True)


def _collection(text: str, start: int, depth: int) -> Node:
    is_map = text[start] == "{"
    closing = "}" if is_map else "]"
    entries: list[Entry] = []
    position = _after_space(text, start + 1)
    while not text.startswith(closing, position):
        if entries:
            position = _after_space(text, _after(text, position, ","))
        entry = _pair(text, position, depth) if is_map else _item(text, position, depth)
        entries.append(entry)
        position = _after_space(text, entry.end)
    value: Any
    if is_map:
        value = {str(entry.name): entry.value.value for entry in entries}
    else:
        value = [entry.value.value for entry in entries]
    kind = Kind.MAP if is_map else Kind.LIST
    end = position + 1
    return Node(kind, start, start, end, value, flow=True, entries=tuple(entries))


def _pair(text: str, start: int, depth: int) -> Entry:
    name, end = _string(text, start)
    head = _after(text, _after_space(text, end), ":")
    return Entry(name, _value(text, _after_space(text, head), depth + 1), start, head)


def _item(text: str, start: int, depth: int) -> Entry:
    return Entry(None, _value(text, start, depth + 1), start, start)


def _string(text: str, start: int) -> tuple[str, int]:
    found = _STRING_RE.match(text, start)
    if found is None:
        raise _unexpected(text, start)
    try:
        return str(json.loads(found.group())), found.end()
    except ValueError:
        raise Unusable(f"is not JSON: {quoted(found.group(), 40)}", start) from None


def _after(text: str, position: int, wanted: str) -> int:
    if not text.startswith(wanted, position):
        raise _unexpected(text, position)
    return position + 1


def _after_space(text: str, position: int) -> int:
    found = _SPACE_RE.match(text, position)
    return found.end() if found else position


def _unexpected(text: str, position: int) -> Unusable:
    if position >= len(text):
        return Unusable("is not JSON: it ends too early", len(text))
    return Unusable(f"is not JSON: {quoted(text[position])} is unexpected", position)
