"""Help in kubectl's form: description, examples, options with defaults, usage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kubectl_llmfit.cli import cli
from tests.unit.commandline import MODEL, Run

Words = tuple[str, ...]


def walk(command: click.Command, words: Words = ()) -> Iterator[tuple[Words, bool]]:
    """Every command and group by the words that lead to it, and whether it is a group."""
    is_group = isinstance(command, click.Group)
    yield words, is_group
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            yield from walk(below, (*words, name))


COMMANDS = [words for words, is_group in walk(cli) if not is_group]
GROUPS = [words for words, is_group in walk(cli) if is_group]


def test_the_documented_commands_are_there() -> None:
    assert {
        ("render",),
        ("models", "search"),
        ("models", "info"),
        ("completion", "install"),
        ("completion", "uninstall"),
        ("version",),
    } <= set(COMMANDS)


def joined(words: Words) -> str:
    return " ".join(("kubectl", "llmfit", *words))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_commands_help_has_kubectls_sections_in_order(run: Run, command: Words) -> None:
    text = run(*command, "--help").stdout()
    heads = re.findall(r"^(Examples|Options|Usage):$", text, re.MULTILINE)
    assert heads == ["Examples", "Options", "Usage"]
    assert re.search(rf"^Usage:\n  {joined(command)}\b.* \[options\]\n\Z", text, re.MULTILINE)
    assert re.match(r"[A-Z].*\.\n", text)


@pytest.mark.parametrize("group", GROUPS, ids=lambda words: " ".join(words) or "program")
def test_a_groups_help_lists_its_commands(run: Run, group: Words) -> None:
    text = run(*group, "--help").stdout()
    heads = re.findall(r"^([A-Z][A-Za-z ]*):$", text, re.MULTILINE)
    assert heads == ["Available Commands", "Usage"]
    listed = text.partition("Available Commands:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()]
    expected = dict.fromkeys(
        command[len(group)] for command in COMMANDS if command[: len(group)] == group
    )
    assert sorted(names) == sorted(expected)
    assert f'Use "{joined(group)} COMMAND --help" for more information' in text


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPS], ids=lambda words: " ".join(words) or "-")
def test_the_short_flag_shows_the_same_help(run: Run, command: Words) -> None:
    assert run(*command, "-h").stdout() == run(*command, "--help").stdout()


@pytest.mark.parametrize("group", GROUPS, ids=lambda words: " ".join(words) or "program")
def test_no_command_shows_the_help(run: Run, group: Words) -> None:
    assert run(*group).stdout() == run(*group, "--help").stdout()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_shows_its_default_beside_it(run: Run, command: Words) -> None:
    text = run(*command, "--help").stdout()
    options = text.partition("Options:\n")[2].partition("\n\nUsage:")[0]
    heads = re.findall(r"^  (\S.*|    --.*)$", options, re.MULTILINE)
    assert heads
    for head in heads:
        assert re.fullmatch(r"(-[A-Za-z], |    )--[a-z-]+=(false|\[\]|\d+|'[^']*'):", head), head


def test_the_defaults_are_those_that_render_uses(run: Run) -> None:
    text = run("render", "--help").stdout()
    for option in (
        "--min-tps=20:",
        "--efficiency=55:",
        "--quant='':",
        "--name='':",
        "--template=false:",
        "--namespace='':",
        "--api-version='resource.k8s.io/v1':",
        "--output='yaml':",
        "--json=false:",
        "--catalog=[]:",
        "--help=false:",
    ):
        assert option in text


def test_no_line_is_wider_than_a_terminal_that_kubectl_assumes(run: Run) -> None:
    for command in (*COMMANDS, *GROUPS):
        for line in run(*command, "--help").stdout().splitlines():
            assert len(line) <= 100, line


def test_help_needs_neither_files_nor_a_right_command_line(run: Run, tmp_path: Path) -> None:
    expected = run("render", "--help").stdout()
    wrong = ("--catalog", str(tmp_path / "none"), "--min-tps", "fast", "-o", "xml")
    assert run("render", MODEL, *wrong, "--help").stdout() == expected
