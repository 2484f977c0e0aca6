"""Deciding what becomes of a workload; a refusal is an exception with all of its reasons.

One function for every shell: the same pod gets the same answer on the command line, in a file and
at admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.drivers.auto import stands_in
from kubectl_llmfit.core.engines import EngineFacts, count_warning, find_engines
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.request import ClaimRequest, Sourced
from kubectl_llmfit.core.rewrite import annotated, effects
from kubectl_llmfit.core.rewrite.consequences import Consequence, consequences
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.fallback import merged
from kubectl_llmfit.core.rewrite.generated import pod_claim, template_for
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.operations import Operation, Path, value_at
from kubectl_llmfit.core.rewrite.overrides import overrides_out
from kubectl_llmfit.core.rewrite.pod import limits_out, operations_for
from kubectl_llmfit.core.rewrite.serving import devices_of, facts_of, model_container, model_of
from kubectl_llmfit.core.rewrite.sized import size_for
from kubectl_llmfit.core.rewrite.survey import Container, Survey, mapping, survey
from kubectl_llmfit.core.rewrite.tolerations import tolerations_in

_SLICES = "the cluster's ResourceSlices"
QUEUE = "kueue.x-k8s.io/queue-name"


def decide_all(
    workload: Mapping[str, Any], paths: Sequence[Path], wishes: Wishes, knowledge: Knowledge
) -> tuple[Decision, ...]:
    """What becomes of each pod template of ``workload``, at ``paths``.

    A worker of a group runs no engine of its own and holds a part of the leader's model, so the
    engines of all templates are known to each.

    Raises:
        Refused: everything that stands in the way of any.
    """
    specs = [mapping(value_at(workload, (*path, "spec"))) for path in paths]
    engines = [facts for spec in specs for facts in find_engines(spec, knowledge.config_maps)]
    decisions: list[Decision] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            decisions.append(decide(workload, path, wishes, knowledge, engines))
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(dict.fromkeys(problems))
    return tuple(decisions)


def decide(
    workload: Mapping[str, Any],
    template_path: Path,
    wishes: Wishes,
    knowledge: Knowledge,
    elsewhere: Sequence[EngineFacts] = (),
) -> Inject | Finish | Skip:
    """What becomes of the pod template at ``template_path`` of ``workload``.

    ``elsewhere`` are the engines of all of the workload's pod templates.

    Raises:
        Refused: everything that stands in the way.
    """
    template = mapping(value_at(workload, template_path))
    metadata, spec = template.get("metadata"), mapping(template.get("spec"))
    if annotated.opts_out(metadata):
        return Skip(reasons.OPTED_OUT, f"annotation {annotated.INJECT} says so")
    layers = (wishes.layer, annotated.stated(metadata))
    stated, fallback = merged(layers, wishes.defaults)
    stated, found = _surveyed(stated, spec, knowledge)
    engines = find_engines(spec, knowledge.config_maps)
    container = model_container(found, engines, wishes.container)
    keep_env = wishes.keep_env or annotated.keeps_env(metadata)
    if container is None and any(each.holds_claim for each in found.wanting):
        operations = (*limits_out(found.wanting), *_beside(spec, found, keep_env))
        return Finish(_from_root(template_path, operations), consequences(spec, found, keep_env))
    if container is None and any(each.holds_claim for each in found.containers):
        return Skip(reasons.ALREADY_CLAIMED, "it has its claim already")
    if container is None:
        return Skip(reasons.NO_LEGACY_DEVICES, "no container asks for an accelerator by its limits")
    facts = facts_of(container, engines, elsewhere)
    named = wishes.model or annotated.model(metadata)
    model, model_source = model_of(named, facts, container, knowledge)
    sized, sources = size_for(stated, fallback, facts, model, container, found, knowledge)
    claim = pod_claim(found, container, sized, stated)
    item = template_for(claim, wishes)
    operations = operations_for(spec, found.wanting, claim, item["metadata"]["name"])
    return Inject(
        operations=_from_root(template_path, (*operations, *_beside(spec, found, keep_env))),
        template=item,
        plan=claim.plan,
        sized=sized,
        replaced=_replaced(found),
        sources={"model": model_source, **sources},
        consequences=(
            *_notes(found, facts, container),
            *_stand_in(stated, found),
            *consequences(spec, found, keep_env),
            *_queues(workload, template),
        ),
    )


def _beside(spec: Mapping[str, Any], found: Survey, keep_env: bool) -> tuple[Operation, ...]:
    """What changes with the limits: variables that would defeat the claim, and tolerations."""
    devices = found.with_devices
    return (*overrides_out(devices, keep_env), *tolerations_in(spec, devices))


def _from_root(template_path: Path, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Operations on a pod's spec as those on the workload that holds its template."""
    return tuple(replace(each, path=(*template_path, "spec", *each.path)) for each in operations)


def _surveyed(
    stated: ClaimRequest, spec: Mapping[str, Any], knowledge: Knowledge
) -> tuple[ClaimRequest, Survey]:
    """What the pod asks for, of the driver that is stated, else of the vendor's.

    Where the vendor's publishes nothing, llmfit.ai stands in if it has GPUs to give; it has no
    MIG partitions.

    Raises:
        Refused: everything that ``survey`` refuses.
    """
    named, published = _driver(stated), knowledge.published
    found = survey(spec, named, knowledge.claims)
    if named is not None or published is None or found.driver is None:
        return stated, found
    classes = {want.legacy.device_class for each in found.wanting for want in each.wants}
    are_whole = classes == {drivers.BY_NAME[found.driver].default_class}
    if not are_whole or not stands_in(published, found.driver):
        return stated, found
    stand_in = Sourced(drivers.DEFAULT.name, _SLICES)
    return replace(stated, driver=stand_in), survey(spec, stand_in.value, knowledge.claims)


def _driver(stated: ClaimRequest) -> str | None:
    """The driver that is asked for, by its name or by a class of its own."""
    if stated.driver is None and stated.device_class is None:
        return None
    chosen, _ = drivers.choose(
        stated.driver.value if stated.driver else None,
        stated.device_class.value if stated.device_class else None,
    )
    return chosen.name


def _notes(found: Survey, facts: EngineFacts | None, container: Container) -> list[Consequence]:
    notes = [Consequence(effects.COUNTS_DIFFER, note) for note in found.notes]
    if facts is None:
        return notes
    notes += [Consequence(effects.ENGINE_NOTE, note) for note in facts.notes]
    warning = count_warning(facts, devices_of(container))
    return [*notes, Consequence(effects.DEVICES_AND_SHARDS_DIFFER, warning)] if warning else notes


def _replaced(found: Survey) -> tuple[str, ...]:
    wants = (want for each in found.wanting for want in each.wants if want.count)
    return tuple(dict.fromkeys(want.legacy.name for want in wants))


def _stand_in(stated: ClaimRequest, found: Survey) -> Iterator[Consequence]:
    if stated.driver is not None and stated.driver.origin == _SLICES:
        vendors = dict.fromkeys(want.legacy.driver for each in found.wanting for want in each.wants)
        yield Consequence(
            effects.DRIVER_STANDS_IN,
            f"{' and '.join(vendors)} publishes no device here, so {found.driver} stands in, whose "
            "GPUs may be another vendor's; --driver asks for the vendor's all the same",
        )


def _queues(workload: Mapping[str, Any], template: Mapping[str, Any]) -> Iterator[Consequence]:
    """What Kueue, which admits workloads and pods of its queues, makes of the change."""
    for labelled in (workload, template):
        queue = mapping(mapping(labelled.get("metadata")).get("labels")).get(QUEUE)
        if queue:
            yield Consequence(
                effects.KUEUE_COUNTS_OTHERWISE,
                f"Kueue's queue {quoted(str(queue))} counts claims by the deviceClassMappings of "
                "its configuration only; without one for the class, its quota does not cover them",
            )
            return
