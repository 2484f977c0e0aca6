"""Writing over a file: whole or not at all, and nothing else about it changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_llmfit.core.reasons import CANNOT_WRITE, FILE_CHANGED, Reason, Refused
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.sources import Source, read_all
from kubectl_llmfit.files.writing import write_back

OLD = "\ufeffkind: Größe\r\nx: 1\n"
NEW = "\ufeffkind: Größe\r\nx: 2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "f.yaml"
    path.write_bytes(OLD.encode())
    path.chmod(0o640)
    return path


def read(path: Path) -> Source:
    (source,), refused = read_all([str(path)], recursive=False)
    assert refused is None
    return source


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refusal(reason: Reason, source: Source, text: str = NEW, backup: str = "") -> str:
    with pytest.raises(Refused) as refused:
        write_back(source, text, backup)
    (problem,) = refused.value.problems
    assert problem.reason is reason
    return problem.sentence


def test_content_is_replaced_and_the_mode_stays(file: Path) -> None:
    assert write_back(read(file), NEW)
    assert file.read_bytes() == NEW.encode()
    assert file.stat().st_mode & 0o7777 == 0o640
    assert names(file.parent) == ["f.yaml"]


def test_the_owner_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owners: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda _, user, group: owners.append((user, group)))
    write_back(read(file), NEW)
    state = file.stat()
    assert owners == [(state.st_uid, state.st_gid)]


def test_an_owner_that_cannot_be_kept_is_no_failure(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", fail)
    assert write_back(read(file), NEW)
    assert file.read_bytes() == NEW.encode()


def test_the_same_text_is_not_written(file: Path) -> None:
    inode = file.stat().st_ino
    assert not write_back(read(file), OLD, ".bak")
    assert file.stat().st_ino == inode
    assert names(file.parent) == ["f.yaml"]


def test_a_backup_has_the_old_content_and_mode(file: Path) -> None:
    assert write_back(read(file), NEW, ".bak")
    backup = file.with_name("f.yaml.bak")
    assert backup.read_bytes() == OLD.encode()
    assert backup.stat().st_mode & 0o7777 == 0o640
    assert file.read_bytes() == NEW.encode()


def test_a_link_stays_and_its_target_is_written(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "link.yaml"
    link.symlink_to(file)
    assert write_back(read(link), NEW, "~")
    assert link.is_symlink()
    assert file.read_bytes() == NEW.encode()
    assert names(folder) == ["link.yaml"]
    assert file.with_name("f.yaml~").read_bytes() == OLD.encode()


@pytest.mark.parametrize("content", ["", "kind: A\n", OLD + "y: 1\n"])
def test_a_file_that_has_changed_is_left_alone(file: Path, content: str) -> None:
    source = read(file)
    file.write_bytes(content.encode())
    assert "has changed since it was read" in refusal(FILE_CHANGED, source, backup=".bak")
    assert file.read_bytes() == content.encode()
    assert names(file.parent) == ["f.yaml"]


def test_a_file_that_is_gone_is_not_made_again(file: Path) -> None:
    source = read(file)
    file.unlink()
    assert "cannot be written: No such file" in refusal(CANNOT_WRITE, source)
    assert names(file.parent) == []


def test_standard_input_cannot_be_written() -> None:
    source = Source(parse(OLD, "standard input"), None)
    assert refusal(CANNOT_WRITE, source).startswith("standard input is no file")


def test_a_backup_stays_beside_the_file(file: Path) -> None:
    assert "/../x" in refusal(CANNOT_WRITE, read(file), backup="/../x")


def test_a_failure_leaves_the_file_and_nothing_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    sentence = refusal(CANNOT_WRITE, read(file))
    assert "cannot be written: No space left on device; it is as it was" in sentence
    assert file.read_bytes() == OLD.encode()
    assert names(file.parent) == ["f.yaml"]
