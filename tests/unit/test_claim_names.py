"""Names derived from models' names: always what the API server takes, or a refusal."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kubectl_llmfit import Model, Refused, claim_name, render

# k8s.io/apimachinery/pkg/util/validation: dns1123LabelFmt, DNS1123LabelMaxLength
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
DNS_LABEL_MAX = 63


def named(name: str) -> Model:
    return Model(name, 7_000_000_000, "Q4_K_M")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param("Test Model 7B", "test-model-7b-fit", id="spaces"),
        pytest.param("Qwen/Qwen2.5-7B-Instruct", "qwen-qwen2-5-7b-instruct-fit", id="repository"),
        pytest.param("a__b..c//d", "a-b-c-d-fit", id="a-run-of-others-is-one-dash"),
        pytest.param("--_a_--", "a-fit", id="no-dash-at-the-ends"),
        pytest.param("7", "7-fit", id="one-digit"),
        pytest.param("Größe-7B", "gr-e-7b-fit", id="letters-beyond-ascii-are-others"),
        pytest.param("模型/Big-7B", "big-7b-fit", id="what-is-left-of-another-script"),
        pytest.param("a" * 48, "a" * 48 + "-fit", id="48-stay"),
        pytest.param("a" * 49, "a" * 48 + "-fit", id="49-are-cut"),
        pytest.param("a" * 47 + "-b", "a" * 47 + "-fit", id="cut-at-a-dash-leaves-no-dash"),
        pytest.param("/" + "a" * 49, "a" * 48 + "-fit", id="cut-behind-what-is-dropped"),
        pytest.param("a" * 10_000, "a" * 48 + "-fit", id="very-long"),
    ],
)
def test_a_name_follows_llmfits_rule(model: str, expected: str) -> None:
    assert claim_name(named(model)) == expected


@given(st.text(max_size=120), st.from_regex(r"[A-Za-z0-9]", fullmatch=True), st.text(max_size=120))
def test_a_name_with_a_letter_or_digit_gives_a_dns_label(
    before: str, letter: str, after: str
) -> None:
    name = claim_name(named(before + letter + after))
    assert DNS_LABEL.fullmatch(name)
    assert name.endswith("-fit")
    assert len(name) <= min(52, DNS_LABEL_MAX)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_no_name_at_all_leads_to_one_that_kubernetes_refuses(model: str) -> None:
    assume(not re.search("[a-z0-9]", model.lower()))
    with pytest.raises(Refused) as refused:
        claim_name(named(model))
    assert [problem.reason.token for problem in refused.value.problems] == ["invalid-name"]


@pytest.mark.parametrize("model", ["模型", "---", "/", "é"])
def test_a_model_that_gives_no_name_is_told_to_use_the_flag(model: str) -> None:
    # A fixed stand-in would give two such models one name, and applying both would lose one.
    with pytest.raises(Refused, match="--name") as refused:
        render(named(model))
    assert [problem.reason.token for problem in refused.value.problems] == ["invalid-name"]
