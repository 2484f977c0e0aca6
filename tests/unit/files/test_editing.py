"""Operations written into the text: exact bytes, in the style of what is around them."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.editing import edited
from tests.unit.files.changes import HEAD, Change, apply

CASES: dict[str, tuple[str, str, tuple[Change, ...]]] = {
    "remove-between-others": (
        "l:\n  cpu: 1 # one\n  gpu: 2 # two\n\n  # three\n  mem: 3\n",
        "l:\n  cpu: 1 # one\n\n  # three\n  mem: 3\n",
        (("l gpu", ABSENT),),
    ),
    "a-comment-above-stays": (
        "l:\n  # about gpu\n  gpu: 2\n  mem: 3\n",
        "l:\n  # about gpu\n  mem: 3\n",
        (("l gpu", ABSENT),),
    ),
    "remove-the-last-key": (
        "l: # limits\n  gpu: 2 # two\nm: 1\n",
        "l: {} # limits\nm: 1\n",
        (("l gpu", ABSENT),),
    ),
    "remove-the-last-key-below-an-anchor": (
        "l: &l\n  gpu: 2\nm: 1\n",
        "l: &l {}\nm: 1\n",
        (("l gpu", ABSENT),),
    ),
    "remove-the-map": ("l:\n  gpu: 2\n  # c\nm: 1\n", "  # c\nm: 1\n", (("l", ABSENT),)),
    "remove-at-the-end-without-newline": ("m: 1\nl: 2", "m: 1\n", (("l", ABSENT),)),
    "remove-the-first-key-of-an-item": (
        "l:\n- gpu: 1 # c\n  # d\n  mem: 2\n",
        "l:\n- # d\n  mem: 2\n",
        (("l 0 gpu", ABSENT),),
    ),
    "remove-the-first-two-keys-of-an-item": (
        "l:\n- gpu: 1\n  cpu:\n    x: 1\n  mem: 2\n",
        "l:\n- mem: 2\n",
        (("l 0 gpu", ABSENT), ("l 0 cpu", ABSENT)),
    ),
    "remove-the-only-key-of-an-item": (
        "l:\n- gpu: 1 # c\nm: 1\n",
        "l:\n- {} # c\nm: 1\n",
        (("l 0 gpu", ABSENT),),
    ),
    "remove-a-long-value": (
        "l:\n  gpu: |\n    a\n\n    b\n\n  mem: 2\n",
        "l:\n\n  mem: 2\n",
        (("l gpu", ABSENT),),
    ),
    "remove-the-last-item": ("l:\n- a\n- b # c\nm: 1\n", "l:\n- a\nm: 1\n", (("l 1", ABSENT),)),
    "remove-the-first-item": (
        "l:\n# a\n- a: 1\n  b: 2\n# c\n- c: 3 # d\nm: 1\n",
        "l:\n# a\n# c\n- c: 3 # d\nm: 1\n",
        (("l 0", ABSENT),),
    ),
    "remove-items-in-the-middle": (
        "l:\n- a # 1\n- b # 2\n- c # 3\n- d # 4\n",
        "l:\n- a # 1\n- d # 4\n",
        (("l 2", ABSENT), ("l 1", ABSENT)),
    ),
    "remove-an-item-in-brackets": (
        "l: [a, b, c] # d\n",
        "l: [a, c] # d\n",
        (("l 1", ABSENT),),
    ),
    "remove-all-items": ("l:\n- a\n- b\n", "l: []\n", (("l", []),)),
    "add-to-a-map": (
        "l:\n    cpu: 1 # c\n    # d\nm: 1\n",
        "l:\n    cpu: 1 # c\n    gpu: text\n    # d\nm: 1\n",
        (("l gpu", "text"),),
    ),
    "add-at-the-end-without-newline": ("l:\n  a: 1", "l:\n  a: 1\n  b: 2", (("l b", 2),)),
    "add-behind-a-block-scalar": (
        "l:\n  a: |+\n    x\n\nm: 1\n",
        "l:\n  a: |+\n    x\n\n  b: 2\nm: 1\n",
        (("l b", 2),),
    ),
    "add-and-remove-the-last": (
        "l:\n  a: 1\n  b: 2\nm: 1\n",
        "l:\n  a: 1\n  c: 3\nm: 1\n",
        (("l b", ABSENT), ("l c", 3)),
    ),
    "add-a-tree": (
        "l:\n  a: {}\nm:\n    - x\n",
        "l:\n  a: {}\n  c:\n      - name: gpu\n        request: r\nm:\n    - x\n",
        (("l c", [{"name": "gpu", "request": "r"}]),),
    ),
    "add-below-an-empty-map": (
        "l: {} # c\nm: 1\n",
        "l: # c\n  c:\n  - name: gpu\nm: 1\n",
        (("l c", [{"name": "gpu"}]),),
    ),
    "add-below-null": (
        "l: null\nm: 1\n",
        "l:\n  a: 1\nm: 1\n",
        (("l", {}), ("l a", 1)),
    ),
    "add-below-nothing": (
        "l:   # c\nm: 1\n",
        "l:   # c\n  a: 1\nm: 1\n",
        (("l", {}), ("l a", 1)),
    ),
    "put-a-scalar-below-nothing": ("l: # c\nm: 1\n", "l: 7 # c\nm: 1\n", (("l", 7),)),
    "append-indented": (
        "l:\n  - a: 1\n    b: 2\nm: 1\n",
        "l:\n  - a: 1\n    b: 2\n  - c: 3\nm: 1\n",
        (("l 1", {"c": 3}),),
    ),
    "append-not-indented": ("l:\n- a\nm: 1\n", "l:\n- a\n- b\nm: 1\n", (("l 1", "b"),)),
    "append-with-a-wide-dash": (
        "l:\n-   a: 1\nm: 1\n",
        "l:\n-   a: 1\n-   b: 2\n    c:\n    -   1\nm: 1\n",
        (("l 1", {"b": 2, "c": [1]}),),
    ),
    "append-in-crlf": (
        "l:\r\n- a\r\nm: 1\r\n",
        "l:\r\n- a\r\n- b: 1\r\n  c: 2\r\nm: 1\r\n",
        (("l 1", {"b": 1, "c": 2}),),
    ),
    "mixed-line-endings": (
        "l:\r\n  a: 1\r\n  b: 2\nm:\n  x: 1\n",
        "l:\r\n  a: 1\r\n  b: 2\n  c: 3\nm:\n  x: 1\n  z: 2\n",
        (("l c", 3), ("m z", 2)),
    ),
    "flow-remove-first": ("l: {gpu: 1, cpu: 2}\n", "l: {cpu: 2}\n", (("l gpu", ABSENT),)),
    "flow-remove-last": ("l: { cpu: 2, gpu: 1 }\n", "l: { cpu: 2 }\n", (("l gpu", ABSENT),)),
    "flow-remove-only": ("l: { gpu: 1 } # c\n", "l: {} # c\n", (("l gpu", ABSENT),)),
    "flow-add": ("l: {a: 1}\n", "l: {a: 1, b: [{c: x}]}\n", (("l b", [{"c": "x"}]),)),
    "json-as-a-value": (
        "l: 1\n",
        'l: 1\nm: \'{"a":"b"}\'\n',
        (("m", '{"a":"b"}'),),
    ),
    "json-with-an-apostrophe": (
        "l: 1\n",
        'l: 1\nm: "{\\"a\\":\\"it\'s\\"}"\n',
        (("m", '{"a":"it\'s"}'),),
    ),
    "flow-append": ("l: [a]\n", "l: [a, b]\n", (("l 1", "b"),)),
    "flow-comments-stay": (
        "l: {a: 1, # one\n  b: 2, # two\n  c: 3}\n",
        "l: {a: 1, # one\n  c: 3}\n",
        (("l b", ABSENT),),
    ),
    "flow-last-behind-a-comment": (
        "l: {a: 1, # one\n  b: 2}\n",
        "l: {a: 1 # one\n  }\n",
        (("l b", ABSENT),),
    ),
    "flow-remove-over-lines": (
        "l: {a: 1,\n  b: 2,\n  c: 3}\n",
        "l: {  c: 3}\n",
        (("l a", ABSENT), ("l b", ABSENT)),
    ),
    "flow-add-before-a-brace": (
        "l: {\n  a: 1}\n",
        "l: {\n  a: 1,\n  b: 2}\n",
        (("l b", 2),),
    ),
    "replace-scalars": (
        "a: 'x' # c\nb: 0755\nc: \"y\"\nd: |\n  z\ne: 1\n",
        'a: "1" # c\nb: true\nc: null\nd: z\ne: "yes"\n',
        (("a", "1"), ("b", True), ("c", None), ("d", "z"), ("e", "yes")),
    ),
    "replace-with-a-tag": ("a: !!str 1 # c\n", "a: 2 # c\n", (("a", 2),)),
    "replace-a-list-by-a-map": (
        "a:\n- x\n- y # c\nb: 1\n",
        "a:\n  k: v\nb: 1\n",
        (("a", {"k": "v"}),),
    ),
    "quoting": (
        "a: 1\n",
        'a: 1\nb: "--x: y"\nc: "é😀\\u0085\\n"\n"on": "1e3"\n',
        (("b", "--x: y"), ("c", "é😀\x85\n"), ("on", "1e3")),
    ),
    "tabs-stay": ("a: 1\t\nb: x\t# c\nl:\tz\n", "a: 1\t\nl:\tz\n", (("b", ABSENT),)),
    "anchors-elsewhere-stay": (
        "a: &x {p: 1}\nb: *x\nl:\n  gpu: 1\n  <<: *x\n",
        "a: &x {p: 1}\nb: *x\nl:\n  <<: *x\n",
        (("l gpu", ABSENT),),
    ),
    "an-anchor-without-use-may-change": (
        "a: &x\n  p: 1\n  q: 2\n",
        "a: &x\n  p: 1\n",
        (("a q", ABSENT),),
    ),
    "trailing-spaces-and-dots-stay": (
        "a: 1   \nb: 2\n...\n# end",
        "a: 1   \nc: 3\n...\n# end",
        (("b", ABSENT), ("c", 3)),
    ),
    "a-key-written-twice": ("l: {a: 1, a: 2}\nb: 1\n", "l: {}\nb: 1\n", (("l a", ABSENT),)),
}


@pytest.mark.parametrize(
    ("before", "after", "changes"), [pytest.param(*case, id=name) for name, case in CASES.items()]
)
def test_only_what_changes_is_changed(before: str, after: str, changes: tuple[Change, ...]) -> None:
    assert apply(HEAD + before, *changes) == HEAD + after
    # And so does every other document around it.
    others = "\ufeff# first\n---\n{{ helm }}\n---\r\n"
    text = f"{HEAD}{before}\n---\n{others}x"
    assert apply(text, *changes).endswith(f"\n---\n{others}x")


KYAML = """\
---
{
  kind: "Thing",
  r: {
    limits: {
      cpu: 1,
      gpu: "1", # c
    },
  },
}
"""
JSON = """\
{
  "kind": "Thing",
  "r": {
    "limits": {
      "cpu": 1,
      "gpu": "1"
    }
  }
}
"""


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        pytest.param(
            KYAML,
            KYAML.replace('      gpu: "1", # c\n', "").replace(
                "    },\n  },\n",
                '    },\n    claims: [{\n      name: "gpu",\n    }],\n  },\n',
            ),
            (("r limits gpu", ABSENT), ("r claims", [{"name": "gpu"}])),
            id="kyaml",
        ),
        pytest.param(
            JSON,
            JSON.replace(',\n      "gpu": "1"', "").replace(
                "    }\n  }\n",
                '    },\n    "claims": [\n      {\n        "name": "gpu"\n      }\n    ]\n  }\n',
            ),
            (("r limits gpu", ABSENT), ("r claims", [{"name": "gpu"}])),
            id="json-indented",
        ),
        pytest.param(
            '{"kind":"Thing","r":{"a":1,"b":2}}',
            '{"kind":"Thing","r":{"a":1,"c":[{"n":"\\u0085"}]}}',
            (("r b", ABSENT), ("r c", [{"n": "\x85"}])),
            id="json-compact",
        ),
        pytest.param(
            '{"kind": "Thing", "r": {}}\n',
            '{"kind": "Thing", "r": {"a": true, "b": null}}\n',
            (("r a", True), ("r b", None)),
            id="json-empty-map",
        ),
    ],
)
def test_braces_stay_in_their_style(before: str, after: str, changes: tuple[Change, ...]) -> None:
    assert apply(before, *changes) == after


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        pytest.param(
            "l:\n# a\n- a: 1 # b\n- c: 2\n", 0, "l:\n# a\n- x: 0\n- a: 1 # b\n- c: 2\n", id="first"
        ),
        pytest.param(
            "l:\n  - a: 1 # b\n  # c\n  - c: 2\n",
            1,
            "l:\n  - a: 1 # b\n  - x: 0\n  # c\n  - c: 2\n",
            id="between",
        ),
        pytest.param("l: [{a: 1}, {c: 2}]\n", 1, "l: [{a: 1}, {x: 0}, {c: 2}]\n", id="brackets"),
    ],
)
def test_an_item_put_between_others(text: str, index: int, expected: str) -> None:
    manifest = parse(HEAD + text, "f.yaml")
    operation = Operation(("l", index), ABSENT, {"x": 0})
    assert edited(manifest, {manifest.objects[0]: [operation]}) == HEAD + expected
