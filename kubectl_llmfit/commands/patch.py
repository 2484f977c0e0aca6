"""``kubectl llmfit patch``: claims put into workloads, and the legacy limits taken out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.cluster.api import FIELD_MANAGER
from kubectl_llmfit.console import flags, formats, streams
from kubectl_llmfit.console.cluster_flags import handed_on, kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decide import Knowledge, Wishes
from kubectl_llmfit.patching.decided import Decided, as_dict
from kubectl_llmfit.patching.live import (
    CLIENT,
    DRY_RUNS,
    NO_DRY_RUN,
    SERVER,
    Live,
    Outcome,
    patch_live,
    read_targets,
)

_SUFFIXES = {NO_DRY_RUN: "", CLIENT: " (dry run)", SERVER: " (server dry run)"}

# Flags, by their names in Python, that only one of the two ways of patching knows.
_OF_FILES = {"recursive": "--recursive", "in_place": "--in-place", "backup": "--backup"}
_OF_CLUSTERS = {
    "selector": "--selector",
    "every": "--all",
    "dry_run": "--dry-run",
    "field_manager": "--field-manager",
    "force": "--force",
}


@click.command(
    cls=KubectlCommand,
    bare={"--dry-run": CLIENT},
    examples="""
        # Put a claim into a Deployment of the cluster, in the place of its GPU limits
        kubectl llmfit patch deployment/vllm

        # See what that would do, with the API server's word on it
        kubectl llmfit patch deployment/vllm --dry-run=server

        # Print a workload of a file with a claim
        kubectl llmfit patch -f deployment.yaml

        # Change the file itself, and keep the old one as deployment.yaml.orig
        kubectl llmfit patch -f deployment.yaml --in-place --backup .orig

        # Say which model a container serves, and how fast it has to be
        kubectl llmfit patch -f job.yaml --model Qwen/Qwen2.5-7B-Instruct --min-tps 40

        # What would be decided and why, for a program
        kubectl llmfit patch -f deployment.yaml --json
    """,
)
@click.argument("targets", metavar="[TYPE/NAME...]", nargs=-1)
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE",
    help="File or folder with manifests to change, or - for standard input. May be repeated.",
)
@click.option("-R", "--recursive", is_flag=True, help="Also read the folders in a folder of -f.")
@click.option("-l", "--selector", help="Label selector: all workloads of TYPE that it matches.")
@click.option("--all", "every", is_flag=True, help="All workloads of TYPE in the namespace.")
@click.option(
    "-n", "--namespace", help="Namespace of the workloads. If empty, that of the current context."
)
@click.option(
    "--dry-run",
    default=NO_DRY_RUN,
    help="Change nothing in the cluster. One of: (none, client, server).",
    shell_complete=one_of(DRY_RUNS),
)
@click.option(
    "--field-manager",
    default=FIELD_MANAGER,
    help="Name of the manager that owns the changed fields.",
)
@click.option("--force", is_flag=True, help="Patch a workload although another controller owns it.")
@click.option(
    "--model",
    help="Model that the workloads serve. If empty, the annotation llmfit.ai/model or the "
    "container's own command line says it.",
    shell_complete=complete_model,
)
@click.option(
    "-c",
    "--container",
    help="Container that serves the model. If empty, the one that runs an inference engine.",
)
@flags.sizing
@click.option(
    "--driver",
    help="DRA driver whose devices to ask for. One of: "
    f"({', '.join(flags.SIZED_DRIVERS)}). If empty, the vendor's of the legacy limits.",
    shell_complete=one_of(flags.SIZED_DRIVERS),
)
@click.option(
    "--device-class",
    help="DeviceClass to ask for. If empty, the one that stands for the legacy limit.",
    shell_complete=one_of(flags.DEVICE_CLASSES),
)
@click.option(
    "--api-version",
    help=f"API version of the ResourceClaimTemplate. One of: ({', '.join(API_VERSIONS)}). If "
    f"empty, the newest that the cluster serves; {API_VERSIONS[0]} for files.",
    shell_complete=one_of(API_VERSIONS),
)
@click.option(
    "--template-path",
    help="Where the pod template is in a workload of a kind that is not known here, such as "
    "spec.template.",
)
@click.option(
    "--keep-env",
    is_flag=True,
    help="Leave variables in that can give a container other devices than its claim's, such as "
    "NVIDIA_VISIBLE_DEVICES.",
)
@click.option("-i", "--in-place", is_flag=True, help="Change the files instead of printing them.")
@click.option(
    "--backup",
    default="",
    help="With --in-place, keep the old file under its name and this suffix.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the decisions instead of the manifests, and change nothing.",
)
@flags.catalog
@flags.boards
@kubectl_flags
@click.pass_context
def command(ctx: click.Context, /, targets: Sequence[str], **given: Any) -> None:
    """Put a claim into workloads, in the place of their legacy GPU limits.

    Which model a workload serves is read off its containers (vLLM, SGLang, TGI, llama.cpp, Ollama,
    TensorRT-LLM, KServe), or said by the annotation llmfit.ai/model or --model.

    TYPE/NAME, or TYPE with names, -l or --all, patches workloads of the cluster: the generated
    ResourceClaimTemplate is made first, then the workload is changed as it was read. -f patches
    files: the template is put in front of the workload, and every other byte stays.
    """
    if bool(targets) == bool(given["filenames"]):
        raise click.UsageError("name workloads as TYPE/NAME, or files with -f", ctx)
    _check_together(ctx, targets)
    if given["backup"] and not given["in_place"]:
        raise click.UsageError("--backup goes with --in-place only", ctx)
    formats.check_one_of("--dry-run", given["dry_run"], DRY_RUNS)
    if given["api_version"]:
        formats.check_one_of("--api-version", given["api_version"], API_VERSIONS)
    if targets:
        _patch_live(ctx, _words(ctx, targets, given), given)
    else:
        _patch_files(_wishes(ctx, given), _knowledge(given), given)


def _check_together(ctx: click.Context, targets: Sequence[str]) -> None:
    """A flag that would do nothing is a mistake: a dry run of -f -i would write all the same."""
    others, partner = (_OF_FILES, "-f") if targets else (_OF_CLUSTERS, "TYPE/NAME")
    wrong = [flag for field, flag in others.items() if flags.is_given(ctx, field)]
    if wrong:
        verb = "goes" if len(wrong) == 1 else "go"
        raise click.UsageError(f"{', '.join(wrong)} {verb} with {partner} only", ctx)


def _knowledge(given: Mapping[str, Any]) -> Knowledge:
    catalog = Catalog.open(given["catalog_files"])
    boards = load_boards(given["board_files"])
    return Knowledge(catalog.resolve, catalog.exact, lambda: boards)


def _wishes(ctx: click.Context, given: Mapping[str, Any]) -> Wishes:
    model = given["model"]
    return Wishes(
        layer=flags.layer(ctx),
        model=Sourced(model, "--model") if model else None,
        container=given["container"] or None,
        api_version=given["api_version"] or API_VERSIONS[0],
        keep_env=given["keep_env"],
    )


def _words(
    ctx: click.Context, targets: Sequence[str], given: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """What to ask kubectl for, one workload or one selection at a time."""
    selecting = [f"--selector={given['selector']}"] if given["selector"] else []
    if selecting or given["every"]:
        if any("/" in target for target in targets):
            raise click.UsageError("-l and --all go with a TYPE, not with names", ctx)
        return [(target, *selecting) for target in targets]
    if any("/" in target for target in targets):
        if not all(target.count("/") == 1 and all(target.split("/")) for target in targets):
            raise click.UsageError("name every workload as TYPE/NAME", ctx)
        return [(target,) for target in targets]
    kind, *names = targets
    if not names:
        raise click.UsageError(f"name workloads of {kind}, or select them with -l or --all", ctx)
    return [(f"{kind}/{name}",) for name in names]


def _patch_files(wishes: Wishes, knowledge: Knowledge, given: Mapping[str, Any]) -> None:
    from kubectl_llmfit.files.writing import write_back
    from kubectl_llmfit.patching.manifests import joined, patch_files

    patched = patch_files(
        given["filenames"],
        wishes,
        knowledge,
        recursive=given["recursive"],
        template_path=given["template_path"],
    )
    decided = [each for one in patched for each in one.decided]
    if given["as_json"]:
        _print_decisions(decided)
    elif given["in_place"]:
        for one in patched:
            write_back(one.source, one.text, given["backup"])
    else:
        streams.write(joined([one.text for one in patched]))
    for each in decided:
        _report(streams.note, each, each.consequences, "")


def _patch_live(
    ctx: click.Context, words: Sequence[tuple[str, ...]], given: Mapping[str, Any]
) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace

    from kubectl_llmfit.cluster.api import Api
    from kubectl_llmfit.cluster.discovery import discover
    from kubectl_llmfit.cluster.kubectl import Kubectl

    api = Api(Kubectl(handed_on(ctx), streams.note))
    with ThreadPoolExecutor() as pool:
        # kubectl takes longer to start than the server to answer: both wait beside our own work.
        discovering = pool.submit(discover, api)
        reading = pool.submit(read_targets, api, words)
        wishes, knowledge = _wishes(ctx, given), _knowledge(given)
        offer = discovering.result()
        workloads, problems = reading.result()
    if not given["api_version"]:
        wishes = replace(wishes, api_version=offer.api_version)
    dry_run = CLIENT if given["as_json"] else given["dry_run"]
    live = Live(
        api,
        offer,
        wishes,
        knowledge,
        dry_run=dry_run,
        force=given["force"],
        template_path=given["template_path"],
        field_manager=given["field_manager"],
    )
    outcomes: list[Outcome] = []
    for workload in workloads:
        outcomes.append(patch_live(live, workload))
        if not given["as_json"]:
            _report_live(outcomes[-1], _SUFFIXES[dry_run])
    if given["as_json"]:
        _print_decisions([each.decided for each in outcomes if each.decided is not None])
    problems += [problem for each in outcomes for problem in each.problems]
    if len(workloads) > 1 and problems:
        failed = sum(bool(each.problems) for each in outcomes)
        streams.note(f"{len(workloads) - failed} of {len(workloads)} workloads done.")
    if problems:
        raise Refused(problems)


def _report_live(outcome: Outcome, suffix: str) -> None:
    if outcome.decided is not None:
        _report(streams.line, outcome.decided, outcome.consequences, suffix)


def _report(say: Any, decided: Decided, consequences: Iterable[Consequence], suffix: str) -> None:
    """A line for the workload, then on standard error what else changes with it."""
    if decided.changed:
        say(f"{decided.name} patched{suffix}")
        for consequence in consequences:
            streams.warn(f"{decided.name}: {consequence}")
        return
    reasons = (f"{skip.sentence} ({skip.reason.token})" for skip in decided.skipped)
    for reason in dict.fromkeys(reasons):
        say(f"{decided.name} skipped: {reason}")


def _print_decisions(decided: Iterable[Decided]) -> None:
    streams.write(formats.as_json([shown for each in decided for shown in as_dict(each)]))
