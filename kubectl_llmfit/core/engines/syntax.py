"""The parts of shell text: words, what they are made of, and operators."""

from __future__ import annotations

import re
from dataclasses import dataclass

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REDIRECTIONS = frozenset({"<<-", "<<<", "&>>", "<<", ">>", ">&", "<&", "<>", ">|", "&>", "<", ">"})


@dataclass(frozen=True)
class Text:
    """Characters that stand for themselves."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Parameter:
    """``$NAME`` or ``${NAME…}``: the operator, such as ``:-``, and the word behind it."""

    name: str
    quoted: bool
    operator: str = ""
    operand: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Opaque:
    """Text whose meaning is known only to a running shell."""

    text: str
    quoted: bool


Part = Text | Parameter | Opaque


@dataclass(frozen=True)
class RawWord:
    """A word before expansion, with its line and its number on that line, from 1."""

    parts: tuple[Part, ...]
    line: int
    number: int

    @property
    def literal(self) -> str | None:
        """Its text when it needs no expansion."""
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        return "".join(texts) if len(texts) == len(self.parts) else None


Token = RawWord | str
"""A word or an operator; a newline is the operator ``\\n``."""
