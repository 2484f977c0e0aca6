"""Reads a Containerfile: its stages and their instructions.

Of the format (containers/common, docs/Containerfile.5.md) only what ours uses is understood;
anything else is an error, so that nothing is passed over.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

KNOWN = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "LABEL", "ENV", "USER", "EXPOSE", "ENTRYPOINT"}


@dataclass(frozen=True)
class Instruction:
    """One instruction: its word in capitals, and all behind it with lines joined."""

    word: str
    text: str

    @property
    def words(self) -> list[str]:
        """The text as a shell splits it, or the list that an exec form holds."""
        if self.text.startswith("["):
            found: list[str] = json.loads(self.text)
            return found
        return shlex.split(self.text)


@dataclass(frozen=True)
class Stage:
    """A stage: its base, its name if it has one, and its instructions without FROM."""

    base: str
    name: str
    instructions: tuple[Instruction, ...]

    def texts(self, word: str) -> list[str]:
        """What stands behind each instruction of that word."""
        return [each.text for each in self.instructions if each.word == word]

    def all(self, word: str) -> list[list[str]]:
        """The words of each instruction of that word."""
        return [each.words for each in self.instructions if each.word == word]


@dataclass(frozen=True)
class Containerfile:
    """The arguments before the first stage, with their defaults, and the stages."""

    arguments: dict[str, str]
    stages: tuple[Stage, ...]


def read(path: Path) -> Containerfile:
    """The file at ``path``.

    Raises:
        ValueError: it has an instruction that is not known here.
    """
    arguments: dict[str, str] = {}
    stages: list[Stage] = []
    for each in _instructions(path.read_text("utf-8")):
        if each.word not in KNOWN:
            raise ValueError(f"{path.name}: {each.word} is no instruction that is known here")
        if each.word == "FROM":
            base, *named = each.words
            stages.append(Stage(base, named[1] if named else "", ()))
        elif stages:
            last = stages.pop()
            stages.append(Stage(last.base, last.name, (*last.instructions, each)))
        else:
            name, _, default = each.text.partition("=")
            arguments[name] = default
    return Containerfile(arguments, tuple(stages))


def _instructions(text: str) -> list[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Instruction(*line.split(None, 1)) for line in joined.splitlines()]
