"""The shipped catalog: one text file, sorted by name, read by look-up and never as a whole.

The file is tab-separated. Its first line states the format, the llmfit release that it was built
from and the number of models; its second line names the columns; the rest is one model a line,
sorted by lower-case name. An exact look-up is a binary search over the mapped file; a partial
one walks the names and parses only the lines that match.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core.model import Model

PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data/models.tsv")

FORMAT = "kubectl-llmfit-catalog/1"

# Columns in file order: attribute of Model, and how its text is read.
COLUMNS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("name", str),
    ("parameters", int),
    ("quantization", str),
    ("min_vram_gb", float),
    ("min_ram_gb", float),
    ("context_length", int),
    ("architecture", str),
    ("format", str),
    ("layers", int),
    ("attention_heads", int),
    ("kv_heads", int),
    ("head_dim", int),
    ("hidden_size", int),
    ("vocab_size", int),
    ("experts", int),
    ("active_experts", int),
    ("active_parameters", int),
    ("intermediate_size", int),
    ("shared_expert_intermediate_size", int),
)


@dataclass(frozen=True)
class Release:
    """What the shipped catalog was built from."""

    source: str
    models: int


class ShippedCatalog:
    """The catalog file, opened once; every method reads only the lines it needs."""

    def __init__(self, path: str = PATH) -> None:
        with open(path, "rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        first, self._start = self._line(0)
        columns, self._start = self._line(self._start)
        name, source, count = first.decode().split("\t")
        if name != FORMAT or columns.decode().split("\t") != [name for name, _ in COLUMNS]:
            raise ValueError(f"{path} is not a catalog of this version")
        self.release = Release(source, int(count))

    def exact(self, name: str) -> Model | None:
        """The model called ``name``, matched without case."""
        key = _key(name)
        if key is None:
            return None
        line, _ = self._line(self._lower_bound(key))
        return _model(line) if _name_key(line) == key else None

    def containing(self, words: tuple[str, ...]) -> Iterator[Model]:
        """Every model whose name holds each of ``words``, matched without case, by name."""
        keys = [_key(word) for word in words]
        for line in self._lines(self._start):
            key = _name_key(line)
            if all(word is not None and word in key for word in keys):
                yield _model(line)

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Names that start with ``prefix``, matched without case, in order."""
        key = _key(prefix)
        if key is None:
            return
        for line in self._lines(self._lower_bound(key)):
            if not _name_key(line).startswith(key):
                return
            yield _name(line).decode()

    def names(self) -> Iterator[str]:
        """Every name, in order."""
        for line in self._lines(self._start):
            yield _name(line).decode()

    def models(self) -> Iterator[Model]:
        """Every model, in order. Parses the whole file: for tests and tools."""
        for line in self._lines(self._start):
            yield _model(line)

    def _line(self, start: int) -> tuple[bytes, int]:
        """The line that starts at ``start``, and where the next one starts."""
        end = self._bytes.find(b"\n", start)
        return (self._bytes[start:end], end + 1) if end >= 0 else (b"", len(self._bytes))

    def _lines(self, start: int) -> Iterator[bytes]:
        while start < len(self._bytes):
            line, start = self._line(start)
            yield line

    def _lower_bound(self, key: bytes) -> int:
        """Where the first line starts whose name is not below ``key``."""
        low, high = self._start, len(self._bytes)
        while low < high:
            middle = (low + high) // 2
            start = self._bytes.rfind(b"\n", self._start - 1, middle) + 1
            line, after = self._line(start)
            if _name_key(line) < key:
                low = after
            else:
                high = start
        return low


def _key(text: str) -> bytes | None:
    """``text`` as shipped names, which are ASCII, are compared; ``None`` if it can't match."""
    lowered = text.lower()
    return lowered.encode("ascii") if lowered.isascii() else None


def _name(line: bytes) -> bytes:
    return line[: line.find(b"\t")]


def _name_key(line: bytes) -> bytes:
    return _name(line).lower()


def _model(line: bytes) -> Model:
    cells = line.decode().split("\t")
    return Model(
        **{
            name: read(cell)
            for (name, read), cell in zip(COLUMNS, cells, strict=True)
            if cell != ""
        }
    )
