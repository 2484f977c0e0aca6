"""The lines below ``Examples:`` in every command's help."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_llmfit.console.command import KubectlCommand
from tests.docs.blocks import Step
from tests.docs.generate import contexts


@dataclass(frozen=True)
class Example:
    """One example, and the command whose help shows it."""

    shown_by: str
    step: Step


def examples() -> list[Example]:
    """Every example of every visible command, in the order of the help."""
    return [
        Example(context.command_path, Step(line, None))
        for context in contexts()
        if isinstance(context.command, KubectlCommand)
        for line in context.command.examples.splitlines()
        if line and not line.startswith("#")
    ]
