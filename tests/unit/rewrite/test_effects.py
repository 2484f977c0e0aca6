"""The list of consequences: stable tokens, whole sentences, each listed once and used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kubectl_llmfit
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.effects import Effect

NAMES = {value.token: name for name, value in vars(effects).items() if isinstance(value, Effect)}
SOURCES = Path(kubectl_llmfit.__file__).parent


def test_every_effect_of_the_module_is_listed_once() -> None:
    assert sorted(each.token for each in effects.ALL) == sorted(NAMES)
    assert len(NAMES) >= 20


@pytest.mark.parametrize("effect", effects.ALL, ids=lambda each: each.token)
def test_an_effect_is_a_token_and_two_sentences(effect: Effect) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", effect.token)
    assert NAMES[effect.token] == effect.token.upper().replace("-", "_")
    for sentence in (effect.meaning, effect.remedy):
        assert re.fullmatch(r"[A-Z].*\.", sentence)
        assert sentence.isprintable()


@pytest.mark.parametrize("effect", effects.ALL, ids=lambda each: each.token)
def test_every_effect_is_told_somewhere(effect: Effect) -> None:
    sources = (path.read_text("utf-8") for path in SOURCES.rglob("*.py"))
    assert any(f"effects.{NAMES[effect.token]}" in text for text in sources)
