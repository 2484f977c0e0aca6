"""A workload and what becomes of it, in the form that both ways of patching share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kubectl_llmfit.cluster.names import object_name
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.header import comment, header
from kubectl_llmfit.core.reasons import printable
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decide import decide_all
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Inject, Restore, Skip
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, applied, pointer
from kubectl_llmfit.core.rewrite.restore import restore
from kubectl_llmfit.core.rewrite.survey import mapping, names_devices
from kubectl_llmfit.core.rewrite.undo import UNDO, recording
from kubectl_llmfit.core.rewrite.workloads import kind_of, pod_templates

_UNKNOWN_KIND = Skip(
    reasons.UNKNOWN_KIND,
    "it asks for accelerators in a place that is no pod template known here; if it is one, say "
    "where with --template-path",
)


@dataclass(frozen=True)
class Decided:
    """What becomes of a workload.

    Attributes:
        workload: as it was read.
        name: as kubectl prints it.
        where: its place.
        decisions: one for each of its pod templates, or one for the whole.
        record: the operations that record the others for ``restore``.
        around: what its surroundings in a cluster add to the consequences.
    """

    workload: Mapping[str, Any]
    name: str
    where: str
    decisions: tuple[Decision, ...]
    record: tuple[Operation, ...] = ()
    around: tuple[Consequence, ...] = ()

    @property
    def injected(self) -> tuple[Inject, ...]:
        """The pod templates that get a claim."""
        return tuple(each for each in self.decisions if isinstance(each, Inject))

    @property
    def changed(self) -> tuple[Inject | Finish | Restore, ...]:
        """The pod templates that do not stay as they are."""
        return tuple(each for each in self.decisions if not isinstance(each, Skip))

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """The pod templates that stay as they are."""
        return tuple(each for each in self.decisions if isinstance(each, Skip))

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of all pod templates, from the workload's root, and their record."""
        return (*(each for change in self.changed for each in change.operations), *self.record)

    @property
    def consequences(self) -> tuple[Consequence, ...]:
        """What else changes, each thing once."""
        said = (consequence for change in self.changed for consequence in change.consequences)
        return tuple(dict.fromkeys((*said, *self.around)))

    @property
    def result(self) -> dict[str, Any]:
        """The workload after the operations."""
        return applied(self.workload, self.operations)

    @property
    def templates(self) -> tuple[Inject, ...]:
        """One injection for each template that is needed."""
        by_name = {inject.template["metadata"]["name"]: inject for inject in self.injected}
        return tuple(by_name.values())


def decide_workload(
    workload: Mapping[str, Any],
    where: str,
    wishes: Wishes,
    knowledge: Knowledge,
    template_path: str | None,
) -> Decided | None:
    """What becomes of ``workload``; ``None`` for an object that has nothing to do with devices.

    Raises:
        Refused: everything that stands in the way.
    """
    paths = _paths(workload, template_path)
    name = object_name(workload)
    if not paths:
        if not names_devices(workload):
            return None
        return Decided(workload, name, where, (_UNKNOWN_KIND,))
    namespace = (workload.get("metadata") or {}).get("namespace")
    own = replace(wishes, namespace=namespace)
    decisions = decide_all(workload, paths, own, knowledge)
    decided = Decided(workload, name, where, decisions)
    return replace(decided, record=tuple(recording(workload, decided.operations)))


def decide_restore(workload: Mapping[str, Any], where: str) -> Decided | None:
    """What becomes of ``workload``; ``None`` for an object that no patch can have changed.

    Raises:
        Refused: ``bad-undo-record``.
    """
    annotations = mapping(mapping(workload.get("metadata")).get("annotations"))
    if kind_of(workload) is None and UNDO not in annotations:
        return None
    return Decided(workload, object_name(workload), where, (restore(workload),))


def generated(inject: Inject) -> str:
    """The template's document below its comments: the sums, and who said what."""
    return header(inject.sized) + comment(origins(inject)) + yaml.dump(inject.template)


def origins(inject: Inject) -> list[str]:
    """Each value that was used, and where it comes from, a line each."""
    width = max(len(field) for field in inject.sources) + 1
    return [
        f"{f'{field}:'.ljust(width)}  {printable(sourced.value)}, from {printable(sourced.origin)}"
        for field, sourced in inject.sources.items()
    ]


def objects(decided: Iterable[Decided]) -> list[dict[str, Any]]:
    """The workloads as they will be, each template once, before the first that names it."""
    found: list[dict[str, Any]] = []
    written: set[tuple[str | None, str]] = set()
    for each in decided:
        for inject in each.templates:
            if inject.identity not in written:
                written.add(inject.identity)
                found.append(dict(inject.template))
        found.append(each.result)
    return found


def as_dict(decided: Decided) -> list[dict[str, Any]]:
    """The decisions for programs, one for each pod template."""
    place = {"object": decided.name, "where": decided.where}
    return [{**place, **_decision(each, decided.around)} for each in decided.decisions]


def _paths(workload: Mapping[str, Any], template_path: str | None) -> tuple[Path, ...]:
    kind = kind_of(workload)
    if kind is not None:
        return pod_templates(workload, kind.templates)
    if not template_path:
        return ()
    parts = template_path.strip(".").split(".")
    return pod_templates(workload, (tuple(int(p) if p.isdecimal() else p for p in parts),))


def _decision(decision: Decision, around: Sequence[Consequence]) -> dict[str, Any]:
    if isinstance(decision, Skip):
        token, sentence = decision.reason.token, decision.sentence
        return {"decision": "skip", "reason": token, "message": sentence}
    changes = {
        "consequences": [
            {"token": each.token, "message": each.sentence}
            for each in dict.fromkeys((*decision.consequences, *around))
        ],
        "operations": [_operation(each) for each in decision.operations],
    }
    if isinstance(decision, Finish):
        return {"decision": "finish", **changes}
    if isinstance(decision, Restore):
        return {"decision": "restore", "templates": list(decision.templates), **changes}
    sources = {
        field: {"value": sourced.value, "origin": sourced.origin}
        for field, sourced in decision.sources.items()
    }
    return {"decision": "inject", "sources": sources, "template": decision.template, **changes}


def _operation(operation: Operation) -> dict[str, Any]:
    """Path, old and new; a side that is absent is left out."""
    shown: dict[str, Any] = {"path": pointer(operation.path)}
    if operation.old is not ABSENT:
        shown["old"] = operation.old
    if operation.new is not ABSENT:
        shown["new"] = operation.new
    return shown
