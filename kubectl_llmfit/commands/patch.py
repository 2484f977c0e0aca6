"""``kubectl llmfit patch``: claims put into workloads in files, and the legacy limits taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.console import flags, formats, streams
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.header import comment, header
from kubectl_llmfit.core.claims.objects import API_VERSIONS, V1
from kubectl_llmfit.core.engines import ConfigMapReader
from kubectl_llmfit.core.reasons import Problem, Refused, printable
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.decide import Decision, Inject, Knowledge, Skip, Wishes, decide_all
from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, pointer
from kubectl_llmfit.core.rewrite.survey import names_devices
from kubectl_llmfit.core.rewrite.workloads import kind_of, pod_templates
from kubectl_llmfit.files.documents import Located, Manifest
from kubectl_llmfit.files.editing import edited
from kubectl_llmfit.files.sources import Source, read_all
from kubectl_llmfit.files.writing import write_back

_UNKNOWN_KIND = Skip(
    reasons.UNKNOWN_KIND,
    "it asks for accelerators in a place that is no pod template known here; if it is one, say "
    "where with --template-path",
)


@dataclass(frozen=True)
class _Decided:
    """A workload of a file, its name as kubectl prints it, and what becomes of its pods."""

    located: Located
    name: str
    decisions: tuple[Decision, ...]

    @property
    def injected(self) -> tuple[Inject, ...]:
        """The pod templates that get a claim."""
        return tuple(each for each in self.decisions if isinstance(each, Inject))

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """The pod templates that stay as they are."""
        return tuple(each for each in self.decisions if isinstance(each, Skip))


@click.command(
    cls=KubectlCommand,
    examples="""
        # Print the workload with a claim in the place of its GPU limits
        kubectl llmfit patch -f deployment.yaml

        # Change the file itself, and keep the old one as deployment.yaml.orig
        kubectl llmfit patch -f deployment.yaml --in-place --backup .orig

        # Say which model a container serves, and how fast it has to be
        kubectl llmfit patch -f job.yaml --model Qwen/Qwen2.5-7B-Instruct --min-tps 40

        # What would be decided and why, for a program
        kubectl llmfit patch -f deployment.yaml --json
    """,
)
@click.option(
    "-f",
    "--filename",
    "filenames",
    multiple=True,
    metavar="FILE",
    help="File or folder with manifests to change, or - for standard input. May be repeated.",
)
@click.option("-R", "--recursive", is_flag=True, help="Also read the folders in a folder of -f.")
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
    default=V1,
    help=f"API version of the ResourceClaimTemplate. One of: ({', '.join(API_VERSIONS)}).",
    shell_complete=one_of(API_VERSIONS),
)
@click.option(
    "--template-path",
    help="Where the pod template is in a workload of a kind that is not known here, such as "
    "spec.template.",
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
@click.pass_context
def command(ctx: click.Context, /, filenames: Sequence[str], **given: Any) -> None:
    """Put a claim into workloads in files, in the place of their legacy GPU limits.

    Which model a workload serves is read off its containers (vLLM, SGLang, TGI, llama.cpp, Ollama,
    TensorRT-LLM, KServe), or said by the annotation llmfit.ai/model or --model. The generated
    ResourceClaimTemplate is put in front of the workload; every other byte of the file stays.

    Where a workload cannot be changed, nothing is written, and every reason is listed.
    """
    if not filenames:
        raise click.UsageError("name at least one file with -f", ctx)
    if given["backup"] and not given["in_place"]:
        raise click.UsageError("--backup goes with --in-place only", ctx)
    formats.check_one_of("--api-version", given["api_version"], API_VERSIONS)
    sources, unread = read_all(filenames, given["recursive"])
    catalog = Catalog.open(given["catalog_files"])
    wishes = _wishes(ctx, given)
    boards = load_boards(given["board_files"])
    problems = list(unread.problems) if unread is not None else []
    decided: list[tuple[Source, list[_Decided]]] = []
    for source in sources:
        problems += source.manifest.problems
        knowledge = Knowledge(
            catalog.resolve, catalog.exact, lambda: boards, _config_maps(source.manifest)
        )
        found, refused = _decide(source.manifest, wishes, knowledge, given["template_path"])
        problems += refused
        decided.append((source, found))
    if problems:
        raise Refused(problems)
    texts = [(source, _text(source.manifest, found)) for source, found in decided]
    if given["as_json"]:
        _print_decisions(decided)
    elif given["in_place"]:
        for source, text in texts:
            write_back(source, text, given["backup"])
    else:
        streams.write(_joined([text for _, text in texts]))
    _report([each for _, found in decided for each in found])


def _wishes(ctx: click.Context, given: Mapping[str, Any]) -> Wishes:
    model = given["model"]
    return Wishes(
        layer=flags.layer(ctx),
        model=Sourced(model, "--model") if model else None,
        container=given["container"] or None,
        api_version=given["api_version"],
    )


def _decide(
    manifest: Manifest, wishes: Wishes, knowledge: Knowledge, template_path: str | None
) -> tuple[list[_Decided], list[Problem]]:
    """What becomes of the workloads of ``manifest``, and what stands in the way."""
    decided: list[_Decided] = []
    problems: list[Problem] = []
    for located in manifest.objects:
        paths = _paths(located.value, template_path)
        if not paths:
            if names_devices(located.value):
                decided.append(_Decided(located, _name(located.value), (_UNKNOWN_KIND,)))
            continue
        namespace = (located.value.get("metadata") or {}).get("namespace")
        own = replace(wishes, namespace=namespace)
        try:
            decisions = decide_all(located.value, paths, own, knowledge)
        except Refused as refused:
            problems += [
                Problem(each.reason, f"{located.where}: {each.sentence}")
                for each in refused.problems
            ]
        else:
            decided.append(_Decided(located, _name(located.value), decisions))
    return decided, problems


def _paths(workload: Mapping[str, Any], template_path: str | None) -> tuple[Path, ...]:
    kind = kind_of(workload)
    if kind is not None:
        return pod_templates(workload, kind.templates)
    if not template_path:
        return ()
    parts = template_path.strip(".").split(".")
    return pod_templates(workload, (tuple(int(p) if p.isdigit() else p for p in parts),))


def _name(workload: Mapping[str, Any]) -> str:
    """As kubectl names an object in its messages: ``deployment.apps/vllm``."""
    group = str(workload.get("apiVersion", "")).rpartition("/")[0]
    kind = str(workload.get("kind", "")).lower()
    metadata = workload.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return f"{kind}.{group}/{name}" if group else f"{kind}/{name}"


def _config_maps(manifest: Manifest) -> ConfigMapReader:
    """The data of the ConfigMaps of the same file, by name; others are not known."""
    found = {
        (each.value.get("metadata") or {}).get("name"): each.value.get("data") or {}
        for each in manifest.objects
        if each.value.get("kind") == "ConfigMap"
    }
    return found.get


def _text(manifest: Manifest, decided: Sequence[_Decided]) -> str:
    """The manifest's text as it will be: each template once, before the first that names it."""
    operations: dict[Located, tuple[Operation, ...]] = {}
    before: dict[Located, str] = {}
    written: set[tuple[str | None, str]] = set()
    for each in decided:
        operations[each.located] = tuple(
            operation for inject in each.injected for operation in inject.operations
        )
        new = []
        for inject in each.injected:
            metadata = inject.template["metadata"]
            identity = (metadata.get("namespace"), metadata["name"])
            if identity not in written:
                written.add(identity)
                new.append(_generated(inject))
        if new:
            before[each.located] = yaml.dump_all(new)
    return edited(manifest, operations, before)


def _generated(inject: Inject) -> str:
    """The template's document below its comments: the sums, and who said what."""
    width = max(len(field) for field in inject.sources) + 1
    origins = [
        f"{f'{field}:'.ljust(width)}  {printable(sourced.value)}, from {printable(sourced.origin)}"
        for field, sourced in inject.sources.items()
    ]
    return header(inject.sized) + comment(origins) + yaml.dump(inject.template)


def _joined(texts: Sequence[str]) -> str:
    """Several files' texts as one stream."""
    joined = ""
    for text in texts:
        if joined and not joined.endswith("\n"):
            joined += "\n"
        joined += ("---\n" if joined else "") + text
    return joined


def _report(decided: Sequence[_Decided]) -> None:
    """A line for each workload on standard error, then what else changes with it."""
    for each in decided:
        if each.injected:
            streams.note(f"{each.name} patched")
            said = (consequence for inject in each.injected for consequence in inject.consequences)
            for consequence in dict.fromkeys(said):
                streams.warn(f"{each.name}: {consequence}")
            continue
        skips = (f"{skip.sentence} ({skip.reason.token})" for skip in each.skipped)
        for reason in dict.fromkeys(skips):
            streams.note(f"{each.name} skipped: {reason}")


def _print_decisions(decided: Sequence[tuple[Source, Sequence[_Decided]]]) -> None:
    from kubectl_llmfit.console.formats import as_json

    streams.write(
        as_json(
            [
                {"object": each.name, "where": each.located.where, **_as_dict(decision)}
                for _, found in decided
                for each in found
                for decision in each.decisions
            ]
        )
    )


def _as_dict(decision: Decision) -> dict[str, Any]:
    if not isinstance(decision, Inject):
        return {
            "decision": "skip",
            "reason": decision.reason.token,
            "message": decision.sentence,
        }
    return {
        "decision": "inject",
        "sources": {
            field: {"value": sourced.value, "origin": sourced.origin}
            for field, sourced in decision.sources.items()
        },
        "consequences": [
            {"token": each.token, "message": each.sentence} for each in decision.consequences
        ],
        "template": decision.template,
        "operations": [_operation(each) for each in decision.operations],
    }


def _operation(operation: Operation) -> dict[str, Any]:
    """Path, old and new; a side that is absent is left out."""
    shown: dict[str, Any] = {"path": pointer(operation.path)}
    if operation.old is not ABSENT:
        shown["old"] = operation.old
    if operation.new is not ABSENT:
        shown["new"] = operation.new
    return shown
