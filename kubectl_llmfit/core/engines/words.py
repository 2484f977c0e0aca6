"""The command lines that a container runs, each word with where it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.engines import wrappers
from kubectl_llmfit.core.engines.environment import (
    Budget,
    ConfigMapReader,
    Environment,
    expand,
    listed,
    mapping,
    of_container,
)
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.script import commands
from kubectl_llmfit.core.engines.syntax import RawWord

# sh -c inside sh -c: people write one, a wrapper adds another.
_DEEPEST = 4


@dataclass(frozen=True)
class CommandLine:
    """A program and its arguments, with the environment that it sees."""

    words: tuple[Word, ...]
    environment: Environment


@dataclass(frozen=True)
class Started:
    """What a container runs.

    Attributes:
        name: the container's name, for origins.
        image: the image as written; empty when none is.
        lines: command lines, in the order in which they are started.
        image_decides: whether the image's own entrypoint runs, with ``args`` as its arguments.
        arguments: those arguments, or the words of ``command`` and ``args``.
        environment: what the container's processes see.
    """

    name: str
    image: str
    lines: tuple[CommandLine, ...]
    image_decides: bool
    arguments: tuple[Word, ...]
    environment: Environment


def started(container: Mapping[str, Any], read: ConfigMapReader) -> Started:
    """What ``container`` runs; parts of the wrong type are left out."""
    name = container.get("name")
    name = name if isinstance(name, str) else "?"
    prefix = f"container {name}, "
    budget = Budget()
    environment = of_container(container, read, budget)
    command = _array(container.get("command"), f"{prefix}command", environment, budget)
    arguments = _array(container.get("args"), f"{prefix}args", environment, budget)
    words = (*command, *arguments)
    lines = _followed(words, environment, budget)
    hook = mapping(mapping(mapping(container.get("lifecycle")).get("postStart")).get("exec"))
    hooked = _array(hook.get("command"), f"{prefix}lifecycle.postStart", environment, budget)
    lines += _followed(hooked, environment, budget)
    image = container.get("image")
    image = image if isinstance(image, str) else ""
    return Started(name, image, tuple(lines), not command, words, environment)


def _array(value: object, place: str, environment: Environment, budget: Budget) -> tuple[Word, ...]:
    if not isinstance(value, list):
        return ()
    found: list[Word] = []
    for number, item in enumerate(value):
        # Numbers and booleans are refused by the API server, but people write them in YAML.
        text = item if isinstance(item, str) else str(item)
        expanded = expand(text, environment, budget)
        via = f", from {listed(expanded.sources)}" if expanded.sources else ""
        found.append(Word(expanded.text, f"{place}[{number}]{via}", expanded.missing))
    return tuple(found)


def _followed(
    words: Sequence[Word], environment: Environment, budget: Budget, depth: int = 0
) -> list[CommandLine]:
    """``words`` behind its starters; for a shell's ``-c``, the commands of its text."""
    words, variables = wrappers.unwrap(words)
    environment = environment.with_variables(variables)
    if not words:
        return []
    found = wrappers.shell_script(words)
    if found is None or depth == _DEEPEST:
        return [CommandLine(tuple(words), environment)]
    text, positional = found
    lines: list[CommandLine] = []
    for command in commands(text.text, environment, _placer(text), positional, budget):
        lines += _followed(command.words, command.environment, budget, depth + 1)
    return lines


def _placer(text: Word) -> Callable[[RawWord], str]:
    prefix, _, place = text.origin.partition(", ")
    lines = "\n" in text.text.strip()

    def origin(word: RawWord) -> str:
        at = f"word {word.number} in line {word.line}" if lines else f"word {word.number}"
        return f"{prefix}, command line {at} of {place}"

    return origin
