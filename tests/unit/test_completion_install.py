"""`completion install` and `uninstall`: one executable on PATH, and nothing of others' touched."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.commandline import Run

EXECUTABLE = "kubectl_complete-llmfit"


def executable(path: Path, script: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


def test_the_installed_script_hands_its_words_to_the_plugin(run: Run, tmp_path: Path) -> None:
    path = tmp_path / EXECUTABLE
    finished = run("completion", "install", "--dir", str(tmp_path))
    assert finished.stdout() == f"{path} installed\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    executable(tmp_path / "kubectl-llmfit", '#!/bin/sh\nprintf "<%s>" "$@"\n')
    called = subprocess.run(
        [path, "render", "a b", ""],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    assert called.stdout == "<__complete><render><a b><>"


def test_install_may_be_repeated_and_leaves_one_file(run: Run, tmp_path: Path) -> None:
    for _ in range(2):
        run("completion", "install", "--dir", str(tmp_path)).stdout()
    assert os.listdir(tmp_path) == [EXECUTABLE]


def test_uninstall_takes_it_away_and_may_be_repeated(run: Run, tmp_path: Path) -> None:
    path = tmp_path / EXECUTABLE
    run("completion", "install", "--dir", str(tmp_path)).stdout()
    arguments = ("completion", "uninstall", "--dir", str(tmp_path))
    assert run(*arguments).stdout() == f"{path} removed\n"
    assert os.listdir(tmp_path) == []
    assert run(*arguments).stdout() == f"{path} is not there\n"


def test_without_a_folder_it_goes_beside_the_plugin(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    not_executable = tmp_path / "text" / "kubectl-llmfit"
    not_executable.parent.mkdir()
    not_executable.write_text("")
    plugin = executable(tmp_path / "bin" / "kubectl-llmfit")
    folders = (empty, not_executable.parent, plugin.parent)
    monkeypatch.setenv("PATH", os.pathsep.join(["", *map(str, folders)]))
    path = plugin.parent / EXECUTABLE
    assert run("completion", "install").stdout() == f"{path} installed\n"
    assert run("completion", "uninstall").stdout() == f"{path} removed\n"


def test_without_the_plugin_on_path_a_folder_has_to_be_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for command in ("install", "uninstall"):
        error = run("completion", command).error()
        assert "--dir" in error
        assert error.endswith("(cannot-write)")


def identity(path: Path) -> tuple[int, ...]:
    """What tells a file from another or a changed one; looking at it changes its access time."""
    status = path.lstat()
    return (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def foreign_file(path: Path) -> None:
    executable(path, "#!/bin/sh\necho another\n")


def dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


def folder(path: Path) -> None:
    path.mkdir()


FOREIGN: dict[str, Callable[[Path], None]] = {
    "another-program": foreign_file,
    "link-to-nothing": dangling_link,
    "folder": folder,
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_what_it_did_not_write_stays(run: Run, tmp_path: Path, kind: str, command: str) -> None:
    path = tmp_path / EXECUTABLE
    FOREIGN[kind](path)
    before = identity(path)
    error = run("completion", command, "--dir", str(tmp_path)).error()
    assert str(path) in error
    assert error.endswith("(cannot-write)")
    assert identity(path) == before
    assert os.listdir(tmp_path) == [EXECUTABLE]


def test_an_executable_that_pip_brought_is_as_good(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "kubectl-llmfit")
    path = executable(tmp_path / EXECUTABLE, "#!/bin/sh\necho from pip\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("completion", "install").stdout() == f"{path} is there already\n"
    assert path.read_text() == "#!/bin/sh\necho from pip\n"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        pytest.param("missing", "No such file or directory", id="folder-that-is-not-there"),
        pytest.param("file", "Not a directory", id="file-for-a-folder"),
        pytest.param("x" * 300, "File name too long", id="long-name"),
        pytest.param("a\nb\x1b[2J", "No such file or directory", id="control-characters"),
    ],
)
def test_a_folder_that_cannot_be_written_is_one_error(
    run: Run, tmp_path: Path, place: str, why: str
) -> None:
    (tmp_path / "file").write_text("")
    error = run("completion", "install", "--dir", str(tmp_path / place)).error()
    assert why in error
    assert "--dir" in error
    assert error.endswith("(cannot-write)")
    assert error.isprintable()


def test_a_failure_on_the_way_leaves_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    error = run("completion", "install", "--dir", str(tmp_path)).error()
    assert "No space left on device" in error
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_removed_is_one_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("completion", "install", "--dir", str(tmp_path)).stdout()

    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "unlink", read_only)
    error = run("completion", "uninstall", "--dir", str(tmp_path)).error()
    assert "Read-only file system" in error
    assert os.listdir(tmp_path) == [EXECUTABLE]
