"""``kubectl llmfit patch``: claims put into workloads, and the legacy limits taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.console import flags, formats, objects, streams, workload_flags
from kubectl_llmfit.console.cluster_flags import handed_on, kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.console.patched import Voice, report, unsaid
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decide import Knowledge, Wishes
from kubectl_llmfit.patching.decided import Decided, as_dict
from kubectl_llmfit.patching.decided import objects as objects_of
from kubectl_llmfit.patching.live import (
    CLIENT,
    SERVER,
    Live,
    Outcome,
    live_template,
    patch_live,
    read_targets,
    silent,
)

if TYPE_CHECKING:
    from kubectl_llmfit.files.sources import Source
    from kubectl_llmfit.patching.manifests import Patched


@click.command(
    cls=KubectlCommand,
    bare=workload_flags.BARE,
    examples="""
        # Put a claim into a Deployment of the cluster, in the place of its GPU limits
        kubectl llmfit patch deployment/vllm

        # See what that would do, with the API server's word on it
        kubectl llmfit patch deployment/vllm --dry-run=server

        # Show what it would change, as kubectl diff does
        kubectl llmfit patch deployment/vllm --diff

        # Print a workload of a file with a claim
        kubectl llmfit patch -f deployment.yaml

        # Change the file itself, and keep the old one as deployment.yaml.orig
        kubectl llmfit patch -f deployment.yaml --in-place --backup .orig

        # Apply what a kustomization stands for, with claims
        kubectl llmfit patch -k . | kubectl apply -f -

        # Print the template and the workload as JSON
        kubectl llmfit patch -f deployment.yaml -o json

        # Show where each number comes from
        kubectl llmfit patch -f deployment.yaml --show-sources

        # Say which model a container serves, and how fast it has to be
        kubectl llmfit patch -f job.yaml --model Qwen/Qwen2.5-7B-Instruct --min-tps 40

        # What would be decided and why, for a program
        kubectl llmfit patch -f deployment.yaml --json
    """,
)
@workload_flags.targets
@workload_flags.writing
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
@workload_flags.files
@workload_flags.printing
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the decisions instead of the manifests, and change nothing.",
)
@click.option(
    "--show-sources",
    is_flag=True,
    help="Say on standard error where each value comes from that a workload was sized with.",
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
    ResourceClaimTemplate is made first, then the workload is changed as it was read. -f and -k
    patch files and kustomizations: the template is put in front of the workload, and every other
    byte stays.
    """
    workload_flags.check(ctx, targets, given)
    if given["api_version"]:
        formats.check_one_of("--api-version", given["api_version"], API_VERSIONS)
    if targets:
        _patch_live(ctx, workload_flags.words(ctx, targets, given), given)
    else:
        _patch_manifests(ctx, given)


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


def _patch_manifests(ctx: click.Context, given: Mapping[str, Any]) -> None:
    from kubectl_llmfit.files.writing import write_back
    from kubectl_llmfit.patching.manifests import joined

    patched = _patched(ctx, given)
    decided = [each for one in patched for each in one.decided]
    code = 0
    if given["as_json"]:
        _print_decisions(decided)
    elif given["diff"]:
        code = _show_files(patched)
    elif given["output"]:
        streams.write(objects.text(objects_of(decided), given["output"]))
    elif given["in_place"]:
        for one in patched:
            write_back(one.source, one.text, given["backup"])
    else:
        streams.write(joined([one.text for one in patched]))
    voice = _voice(given, of_files=True)
    for each in decided:
        report(voice, each, each.consequences)
    ctx.exit(code)


def _patched(ctx: click.Context, given: Mapping[str, Any]) -> list[Patched]:
    """What becomes of the files of -f, or of what kustomize builds from the folder of -k."""
    from kubectl_llmfit.files.sources import built, read_all
    from kubectl_llmfit.patching.manifests import patch_manifests

    wishes, knowledge = _wishes(ctx, given), _knowledge(given)
    sources: tuple[Source, ...]
    unread: tuple[Problem, ...] = ()
    if given["kustomize"]:
        from kubectl_llmfit.cluster.kubectl import Kubectl
        from kubectl_llmfit.cluster.kustomize import build

        text = build(Kubectl(handed_on(ctx), streams.note), given["kustomize"])
        sources = (built(text, given["kustomize"]),)
    else:
        sources, refused = read_all(given["filenames"], given["recursive"])
        unread = refused.problems if refused is not None else ()
    template_path = given["template_path"]
    return patch_manifests(sources, wishes, knowledge, unread=unread, template_path=template_path)


def _show_files(patched: Sequence[Patched]) -> int:
    from kubectl_llmfit.console import differences

    texts = [(one.source.manifest.name, one.source.manifest.text, one.text) for one in patched]
    return differences.show(differences.of_files(texts))


def _patch_live(
    ctx: click.Context, words: Sequence[tuple[str, ...]], given: Mapping[str, Any]
) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace

    from kubectl_llmfit.cluster.api import Api
    from kubectl_llmfit.cluster.discovery import CLASSES, NODES, SLICES, discover
    from kubectl_llmfit.cluster.kubectl import Kubectl

    api = Api(Kubectl(handed_on(ctx), streams.note))
    with ThreadPoolExecutor() as pool:
        # kubectl takes longer to start than the server to answer: both wait beside our own work.
        discovering = pool.submit(discover, api, (CLASSES, SLICES, NODES))
        reading = pool.submit(read_targets, api, words)
        wishes, knowledge = _wishes(ctx, given), _knowledge(given)
        offer = discovering.result()
        workloads, problems = reading.result()
    if not given["api_version"]:
        wishes = replace(wishes, api_version=offer.api_version)
    live = Live(
        api,
        offer,
        wishes,
        knowledge,
        dry_run=CLIENT if given["as_json"] else SERVER if given["diff"] else given["dry_run"],
        force=given["force"],
        template_path=given["template_path"],
        field_manager=given["field_manager"],
    )
    voice = _voice(given)
    outcomes: list[Outcome] = []
    for workload in workloads:
        outcome = patch_live(live, workload, silent if given["as_json"] else _tell)
        outcomes.append(outcome)
        if outcome.decided is not None and not given["as_json"]:
            report(voice, outcome.decided, (), changes_nothing=outcome.changes_nothing)
    code = 0
    try:
        code = _print_live(live, outcomes, given)
    except Refused as refused:
        problems += refused.problems
    problems += [problem for each in outcomes for problem in each.problems]
    if len(workloads) > 1 and problems:
        failed = sum(bool(each.problems) for each in outcomes)
        streams.note(f"{len(workloads) - failed} of {len(workloads)} workloads done.")
    if problems:
        raise Refused(problems)
    ctx.exit(code)


def _print_live(live: Live, outcomes: Sequence[Outcome], given: Mapping[str, Any]) -> int:
    """What is printed of all workloads together; the exit code."""
    done = [each for each in outcomes if each.objects]
    if given["as_json"]:
        _print_decisions([each.decided for each in done if each.decided is not None])
    elif given["diff"]:
        return _show_live(live, done)
    elif given["output"] and (done or not outcomes):
        streams.write(objects.text([each.objects[-1] for each in done], given["output"]))
    return 0


def _tell(name: str, consequence: Consequence) -> None:
    """Says what a change brings along, before it is made."""
    streams.warn(f"{name}: {consequence}")


def _show_live(live: Live, outcomes: Sequence[Outcome]) -> int:
    from kubectl_llmfit.console import differences

    states = []
    for outcome in outcomes:
        *templates, workload = outcome.objects
        states += [differences.of_object(live_template(live, each), each) for each in templates]
        states.append(differences.of_object(outcome.before, workload))
    return differences.show(states)


def _voice(given: Mapping[str, Any], *, of_files: bool = False) -> Voice:
    """Messages are the result only where nothing else is printed, as kubectl has it."""
    sources = given["show_sources"]
    if given["diff"]:
        return Voice(unsaid, streams.note, show_sources=sources)
    say = streams.note if of_files or given["output"] else streams.line
    return Voice(say, say, workload_flags.SUFFIXES[given["dry_run"]], sources)


def _print_decisions(decided: Sequence[Decided]) -> None:
    streams.write(formats.as_json([shown for each in decided for shown in as_dict(each)]))
