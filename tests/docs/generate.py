"""The documents that are made from the code: what it refuses, tells, knows, and can be set to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click

from kubectl_llmfit.cli import cli
from kubectl_llmfit.console.command import PROGRAM
from kubectl_llmfit.core import reasons as reasons_of_the_code
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.sizing import quantization
from tests.docs import webhook

FOLDER = Path(__file__).parents[2] / "docs"
_HEAD = "<!-- Made from the code by `./dev docs`; edits to this file are lost. -->\n\n"


def contexts(
    command: click.Command = cli, name: str = PROGRAM, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """A context for ``command`` and for every visible one below it, in the order of the help."""
    context = click.Context(command, parent, name, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for child_name in command.list_commands(context):
            child = command.get_command(context, child_name)
            assert child is not None
            yield from contexts(child, child_name, context)


def commands() -> str:
    """Each command's help."""
    sections = [
        f"## {context.command_path}\n\n```text\n{context.command.get_help(context)}\n```\n"
        for context in contexts()
    ]
    lead = "# Commands\n\nWhat `--help` prints, command by command.\n"
    return _HEAD + "\n".join([lead, *sections])


def reasons() -> str:
    """Every reason for a refusal."""
    lead = (
        "# Reasons\n\n"
        "Every refusal ends with a token in parentheses. The token is stable: programs may rely\n"
        "on it, and this table says what it means. All that is wrong with a call is listed at\n"
        "once, one line each, on standard error; the exit code is 1, with `--diff` 2.\n\n"
    )
    rows = [(f"`{each.token}`", each.meaning, each.remedy) for each in reasons_of_the_code.ALL]
    return _HEAD + lead + _table(("token", "meaning", "what to do"), rows)


def consequences() -> str:
    """Everything that patch may have to tell."""
    lead = (
        "# Consequences\n\n"
        "What `patch`, `restore` and the webhook have to tell beside what they were asked for is\n"
        "a warning that ends with a token in parentheses; nothing is refused for it. The token is\n"
        "stable, and `--json` shows the same one. In a cluster, `patch` tells all of it before it\n"
        "changes anything.\n\n"
    )
    rows = [(f"`{each.token}`", each.meaning, each.remedy) for each in effects.ALL]
    return _HEAD + lead + _table(("token", "meaning", "what to do"), rows)


def quantizations() -> str:
    """Every quantization with the size that it is taken for, and other spellings."""
    lead = (
        "# Quantizations\n\n"
        "The names that `--quant` and a model's entry may have, without regard to case, and the\n"
        "bytes that a parameter takes on average over the whole model. A name that is not here\n"
        "is refused, because its size would be a guess.\n\n"
    )
    rows = [
        (f"`{each.name}`", f"{each.bytes_per_parameter:g}", each.source)
        for each in quantization.TABLE
    ]
    aliases = [(f"`{alias}`", f"`{name}`") for alias, name in quantization.ALIASES.items()]
    return (
        _HEAD
        + lead
        + _table(("name", "bytes per parameter", "source"), rows)
        + "\n## Other spellings\n\n"
        + _table(("spelling", "taken for"), aliases)
    )


def webhook_reference() -> str:
    """Settings, metrics and decisions of the webhook."""
    return (
        _HEAD
        + webhook.LEAD
        + _table(("flag", "environment", "default", "meaning"), webhook.setting_rows())
        + webhook.METRICS
        + _table(("metric", "type", "labels", "meaning"), webhook.metric_rows())
        + webhook.DECISIONS
        + _table(("decision", "meaning"), webhook.decision_rows())
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )


DOCUMENTS: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "reasons.md": reasons,
    "consequences.md": consequences,
    "quantizations.md": quantizations,
    "webhook-reference.md": webhook_reference,
}
