"""The tree of a document with the position of every part in its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

MAX_DEPTH = 100
"""Kubernetes objects are some twenty levels deep; deeper text is refused, not recursed into."""
MAX_VALUES = 200_000
"""Of one document, each alias counted as all that it stands for."""

_BREAK_RE = re.compile(r"\r\n|\n|\r")
_PROPERTY_RE = re.compile(r"[&!][^\s,\[\]{}]*")
_GAP_RE = re.compile(r"(?:[ \t\r\n\ufeff]+|(?<![^ \t\r\n,\[\]{}\"':])#[^\r\n]*)*")


class Kind(Enum):
    """What stands at a node."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"
    ALIAS = "alias"


@dataclass(frozen=True, eq=False)
class Node:
    """One value: ``text[start:end]``, of which ``text[content:end]`` follows anchor and tag."""

    kind: Kind
    start: int
    content: int
    end: int
    value: Any
    flow: bool = False
    tagged: bool = False
    entries: tuple[Entry, ...] = ()
    target: Node | None = None
    """Of an alias: the node that it stands for."""

    @property
    def missing(self) -> bool:
        """A null that is written as nothing at all."""
        return self.kind is Kind.SCALAR and self.content == self.end


@dataclass(frozen=True, eq=False)
class Entry:
    """A pair of a mapping, or an item of a list (``name`` is None).

    ``start`` is where the key or the dash is; ``head`` is behind the colon or the dash.
    """

    name: str | None
    value: Node
    start: int
    head: int
    merge: bool = False

    @property
    def end(self) -> int:
        """Where the entry's text ends; comments and separators are not part of it."""
        return max(self.head, self.value.end)


@dataclass(frozen=True, eq=False)
class Tree:
    """A document's text and its root; ``aliases`` has, for an anchored node, where it is used."""

    text: str
    root: Node | None
    aliases: Mapping[Node, tuple[int, ...]]


class Unusable(Exception):
    """The text is nothing that can be read; ``position`` says where, if that is known."""

    def __init__(self, sentence: str, position: int | None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.position = position


def line_start(text: str, position: int) -> int:
    """Where the line of ``position`` starts."""
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def line_end(text: str, position: int) -> tuple[int, int]:
    """Where the line of ``position`` ends, without and with its line break."""
    found = _BREAK_RE.search(text, position)
    return (found.start(), found.end()) if found else (len(text), len(text))


def line_number(text: str, position: int) -> int:
    """The line of ``position``, counted from 0."""
    return sum(1 for _ in _BREAK_RE.finditer(text, 0, position))


def column(text: str, position: int) -> int:
    """How far into its line ``position`` is."""
    return position - line_start(text, position)


def line_break(text: str, position: int) -> str:
    """The line break in use around ``position``: this line's, else the first of the text."""
    found = _BREAK_RE.search(text, position) or _BREAK_RE.search(text)
    return found.group() if found else "\n"


def skip_gap(text: str, position: int) -> int:
    """The next character that is neither white space nor part of a comment."""
    found = _GAP_RE.match(text, position)
    return found.end() if found else position


def skip_properties(text: str, position: int) -> int:
    """Behind an anchor and a tag that start at ``position``."""
    end = position
    while (found := _PROPERTY_RE.match(text, position)) is not None:
        end = found.end()
        position = skip_gap(text, end)
    return end
