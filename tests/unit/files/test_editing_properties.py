"""Random operations on random manifests: the result is exact, and nothing else has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, applied, inverted
from kubectl_llmfit.files import documents, editing, library_reader, line_reader
from kubectl_llmfit.files.nodes import Node
from kubectl_llmfit.files.splicing import same
from tests.unit.files import generated
from tests.unit.files.generated import ANCHORED, Writer

slow_to_draw = settings(suppress_health_check=list(HealthCheck))


def entries(node: Node, path: Path = ()) -> Iterator[tuple[Path, int, int]]:
    """Path, start and end of everything below ``node``."""
    for index, entry in enumerate(node.entries):
        here = (*path, index if entry.name is None else entry.name)
        yield here, entry.start, entry.end
        yield from entries(entry.value, here)


def related(one: Path, other: Path) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def untouched(text: str, root: Node, operations: Sequence[Operation]) -> list[str]:
    """The lines of ``text`` that no operation is about, comments of their own included."""
    spans = list(entries(root))
    changed = [operation.path for operation in operations]
    # What follows an item's first key moves up to the dash when that key goes.
    changed += [
        operation.path[:-1]
        for operation in operations
        if operation.new is ABSENT and isinstance(operation.path[-2:][0], int)
    ]
    lines: list[str] = []
    position = 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        if line.lstrip(" ").startswith("#"):
            gone = any(path in changed and start <= position < stop for path, start, stop in spans)
        else:
            on_it = [path for path, start, stop in spans if start < end and stop >= position]
            starting = [path for path, start, _ in spans if position <= start < end]
            deepest = max(on_it, key=len, default=())
            gone = any(related(path, each) for path in (deepest, *starting) for each in changed)
        if not gone:
            lines.append(line)
        position = end
    return lines


def is_part(lines: Sequence[str], text: str) -> bool:
    """Whether ``lines`` are all in ``text``, in their order."""
    rest = iter(line.rstrip("\r\n") for line in text.splitlines(keepends=True))
    return all(line.rstrip("\r\n") in rest for line in lines)


@pytest.mark.parametrize("anchors", [False, True], ids=["plain", "anchors-elsewhere"])
@slow_to_draw
@given(writer=generated.writers(), value=generated.objects, data=st.data())
def test_an_edit_is_exact_and_leaves_every_other_line(
    anchors: bool, writer: Writer, value: dict[str, object], data: st.DataObject
) -> None:
    text = writer.block(value, 0)
    if anchors:
        value = {**ANCHORED, **value}
        text = generated.anchored(writer.eol) + text
    if writer.chance(8):
        text = text.rstrip("\r\n")
    manifest = documents.parse(text, "f.yaml")
    assert manifest.problems == ()
    (located,) = manifest.objects
    assert same(located.value, value)

    operations = generated.operations(data, value)
    result = editing.edited(manifest, {located: operations})

    root = library_reader.read(result).root
    assert root is not None
    assert same(root.value, applied(value, operations))
    assert is_part(untouched(text, located.node, operations), result)
    assert ("\r\n" in text) >= ("\r\n" in result)
    if writer.eol == "\r\n" and text.endswith("\r\n"):
        assert result.count("\n") == result.count("\r\n")


@pytest.mark.parametrize("style", ["compact", "indented", "tabs", "kyaml"])
@slow_to_draw
@given(value=generated.objects, data=st.data())
def test_json_and_kyaml_stay_what_they_are(
    style: str, value: dict[str, object], data: st.DataObject
) -> None:
    text = {
        "compact": lambda: json.dumps(value, separators=(",", ":")),
        "indented": lambda: json.dumps(value, indent=4, ensure_ascii=False) + "\n",
        "tabs": lambda: json.dumps(value, indent="\t") + "\n",
        "kyaml": lambda: "---\n" + generated.kyaml(value) + "\n",
    }[style]()
    manifest = documents.parse(text, "f")
    assert manifest.is_json == (style != "kyaml")
    (located,) = manifest.objects
    operations = generated.operations(data, value)
    result = editing.edited(manifest, {located: operations})
    wanted = applied(value, operations)
    if style != "kyaml":
        assert same(json.loads(result), wanted)
    root = library_reader.read(result).root
    assert root is not None
    # JSON's escapes of characters beyond 16 bits are two characters to a YAML reader.
    assert style in {"compact", "tabs"} or same(root.value, wanted)
    if style == "compact":
        assert "\n" not in result


@slow_to_draw
@given(writer=generated.writers(), value=generated.objects, data=st.data())
def test_an_edit_can_be_undone(
    writer: Writer, value: dict[str, object], data: st.DataObject
) -> None:
    manifest = documents.parse(writer.block(value, 0), "f.yaml")
    operations = generated.operations(data, value)
    result = editing.edited(manifest, {manifest.objects[0]: operations})
    again = documents.parse(result, "f.yaml")
    undone = editing.edited(again, {again.objects[0]: inverted(operations)})
    assert same(documents.parse(undone, "f.yaml").objects[0].value, value)


def shape(node: Node) -> object:
    """Everything about a node, to compare two."""
    below = [(each.name, each.start, each.head, shape(each.value)) for each in node.entries]
    return (node.kind, node.start, node.content, node.end, repr(node.value), node.flow, below)


@slow_to_draw
@given(writer=generated.writers(), value=generated.objects)
def test_the_line_reader_makes_the_librarys_tree(writer: Writer, value: dict[str, object]) -> None:
    text = writer.block(value, 0)
    tree = line_reader.read(text)
    if tree is not None and tree.root is not None:
        other = library_reader.read(text).root
        assert other is not None
        assert shape(tree.root) == shape(other)


_PIECES = (
    "a", "b:", "- ", "-", ": ", " ", "  ", "    ", "\n", "\n", "\n  ", "\n- ", "#", " # c", "'",
    '"', "[", "]", "{", "}", ", ", "x: 1", "&a ", "*a", "!!str ", "|", ">", "?", "~", "1", "\r\n",
    "\t", "...", "%", "key", "a:b", "é", "<<: ",
)  # fmt: skip


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(_PIECES), max_size=14))
def test_the_line_reader_takes_only_what_the_library_takes(pieces: list[str]) -> None:
    text = "".join(pieces)
    tree = line_reader.read(text)
    if tree is not None and tree.root is not None:
        other = library_reader.read(text).root
        assert other is not None
        assert shape(tree.root) == shape(other)


@settings(max_examples=500)
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(_PIECES)).map("".join)))
def test_reading_never_raises(text: str) -> None:
    manifest = documents.parse(text, "f")
    assert all("f, " in problem.sentence for problem in manifest.problems)
    assert editing.edited(manifest, {}) == text
