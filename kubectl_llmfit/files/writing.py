"""Writing an edited manifest over its file: whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

from kubectl_llmfit.core.reasons import (
    CANNOT_WRITE,
    FILE_CHANGED,
    Refused,
    printable,
    quoted,
    refuse,
)
from kubectl_llmfit.files.sources import Source


def write_back(source: Source, text: str, backup: str = "") -> bool:
    """Puts ``text`` where ``source`` was read; False when that is what stands there already.

    The file is replaced in one step and keeps its mode and, where the system allows, its owner.
    A symbolic link stays one: its target is written. With ``backup``, the old content is kept
    beside it under the file's name and that suffix.

    Raises:
        Refused: there is no file, it has changed since it was read, or it cannot be written.
    """
    if source.path is None:
        name = printable(source.manifest.name)
        raise refuse(CANNOT_WRITE, f"{name} is no file; write the result to standard output")
    if os.sep in backup:
        sentence = f"the backup suffix {quoted(backup)} is part of a name; leave {os.sep} out"
        raise refuse(CANNOT_WRITE, sentence)
    path = os.path.realpath(source.path)
    old = source.manifest.text.encode()
    if text == source.manifest.text:
        return False
    try:
        _check_unchanged(source.path, path, old)
        if backup:
            _replace(path, path + backup, old)
            # The copy took a moment.
            _check_unchanged(source.path, path, old)
        _replace(path, path, text.encode())
    except OSError as error:
        shown = printable(source.path)
        sentence = f"{shown} cannot be written: {error.strerror}; it is as it was"
        raise refuse(CANNOT_WRITE, sentence) from None
    return True


def _check_unchanged(shown: str, path: str, old: bytes) -> None:
    with open(path, "rb") as file:
        if file.read(len(old) + 1) == old:
            return
    raise _changed(shown)


def _changed(shown: str) -> Refused:
    sentence = f"{printable(shown)} has changed since it was read; run the command again"
    return refuse(FILE_CHANGED, sentence)


def _replace(like: str, path: str, content: bytes) -> None:
    """Replaces ``path`` by ``content``, with mode and owner of ``like``."""
    state = os.stat(like)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            # Not every file system and not every user can: the mode still counts.
            with contextlib.suppress(OSError):
                os.fchown(file.fileno(), state.st_uid, state.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(state.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
