"""From a review to its verdict: decided by the core, the template made before the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Reason, Refused
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.admission import claimed
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decision import Finish, Inject, Skip
from webhook.kube.client import ApiError, Object, Unavailable
from webhook.reviews.answer import Outcome, Verdict
from webhook.reviews.decisions import Decisions, Surroundings
from webhook.reviews.model import AdmissionRequest
from webhook.reviews.notices import MAX_MESSAGE, explanation, told, warnings
from webhook.templates.keeper import Keeper

DENY, WARN = "deny", "warn"

_REFERENCE = ("apiVersion", "kind", "name", "uid")
_NOT_MADE = "the ResourceClaimTemplate can't be made"

_NO_NAMESPACE = re.compile(r'namespaces? "[^"]*" not found')
# Answers that hold for this pod, and would be the same at the next try.
_FOR_THE_POD = (400, 403, 409, 422)


class Failed(Exception):
    """There is no verdict: the fault is ours or the cluster's. Answered with HTTP ``status``."""

    def __init__(self, reason: Reason, sentence: str, status: int) -> None:
        super().__init__(f"{sentence} ({reason.token})")
        self.sentence = sentence
        self.reason = reason
        self.status = status


@dataclass(frozen=True)
class Mutator:
    """Decides over new pods.

    Attributes:
        decisions: what becomes of pods.
        surroundings: the caches.
        keeper: makes the templates.
        on_mistake: ``deny`` refuses a pod that has one, ``warn`` lets it pass unchanged.
    """

    decisions: Decisions
    surroundings: Surroundings
    keeper: Keeper
    on_mistake: str

    async def verdict(self, request: AdmissionRequest) -> Verdict:
        """What is answered to ``request``; its template is there, unless it is a dry run.

        Raises:
            Failed: nothing can be answered.
        """
        pod = request.object
        if pod is None or not request.is_new_pod:
            return Verdict(Outcome.SKIP, reasons.NOT_A_NEW_POD.token)
        await self._know(request.namespace)
        try:
            decision = await self.decisions.over(pod, request.namespace)
        except Refused as refused:
            return self._mistaken(refused)
        if isinstance(decision, Skip):
            return _skipped(decision)
        if isinstance(decision, Finish):
            said = _pairs(decision.consequences)
            return Verdict(Outcome.FINISH, operations=decision.operations, warnings=warnings(said))
        if not request.dry_run:
            refusal = await self._template_refused(decision, pod)
            if refusal:
                return Verdict(Outcome.DENY, reasons.TEMPLATE_REFUSED.token, message=refusal)
        return self._injected(decision)

    async def _know(self, namespace: str) -> None:
        """Has the namespace known, since its defaults count.

        Raises:
            Failed: it is not known, and can't be asked for.
        """
        if self.surroundings.namespace(namespace) is None:
            try:
                await self.surroundings.learn_namespace(namespace)
            except (ApiError, Unavailable) as error:
                raise _failed(error, "the namespace can't be read") from error

    def _mistaken(self, refused: Refused) -> Verdict:
        token = refused.problems[0].reason.token
        if self.on_mistake == WARN:
            said = [(each.sentence, each.reason.token) for each in refused.problems]
            return Verdict(Outcome.ADMIT, token, warnings=warnings(said))
        return Verdict(Outcome.DENY, token, message=explanation(refused))

    async def _template_refused(self, inject: Inject, pod: Mapping[str, Any]) -> str:
        """Makes the template; why the pod can't have it, or nothing.

        Raises:
            Failed: the API server did not answer, or refused for what is no matter of the pod.
        """
        try:
            await self.keeper.ensure(dict(inject.template), controller(pod))
        except Unavailable as error:
            raise _failed(error, _NOT_MADE) from error
        except ApiError as error:
            if not _is_for_the_pod(error):
                raise _failed(error, _NOT_MADE) from error
            sentence = f"{_NOT_MADE}: {error.message}"
            return told(sentence, reasons.TEMPLATE_REFUSED.token, MAX_MESSAGE)
        return ""

    def _injected(self, inject: Inject) -> Verdict:
        device_class = inject.sized.target.device_class
        said = [claimed(inject)]
        if self.surroundings.lacks(device_class):
            sentence = f"the cluster has no DeviceClass {device_class}; the pod pends until it has"
            said.append(Consequence(effects.DEVICE_CLASS_MISSING, sentence))
        return Verdict(
            Outcome.INJECT,
            operations=inject.operations,
            warnings=warnings(_pairs((*said, *inject.consequences))),
            model=inject.sized.model.name,
            template=inject.template["metadata"]["name"],
        )


def controller(pod: Mapping[str, Any]) -> Object | None:
    """The owner reference of the pod's controller; ``None`` for a bare pod.

    One that lacks a field is none either: the API server refuses such a pod in the end.
    """
    metadata = pod.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, Mapping) else None
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, Mapping) and owner.get("controller") is True:
            is_whole = all(isinstance(owner.get(field), str) for field in _REFERENCE)
            return dict(owner) if is_whole else None
    return None


def _skipped(skip: Skip) -> Verdict:
    """A pod that asked for a model and got nothing should hear why, unless it opted out."""
    told_why = skip.reason is reasons.NO_LEGACY_DEVICES
    said = [(skip.sentence, skip.reason.token)] if told_why else []
    return Verdict(Outcome.SKIP, skip.reason.token, warnings=warnings(said))


def _is_for_the_pod(error: ApiError) -> bool:
    """Whether the refusal is one that the pod's author can do something about."""
    if _NO_NAMESPACE.match(error.message):
        return True
    return error.status in _FOR_THE_POD and not error.lacks_right


def _failed(error: ApiError | Unavailable, what: str) -> Failed:
    if isinstance(error, Unavailable):
        return Failed(reasons.CLUSTER_UNREACHABLE, f"{what}: {error}", 503)
    reason = reasons.CLUSTER_FORBIDDEN if error.lacks_right else reasons.CLUSTER_ERROR
    return Failed(reason, f"{what}: {error.message}", 500)


def _pairs(consequences: tuple[Consequence, ...]) -> Iterator[tuple[str, str]]:
    return ((each.sentence, each.token) for each in consequences)
