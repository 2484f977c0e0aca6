"""Standard streams of a whole process: broken, full, closed, not UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.commandline import MODEL, REPOSITORY, environment, whole_process
from tests.unit.samples import catalog_file

# Shorter and longer than what Python buffers (8 KiB), and help, which click itself writes.
COMMANDS = {
    "render": ("render", MODEL),
    "search": ("models", "search", "a", "--limit", "0", "-o", "name"),
    "help": ("render", "--help"),
    "program-help": ("--help",),
    "no-command": (),
    "version": ("version",),
    "completion": ("__complete", "render", ""),
}
BUFFERS = {"buffered": None, "unbuffered": "1"}

NON_ASCII = "größe/模型-own-7b"


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_went_away_ends_it_quietly(command: str, buffer: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        finished = whole_process(
            *COMMANDS[command], stdout=writer, env=environment(PYTHONUNBUFFERED=BUFFERS[buffer])
        )
    finally:
        os.close(writer)
    assert finished.stderr == b""
    # What a shell reports for a program that SIGPIPE ended, as it ends kubectl.
    assert finished.returncode == 141


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_error(command: str, buffer: str) -> None:
    with Path("/dev/full").open("wb") as full:
        finished = whole_process(
            *COMMANDS[command], stdout=full, env=environment(PYTHONUNBUFFERED=BUFFERS[buffer])
        )
    assert finished.returncode == 1
    assert finished.stderr == (b"error: standard output: No space left on device (cannot-write)\n")


def closed(descriptors: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A whole process that starts with some of its standard streams closed."""
    return subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {descriptors}',
            "sh",
            sys.executable,
            "-m",
            "kubectl_llmfit",
            *arguments,
        ],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        env=environment(),
        timeout=60,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output_is_one_error(command: str) -> None:
    finished = closed(">&-", *COMMANDS[command])
    assert finished.returncode == 1
    lines = finished.stderr.decode().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: standard output: ")
    assert lines[0].endswith(" (cannot-write)")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_error_stream_does_no_harm(command: str) -> None:
    finished = closed("2>&-", *COMMANDS[command])
    assert (finished.returncode, finished.stdout) == (0, whole_process(*COMMANDS[command]).stdout)


def test_an_error_without_an_error_stream_is_still_an_error() -> None:
    finished = closed("2>&-", "render", "no-such-model")
    assert (finished.returncode, finished.stdout) == (1, b"")


def test_a_closed_input_does_no_harm() -> None:
    finished = closed("<&-", "render", MODEL, "-o", "name")
    assert (finished.returncode, finished.stderr) == (0, b"")


ENCODINGS = {
    "ascii-streams": {"PYTHONIOENCODING": "ascii"},
    "latin-1-streams": {"PYTHONIOENCODING": "latin-1"},
    "c-locale": {"LC_ALL": "C"},
    "missing-locale": {"LC_ALL": "xx_YY.ISO-8859-1"},
    "c-locale-taken-literally": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    },
}


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A catalog file with a model whose name is not ASCII."""
    entry = f"name: {NON_ASCII}, parameters: 7000000000, quantization: F16"
    return catalog_file(tmp_path / "own.yaml", entry)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_pipe_gets_utf_8_whatever_the_locale_is(encoding: str, own: str) -> None:
    env = environment(**ENCODINGS[encoding])
    arguments = ("own-7b", "--catalog", own)
    rendered = whole_process("render", *arguments, env=env)
    assert (rendered.returncode, rendered.stderr) == (0, b"")
    text = rendered.stdout.decode("utf-8")
    assert f"# model:     {NON_ASCII} (7B parameters, " in text
    assert yaml.safe_load(text)["metadata"]["name"] == "gr-e-own-7b-fit"
    info = whole_process("models", "info", *arguments, "-o", "yaml", env=env)
    assert yaml.safe_load(info.stdout.decode("utf-8"))["model"]["name"] == NON_ASCII
    table = whole_process("models", "search", *arguments, env=env)
    assert table.stdout.decode("utf-8").splitlines()[1].startswith(NON_ASCII)


# Taken literally, the C locale leaves no way to read an argument that is not ASCII.
@pytest.mark.parametrize("encoding", list(ENCODINGS)[:-1])
def test_an_error_is_readable_whatever_the_locale_is(encoding: str) -> None:
    finished = whole_process("render", "模型/größe", env=environment(**ENCODINGS[encoding]))
    assert (finished.returncode, finished.stdout) == (1, b"")
    assert finished.stderr.decode("utf-8").startswith('error: no model matches "模型/größe"; ')


def everything(descriptor: int) -> bytes:
    """What a terminal's other side gets until the last process has closed it."""
    written = b""
    while True:
        try:
            read = os.read(descriptor, 65536)
        except OSError:  # Linux says so where others say end of file
            return written
        if not read:
            return written
        written += read


def on_a_terminal(*arguments: str, **changes: str) -> tuple[int, bytes]:
    """Exit code and what a terminal gets of both streams."""
    ours, theirs = os.openpty()
    try:
        started = subprocess.Popen(
            [sys.executable, "-m", "kubectl_llmfit", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            cwd=REPOSITORY,
            env=environment(**changes),
        )
    finally:
        os.close(theirs)
    try:
        written = everything(ours)
        return started.wait(timeout=60), written
    finally:
        os.close(ours)


def test_a_terminal_that_cannot_show_a_character_gets_its_escape(own: str) -> None:
    code, written = on_a_terminal(
        "models", "info", "own-7b", "--catalog", own, PYTHONIOENCODING="ascii"
    )
    assert code == 0
    assert b"gr\\xf6\\xdfe/\\u6a21\\u578b-own-7b" in written


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as-it-is"),
        pytest.param({"NO_COLOR": "1"}, id="no-color"),
        pytest.param({"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}, id="color-forced"),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("render", MODEL), id="yaml"),
        pytest.param(("models", "info", MODEL, "-o", "wide"), id="page"),
        pytest.param(("render", "--help"), id="help"),
        pytest.param(("render", "a\x1b[31mb"), id="error"),
    ],
)
def test_no_escape_codes_are_ever_written(
    arguments: tuple[str, ...], changes: dict[str, str]
) -> None:
    _, written = on_a_terminal(*arguments, TERM="xterm-256color", **changes)
    assert written
    assert b"\x1b" not in written


def test_an_undecodable_argument_is_one_readable_error() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "kubectl_llmfit", "render", b"a\xff\xfeb"],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
        env=environment(),
    )
    assert (finished.returncode, finished.stdout) == (1, b"")
    assert finished.stderr.startswith(b'error: no model matches "a\\udcff\\udcfeb"; ')
    assert finished.stderr.count(b"\n") == 1


def test_a_warning_or_note_never_reaches_the_output() -> None:
    arguments = ("models", "search", "qwen", "--limit", "1", "-o", "json")
    finished = whole_process(*arguments)
    assert finished.stderr.endswith(b"--limit 0 shows all.\n")
    assert json.loads(finished.stdout)["models"]
