"""Shell completion: kubectl's protocol, and what is offered for a flag or an argument.

kubectl runs an executable named ``kubectl_complete-llmfit`` with the words typed so far, the last
one unfinished, and reads choices, one a line, then ``:N`` with cobra's directive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import click

from kubectl_llmfit.console import streams
from kubectl_llmfit.core.sizing import quantization

COMPLETE = "__complete"
"""First word of the command line with which the executable asks us."""

MAX_CHOICES = 200
"""A shell that is handed thousands of names asks before it shows any; the start is enough."""


# Directives of cobra's completion protocol.
_DEFAULT = 0
_NO_FILES = 4
_FILE_FLAGS = ("--catalog", "--boards", "-f", "--filename", "-k", "--kustomize")


def complete(program: click.Command, words: Sequence[str]) -> None:
    """Prints the choices for the last of ``words`` behind ``program``."""
    from click.shell_completion import ShellComplete

    *typed, incomplete = words or ("",)
    items = ShellComplete(program, {}, "", "").get_completions(list(typed), incomplete)
    lines = [
        f"{item.value}\t{_first_sentence(item.help)}" if item.help else item.value
        for item in items
        if item.type == "plain"
    ]
    wants_a_file = typed[-1:] in [[flag] for flag in _FILE_FLAGS] or incomplete.startswith(
        tuple(f"{flag}=" for flag in _FILE_FLAGS)
    )
    directive = _DEFAULT if wants_a_file else _NO_FILES
    streams.write("".join(f"{line}\n" for line in [*lines, f":{directive}"]))


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


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
