"""Changing a workload of a cluster: decided over what was read, and carried out on nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubectl_llmfit.cluster.api import CLIENT, FIELD_MANAGER, NO_DRY_RUN, SERVER, Api, Object
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.cluster.names import object_name
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.live import live_problems
from kubectl_llmfit.core.rewrite.operations import json_patch
from kubectl_llmfit.patching.decided import Decided

ATTEMPTS = 5
"""How often a workload that others change meanwhile is read and decided anew."""

Decide = Callable[[Object], Decided | None]
"""What becomes of a workload; ``None`` for an object that is none of ours."""

Tell = Callable[[str, Consequence], None]
"""Called with a workload's name and what its change brings along."""


def silent(name: str, consequence: Consequence) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class Writer:
    """How a cluster is written to: over which connection, in whose name, and whether for real.

    ``force`` changes workloads although another controller owns them.
    """

    api: Api
    dry_run: str = NO_DRY_RUN
    force: bool = False
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


def change(writer: Writer, workload: Object, decide: Decide, tell: Tell = silent) -> Outcome:
    """Does what ``decide`` says of ``workload``; on a conflict it is read and decided anew.

    ``tell`` gets each consequence once, and before anything that has it is changed. Templates are
    there before anything names them; where the change then fails, those that were made for it are
    named in the problem.
    """
    name = object_name(workload)
    told: set[Consequence] = set()
    try:
        for _ in range(ATTEMPTS):
            _check(writer, workload)
            decided = decide(workload)
            if decided is None or not decided.changed:
                return Outcome(name, workload, (workload,), decided)
            for consequence in decided.consequences:
                if consequence not in told:
                    tell(name, consequence)
                    told.add(consequence)
            try:
                objects = _carry_out(writer, workload, decided)
            except ApiError as error:
                if error.status != "Conflict":
                    raise
                workload = writer.api.read(name, *_namespace_flag(workload))[0]
            else:
                return Outcome(name, workload, objects, decided)
    except Refused as refused:
        return Outcome(name, workload, problems=tuple(_named(refused, name)))
    sentence = f"{name}: others changed it {ATTEMPTS} times meanwhile; run the command again"
    return Outcome(name, workload, problems=(Problem(reasons.CLUSTER_ERROR, sentence),))


def _check(writer: Writer, workload: Object) -> None:
    problems = live_problems(workload, object_name(workload))
    immutable = any(each.reason is reasons.IMMUTABLE_WORKLOAD for each in problems)
    if problems and (immutable or not writer.force):
        raise Refused(problems)


def _carry_out(writer: Writer, workload: Object, decided: Decided) -> tuple[Object, ...]:
    """The templates and the workload as they are now, or would be."""
    templates = [dict(inject.template) for inject in decided.templates]
    if writer.dry_run == CLIENT:
        return (*templates, decided.result)
    is_dry = writer.dry_run == SERVER
    made = [
        writer.api.apply(each, field_manager=writer.field_manager, dry_run=is_dry)
        for each in templates
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
        patched = writer.api.patch(
            decided.name,
            patch,
            namespace=namespace,
            field_manager=writer.field_manager,
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


def _namespace_flag(workload: Object) -> tuple[str, ...]:
    namespace = workload["metadata"].get("namespace")
    return (f"--namespace={namespace}",) if namespace else ()


def _named(refused: Refused, name: str) -> list[Problem]:
    return [
        each if each.sentence.startswith(name) else Problem(each.reason, f"{name}: {each.sentence}")
        for each in refused.problems
    ]
