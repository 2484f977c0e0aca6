"""Edits inside braces and brackets: YAML's flow style, KYAML and JSON."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.files import nodes, rendering, styles
from kubectl_llmfit.files.nodes import Entry, Node
from kubectl_llmfit.files.styles import Style

Edit = tuple[int, int, str]


class FlowSplicer:
    """Adds to ``edits`` what changes the entries of flow collections."""

    def __init__(self, text: str, style: Style, edits: list[Edit]) -> None:
        self._text = text
        self._style = style
        self._edits = edits

    def add(self, node: Node, last: Entry, added: list[tuple[str | None, Any]]) -> None:
        """Adds entries to ``node`` behind ``last``, the last one that stays."""
        text, style = self._text, self._style
        parts = [
            (f"{rendering.key(name, style)}{style.colon[1:]}" if name is not None else "")
            + self.shown(node, value, last.start)
            for name, value in added
        ]
        comma = nodes.skip_gap(text, last.end)
        has_comma = text.startswith(",", comma)
        if not self._adds_lines(node, last):
            between = style.comma
            if styles.on_own_line(text, last.start) and "\n" in text[node.content : node.end]:
                between = f",{nodes.line_break(text, last.start)}{self._indent(last.start)}"
            self._edits.append((last.end, last.end, "".join(between + part for part in parts)))
            return
        eol, indent = nodes.line_break(text, last.end), self._indent(last.start)
        if not has_comma:
            self._edits.append((last.end, last.end, ","))
        _, end = nodes.line_end(text, comma + 1 if has_comma else last.end)
        # A comma behind the last entry is there again when it was there before.
        final = "," if self._closed(node) else ""
        lines = f",{eol}".join(indent + part for part in parts)
        self._edits.append((end, end, lines + final + eol))

    def _adds_lines(self, node: Node, last: Entry) -> bool:
        """Whether what is added behind ``last`` gets lines of its own."""
        comma = nodes.skip_gap(self._text, last.end)
        end = comma + 1 if self._text.startswith(",", comma) else last.end
        is_apart = nodes.line_end(self._text, end)[0] < node.end
        return is_apart and styles.on_own_line(self._text, last.start)

    def _closed(self, node: Node) -> bool:
        return self._text.startswith(",", nodes.skip_gap(self._text, node.entries[-1].end))

    def shown(self, parent: Node, value: Any, at: int) -> str:
        """``value`` in flow style: on one line unless the collection around has several."""
        if parent.flow and "\n" in self._text[parent.content : parent.end]:
            eol = nodes.line_break(self._text, at)
            return rendering.flow(value, self._style, self._indent(at), eol)
        return rendering.inline(value, self._style)

    def _indent(self, position: int) -> str:
        start = nodes.line_start(self._text, position)
        line = self._text[start:position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def remove(self, node: Node, removed: list[Entry], adds: bool) -> None:
        """Removes some, not all, of the entries of ``node``, with their commas.

        ``adds`` says that others will be added.
        """
        text, entries = self._text, node.entries
        last = [entry for entry in entries if entry not in removed][-1]
        tail = entries[entries.index(last) + 1 :]
        has_comments = bool(tail) and "#" in text[last.end : tail[-1].end]
        keeps_comma = adds and self._adds_lines(node, last)
        one_piece = not (has_comments or keeps_comma or all(map(self._alone, tail)))
        if tail and one_piece:
            self._edits.append((last.end, tail[-1].end, ""))
            removed = [entry for entry in removed if entry not in tail]
        elif tail and not keeps_comma and not self._closed(node):
            comma = nodes.skip_gap(text, last.end)
            self._edits.append((comma, comma + 1, ""))
        for entry in removed:
            comma = nodes.skip_gap(text, entry.end)
            end = comma + 1 if text.startswith(",", comma) else entry.end
            if self._alone(entry):
                start = nodes.line_start(text, entry.start)
                self._edits.append((start, nodes.line_end(text, end)[1], ""))
                continue
            following = nodes.skip_gap(text, end)
            if entry not in tail and "#" not in text[end:following]:
                end = following
            self._edits.append((entry.start, end, ""))

    def _alone(self, entry: Entry) -> bool:
        """Whether an entry of a flow collection has its lines to itself, but for a comment."""
        if not styles.on_own_line(self._text, entry.start):
            return False
        behind = nodes.line_end(self._text, entry.end)[0]
        rest = self._text[entry.end : behind].strip(" \t").removeprefix(",").lstrip(" \t")
        return not rest or rest.startswith("#")
