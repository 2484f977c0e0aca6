"""What taking the limits out changes beside the limits: said before anything is done.

A consequence is no refusal: the rewrite stands, but the person behind it has to know. Tokens are
stable, as those of refusals are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.rewrite.held import claims_named
from kubectl_llmfit.core.rewrite.survey import Container, Survey, mapping


@dataclass(frozen=True)
class Consequence:
    """One thing that the rewrite changes or can't change: a stable token and one sentence."""

    token: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.sentence} ({self.token})"


# Variables that hand a container devices which its claim does not hold, or split one up.
_VISIBLE = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_MPS_PREFIX = "CUDA_MPS_"
# The runtime hands out the claim's devices itself where the variable says so.
_HARMLESS = ("", "void", "none")
_LABEL_PREFIXES = (
    "nvidia.com/",
    "amd.com/gpu",
    "gpu.intel.com/",
    "cloud.google.com/gke-accelerator",
)


def consequences(pod_spec: Mapping[str, Any], survey: Survey) -> tuple[Consequence, ...]:
    """The consequences of turning what ``survey`` found in ``pod_spec`` into a claim."""
    wanting = [
        each
        for each in survey.wanting
        if each.holds_claim or any(want.count for want in each.wants)
    ]
    if not wanting:
        return ()
    found = [*_claims(wanting), *_shared(wanting), *_pod(pod_spec, wanting)]
    for container in wanting:
        found += [*_environment(container), *_privileges(container)]
    return tuple(dict.fromkeys(found))


def _claims(containers: Iterable[Container]) -> Iterator[Consequence]:
    for container in containers:
        if container.holds_claim:
            yield Consequence(
                "claim-kept",
                f"container {quoted(container.name)} has a generated claim already, which stays as "
                "it is; only the limits beside it go out",
            )
            continue
        for name in claims_named(container.spec):
            yield Consequence(
                "other-claim-stays",
                f"container {quoted(container.name)} refers to claim {quoted(name)} already, which "
                "stays; where that asks for the same devices, the pod gets them twice",
            )


def _shared(containers: Iterable[Container]) -> Iterator[Consequence]:
    for container in containers:
        for want in container.wants:
            if want.legacy.shared and want.count:
                yield Consequence(
                    "share-becomes-whole",
                    f"container {quoted(container.name)} had a share ({want.legacy.name}) and gets "
                    "a device of its own; fewer pods fit on a node",
                )


def _pod(pod_spec: Mapping[str, Any], containers: Iterable[Container]) -> Iterator[Consequence]:
    names = dict.fromkeys(want.legacy.name for each in containers for want in each.wants)
    yield Consequence(
        "quota-key-changes",
        f"a ResourceQuota on {', '.join(f'requests.{name}' for name in names)} no longer counts "
        "these pods; DRA's own key is <class>.deviceclass.resource.k8s.io/devices",
    )
    tolerated = _tolerated(pod_spec)
    for name in names:
        if not tolerated & {name, ""}:
            yield Consequence(
                "toleration-may-be-missing",
                f"a cluster that adds the toleration of {name} to pods with its limit no longer "
                "does; where its nodes are tainted so, the pods need it in their template",
            )
    selected = [key for key in mapping(pod_spec.get("nodeSelector")) if _is_device_label(str(key))]
    if selected:
        yield Consequence(
            "node-label-selects-devices",
            f"nodeSelector {', '.join(map(str, selected))} still decides the node before the claim "
            "does; labels that a device plugin sets go with it",
        )
    if pod_spec.get("runtimeClassName"):
        yield Consequence(
            "runtime-class-stays",
            f"runtimeClassName {quoted(str(pod_spec['runtimeClassName']))} stays; a driver that "
            "injects devices itself does not need it",
        )


def _tolerated(pod_spec: Mapping[str, Any]) -> set[str]:
    """Keys that the pod tolerates; the empty one stands for all."""
    listed = pod_spec.get("tolerations")
    entries = listed if isinstance(listed, list) else []
    return {str(entry.get("key") or "") for entry in entries if isinstance(entry, Mapping)}


def _is_device_label(key: str) -> bool:
    return key.startswith(_LABEL_PREFIXES)


def _environment(container: Container) -> Iterator[Consequence]:
    listed = container.spec.get("env")
    for entry in listed if isinstance(listed, list) else ():
        name = str(mapping(entry).get("name", ""))
        value = mapping(entry).get("value")
        defeats = name in _VISIBLE and str(value or "").lower() not in _HARMLESS
        if defeats or name.startswith(_MPS_PREFIX):
            yield Consequence(
                "environment-overrides-claim",
                f"container {quoted(container.name)} sets {name}, which can give it other devices "
                "than its claim's; take it out",
            )


def _privileges(container: Container) -> Iterator[Consequence]:
    if mapping(container.spec.get("securityContext")).get("privileged") is True:
        yield Consequence(
            "privileged-sees-all-devices",
            f"container {quoted(container.name)} is privileged and sees every device of its node, "
            "whatever it claims",
        )
    mounts = container.spec.get("volumeMounts")
    for mount in mounts if isinstance(mounts, list) else ():
        if str(mapping(mount).get("mountPath", "")).rstrip("/") == "/dev":
            yield Consequence(
                "devices-are-mounted",
                f"container {quoted(container.name)} mounts /dev, and with it devices that it does "
                "not claim",
            )
