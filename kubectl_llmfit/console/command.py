"""click commands that show help in kubectl's form and take kubectl's habits.

kubectl prints the description, ``Examples:``, ``Options:`` with each default beside the flag,
then ``Usage:``; and a usage error is one ``error:`` line with a pointer to the help.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "kubectl llmfit"
_WIDTH = 96
# Key of a context's meta: an unknown command stands before what is to be completed.
_UNKNOWN = "kubectl_llmfit.unknown_command"


class KubectlCommand(click.Command):
    """A command whose help has kubectl's form; ``examples`` are the lines below that head."""

    def __init__(
        self, *args: Any, examples: str = "", bare: Mapping[str, str] | None = None, **kwargs: Any
    ) -> None:
        """``bare``: what a flag means that stands without a value; it never takes the next word."""
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)
        self.examples = inspect.cleandoc(examples)
        self.bare = dict(bare or {})

    def get_help(self, ctx: click.Context) -> str:
        """The whole help text, without a newline at its end."""
        usage = " ".join([ctx.command_path, *self.collect_usage_pieces(ctx)])
        sections = [
            _paragraphs(self.help or ""),
            _block("Examples:", self.examples.splitlines()),
            _block("Options:", _options(self, ctx)),
            _block("Usage:", [usage]),
        ]
        return "\n\n".join(section for section in sections if section)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, but every usage error knows the command whose help explains it."""
        valued = [f"{each}={self.bare[each]}" if each in self.bare else each for each in args]
        try:
            return super().parse_args(ctx, valued)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Arguments first and ``[options]`` last, as kubectl has them."""
        pieces = [
            piece for parameter in self.get_params(ctx) for piece in parameter.get_usage_pieces(ctx)
        ]
        return [*pieces, "[options]"]


class KubectlGroup(click.Group):
    """A group whose commands are imported when they are used, in the order they are given."""

    def __init__(self, *args: Any, modules: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        """``modules``: command name → (module and attribute as ``module:attribute``, summary)."""
        kwargs.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **kwargs)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands' names, in the order of the help."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called ``cmd_name``, imported now."""
        if cmd_name not in self.modules:
            return None
        module, _, attribute = self.modules[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def get_help(self, ctx: click.Context) -> str:
        """The whole help text, without a newline at its end."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        commands = [f"{name.ljust(width)}   {self.modules[name][1]}" for name in names]
        sections = [
            _paragraphs(self.help or ""),
            _block("Available Commands:", commands),
            _block("Usage:", [f"{ctx.command_path} COMMAND [options]"]),
            f'Use "{ctx.command_path} COMMAND --help" for more information about a given command.',
        ]
        return "\n\n".join(sections)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands with their summaries, without importing any; else the group's own flags."""
        from click.shell_completion import CompletionItem

        if _UNKNOWN in ctx.meta:
            return []
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=summary)
            for name, (_, summary) in self.modules.items()
            if name.startswith(incomplete)
        ]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's, but an unknown command's message names the program, as kubectl does."""
        name = args[0]
        if name not in self.modules and ctx.resilient_parsing:
            ctx.meta[_UNKNOWN] = name
        elif name not in self.modules and not name.startswith("-"):
            raise click.UsageError(f'unknown command "{name}" for "{ctx.command_path}"', ctx)
        return super().resolve_command(ctx, args)


def _paragraphs(text: str) -> str:
    blocks = inspect.cleandoc(text).split("\n\n")
    wrapped = ["\n".join(f" {line}" for line in _wrapped(block, _WIDTH - 1)) for block in blocks]
    return "\n\n".join(wrapped).lstrip()


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([head, *(f"  {line}".rstrip() for line in lines)]) if lines else ""


def _options(command: click.Command, ctx: click.Context) -> list[str]:
    lines: list[str] = []
    for parameter in command.get_params(ctx):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            short = next((name for name in parameter.opts if not name.startswith("--")), None)
            long = next(name for name in parameter.opts if name.startswith("--"))
            flags = f"{short}, {long}" if short else f"    {long}"
            lines += [f"{flags}={_default(parameter, ctx)}:", *_indented(parameter.help or ""), ""]
    return lines[:-1]


def _default(option: click.Option, ctx: click.Context) -> str:
    """The default in kubectl's spelling: ``false``, ``[]``, ``''``, a number or quoted text."""
    if option.is_flag:
        return "false"
    if option.multiple:
        return "[]"
    value = option.get_default(ctx)
    text = value if isinstance(value, str) else ""
    return text if text.isdigit() else f"'{text}'"


def _indented(text: str) -> list[str]:
    return [f"      {line}" for line in _wrapped(text, _WIDTH - 8)]


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap  # only help needs it

    return textwrap.wrap(" ".join(text.split()), width)
