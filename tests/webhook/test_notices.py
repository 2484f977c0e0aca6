"""Words for people: bounded, on one line, the token always there."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.reasons import BAD_QUANTITY, INVALID_VALUE, Problem, Refused
from webhook.observed import logs
from webhook.observed.logs import JsonLines, fields
from webhook.reviews.answer import Outcome, Verdict, answer
from webhook.reviews.notices import explanation, shown, warnings

TOKEN = "quota-key-changes"


def test_short_sentence_is_whole() -> None:
    assert warnings([("it is so", TOKEN)]) == ("llmfit: it is so (quota-key-changes)",)


def test_long_sentence_is_cut_and_the_token_kept() -> None:
    """8 + 89 + 3 + 20 characters are 120."""
    (warning,) = warnings([("x" * 500, TOKEN)])
    assert warning == f"llmfit: {'x' * 89}... (quota-key-changes)"
    assert len(warning) == 120


def test_said_once() -> None:
    assert len(warnings([("a", TOKEN), ("b", TOKEN), ("a", TOKEN)])) == 2


def test_warnings_are_bounded_in_all() -> None:
    """4096 / 120 is 34."""
    assert len(warnings((f"{number:03d} {'x' * 200}", TOKEN) for number in range(1000))) == 34


@given(st.lists(st.tuples(st.text(max_size=300), st.sampled_from([TOKEN, "a"])), max_size=60))
def test_any_sentences(said: list[tuple[str, str]]) -> None:
    made = warnings(said)
    assert all(each.isprintable() for each in made)
    assert all(len(each) <= 120 for each in made)
    assert all(each.endswith((f"({TOKEN})", "(a)")) for each in made)
    assert sum(map(len, made)) <= 4096


def test_explanation_has_every_problem_that_there_is_room_for() -> None:
    problems = [Problem(BAD_QUANTITY, "a"), Problem(INVALID_VALUE, "b")]
    assert explanation(Refused(problems)) == "a (bad-quantity); b (invalid-value)"
    many = [Problem(INVALID_VALUE, f"{number} {'x' * 300}") for number in range(100)]
    said = explanation(Refused(many))
    assert said.count("(invalid-value)") == 3
    assert len(said) <= 1000
    assert len(explanation(Refused([Problem(INVALID_VALUE, "x" * 5000)]))) == 1000


def test_shown_values_are_short_and_on_one_line() -> None:
    assert shown("a\nb") == "a\\nb"
    assert shown("x" * 201) == "x" * 197 + "..."


def test_answer_without_anything_to_say() -> None:
    body = json.loads(answer("u", Verdict(Outcome.SKIP)))
    assert body == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "u", "allowed": True, "auditAnnotations": {"decision": "skip"}},
    }


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_meaning(outcome: Outcome) -> None:
    assert outcome.meaning.endswith((".", "."))


def test_log_line_is_one_line_whatever_is_in_it() -> None:
    made = logging.LogRecord("webhook.x", logging.INFO, "", 0, "a\n%s", ('"}\n{',), None)
    made.fields = fields(name="\u2028\x1b[2J", empty="", nothing=None, count=0)["fields"]
    line = JsonLines().format(made)
    assert "\n" not in line
    assert line.isascii()
    said = json.loads(line)
    assert said["message"] == 'a\\n"}\\n{'
    assert said["name"] == "\\u2028\\x1b[2J"
    assert said["count"] == 0
    assert "empty" not in said
    assert "nothing" not in said


def test_line_of_a_review_is_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(logs, "sys", SimpleNamespace(stderr=written))
    logger = logging.getLogger("webhook.x")
    monkeypatch.setattr(logger, "level", logging.INFO)
    logs.write(logger, logging.DEBUG, "review", fields(uid="u"))
    logs.write(logger, logging.WARNING, "review", fields(uid="u", name="\n", count=1))
    made = logging.LogRecord("webhook.x", logging.WARNING, "", 0, "review", (), None)
    made.fields = fields(uid="u", name="\n", count=1)["fields"]
    (line, end) = written.getvalue().split("\n")
    other = JsonLines().format(made)
    assert end == ""
    assert list(json.loads(line)) == list(json.loads(other))
    assert line.partition('"level"')[2] == other.partition('"level"')[2]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", json.loads(line)["time"])


def test_nobody_who_reads_the_log_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(logs, "sys", SimpleNamespace(stderr=closed))
    logs.write(logging.getLogger("webhook.x"), logging.ERROR, "review", fields(uid="u"))


def test_log_line_of_a_fault_has_its_traceback() -> None:
    try:
        raise RuntimeError("here")
    except RuntimeError:
        made = logging.LogRecord("webhook", logging.ERROR, "", 0, "fault", (), sys.exc_info())
    said = json.loads(JsonLines().format(made))
    assert said["traceback"].endswith("RuntimeError: here")
