"""Follows a shell script as far as it can be followed, and gives the commands that it runs.

Only variables are followed. A command below ``if``, ``for`` or ``case`` counts as run; a variable
that is set there, or behind ``||``, has no known value afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core.engines import shell
from kubectl_llmfit.core.engines.environment import LONGEST, TOO_LONG, Budget, Environment, Variable
from kubectl_llmfit.core.engines.expansion import Expansion
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.syntax import NAME, REDIRECTIONS, Opaque, RawWord, Text, Token
from kubectl_llmfit.core.reasons import quoted

_OPENING = frozenset({"if", "while", "until", "for", "case", "select"})
_CLOSING = frozenset({"fi", "done", "esac"})
_BETWEEN = frozenset({"then", "else", "elif", "do", "{", "}", "!", "time", "function"})
_DECLARING = frozenset({"export", "declare", "typeset", "local", "readonly"})
_READING = frozenset({"read", "mapfile", "readarray", "getopts"})
# Commands that end well in practice: what follows them behind "&&" counts as run.
_HARMLESS = frozenset({"cd", "set", "source", ".", "echo", "mkdir", "ulimit", *_DECLARING})
# Every command keeps the variables that it saw, so a script without end would cost much.
_MOST_ASSIGNMENTS = 1000
_CONDITIONAL = "is set by the script only under a condition"


@dataclass(frozen=True)
class Command:
    """A simple command that a script runs, with the environment that it sees."""

    words: tuple[Word, ...]
    environment: Environment


def commands(
    text: str,
    environment: Environment,
    place: Callable[[RawWord], str],
    positional: Sequence[Word],
    budget: Budget,
) -> list[Command]:
    """The commands that the script ``text`` runs, in order.

    Args:
        text: the script.
        environment: what it starts with.
        place: words → where they stand.
        positional: ``$0``, ``$1`` and so on.
        budget: how long its words may become.
    """
    run = _Run(environment, place, positional, budget)
    if len(text) > LONGEST:
        # No container starts with it.
        return []
    for token in shell.tokens(text):
        if run.assigned > _MOST_ASSIGNMENTS:
            break
        run.take(token)
    run.take("\n")
    return run.found


class _Run(Expansion):
    def __init__(
        self,
        environment: Environment,
        place: Callable[[RawWord], str],
        positional: Sequence[Word],
        budget: Budget,
    ) -> None:
        super().__init__(environment, place, positional, budget)
        self.found: list[Command] = []
        self.assigned = 0
        self.words: list[RawWord] = []
        self.depth = 0
        self.subshells = 0
        self.redirected = False
        # Within a chain of && and ||: whether the next command may be left out, and what was set
        # by commands that may have been.
        self.doubtful = False
        self.set_in_doubt: set[str] = set()

    def take(self, token: Token) -> None:
        if isinstance(token, RawWord):
            if self.redirected:
                self.redirected = False
            else:
                self._add(token)
        elif token in REDIRECTIONS:
            self.redirected = True
        else:
            self._operator(token)

    def _add(self, word: RawWord) -> None:
        literal = word.literal if not self.words else None
        if literal in _OPENING:
            self.depth += 1
            if literal in {"for", "case", "select"}:
                self.words.append(word)
        elif literal in _CLOSING:
            self.depth = max(0, self.depth - 1)
        elif literal not in _BETWEEN:
            self.words.append(word)

    def _operator(self, operator: str) -> None:
        self.redirected = False
        if operator == "(" and self.words:
            # A function's definition, whose body has other arguments, or an array's.
            for word in self.words:
                if (assigned := self._assignment(word)) is not None:
                    self._doubt(assigned[0])
            self.words.clear()
            self.positional = None
            self.subshells += 1
            return
        if operator == ")" and not self.subshells:
            # The pattern of a case.
            self.words.clear()
            return
        name = self.words[0].literal if self.words else ""
        self._finish()
        self.subshells = max(0, self.subshells + {"(": 1, ")": -1}.get(operator, 0))
        if operator in {"&&", "||"}:
            self.doubtful = self.doubtful or operator == "||" or name not in _HARMLESS
        elif operator in {";", ";;", "\n", "&"}:
            self.doubtful = False
            for doubtful in self.set_in_doubt:
                self._doubt(doubtful)
            self.set_in_doubt.clear()

    def _finish(self) -> None:
        words, self.words = self.words, []
        first = words[0].literal if words else None
        if first in {"for", "select"}:
            if len(words) > 1 and words[1].literal:
                self._doubt(words[1].literal or "")
            return
        if first == "case":
            # Without its ";", so that "in" and the first pattern are dropped at the ")".
            return
        assignments: dict[str, Variable] = {}
        while words and (assigned := self._assignment(words[0])) is not None:
            assignments[assigned[0]] = assigned[1]
            words = words[1:]
        if not words:
            self.assign(assignments)
            return
        name = words[0].literal
        if name in _DECLARING:
            self.assign(dict(filter(None, map(self._assignment, words[1:]))))
        elif name == "unset":
            self._unset(words[1:])
        elif name in _READING:
            for word in words[1:]:
                self._doubt(word.literal or "")
        else:
            self._run(words, assignments)

    def _run(self, words: list[RawWord], assignments: dict[str, Variable]) -> None:
        expanded = tuple(field for word in words for field in self.expand(word))
        if expanded and expanded[0].text == "set" and "--" in [word.text for word in expanded]:
            at = [word.text for word in expanded].index("--")
            self.positional = (Word("", ""), *expanded[at + 1 :]) if not self.depth else None
        elif expanded:
            environment = self.environment.with_variables(assignments)
            self.found.append(Command(expanded, environment))

    def _assignment(self, word: RawWord) -> tuple[str, Variable] | None:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Text | Opaque) or first.quoted:
            return None
        name = NAME.match(first.text)
        if name is None or not first.text[name.end() :].lstrip("+").startswith("="):
            return None
        operator, _, rest = first.text[name.end() :].partition("=")
        value = self.value_of(name.group(), (Text(rest), *word.parts[1:]))
        before = self.environment.get(name.group()) if operator else None
        if before is None or value.text is None:
            return name.group(), value
        if before.text is None or not self.budget.take(before.text + value.text):
            return name.group(), Variable(None, value.origin, before.missing or TOO_LONG)
        return name.group(), Variable(before.text + value.text, value.origin)

    def assign(self, assignments: Mapping[str, Variable]) -> None:
        super().assign(assignments)
        self.assigned += len(assignments)
        if self.depth or self.subshells:
            for name in assignments:
                self._doubt(name)
        elif self.doubtful:
            self.set_in_doubt.update(assignments)

    def _unset(self, words: list[RawWord]) -> None:
        for word in words:
            if self.depth or self.subshells or self.doubtful:
                self._doubt(word.literal or "")
            else:
                self.environment = self.environment.without(word.literal or "")

    def _doubt(self, name: str) -> None:
        origin = f"shell variable {name}"
        variable = Variable(None, origin, f"{quoted(name)} {_CONDITIONAL}")
        self.environment = self.environment.with_variables({name: variable})
        self.assigned += 1
