"""From an old and a new value to the edits of the text between them, and nothing else.

A comment stays where it is unless it stands on the line of an entry that goes.
"""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.files import aligning, nodes, rendering, styles
from kubectl_llmfit.files.flow_splicing import Edit, FlowSplicer
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree
from kubectl_llmfit.files.styles import Style


class Shared(Exception):
    """The change would also change another place; ``position`` is where it was tried."""

    def __init__(self, sentence: str, position: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.position = position


class Splicer:
    """Collects the edits of one document."""

    def __init__(self, tree: Tree, style: Style) -> None:
        self._tree = tree
        self._text = tree.text
        self._style = style
        self.edits: list[Edit] = []
        self._flows = FlowSplicer(tree.text, style, self.edits)

    def change(self, node: Node, new: Any) -> None:
        """Edits so that ``node``, a collection that stays one, has the value ``new``."""
        if same(node.value, new):
            return
        if node.kind is Kind.ALIAS:
            raise Shared("what is to be changed stands behind an alias (*)", node.start)
        if self._tree.aliases.get(node):
            raise Shared("what is to be changed is also used through an alias (*)", node.start)
        if node.kind is Kind.MAP:
            self._change_map(node, new)
        else:
            self._change_list(node, new)

    def remove_items(self, node: Node, items: list[Entry]) -> None:
        """Edits so that some, not all, of the list ``node``'s items go."""
        self._remove(node, items, adds=False)

    def _change_map(self, node: Node, new: dict[str, Any]) -> None:
        own = {str(entry.name): entry for entry in node.entries if not entry.merge}
        for name in node.value.keys() - own.keys():
            if name not in new or not same(node.value[name], new[name]):
                raise Shared("what is to be changed comes through a merge key (<<)", node.start)
        removed = [entry for entry in node.entries if not entry.merge and entry.name not in new]
        added = {name: value for name, value in new.items() if name not in node.value}
        self._remove(node, removed, adds=bool(added))
        for name, entry in own.items():
            if name in new:
                self._change_entry(node, entry, new[name])
        if added:
            staying = [entry for entry in node.entries if entry not in removed]
            self._add(node, staying[-1], list(added.items()))

    def _change_list(self, node: Node, new: list[Any]) -> None:
        pairs = self._pairs(node, new)
        removed = [node.entries[old] for old, index in pairs if old is not None and index is None]
        self._remove(node, removed, adds=any(old is None for old, _ in pairs))
        behind: Entry | None = None
        added: dict[Entry | None, list[tuple[str | None, Any]]] = {}
        for old, index in pairs:
            if old is None and index is not None:
                added.setdefault(behind, []).append((None, new[index]))
            elif old is not None and index is not None:
                behind = node.entries[old]
                self._change_entry(node, behind, new[index])
        for entry, values in added.items():
            self._add(node, entry, values)

    def _pairs(self, node: Node, new: list[Any]) -> list[aligning.Pair]:
        """Which item becomes which; by their order where nothing can be put between two."""
        if len(new) == len(node.entries):
            return aligning.in_order(node.value, new)
        pairs = aligning.aligned(node.value, new)
        if node.flow:
            hindered = any(old is None for old, _ in pairs)
        else:
            at_front = pairs[0][0] is None
            hindered = at_front and not styles.on_own_line(self._text, node.entries[0].start)
        return aligning.in_order(node.value, new) if hindered else pairs

    def _change_entry(self, parent: Node, entry: Entry, new: Any) -> None:
        node = entry.value
        if same(node.value, new):
            return
        if keeps_something(node, new):
            self.change(node, new)
        else:
            self._replace(parent, entry, new)

    def _replace(self, parent: Node, entry: Entry, new: Any) -> None:
        """Edits so that an entry's value goes as a whole and ``new`` stands there."""
        node = entry.value
        self._check_going(node.start, node.end)
        is_block_value = bool(new) and isinstance(new, (dict, list)) and not parent.flow
        if node.entries and not node.flow:
            self._replace_block(parent, entry, new, is_block_value)
        elif is_block_value:
            self._put_block(parent, entry, new)
        else:
            shown = self._flows.shown(parent, new, entry.start)
            if node.missing:
                at = max(entry.head, node.end)
                space = "" if entry.head == entry.start else " "
                self.edits.append((at, at, space + shown))
            else:
                self.edits.append((self._value_start(node), node.end, shown))

    def _value_start(self, node: Node) -> int:
        # A tag says what the old value was, and goes with it; an anchor stays.
        return node.start if node.tagged else node.content

    def _replace_block(self, parent: Node, entry: Entry, new: Any, as_block: bool) -> None:
        """Replaces a block collection; comments on lines of their own stay."""
        node, text = entry.value, self._text
        first, *others = node.entries
        for other in others:
            self._remove_lines(other)
        # Behind the key or dash, its anchor included.
        head = entry.head
        if node.start != node.content:
            head = nodes.skip_properties(text, node.start)
        if not styles.on_own_line(text, first.start):
            shown = rendering.inline(new, self._style)
            if as_block:
                indent = nodes.column(text, first.start)
                lines = rendering.block(new, self._style, indent)
                shown = nodes.line_break(text, first.start).join(lines).lstrip(" ")
            self.edits.append((first.start, first.end, shown))
        elif as_block:
            start, end = self._lines(first)
            eol = nodes.line_break(text, first.start)
            lines = rendering.block(new, self._style, self._child_indent(parent, entry, new))
            self.edits.append((start, end, "".join(line + eol for line in lines)))
        else:
            self.edits.append((head, head, " " + rendering.inline(new, self._style)))
            self._remove_lines(first)

    def _put_block(self, parent: Node, entry: Entry, new: Any) -> None:
        """Writes a block collection where a scalar, a flow collection or nothing stood."""
        node, text = entry.value, self._text
        lines = rendering.block(new, self._style, self._child_indent(parent, entry, new))
        value = self._value_start(node)
        behind, end = nodes.line_end(text, node.end)
        eol = nodes.line_break(text, node.end)
        bare_item = entry.name is None and node.start == value
        if bare_item and not text[node.end : behind].strip() and not node.missing:
            self.edits.append((value, node.end, eol.join(lines).lstrip(" ")))
            return
        if not node.missing:
            kept = text[entry.head : value].rstrip(" \t")
            self.edits.append((entry.head + len(kept), node.end, ""))
        if end == behind:
            self.edits.append((end, end, "".join(eol + line for line in lines)))
        else:
            self.edits.append((end, end, "".join(line + eol for line in lines)))

    def _child_indent(self, parent: Node, entry: Entry, new: Any) -> int:
        column = nodes.column(self._text, entry.start)
        if parent.kind is Kind.LIST:
            beside = styles.beside_dash(self._text, entry)
            return column + (self._style.dash if beside is None else beside)
        return column + rendering.under(new, self._style)

    def _add(self, node: Node, last: Entry | None, added: list[tuple[str | None, Any]]) -> None:
        """Adds entries behind ``last``, one that stays; in front of all where there is none."""
        if node.flow and last is not None:
            self._flows.add(node, last, added)
            return
        text, style = self._text, self._style
        indent = nodes.column(text, node.content)
        dash = self._dash(node)
        lines: list[str] = []
        for name, value in added:
            if name is None:
                item = Style(**{**vars(style), "dash": dash})
                lines += rendering.block([value], item, indent)
            else:
                lines += rendering.pair(name, value, style, indent)
        if last is None:
            behind = end = nodes.line_start(text, node.entries[0].start)
            eol = nodes.line_break(text, behind)
            self.edits.append((end, end, "".join(line + eol for line in lines)))
            return
        behind, end = nodes.line_end(text, last.end)
        eol = nodes.line_break(text, behind)
        if end == behind:
            self.edits.append((end, end, "".join(eol + line for line in lines)))
        else:
            self.edits.append((end, end, "".join(line + eol for line in lines)))

    def _dash(self, node: Node) -> int:
        """How far the items' text is from the dash in this very list."""
        widths = (styles.beside_dash(self._text, entry) for entry in node.entries)
        return next((width for width in widths if width is not None), self._style.dash)

    def _remove(self, node: Node, removed: list[Entry], *, adds: bool) -> None:
        for entry in removed:
            self._check_going(entry.start, entry.end)
        if not removed:
            return
        if node.flow:
            self._flows.remove(node, removed, adds)
            return
        first = node.entries[0]
        inline = first in removed and not styles.on_own_line(self._text, first.start)
        for entry in removed:
            if not (inline and entry is first):
                self._remove_lines(entry)
        if inline:
            # What follows moves up to the dash. Its own line is not removed: it stays, or it is
            # a comment; only lines of entries that go as well are skipped.
            staying = next(entry for entry in node.entries if entry not in removed)
            _, end = nodes.line_end(self._text, first.end)
            following = node.entries[1]
            while following is not staying and self._lines(following)[0] == end:
                self.edits.remove((*self._lines(following), ""))
                end = self._lines(following)[1]
                following = node.entries[node.entries.index(following) + 1]
            line = self._text[end : nodes.line_end(self._text, end)[0]]
            self.edits.append((first.start, end + len(line) - len(line.lstrip(" ")), ""))

    def _lines(self, entry: Entry) -> tuple[int, int]:
        return nodes.line_start(self._text, entry.start), nodes.line_end(self._text, entry.end)[1]

    def _remove_lines(self, entry: Entry) -> None:
        self.edits.append((*self._lines(entry), ""))

    def _check_going(self, start: int, end: int) -> None:
        """Refuses to drop an anchor that is used elsewhere."""
        for node, uses in self._tree.aliases.items():
            if start <= node.start < end and any(not start <= use < end for use in uses):
                raise Shared("what is to be changed is also used through an alias (*)", node.start)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal for Kubernetes too, where 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def keeps_something(node: Node, new: Any) -> bool:
    """Whether part of what stands at ``node`` also stands in ``new``, so that it can be edited."""
    if node.kind is Kind.ALIAS:
        return isinstance(new, type(node.value)) and isinstance(new, (dict, list))
    if node.kind is Kind.MAP and isinstance(new, dict):
        return any(entry.merge or entry.name in new for entry in node.entries)
    return node.kind is Kind.LIST and isinstance(new, list) and bool(new and node.entries)
