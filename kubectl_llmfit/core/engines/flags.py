"""Reads a command line by a table of an engine's flags, as getopt and argparse do.

``--a b`` and ``--a=b`` are alike, the last of a repeated flag counts, a switch takes no word, and
``--`` ends the flags. The table need not be whole: the word behind a flag that is not in it may be
the flag's value or an argument, and is kept apart as such.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core.engines.fields import Word

_NEGATIVE_NUMBER = re.compile(r"-\.?[0-9]")


@dataclass(frozen=True)
class Table:
    """What is known of an engine's flags.

    Attributes:
        facts: flag → the fact that its value states.
        switches: flags without a value.
        lists: flags that take every word up to the next flag.
        others: flags with one value that states no fact of ours.
        underscores: whether ``--a_b`` means ``--a-b``.
        abbreviations: whether the beginning of a flag stands for it, as argparse has it.
    """

    facts: Mapping[str, str]
    switches: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    underscores: bool = False
    abbreviations: bool = False

    def canonical(self, flag: str) -> str:
        """The flag of the table that ``flag`` stands for; ``flag`` itself when there is none."""
        if self.underscores and flag.startswith("--"):
            flag = flag.replace("_", "-")
        if flag in self.facts or flag in self.switches or flag in self.lists | self.others:
            return flag
        if self.abbreviations and flag.startswith("--") and len(flag) > 4:
            known = (*self.facts, *self.switches, *self.lists, *self.others)
            meant = {self.facts.get(name, name) for name in known if name.startswith(flag)}
            if len(meant) == 1:
                return next(name for name in known if name.startswith(flag))
        return flag


@dataclass(frozen=True)
class Flags:
    """A command line that was read.

    Attributes:
        values: fact → the last word that states it; a flag without its value states nothing.
        names: fact → the flag as it was written.
        valueless: facts whose flag stands at the end, without a value.
        switches: the switches that were given, as the table spells them.
        arguments: words that are no flag and no flag's value.
        perhaps: words behind a flag that the table does not have: its value, or an argument.
        open: unknown words that may stand for any number of flags.
    """

    values: Mapping[str, Word]
    names: Mapping[str, str]
    valueless: tuple[Word, ...] = ()
    switches: frozenset[str] = frozenset()
    arguments: tuple[Word, ...] = ()
    perhaps: tuple[Word, ...] = ()
    open: tuple[Word, ...] = ()


def read(words: Sequence[Word], table: Table) -> Flags:
    """``words``, which come behind the program's name, by ``table``."""
    reader = _Reader(table)
    remaining = list(reversed(words))
    while remaining:
        reader.take(remaining)
    return Flags(
        reader.values,
        reader.names,
        tuple(reader.valueless),
        frozenset(reader.switches),
        tuple(reader.arguments),
        tuple(reader.perhaps),
        tuple(reader.open),
    )


def is_flag(word: Word) -> bool:
    """Whether ``word`` looks like a flag; a negative number does not."""
    return word.text.startswith("-") and word.text != "-" and not _NEGATIVE_NUMBER.match(word.text)


class _Reader:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.values: dict[str, Word] = {}
        self.names: dict[str, str] = {}
        self.valueless: list[Word] = []
        self.switches: set[str] = set()
        self.arguments: list[Word] = []
        self.perhaps: list[Word] = []
        self.open: list[Word] = []

    def take(self, remaining: list[Word]) -> None:
        """Reads one flag with its values, or one argument, off the end of ``remaining``."""
        word = remaining.pop()
        if word.text == "--":
            self.arguments += reversed(remaining)
            remaining.clear()
        elif is_flag(word):
            self._flag(word, remaining)
        elif word.splits:
            self.open.append(word)
        else:
            self.arguments.append(word)

    def _flag(self, word: Word, remaining: list[Word]) -> None:
        written, equals, text = word.text.partition("=")
        flag = self.table.canonical(written)
        following = remaining[-1] if remaining and not is_flag(remaining[-1]) else None
        fact = self.table.facts.get(flag)
        if fact is not None:
            self.names[fact] = written
            if equals:
                self.values[fact] = Word(text, word.origin, word.missing)
            elif following is not None:
                self.values[fact] = remaining.pop()
            else:
                self.values.pop(fact, None)
                self.valueless.append(word)
        elif flag in self.table.switches:
            self.switches.add(flag)
            # Some versions spell a switch out: --enable-chunked-prefill true.
            if following is not None and following.text.lower() in {"true", "false"}:
                remaining.pop()
        elif flag in self.table.lists and not equals:
            while remaining and not is_flag(remaining[-1]):
                remaining.pop()
        elif following is not None and not equals:
            remaining.pop()
            if flag not in self.table.others:
                self.perhaps.append(following)
