"""Expands a script's words with the variables that it sees.

Follows POSIX.1-2017 Shell Command Language, 2.5 Parameters and Variables and 2.6 Word Expansions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kubectl_llmfit.core.engines.environment import (
    TOO_LONG,
    Budget,
    Environment,
    Variable,
    why_missing,
)
from kubectl_llmfit.core.engines.fields import Fields, Word
from kubectl_llmfit.core.engines.syntax import NAME, Opaque, Parameter, Part, RawWord, Text
from kubectl_llmfit.core.reasons import quoted

_FUNCTION = "a shell function's arguments are not followed"


class Expansion:
    """The variables and arguments of a script at one point, and what its words become there."""

    def __init__(
        self,
        environment: Environment,
        place: Callable[[RawWord], str],
        positional: Sequence[Word],
        budget: Budget,
    ) -> None:
        self.environment = environment
        self.place = place
        self.positional: tuple[Word, ...] | None = tuple(positional)
        self.budget = budget

    def assign(self, assignments: Mapping[str, Variable]) -> None:
        """Sets variables."""
        self.environment = self.environment.with_variables(assignments)

    def value_of(self, name: str, parts: Sequence[Part]) -> Variable:
        """The variable ``name`` once it is set to ``parts``; blanks and patterns stay."""
        fields = Fields("")
        for part in parts:
            self._expand_part(as_quoted(part), fields)
        words = fields.finish()
        origin = f"shell variable {name}"
        if words and words[0].missing:
            return Variable(None, origin, words[0].missing)
        return Variable(words[0].text if words else "", origin)

    def expand(self, word: RawWord) -> list[Word]:
        """The words that ``word`` becomes: one, several, or none."""
        fields = Fields(self.place(word))
        for part in word.parts:
            self._expand_part(part, fields)
        return fields.finish()

    def _expand_part(self, part: Part, fields: Fields) -> None:
        if isinstance(part, Text):
            fields.text(part.text, quoted=part.quoted)
        elif isinstance(part, Opaque):
            splits = not part.quoted or "[@]" in part.text
            fields.unknown(part.text, self._why(part), splits=splits)
        elif part.name in {"@", "*"} and not part.operator:
            self._all_positional(part, fields)
        else:
            self._parameter(part, fields)

    def _why(self, part: Opaque) -> str:
        # Kubernetes leaves $(NAME) where nothing sets NAME, or where the value is not known here.
        name = part.text[2:-1]
        if part.text.startswith("$(") and NAME.fullmatch(name):
            variable = self.environment.get(name)
            if variable is not None or name.isupper():
                return why_missing(name, variable)
        return f"only a running shell knows {quoted(part.text, 40)}"

    def _all_positional(self, part: Parameter, fields: Fields) -> None:
        if self.positional is None:
            fields.unknown(f"${part.name}", _FUNCTION)
            return
        if len(self.positional) < 2:
            fields.nothing()
        for number, word in enumerate(self.positional[1:]):
            if number:
                fields.end()
            fields.word(word)

    def _parameter(self, part: Parameter, fields: Fields) -> None:
        variable = self._look_up(part.name)
        operator, splits = part.operator, not part.quoted
        value = variable.text if variable is not None else None
        unset = variable is None or (operator.startswith(":") and value == "")
        if variable is not None and value is None:
            fields.unknown(f"${part.name}", why_missing(part.name, variable), splits=splits)
        elif operator in {":-", "-", ":=", "="} and unset:
            if "=" in operator and NAME.fullmatch(part.name):
                self.assign({part.name: self.value_of(part.name, part.operand)})
                self._parameter(Parameter(part.name, part.quoted), fields)
                return
            for operand in part.operand:
                self._expand_part(as_quoted(operand) if part.quoted else operand, fields)
        elif operator in {":+", "+"}:
            for operand in () if unset else part.operand:
                self._expand_part(operand, fields)
        elif variable is None or value is None or not self.budget.take(value):
            # An unset variable is empty, but something else may set it (a sourced file, a
            # controller that adds variables): not an empty value that is known.
            why = why_missing(part.name, variable) if variable is None else TOO_LONG
            fields.unknown(f"${part.name}", why, splits=splits)
        else:
            fields.value(value, variable.origin, quoted=part.quoted)

    def _look_up(self, name: str) -> Variable | None:
        if not name.isdigit():
            if NAME.fullmatch(name):
                return self.environment.get(name)
            return Variable(None, f"${name}", f"only a running shell knows ${name}")
        if self.positional is None:
            return Variable(None, f"${name}", _FUNCTION)
        if int(name) >= len(self.positional):
            return None
        word = self.positional[int(name)]
        return Variable(None if word.missing else word.text, word.origin, word.missing)


def as_quoted(part: Part) -> Part:
    """``part`` as it is between double quotes."""
    if isinstance(part, Parameter):
        return Parameter(part.name, True, part.operator, part.operand)
    if isinstance(part, Opaque) and not part.text.startswith(("$", "`")):
        return Text(part.text, quoted=True)
    return type(part)(part.text, quoted=True)
