"""What is kept in memory of a template: enough to compare it, and to make it again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

from kubectl_llmfit.core.rewrite.generated import TEMPLATE_LABEL
from kubectl_llmfit.core.rewrite.held import WEBHOOK
from webhook.kube.client import Object
from webhook.kube.paths import path

PLURAL = "resourceclaimtemplates"
OWN = f"{TEMPLATE_LABEL}={WEBHOOK.label}"
"""Selects the templates that the webhook has made, and none that ``patch`` has."""

OWNERS_MAX = 50
"""Most owners that are written to a template. The garbage collector takes dead ones off the list;
one that found no place there costs at worst a template made again (docs/webhook-templates.md)."""

SPEC_MAX_BYTES = 16 * 1024
# More than are ever written, but for what others write.
_OWNERS_KEPT = 2 * OWNERS_MAX


@dataclass(frozen=True, slots=True)
class KnownTemplate:
    """A template as far as the webhook needs it.

    Attributes:
        api_version: the version that ``spec`` is written in.
        spec: as canonical JSON: a dict of it would take eight times the memory. Empty where it is
            longer than ``SPEC_MAX_BYTES``: the webhook writes none such, others may.
        owners: uids of its owners, of very many some.
        is_own: whether the webhook made it.
        is_ending: whether it is being deleted.
    """

    api_version: str
    spec: bytes
    owners: frozenset[str]
    is_own: bool
    is_ending: bool

    @classmethod
    def of(cls, template: Object, list_version: str) -> Self:
        """``template`` as sent by the API server; an item of a list states no apiVersion."""
        metadata = template["metadata"]
        key, _, value = OWN.partition("=")
        spec = canonical(template["spec"])
        owners = (metadata.get("ownerReferences") or ())[:_OWNERS_KEPT]
        return cls(
            template.get("apiVersion") or list_version,
            spec if len(spec) <= SPEC_MAX_BYTES else b"",
            frozenset(owner["uid"] for owner in owners),
            (metadata.get("labels") or {}).get(key) == value,
            "deletionTimestamp" in metadata,
        )


def canonical(spec: Object) -> bytes:
    """A template's ``spec`` as JSON that is the same for the same content."""
    # The server writes out the metadata for claims, which it always has, and which ours never use.
    stated = {name: value for name, value in spec.items() if name != "metadata" or value}
    return json.dumps(stated, sort_keys=True, separators=(",", ":")).encode()


def collection(template: Object) -> str:
    """The path where ``template`` is created."""
    return path(template["apiVersion"], PLURAL, template["metadata"]["namespace"])


def own_path(template: Object) -> str:
    """The path of ``template`` itself."""
    metadata = template["metadata"]
    return path(template["apiVersion"], PLURAL, metadata["namespace"], metadata["name"])
