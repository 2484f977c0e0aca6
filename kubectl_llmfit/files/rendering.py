"""New text for values, in the style of the document that it goes into."""

from __future__ import annotations

import json
import re
from typing import Any

from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.files.styles import Style

# Shown as escapes: controls, line breaks of other standards, byte order marks, lone surrogates.
_ESCAPED_RE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def text(value: str, style: Style) -> str:
    """A string as a scalar on one line."""
    if not style.quoted:
        shown = yaml.scalar(value)
        if not shown.startswith('"'):
            return shown
        if "'" not in value and value.isprintable() and ('"' in value or "\\" in value):
            # As a person would write JSON: nothing in it has to be escaped.
            return f"'{value}'"
    quoted = json.dumps(value, ensure_ascii=False)
    return _ESCAPED_RE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)


def key(name: str, style: Style) -> str:
    """A mapping's key, with its colon."""
    unquoted = Style(quoted=style.json)
    return text(name, unquoted) + ":"


def inline(value: Any, style: Style) -> str:
    """``value`` on one line, collections in braces and brackets."""
    if isinstance(value, dict) and value:
        pairs = [f"{_flow_key(name, style)}{inline(item, style)}" for name, item in value.items()]
        return "{" + style.pad + style.comma.join(pairs) + style.pad + "}"
    if isinstance(value, list) and value:
        return "[" + style.comma.join(inline(item, style) for item in value) + "]"
    return _simple(value, style)


def flow(value: Any, style: Style, indent: str, eol: str) -> str:
    """``value`` in braces and brackets over several lines; ``indent`` is its own line's."""
    if not isinstance(value, (dict, list)) or not value:
        return _simple(value, style)
    inner = indent + " " * style.step
    if isinstance(value, dict):
        opening, closing = "{", "}"
        parts = [
            f"{_flow_key(name, style)}{flow(item, style, inner, eol)}"
            for name, item in value.items()
        ]
    else:
        opening, closing = "[", "]"
        if style.closed and all(isinstance(item, dict) and item for item in value):
            # KYAML writes a list of mappings as [{ … }, { … }].
            return "[" + ", ".join(flow(item, style, indent, eol) for item in value) + "]"
        parts = [flow(item, style, inner, eol) for item in value]
    lines = f",{eol}".join(inner + part for part in parts)
    last = "," if style.closed else ""
    return f"{opening}{eol}{lines}{last}{eol}{indent}{closing}"


def block(value: Any, style: Style, indent: int) -> list[str]:
    """The lines of a mapping or list that is not empty, in block style at column ``indent``."""
    margin = " " * indent
    lines: list[str] = []
    if isinstance(value, dict):
        for name, item in value.items():
            lines += pair(name, item, style, indent)
    else:
        for item in value:
            if isinstance(item, (dict, list)) and item:
                inner = block(item, style, indent + style.dash)
                lines.append(margin + "-".ljust(style.dash) + inner[0].lstrip(" "))
                lines += inner[1:]
            else:
                lines.append(margin + "-".ljust(style.dash) + inline(item, style))
    return lines


def pair(name: str, value: Any, style: Style, indent: int) -> list[str]:
    """The lines of one pair of a block mapping at column ``indent``."""
    head = " " * indent + key(name, style)
    if isinstance(value, (dict, list)) and value:
        return [head, *block(value, style, indent + under(value, style))]
    return [f"{head} {inline(value, style)}"]


def under(value: Any, style: Style) -> int:
    """How far ``value`` is indented under its key in block style."""
    return style.list_step if isinstance(value, list) else style.step


def _flow_key(name: str, style: Style) -> str:
    return key(name, style) + style.colon[1:]


def _simple(value: Any, style: Style) -> str:
    """A scalar, or an empty collection."""
    if isinstance(value, str):
        return text(value, style)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list):
        return "[]"
    return json.dumps(value)
