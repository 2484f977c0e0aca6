"""What a person is told by an answer: bounded, on one line, and never without the token."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_llmfit.core.reasons import Refused, printable

# Source of both: Kubernetes documentation, "Dynamic Admission Control", Response.
MAX_WARNING = 120
MAX_WARNINGS = 4096

MAX_MESSAGE = 1000
"""Longest explanation of a denial: whole sentences for people, but no page of them."""

MAX_SHOWN = 200
"""Longest value in a log line or an audit annotation."""

PREFIX = "llmfit: "
_DOTS = "..."


def shown(value: str, limit: int = MAX_SHOWN) -> str:
    """``value`` on one line and at most ``limit`` long: for logs and audit annotations."""
    return _cut(printable(value[: limit + 1]), limit)


def told(sentence: str, token: str, limit: int) -> str:
    """``sentence (token)`` at most ``limit`` long: of the two, the sentence is cut."""
    end = f" ({token})"
    return _cut(printable(sentence), limit - len(end)) + end


def warnings(said: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Warnings for (sentence, token) pairs; those that are too many in all are left out."""
    kept: list[str] = []
    left = MAX_WARNINGS
    for sentence, token in dict.fromkeys(said):
        warning = told(PREFIX + sentence, token, MAX_WARNING)
        if len(warning) > left:
            break
        left -= len(warning)
        kept.append(warning)
    return tuple(kept)


def explanation(refused: Refused) -> str:
    """Every problem of a refusal, each with its token."""
    said = [told(each.sentence, each.reason.token, MAX_MESSAGE) for each in refused.problems]
    kept = said[:1]
    for each in said[1:]:
        if len("; ".join([*kept, each])) <= MAX_MESSAGE:
            kept.append(each)
    return "; ".join(kept)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_DOTS)] + _DOTS
