"""Flags that say which workloads a command changes, how, and what it prints of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from kubectl_llmfit.cluster.api import CLIENT, DRY_RUNS, FIELD_MANAGER, NO_DRY_RUN, SERVER
from kubectl_llmfit.console import flags, formats
from kubectl_llmfit.console.completion import one_of
from kubectl_llmfit.console.flags import Decorated

SUFFIXES = {NO_DRY_RUN: "", CLIENT: " (dry run)", SERVER: " (server dry run)"}
"""What kubectl puts behind a message, by the value of --dry-run."""

STDIN = "-"

BARE = {"--dry-run": CLIENT}
"""What a flag means that stands without a value."""

# Flags, by their names in Python, that only one of the two ways of naming workloads knows.
_OF_FILES = {"recursive": "--recursive", "in_place": "--in-place", "backup": "--backup"}
_OF_CLUSTERS = {
    "selector": "--selector",
    "every": "--all",
    "dry_run": "--dry-run",
    "field_manager": "--field-manager",
    "force": "--force",
}
# What is printed is one thing, and --in-place prints nothing.
_EXCLUSIVE = (
    {
        "as_json": "--json",
        "output": "--output",
        "diff": "--diff",
        "in_place": "--in-place",
    },
    {"diff": "--diff", "dry_run": "--dry-run"},
    {"as_json": "--json", "show_sources": "--show-sources"},
)


def targets(command: Decorated) -> Decorated:
    """``TYPE/NAME...``, and -f, -k, -R, -l, --all, -n: which workloads."""
    return _decorated(
        command,
        click.argument("targets", metavar="[TYPE/NAME...]", nargs=-1),
        click.option(
            "-f",
            "--filename",
            "filenames",
            multiple=True,
            metavar="FILE",
            help="File or folder with manifests to change, or - for standard input. May be "
            "repeated.",
        ),
        click.option(
            "-k",
            "--kustomize",
            metavar="DIR",
            help="Folder with a kustomization, whose manifests to change.",
        ),
        click.option(
            "-R", "--recursive", is_flag=True, help="Also read the folders in a folder of -f."
        ),
        click.option(
            "-l", "--selector", help="Label selector: all workloads of TYPE that it matches."
        ),
        click.option(
            "--all", "every", is_flag=True, help="All workloads of TYPE in the namespace."
        ),
        click.option(
            "-n",
            "--namespace",
            help="Namespace of the workloads. If empty, that of the current context.",
        ),
    )


def writing(command: Decorated) -> Decorated:
    """``--dry-run`` and ``--field-manager``: how the cluster is written to."""
    return _decorated(
        command,
        click.option(
            "--dry-run",
            default=NO_DRY_RUN,
            help="Change nothing in the cluster. One of: (none, client, server).",
            shell_complete=one_of(DRY_RUNS),
        ),
        click.option(
            "--field-manager",
            default=FIELD_MANAGER,
            help="Name of the manager that owns the changed fields.",
        ),
    )


def files(command: Decorated) -> Decorated:
    """``--in-place`` and ``--backup``: how files are written."""
    return _decorated(
        command,
        click.option(
            "-i", "--in-place", is_flag=True, help="Change the files instead of printing them."
        ),
        click.option(
            "--backup",
            default="",
            help="With --in-place, keep the old file under its name and this suffix.",
        ),
    )


def printing(command: Decorated) -> Decorated:
    """``--output`` and ``--diff``: what is printed of the workloads."""
    return _decorated(
        command,
        click.option(
            "-o",
            "--output",
            help="Print the workloads as they are then, instead of messages. One of: "
            f"({', '.join(formats.OBJECT_FORMATS)}).",
            shell_complete=one_of(formats.OBJECT_FORMATS),
        ),
        click.option(
            "--diff",
            is_flag=True,
            help="Show what would change, as kubectl diff does, and change nothing. The exit code "
            "is 0 without a difference, 1 with one, and larger after an error. "
            "KUBECTL_EXTERNAL_DIFF names another program than diff.",
        ),
    )


def with_standard_input(
    named: Sequence[str], given: Mapping[str, Any]
) -> tuple[Sequence[str], dict[str, Any]]:
    """The command line with a lone ``-`` read as ``-f -``."""
    if tuple(named) != (STDIN,):
        return named, dict(given)
    return (), {**given, "filenames": (*given["filenames"], STDIN)}


def check(ctx: click.Context, named: Sequence[str], given: Mapping[str, Any]) -> None:
    """Raises what is wrong with how the flags of this module stand together.

    Raises:
        click.UsageError: workloads are named in two ways or none, or flags exclude each other.
        Refused: a value is none of the flag's.
    """
    if given["filenames"] and given["kustomize"]:
        raise click.UsageError("-f and -k exclude each other", ctx)
    in_files = bool(given["filenames"] or given["kustomize"])
    if bool(named) == in_files:
        raise click.UsageError("name workloads as TYPE/NAME, or files with -f or -k", ctx)
    # A flag that would do nothing is a mistake: a dry run of -f -i would write all the same.
    if in_files:
        _check_absent(ctx, _OF_CLUSTERS, "TYPE/NAME")
    if not given["filenames"]:
        _check_absent(ctx, _OF_FILES, "-f")
    for together in _EXCLUSIVE:
        found = [flag for field, flag in together.items() if flags.is_given(ctx, field)]
        if len(found) > 1:
            listed = f"{', '.join(found[:-1])} and {found[-1]}"
            raise click.UsageError(f"{listed} exclude each other", ctx)
    if given["backup"] and not given["in_place"]:
        raise click.UsageError("--backup goes with --in-place only", ctx)
    formats.check_one_of("--dry-run", given["dry_run"], DRY_RUNS)
    formats.check(given["output"], formats.OBJECT_FORMATS)


def words(
    ctx: click.Context, named: Sequence[str], given: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """What to ask kubectl for, one workload or one selection at a time."""
    selecting = [f"--selector={given['selector']}"] if given["selector"] else []
    if selecting or given["every"]:
        if any("/" in target for target in named):
            raise click.UsageError("-l and --all go with a TYPE, not with names", ctx)
        return [(target, *selecting) for target in named]
    if any("/" in target for target in named):
        if not all(target.count("/") == 1 and all(target.split("/")) for target in named):
            raise click.UsageError("name every workload as TYPE/NAME", ctx)
        return [(target,) for target in named]
    kind, *names = named
    if not names:
        raise click.UsageError(f"name workloads of {kind}, or select them with -l or --all", ctx)
    return [(f"{kind}/{name}",) for name in names]


def _check_absent(ctx: click.Context, others: Mapping[str, str], partner: str) -> None:
    wrong = [flag for field, flag in others.items() if flags.is_given(ctx, field)]
    if wrong:
        verb = "goes" if len(wrong) == 1 else "go"
        raise click.UsageError(f"{', '.join(wrong)} {verb} with {partner} only", ctx)


def _decorated(command: Decorated, *decorators: Any) -> Decorated:
    for decorate in reversed(decorators):
        command = decorate(command)
    return command
