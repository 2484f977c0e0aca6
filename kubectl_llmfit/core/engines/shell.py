"""Reads shell text into words and operators, without expanding anything yet.

Follows the grammar of POSIX.1-2017 Shell Command Language, 2.2 Quoting, 2.3 Token Recognition,
2.6 Word Expansions and 2.7 Redirection. What it can't express (command substitution, arithmetic,
patterns) becomes an ``Opaque`` part, so that nobody takes it for text.
"""

from __future__ import annotations

import re

from kubectl_llmfit.core.engines.syntax import Opaque, Parameter, Part, RawWord, Text, Token

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
_OPERATORS = (
    *("<<-", "<<<", "&>>", "||", "&&", ";;", "|&", "<<", ">>", ">&", "<&", "<>", ">|", "&>"),
    *("|", "&", ";", "(", ")", "<", ">", "\n"),
)
_CONTINUED = re.compile(r"(?:\\\n)+[A-Za-z0-9_{(@*#?$!'\"-]")
_BLANKS = " \t\r"
_DEEPEST = 20
_IN_DOUBLE_QUOTES = '$`"\\\n'
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")


def tokens(text: str) -> list[Token]:
    """The words and operators of ``text``, up to where it stops being shell.

    An unterminated quote or substitution ends the list: a shell would refuse that command.
    """
    return _Reader(text).read()


class _UnterminatedError(Exception):
    """A quote, brace or parenthesis that is never closed, or more of them than people write."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line = 1
        self.number = 0
        self.found: list[Token] = []
        self.heredocs: list[tuple[str, bool]] = []
        self.nested = 0

    def read(self) -> list[Token]:
        try:
            while self.position < len(self.text):
                self._step()
        except _UnterminatedError:
            # What came before is run; the broken command is not.
            while self.found and self.found[-1] != "\n":
                self.found.pop()
        return self.found

    def _step(self) -> None:
        character = self.text[self.position]
        if character in _BLANKS:
            self.position += 1
        elif self.text.startswith("\\\n", self.position):
            self.position += 2
            self._next_line()
        elif character == "#":
            end = self.text.find("\n", self.position)
            self.position = len(self.text) if end < 0 else end
        else:
            operator = self._operator()
            if operator is None:
                self._word()
            else:
                self._operate(operator)

    def _next_line(self) -> None:
        self.line += 1
        self.number = 0

    def _operator(self) -> str | None:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.position):
                return operator
        return None

    def _operate(self, operator: str) -> None:
        self.position += len(operator)
        self.found.append(operator)
        if operator == "\n":
            self._next_line()
            self._skip_heredocs()

    def _skip_heredocs(self) -> None:
        for delimiter, tabs in self.heredocs:
            while self.position < len(self.text):
                end = self.text.find("\n", self.position)
                end = len(self.text) if end < 0 else end
                line = self.text[self.position : end]
                self.position = end + 1
                self.line += 1
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self.heredocs.clear()

    def _word(self) -> None:
        self.number += 1
        line, number = self.line, self.number
        parts = self._parts(end="")
        word = RawWord(parts, line, number)
        before = self.found[-1] if self.found else None
        following = self.text[self.position : self.position + 1]
        if (word.literal or "x").isdigit() and following in {"<", ">"}:
            # The file descriptor of a redirection, as in 2>&1.
            return
        if before in {"<<", "<<-"}:
            delimiter = "".join(part.text for part in parts if isinstance(part, Text))
            self.heredocs.append((delimiter, before == "<<-"))
        self.found.append(word)

    def _parts(self, end: str) -> tuple[Part, ...]:
        """Parts up to the end of the word, or up to ``end`` when that closes a ``${…}``."""
        parts: list[Part] = []
        plain: list[str] = []

        def flush() -> None:
            if plain:
                parts.extend(_plain("".join(plain)))
                plain.clear()

        while self.position < len(self.text):
            character = self.text[self.position]
            if character == end or (not end and character in _BLANKS + "\n;&|<>()"):
                break
            if character in "'\"$`":
                flush()
                parts.extend(self._special(character))
            elif character == "\\":
                flush()
                escaped = self.text[self.position + 1 : self.position + 2]
                self.position += 2
                if escaped == "\n":
                    self._next_line()
                else:
                    parts.append(Text(escaped or character, quoted=True))
            else:
                plain.append(character)
                self.position += 1
        else:
            if end:
                raise _UnterminatedError
        flush()
        return tuple(parts)

    def _special(self, character: str) -> list[Part]:
        if character == "'":
            return [Text(self._until("'"), quoted=True)]
        if character == '"':
            return self._double_quoted()
        if character == "`":
            return [Opaque(f"`{self._until('`')}`", quoted=False)]
        return [self._dollar(quoted=False)]

    def _until(self, closer: str) -> str:
        start = self.position + 1
        end = self.text.find(closer, start)
        if end < 0:
            raise _UnterminatedError
        self.position = end + 1
        self.line += self.text.count("\n", start, end)
        return self.text[start:end]

    def _double_quoted(self) -> list[Part]:
        self.position += 1
        parts: list[Part] = [Text("", quoted=True)]
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == '"':
                self.position += 1
                return parts
            if character == "$":
                parts.append(self._dollar(quoted=True))
            elif character == "`":
                parts.append(Opaque(f"`{self._until('`')}`", quoted=True))
            elif character == "\\":
                escaped = self.text[self.position + 1 : self.position + 2]
                self.position += 2
                kept = escaped if escaped in _IN_DOUBLE_QUOTES else f"\\{escaped}"
                parts.append(Text("" if escaped == "\n" else kept, quoted=True))
            else:
                self.line += character == "\n"
                parts.append(Text(character, quoted=True))
                self.position += 1
        raise _UnterminatedError

    def _dollar(self, *, quoted: bool) -> Part:
        start = self.position
        following = self.text[start + 1 : start + 2]
        if following == "(":
            return self._substitution(quoted=quoted)
        if following == "{":
            return self._braced(quoted=quoted)
        if following in {"'", '"'} and not quoted:
            # $'…' and $"…": bash reads escapes or translations.
            self.position += 1
            return Opaque(f"$'{self._until(following)}'", quoted=True)
        name = _PARAMETER.match(self.text, start + 1)
        self.position = name.end() if name is not None else start + 1
        if _CONTINUED.match(self.text, self.position):
            # A name that goes on in the next line: nobody writes it, and it is not followed.
            return Opaque(self.text[start : self.position], quoted)
        return Parameter(name.group(), quoted) if name is not None else Text("$", quoted=quoted)

    def _substitution(self, *, quoted: bool) -> Opaque:
        start = self.position
        depth = 0
        self.position += 1
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == "'":
                self._until("'")
                continue
            self.position += 2 if character == "\\" else 1
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0:
                return Opaque(self.text[start : self.position], quoted)
        raise _UnterminatedError

    def _braced(self, *, quoted: bool) -> Part:
        start = self.position
        name = _PARAMETER.match(self.text, start + 2)
        if name is not None:
            self.position = name.end()
            operator = next(
                (
                    operator
                    for operator in (":-", ":=", ":?", ":+", "-", "=", "?", "+")
                    if self.text.startswith(operator, self.position)
                ),
                "",
            )
            self.position += len(operator)
            operand = self._operand() if operator else ()
            if self.text.startswith("}", self.position):
                self.position += 1
                return Parameter(name.group(), quoted, operator, operand)
            self.position = start
        # ${#NAME}, ${NAME[@]}, ${NAME%pattern}, ${NAME:1:2} and the like.
        self.position = start + 1
        return Opaque(f"${{{self._until('}')}}}", quoted)

    def _operand(self) -> tuple[Part, ...]:
        if self.nested == _DEEPEST:
            raise _UnterminatedError
        self.nested += 1
        parts = self._parts(end="}")
        self.nested -= 1
        return parts


def _plain(text: str) -> list[Part]:
    # Patterns match files and braces make several words: both are the running shell's.
    if any(character in text for character in "*?[") or _BRACES.search(text):
        return [Opaque(text, quoted=False)]
    return [Text(text)]
