"""Patching workloads in a cluster: the template first, then the workload as it was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kubectl_llmfit.cluster.api import FIELD_MANAGER, Api, Object
from kubectl_llmfit.cluster.discovery import Offer
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.engines import ConfigMapReader
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decide import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.live import live_consequences, live_problems
from kubectl_llmfit.core.rewrite.operations import json_patch
from kubectl_llmfit.core.rewrite.surroundings import surrounding_consequences
from kubectl_llmfit.patching.decided import Decided, decide_workload, object_name

ATTEMPTS = 5
"""How often a workload that others change meanwhile is read and decided anew."""

NO_DRY_RUN, CLIENT, SERVER = "none", "client", "server"
DRY_RUNS = (NO_DRY_RUN, CLIENT, SERVER)


Tell = Callable[[str, Consequence], None]
"""Called with a workload's name and what its change brings along."""


def silent(name: str, consequence: Consequence) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Live:
    """How to patch: over which connection, into what cluster, and whether for real."""

    api: Api
    offer: Offer
    wishes: Wishes
    knowledge: Knowledge
    dry_run: str = NO_DRY_RUN
    force: bool = False
    template_path: str | None = None
    field_manager: str = FIELD_MANAGER


@dataclass(frozen=True)
class Outcome:
    """What became of a workload: its decisions, or its problems.

    Attributes:
        name: as kubectl prints it.
        before: the workload as it was read last.
        objects: its templates and behind them itself, as they are now, or as the dry run or the
            decisions alone would leave them; empty where there are problems.
        decided: ``None`` for an object that has nothing to do with devices.
        problems: why nothing was done.
    """

    name: str
    before: Object
    objects: tuple[Object, ...] = ()
    decided: Decided | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def changes_nothing(self) -> bool:
        """Whether the workload is as it was, say since the server put everything back."""
        return self.objects[-1:] == (self.before,)


def read_targets(
    api: Api, targets: Sequence[tuple[str, ...]]
) -> tuple[list[Object], list[Problem]]:
    """The objects of ``targets`` (each the words behind ``kubectl get``), and what was not read."""
    found: list[Object] = []
    problems: list[Problem] = []
    for target in targets:
        try:
            found += api.read(*target)
        except Refused as refused:
            problems += refused.problems
    return found, problems


def patch_live(live: Live, workload: Object, tell: Tell = silent) -> Outcome:
    """Decides over ``workload`` and patches it; on a conflict it is read and decided anew.

    ``tell`` gets each consequence once, and before anything that has it is changed.

    The template is there before anything names it. Where the patch then fails, the template that
    was made for it is named in the problem.
    """
    name = object_name(workload)
    told: set[Consequence] = set()
    try:
        for _ in range(ATTEMPTS):
            decided = _decided(live, workload)
            if decided is None or not decided.changed:
                return Outcome(name, workload, (workload,), decided)
            for consequence in decided.consequences:
                if consequence not in told:
                    tell(name, consequence)
                    told.add(consequence)
            try:
                objects = _carry_out(live, workload, decided)
            except ApiError as error:
                if error.status != "Conflict":
                    raise
                workload = live.api.read(name, *_namespace_flag(workload))[0]
            else:
                return Outcome(name, workload, objects, decided)
    except Refused as refused:
        return Outcome(name, workload, problems=tuple(_named(refused, name)))
    sentence = f"{name}: others changed it {ATTEMPTS} times meanwhile; run the command again"
    return Outcome(name, workload, problems=(Problem(reasons.CLUSTER_ERROR, sentence),))


def live_template(live: Live, template: Object) -> Object | None:
    """The template of that name as the cluster has it, or ``None``.

    Raises:
        ApiError: it may be there, but cannot be read.
    """
    metadata = template["metadata"]
    path = f"/apis/{template['apiVersion']}/namespaces/{metadata['namespace']}"
    try:
        return live.api.get(f"{path}/resourceclaimtemplates/{metadata['name']}")
    except ApiError as error:
        if error.status != "NotFound":
            raise
    return None


def _decided(live: Live, workload: Object) -> Decided | None:
    problems = live_problems(workload, object_name(workload))
    immutable = any(each.reason is reasons.IMMUTABLE_WORKLOAD for each in problems)
    if problems and (immutable or not live.force):
        raise Refused(problems)
    namespace = workload["metadata"].get("namespace", "default")
    has = live.offer.has
    knowledge = replace(
        live.knowledge, config_maps=_config_maps(live.api, namespace), published=has.published
    )
    where = f"namespace {namespace}"
    decided = decide_workload(workload, where, live.wishes, knowledge, live.template_path)
    if decided is None or not decided.changed:
        return decided
    around = (*surrounding_consequences(decided.templates, has), *live_consequences(workload))
    return replace(decided, around=around)


def _carry_out(live: Live, workload: Object, decided: Decided) -> tuple[Object, ...]:
    """The templates and the workload as they are now, or would be."""
    templates = [dict(inject.template) for inject in decided.templates]
    if live.dry_run == CLIENT:
        return (*templates, decided.result)
    is_dry = live.dry_run == SERVER
    made = [
        live.api.apply(each, field_manager=live.field_manager, dry_run=is_dry) for each in templates
    ]
    # The version that was decided over: any change since then is a conflict.
    version = {
        "op": "replace",
        "path": "/metadata/resourceVersion",
        "value": workload["metadata"]["resourceVersion"],
    }
    patch = [version, *json_patch(decided.operations)]
    namespace = workload["metadata"].get("namespace")
    try:
        patched = live.api.patch(
            decided.name,
            patch,
            namespace=namespace,
            field_manager=live.field_manager,
            dry_run=is_dry,
        )
    except ApiError as error:
        if error.status == "Conflict" or is_dry or not made:
            raise
        names = " and ".join(f"ResourceClaimTemplate {each['metadata']['name']}" for each in made)
        note = f"; {names} stay, for the next try or to be deleted"
        problem = Problem(error.problems[0].reason, error.problems[0].sentence + note)
        raise ApiError(problem, error.status) from None
    return (*made, patched)


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


def _namespace_flag(workload: Object) -> tuple[str, ...]:
    namespace = workload["metadata"].get("namespace")
    return (f"--namespace={namespace}",) if namespace else ()


def _named(refused: Refused, name: str) -> list[Problem]:
    return [
        each if each.sentence.startswith(name) else Problem(each.reason, f"{name}: {each.sentence}")
        for each in refused.problems
    ]
