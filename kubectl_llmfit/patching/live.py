"""Patching and restoring workloads in a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.discovery import Offer
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core.engines import ConfigMapReader
from kubectl_llmfit.core.rewrite.held import ClaimReader, claim_named_by, claim_spec
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.live import live_consequences, rollout_consequences
from kubectl_llmfit.core.rewrite.surroundings import surrounding_consequences
from kubectl_llmfit.patching.changing import Outcome, Tell, Writer, change, silent
from kubectl_llmfit.patching.decided import Decided, decide_restore, decide_workload


@dataclass(frozen=True)
class Live:
    """How to patch: written by whom, into what cluster, with which wishes and knowledge."""

    writer: Writer
    offer: Offer
    wishes: Wishes
    knowledge: Knowledge
    template_path: str | None = None


def patch_live(live: Live, workload: Object, tell: Tell = silent) -> Outcome:
    """Decides over ``workload`` and patches it; the rules are those of ``change``."""
    return change(live.writer, workload, partial(_decided, live), tell)


def restore_live(writer: Writer, workload: Object, tell: Tell = silent) -> Outcome:
    """Undoes the patch that ``workload`` records; the rules are those of ``change``."""
    return change(writer, workload, _restored, tell)


def template_as_it_is(api: Api, template: Object) -> Object | None:
    """The template of that name as the cluster has it, or ``None``.

    Raises:
        ApiError: it may be there, but cannot be read.
    """
    metadata = template["metadata"]
    path = f"/apis/{template['apiVersion']}/namespaces/{metadata['namespace']}"
    try:
        return api.get(f"{path}/resourceclaimtemplates/{metadata['name']}")
    except ApiError as error:
        if error.status != "NotFound":
            raise
    return None


def _decided(live: Live, workload: Object) -> Decided | None:
    namespace = workload["metadata"].get("namespace", "default")
    has = live.offer.has
    api = live.writer.api
    knowledge = replace(
        live.knowledge,
        config_maps=_config_maps(api, namespace),
        claims=_claims(api, f"/apis/{live.offer.api_version}/namespaces/{namespace}"),
        published=has.published,
    )
    where = f"namespace {namespace}"
    decided = decide_workload(workload, where, live.wishes, knowledge, live.template_path)
    if decided is None or not decided.changed:
        return decided
    around = (*surrounding_consequences(decided.templates, has), *live_consequences(workload))
    return replace(decided, around=around)


def _restored(workload: Object) -> Decided | None:
    namespace = workload["metadata"].get("namespace", "default")
    decided = decide_restore(workload, f"namespace {namespace}")
    if decided is None or not decided.changed:
        return decided
    return replace(decided, around=tuple(rollout_consequences(workload)))


def _claims(api: Api, path: str) -> ClaimReader:
    """Claims and templates of the namespace at ``path``; one that can't be read is not known."""

    def read(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        kind, name = claim_named_by(entry)
        try:
            return claim_spec({**api.get(f"{path}/{kind.lower()}s/{name}"), "kind": kind})
        except ApiError:
            return None

    return read


def _config_maps(api: Api, namespace: str) -> ConfigMapReader:
    """ConfigMaps of the namespace; one that is missing or forbidden is not known."""

    def read(name: str) -> dict[str, str] | None:
        try:
            found: Any = api.get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        except ApiError:
            return None
        data: dict[str, str] = found.get("data") or {}
        return data

    return read
