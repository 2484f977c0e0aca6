"""What is said of a workload that was patched: its line, its sources, and what else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubectl_llmfit.console import streams
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.patching.decided import Decided, origins

Say = Callable[[str], None]


def unsaid(text: str) -> None:
    """Says nothing: kubectl has no line for a change where it prints a difference."""


@dataclass(frozen=True)
class Voice:
    """Where the lines of workloads go.

    Attributes:
        done: says the line of a workload that is changed.
        skipped: says the line of one that stays as it is, with the reason.
        verb: what was done to it: ``patched``.
        suffix: what stands at the end of ``done``'s lines.
        show_sources: whether the values that were used follow on standard error.
    """

    done: Say
    skipped: Say
    verb: str
    suffix: str = ""
    show_sources: bool = False


def tell(name: str, consequence: Consequence) -> None:
    """Says on standard error what a change of a workload brings along, before it is made."""
    streams.warn(f"{name}: {consequence}")


def report(voice: Voice, decided: Decided, *, changes_nothing: bool = False) -> None:
    """A line for the workload, then on standard error what was used."""
    has_claim = any(skip.reason is reasons.ALREADY_CLAIMED for skip in decided.skipped)
    if decided.changed or has_claim:
        same = " (no change)" if changes_nothing or not decided.changed else ""
        voice.done(f"{decided.name} {voice.verb}{same}{voice.suffix}")
        if voice.show_sources:
            _sources(decided)
        return
    said = (f"{skip.sentence} ({skip.reason.token})" for skip in decided.skipped)
    for reason in dict.fromkeys(said):
        voice.skipped(f"{decided.name} skipped: {reason}")


def _sources(decided: Decided) -> None:
    lines = (line for inject in decided.injected for line in origins(inject))
    for line in dict.fromkeys(lines):
        streams.note(f"{decided.name}: {line}")
