"""``kubectl llmfit completion``: puts the executable that kubectl asks for choices on PATH.

krew links one executable of a plugin, so completion needs a second one put there by hand; this
is the hand.
"""

from __future__ import annotations

import os
import tempfile

import click

from kubectl_llmfit.console import streams
from kubectl_llmfit.console.command import KubectlCommand, KubectlGroup
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Refused, quoted, refuse

EXECUTABLE = "kubectl_complete-llmfit"
PLUGIN = "kubectl-llmfit"
_MARK = "# Written by `kubectl llmfit completion install`."
_SCRIPT = f'#!/bin/sh\n{_MARK}\nexec {PLUGIN} __complete "$@"\n'

group = KubectlGroup(
    name="completion",
    help="Put shell completion for kubectl llmfit on PATH, or take it away.\n\n"
    "Completion of kubectl itself has to be set up in your shell: see `kubectl completion --help`.",
    modules={
        "install": ("kubectl_llmfit.commands.completion:install", "Put completion on PATH"),
        "uninstall": ("kubectl_llmfit.commands.completion:uninstall", "Take it away again"),
    },
)

_folder = click.option(
    "--dir",
    "folder",
    metavar="DIR",
    help="Folder of PATH to use. If empty, the one that holds kubectl-llmfit.",
    type=click.Path(),
)


@click.command(
    cls=KubectlCommand,
    examples="""
        # Complete commands, flags and models behind `kubectl llmfit`
        kubectl llmfit completion install

        # The same, in a folder of your choice
        kubectl llmfit completion install --dir ~/.local/bin
    """,
)
@_folder
def install(folder: str | None) -> None:
    """Write the executable that kubectl asks for choices, beside kubectl-llmfit."""
    path = _path(folder)
    if os.path.lexists(path) and not _is_ours(path):
        if folder is None:
            # An installation by pip brings an executable of its own.
            streams.write(f"{path} is there already\n")
            return
        raise refuse(
            reasons.CANNOT_WRITE,
            f"{path} exists and was not written by this command; remove it or give another --dir",
        )
    try:
        _write(path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    streams.write(f"{path} installed\n")


@click.command(
    cls=KubectlCommand,
    examples="""
        # Take completion away again
        kubectl llmfit completion uninstall
    """,
)
@_folder
def uninstall(folder: str | None) -> None:
    """Remove the executable that `completion install` wrote; another one of the name stays."""
    path = _path(folder)
    if not os.path.lexists(path):
        streams.write(f"{path} is not there\n")
        return
    if not _is_ours(path):
        raise refuse(
            reasons.CANNOT_WRITE, f"{path} was not written by `completion install`; it stays"
        )
    try:
        os.unlink(path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    streams.write(f"{path} removed\n")


def _path(folder: str | None) -> str:
    if folder is not None:
        return os.path.join(folder, EXECUTABLE)
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if place and os.access(os.path.join(place, PLUGIN), os.X_OK):
            return os.path.join(place, EXECUTABLE)
    raise refuse(
        reasons.CANNOT_WRITE, f"{PLUGIN} is in no folder of PATH; name a folder of it with --dir"
    )


def _is_ours(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _MARK in file.read(len(_SCRIPT) + 1)
    except OSError:
        return False


def _write(path: str) -> None:
    """Writes the script in one step, so that kubectl never runs half of one."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=f".{EXECUTABLE}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(_SCRIPT)
        os.chmod(temporary, 0o755)  # noqa: S103 - a program for every user of the folder
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _cannot_write(path: str, error: OSError) -> Refused:
    folder = quoted(os.path.dirname(path) or ".")
    return refuse(
        reasons.CANNOT_WRITE,
        f"cannot change {path}: {error.strerror}; make {folder} writable or give another --dir",
    )
