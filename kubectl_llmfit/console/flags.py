"""Flags that several commands share, and what they state as a layer of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kubectl_llmfit.console.completion import complete_quantization, one_of
from kubectl_llmfit.core import drivers
from kubectl_llmfit.core.request import TOPOLOGIES, Layer, Sourced

# Fields that empty text is no value of; for the others it means that they are not stated.
_NEVER_EMPTY = ("min_tps", "efficiency_pct", "quant")

AUTO = "auto"
SIZED_DRIVERS = tuple(
    driver.name for driver in drivers.DRIVERS if driver.uses_boards or driver is drivers.DEFAULT
)
DEVICE_CLASSES = tuple(
    name for driver in drivers.DRIVERS if driver.name in SIZED_DRIVERS for name in driver.classes
)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

# Flag by field of ClaimRequest, which is also click's name of the parameter.
_FLAGS = {
    "min_tps": "--min-tps",
    "efficiency_pct": "--efficiency",
    "driver": "--driver",
    "device_class": "--device-class",
    "quant": "--quant",
    "name": "--name",
    "count": "--count",
    "tensor_parallel": "--tensor-parallel",
    "pipeline_parallel": "--pipeline-parallel",
    "topology": "--topology",
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


def devices(command: Decorated) -> Decorated:
    """Which and how many devices: driver, class, counts, topology, and the user's own boards."""
    for decorate in reversed(
        (
            click.option(
                "--driver",
                help="DRA driver whose devices to ask for. One of: "
                f"({', '.join(SIZED_DRIVERS)}, {AUTO}). If empty, the one that ships the device "
                "class, else llmfit.ai. auto asks the cluster which driver publishes devices.",
                shell_complete=one_of((*SIZED_DRIVERS, AUTO)),
            ),
            click.option(
                "--device-class",
                help="DeviceClass to ask for. If empty, the driver's one for a whole accelerator.",
                shell_complete=one_of(DEVICE_CLASSES),
            ),
            click.option(
                "--count",
                help="Devices to ask for, from 1 to 32. If empty, as many as the model is split "
                "over.",
            ),
            click.option(
                "--tensor-parallel",
                metavar="N",
                help="Devices that each layer is split over, which divides memory and bandwidth. "
                "If empty, all of --count.",
            ),
            click.option(
                "--pipeline-parallel",
                metavar="N",
                help="Devices that take whole layers in turn, which divides memory only. If empty, "
                "1.",
            ),
            click.option(
                "--topology",
                help="What all devices have to share. One of: (pcie, numa). If empty, nothing: "
                "eight GPUs share no PCIe root, and a claim that asks for it would pend.",
                shell_complete=one_of(TOPOLOGIES),
            ),
        )
    ):
        command = decorate(command)
    return boards(command)


def boards(command: Decorated) -> Decorated:
    """``--boards``: files with boards of the user's own."""
    return click.option(
        "--boards",
        "board_files",
        multiple=True,
        metavar="FILE",
        help="YAML file with boards of your own, which win over the shipped ones. May be "
        "repeated; a later file wins.",
    )(command)


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
    """What the command line itself states of a request; defaults are not statements.

    Nor is empty text, where the help says what it stands for.
    """
    return {
        field: Sourced(ctx.params[field], flag)
        for field, flag in _FLAGS.items()
        if field in ctx.params
        and is_given(ctx, field)
        and (ctx.params[field] or field in _NEVER_EMPTY)
    }


def is_given(ctx: click.Context, parameter: str) -> bool:
    """Whether the parameter stands on the command line."""
    return ctx.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE
