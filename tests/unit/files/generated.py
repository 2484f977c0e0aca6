"""Random manifests in random styles, and random operations that fit them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, applied, value_at

KEYS = ("a", "cpu", "nvidia.com/gpu", "name", "x-y", "on", "7", "spaced key", "ü")
WORDS = (
    "text", "1", "1e3", "0000:53:00.0", "yes", "null", "a: b", "a #b", "- x", "", " lead", "é☃😀",
    "--flag=v", 'quo"te', "it's", "{x}", "C:\\dir", "a, b", "2024-01-01", "#no", "tab\tin", "x:",
)  # fmt: skip
PLAIN = ("text", "--flag=v", "0000:53:00.0", "a/b:c", "16Gi", "é☃", "a b c", "http://x/y?z#f")

scalars = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(PLAIN),
    st.integers(-5, 2000),
    st.booleans(),
    st.none(),
    st.just(0.5),
)
keys = st.sampled_from(KEYS)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=10,
)
objects = st.dictionaries(keys, values, max_size=5).map(lambda value: {"kind": "Thing", **value})


@dataclass
class Writer:
    """Writes values in a style that it draws, a unique comment here and there."""

    data: st.DataObject
    step: int
    list_step: int
    dash: int
    eol: str
    comments: int = 0

    def chance(self, one_in: int) -> bool:
        return self.data.draw(st.integers(0, one_in - 1)) == 0

    def comment(self) -> str:
        """An end-of-line comment, or nothing, and the line break."""
        if self.chance(4):
            self.comments += 1
            return f" # c{self.comments}{self.eol}"
        return f"  {self.eol}" if self.chance(8) else self.eol

    def above(self, indent: int) -> str:
        """Perhaps a line with a comment, or an empty one."""
        if self.chance(6):
            self.comments += 1
            return " " * indent + f"# c{self.comments}{self.eol}"
        return self.eol if self.chance(8) else ""

    def scalar(self, value: Any) -> str:
        if value is None:
            return self.data.draw(st.sampled_from(["null", "~", "Null"]))
        if isinstance(value, str):
            if value in PLAIN and self.chance(2):
                return value
            if self.chance(2) and "\t" not in value:
                return "'" + value.replace("'", "''") + "'"
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value)

    def key(self, name: str) -> str:
        if name in {"on", "7"} or self.chance(5):
            return f'"{name}"'
        return name

    def flow(self, value: Any) -> str:
        if isinstance(value, dict):
            pad = self.data.draw(st.sampled_from(["", " "])) if value else ""
            pairs = [f"{self.key(name)}: {self.flow(item)}" for name, item in value.items()]
            last = "," if value and self.chance(4) else ""
            return "{" + pad + ", ".join(pairs) + last + pad + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.flow, value)) + "]"
        return self.scalar(value)

    def value(self, value: Any, indent: int, under: int) -> str:
        """What follows a colon, and the end of its line; ``indent`` is for a block below."""
        if not isinstance(value, (dict, list)) or not value or self.chance(4):
            if value is None and self.chance(2):
                return self.comment()
            if isinstance(value, str) and value == "text" and self.chance(3):
                margin = " " * (under + self.step)
                return f" |-{self.comment()}{margin}text{self.eol}"
            return f" {self.flow(value)}{self.comment()}"
        return self.comment() + self.block(value, indent)

    def block(self, value: Any, indent: int, first: str | None = None) -> str:
        """A collection in lines; ``first`` replaces the first line's margin."""
        text = ""
        margin = " " * indent
        entries = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for index, (name, item) in enumerate(entries):
            if index or first is None:
                text += self.above(indent) + margin
            else:
                text += first
            if name is not None:
                below = self.list_step if isinstance(item, list) else self.step
                text += self.key(name) + ":" + self.value(item, indent + below, indent)
            elif isinstance(item, (dict, list)) and item and not self.chance(4):
                text += self.block(item, indent + self.dash, "-".ljust(self.dash))
            else:
                text += "-".ljust(self.dash) + self.flow(item) + self.comment()
        return text


ANCHORED = {"x-anchor": {"p": 1}, "x-alias": {"p": 1}, "x-merge": {"p": 1, "q": 2}}


def anchored(eol: str) -> str:
    """Keys with an anchor and its uses, which values to ``ANCHORED``."""
    lines = ("x-anchor: &a {p: 1}", "x-alias: *a", "x-merge:", "  <<: *a", "  q: 2")
    return "".join(line + eol for line in lines)


def kyaml(value: Any, indent: str = "") -> str:
    """``value`` as ``kubectl -o kyaml`` writes it."""
    if isinstance(value, dict) and value:
        inner = indent + "  "
        pairs = "".join(
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {kyaml(item, inner)},\n"
            for name, item in value.items()
        )
        return "{\n" + pairs + indent + "}"
    if isinstance(value, list) and value:
        if all(isinstance(item, dict) and item for item in value):
            return "[" + ", ".join(kyaml(item, indent) for item in value) + "]"
        inner = indent + "  "
        return "[\n" + "".join(f"{inner}{kyaml(item, inner)},\n" for item in value) + indent + "]"
    return json.dumps(value, ensure_ascii=False)


@st.composite
def writers(draw: st.DrawFn) -> Writer:
    return Writer(
        draw(st.data()),
        step=draw(st.sampled_from([2, 4])),
        list_step=draw(st.sampled_from([0, 2])),
        dash=draw(st.sampled_from([2, 4])),
        eol=draw(st.sampled_from(["\n", "\r\n"])),
    )


def paths(value: Any, prefix: Path = ()) -> list[Path]:
    """Every path of a collection in ``value``, its own included."""
    found = [prefix] if isinstance(value, (dict, list)) else []
    if isinstance(value, dict):
        entries: list[tuple[str | int, Any]] = list(value.items())
    else:
        entries = list(enumerate(value)) if isinstance(value, list) else []
    for key, item in entries:
        found += paths(item, (*prefix, key))
    return found


def operations(data: st.DataObject, value: dict[str, Any]) -> list[Operation]:
    """Up to four changes, each of the state that the ones before leave."""
    result: list[Operation] = []
    for _ in range(data.draw(st.integers(1, 4))):
        state = applied(value, result)
        open_paths = [path for path in paths(state) if not path or path[0] not in ANCHORED]
        path = data.draw(st.sampled_from(open_paths))
        parent = value_at(state, path)
        key: str | int
        if isinstance(parent, dict):
            known = [name for name in parent if path or name not in ANCHORED]
            key = data.draw(st.sampled_from([*known, "new.io/key", "on"]))
            old = parent.get(key, ABSENT)
            # No operation takes an object's kind.
            may_go = old is not ABSENT and (path, key) != ((), "kind")
        else:
            key = data.draw(st.integers(0, len(parent)))
            inserts = key == len(parent) or data.draw(st.booleans())
            old = ABSENT if inserts else parent[key]
            may_go = not inserts
        goes = may_go and data.draw(st.booleans())
        result.append(Operation((*path, key), old, ABSENT if goes else data.draw(values)))
    return result
