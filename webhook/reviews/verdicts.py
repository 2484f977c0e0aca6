"""From a decision to the verdict that says it: what the person behind the request is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.admission import claimed
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip
from webhook.reviews.answer import Outcome, Verdict
from webhook.reviews.notices import explanation, warnings

DENY, WARN = "deny", "warn"


def verdict(decision: Inject | Finish | Skip | Refused, on_mistake: str) -> Verdict:
    """What is answered for ``decision``; a pod with a mistake is refused or only warned of it."""
    if isinstance(decision, Refused):
        return _mistaken(decision, on_mistake)
    if isinstance(decision, Skip):
        return _skipped(decision)
    said = _pairs(decision.consequences)
    if isinstance(decision, Finish):
        return Verdict(Outcome.FINISH, operations=decision.operations, warnings=warnings(said))
    return Verdict(
        Outcome.INJECT,
        operations=decision.operations,
        warnings=_injected(decision, ()),
        model=decision.sized.model.name,
        template=decision.template["metadata"]["name"],
    )


def without_class(verdict: Verdict, inject: Inject) -> Verdict:
    """The ``verdict`` of ``inject`` in a cluster that lacks the device class."""
    device_class = inject.sized.target.device_class
    sentence = f"the cluster has no DeviceClass {device_class}; the pod pends until it has"
    pending = Consequence(effects.DEVICE_CLASS_MISSING, sentence)
    return replace(verdict, warnings=_injected(inject, (pending,)))


def _injected(inject: Inject, more: Iterable[Consequence]) -> tuple[str, ...]:
    return warnings(_pairs((claimed(inject), *more, *inject.consequences)))


def _mistaken(refused: Refused, on_mistake: str) -> Verdict:
    token = refused.problems[0].reason.token
    if on_mistake == WARN:
        said = [(each.sentence, each.reason.token) for each in refused.problems]
        return Verdict(Outcome.ADMIT, token, warnings=warnings(said))
    return Verdict(Outcome.DENY, token, message=explanation(refused))


def _skipped(skip: Skip) -> Verdict:
    """A pod that asked for a model and got nothing should hear why, unless it opted out."""
    told_why = skip.reason is reasons.NO_LEGACY_DEVICES
    said = [(skip.sentence, skip.reason.token)] if told_why else []
    return Verdict(Outcome.SKIP, skip.reason.token, warnings=warnings(said))


def _pairs(consequences: Iterable[Consequence]) -> Iterator[tuple[str, str]]:
    return ((each.sentence, each.token) for each in consequences)
