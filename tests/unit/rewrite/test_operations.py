"""Operations applied, inverted, and as an RFC 6902 patch, against a library's own patching."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.rewrite.operations import (
    ABSENT,
    Conflict,
    Operation,
    applied,
    inverted,
    json_patch,
    pointer,
)

DOCUMENT: dict[str, Any] = {"a": {"b/c": 1, "d~e": [1, 2]}, "n": None}

CHANGES = [
    pytest.param(
        Operation(("a", "b/c"), 1, ABSENT),
        {"a": {"d~e": [1, 2]}, "n": None},
        {"op": "remove", "path": "/a/b~1c"},
        id="remove",
    ),
    pytest.param(
        Operation(("a", "new"), ABSENT, {}),
        {"a": {"b/c": 1, "d~e": [1, 2], "new": {}}, "n": None},
        {"op": "add", "path": "/a/new", "value": {}},
        id="add",
    ),
    pytest.param(
        Operation(("n",), None, [1]),
        {"a": {"b/c": 1, "d~e": [1, 2]}, "n": [1]},
        {"op": "replace", "path": "/n", "value": [1]},
        id="replace-null",
    ),
    pytest.param(
        Operation(("a", "d~e", 2), ABSENT, 3),
        {"a": {"b/c": 1, "d~e": [1, 2, 3]}, "n": None},
        {"op": "add", "path": "/a/d~0e/2", "value": 3},
        id="append",
    ),
]


@pytest.mark.parametrize(("operation", "after", "patch"), CHANGES)
def test_change(operation: Operation, after: dict[str, Any], patch: dict[str, Any]) -> None:
    before = json.dumps(DOCUMENT)
    assert applied(DOCUMENT, [operation]) == after
    assert applied(after, [operation.inverted()]) == DOCUMENT
    assert json_patch([operation]) == [patch]
    assert json.dumps(DOCUMENT) == before


STALE = [
    pytest.param(Operation(("a", "b/c"), 2, ABSENT), id="other-value"),
    pytest.param(Operation(("a", "b/c"), ABSENT, 2), id="is-there-already"),
    pytest.param(Operation(("a", "gone"), 1, 2), id="is-not-there"),
    pytest.param(Operation(("gone", "x"), ABSENT, 1), id="no-parent"),
    pytest.param(Operation(("n", "x"), ABSENT, 1), id="parent-is-null"),
    pytest.param(Operation(("a", "d~e", 4), ABSENT, 1), id="beyond-the-end"),
]


@pytest.mark.parametrize("operation", STALE)
def test_conflict(operation: Operation) -> None:
    with pytest.raises(Conflict) as caught:
        applied(DOCUMENT, [operation])
    assert caught.value.operation is operation


# RFC 6901, section 5.
@pytest.mark.parametrize(
    ("path", "expected"),
    [((), ""), (("foo",), "/foo"), (("foo", 0), "/foo/0"), (("",), "/"), (("a/b",), "/a~1b"),
     (("m~n",), "/m~0n"), (("~1",), "/~01")],
)  # fmt: skip
def test_pointer(path: tuple[str | int, ...], expected: str) -> None:
    assert pointer(path) == expected


values = st.none() | st.booleans() | st.integers(0, 9) | st.text("ab/~", max_size=3)
mappings = st.dictionaries(st.text("ab/~", max_size=3), values, max_size=5)


@given(before=mappings, after=mappings)
def test_any_change_of_a_mapping_can_be_undone(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    operations = [
        Operation((key,), before.get(key, ABSENT), after.get(key, ABSENT))
        for key in {**before, **after}
        if before.get(key, ABSENT) != after.get(key, ABSENT)
    ]
    assert applied(before, operations) == after
    assert applied(after, inverted(operations)) == before
