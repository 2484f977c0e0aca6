"""``kubectl llmfit restore``: patches undone, as the workloads' own records say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from kubectl_llmfit.cluster.api import NO_DRY_RUN, read_targets
from kubectl_llmfit.console import results, streams, workload_flags
from kubectl_llmfit.console.cluster_flags import kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.core.reasons import Problem
from kubectl_llmfit.core.rewrite.decision import Restore
from kubectl_llmfit.patching.changing import Outcome, Writer
from kubectl_llmfit.patching.live import restore_live

_DONE = "restored"


@click.command(
    cls=KubectlCommand,
    bare=workload_flags.BARE,
    examples="""
        # Put the GPU limits of a Deployment back that patch took out
        kubectl llmfit restore deployment/vllm

        # Show what that would change
        kubectl llmfit restore deployment/vllm --diff

        # Restore a file in place
        kubectl llmfit restore -f deployment.yaml --in-place
    """,
)
@workload_flags.targets
@workload_flags.writing
@click.option(
    "--force", is_flag=True, help="Restore a workload although another controller owns it."
)
@workload_flags.files
@workload_flags.printing
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the decisions instead of the manifests, and change nothing.",
)
@kubectl_flags
@click.pass_context
def command(ctx: click.Context, /, targets: Sequence[str], **given: Any) -> None:
    """Put back what patch took out of workloads, and take out what it put in.

    What that was stands in the annotation llmfit.ai/undo of the workload. What others have changed
    since stays. The generated ResourceClaimTemplate is deleted when nothing in the namespace names
    it any more, old ReplicaSets and ControllerRevisions included, to which a rollback may lead; in
    files it goes with the last workload of -f or -k that names it.
    """
    targets, given = workload_flags.with_standard_input(targets, given)
    workload_flags.check(ctx, targets, given)
    if targets:
        _restore_live(ctx, workload_flags.words(ctx, targets, given), given)
    else:
        from kubectl_llmfit.patching.restoring import restore_manifests

        sources, unread = results.sources(ctx, given)
        results.of_manifests(ctx, restore_manifests(sources, unread=unread), given, _DONE)


def _restore_live(
    ctx: click.Context, words: Sequence[tuple[str, ...]], given: Mapping[str, Any]
) -> None:
    writer = results.writer(ctx, given)
    workloads, problems = read_targets(writer.api, words)
    tell, voice = results.teller(given), results.voice(given, _DONE)
    outcomes = [
        results.said(restore_live(writer, workload, tell), voice, given) for workload in workloads
    ]
    if not (given["as_json"] or given["diff"]):
        problems += _clean_up(writer, outcomes, given)
    ctx.exit(results.of_cluster(writer, outcomes, problems, given))


def _clean_up(
    writer: Writer, outcomes: Sequence[Outcome], given: Mapping[str, Any]
) -> list[Problem]:
    """Deletes the templates that are left over, and says of each what became of it."""
    from kubectl_llmfit.patching.leftovers import delete_unused

    by_namespace: dict[str, tuple[dict[str, None], list[str]]] = {}
    for outcome in outcomes:
        for decision in outcome.decided.changed if outcome.decided and outcome.objects else ():
            if isinstance(decision, Restore):
                namespace = outcome.before["metadata"].get("namespace", "default")
                templates, restored = by_namespace.setdefault(namespace, ({}, []))
                templates.update(dict.fromkeys(decision.templates))
                restored.append(outcome.name)
    say = streams.note if given["output"] else streams.line
    suffix = workload_flags.SUFFIXES[writer.dry_run]
    problems: list[Problem] = []
    for namespace, (templates, restored) in by_namespace.items():
        is_dry = writer.dry_run != NO_DRY_RUN
        for each in delete_unused(writer.api, namespace, templates, restored, dry_run=is_dry):
            if each.problem is not None:
                sentence = f"{each.shown} was not deleted: {each.problem.sentence}"
                problems.append(Problem(each.problem.reason, sentence))
            elif each.deleted:
                say(f"{each.shown} deleted{suffix}")
            else:
                streams.note(f"{each.shown} stays: {each.stays}")
    return problems
