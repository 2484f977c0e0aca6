"""The shipped catalog against the oracle: the same file anew, and the same model for a selector."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kubectl_llmfit import Catalog, Refused
from kubectl_llmfit.catalog import build, shipped
from kubectl_llmfit.catalog.shipped import ShippedCatalog
from tests.parity import oracle
from tests.parity.oracle import Options

# How the oracle says that it found no model, or several.
REFUSALS = {
    "No model found matching": "unknown-model",
    "is ambiguous. Matches: ": "ambiguous-model",
    "Model selector cannot be empty": "unknown-model",
}

STYLES: tuple[Callable[[str], str], ...] = (
    str.lower,
    str.upper,
    str.swapcase,
    lambda name: f"  {name}\t",
)


def drawn_selectors() -> dict[str, str]:
    """Selectors by what they are, the same in every run."""
    chance = random.Random(1_117)
    names = list(ShippedCatalog().names())
    selectors = {
        f"name-{index}": STYLES[index % len(STYLES)](name)
        for index, name in enumerate(chance.sample(names, 12))
    }
    for index, name in enumerate(chance.sample(names, 48)):
        start = chance.randrange(len(name) // 2)
        # A dash in front would make a flag of it.
        selectors[f"part-{index}"] = name[start : start + chance.randint(3, 30)].lstrip("-")
    for index, name in enumerate(chance.sample(names, 8)):
        letters = list(name)
        letters[chance.randrange(len(letters))] = "~"
        selectors[f"slip-{index}"] = "".join(letters)
    return selectors


SELECTORS = {
    **drawn_selectors(),
    "repository": "Qwen2.5-7B-Instruct",
    "name-that-others-hold": "qwen/qwen2.5-7b",
    "one-letter": "q",
    "empty": "",
    "white-space": "   ",
    "slash": "/",
    "inner-space": "qwen 2.5",
    "another-script": "模型",
    "sign-whose-small-letter-is-ascii": "\u212aimi-K3",
    "regular-expression": "Qwen2.5.7B.*",
    "pattern": "Qwen/*",
}


def our_answer(selector: str) -> str:
    """The model's name, or the reason why there is none."""
    try:
        return Catalog().resolve(selector).name
    except Refused as refused:
        return refused.problems[0].reason.token


def oracles_answer(selector: str) -> str:
    finished = oracle.run(selector, Options(), "--json")
    if finished.returncode == 0:
        for line in finished.stdout.splitlines():
            if line.strip().startswith('"model": "'):
                return line.strip().removeprefix('"model": "').removesuffix('",')
    for words, token in REFUSALS.items():
        if words in finished.stderr:
            return token
    return f"{finished.returncode}: {finished.stdout}{finished.stderr}"


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """The oracle's answers, by selector."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(SELECTORS, pool.map(oracles_answer, SELECTORS.values()), strict=True))


@pytest.mark.parametrize("kind", SELECTORS)
def test_a_selector_means_what_it_means_to_the_oracle(kind: str, answers: dict[str, str]) -> None:
    assert our_answer(SELECTORS[kind]) == answers[kind]


def test_the_drawn_selectors_have_every_kind_of_answer(answers: dict[str, str]) -> None:
    drawn = [answers[kind] for kind in SELECTORS if kind.startswith("part-")]
    assert drawn.count("ambiguous-model") >= 5
    assert len(drawn) - drawn.count("ambiguous-model") - drawn.count("unknown-model") >= 5


def test_building_the_catalog_anew_gives_the_shipped_file() -> None:
    source = f"llmfit {oracle.VERSION}"
    built = build.build(oracle.models(), source)
    assert built.encode() == Path(shipped.PATH).read_bytes()
