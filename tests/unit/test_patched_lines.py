"""The line of a workload: patched, not changed after all, or skipped with the reason."""

from __future__ import annotations

import pytest

from kubectl_llmfit.console.patched import Voice, report, tell
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Skip
from kubectl_llmfit.patching.decided import Decided

NAME = "deployment.apps/vllm"
FINISH = Finish((), ())
CLAIMED = Skip(reasons.ALREADY_CLAIMED, "it has its claim already")
OUT = Skip(reasons.OPTED_OUT, "annotation says so")


@pytest.mark.parametrize(
    ("decisions", "changes_nothing", "said"),
    [
        pytest.param((FINISH,), False, [f"done: {NAME} patched (dry run)"], id="patched"),
        pytest.param(
            (FINISH,), True, [f"done: {NAME} patched (no change) (dry run)"], id="put-back"
        ),
        pytest.param(
            (CLAIMED,), True, [f"done: {NAME} patched (no change) (dry run)"], id="second-run"
        ),
        pytest.param(
            (CLAIMED, OUT), True, [f"done: {NAME} patched (no change) (dry run)"], id="leader-only"
        ),
        pytest.param((FINISH, OUT), False, [f"done: {NAME} patched (dry run)"], id="one-of-two"),
        pytest.param(
            (OUT, OUT), True, [f"skipped: {NAME} skipped: {OUT.sentence} (opted-out)"], id="skipped"
        ),
    ],
)
def test_line(
    decisions: tuple[Decision, ...],
    changes_nothing: bool,
    said: list[str],
) -> None:
    lines: list[str] = []
    voice = Voice(
        lambda line: lines.append(f"done: {line}"),
        lambda line: lines.append(f"skipped: {line}"),
        "patched",
        " (dry run)",
    )
    decided = Decided({}, NAME, "d.yaml, line 1", decisions)
    report(voice, decided, changes_nothing=changes_nothing)
    assert lines == said


def test_consequence(capsys: pytest.CaptureFixture[str]) -> None:
    tell(NAME, Consequence(effects.QUOTA_KEY_CHANGES, "it is not counted"))
    said = capsys.readouterr().err
    assert said == f"Warning: {NAME}: it is not counted (quota-key-changes)\n"
