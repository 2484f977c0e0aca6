"""From a review to its verdict: decided by the core, the template made before the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Reason
from webhook.kube.client import ApiError, Object, Unavailable
from webhook.reviews.answer import Outcome, Verdict
from webhook.reviews.decisions import Decisions, Surroundings
from webhook.reviews.model import AdmissionRequest
from webhook.reviews.notices import MAX_MESSAGE, told
from webhook.reviews.verdicts import Decided
from webhook.templates.keeper import Keeper

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


_OTHER = Verdict(Outcome.SKIP, reasons.NOT_A_NEW_POD.token)


@dataclass(frozen=True)
class Mutator:
    """Decides over new pods.

    Attributes:
        decisions: what becomes of pods.
        surroundings: the caches.
        keeper: makes the templates.
    """

    decisions: Decisions
    surroundings: Surroundings
    keeper: Keeper

    def at_once(self, request: AdmissionRequest) -> Verdict | None:
        """What ``verdict`` says, where everything is known that it takes."""
        pod = request.object
        if pod is None or not request.is_new_pod:
            return _OTHER
        decided = self.decisions.remembered(pod, request.namespace)
        if decided is None:
            return None
        template = decided.template
        if template is None or request.dry_run or self.keeper.has(template, controller(pod)):
            return self._final(decided)
        return None

    async def verdict(self, request: AdmissionRequest) -> Verdict:
        """What is answered to ``request``; its template is there, unless it is a dry run.

        Raises:
            Failed: nothing can be answered.
        """
        pod = request.object
        if pod is None or not request.is_new_pod:
            return _OTHER
        await self._know(request.namespace)
        decided = await self.decisions.over(pod, request.namespace)
        if decided.template is not None and not request.dry_run:
            refusal = await self._template_refused(decided.template, pod)
            if refusal:
                return Verdict(Outcome.DENY, reasons.TEMPLATE_REFUSED.token, message=refusal)
        return self._final(decided)

    def _final(self, decided: Decided) -> Verdict:
        """With what the cluster lacks now, whatever it lacked when the decision was made."""
        if decided.pending is not None and self.surroundings.lacks(decided.device_class):
            return decided.pending
        return decided.verdict

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

    async def _template_refused(self, template: Object, pod: Mapping[str, Any]) -> str:
        """Makes the template; why the pod can't have it, or nothing.

        Raises:
            Failed: the API server did not answer, or refused for what is no matter of the pod.
        """
        try:
            await self.keeper.ensure(template, controller(pod))
        except Unavailable as error:
            raise _failed(error, _NOT_MADE) from error
        except ApiError as error:
            if not _is_for_the_pod(error):
                raise _failed(error, _NOT_MADE) from error
            sentence = f"{_NOT_MADE}: {error.message}"
            return told(sentence, reasons.TEMPLATE_REFUSED.token, MAX_MESSAGE)
        return ""


def controller(pod: Mapping[str, Any]) -> Object | None:
    """The owner reference of the pod's controller; ``None`` for a bare pod.

    One that lacks a field is none either: the API server refuses such a pod in the end.
    """
    metadata = pod.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, Mapping) else None
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, Mapping) and owner.get("controller") is True:
            for field in _REFERENCE:
                if not isinstance(owner.get(field), str):
                    return None
            return dict(owner)
    return None


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
