"""Reading one YAML document of any kind with the library, with the position of every part.

Importing this module loads the library, which takes as long as many a whole command.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.files import nodes, scalars, tab_scanner
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree, Unusable

_BLOCK_SCALARS = ("|", ">")


def read(text: str) -> Tree:
    """The one document of ``text``.

    Raises:
        Unusable: ``text`` is not YAML, or is nothing that kubectl could read.
    """
    try:
        return _Builder(text).tree()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = (error.problem or error.context or "unreadable").strip()
        raise Unusable(f"is not YAML: {said}", None if mark is None else mark.index) from None
    except ReaderError as error:
        shown = f"holds the character U+{error.character:04X}"
        raise Unusable(f"{shown}, which YAML does not allow", error.position) from None
    except (YAMLError, ValueError) as error:
        said = (str(error).splitlines() or ["unreadable"])[0]
        raise Unusable(f"is not YAML: {said}", None) from None


class _Builder:
    """Makes the tree from the parser's events."""

    def __init__(self, text: str) -> None:
        self._text = text
        # A reader of its own: the library keeps state from one text to the next.
        reader = YAML(typ="safe", pure=True)
        reader.Scanner = tab_scanner.TabScanner
        self._events: Iterator[Any] = reader.parse(text)
        self._anchors: dict[str, Node] = {}
        self._aliases: dict[Node, tuple[int, ...]] = {}
        self._values = 0
        self._depth = 0

    def tree(self) -> Tree:
        root: Node | None = None
        seen = False
        for event in self._events:
            if isinstance(event, events.DocumentStartEvent):
                if seen:
                    said = "has a second document without --- before it, which kubectl never reads"
                    raise Unusable(said, nodes.skip_gap(self._text, event.start_mark.index))
                seen = True
                root = self._node(next(self._events))
        return Tree(self._text, root, self._aliases)

    def _node(self, event: Any) -> Node:
        start = event.start_mark.index
        self._count(1, start)
        if isinstance(event, events.AliasEvent):
            return self._alias(event)
        content = start
        has_properties = event.anchor is not None or event.tag is not None
        if has_properties:
            behind = nodes.skip_properties(self._text, start)
            content = nodes.skip_gap(self._text, behind)
        if isinstance(event, events.ScalarEvent):
            if event.value == "" and event.style is None:
                content = behind if has_properties else start
            node = self._scalar(event, start, content)
        else:
            self._depth += 1
            if self._depth > nodes.MAX_DEPTH:
                raise Unusable(f"is nested more than {nodes.MAX_DEPTH} levels deep", start)
            is_map = isinstance(event, events.MappingStartEvent)
            node = self._map(event, content) if is_map else self._list(event, content)
            self._depth -= 1
        if event.anchor is not None:
            self._anchors[event.anchor] = node
            self._aliases[node] = ()
        return node

    def _count(self, values: int, position: int) -> None:
        self._values += values
        if self._values > nodes.MAX_VALUES:
            raise Unusable(f"holds more than {nodes.MAX_VALUES} values", position)

    def _alias(self, event: Any) -> Node:
        start, end = event.start_mark.index, event.end_mark.index
        target = self._anchors.get(event.anchor)
        if target is None:
            raise Unusable(f"names the anchor {quoted(event.anchor)}, which is not there", start)
        self._aliases[target] += (start,)
        self._count(_size(target.value), start)
        value = copy.deepcopy(target.value)
        return Node(Kind.ALIAS, start, start, end, value, target=target)

    def _scalar(self, event: Any, start: int, content: int) -> Node:
        is_plain = event.style is None
        tag = None if event.tag is None else str(event.tag)
        try:
            if tag is not None:
                value = scalars.tagged(event.value, tag, is_plain)
            else:
                value = scalars.plain(event.value) if is_plain else event.value
        except ValueError as error:
            raise Unusable(f"cannot be read: {error}", start) from None
        end = event.end_mark.index
        if event.style in _BLOCK_SCALARS:
            end = self._block_end(content, end)
        elif is_plain and event.value == "":
            end = content
        return Node(Kind.SCALAR, start, content, end, value, tagged=tag is not None)

    def _block_end(self, content: int, end: int) -> int:
        """Behind the last line of a block scalar that belongs to its value."""
        header, _ = nodes.line_end(self._text, content)
        if "+" in self._text[content:header].partition("#")[0]:
            return nodes.line_end(self._text, end - 1)[0] if end > header else end
        return content + len(self._text[content:end].rstrip(" \t\r\n"))

    def _map(self, event: Any, content: int) -> Node:
        entries: list[Entry] = []
        value: dict[str, Any] = {}
        while not isinstance(closing := next(self._events), events.MappingEndEvent):
            key_is_plain = getattr(closing, "style", "") is None and closing.tag is None
            key = self._node(closing)
            merge = key_is_plain and key.value == "<<"
            try:
                if key.kind in {Kind.MAP, Kind.LIST} or isinstance(key.value, (dict, list)):
                    raise ValueError("a key is a mapping or a list, not text")
                name = scalars.key(key.value)
            except ValueError as error:
                raise Unusable(f"cannot be read: {error}", key.start) from None
            colon = nodes.skip_gap(self._text, key.end)
            head = colon + 1 if self._text.startswith(":", colon) else key.end
            node = self._value(head)
            if merge:
                _merge(value, node)
            else:
                value[name] = node.value
            entries.append(Entry(name, node, key.start, head, merge))
        start, flow = event.start_mark.index, bool(event.flow_style)
        end = closing.end_mark.index if flow else entries[-1].end
        # A pair in a flow list, [a: 1], is a mapping without braces of its own.
        if flow and not self._text.startswith("{", content):
            end = entries[-1].end
        tagged = event.tag is not None
        return Node(Kind.MAP, start, content, end, value, flow, tagged, tuple(entries))

    def _value(self, head: int) -> Node:
        """The next node, which follows ``head``; one that is not written is right there."""
        event = next(self._events)
        node = self._node(event)
        if node.missing and node.start == node.end:
            return Node(Kind.SCALAR, head, head, head, None)
        return node

    def _list(self, event: Any, content: int) -> Node:
        flow = bool(event.flow_style)
        entries: list[Entry] = []
        behind = content
        while not isinstance(closing := next(self._events), events.SequenceEndEvent):
            if flow:
                item = self._node(closing)
                entries.append(Entry(None, item, item.start, item.start))
                continue
            dash = nodes.skip_gap(self._text, behind)
            item = self._node(closing)
            if item.missing and item.start == item.end:
                item = Node(Kind.SCALAR, dash + 1, dash + 1, dash + 1, None)
            entries.append(Entry(None, item, dash, dash + 1))
            behind = entries[-1].end
        end = closing.end_mark.index if flow else entries[-1].end
        start, tagged = event.start_mark.index, event.tag is not None
        values = [entry.value.value for entry in entries]
        return Node(Kind.LIST, start, content, end, values, flow, tagged, tuple(entries))


def _merge(value: dict[str, Any], node: Node) -> None:
    """Adds what a merge key brings, over what is there already, as kubectl's reader does."""
    sources = node.value if isinstance(node.value, list) else [node.value]
    if not all(isinstance(source, dict) for source in sources):
        raise Unusable("cannot be read: << takes a mapping or a list of mappings", node.start)
    # The first of a list wins.
    for source in reversed(sources):
        value.update(copy.deepcopy(source))


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_size, value.values()))
    return 1 + sum(map(_size, value)) if isinstance(value, list) else 1
