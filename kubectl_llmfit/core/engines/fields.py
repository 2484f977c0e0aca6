"""Words of a command line with their origins, and how expansions make them."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_llmfit.core.engines.environment import listed


@dataclass(frozen=True)
class Word:
    """A word of a command line.

    Attributes:
        text: what it says; parts that can't be known stand as they were written.
        origin: where it was written.
        missing: why a part of it can't be known, as a clause; empty when all is.
        splits: whether an unknown part may stand for several words or none.
    """

    text: str
    origin: str
    missing: str = ""
    splits: bool = False


class Fields:
    """Builds the words that one word of the script becomes."""

    def __init__(self, place: str) -> None:
        self.place = self.written = place
        self.done: list[Word] = []
        self._clear()

    def _clear(self) -> None:
        self.place = self.written
        self.current: list[str] = []
        self.exists = False
        self.splits = False
        self.sources: dict[str, None] = {}
        self.missing = ""

    def text(self, text: str, *, quoted: bool) -> None:
        """Text that stays as it is."""
        self.current.append(text)
        self.exists = self.exists or quoted or bool(text)

    def value(self, text: str, origin: str, *, quoted: bool) -> None:
        """A variable's value, which is split at blanks where it is not quoted."""
        if quoted:
            self.sources[origin] = None
            self.text(text, quoted=True)
            return
        if text[:1].isspace():
            self.end()
        for number, piece in enumerate(text.split()):
            if number:
                self.end()
            self.sources[origin] = None
            self.text(piece, quoted=False)
        if text[-1:].isspace():
            self.end()

    def word(self, word: Word) -> None:
        """A word that stands elsewhere, such as an argument of the script."""
        if not any(self.current):
            self.place = word.origin
        self.text(word.text, quoted=True)
        if word.missing:
            self.missing = self.missing or word.missing
            self.splits = self.splits or word.splits

    def unknown(self, text: str, why: str, *, splits: bool = True) -> None:
        """A part that can't be known, as it is written."""
        self.text(text, quoted=True)
        self.missing = self.missing or why
        self.splits = self.splits or splits

    def nothing(self) -> None:
        """``"$@"`` without arguments is no word at all, in spite of its quotes."""
        self.exists = any(self.current)

    def end(self) -> None:
        """The end of a word."""
        if self.exists:
            via = f", from {listed(self.sources)}" if self.sources else ""
            origin = f"{self.place}{via}"
            self.done.append(Word("".join(self.current), origin, self.missing, self.splits))
        self._clear()

    def finish(self) -> list[Word]:
        """The words, once the last part was given."""
        self.end()
        return self.done
