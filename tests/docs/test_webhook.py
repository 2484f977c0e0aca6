"""What docs/webhook.md says by hand, held against the code."""

from __future__ import annotations

import re

import pytest

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.annotated import FIELDS
from tests.docs import webhook
from tests.docs.generate import FOLDER
from webhook.settings import Settings, flag

TEXT = (FOLDER / "webhook.md").read_text("utf-8")
ROWS = [*webhook.setting_rows(), *webhook.metric_rows(), *webhook.decision_rows()]


def test_every_default_of_a_namespace_is_listed() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| llmfit.ai/")]
    listed = [name for row in rows for name in re.findall(r"llmfit\.ai/[a-z-]+", row)]
    assert sorted(listed) == sorted(FIELDS)


def test_flags_are_settings() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", TEXT))
    assert named
    assert named <= {flag(name) for name in Settings.model_fields}


@pytest.mark.parametrize("token", re.findall(r"\(`?([a-z]+(?:-[a-z]+)+)`?\)", TEXT))
def test_tokens_are_known(token: str) -> None:
    assert token in [*(each.token for each in reasons.ALL), *(each.token for each in effects.ALL)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("`"))
def test_every_row_says_what_it_is(row: tuple[str, ...]) -> None:
    assert re.fullmatch(r".*[A-Za-z0-9)`]\.", row[-1])
