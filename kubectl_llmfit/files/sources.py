"""From what ``-f`` names to manifests: files, folders, patterns and standard input."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core.reasons import UNREADABLE_FILE, Problem, Refused, printable, refuse
from kubectl_llmfit.files.documents import Manifest, parse

STDIN = "-"
MAX_BYTES = 64_000_000
"""Far above any manifest; a larger file is a mistake that would fill the memory."""
_EXTENSIONS = (".json", ".yaml", ".yml")
_URLS = ("http://", "https://")


@dataclass(frozen=True, eq=False)
class Source:
    """A manifest and where it was read: ``path`` is None for what no file holds."""

    manifest: Manifest
    path: str | None


def read_all(names: Sequence[str], recursive: bool) -> tuple[tuple[Source, ...], Refused | None]:
    """The manifests that ``names`` stand for, in their order, and what could not be read.

    A folder stands for its *.json, *.yaml and *.yml files, sorted, with ``recursive`` also for
    those of the folders in it; ``-`` is standard input. A file named twice is read once.
    """
    sources: list[Source] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for name in names:
        try:
            for path in _paths(name, recursive):
                identity = _identity(path)
                if identity not in seen:
                    seen.add(identity)
                    try:
                        sources.append(_read(path))
                    except Refused as refused:
                        problems += refused.problems
        except Refused as refused:
            problems += refused.problems
    return tuple(sources), Refused(problems) if problems else None


def built(text: str, name: str) -> Source:
    """``text`` that no file holds; ``name`` stands for it in every sentence."""
    return Source(parse(text, name), None)


def decoded(content: bytes, name: str) -> str:
    """``content`` as text, every byte of it kept.

    Raises:
        Refused: it is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        sentence = f"{printable(name)}, line {line}: the file is not UTF-8 text; convert it"
        raise refuse(UNREADABLE_FILE, sentence) from None


def _identity(path: str) -> str:
    try:
        return path if path == STDIN else os.path.realpath(path)
    except ValueError:
        return path


def _paths(name: str, recursive: bool) -> Iterator[str]:
    shown = printable(name)
    if name == STDIN:
        yield name
    elif name.startswith(_URLS):
        raise refuse(UNREADABLE_FILE, f"{shown} is a URL; download it, and give the file")
    elif os.path.isdir(name):
        found = list(_folder(name, recursive))
        if not found:
            advice = "; -R looks into its folders too" if not recursive else ""
            extensions = ", ".join(_EXTENSIONS)
            sentence = f"{shown} holds no file that ends with {extensions}{advice}"
            raise refuse(UNREADABLE_FILE, sentence)
        yield from found
    elif not os.path.lexists(name) and glob.has_magic(name):
        matching = sorted(glob.glob(name))
        if not matching:
            raise refuse(UNREADABLE_FILE, f"no file matches {shown}; check the pattern")
        yield from matching
    else:
        yield name


def _folder(folder: str, recursive: bool) -> Iterator[str]:
    def unreadable(error: OSError) -> None:
        raise _cannot(error.filename or folder, error)

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders.sort()
        if not recursive:
            folders.clear()
        yield from (
            os.path.join(parent, file) for file in sorted(files) if file.endswith(_EXTENSIONS)
        )


def _read(path: str) -> Source:
    if path == STDIN:
        name = "standard input"
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        name = path
        try:
            with open(path, "rb") as file:
                content = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            raise _cannot(path, error) from None
    if len(content) > MAX_BYTES:
        sentence = f"{printable(name)} is larger than {MAX_BYTES} bytes; give a smaller file"
        raise refuse(UNREADABLE_FILE, sentence)
    manifest = parse(decoded(content, name), name)
    return Source(manifest, None if path == STDIN else path)


def _cannot(path: str, error: OSError | ValueError) -> Refused:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return refuse(UNREADABLE_FILE, f"{printable(path)} cannot be read: {why}; check the path")
