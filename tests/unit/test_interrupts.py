"""Ctrl-C at any moment: the exit code of an interrupted program, and not a word."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kubectl_llmfit import __main__, cli
from kubectl_llmfit.console import streams
from tests.unit.commandline import MODEL, REPOSITORY, Run, environment

# What a shell reports for a program that SIGINT ended.
INTERRUPTED = 130


def open_when_read(fifo: Path) -> int:
    """A descriptor for writing, opened as soon as another process has it open for reading."""
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(os.open, fifo, os.O_WRONLY)
        try:
            return opening.result(timeout=60)
        finally:
            # Lets go of a thread that still waits, when the other process never came so far.
            os.close(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))


def test_an_interrupt_while_it_reads_ends_it_quietly(tmp_path: Path) -> None:
    fifo = tmp_path / "models.yaml"
    os.mkfifo(fifo)
    started = subprocess.Popen(
        [sys.executable, "-m", "kubectl_llmfit", "render", MODEL, "--catalog", str(fifo)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        env=environment(),
    )
    with started:
        writer = open_when_read(fifo)
        try:
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=60)
        finally:
            os.close(writer)
    assert (started.returncode, out, err.strip()) == (INTERRUPTED, b"", b"")


def interrupt(*_: object) -> int:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("garbage_collection")
def test_an_interrupt_while_it_starts_ends_it_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "main", interrupt)
    assert __main__.main(["render", MODEL]) == INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_while_it_writes_ends_it_quietly(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "flush", interrupt)
    finished = run("version")
    assert (finished.code, finished.err) == (INTERRUPTED, "")
