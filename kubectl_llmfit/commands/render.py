"""``kubectl llmfit render``: from a model's name to the claim that fits it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.console import flags, streams
from kubectl_llmfit.console.cluster_flags import handed_on, kubectl_flags
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.header import comment, header
from kubectl_llmfit.core.claims.labels import parse_labels
from kubectl_llmfit.core.claims.names import label_problems
from kubectl_llmfit.core.claims.objects import API_VERSIONS, V1
from kubectl_llmfit.core.claims.render import ObjectOptions, render_object, summary
from kubectl_llmfit.core.claims.sized import (
    Placement,
    SizedClaim,
    copies_warning,
    object_name,
    size_claim,
)
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.request import ClaimRequest, Layer, Sourced, merge
from kubectl_llmfit.core.sizing.formula import ClaimTarget

FORMATS = ("yaml", "json", "name")


@click.command(
    cls=KubectlCommand,
    examples="""
        # Print a ResourceClaim for a model
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct

        # Create it
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct | kubectl apply -f -

        # Ask for 40 tokens a second with 8-bit weights, as a template for pods
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --quant Q8_0 --min-tps 40 --template

        # Ask for a GPU of NVIDIA's driver, and show the whole sum
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --driver gpu.nvidia.com --show-math

        # A MIG partition that suffices
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --device-class mig.nvidia.com

        # Four NVIDIA GPUs on one NUMA node, the model split over them
        kubectl llmfit render Qwen/Qwen2.5-72B --driver gpu.nvidia.com --count 4 --topology numa

        # Print the numbers for a program
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --json

        # Several models in one stream, for a namespace and with a label
        kubectl llmfit render Qwen/Qwen2.5-7B Qwen/Qwen2.5-14B -n llm --labels app=chat
    """,
)
@click.argument("models", metavar="MODEL...", nargs=-1, shell_complete=complete_model)
@flags.sizing
@flags.devices
@click.option(
    "--name", help="metadata.name of the object. If empty, it is derived from the model's name."
)
@click.option(
    "--template", is_flag=True, help="Print a ResourceClaimTemplate instead of a ResourceClaim."
)
@click.option("-n", "--namespace", help="metadata.namespace of the object. If empty, it has none.")
@click.option("--labels", help="Labels of the object, as key=value pairs with commas between them.")
@click.option(
    "--api-version",
    default=V1,
    help=f"API version of the object. One of: ({', '.join(API_VERSIONS)}).",
    shell_complete=one_of(API_VERSIONS),
)
@click.option(
    "-o",
    "--output",
    default="yaml",
    help="Output format of the object. One of: (yaml, json, name). YAML has audit comments.",
    shell_complete=one_of(FORMATS),
)
@click.option(
    "--json",
    "as_summary",
    is_flag=True,
    help="Print the numbers of the claim instead of the object: one JSON object, or a list of "
    "them for several models.",
)
@click.option(
    "--show-math",
    is_flag=True,
    help="Put the whole sum into the comments: each number with unit and source, what was "
    "assumed, and the boards that satisfy the claim.",
)
@flags.catalog
@kubectl_flags
@click.pass_context
def command(ctx: click.Context, /, models: Sequence[str], **given: Any) -> None:
    """Print the ResourceClaim or ResourceClaimTemplate whose CEL selector fits a model.

    The selector holds a memory floor and a memory bandwidth floor, sized for the model's weights
    and for the speed asked for. The comments above the object show the sums.

    No cluster is asked anything, but for --driver auto: then your kubectl, with its global flags
    (see `kubectl options`), tells which driver publishes devices.

    MODEL is a model's exact name, or a part of it that no other name has.
    """
    if not models:
        raise click.UsageError("MODEL is missing; name at least one model", ctx)
    if given["as_summary"] and flags.is_given(ctx, "output"):
        raise click.UsageError("--json and --output exclude each other", ctx)
    if given["show_math"] and (given["as_summary"] or given["output"] != "yaml"):
        raise click.UsageError("--show-math goes with YAML output only", ctx)
    layer = _layer(ctx, given)
    request, target, options = _read(layer, given)
    catalog = Catalog.open(given["catalog_files"])
    resolved = _resolve(catalog, models, target)
    placement = _placement(request, target, given["board_files"])
    sized = _sized(resolved, target, placement)
    if given["as_summary"]:
        text = _summaries(sized)
    elif given["output"] == "yaml":
        source = f"catalog ({catalog.release.source})" if given["show_math"] else None
        text = yaml.dump_all([_yaml(each, request, options, source) for each in sized])
    else:
        text = _objects(sized, options, given["output"])
    warning = copies_warning(placement)
    if warning is not None:
        streams.warn(warning)
    streams.write(text)


def _layer(ctx: click.Context, given: dict[str, Any]) -> Layer:
    """What the flags state; for ``--driver auto``, what the cluster says in its place."""
    layer = flags.layer(ctx)
    if given["driver"] != flags.AUTO:
        return layer
    from kubectl_llmfit.cluster.api import Api
    from kubectl_llmfit.cluster.discovery import SLICES, discover
    from kubectl_llmfit.cluster.kubectl import Kubectl
    from kubectl_llmfit.core.drivers.auto import choose_from

    api = Api(Kubectl(handed_on(ctx), streams.note))
    offer = discover(api)
    if not flags.is_given(ctx, "api_version"):
        given["api_version"] = offer.api_version
    stated = {field: sourced for field, sourced in layer.items() if field != "driver"}
    if "device_class" not in stated:
        if offer.has.published is None:
            raise Refused(each for each in offer.unread if each.sentence.startswith(SLICES))
        choice = choose_from(offer.has.published)
        streams.note(f"Using class {choice.device_class}: {choice.why}.")
        stated["driver"] = Sourced(choice.driver.name, "cluster")
        stated["device_class"] = Sourced(choice.device_class, "cluster")
    device_class = stated["device_class"].value
    if offer.has.lacks(device_class):
        streams.warn(
            f"the cluster has no DeviceClass {quoted(device_class)}; pods with this claim would "
            "stay pending until it is made"
        )
    return stated


def _read(layer: Layer, given: dict[str, Any]) -> tuple[ClaimRequest, ClaimTarget, ObjectOptions]:
    """What the flags ask for, or every flag that is wrong at once."""
    problems: list[Problem] = []
    request: ClaimRequest | None = None
    target: ClaimTarget | None = None
    labels: dict[str, str] = {}
    try:
        request = merge(layer)
        target = request.target(template=given["template"])
    except Refused as refused:
        problems += refused.problems
    try:
        labels = parse_labels(given["labels"] or "", "--labels")
    except Refused as refused:
        problems += refused.problems
    namespace = given["namespace"] or None
    if namespace is not None:
        problems += label_problems(namespace, "--namespace")
    for flag, value, choices in (
        ("--api-version", given["api_version"], API_VERSIONS),
        ("--output", given["output"], FORMATS),
    ):
        if value not in choices:
            sentence = f"{flag}: {quoted(value)} is not one of {', '.join(choices)}"
            problems.append(Problem(reasons.INVALID_VALUE, sentence))
    if problems or request is None or target is None:
        raise Refused(problems)
    return request, target, ObjectOptions(namespace, labels, given["api_version"])


def _placement(request: ClaimRequest, target: ClaimTarget, board_files: Sequence[str]) -> Placement:
    """The placement, with the board table if the driver needs it or the user gave boards."""
    driver, _ = drivers.choose(request.placement().driver, target.device_class)
    if not driver.uses_boards and not board_files:
        return request.placement()
    # The table is read only for drivers that publish no bandwidth.
    from kubectl_llmfit.catalog.boards import load_boards

    return request.placement(load_boards(board_files))


def _resolve(catalog: Catalog, selectors: Sequence[str], target: ClaimTarget) -> list[Model]:
    """The models, or every one that is unknown or shares its object's name with another."""
    problems: list[Problem] = []
    resolved: dict[str, Model] = {}
    for selector in selectors:
        try:
            model = catalog.resolve(selector)
            name = object_name(model, target)
        except Refused as refused:
            problems += refused.problems
            continue
        if name in resolved:
            sentence = (
                f"{quoted(resolved[name].name)} and {quoted(model.name)} would both be called "
                f"{name}; render them one at a time with --name"
            )
            problems.append(Problem(reasons.DUPLICATE_NAME, sentence))
        resolved[name] = model
    if problems:
        raise Refused(problems)
    return list(resolved.values())


def _sized(models: Sequence[Model], target: ClaimTarget, placement: Placement) -> list[SizedClaim]:
    """Every model sized, or the problems of all that can't be."""
    sized: list[SizedClaim] = []
    problems: list[Problem] = []
    for model in models:
        try:
            sized.append(size_claim(model, target, placement))
        except Refused as refused:
            problems += refused.problems
    if problems:
        # A placement's problem is the same for every model; once is enough.
        raise Refused(dict.fromkeys(problems))
    return sized


def _summaries(sized: Sequence[SizedClaim]) -> str:
    from kubectl_llmfit.console.formats import as_json

    summaries = [summary(each) for each in sized]
    return as_json(summaries[0] if len(summaries) == 1 else summaries)


def _objects(sized: Sequence[SizedClaim], options: ObjectOptions, output: str) -> str:
    objects = [render_object(each, options) for each in sized]
    if output == "name":
        return "".join(
            f"{each['kind'].lower()}.resource.k8s.io/{each['metadata']['name']}\n"
            for each in objects
        )
    from kubectl_llmfit.console.formats import as_json

    if len(objects) == 1:
        return as_json(objects[0])
    # kubectl's own form for several objects of one call.
    return as_json({"apiVersion": "v1", "kind": "List", "items": objects})


def _yaml(
    sized: SizedClaim, request: ClaimRequest, options: ObjectOptions, math_source: str | None
) -> str:
    """One document with its comments; ``math_source`` names the catalog for the whole sum."""
    text = yaml.dump(render_object(sized, options))
    if math_source is None:
        return header(sized) + text
    from kubectl_llmfit.core.claims.math import show_math

    return header(sized) + comment(show_math(sized, request, math_source)) + text
