"""A generated document put in front of an object, whatever the file is written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubectl_llmfit.files import documents, nodes, rendering, styles
from kubectl_llmfit.files.documents import Document, Located, Manifest, item_of
from kubectl_llmfit.files.flow_splicing import Edit
from kubectl_llmfit.files.nodes import Entry
from kubectl_llmfit.files.styles import Style

_COMMENTS_RE = re.compile(r"(?:[ \t]*#[^\r\n]*(?:\r\n|\n|\r)|[ \t]*(?:\r\n|\n|\r))+")
_LICENSE_RE = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)
_BLANK_LINE_RE = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t]*(?:\r\n|\n|\r)")


def value(text: str) -> dict[str, Any]:
    """The one object of the generated YAML ``text``."""
    (located,) = documents.parse(text, "").objects
    return located.value


def before(manifest: Manifest, document: Document, edited: str, text: str) -> str:
    """``edited``, the text of ``document`` as it will be, with ``text`` before it."""
    eol = nodes.line_break(manifest.text, document.start)
    if document.json:
        return _before_json(document, edited, text, eol)
    generated = text.rstrip("\n").replace("\n", eol) + eol
    head = _header(manifest, document, edited)
    return f"{edited[:head]}{generated}---{eol}{edited[head:]}"


def items(document: Document, texts: Mapping[Located, str], style: Style) -> list[Edit]:
    """The edits that put each text as an item before its object, in the List of ``document``."""
    edits: list[Edit] = []
    for located, text in texts.items():
        _, entry = item_of(document, located)
        # An item of a list in brackets has no dash before it.
        is_flow = entry.start == entry.head
        edits.append(
            _flow_item(document, located, text, style)
            if is_flow
            else _block_item(document, entry, text)
        )
    return edits


def _header(manifest: Manifest, document: Document, edited: str) -> int:
    """Behind the comments at the top of the file that are about the file: they stay on top."""
    if any(each.tree.root is not None for each in manifest.documents[: document.number - 1]):
        return 0
    found = _COMMENTS_RE.match(edited)
    if found is None or "#" not in found.group():
        return 0
    # A block that is cut off by a blank line is about the file, one right above the object
    # about the object unless it is a license.
    blanks = list(_BLANK_LINE_RE.finditer(found.group()))
    about_object = found.group()[blanks[-1].end() :] if blanks else found.group()
    if _LICENSE_RE.search(about_object) or not about_object.strip():
        return found.end()
    return blanks[-1].end() if blanks else 0


def _before_json(document: Document, edited: str, text: str, eol: str) -> str:
    style = styles.of(document.tree, json=True)
    root = document.tree.root
    start, stop = (0, 0) if root is None else (root.start, root.end)
    several = "\n" in document.tree.text[start:stop]
    lead, body = edited[:start], edited[start:]
    shown = _json(value(text), style, "", eol, several)
    if not document.single:
        return f"{lead}{shown}{eol}{body}"
    kept = body.rstrip()
    end = body[len(kept) :]
    opening = '{"apiVersion": "v1", "kind": "List", "items": ['
    return f"{lead}{opening}{eol}{shown},{eol}{kept}{eol}]}}{end}"


def _json(value: Any, style: Style, indent: str, eol: str, several: bool) -> str:
    if several:
        return rendering.flow(value, style, indent, eol)
    return rendering.inline(value, style)


def _flow_item(document: Document, located: Located, text: str, style: Style) -> Edit:
    whole = document.tree.text
    start = located.node.start
    margin = whole[nodes.line_start(whole, start) : start]
    indent = margin[: len(margin) - len(margin.lstrip(" \t"))]
    several = "\n" in whole[located.node.start : located.node.end]
    eol = nodes.line_break(whole, start)
    shown = _json(value(text), replace(style, quoted=True), indent, eol, several)
    own_line = styles.on_own_line(whole, start)
    return (start, start, shown + (f",{eol}{indent}" if own_line else style.comma))


def _block_item(document: Document, entry: Entry, text: str) -> Edit:
    whole = document.tree.text
    dash = entry.start
    at = nodes.line_start(whole, dash)
    margin = whole[at:dash]
    # Comments right above the object are about it.
    while at and whole[nodes.line_start(whole, at - 1) : at].lstrip(" ").startswith("#"):
        at = nodes.line_start(whole, at - 1)
    eol = nodes.line_break(whole, dash)
    width = styles.beside_dash(whole, entry) or Style.dash
    lines = text.rstrip("\n").split("\n")
    comments = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    shown = [margin + line for line in lines[:comments]]
    shown.append(margin + "-".ljust(width) + lines[comments])
    shown += [margin + " " * width + line if line else "" for line in lines[comments + 1 :]]
    return (at, at, "".join(line + eol for line in shown))
