"""An AdmissionReview of admission.k8s.io/v1, as far as it is looked at.

Source of the form: k8s.io/api/admission/v1, AdmissionReview and AdmissionRequest.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import from_json

from kubectl_llmfit.core.reasons import printable, quoted

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
_LABEL_OR_NOTHING = r"^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)?$"
_NAMED = 3
"""So many mistakes of one review are named."""


class BadReviewError(ValueError):
    """The body is no review; the message is one sentence that holds none of its values."""


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, strict=True)


class GroupVersionKind(_Part):
    """A kind."""

    group: str = Field("", max_length=253)
    version: str = Field(max_length=63)
    kind: str = Field(max_length=63)


class AdmissionRequest(_Part):
    """What the API server asks about.

    ``namespace`` is the pod's, whatever its own metadata says or leaves out; ``name`` is empty
    for a pod whose name is generated.
    """

    uid: str = Field(min_length=1, max_length=128)
    kind: GroupVersionKind
    sub_resource: str = Field("", max_length=63)
    name: str = Field("", max_length=253)
    namespace: str = Field("", max_length=63, pattern=_LABEL_OR_NOTHING)
    operation: str = Field(max_length=63)
    object: dict[str, Any] | None = None
    dry_run: bool | None = None

    @property
    def is_new_pod(self) -> bool:
        """Whether a pod is created; its subresources (binding, eviction) are something else."""
        kind = (self.kind.group, self.kind.version, self.kind.kind)
        return kind == ("", "v1", "Pod") and self.operation == "CREATE" and not self.sub_resource


class _Review(_Part):
    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    request: AdmissionRequest


def read_review(body: bytes) -> AdmissionRequest:
    """The request of the review in ``body``.

    Raises:
        BadReviewError: it is no JSON, no AdmissionReview of v1, or a field has a wrong type.
    """
    try:
        # Read first and checked then, which takes half the time of both at once.
        request = _Review.model_validate(from_json(body, cache_strings="keys")).request
    except ValidationError as error:
        raise BadReviewError(_sentence(error)) from None
    except ValueError as error:
        raise BadReviewError(printable(f"body: no JSON: {error}")) from None
    if request.is_new_pod and request.object is None:
        raise BadReviewError("request.object: the pod is missing")
    if request.is_new_pod and not request.namespace:
        raise BadReviewError("request.namespace: a pod has one")
    return request


def _sentence(error: ValidationError) -> str:
    """Where the first mistakes are and what they are, without the values themselves."""
    said = []
    for each in error.errors(include_url=False, include_context=False)[:_NAMED]:
        where = ".".join(str(part) for part in each["loc"])
        if where == "apiVersion":
            given = quoted(str(each["input"]), 60)
            said.append(
                f"apiVersion {given} is not served here, only {API_VERSION}; the webhook "
                'configuration has to say admissionReviewVersions: ["v1"]'
            )
        else:
            said.append(f"{where or 'body'}: {each['msg']}")
    return printable("; ".join(said))
