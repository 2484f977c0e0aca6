"""What a shell is offered for a flag or an argument; the catalog is read only when it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import click

from kubectl_llmfit.core.sizing import quantization

MAX_CHOICES = 200
"""A shell that is handed thousands of names asks before it shows any; the start is enough."""


def one_of(words: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """A completion that offers those of ``words`` that go on from what is typed."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def complete_model(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of models that start with what is typed, without case."""
    from kubectl_llmfit.catalog import Catalog
    from kubectl_llmfit.core.reasons import Refused

    try:
        catalog = Catalog.open(ctx.params.get("catalog_files") or ())
    except Refused:
        catalog = Catalog()
    return list(islice(catalog.starting_with(incomplete), MAX_CHOICES))


def complete_quantization(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Names of quantizations that start with what is typed, without case."""
    typed = incomplete.lower()
    return [entry.name for entry in quantization.TABLE if entry.name.lower().startswith(typed)]
