"""How a document is written, as far as new text in it has to look the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kubectl_llmfit.files import nodes
from kubectl_llmfit.files.nodes import Entry, Kind, Node, Tree


@dataclass(frozen=True)
class Style:
    """What the document does most often; the defaults are kubectl's own output.

    ``step`` is how far a mapping is indented under its key, ``list_step`` how far a list is, and
    ``dash`` how far an item's text is from its dash. The rest is about flow collections:
    ``pad`` stands inside braces, ``colon`` and ``comma`` between the parts, ``quoted`` says that
    all texts are in double quotes, ``json`` that keys are as well, and ``closed`` that the last
    entry of a collection over several lines has a comma too.
    """

    step: int = 2
    list_step: int = 0
    dash: int = 2
    pad: str = ""
    colon: str = ": "
    comma: str = ", "
    quoted: bool = False
    json: bool = False
    closed: bool = False


def of(tree: Tree, json: bool) -> Style:
    """The style of ``tree``."""
    text = tree.text
    counts: dict[str, Counter[int]] = {"step": Counter(), "list_step": Counter(), "dash": Counter()}
    flows: list[Node] = []
    if tree.root is not None:
        _measure(text, tree.root, counts, flows)
    common = {name: count.most_common(1)[0][0] for name, count in counts.items() if count}
    maps = [node for node in flows if node.kind is Kind.MAP and node.entries]
    colon = ":" if json and maps and not _has_space(text, maps[0].entries[0].head) else ": "
    root_is_flow = tree.root is not None and tree.root.flow
    return Style(
        step=common.get("step", 2),
        list_step=common.get("list_step", 0),
        dash=common.get("dash", 2),
        pad=" " if maps and text.startswith("{ ", maps[-1].content) else "",
        colon=colon,
        comma=_comma(text, flows) or colon.replace(":", ","),
        quoted=json or root_is_flow,
        json=json,
        closed=root_is_flow and not json,
    )


def _measure(text: str, node: Node, counts: dict[str, Counter[int]], flows: list[Node]) -> None:
    if node.flow and node.entries:
        flows.append(node)
    in_block = not node.flow
    here = nodes.column(text, node.content) if in_block and node.entries else 0
    for entry in node.entries:
        child = entry.value
        if in_block and node.kind is Kind.LIST:
            beside = beside_dash(text, entry)
            if beside is not None:
                counts["dash"][beside] += 1
        elif in_block and child.entries and not child.flow:
            under = nodes.column(text, child.content) - here
            counts["step" if child.kind is Kind.MAP else "list_step"][under] += 1
        elif node.flow and node.kind is Kind.MAP:
            step = _flow_step(text, node, entry)
            if step is not None:
                counts["step"][step] += 1
        _measure(text, child, counts, flows)


def _flow_step(text: str, node: Node, entry: Entry) -> int | None:
    """How far an entry on a line of its own is indented, compared with its collection's line."""
    if not on_own_line(text, entry.start):
        return None
    outer = nodes.line_start(text, node.start)
    indent = len(text[outer : node.start]) - len(text[outer : node.start].lstrip(" "))
    step = nodes.column(text, entry.start) - indent
    return step if step > 0 else None


def on_own_line(text: str, position: int) -> bool:
    """Whether only white space stands before ``position`` on its line."""
    return not text[nodes.line_start(text, position) : position].strip(" \t")


def beside_dash(text: str, entry: Entry) -> int | None:
    """How far an item's text is from its dash, when both are on one line."""
    value = entry.value
    if value.missing or "\n" in text[entry.start : value.start]:
        return None
    return value.start - entry.start


def _has_space(text: str, position: int) -> bool:
    return text[position : position + 1].isspace()


def _comma(text: str, flows: list[Node]) -> str:
    """What stands between two entries on one line; empty when there are no two."""
    for first, second in _neighbours(flows):
        between = text[first.end : second.start]
        if "\n" not in between:
            return ", " if " " in between else ","
    return ""


def _neighbours(flows: list[Node]) -> Iterator[tuple[Entry, Entry]]:
    for node in flows:
        yield from zip(node.entries, node.entries[1:], strict=False)
