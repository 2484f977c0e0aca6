"""``kubectl llmfit patch``: claims put into workloads, and the legacy limits taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from kubectl_llmfit.console import flags, formats, streams, workload_flags
from kubectl_llmfit.console.cluster_flags import handed_on, kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.request import Sourced

if TYPE_CHECKING:
    # What decides is loaded by who needs it: in a cluster, kubectl asks meanwhile.
    from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes

_DONE = "patched"


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
    byte stays. A lone - is standard input.
    """
    targets, given = workload_flags.with_standard_input(targets, given)
    workload_flags.check(ctx, targets, given)
    if given["api_version"]:
        formats.check_one_of("--api-version", given["api_version"], API_VERSIONS)
    if targets:
        _patch_live(ctx, workload_flags.words(ctx, targets, given), given)
    else:
        _patch_manifests(ctx, given)


def _knowledge(given: Mapping[str, Any]) -> Knowledge:
    from kubectl_llmfit.catalog import Catalog
    from kubectl_llmfit.catalog.boards import load_boards
    from kubectl_llmfit.core.rewrite.inputs import Knowledge

    catalog = Catalog.open(given["catalog_files"])
    boards = load_boards(given["board_files"])
    return Knowledge(catalog.resolve, catalog.exact, lambda: boards)


def _wishes(ctx: click.Context, given: Mapping[str, Any]) -> Wishes:
    from kubectl_llmfit.core.rewrite.inputs import Wishes

    model = given["model"]
    return Wishes(
        layer=flags.layer(ctx),
        model=Sourced(model, "--model") if model else None,
        container=given["container"] or None,
        api_version=given["api_version"] or API_VERSIONS[0],
        keep_env=given["keep_env"],
    )


def _patch_manifests(ctx: click.Context, given: Mapping[str, Any]) -> None:
    from kubectl_llmfit.console import results
    from kubectl_llmfit.patching.manifests import patch_manifests

    wishes, knowledge = _wishes(ctx, given), _knowledge(given)
    sources, unread = results.sources(ctx, given)
    template_path = given["template_path"]
    patched = patch_manifests(
        sources, wishes, knowledge, unread=unread, template_path=template_path
    )
    results.of_manifests(ctx, patched, given, _DONE)


def _patch_live(
    ctx: click.Context, words: Sequence[tuple[str, ...]], given: Mapping[str, Any]
) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace

    from kubectl_llmfit.cluster.api import Api, read_targets
    from kubectl_llmfit.cluster.discovery import CLASSES, NODES, SLICES, discover
    from kubectl_llmfit.cluster.kubectl import Kubectl

    api = Api(Kubectl(handed_on(ctx), streams.note))
    with ThreadPoolExecutor() as pool:
        # kubectl takes longer to start than the server to answer: both wait beside our own work.
        discovering = pool.submit(discover, api, (CLASSES, SLICES, NODES))
        reading = pool.submit(read_targets, api, words)
        wishes, knowledge = _wishes(ctx, given), _knowledge(given)
        from kubectl_llmfit.console import results
        from kubectl_llmfit.patching.live import Live, patch_live

        offer = discovering.result()
        workloads, problems = reading.result()
    if not given["api_version"]:
        wishes = replace(wishes, api_version=offer.api_version)
    writer = results.writer(ctx, given)
    live = Live(writer, offer, wishes, knowledge, given["template_path"])
    tell = results.teller(given)
    voice = results.voice(given, _DONE)
    outcomes = [
        results.said(patch_live(live, workload, tell), voice, given) for workload in workloads
    ]
    ctx.exit(results.of_cluster(writer, outcomes, problems, given))
