"""Deciding what becomes of a workload; a refusal is an exception with all of its reasons.

One function for every shell: the same pod gets the same answer on the command line, in a file and
at admission.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims.objects import V1, Metadata, claim_object
from kubectl_llmfit.core.claims.sized import Placement, SizedClaim, size_claim
from kubectl_llmfit.core.drivers.auto import Published, stands_in
from kubectl_llmfit.core.engines import (
    ConfigMapReader,
    EngineFacts,
    count_warning,
    find_engines,
    nothing_known,
    precision,
    shards,
)
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, quoted, refuse
from kubectl_llmfit.core.request import ClaimRequest, Layer, Sourced
from kubectl_llmfit.core.rewrite import annotated, effects
from kubectl_llmfit.core.rewrite.claim import PodClaim, claim_for
from kubectl_llmfit.core.rewrite.consequences import Consequence, consequences
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.fallback import Fallback, merged
from kubectl_llmfit.core.rewrite.held import PATCH, TEMPLATE_DIGITS, Maker
from kubectl_llmfit.core.rewrite.legacy import Legacy
from kubectl_llmfit.core.rewrite.operations import Operation, Path, value_at
from kubectl_llmfit.core.rewrite.overrides import overrides_out
from kubectl_llmfit.core.rewrite.pod import limits_out, operations_for
from kubectl_llmfit.core.rewrite.sources import sources_of
from kubectl_llmfit.core.rewrite.survey import Container, Survey, mapping, survey
from kubectl_llmfit.core.rewrite.tolerations import tolerations_in

if TYPE_CHECKING:
    from kubectl_llmfit.core.boards import Board

_SLICES = "the cluster's ResourceSlices"
_QUEUE = "kueue.x-k8s.io/queue-name"

TEMPLATE_LABEL = "app.kubernetes.io/managed-by"


@dataclass(frozen=True)
class Knowledge:
    """What decisions need to know from outside.

    Attributes:
        resolve: a selector → the model, as on a command line; raises ``Refused``.
        exact: a model's exact name → the model, or ``None``.
        boards: the board table, read only when a driver needs it.
        config_maps: a ConfigMap's name → its data, or ``None`` where it can't be read.
        published: what the cluster's slices publish; ``None`` where that is not known, and the
            legacy names alone tell the driver.
    """

    resolve: Callable[[str], Model]
    exact: Callable[[str], Model | None]
    boards: Callable[[], tuple[Board, ...]]
    config_maps: ConfigMapReader = nothing_known
    published: Published | None = None


@dataclass(frozen=True)
class Wishes:
    """What the command line, or a namespace, asks for beside the workload itself.

    Attributes:
        layer: fields of the request.
        model: the model's selector.
        container: the name of the container that serves it.
        api_version: version of the template.
        namespace: namespace of the template.
        keep_env: leave variables in that can give a container other devices than its claim's.
        defaults: fields that hold where neither the pod nor its engine states them.
        maker: who makes the template.
    """

    layer: Layer
    model: Sourced[str] | None = None
    container: str | None = None
    api_version: str = V1
    namespace: str | None = None
    keep_env: bool = False
    defaults: Layer = field(default_factory=dict)
    maker: Maker = PATCH


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
    stated, found = _surveyed(stated, spec, knowledge.published)
    engines = find_engines(spec, knowledge.config_maps)
    container = _model_container(found, engines, wishes.container)
    keep_env = wishes.keep_env or annotated.keeps_env(metadata)
    if container is None and any(each.holds_claim for each in found.wanting):
        operations = (*limits_out(found.wanting), *_beside(spec, found, keep_env))
        return Finish(_from_root(template_path, operations), consequences(spec, found, keep_env))
    if container is None and any(each.holds_claim for each in found.containers):
        return Skip(reasons.ALREADY_CLAIMED, "it has its claim already")
    if container is None:
        return Skip(reasons.NO_LEGACY_DEVICES, "no container asks for an accelerator by its limits")
    facts = _facts(container, engines, elsewhere)
    named = wishes.model or annotated.model(metadata)
    model, model_source = _model(named, facts, container, knowledge)
    sized, sources = _sized(stated, fallback, facts, model, container, found, knowledge)
    claim = _claim(found, container, sized, stated)
    item = _template(claim, wishes)
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
    stated: ClaimRequest, spec: Mapping[str, Any], published: Published | None
) -> tuple[ClaimRequest, Survey]:
    """What the pod asks for, of the driver that is stated, else of the vendor's.

    Where the vendor's publishes nothing, llmfit.ai stands in if it has GPUs to give; it has no
    MIG partitions.

    Raises:
        Refused: everything that ``survey`` refuses.
    """
    named = _driver(stated)
    found = survey(spec, named)
    if named is not None or published is None or found.driver is None:
        return stated, found
    classes = {want.legacy.device_class for each in found.wanting for want in each.wants}
    are_whole = classes == {drivers.BY_NAME[found.driver].default_class}
    if not are_whole or not stands_in(published, found.driver):
        return stated, found
    stand_in = Sourced(drivers.DEFAULT.name, _SLICES)
    return replace(stated, driver=stand_in), survey(spec, stand_in.value)


def _driver(stated: ClaimRequest) -> str | None:
    """The driver that is asked for, by its name or by a class of its own."""
    if stated.driver is None and stated.device_class is None:
        return None
    chosen, _ = drivers.choose(
        stated.driver.value if stated.driver else None,
        stated.device_class.value if stated.device_class else None,
    )
    return chosen.name


def _devices(container: Container) -> int:
    return sum(want.count for want in container.wants)


def _model_container(
    found: Survey, engines: Sequence[EngineFacts], named: str | None
) -> Container | None:
    """The container that serves the model; ``None`` where none wants devices.

    Raises:
        Refused: ``ambiguous-container``.
    """
    wanting = [each for each in found.wanting if _devices(each)]
    if not wanting:
        return None
    if named is not None:
        chosen = [each for each in wanting if each.name == named]
    else:
        serving = {facts.container for facts in engines}
        chosen = [each for each in wanting if each.name in serving] or wanting
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(quoted(each.name) for each in wanting)
    raise refuse(
        reasons.AMBIGUOUS_CONTAINER,
        f"containers {names} ask for devices, and "
        + ("none of them is called so" if named else "nothing tells which serves the model")
        + "; name it with --container",
    )


def _facts(
    container: Container, engines: Sequence[EngineFacts], elsewhere: Sequence[EngineFacts]
) -> EngineFacts | None:
    own = [facts for facts in engines if facts.container == container.name]
    if own:
        return own[0]
    return elsewhere[0] if len(elsewhere) == 1 else None


def _model(
    named: Sourced[str] | None,
    facts: EngineFacts | None,
    container: Container,
    knowledge: Knowledge,
) -> tuple[Model, Sourced[str]]:
    """The model and who named it. What a workload says has to be a model's whole name."""
    if named is not None:
        return knowledge.resolve(named.value), named
    advice = "name it with --model or the annotation " + annotated.MODEL
    if facts is None:
        raise refuse(
            reasons.MODEL_NOT_SAID,
            f"container {quoted(container.name)} runs no engine that is known here, so its model "
            f"is not; {advice}",
        )
    hidden = next((each for each in facts.unknown if each.what in ("model", "hub_name")), None)
    if facts.model is None or facts.model.value.hub_name is None:
        why = (
            f"{facts.model.origin}: {quoted(facts.model.value.text)} is no model's name"
            if (facts.model is not None)
            else f"container {quoted(container.name)} does not say its model"
        )
        sentence = hidden.sentence if hidden is not None else f"{why}; {advice}"
        raise refuse(reasons.MODEL_NOT_SAID, sentence)
    name = facts.model.value.hub_name
    model = knowledge.exact(name)
    if model is None:
        raise refuse(
            reasons.UNKNOWN_MODEL,
            f"{facts.model.origin}: no model is called {quoted(name)}; {advice}, or describe it "
            "with --catalog",
        )
    return model, Sourced(model.name, facts.model.origin)


def _sized(
    stated: ClaimRequest,
    fallback: Fallback,
    facts: EngineFacts | None,
    model: Model,
    container: Container,
    found: Survey,
    knowledge: Knowledge,
) -> tuple[SizedClaim, dict[str, Sourced[str]]]:
    """The model sized for the container's devices, and what was used beside the model's name."""
    count = _devices(container)
    quant = stated.quant
    if quant is None and facts is not None:
        engines = precision(facts, model)
        if engines.quant is None and fallback.quant is None:
            sentence = f"{engines.assumption}; name the quantization with --quant"
            raise refuse(reasons.UNKNOWN_QUANTIZATION, sentence)
        quant = engines.quant
    quant = quant or fallback.quant
    topology = stated.topology or (fallback.topology if count > 1 else None)
    device_class = _class_of(stated)(container.wants[0].legacy)
    driver = drivers.BY_NAME[found.driver or drivers.DEFAULT.name]
    placement = Placement(
        driver=driver.name,
        count=count,
        shards=shards(facts, count) if facts is not None else stated.placement().shards,
        topology=topology.value if topology else None,
        boards=knowledge.boards() if driver.uses_boards else (),
    )
    target = replace(
        replace(stated, device_class=Sourced(device_class, "legacy resource")).target(
            template=True
        ),
        quant=quant.value if quant is not None else None,
    )
    sized = size_claim(model, target, placement)
    return sized, sources_of(sized, stated, quant, facts, container)


def _class_of(stated: ClaimRequest) -> Callable[[Legacy], str]:
    """What stands in for a legacy resource: the class that is asked for, else its own."""

    def class_of(legacy: Legacy) -> str:
        if stated.device_class is not None:
            return stated.device_class.value
        if stated.driver is not None and stated.driver.value == drivers.DEFAULT.name:
            # The class llmfit.ai tests no kind: a pod that asked for a GPU could get a CPU.
            return "gpu.llmfit.ai"
        return legacy.device_class

    return class_of


def _claim(
    found: Survey, container: Container, sized: SizedClaim, stated: ClaimRequest
) -> PodClaim:
    selectors = sized.plan.requests[0].selectors
    claim = claim_for(found.containers, container.name, selectors, _class_of(stated))
    return replace(claim, plan=replace(claim.plan, constraints=sized.plan.constraints))


def _template(claim: PodClaim, wishes: Wishes) -> dict[str, Any]:
    """The template, named after its own content: specs are immutable, so another one is needed
    for another content, and identical pods share one."""
    nameless = claim_object(
        claim.plan, Metadata("", wishes.namespace), template=True, api_version=wishes.api_version
    )
    canonical = json.dumps([nameless["apiVersion"], nameless["spec"]], sort_keys=True)
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:TEMPLATE_DIGITS]
    metadata = Metadata(
        f"{wishes.maker.prefix}{digest}", wishes.namespace, {TEMPLATE_LABEL: wishes.maker.label}
    )
    return claim_object(claim.plan, metadata, template=True, api_version=wishes.api_version)


def _notes(found: Survey, facts: EngineFacts | None, container: Container) -> list[Consequence]:
    notes = [Consequence(effects.COUNTS_DIFFER, note) for note in found.notes]
    if facts is None:
        return notes
    notes += [Consequence(effects.ENGINE_NOTE, note) for note in facts.notes]
    warning = count_warning(facts, _devices(container))
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
        queue = mapping(mapping(labelled.get("metadata")).get("labels")).get(_QUEUE)
        if queue:
            yield Consequence(
                effects.KUEUE_COUNTS_OTHERWISE,
                f"Kueue's queue {quoted(str(queue))} counts claims by the deviceClassMappings of "
                "its configuration only; without one for the class, its quota does not cover them",
            )
            return
