"""The YAML emitter against two libraries: one that reads YAML 1.1 and one that reads 1.2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from kubectl_llmfit.core.claims import yaml


def read_1_1(text: str) -> Any:
    return pyyaml.safe_load(text)


def read_1_2(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


READERS: dict[str, Callable[[str], Any]] = {"yaml-1.1": read_1_1, "yaml-1.2": read_1_2}

NASTY = (
    "",
    " ",
    "1e3",
    "0x1",
    "0o7",
    "007",
    "1_000",
    "1.5",
    ".5",
    "-1",
    "+1",
    ".inf",
    ".nan",
    "inf",
    "NaN",
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "N",
    "true",
    "False",
    "null",
    "Null",
    "~",
    "=",
    "<<",
    "12:30:00",
    "2001-01-01",
    "2001-01-01T00:00:00Z",
    "- a",
    "-",
    "--- a",
    "...",
    "? a",
    ": a",
    "a: b",
    "a:",
    "a #x",
    "#x",
    "a#x",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "[a]",
    "{a: b}",
    "a, b",
    "'a'",
    '"a"',
    "a\\b",
    "a\nb",
    "a\n",
    "\n",
    "a\tb",
    "\ta",
    " a",
    "a ",
    "\x00",
    "\x07",
    "\x1b[2J",
    "\x7f",
    "\x85",
    "\xa0",
    "\u2028",
    "\ufeff",
    "\u202e",
    "größe",
    "模型",
    "\U0001f600",
    "a && b",
    "a &&  b",
    "a && && b",
    " && a",
    "a && ",
    "a &&",
    "&& b",
    "a && b\n",
    "a && \u00e9",
    "a && \x07",
    "a && \x1b[2J",
    "a && b\nc",
    "a && b\u2028c",
    "- a && b: c",
    "# a && # b",
    "a &&\tb && c",
    "a && b || c",
    "a || || b && c",
    "a, , b && c,",
    "x in [" + ", ".join(f"'{letter * 12}'" for letter in "abcdefghijkl") + "] && y",
    "a && " + ", ".join("b" * 40 for _ in range(8)) + ", # c",
    "'memory' in device.capacity['x'] && 1 >= 0 && \"a\" == 'b'",
)

texts = (
    st.text(max_size=20)
    | st.sampled_from(NASTY)
    | st.text(" &:#-?[]{},'\"\\|>%@`!*\n\t01eExXyn.~=<", max_size=12)
    | st.lists(st.sampled_from(("a", "b c", "'x'", "", " ", "#", "- ")), max_size=5).map(
        " && ".join
    )
)
long_terms = st.lists(
    st.sampled_from((", ", " || ", " && ", " ", "#", "'a'", "b" * 50, "- c", "d: e")), max_size=20
).map("".join)
scalars = (
    texts
    | long_terms
    | st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(-1e12, 1e12, allow_nan=False)
)


def mappings(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts, values, max_size=4)


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists of scalars and of mappings that hold something, as objects have them."""
    return st.lists(scalars | st.dictionaries(texts, values, min_size=1, max_size=3), max_size=4)


documents = st.dictionaries(
    texts,
    st.recursive(scalars, lambda values: mappings(values) | lists(values), max_leaves=12),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=150)
@given(document=documents)
def test_a_document_is_read_back_as_it_was(reader: str, document: dict[str, Any]) -> None:
    read = READERS[reader](yaml.dump(document))
    assert read == document
    # Equal is not the same: 1, 1.0 and True are equal.
    assert repr(read) == repr(document)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_a_nasty_string_stays_a_string(reader: str, text: str) -> None:
    document = {"value": text, text: ["in a list", text, {text: text}]}
    assert READERS[reader](yaml.dump(document)) == document


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"a": []}, id="empty-list"),
        pytest.param({"a": {}}, id="empty-mapping"),
        pytest.param({"a": [{"b": []}, {"c": {}}]}, id="empty-ones-in-a-list"),
        pytest.param({"a": [[1, "x"], [True]]}, id="list-in-a-list"),
        pytest.param({"a": [{}, []]}, id="empty-ones-as-items"),
        pytest.param({"a": {"b": [{"c": [{"d": "x && y"}, "z"]}]}}, id="deep"),
        pytest.param({"a": (1, 2)}, id="tuple-as-a-list"),
        pytest.param({"a": 1e-05, "b": 1e16, "c": 0.1, "d": math.inf}, id="numbers-with-exponents"),
    ],
)
def test_a_shape_is_read_back_as_it_was(reader: str, document: dict[str, Any]) -> None:
    expected = {
        key: list(value) if isinstance(value, tuple) else value for key, value in document.items()
    }
    read = READERS[reader](yaml.dump(document))
    assert read == expected
    assert repr(read) == repr(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("llmfit.ai", "llmfit.ai", id="plain"),
        pytest.param("resource.k8s.io/v1", "resource.k8s.io/v1", id="plain-with-a-slash"),
        pytest.param("yes", '"yes"', id="quoted-word"),
        # Booleans in YAML 1.1's own list, which kubectl's reader follows and PyYAML does not.
        pytest.param("y", '"y"', id="quoted-y"),
        pytest.param("N", '"N"', id="quoted-n"),
        pytest.param("1e3", '"1e3"', id="quoted-number"),
        pytest.param("", '""', id="empty"),
        pytest.param("a b", '"a b"', id="space"),
        pytest.param("a\nb", '"a\\nb"', id="newline"),
        pytest.param(None, "null", id="null"),
        pytest.param(True, "true", id="true"),
        pytest.param(False, "false", id="false"),
        pytest.param(0, "0", id="zero"),
        pytest.param(-5, "-5", id="negative"),
        pytest.param(20.0, "20.0", id="float"),
        pytest.param(1e-05, "1.0e-05", id="exponent"),
        pytest.param(math.inf, ".inf", id="infinity"),
        pytest.param(-math.inf, "-.inf", id="negative-infinity"),
        pytest.param(math.nan, ".nan", id="not-a-number"),
    ],
)
def test_a_scalar_is_written_in_the_shortest_safe_form(
    value: str | bool | float | None, text: str
) -> None:
    assert yaml.scalar(value) == text


@pytest.mark.parametrize("reader", READERS)
@given(value=scalars)
def test_a_scalar_is_one_line_that_is_read_back(
    reader: str, value: str | bool | float | None
) -> None:
    text = yaml.scalar(value)
    assert "\n" not in text
    assert READERS[reader](f"value: {text}\n") == {"value": value}


def test_conjunctions_are_folded_to_a_term_a_line() -> None:
    assert yaml.dump({"spec": {"cel": "a > 1 && b && 'c' in d"}}) == (
        "spec:\n  cel: >-\n    a > 1 &&\n    b &&\n    'c' in d\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a: b\n- c\n", "|\n  a: b\n  - c\n", id="ends-with-a-line-break"),
        pytest.param("#!/bin/sh\n\nexec x", "|-\n  #!/bin/sh\n\n  exec x\n", id="without-one"),
        pytest.param(" a\nb", '" a\\nb"\n', id="blank-at-the-start"),
        pytest.param("a\n\n", '"a\\n\\n"\n', id="several-line-breaks-at-the-end"),
        pytest.param("a\r\nb", '"a\\r\\nb"\n', id="other-line-breaks"),
    ],
)
def test_lines_stand_as_they_are_where_they_can(text: str, shown: str) -> None:
    assert yaml.dump({"a": text}) == f"a: {shown}"


def test_keys_keep_their_order() -> None:
    assert yaml.dump({"b": 1, "a": 2}) == "b: 1\na: 2\n"


@given(st.lists(documents, min_size=1, max_size=3))
def test_a_stream_is_read_back_document_by_document(parts: list[dict[str, Any]]) -> None:
    stream = yaml.dump_all([yaml.dump(part) for part in parts])
    assert list(pyyaml.safe_load_all(stream)) == parts
