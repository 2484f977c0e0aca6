"""``__complete``: what kubectl asks when a user presses Tab behind ``kubectl llmfit``.

kubectl runs an executable named ``kubectl_complete-llmfit`` with the words typed so far, the last
one unfinished, and reads choices, one a line, then ``:N`` with cobra's directive.
"""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.shell_completion import ShellComplete

from kubectl_llmfit.console import streams
from kubectl_llmfit.console.command import PROGRAM

# Directives of cobra's completion protocol.
_DEFAULT = 0
_NO_FILES = 4


@click.command(context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, words: Sequence[str]) -> None:
    """Print the choices for the last of ``words``."""
    *typed, incomplete = words or ("",)
    shell = ShellComplete(ctx.find_root().command, {}, PROGRAM, "")
    items = shell.get_completions(list(typed), incomplete)
    lines = [
        f"{item.value}\t{_first_sentence(item.help)}" if item.help else item.value
        for item in items
        if item.type == "plain"
    ]
    wants_a_file = typed[-1:] == ["--catalog"] or incomplete.startswith("--catalog=")
    directive = _DEFAULT if wants_a_file else _NO_FILES
    streams.write("".join(f"{line}\n" for line in [*lines, f":{directive}"]))


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")
