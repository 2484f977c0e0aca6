"""Variables that hand a container other devices than its claim's, or split one up: they go out.

A container runtime acts on NVIDIA_VISIBLE_DEVICES whatever was claimed, CUDA_VISIBLE_DEVICES names
devices by numbers that a claim's devices need not have, and CUDA_MPS_* asks for a sharing daemon
that the claim did not bring.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation
from kubectl_llmfit.core.rewrite.survey import Container, mapping

_VISIBLE = ("NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_MPS_PREFIX = "CUDA_MPS_"
# The runtime hands out the claim's devices itself where the variable says so.
_HARMLESS = ("", "void", "none")


@dataclass(frozen=True)
class Override:
    """One such variable of a container; ``kept`` says why it stays, empty where it goes out."""

    container: str
    index: int
    name: str
    kept: str = ""


def overrides(container: Container, keep: bool) -> tuple[Override, ...]:
    """The variables of ``container`` that defeat its claim; ``keep`` leaves them all in."""
    found: list[Override] = []
    for index, entry in enumerate(_environment(container)):
        name = str(mapping(entry).get("name", ""))
        if not _defeats(name, mapping(entry)):
            continue
        if keep:
            kept = "was to be kept"
        elif "valueFrom" in mapping(entry):
            kept = "has its value from elsewhere"
        elif _is_used(f"$({name})", container):
            kept = "is used by others of its values"
        else:
            kept = ""
        found.append(Override(container.name, index, name, kept))
    return tuple(found)


def overrides_out(containers: Sequence[Container], keep: bool) -> tuple[Operation, ...]:
    """The operations that take the variables of ``containers`` out; paths from the pod's spec."""
    return tuple(each for container in containers for each in _out(container, keep))


def _out(container: Container, keep: bool) -> Iterator[Operation]:
    environment = _environment(container)
    going = [each.index for each in overrides(container, keep) if not each.kept]
    path = (*container.path, "env")
    if going and len(going) == len(environment):
        yield Operation(path, environment, ABSENT)
        return
    # From the end, so that no index moves before its turn.
    for index in reversed(going):
        yield Operation((*path, index), environment[index], ABSENT)


def _environment(container: Container) -> list[Any]:
    listed = container.spec.get("env")
    return listed if isinstance(listed, list) else []


def _defeats(name: str, entry: Mapping[str, Any]) -> bool:
    if name.startswith(_MPS_PREFIX):
        return True
    says_nothing = "valueFrom" not in entry and str(entry.get("value") or "").lower() in _HARMLESS
    return name in _VISIBLE and not says_nothing


def _is_used(reference: str, container: Container) -> bool:
    texts = [mapping(entry).get("value") for entry in _environment(container)]
    for field in ("command", "args"):
        listed = container.spec.get(field)
        texts += listed if isinstance(listed, list) else []
    return any(isinstance(text, str) and reference in text for text in texts)
