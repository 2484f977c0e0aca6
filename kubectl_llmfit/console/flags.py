"""Flags that several commands share, and what they state as a layer of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kubectl_llmfit.console.completion import complete_quantization
from kubectl_llmfit.core.request import Layer, Sourced

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# Flag by field of ClaimRequest, which is also click's name of the parameter.
_FLAGS = {
    "min_tps": "--min-tps",
    "efficiency_pct": "--efficiency",
    "device_class": "--device-class",
    "quant": "--quant",
    "name": "--name",
}


def sizing(command: Decorated) -> Decorated:
    """``--quant``, ``--min-tps`` and ``--efficiency``: what a model is sized for."""
    for decorate in reversed(
        (
            click.option(
                "--quant",
                metavar="NAME",
                help="Quantization to size for instead of the model's own. Case does not count.",
                shell_complete=complete_quantization,
            ),
            click.option(
                "--min-tps",
                default="20",
                help="Decode speed to ask for, in tokens a second of one stream.",
            ),
            click.option(
                "--efficiency",
                "efficiency_pct",
                default="55",
                help="Share of the peak memory bandwidth that the engine reaches, in percent "
                "from 1 to 100.",
            ),
        )
    ):
        command = decorate(command)
    return command


def catalog(command: Decorated) -> Decorated:
    """``--catalog``: files with models of the user's own."""
    return click.option(
        "--catalog",
        "catalog_files",
        multiple=True,
        metavar="FILE",
        help="YAML file with models of your own, which win over the shipped ones. May be "
        "repeated; a later file wins.",
    )(command)


def layer(ctx: click.Context) -> Layer:
    """What the command line itself states of a request; defaults are not statements."""
    return {
        field: Sourced(ctx.params[field], flag)
        for field, flag in _FLAGS.items()
        if field in ctx.params and is_given(ctx, field)
    }


def is_given(ctx: click.Context, parameter: str) -> bool:
    """Whether the parameter stands on the command line."""
    return ctx.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE
