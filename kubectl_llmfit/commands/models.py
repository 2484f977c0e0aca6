"""``kubectl llmfit models``: searching the catalog, and everything known of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.facts import FACTS, Fact
from kubectl_llmfit.catalog.found import facts_and_claim
from kubectl_llmfit.console import flags, formats, streams
from kubectl_llmfit.console.command import KubectlCommand, KubectlGroup
from kubectl_llmfit.console.completion import complete_model, one_of
from kubectl_llmfit.console.formats import as_json, as_yaml
from kubectl_llmfit.console.table import table
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.claims.render import summary
from kubectl_llmfit.core.claims.sized import size_claim
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, quoted, refuse
from kubectl_llmfit.core.request import merge
from kubectl_llmfit.core.sizing.formula import ClaimTarget

FORMATS = ("wide", "json", "yaml", "name")
_DEFAULT_LIMIT = 20
_UNKNOWN = "<unknown>"
_NONE = "<none>"

# What `info -o wide` sizes a model for: from full precision down to what still runs.
_LADDER = ("F16", "FP8", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "AWQ-4bit", "Q3_K_M", "Q2_K")

group = KubectlGroup(
    name="models",
    help="Search the catalog of models and show what is known of one.",
    modules={
        "search": ("kubectl_llmfit.commands.models:search", "List models by a part of their name"),
        "info": ("kubectl_llmfit.commands.models:info", "Show every fact of a model"),
    },
)

_output = click.option(
    "-o",
    "--output",
    help=f"Output format. One of: ({', '.join(FORMATS)}). If empty, text for people.",
    shell_complete=one_of(FORMATS),
)


@click.command(
    cls=KubectlCommand,
    examples="""
        # List models whose names hold both words
        kubectl llmfit models search qwen2.5 instruct

        # All of them, names only
        kubectl llmfit models search qwen2.5 --limit 0 -o name
    """,
)
@click.argument("words", metavar="WORD...", nargs=-1)
@click.option("--limit", default="20", help="Greatest number of models to list; 0 lists all.")
@click.option("--no-headers", is_flag=True, help="Leave out the line of column heads.")
@_output
@flags.catalog
@click.pass_context
def search(
    ctx: click.Context,
    /,
    words: Sequence[str],
    limit: str,
    no_headers: bool,
    output: str | None,
    catalog_files: Sequence[str],
) -> None:
    """List the models whose names hold every WORD, the best match first. Case does not count.

    Each is shown with the claim that it gets by default: 20 tokens a second at 55 % efficiency.
    """
    if not words:
        raise click.UsageError("WORD is missing; give a part of a name", ctx)
    formats.check(output, FORMATS)
    most = _limit(limit)
    found = Catalog.open(catalog_files).search(words)
    shown = found[:most] if most else found
    if output in ("json", "yaml"):
        data = {"total": len(found), "models": [facts_and_claim(each) for each in shown]}
        streams.write(as_json(data) if output == "json" else as_yaml(data))
    elif output == "name":
        streams.write("".join(f"{model.name}\n" for model in shown))
    elif shown:
        streams.write(_table(shown, wide=output == "wide", headers=not no_headers))
    if not found:
        streams.note(f"No models found whose names hold {' and '.join(map(quoted, words))}.")
    elif len(shown) < len(found):
        streams.note(f"{len(shown)} of {len(found)} models shown; --limit 0 shows all.")


@click.command(
    cls=KubectlCommand,
    examples="""
        # Show every fact of a model and its claim
        kubectl llmfit models info Qwen/Qwen2.5-7B-Instruct

        # Its claim at another speed, and how other quantizations compare
        kubectl llmfit models info Qwen/Qwen2.5-7B-Instruct --min-tps 50 -o wide
    """,
)
@click.argument("models", metavar="MODEL...", nargs=-1, shell_complete=complete_model)
@flags.sizing
@_output
@flags.catalog
@click.pass_context
def info(
    ctx: click.Context,
    /,
    models: Sequence[str],
    output: str | None,
    catalog_files: Sequence[str],
    **_sizing: Any,
) -> None:
    """Show every fact that the catalog has of a model, with its unit, and the claim that follows.

    The facts of -o yaml have the form of an entry in a file for --catalog.
    """
    if not models:
        raise click.UsageError("MODEL is missing; name at least one model", ctx)
    formats.check(output, FORMATS)
    target = merge(flags.layer(ctx)).target()
    catalog = Catalog.open(catalog_files)
    resolved = _resolve_all(catalog, models)
    data = [facts_and_claim(model, target) for model in resolved]
    if output == "json":
        streams.write(as_json(data[0] if len(data) == 1 else data))
    elif output == "yaml":
        streams.write(yaml.dump_all([as_yaml(each) for each in data]))
    elif output == "name":
        streams.write("".join(f"{model.name}\n" for model in resolved))
    else:
        pages = [_page(model, target, wide=output == "wide") for model in resolved]
        streams.write("\n\n".join(pages))


def _resolve_all(catalog: Catalog, selectors: Sequence[str]) -> list[Model]:
    resolved: list[Model] = []
    problems: list[Problem] = []
    for selector in selectors:
        try:
            resolved.append(catalog.resolve(selector))
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(problems)
    return resolved


def _table(models: Sequence[Model], *, wide: bool, headers: bool) -> str:
    heads = ["NAME", "PARAMS", "QUANT", "WEIGHTS", "MEMORY", "BANDWIDTH", "CONTEXT"]
    if wide:
        heads += ["LAYERS", "KV-HEADS", "HEAD-DIM", "EXPERTS", "ARCHITECTURE", "FORMAT"]
    return table(heads, [_row(model, wide=wide) for model in models], headers=headers)


def _row(model: Model, *, wide: bool) -> list[str]:
    row = [model.name, f"{model.parameters_billion:.3g}B", model.quantization]
    try:
        row += _claim_cells(model, ClaimTarget())
    except Refused:
        row += [_UNKNOWN] * 3
    row.append(_cell(model.context_length))
    if wide:
        row += [
            _cell(model.layers),
            _cell(model.kv_heads),
            _cell(model.head_dim),
            _cell(model.experts) if model.is_moe else _NONE,
            _cell(model.architecture),
            _cell(model.format),
        ]
    return row


def _claim_cells(model: Model, target: ClaimTarget) -> list[str]:
    claim = summary(size_claim(model, target))
    return [
        f"{claim['weightsGb']:g}GB",
        f"{claim['memoryGi']}Gi",
        f"{claim['minBandwidthGBs']}GB/s",
    ]


def _page(model: Model, target: ClaimTarget, *, wide: bool) -> str:
    """A model as ``kubectl describe`` would show it."""
    lines = [f"{fact.title}:\t{_valued(model, fact)}" for fact in FACTS]
    lines.append(f"Claim at {target.min_tps:g} tok/s and {target.efficiency_pct}% efficiency:")
    try:
        claim = summary(size_claim(model, target))
    except Refused as refused:
        lines.append(f"  None:\t{refused.problems[0]}")
    else:
        lines += [
            f"  Name:\t{claim['claimName']}",
            f"  DeviceClass:\t{claim['deviceClass']}",
            f"  Quantization:\t{claim['quant']}",
            f"  Weights:\t{claim['weightsGb']:g} GB",
            f"  Memory:\t{claim['memoryGi']} Gi or more",
            f"  Bandwidth:\t{claim['minBandwidthGBs']} GB/s or more",
        ]
    page = _aligned(lines)
    return page + _ladder(model, target) if wide else page


def _ladder(model: Model, target: ClaimTarget) -> str:
    rows = []
    for quant in _LADDER:
        sized = ClaimTarget(target.min_tps, target.efficiency_pct, quant=quant)
        rows.append([f"  {quant}", *_claim_cells(model, sized)])
    heads = ["  QUANT", "WEIGHTS", "MEMORY", "BANDWIDTH"]
    return "Other quantizations:\n" + table(heads, rows)


def _aligned(lines: Sequence[str]) -> str:
    """Labels and values in two columns, split at the tab."""
    width = max(len(line.partition("\t")[0]) for line in lines if "\t" in line) + 2
    aligned = []
    for line in lines:
        label, tab, value = line.partition("\t")
        aligned.append(f"{label.ljust(width)}{value}\n" if tab else f"{label}\n")
    return "".join(aligned)


def _cell(value: Any) -> str:
    return _UNKNOWN if value is None else str(value)


def _valued(model: Model, fact: Fact) -> str:
    """A fact's value with its unit; a dense model has no experts, which is known."""
    value = getattr(model, fact.attribute)
    if value is None:
        return _NONE if fact.moe_only and not model.is_moe else _UNKNOWN
    return f"{value} {fact.unit}" if fact.unit else str(value)


def _limit(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return int(text)
    raise refuse(reasons.INVALID_VALUE, f"--limit: {quoted(text)} is not a whole number from 0 up")
