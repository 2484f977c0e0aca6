"""Checks of users' names against the expressions of the API server itself."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit import Problem, Refused
from kubectl_llmfit.core.claims import names
from kubectl_llmfit.core.claims.labels import parse_labels

Check = Callable[[str, str], list[Problem]]

# k8s.io/apimachinery/pkg/util/validation/validation.go
_LABEL_FMT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED_FMT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
DNS_SUBDOMAIN = re.compile(_LABEL_FMT + "(\\." + _LABEL_FMT + ")*")
DNS_LABEL = re.compile(_LABEL_FMT)
QUALIFIED_NAME = re.compile(_QUALIFIED_FMT)


def is_subdomain(text: str) -> bool:
    return DNS_SUBDOMAIN.fullmatch(text) is not None and len(text) <= 253


def is_label(text: str) -> bool:
    return DNS_LABEL.fullmatch(text) is not None and len(text) <= 63


def is_label_value(text: str) -> bool:
    return text == "" or (QUALIFIED_NAME.fullmatch(text) is not None and len(text) <= 63)


def is_label_key(text: str) -> bool:
    """As IsQualifiedName: at most one slash, a subdomain before it."""
    parts = text.split("/")
    if len(parts) > 2 or (len(parts) == 2 and not is_subdomain(parts[0])):
        return False
    return QUALIFIED_NAME.fullmatch(parts[-1]) is not None and len(parts[-1]) <= 63


RULES: dict[str, tuple[Check, Callable[[str], bool]]] = {
    "subdomain": (names.subdomain_problems, is_subdomain),
    "label": (names.label_problems, is_label),
    "label-key": (names.label_key_problems, is_label_key),
    "label-value": (names.label_value_problems, is_label_value),
}

# Few characters, so that many of the texts are names and the others miss by little.
texts = st.text("aZ09-._/ é\n", max_size=8) | st.text(max_size=8)
lengths = st.sampled_from((62, 63, 64, 252, 253, 254)).map(lambda length: "a" * length)


@pytest.mark.parametrize("rule", RULES)
@given(text=texts | lengths)
def test_a_name_is_taken_just_when_the_api_server_takes_it(rule: str, text: str) -> None:
    check, is_valid = RULES[rule]
    assert (check(text, "--flag") == []) == is_valid(text)


@pytest.mark.parametrize(
    ("rule", "text", "valid"),
    [
        pytest.param("subdomain", "a.b-c.d0", True, id="dots"),
        pytest.param("subdomain", "a" * 253, True, id="253"),
        pytest.param("subdomain", "a" * 254, False, id="254"),
        pytest.param("subdomain", "a..b", False, id="empty-part"),
        pytest.param("subdomain", "a.-b", False, id="part-with-a-dash-in-front"),
        pytest.param("subdomain", "Abc", False, id="capital"),
        pytest.param("subdomain", "abc\n", False, id="newline-at-the-end"),
        pytest.param("subdomain", "", False, id="empty"),
        pytest.param("label", "a" * 63, True, id="label-63"),
        pytest.param("label", "a" * 64, False, id="label-64"),
        pytest.param("label", "a.b", False, id="label-with-a-dot"),
        pytest.param("label-key", "app.kubernetes.io/name", True, id="prefixed-key"),
        pytest.param("label-key", "/name", False, id="empty-prefix"),
        pytest.param("label-key", "a/b/c", False, id="two-slashes"),
        pytest.param("label-key", "example.com/", False, id="empty-key"),
        pytest.param("label-key", "A_b.C", True, id="key-with-capitals"),
        pytest.param("label-value", "", True, id="empty-value"),
        pytest.param("label-value", "a" * 64, False, id="value-64"),
        pytest.param("label-value", "-a", False, id="value-with-a-dash-in-front"),
    ],
)
def test_a_rules_edges(rule: str, text: str, valid: bool) -> None:
    check, is_valid = RULES[rule]
    assert (check(text, "--flag") == []) is valid
    assert is_valid(text) is valid


@pytest.mark.parametrize("rule", RULES)
@given(text=st.text(max_size=400))
def test_a_problem_is_one_printable_line_that_names_the_flag(rule: str, text: str) -> None:
    for problem in RULES[rule][0](text, "--flag"):
        assert problem.reason.token == "invalid-name"
        assert str(problem).startswith("--flag: ")
        assert str(problem).isprintable()


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        pytest.param("", {}, id="none"),
        pytest.param("a=b", {"a": "b"}, id="one"),
        pytest.param("a=b,c=d", {"a": "b", "c": "d"}, id="two"),
        pytest.param("a=b,a=c", {"a": "c"}, id="the-last-of-a-repeated-key"),
        pytest.param("a=", {"a": ""}, id="empty-value"),
        pytest.param("x.io/a=b", {"x.io/a": "b"}, id="prefix"),
    ],
)
def test_labels_are_read_from_pairs(text: str, labels: dict[str, str]) -> None:
    assert parse_labels(text, "--labels") == labels


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("a", ["invalid-value"], id="no-equals-sign"),
        pytest.param("a=b,", ["invalid-value"], id="comma-at-the-end"),
        pytest.param(",", ["invalid-value", "invalid-value"], id="comma-alone"),
        pytest.param("=b", ["invalid-name"], id="no-key"),
        pytest.param("a=b=c", ["invalid-name"], id="two-equals-signs"),
        pytest.param("a b=c", ["invalid-name"], id="space-in-the-key"),
        pytest.param("-=-,x", ["invalid-name"] * 2 + ["invalid-value"], id="all-at-once"),
    ],
)
def test_labels_that_are_wrong_are_all_named(text: str, tokens: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        parse_labels(text, "--labels")
    assert [problem.reason.token for problem in refused.value.problems] == tokens
    assert all(problem.sentence.startswith("--labels: ") for problem in refused.value.problems)
