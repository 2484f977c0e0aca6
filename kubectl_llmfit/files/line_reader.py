"""The plainest YAML, which most manifests are: read by lines, ten times faster.

Takes block mappings and lists with one-line scalars and simple one-line flow collections. Anything
else - anchors, tags, tabs, texts over several lines, whatever is wrong - is left to the library;
tests hold that both make the same tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.files import nodes, scalars
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree

_QUOTED = r'"[^"\\\r\n]*"|' + r"'[^'\r\n]*'"
_KEY = rf"[A-Za-z0-9_./][A-Za-z0-9_./-]{{0,200}}|{_QUOTED}"
# A plain scalar: no ": " and no " #" in it, no space or colon at its end.
_PLAIN = r"(?:[A-Za-z0-9_./+~=^$(<;\\]|-(?=[^\s]))(?:[^\s:#]|:(?=\S)|(?<=\S)#| +(?=[^\s#]))*"
_WORD = r"(?:[A-Za-z0-9_./]|-(?=[A-Za-z0-9_-]))[A-Za-z0-9_./=-]*"
_FLOW_LIST = rf"\[(?:(?:{_WORD}|{_QUOTED})(?:, *(?:{_WORD}|{_QUOTED}))*)?\]"
_FLOW_PAIR = rf"(?:{_KEY}): +(?:{_WORD}|{_QUOTED})"
_FLOW_MAP = rf"\{{(?: *{_FLOW_PAIR}(?:, *{_FLOW_PAIR})* *)?\}}"
_VALUE = rf"{_QUOTED}|{_FLOW_LIST}|{_FLOW_MAP}|{_PLAIN}"
_LINE_RE = re.compile(
    rf" *(?P<dashes>(?:- +)*)"
    rf"(?:(?:(?P<key>{_KEY}):(?: +(?P<value>{_VALUE}))?|(?P<item>{_VALUE})|(?P<dash>-))"
    rf"(?: +#[^\r\n]*| *)|(?:#[^\r\n]*)?)(?:\r?\n|\Z)"
)
_ITEM_RE = re.compile(rf"{_WORD}|{_QUOTED}")
_PAIR_RE = re.compile(rf"({_KEY})(:) +({_WORD}|{_QUOTED})")
_ODD_RE = re.compile(
    "[^\r\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_MAX_COLUMN = 2 * nodes.MAX_DEPTH


class _Other(Exception):
    """The text is not of the plain kind."""


@dataclass
class _Part:
    """A dash, a key with what stands behind it on its line, or an item of a list."""

    column: int
    start: int
    head: int
    name: str | None = None
    node: Node | None = None


def read(text: str) -> Tree | None:
    """The tree of ``text``, or None when it is not of the plain kind."""
    if _ODD_RE.search(text):
        return None
    try:
        parts = _parts(text)
        reader = _Reader(parts)
        root = reader.block(-1)
    except (_Other, ValueError):
        return None
    return Tree(text, root, {}) if reader.next == len(parts) else None


def _parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    position = 0
    while position < len(text):
        found = _LINE_RE.match(text, position)
        if found is None:
            raise _Other
        dashes = found.start("dashes")
        for offset, character in enumerate(found["dashes"]):
            if character == "-":
                start = dashes + offset
                parts.append(_Part(start - position, start, start + 1))
        kind = found.lastgroup
        if kind in {"key", "value"}:
            start, head = found.start("key"), found.end("key") + 1
            name = scalars.key(_scalar(found["key"]))
            node = (
                _value(text, found.start("value"), found.end("value")) if found["value"] else None
            )
            parts.append(_Part(start - position, start, head, name, node))
        elif kind == "item":
            if not found["dashes"]:
                raise _Other
            start = found.start("item")
            node = _value(text, start, found.end("item"))
            parts.append(_Part(start - position, start, start, None, node))
        elif kind == "dash":
            start = found.start("dash")
            parts.append(_Part(start - position, start, start + 1))
        position = found.end()
    if not parts or max(part.column for part in parts) > _MAX_COLUMN:
        raise _Other
    return parts


def _scalar(shown: str) -> scalars.Scalar:
    return shown[1:-1] if shown[0] in "\"'" else scalars.plain(shown)


def _value(text: str, start: int, end: int) -> Node:
    first = text[start]
    if first == "[":
        items = [
            Entry(None, _leaf(found, 0), found.start(), found.start())
            for found in _ITEM_RE.finditer(text, start + 1, end - 1)
        ]
        listed = [item.value.value for item in items]
        return Node(Kind.LIST, start, start, end, listed, flow=True, entries=tuple(items))
    if first == "{":
        pairs = [
            Entry(scalars.key(_scalar(found[1])), _leaf(found, 3), found.start(), found.end(2))
            for found in _PAIR_RE.finditer(text, start + 1, end - 1)
        ]
        mapped = {str(pair.name): pair.value.value for pair in pairs}
        return Node(Kind.MAP, start, start, end, mapped, flow=True, entries=tuple(pairs))
    return Node(Kind.SCALAR, start, start, end, _scalar(text[start:end]))


def _leaf(found: re.Match[str], group: int) -> Node:
    start, end = found.span(group)
    return Node(Kind.SCALAR, start, start, end, _scalar(found[group]))


class _Reader:
    """Puts parts together by their columns."""

    def __init__(self, parts: list[_Part]) -> None:
        self._parts = parts
        self.next = 0

    def block(self, outer: int) -> Node:
        """The collection or scalar that starts here; ``outer`` is the column it stands under."""
        part = self._parts[self.next]
        if part.name is not None:
            node = self._map(part.column)
        elif part.node is not None:
            self.next += 1
            node = part.node
        else:
            node = self._list(part.column)
        if self.next < len(self._parts) and self._parts[self.next].column > outer:
            # Out of line, or one more line of a scalar.
            raise _Other
        return node

    def _map(self, column: int) -> Node:
        entries: list[Entry] = []
        value: dict[str, Any] = {}
        for part in self._at(column, is_pair=True):
            node = part.node or self._under(part, lists_at=column)
            entries.append(Entry(part.name, node, part.start, part.head))
            value[str(part.name)] = node.value
        start, end = entries[0].start, entries[-1].end
        return Node(Kind.MAP, start, start, end, value, entries=tuple(entries))

    def _list(self, column: int) -> Node:
        entries = [
            Entry(None, self._under(part, lists_at=None), part.start, part.head)
            for part in self._at(column, is_pair=False)
        ]
        start, end = entries[0].start, entries[-1].end
        values = [entry.value.value for entry in entries]
        return Node(Kind.LIST, start, start, end, values, entries=tuple(entries))

    def _at(self, column: int, is_pair: bool) -> Any:
        while self.next < len(self._parts):
            part = self._parts[self.next]
            is_item = part.name is None and part.node is not None
            if part.column != column or (part.name is not None) != is_pair or is_item:
                return
            self.next += 1
            yield part

    def _under(self, part: _Part, lists_at: int | None) -> Node:
        """What stands below a key or behind a dash; a list may be at its key's own column."""
        if self.next < len(self._parts):
            below = self._parts[self.next]
            if below.column > part.column:
                return self.block(part.column)
            if below.column == lists_at and below.name is None and below.node is None:
                return self._list(below.column)
        return Node(Kind.SCALAR, part.head, part.head, part.head, None)
