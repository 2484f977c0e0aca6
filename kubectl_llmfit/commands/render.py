"""``kubectl llmfit render``: from a model's name to the claim that fits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.console import flags, streams
from kubectl_llmfit.console.command import KubectlCommand
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.labels import parse_labels
from kubectl_llmfit.core.claims.names import label_problems
from kubectl_llmfit.core.claims.objects import API_VERSIONS, V1
from kubectl_llmfit.core.claims.render import (
    ObjectOptions,
    object_name,
    render,
    render_object,
    summary,
)
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, quoted
from kubectl_llmfit.core.request import ClaimRequest, merge
from kubectl_llmfit.core.sizing.formula import ClaimTarget

T = TypeVar("T")

FORMATS = ("yaml", "json", "name")


@click.command(
    cls=KubectlCommand,
    short_help="Print the claim that fits a model",
    examples="""
        # Print a ResourceClaim for a model
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct

        # Create it
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct | kubectl apply -f -

        # Ask for 40 tokens a second with 8-bit weights, as a template for pods
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --quant Q8_0 --min-tps 40 --template

        # Print the numbers for a program
        kubectl llmfit render Qwen/Qwen2.5-7B-Instruct --json

        # Several models in one stream, for a namespace and with a label
        kubectl llmfit render Qwen/Qwen2.5-7B Qwen/Qwen2.5-14B -n llm --labels app=chat
    """,
)
@click.argument("models", metavar="MODEL...", nargs=-1, shell_complete=complete_model)
@flags.sizing
@click.option("--device-class", default="llmfit.ai", help="DeviceClass to ask for.")
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
@flags.catalog
@click.pass_context
def command(ctx: click.Context, /, models: Sequence[str], **given: Any) -> None:
    """Print the ResourceClaim or ResourceClaimTemplate whose CEL selector fits a model.

    The selector holds a memory floor and a memory bandwidth floor, sized for the model's weights
    and for the speed asked for. The comments above the object show the sums. Nothing is sent to
    a cluster.

    MODEL is a model's exact name, or a part of it that no other name has.
    """
    if not models:
        raise click.UsageError("MODEL is missing; name at least one model", ctx)
    if given["as_summary"] and flags.is_given(ctx, "output"):
        raise click.UsageError("--json and --output exclude each other", ctx)
    request, options = _read(ctx, given)
    target = request.target(template=given["template"])
    resolved = _resolve(Catalog.open(given["catalog_files"]), models, target)
    if given["as_summary"]:
        text = _summaries(resolved, target)
    else:
        text = _objects(resolved, target, options, given["output"])
    _warn_of_foreign_class(target.device_class)
    streams.write(text)


def _read(ctx: click.Context, given: dict[str, Any]) -> tuple[ClaimRequest, ObjectOptions]:
    """The request and the object's options, or every flag that is wrong at once."""
    problems: list[Problem] = []
    request: ClaimRequest | None = None
    labels: dict[str, str] = {}
    try:
        request = merge(flags.layer(ctx))
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
    if problems or request is None:
        raise Refused(problems)
    return request, ObjectOptions(namespace, labels, given["api_version"])


def _resolve(catalog: Catalog, selectors: Sequence[str], target: ClaimTarget) -> list[Model]:
    """The models, or every one that is unknown or shares its object's name with another."""
    problems: list[Problem] = []
    resolved: dict[str, Model] = {}
    for selector in selectors:
        try:
            model = catalog.resolve(selector)
        except Refused as refused:
            problems += refused.problems
            continue
        name = object_name(model, target)
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


def _summaries(models: list[Model], target: ClaimTarget) -> str:
    from kubectl_llmfit.console.formats import as_json

    summaries = _all(models, lambda model: summary(model, target))
    return as_json(summaries[0] if len(summaries) == 1 else summaries)


def _objects(models: list[Model], target: ClaimTarget, options: ObjectOptions, output: str) -> str:
    if output == "yaml":
        return yaml.dump_all(_all(models, lambda model: render(model, target, options)))
    objects = _all(models, lambda model: render_object(model, target, options))
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


def _all(models: list[Model], one: Callable[[Model], T]) -> list[T]:
    """``one`` of every model, or the problems of all that have any."""
    results: list[T] = []
    problems: list[Problem] = []
    for model in models:
        try:
            results.append(one(model))
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(problems)
    return results


def _warn_of_foreign_class(device_class: str) -> None:
    if drivers.for_device_class(device_class) is None:
        streams.warn(
            f"device class {device_class} is not one of the driver llmfit.ai, but the selector "
            "reads what llmfit.ai publishes: devices of another driver will not match"
        )
