"""A file's text as documents, and the Kubernetes objects in them with their places.

A stream is split as kubectl splits it, by lines that start with ``---``, and each document is
read by itself: one that cannot be read leaves the others usable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kubectl_llmfit.core.reasons import NOT_A_MANIFEST, Problem, printable, quoted
from kubectl_llmfit.files import json_nodes, nodes, yaml_nodes
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree, Unusable

_SEPARATOR_RE = re.compile(r"^---[^\n]*(?:\n|\Z)", re.MULTILINE)
_TEMPLATE_RE = re.compile(r"\{\{")
_BOM = "\ufeff"


@dataclass(frozen=True, eq=False)
class Located:
    """One object: its plain ``value`` as Kubernetes reads it, and where it stands.

    ``path`` leads to it inside its document: empty, or ``("items", 2)`` in a List. ``line`` counts
    from 1 in the whole file.
    """

    value: dict[str, Any]
    name: str
    document: Document
    path: tuple[str | int, ...]
    line: int
    node: Node

    @property
    def where(self) -> str:
        """The place in words: file, document, item and line."""
        item = "".join(f"{part}" if isinstance(part, str) else f"[{part}]" for part in self.path)
        return ", ".join(part for part in (self.document.where(self.line), item) if part)


@dataclass(frozen=True, eq=False)
class Document:
    """One document of a stream: ``manifest[start:end]``, without the separator before it.

    ``number`` counts from 1; ``single`` says that there is no other.
    """

    name: str
    number: int
    single: bool
    start: int
    first_line: int
    tree: Tree
    json: bool
    problem: Problem | None

    @property
    def end(self) -> int:
        """Where the document ends in the file."""
        return self.start + len(self.tree.text)

    def where(self, line: int) -> str:
        """The place of ``line`` (of the file, from 1) in words."""
        number = "" if self.single else f"document {self.number}, "
        return f"{printable(self.name)}, {number}line {line}"

    def line(self, position: int) -> int:
        """The file's line, from 1, of a position in this document."""
        return self.first_line + nodes.line_number(self.tree.text, position)

    @cached_property
    def content(self) -> tuple[tuple[Located, ...], tuple[Problem, ...]]:
        """The objects, and what is none."""
        if self.problem is not None:
            return (), (self.problem,)
        root = self.tree.root
        if root is None or root.value is None:
            return (), ()
        if not isinstance(root.value, dict):
            return (), (self._refused("is a list or a text, not an object", root.start),)
        items = _items(root)
        if items is None:
            return (self._located(root, ()),), ()
        found: list[Located] = []
        problems: list[Problem] = []
        for index, entry in enumerate(items.entries):
            node = entry.value
            if not isinstance(node.value, dict) or _items(node) is not None:
                sentence = f"has items[{index}], which is no object that a List can hold"
                problems.append(self._refused(sentence, entry.start))
            else:
                found.append(self._located(node, ("items", index)))
        return tuple(found), tuple(problems)

    def _located(self, node: Node, path: tuple[str | int, ...]) -> Located:
        return Located(node.value, self.name, self, path, self.line(node.start), node)

    def _refused(self, sentence: str, position: int) -> Problem:
        return _problem(self.where(self.line(position)), sentence, self.tree.text)


@dataclass(frozen=True, eq=False)
class Manifest:
    """A file's text, its documents, their objects, and what could not be used."""

    name: str
    text: str
    documents: tuple[Document, ...]
    is_json: bool

    @property
    def objects(self) -> tuple[Located, ...]:
        """Every object of every document, the items of Lists by themselves."""
        return tuple(each for document in self.documents for each in document.content[0])

    @property
    def problems(self) -> tuple[Problem, ...]:
        """One for each document or item that is no object kubectl would take."""
        return tuple(each for document in self.documents for each in document.content[1])


def parse(text: str, name: str) -> Manifest:
    """The manifest that ``text`` is; ``name`` stands for it in every sentence.

    Never refuses: a document that cannot be read is a problem of the result.
    """
    body = len(_BOM) if text.startswith(_BOM) else 0
    if json_nodes.looks_like_json(text[body:]):
        documents = _json_documents(text, name, body)
        if documents is not None:
            return Manifest(name, text, documents, is_json=True)
    pieces = list(_pieces(text, body))
    documents = tuple(
        _document(name, number, len(pieces) == 1, start, line, text[start:end], marker)
        for number, (start, end, line, marker) in enumerate(pieces, 1)
    )
    return Manifest(name, text, documents, is_json=False)


def _json_documents(text: str, name: str, body: int) -> tuple[Document, ...] | None:
    """A document for each JSON value; None when the text is rather YAML in braces."""
    try:
        trees = list(json_nodes.read(text[body:]))
    except Unusable as unusable:
        return None if _is_yaml(text[body:]) else (_broken(text, name, body, unusable),)
    documents: list[Document] = []
    start, line = body, 1
    for number, tree in enumerate(trees, 1):
        root = tree.root
        last = number == len(trees)
        end = len(text) if last or root is None else body + root.end
        piece = next(json_nodes.read(text[start:end]))
        documents.append(
            Document(name, number, len(trees) == 1, start, line, piece, json=True, problem=None)
        )
        line += nodes.line_number(text[start:end], end - start)
        start = end
    return tuple(documents)


def _is_yaml(text: str) -> bool:
    try:
        return all(yaml_nodes.read(text[start:end]) for start, end, _, _ in _pieces(text, 0))
    except Unusable:
        return False


def _broken(text: str, name: str, body: int, unusable: Unusable) -> Document:
    tree = Tree(text[body:], None, {})
    line = 1 + nodes.line_number(tree.text, unusable.position or 0)
    problem = _problem(f"{printable(name)}, line {line}", unusable.sentence, tree.text)
    return Document(name, 1, True, body, 1, tree, json=True, problem=problem)


def _pieces(text: str, body: int) -> Iterator[tuple[int, int, int, str]]:
    """Start, end and first line of each document, and the separator line before it.

    Nothing but white space before the first separator is no document.
    """
    start, marker, line = body, "", 1
    for found in _SEPARATOR_RE.finditer(text, body):
        piece = text[start : found.start()]
        if marker or piece.strip():
            yield start, found.start(), line, marker
        line += piece.count("\n") + 1
        start, marker = found.end(), found.group()
    yield start, len(text), line, marker


def _document(
    name: str, number: int, single: bool, start: int, line: int, text: str, marker: str
) -> Document:
    problem: Problem | None = None
    tree = Tree(text, None, {})
    where = f"{printable(name)}, " + ("" if single else f"document {number}, ")
    behind = marker[3:].strip()
    if behind and not behind.startswith("#"):
        sentence = f"has {quoted(behind, 40)} on the line of its ---, which kubectl does not take"
        problem = _problem(f"{where}line {line - 1}", sentence, "")
    else:
        try:
            tree = yaml_nodes.read(text)
        except Unusable as unusable:
            position = 0 if unusable.position is None else unusable.position
            place = f"{where}line {line + nodes.line_number(text, position)}"
            problem = _problem(place, unusable.sentence, text)
    return Document(name, number, single, start, line, tree, json=False, problem=problem)


def _problem(where: str, sentence: str, text: str) -> Problem:
    advice = "mend it"
    if _TEMPLATE_RE.search(text):
        advice = "if it is a Helm template, give the output of `helm template` instead"
    return Problem(NOT_A_MANIFEST, f"{where}: the document {sentence}; {advice}")


def item_of(document: Document, located: Located) -> tuple[Node, Entry]:
    """The list of items of the List that ``document`` is, and which of them ``located`` is."""
    root = document.tree.root
    pairs = () if root is None else root.entries
    return next(
        (pair.value, item)
        for pair in pairs
        for item in pair.value.entries
        if item.value is located.node
    )


def _items(node: Node) -> Node | None:
    """The list of a List's items."""
    if not str(node.value.get("kind", "")).endswith("List"):
        return None
    for entry in reversed(node.entries):
        if entry.name == "items" and entry.value.kind is Kind.LIST:
            return entry.value
    return None
