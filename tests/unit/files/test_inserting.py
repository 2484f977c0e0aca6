"""A generated document in front of a workload, in every kind of file."""

from __future__ import annotations

import json

import pytest

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.editing import edited

NEW = "# made\nkind: New\nspec:\n  a: >-\n    x\n    y\n"
LICENSE = "# Copyright of someone\n# License: free\n"


def insert(text: str, kind: str = "Old") -> str:
    manifest = parse(text, "f")
    (located,) = [each for each in manifest.objects if each.value["kind"] == kind]
    return edited(manifest, {}, {located: NEW})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("kind: Old\n", f"{NEW}---\nkind: Old\n", id="single"),
        pytest.param("---\nkind: Old\n", f"---\n{NEW}---\nkind: Old\n", id="separator-first"),
        pytest.param("kind: Old", f"{NEW}---\nkind: Old", id="no-newline"),
        pytest.param("\ufeffkind: Old\n", f"\ufeff{NEW}---\nkind: Old\n", id="bom"),
        pytest.param(
            "kind: A\n---\n# b\nkind: Old\n---\nkind: C\n",
            f"kind: A\n---\n{NEW}---\n# b\nkind: Old\n---\nkind: C\n",
            id="between",
        ),
        pytest.param(
            "kind: A\n--- # x\nkind: Old\n",
            f"kind: A\n--- # x\n{NEW}---\nkind: Old\n",
            id="comment-behind-separator",
        ),
        pytest.param(
            f"{LICENSE}\n# about it\nkind: Old\n",
            f"{LICENSE}\n{NEW}---\n# about it\nkind: Old\n",
            id="license-then-comment",
        ),
        pytest.param(
            f"{LICENSE}kind: Old\n", f"{LICENSE}{NEW}---\nkind: Old\n", id="license-right-above"
        ),
        pytest.param("# about it\nkind: Old\n", f"{NEW}---\n# about it\nkind: Old\n", id="comment"),
        pytest.param(
            f"{LICENSE}---\nkind: Old\n",
            f"{LICENSE}---\n{NEW}---\nkind: Old\n",
            id="license-as-a-document",
        ),
        pytest.param(
            "# c\r\n\r\n# d\r\nkind: Old\r\n",
            f"# c\r\n\r\n{NEW}---\n".replace("\r\n", "\n").replace("\n", "\r\n")
            + "# d\r\nkind: Old\r\n",
            id="crlf",
        ),
        pytest.param(
            "kind: List\nitems:\n  # a\n  - kind: A\n  # old\n  - kind: Old\n",
            "kind: List\nitems:\n  # a\n  - kind: A\n  # made\n  - kind: New\n    spec:\n"
            "      a: >-\n        x\n        y\n  # old\n  - kind: Old\n",
            id="list",
        ),
        pytest.param(
            "kind: List\nitems:\n-\n  kind: A\n-   {kind: Old}\n",
            "kind: List\nitems:\n-\n  kind: A\n# made\n-   kind: New\n    spec:\n"
            "      a: >-\n        x\n        y\n-   {kind: Old}\n",
            id="list-of-braces",
        ),
        pytest.param(
            "kind: List\nitems:\n-\n  kind: Old\n",
            "kind: List\nitems:\n# made\n- kind: New\n  spec:\n    a: >-\n      x\n      y\n"
            "-\n  kind: Old\n",
            id="list-with-bare-dashes",
        ),
    ],
)
def test_the_document_is_put_in_front(before: str, after: str) -> None:
    assert insert(before) == after
    kinds = [each.value["kind"] for each in parse(after, "f").objects]
    assert kinds.index("New") == kinds.index("Old") - 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '{"kind":"Old"}\n',
            '{"apiVersion": "v1", "kind": "List", "items": [\n'
            '{"kind":"New","spec":{"a":"x y"}},\n{"kind":"Old"}\n]}\n',
            id="one-value-becomes-a-list",
        ),
        pytest.param(
            '{"kind": "A"}\n{"kind": "Old"}',
            '{"kind": "A"}\n{"kind": "New", "spec": {"a": "x y"}}\n{"kind": "Old"}',
            id="several-values",
        ),
        pytest.param(
            '{"kind": "List", "items": [{"kind": "Old"}]}',
            '{"kind": "List", "items": [{"kind": "New", "spec": {"a": "x y"}}, {"kind": "Old"}]}',
            id="list",
        ),
        pytest.param(
            '{\n  "kind": "List",\n  "items": [\n    {\n      "kind": "Old"\n    }\n  ]\n}\n',
            '{\n  "kind": "List",\n  "items": [\n    {\n      "kind": "New",\n      "spec": {\n'
            '        "a": "x y"\n      }\n    },\n    {\n      "kind": "Old"\n    }\n  ]\n}\n',
            id="list-indented",
        ),
    ],
)
def test_json_stays_json(before: str, after: str) -> None:
    assert insert(before) == after
    if "items" in after:
        json.loads(after)


def test_kyaml_takes_a_document_in_its_stream() -> None:
    text = '---\n{\n  kind: "Old",\n}\n'
    assert insert(text) == f'---\n{NEW}---\n{{\n  kind: "Old",\n}}\n'


def test_documents_and_operations_come_in_one_go() -> None:
    text = "kind: A\n---\nkind: B\nx: 1\n"
    manifest = parse(text, "f")
    first, second = manifest.objects
    change = [Operation(("x",), 1, ABSENT)]
    result = edited(manifest, {second: change}, {first: NEW, second: NEW})
    assert result == f"{NEW}---\nkind: A\n---\n{NEW}---\nkind: B\n"
