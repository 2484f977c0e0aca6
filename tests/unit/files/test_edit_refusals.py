"""Edits that are refused, and objects and documents edited side by side."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.reasons import SHARED_YAML, UNSAFE_EDIT, Refused
from kubectl_llmfit.core.rewrite.operations import ABSENT, Conflict, Operation
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.editing import edited
from tests.unit.files.changes import HEAD, Change, apply


@pytest.mark.parametrize(
    ("text", "changes", "line"),
    [
        pytest.param("a: &x\n  p: 1\nb: *x\n", (("b p", 2),), 4, id="behind-an-alias"),
        pytest.param("a: &x\n  p: 1\nb: *x\n", (("a p", 2),), 2, id="used-elsewhere"),
        pytest.param("a: &x\n  p: 1\nb: *x\n", (("a", ABSENT),), 2, id="anchor-would-go"),
        pytest.param("a: &x {p: 1}\nb:\n  <<: *x\n", (("b p", ABSENT),), 4, id="merged"),
        pytest.param("a:\n  n: &x 1\nb: *x\n", (("a", {"m": 1}),), 3, id="anchor-inside-would-go"),
    ],
)
def test_what_is_shared_is_refused_with_its_place(
    text: str, changes: tuple[Change, ...], line: int
) -> None:
    with pytest.raises(Refused) as refused:
        apply(HEAD + text + "---\n" + HEAD, *changes)
    (problem,) = refused.value.problems
    assert problem.reason is SHARED_YAML
    assert problem.sentence.startswith(f"f.yaml, document 1, line {line}: ")
    assert problem.sentence.endswith("; write it out where it is used")


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        pytest.param("x: &a {p: 1}\nb: {<<: *a, p: 2}\n", (("b p", ABSENT),), id="merge-below"),
        pytest.param("a: |\n  x", (("b", 1),), id="block-scalar-without-its-newline"),
        pytest.param("", (("kind", ABSENT), ("a", 1)), id="nothing-stays"),
        pytest.param("a: !!str 1\n", (("a", 1.0),), id="a-number-that-json-has-not"),
    ],
)
def test_what_cannot_be_exact_is_refused(text: str, changes: tuple[Change, ...]) -> None:
    with pytest.raises(Refused) as refused:
        apply(HEAD + text, *changes)
    (problem,) = refused.value.problems
    assert problem.reason is UNSAFE_EDIT
    assert problem.sentence.startswith("f.yaml, line 1: ")


def test_an_operation_that_does_not_fit_is_a_conflict() -> None:
    manifest = parse(HEAD, "f.yaml")
    with pytest.raises(Conflict):
        edited(manifest, {manifest.objects[0]: [Operation(("a",), 1, 2)]})


def test_items_of_a_list_are_edited_by_themselves() -> None:
    text = "kind: List\nitems:\n- kind: A\n  x: 1\n# b\n- kind: B\n  x: 1 # c\n"
    manifest = parse(text, "f.yaml")
    first, second = manifest.objects
    assert second.where == "f.yaml, line 6, items[1]"
    changes = {
        first: [Operation(("z",), ABSENT, 2)],
        second: [Operation(("x",), 1, ABSENT)],
    }
    expected = "kind: List\nitems:\n- kind: A\n  x: 1\n  z: 2\n# b\n- kind: B\n"
    assert edited(manifest, changes) == expected


def test_every_document_that_cannot_be_edited_is_named() -> None:
    document = "kind: A\na: &x {p: 1}\nb: *x\n"
    manifest = parse(f"{document}---\n{document}", "f.yaml")
    change = [Operation(("b", "p"), 1, 2)]
    with pytest.raises(Refused) as refused:
        edited(manifest, dict.fromkeys(manifest.objects, change))
    assert [problem.sentence[:26] for problem in refused.value.problems] == [
        "f.yaml, document 1, line 3",
        "f.yaml, document 2, line 7",
    ]
