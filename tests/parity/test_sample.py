"""A sample of the catalog, the same in every run: equal numbers and objects."""

from __future__ import annotations

import random

import pytest

from tests.parity.__main__ import rotating_options
from tests.parity.cases import Case, compared, sized_models

SIZE = 60

CASES = {
    model.name: Case(model.name, options)
    for model, options in zip(
        random.Random(20_261_129).sample(sized_models(), SIZE), rotating_options(), strict=False
    )
}


@pytest.fixture(scope="module")
def differences() -> dict[str, list[str]]:
    """What differs, by case."""
    return compared(CASES)


def test_the_sample_is_whole() -> None:
    assert len(CASES) == SIZE


@pytest.mark.parametrize("case", CASES)
def test_a_model_has_the_oracles_summary_and_object(
    case: str, differences: dict[str, list[str]]
) -> None:
    assert differences[case] == []
