"""YAML text of plain data: what JSON can hold, as the API server's objects are.

Importing a YAML library costs more than all the rest of ``render``. Tests check the output against
two libraries, for YAML 1.1 and 1.2 readers alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

# Plain scalars that no YAML 1.1 or 1.2 reader takes for anything but a string: they start with a
# letter and hold nothing that ends or changes a scalar.
_PLAIN_RE = re.compile(r"[A-Za-z][-A-Za-z0-9_./]*")
# In any case of letters; YAML 1.1 knows more of them than 1.2.
_WORDS_WITH_A_MEANING = frozenset(
    ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf")
)
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FOLD_AT = " && "
_WIDTH = 96


def dump(document: Mapping[str, Any]) -> str:
    """``document`` as YAML text that ends with one newline.

    Block style, two spaces, keys in their own order. Strings that hold `` && `` (CEL) are folded
    to a conjunct a line, which a reader joins again with single spaces; strings of several lines
    stand as they are, in kubectl's way.
    """
    return "".join(f"{line}\n" for line in _mapping(document, ""))


def dump_all(texts: Sequence[str]) -> str:
    """Several documents' texts as one stream, with ``---`` between them."""
    return "---\n".join(texts)


def scalar(value: str | bool | int | float | None) -> str:
    """``value`` as a YAML scalar on one line; strings are quoted when a reader could err."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return repr(value)
    if _PLAIN_RE.fullmatch(value) and value.lower() not in _WORDS_WITH_A_MEANING:
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _float(value: float) -> str:
    """Shortest decimal text; YAML 1.1 wants a point in the mantissa and names for the rest."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, e, exponent = repr(value).partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else repr(value)


def _escaped(character: str) -> str:
    """``character`` inside double quotes; ASCII, as YAML 1.1 and 1.2 both escape it."""
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _mapping(mapping: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in mapping.items():
        lines += _entry(f"{indent}{scalar(key)}:", value, indent)
    return lines


def _entry(head: str, value: Any, indent: str) -> list[str]:
    """``head`` (a key with its colon) and its ``value``; ``indent`` is the key's own."""
    if isinstance(value, Mapping):
        return [head, *_mapping(value, indent + "  ")] if value else [f"{head} {{}}"]
    if isinstance(value, (list, tuple)):
        return [head, *_sequence(value, indent)] if value else [f"{head} []"]
    if isinstance(value, str) and _can_fold(value):
        return [f"{head} >-", *(f"{indent}  {line}" for line in _folded(value))]
    if isinstance(value, str) and _can_stand(value):
        mark = "|" if value.endswith("\n") else "|-"
        return [f"{head} {mark}", *(_indented(value.removesuffix("\n"), indent))]
    return [f"{head} {scalar(value)}"]


def _sequence(items: Sequence[Any], indent: str) -> list[str]:
    lines: list[str] = []
    for item in items:
        inner = indent + "  "
        if isinstance(item, Mapping) and item:
            block = _mapping(item, inner)
        elif isinstance(item, (list, tuple)) and item:
            block = _sequence(item, inner)
        else:
            block = _entry(indent + " ", item, indent)
        # The first line of a block stands behind the dash.
        lines += [f"{indent}- {block[0].lstrip()}", *block[1:]]
    return lines


def _folded(text: str) -> list[str]:
    """``text`` a term a line, long lists broken after their commas.

    A reader joins the lines of a folded scalar with single spaces, so breaking at any single
    space loses nothing.
    """
    conjuncts = text.split(_FOLD_AT)
    lines: list[str] = []
    for conjunct in [f"{each} &&" for each in conjuncts[:-1]] + conjuncts[-1:]:
        *heads, tail = conjunct.split(" || ")
        for disjunct in [f"{each} ||" for each in heads] + [tail]:
            lines += _filled(disjunct.split(", "))
    return lines


def _filled(items: Sequence[str]) -> list[str]:
    """``items`` of a list, with commas between them, as many a line as fit."""
    lines: list[str] = []
    line = items[0]
    for item in items[1:]:
        if len(line) + len(item) + 2 > _WIDTH:
            lines.append(f"{line},")
            line = item
        else:
            line = f"{line}, {item}"
    return [*lines, line]


def _can_stand(text: str) -> bool:
    """Whether the lines of ``text`` can be written as they are, and are read back so.

    A first line that starts with a blank would need its indentation said, more than one line
    break at the end another mark.
    """
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) + text.endswith("\n") > 1
        and not text.startswith((" ", "\t", "\n"))
        and not text.endswith("\n\n")
        and all(line.isascii() and line.replace("\t", "").isprintable() for line in lines)
    )


def _indented(text: str, indent: str) -> list[str]:
    return [f"{indent}  {line}" if line else "" for line in text.split("\n")]


def _can_fold(text: str) -> bool:
    """Whether folding ``text`` at its conjunctions loses nothing when it is read back."""
    return (
        _FOLD_AT in text
        and "  " not in text
        and text == text.strip()
        and text.isprintable()
        and text.isascii()
    )
