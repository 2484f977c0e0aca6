"""From a part of a name to one model, against a search over all the names by brute force."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from kubectl_llmfit import Catalog, Model, Refused
from kubectl_llmfit.catalog.shipped import ShippedCatalog
from tests.unit.samples import seven_billion


@cache
def all_names() -> list[str]:
    return list(ShippedCatalog().names())


def holding(*parts: str) -> list[str]:
    """Names that hold every one of ``parts``, in any case."""
    wanted = [part.lower() for part in parts]
    return [name for name in all_names() if all(part in name.lower() for part in wanted)]


def refusal(catalog: Catalog, selector: str) -> tuple[str, str]:
    """Reason and sentence of the one problem with ``selector``."""
    with pytest.raises(Refused) as refused:
        catalog.resolve(selector)
    (problem,) = refused.value.problems
    return problem.reason.token, problem.sentence


def parts_of_names(count: int) -> list[str]:
    """Parts of ``count`` names, the same in every run, none of them a whole name."""
    chance = random.Random(20_240_901)
    parts = []
    for name in chance.sample(all_names(), count):
        start = chance.randrange(len(name) // 2)
        parts.append(name[start : start + chance.randint(4, 24)].strip())
    return [part for part in parts if part.lower() not in map(str.lower, all_names())]


@pytest.mark.parametrize("part", parts_of_names(40))
def test_a_part_names_a_model_just_when_no_other_name_has_it(part: str) -> None:
    matches = holding(part)
    assert matches
    if len(matches) == 1:
        assert Catalog().resolve(part.upper()).name == matches[0]
        return
    token, sentence = refusal(Catalog(), part)
    assert token == "ambiguous-model"
    assert f"is part of {len(matches)} models' names: " in sentence
    listed = sentence.partition("names: ")[2].partition("; ")[0]
    shown = listed.partition(" and ")[0].split(", ")
    assert len(shown) == min(5, len(matches))
    assert set(shown) <= set(matches)
    more = len(matches) - 5
    assert listed.endswith(f" and {more} more") == (more > 0)


def test_an_exact_name_wins_over_the_names_that_hold_it() -> None:
    name = "Qwen/Qwen2.5-7B"
    assert len(holding(name)) > 1
    assert Catalog().resolve(name.lower()).name == name


def test_the_best_few_come_first() -> None:
    token, sentence = refusal(Catalog(), "qwen2.5-7b")
    assert token == "ambiguous-model"
    assert "names: Qwen/Qwen2.5-7B, " in sentence


@pytest.mark.parametrize(
    ("selector", "near"),
    [
        pytest.param("Qwen/Qwen2.5-7B-Instrct", "Qwen/Qwen2.5-7B-Instruct", id="letter-left-out"),
        pytest.param("Qwen/Qwen2.5-7B-Instructt", "Qwen/Qwen2.5-7B-Instruct", id="letter-doubled"),
        pytest.param("Qwen/Qwne2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct", id="letters-swapped"),
        pytest.param("qwen2.5_7b_instruct", "Qwen/Qwen2.5-7B-Instruct", id="other-separators"),
        pytest.param("mistral7b-instruct-v0.3", "mistralai/Mistral-7B-Instruct-v0.3", id="dash"),
    ],
)
def test_an_unknown_name_is_told_near_ones(selector: str, near: str) -> None:
    token, sentence = refusal(Catalog(), selector)
    assert token == "unknown-model"
    suggestions = sentence.partition("near it: ")[2].split(", ")
    assert near in suggestions
    assert len(suggestions) <= 5


@pytest.mark.parametrize(
    "selector",
    [
        pytest.param("模型", id="another-script"),
        pytest.param("\u2603" * 40, id="snowmen"),
        pytest.param("x" * 501, id="501-characters"),
        pytest.param("x" * 100_000, id="100000-characters"),
        pytest.param("\x1b[2J\n\t;", id="control-characters"),
        pytest.param("Qwen/Qwen2.5-7B\tInstruct", id="tab-inside"),
        pytest.param("", id="empty"),
        pytest.param(" \t\n", id="white-space"),
    ],
)
def test_what_no_name_holds_is_unknown_in_one_short_line(selector: str) -> None:
    token, sentence = refusal(Catalog(), selector)
    assert token == "unknown-model"
    assert sentence.isprintable()
    assert len(sentence) < 600


def test_an_unknown_name_with_nothing_near_is_told_where_to_look() -> None:
    _, sentence = refusal(Catalog(), "模型")
    assert "models search" in sentence
    assert "--catalog" in sentence


def test_an_own_model_wins_over_the_shipped_one_of_its_name() -> None:
    own = seven_billion(name="qwen/QWEN2.5-7b")
    catalog = Catalog([own])
    assert catalog.resolve("Qwen/Qwen2.5-7B") == own
    names = [model.name for model in catalog.search(["qwen2.5-7b"])]
    assert own.name in names
    assert "Qwen/Qwen2.5-7B" not in names
    assert len(names) == len(holding("qwen2.5-7b"))


def test_a_part_of_an_own_name_counts_like_one_of_a_shipped_name() -> None:
    own = Model("acme/support-7b", 7_000_000_000, "BF16")
    assert holding("acme/support") == []
    assert Catalog([own]).resolve("ACME/Supp") == own


def test_a_search_needs_every_word_in_any_order() -> None:
    found = {model.name for model in Catalog().search(["gptq", "QWEN2.5", "7b"])}
    assert found == set(holding("gptq", "qwen2.5", "7b"))
    assert found == {model.name for model in Catalog().search(["7b qwen2.5", "gptq"])}


def test_a_search_puts_whole_names_first_then_starts_then_the_rest() -> None:
    found = [model.name.lower() for model in Catalog().search(["qwen2.5-7b"])]
    kinds = [
        0
        if name.endswith("/qwen2.5-7b")
        else 1
        if re.search(r"^qwen2\.5-7b|/qwen2\.5-7b", name)
        else 2
        for name in found
    ]
    assert kinds == sorted(kinds)
    assert set(kinds) == {0, 1, 2}
