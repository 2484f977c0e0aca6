"""What taking the limits out changes beside the limits: said before anything is done.

A consequence is no refusal: the rewrite stands, but the person behind it has to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.reasons import printable, quoted
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.effects import Effect
from kubectl_llmfit.core.rewrite.held import claims_named
from kubectl_llmfit.core.rewrite.overrides import overrides
from kubectl_llmfit.core.rewrite.survey import Container, Survey, mapping
from kubectl_llmfit.core.rewrite.tolerations import tolerations_missing


@dataclass(frozen=True)
class Consequence:
    """One thing that the rewrite changes or can't change: what kind it is, and one sentence."""

    effect: Effect
    sentence: str

    @property
    def token(self) -> str:
        """The stable token of its kind."""
        return self.effect.token

    def __str__(self) -> str:
        return f"{self.sentence} ({self.token})"


_LABEL_PREFIXES = (
    "nvidia.com/",
    "amd.com/gpu",
    "gpu.intel.com/",
    "cloud.google.com/gke-accelerator",
)


def consequences(
    pod_spec: Mapping[str, Any], survey: Survey, keep_env: bool = False
) -> tuple[Consequence, ...]:
    """The consequences of turning what ``survey`` found in ``pod_spec`` into a claim.

    ``keep_env`` says that variables which defeat a claim stay.
    """
    wanting = survey.with_devices
    if not wanting:
        return ()
    found = [*_claims(wanting), *_shared(wanting), *_pod(pod_spec, wanting)]
    for container in wanting:
        found += [*_overrides(container, keep_env), *_privileges(container)]
    return tuple(dict.fromkeys(found))


def _claims(containers: Iterable[Container]) -> Iterator[Consequence]:
    for container in containers:
        if container.holds_claim:
            yield Consequence(
                effects.CLAIM_KEPT,
                f"container {quoted(container.name)} has a claim for its devices already, which "
                "stays as it is; only the limits beside it go out",
            )
            continue
        for name in claims_named(container.spec):
            yield Consequence(
                effects.OTHER_CLAIM_STAYS,
                f"container {quoted(container.name)} refers to claim {quoted(name)} already, which "
                "stays; where that asks for the same devices, the pod gets them twice",
            )


def _shared(containers: Iterable[Container]) -> Iterator[Consequence]:
    for container in containers:
        for want in container.wants:
            if want.legacy.shared and want.count:
                yield Consequence(
                    effects.SHARE_BECOMES_WHOLE,
                    f"container {quoted(container.name)} had a share ({want.legacy.name}) and gets "
                    "a device of its own; fewer pods fit on a node",
                )


def _pod(pod_spec: Mapping[str, Any], containers: Sequence[Container]) -> Iterator[Consequence]:
    names = dict.fromkeys(want.legacy.name for each in containers for want in each.wants)
    yield Consequence(
        effects.QUOTA_KEY_CHANGES,
        f"a ResourceQuota on {', '.join(f'requests.{name}' for name in names)} no longer counts "
        "these pods; DRA's own key is <class>.deviceclass.resource.k8s.io/devices",
    )
    for name in tolerations_missing(pod_spec, containers):
        yield Consequence(
            effects.TOLERATION_ADDED,
            f"the pods now tolerate the taint {name} themselves, since a cluster that adds that to "
            "pods with the limit no longer does",
        )
    selected = [key for key in mapping(pod_spec.get("nodeSelector")) if _is_device_label(str(key))]
    if selected:
        yield Consequence(
            effects.NODE_LABEL_SELECTS_DEVICES,
            f"nodeSelector {', '.join(map(str, selected))} still decides the node before the claim "
            "does; labels that a device plugin sets go with it",
        )
    if pod_spec.get("runtimeClassName"):
        yield Consequence(
            effects.RUNTIME_CLASS_STAYS,
            f"runtimeClassName {quoted(str(pod_spec['runtimeClassName']))} stays; a driver that "
            "injects devices itself does not need it",
        )


def _is_device_label(key: str) -> bool:
    return key.startswith(_LABEL_PREFIXES)


def _overrides(container: Container, keep_env: bool) -> Iterator[Consequence]:
    for each in overrides(container, keep_env):
        where = f"container {quoted(container.name)}: {printable(each.name)}"
        effect = "can give it other devices than its claim's"
        if each.kept:
            yield Consequence(
                effects.ENVIRONMENT_OVERRIDES_CLAIM,
                f"{where} {effect}; it stays because it {each.kept}",
            )
        else:
            yield Consequence(
                effects.ENVIRONMENT_REMOVED,
                f"{where} {effect}, and is taken out; --keep-env or the annotation "
                "llmfit.ai/keep-env leaves it in",
            )


def _privileges(container: Container) -> Iterator[Consequence]:
    if mapping(container.spec.get("securityContext")).get("privileged") is True:
        yield Consequence(
            effects.PRIVILEGED_SEES_ALL_DEVICES,
            f"container {quoted(container.name)} is privileged and sees every device of its node, "
            "whatever it claims",
        )
    mounts = container.spec.get("volumeMounts")
    for mount in mounts if isinstance(mounts, list) else ():
        if str(mapping(mount).get("mountPath", "")).rstrip("/") == "/dev":
            yield Consequence(
                effects.DEVICES_ARE_MOUNTED,
                f"container {quoted(container.name)} mounts /dev, and with it devices that it does "
                "not claim",
            )
