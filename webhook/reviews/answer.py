"""The answer to a review: allowed or not, the smallest patch, warnings, audit annotations.

Source of the form: k8s.io/api/admission/v1, AdmissionResponse.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from webhook.reviews.model import API_VERSION, KIND
from webhook.reviews.notices import shown

DENIED = 422
"""HTTP code of a denial: the pod was understood, and can't be made as it is written."""


class Outcome(StrEnum):
    """What became of a review, as logs, metrics and audit annotations name it."""

    INJECT = "inject"
    FINISH = "finish"
    SKIP = "skip"
    DENY = "deny"
    ADMIT = "admit"
    REJECT = "reject"
    FAIL = "fail"

    @property
    def meaning(self) -> str:
        """One sentence for the docs."""
        return _MEANINGS[self]


_MEANINGS = {
    Outcome.INJECT: "The pod got a claim in the place of its limits.",
    Outcome.FINISH: "The pod had its claim already, and the limits beside it went out.",
    Outcome.SKIP: "There was nothing to do; the reason says why.",
    Outcome.DENY: "The pod was refused, with a sentence for its author.",
    Outcome.ADMIT: "The pod has a mistake and was let pass unchanged, with a warning "
    "(`--on-mistake=warn`).",
    Outcome.REJECT: "What was sent is no review: HTTP 4xx.",
    Outcome.FAIL: "The webhook could not answer: HTTP 5xx, and the failurePolicy decides.",
}


@dataclass(frozen=True)
class Verdict:
    """What is answered to a review.

    Attributes:
        outcome: what became of it; one of those that are answers.
        token: the reason's token; empty where there is nothing to explain.
        patch: the JSON patch of the pod; empty where it stays as it is.
        message: the explanation of a denial.
        warnings: for the person behind the request.
        model: the name of the model that was sized.
        template: the name of the template that the pod refers to.
    """

    outcome: Outcome
    token: str = ""
    patch: bytes = b""
    message: str = ""
    warnings: tuple[str, ...] = ()
    model: str = ""
    template: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the pod may be made."""
        return self.outcome is not Outcome.DENY

    @cached_property
    def said(self) -> dict[str, str]:
        """What log lines and audit annotations say of it."""
        said = {
            "decision": str(self.outcome),
            "reason": self.token,
            "model": shown(self.model),
            "template": self.template,
        }
        return {key: value for key, value in said.items() if value}

    @cached_property
    def response(self) -> bytes:
        """The response as JSON, but for the uid and what stands before it.

        Made once: the pods of a workload share their verdict.
        """
        response: dict[str, Any] = {"allowed": self.allowed}
        if not self.allowed:
            response["status"] = {"code": DENIED, "message": self.message}
        if self.patch:
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(self.patch).decode()
        if self.warnings:
            response["warnings"] = list(self.warnings)
        # The API server puts the webhook's own name in front of the keys.
        response["auditAnnotations"] = self.said
        return json.dumps(response, separators=(",", ":")).encode().removeprefix(b"{")


_REVIEW = f'{{"apiVersion":"{API_VERSION}","kind":"{KIND}","response":{{"uid":'.encode()


def answer(uid: str, verdict: Verdict) -> bytes:
    """The AdmissionReview that answers the request ``uid``, as JSON."""
    return b"".join((_REVIEW, json.dumps(uid).encode(), b",", verdict.response, b"}"))
