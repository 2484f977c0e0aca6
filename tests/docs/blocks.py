"""The fenced blocks of the documentation, and the commands that they show.

A block's first line says what it is:

- ``console``: lines that start with ``$ `` are commands; what follows, up to the next, is all
  that the command prints. A line ``...`` there stands for any number of lines. A command without
  output lines may print anything.
- ``console cluster``: the same, but a cluster has to be at hand; the end-to-end tests run it.
- ``console endpoint``: the same, but the JSON endpoint has to be at hand; its tests run it.
- ``python``: a program. A comment that ends with ``…`` is the start of a text that it prints.
- ``LANGUAGE NAME``, as in ``yaml models.yaml``: a file of that name, there for every command.

Anything else is for people only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSOLE = "console"
CLUSTER = "cluster"
ENDPOINT = "endpoint"
ANYTHING = "..."
_PROMPT = "$ "
_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
# A stage of a pipeline or list that runs kubectl, but neither this plugin nor krew.
_OTHER_KUBECTL = re.compile(r"(?:^|[|;&])\s*kubectl\s+(?!(?:llmfit|krew)\b)")
# What makes the plugin itself look at a cluster: a driver to find, a workload to patch, the
# webhook.
_PLUGIN_LOOKS = re.compile(
    r"\bkubectl\s+llmfit\s(?:[^|;&]*--driver[ =]auto\b"
    r"|(?:patch|restore)\s+[a-z]+/|patch\s[^|;&]*--all\b|webhook\s(?![^|;&]*--dry-run=client))"
)
_PLUGIN = re.compile(r"(?:^|[|;&])\s*kubectl\s+llmfit\b")


class BadBlockError(Exception):
    """A block of the documentation is not written as the rules above say."""


@dataclass(frozen=True)
class Step:
    """One command and the lines that it prints; ``None`` where the document does not say."""

    command: str
    expected: tuple[str, ...] | None

    @property
    def runs_plugin(self) -> bool:
        """Whether this project's plugin is part of the command."""
        return bool(_PLUGIN.search(self.command))

    @property
    def needs_cluster(self) -> bool:
        """Whether the command asks an API server."""
        return bool(_OTHER_KUBECTL.search(self.command) or _PLUGIN_LOOKS.search(self.command))


@dataclass(frozen=True)
class Block:
    """A fenced block: where it is, the words of its first line, and its text."""

    document: str
    line: int
    words: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """Where it is, for messages: ``README.md:12``."""
        return f"{self.document}:{self.line}"

    @property
    def language(self) -> str:
        """The first word, empty where there is none."""
        return self.words[0] if self.words else ""

    @property
    def is_console(self) -> bool:
        """Whether it shows commands."""
        return self.language == CONSOLE

    @property
    def is_for_cluster(self) -> bool:
        """Whether its commands are run where a cluster is at hand."""
        return self.is_console and CLUSTER in self.words[1:]

    @property
    def is_for_endpoint(self) -> bool:
        """Whether its commands are run where the JSON endpoint is at hand."""
        return self.is_console and ENDPOINT in self.words[1:]

    @property
    def file_name(self) -> str | None:
        """The name of the file that it shows, if it shows one."""
        return self.words[1] if len(self.words) == 2 and not self.is_console else None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The commands of a console block in their order."""
        steps: list[Step] = []
        lines = self.text.splitlines()
        while lines:
            line = lines.pop(0)
            if not line.startswith(_PROMPT):
                raise BadBlockError(f"{self.place}: output before any command: {line!r}")
            command = line.removeprefix(_PROMPT)
            while command.endswith("\\") and lines:
                command = f"{command}\n{lines.pop(0)}"
            output: list[str] = []
            while lines and not lines[0].startswith(_PROMPT):
                output.append(lines.pop(0))
            steps.append(Step(command, tuple(output) or None))
        return tuple(steps)


def documents() -> list[Path]:
    """Every document that a user or a contributor reads."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def all_blocks() -> list[Block]:
    """The blocks of every document."""
    return [
        block
        for path in documents()
        for block in parse(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]


def parse(text: str, document: str) -> list[Block]:
    """The fenced blocks of a document's text.

    Raises:
        BadBlockError: a block has no end.
    """
    blocks: list[Block] = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opening = _FENCE.fullmatch(line)
        if opening is None:
            continue
        indent, fence, info = opening.groups()
        body: list[str] = []
        for _, inner in lines:
            if inner.strip().startswith(fence) and not inner.strip().strip(fence[0]):
                break
            body.append(inner.removeprefix(indent))
        else:
            raise BadBlockError(f"{document}:{number}: the block has no end")
        content = "".join(f"{each}\n" for each in body)
        blocks.append(Block(document, number, tuple(info.split()), content))
    return blocks


def files(blocks: Iterable[Block]) -> dict[str, str]:
    """The files that ``blocks`` show, by name.

    Raises:
        BadBlockError: a name is a path, or two blocks show different files under one name.
    """
    shown: dict[str, str] = {}
    for block in blocks:
        name = block.file_name
        if name is None:
            continue
        if "/" in name or shown.get(name, block.text) != block.text:
            raise BadBlockError(f"{block.place}: {name} is a path, or another file of that name")
        shown[name] = block.text
    return shown
