"""Reasons of refusals: stable tokens, whole sentences, and text that cannot break a line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit import Catalog, Problem, Reason, Refused
from kubectl_llmfit.core import reasons
from tests.unit.commandline import MODEL, Run

DEFINED = [value for value in vars(reasons).values() if isinstance(value, Reason)]


def test_every_reason_of_the_module_is_listed_once() -> None:
    assert len(DEFINED) >= 11
    assert sorted(reason.token for reason in reasons.ALL) == sorted(
        reason.token for reason in DEFINED
    )


def test_no_two_reasons_share_a_token() -> None:
    tokens = [reason.token for reason in DEFINED]
    assert len(tokens) == len(set(tokens))


@pytest.mark.parametrize("reason", [pytest.param(each, id=each.token) for each in DEFINED])
def test_a_reason_is_a_token_and_two_sentences(reason: Reason) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", reason.token)
    for sentence in (reason.meaning, reason.remedy):
        assert re.fullmatch(r"([A-Z]|kubectl ).*\.", sentence)
        assert sentence.isprintable()


def test_a_refusal_holds_every_problem() -> None:
    problems = [Problem(reasons.BAD_USAGE, "one"), Problem(reasons.INVALID_NAME, "two")]
    refused = Refused(iter(problems))
    assert refused.problems == tuple(problems)
    assert str(refused) == "one (bad-usage)\ntwo (invalid-name)"
    assert isinstance(refused, ValueError)


@given(st.text(max_size=50))
def test_shown_text_is_on_one_line_and_only_escaped_where_it_must_be(text: str) -> None:
    shown = reasons.printable(text)
    assert shown.isprintable()
    assert (shown == text) == text.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("größe", "größe", id="letters"),
        pytest.param("a\nb", "a\\nb", id="newline"),
        pytest.param("\x1b[2J", "\\x1b[2J", id="terminal-escape"),
        pytest.param("\u202eabc", "\\u202eabc", id="right-to-left-override"),
        pytest.param("\u2028", "\\u2028", id="line-separator"),
        pytest.param("\udc80", "\\udc80", id="undecodable-byte"),
        pytest.param("\U000e0001", "\\U000e0001", id="tag-character"),
    ],
)
def test_what_could_break_a_line_is_escaped(text: str, shown: str) -> None:
    assert reasons.printable(text) == shown
    assert str(Problem(reasons.BAD_USAGE, text)) == f"{shown} (bad-usage)"


def test_quoted_text_is_cut_when_it_is_long() -> None:
    assert reasons.quoted("abc") == '"abc"'
    assert reasons.quoted("x" * 120) == f'"{"x" * 120}"'
    assert reasons.quoted("x" * 121) == f'"{"x" * 120}..."'


@pytest.fixture
def broken_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the program itself: the catalog raises what nobody expects."""

    def fail(*_: object) -> Catalog:
        raise RuntimeError("it\nbroke")

    monkeypatch.setattr(Catalog, "open", fail)


@pytest.mark.usefixtures("broken_catalog")
def test_a_fault_of_the_program_is_one_line_that_asks_for_a_report(run: Run) -> None:
    error = run("render", MODEL).error()
    assert error.startswith("error: RuntimeError: it\\nbroke; ")
    assert "report" in error
    assert error.endswith("(internal-error)")


@pytest.mark.usefixtures("broken_catalog")
def test_a_fault_shows_its_place_to_who_asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECTL_LLMFIT_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="broke"):
        run("render", MODEL)
