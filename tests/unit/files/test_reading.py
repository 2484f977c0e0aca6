"""Reading manifests: the same objects as kubectl reads, each with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_llmfit.core.reasons import NOT_A_MANIFEST
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.splicing import same
from tests.unit.files import kubectl

HEAD = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: a\n"
SCALARS = """
0000:53:00.0 0000:00:02.0 0000:64:00.0 190:20:30 1e3 1E3 1.5e3 1e-7 12_0 1_000.5 1_ _1 -_1 0_7
yes Yes YES y Y n N no on On off OFF true True FALSE null Null NULL ~ tRue
0755 08 09.5 0o755 0o8 -0o17 0x1F 0X1f -0x1F +0x2 0x 0b11 -0b11 +0b1 0b2 0x1p4
1.0 1. .5 -.5 +.5 .5_0 ._5 . .e1 .1e1 1e +1 -0 -0.0 -1.50 00 0
9223372036854775807 9223372036854775808 18446744073709551615 -9223372036854775809 1e18 1e400
2024-01-01 2024-01-01T00:00:00Z = << .infinity .inf_ .nan2 1.2.3 v1 16Gi 1k 500m 1000m -1
'1' "1" "yes" 'null' "\\u00e9" "a\\x41" ''
!!str&1 !!int&"3" !!float&3 !!bool&yes !!null&x !!binary&aGk= !Ref&x !&12 !!timestamp&2020-01-01
[1,a] {a:&1} [a:&1,&b] {b} [] {}
"""


@pytest.mark.parametrize("shown", SCALARS.split())
def test_a_scalar_is_what_kubectl_reads(shown: str, tmp_path: Path) -> None:
    text = f"{HEAD}spec:\n  v: {shown.replace('&', ' ')}\n"
    manifest = parse(text, "f.yaml")
    wanted = kubectl.read(text, tmp_path)
    if wanted is None:
        assert len(manifest.problems) == 1
    else:
        assert same([each.value for each in manifest.objects], wanted)


@pytest.mark.parametrize("shown", [".inf", "-.INF", "+.Inf", ".nan", "!!int x", "!!binary /w=="])
def test_a_scalar_that_no_object_can_hold_is_a_problem(shown: str) -> None:
    (problem,) = parse(f"{HEAD}spec:\n  v: {shown}\n", "f.yaml").problems
    assert problem.reason is NOT_A_MANIFEST
    assert problem.sentence.startswith("f.yaml, line 6: the document cannot be read: ")


THING = '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"%s"}}'
STREAMS = {
    "tabs": "spec:\n  a: x\t\n  b: \"y\"\t# c\n  c:\tz\n  d: x\ty\n  e: [1,\t\n\t2]\n",
    "tab-continues": "spec:\n  a: x\n   \t y\n",
    "tab-as-indentation": "spec:\n\ta: x\n",
    "tab-on-an-empty-line": "spec:\n  a: b\n\t\n  c: d\n",
    "tab-before-a-comment": 'spec:\n  a: "b"\n\t# x\n  c: d\n',
    "tab-after-a-dash": "spec:\n-\ta\n",
    "long-text": "spec:\n  a: one\n    two\n\n    three\n  b: 'x\n\n    y'\n  c: \"x\\\n    y\"\n",
    "block-scalars": "spec:\n  a: |\n    x\n     y\n\n  c: |+\n    x\n\n",
    "folded-scalar": "spec:\n  b: >-\n    x\n    y\n\n    z\n",
    "block-scalar-indicator": "spec:\n  a: |2\n      x\n    y\n",
    "key-types": "spec:\n  1: a\n  true: b\n  yes: c\n  0x10: d\n  1.5: e\n  '2': f\n",
    "null-key": "spec:\n  ~: a\n",
    "map-as-key": "spec:\n  {a: 1}: b\n",
    "question-mark": "spec:\n  ? a\n  : 1\n  ? b\n",
    "same-key-twice": "spec:\n  a: 1\n  a: 2\n",
    "alias": "spec:\n  a: &x {b: 1}\n  c: *x\n  d: [*x, *x]\n",
    "unknown-alias": "spec:\n  a: *x\n",
    "alias-to-itself": "spec: &x\n  a: *x\n",
    "merge": "spec:\n  a: &x {b: 1, c: 2}\n  d:\n    <<: *x\n    c: 3\n",
    "merge-last": "spec:\n  a: &x {b: 1, c: 2}\n  d:\n    c: 3\n    <<: *x\n",
    "merge-list": "spec:\n  a: &x {b: 1}\n  y: &y {b: 2, c: 3}\n  d:\n    <<: [*x, *y]\n",
    "merge-text": "spec:\n  <<: a\n",
    "helm": "spec:\n  {{- if .Values.x }}\n  a: 1\n  {{- end }}\n",
    "helm-value": "spec:\n  a: {{ .Values.x }}\n",
    "unbalanced": "spec:\n  a: 'b\n",
    "control-character": "spec:\n  a: b\x07\n",
    "flow-over-lines": "spec: {a: 1,\n  b: [x, # c\n    y,\n  ],\n}\n",
    "indentless-list": "spec:\n- a: 1\n  b:\n  - c\n-\n- - d\n  - e\n",
    "anchored-key": "spec:\n  &x a: 1\n  b: *x\n",
    "non-ascii": "spec:\n  größe: ☃\n  e: 😀\n",
}  # fmt: skip
WHOLE = {
    "separators": f"---\n{HEAD}---  \n{HEAD}--- # c\n{HEAD}---\n",
    "separator-crlf": f"---\r\n{HEAD}---\t\r\n{HEAD}".replace("\n", "\r\n").replace("\r\r", "\r"),
    "text-behind-separator": f"{HEAD}--- {{kind: X}}\n",
    "word-behind-separator": f"{HEAD}---junk\n{HEAD}",
    "comment-behind-first": f"--- # c\n{HEAD}",
    "end-marker": f"{HEAD}...\n---\n{HEAD}",
    "end-marker-at-end": f"{HEAD}...\n",
    "empty-documents": f"# c\n\n---\n---\n\n---\n# only\n---\n{HEAD}---\n",
    "comments-only": f"# a\n# b\n---\n{HEAD}",
    "directive": f"%YAML 1.1\n---\n{HEAD}",
    "bom": f"\ufeff{HEAD}",
    "bom-and-separator": f"\ufeff---\n{HEAD}",
    "carriage-returns": HEAD.replace("\n", "\r"),
    "no-newline": f"{HEAD}spec: 1",
    "kyaml": '---\n{\n  apiVersion: "v1",\n  kind: "Thing",\n  metadata: {name: "a",},\n}\n',
    "json": THING % "a",
    "json-bom": f"\ufeff{THING % 'a'}",
    "json-values": THING % "a" + THING % "b" + "\n" + THING % "c" + "\n",
    "json-values-separated": f"---\n{THING % 'a'}\n---\n{THING % 'b'}\n",
    "json-escapes": THING % "\\ud83d\\ude00\\/\\u00e9",
    "json-in-tabs": json.dumps(json.loads(THING % "a"), indent="\t"),
    "list": f"apiVersion: v1\nkind: List\nitems:\n- {THING % 'a'}\n- {THING % 'b'}\n",
    "list-empty": "apiVersion: v1\nkind: List\nitems: []\n",
    "own-list": f"apiVersion: v1\nkind: ThingList\nitems:\n- {THING % 'a'}\n",
    "list-by-name-only": "apiVersion: v1\nkind: AllowList\nmetadata: {name: a}\nspec: 1\n",
}


@pytest.mark.parametrize(
    "text",
    [pytest.param(HEAD + text, id=name) for name, text in STREAMS.items()]
    + [pytest.param(text, id=name) for name, text in WHOLE.items()],
)
def test_a_stream_is_what_kubectl_reads(text: str, tmp_path: Path) -> None:
    manifest = parse(text, "f.yaml")
    wanted = kubectl.read(text, tmp_path)
    if wanted is None:
        assert manifest.problems
    else:
        assert manifest.problems == ()
        assert same([each.value for each in manifest.objects], wanted)


def test_every_object_has_its_place() -> None:
    text = f"# c\n---\n{HEAD}---\n\nkind: List\nitems:\n- kind: A\n\n- kind: B\n"
    manifest = parse(text, "f\n.yaml")
    assert [(each.where, each.path, each.line) for each in manifest.objects] == [
        ("f\\n.yaml, document 2, line 3", (), 3),
        ("f\\n.yaml, document 3, line 11, items[0]", ("items", 0), 11),
        ("f\\n.yaml, document 3, line 13, items[1]", ("items", 1), 13),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("a: 1\n b: 2\n", "line 2: the document is not YAML: ", id="indentation"),
        pytest.param("- a\n", "line 1: the document is a list or a text, not", id="list"),
        pytest.param("a: 1\n---\n{{ x }}\n", "document 2, line 3: ", id="second-document"),
        pytest.param("{{ x }}\n", "the output of `helm template` instead", id="helm"),
        pytest.param("a: 1\n...\nb: 2\n", "line 3: the document has a second", id="end-marker"),
        pytest.param("a: 1\n--- b\n", 'line 2: the document has "b" on the line', id="behind"),
        pytest.param("a: b\x07\n", "line 1: the document holds the character U+0007", id="bell"),
        pytest.param("a: *b\n", 'line 1: the document names the anchor "b", which', id="alias"),
        pytest.param('{"a": "b" x}', 'is not JSON: "x" is unexpected', id="json"),
        pytest.param('{"a": 1', "is not JSON: it ends too early", id="json-cut"),
        pytest.param('{"a": "\\x"}', "line 1: the document is not", id="json-escape"),
        pytest.param("a: " + "[" * 120, "nested more than 100 levels deep", id="depth"),
        pytest.param('{"a":' * 120, "nested more than 100 levels deep", id="json-depth"),
        pytest.param(
            "kind: List\nitems:\n- kind: List\n  items: []\n",
            "line 3: the document has items[0], which is no object that a List can hold",
            id="list-in-a-list",
        ),
        pytest.param("kind: List\nitems:\n- a\n", "has items[0], which is no", id="text-item"),
    ],
)
def test_what_is_no_manifest_is_a_problem_with_its_place(text: str, sentence: str) -> None:
    (problem,) = parse(text, "f.yaml").problems
    assert problem.reason is NOT_A_MANIFEST
    assert problem.sentence.startswith("f.yaml, ")
    assert sentence in problem.sentence


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (problem,) = parse("\n".join(lines), "f.yaml").problems
    assert "holds more than 200000 values" in problem.sentence


def test_a_document_that_cannot_be_read_leaves_the_others() -> None:
    manifest = parse(f"{HEAD}---\na: {{{{ x }}}}\n---\n{HEAD}", "f.yaml")
    assert len(manifest.objects) == 2
    assert len(manifest.problems) == 1


def test_yaml_in_braces_needs_no_separator() -> None:
    # As newer versions of kubectl read it; older ones ask for --- before it.
    manifest = parse('{\n  kind: "A",\n}\n---\nkind: B\n', "f.yaml")
    assert [each.value["kind"] for each in manifest.objects] == ["A", "B"]
