"""Builds the shipped catalog from ``llmfit list --json``; the one place that writes its format.

    llmfit list --json | python -m kubectl_llmfit.catalog.build "$(llmfit --version)" > FILE

Takes facts only: names, sizes, quantization, floors, architecture. No prose is copied.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_llmfit.catalog.shipped import COLUMNS, FORMAT

# Where llmfit names a fact otherwise than Model does.
_LLMFIT_NAMES = {
    "parameters": "parameters_raw",
    "layers": "num_hidden_layers",
    "attention_heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "experts": "num_experts",
    "intermediate_size": "moe_intermediate_size",
}

# Hubs count the packed words of low-bit checkpoints as parameters, so a 27B model shows as 15B.
# llmfit then takes the size in the repository's name when the count is below 3/4 of it, except
# for draft models, which carry the name of the model that they draft for. Found by running its
# claims for every entry; the parity run holds it.
_PACKED_RE = re.compile(r"nvfp4|mxfp4|mxfp8|awq|gptq|int4|int8|w4a16")
_DRAFT_RE = re.compile(r"dflash|dspark")
_NAMED_SIZE_RE = re.compile(r"(?<![a-z0-9.])([0-9]+(?:\.[0-9]+)?)b(?![a-z0-9])")
_PACKED_BELOW = 0.75


def build(entries: Iterable[Mapping[str, Any]], source: str) -> str:
    """The catalog file's text for llmfit's ``entries``; the same for the same input.

    Raises:
        ValueError: an entry's name can't be stored (not ASCII, a tab or newline, or repeated).
    """
    rows: dict[bytes, str] = {}
    for entry in entries:
        name = entry["name"]
        if not (name.isascii() and name.isprintable() and name.strip() == name):
            raise ValueError(f"name that the catalog cannot hold: {name!r}")
        key = name.lower().encode("ascii")
        if key in rows:
            raise ValueError(f"two models are called {name!r}")
        facts = {**entry, "parameters_raw": sized_parameters(name, entry["parameters_raw"])}
        rows[key] = "\t".join(
            _cell(facts[_LLMFIT_NAMES.get(column, column)]) for column, _ in COLUMNS
        )
    head = "\t".join((FORMAT, source, str(len(rows))))
    columns = "\t".join(column for column, _ in COLUMNS)
    return "".join(f"{line}\n" for line in (head, columns, *(rows[key] for key in sorted(rows))))


def sized_parameters(name: str, counted: int) -> int:
    """The parameter count that llmfit sizes ``name`` by, given the count of its list."""
    lowered = name.lower()
    named = _NAMED_SIZE_RE.search(lowered.rpartition("/")[2])
    if named is None or not _PACKED_RE.search(lowered) or _DRAFT_RE.search(lowered):
        return counted
    size = round(float(named.group(1)) * 1e9)
    return size if counted < size * _PACKED_BELOW else counted


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def main(arguments: list[str]) -> int:
    """``SOURCE`` (the release that standard input comes from): writes the file's text."""
    if len(arguments) != 1:
        print("usage: llmfit list --json | python -m kubectl_llmfit.catalog.build SOURCE")
        return 2
    sys.stdout.write(build(json.load(sys.stdin), arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
