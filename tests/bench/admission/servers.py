"""Servers as processes of their own, each on the core that is theirs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.admission import golang
from tests.packaging.building import ROOT
from tests.webhook.pki import Pki

OURS, BARE, GO, TUNED_GO = "ours", "bare aiohttp", "Go", "Go, jsonv2 and GOGC=400"
SERVER_CORE, CLIENT_CORE = 0, 1
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A running server: its port, and what it uses."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.pid = process.pid
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"a server did not start:\n{log.read_text('utf-8')}")
        self.port = int(line)

    @property
    def cpu_seconds(self) -> float:
        """What all of its threads have used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def resident_bytes(self) -> int:
        """Its memory now."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024


def commands(pki: Pki) -> dict[str, tuple[Sequence[str], Mapping[str, str]]]:
    """Command and environment of each server; without Go there are two."""
    certificate, key = str(pki.certificate), str(pki.key)
    module = [sys.executable, "-m", "tests.bench.admission"]
    flags = [f"--tls-cert-file={certificate}", f"--tls-key-file={key}"]
    ports = ["--bind-address=127.0.0.1", "--tls-port=0", "--plain-port=0", "--drain-seconds=0"]
    made: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {
        OURS: ([*module[:2], f"{module[2]}.ours", *flags, *ports], {}),
        BARE: ([*module[:2], f"{module[2]}.bare", certificate, key], {}),
    }
    for name, build, env in (
        (GO, golang.ORDINARY, {}),
        (TUNED_GO, golang.TUNED, golang.TUNED_RUN),
    ):
        program = golang.program(build)
        if program is not None:
            made[name] = ([str(program), f"-cert={certificate}", f"-key={key}"], env)
    return made


@contextmanager
def running(
    command: Sequence[str], env: Mapping[str, str], log: Path, core: int = SERVER_CORE
) -> Iterator[Server]:
    """Runs a server on ``core``; what it logs goes to a file, as a container's does."""
    with log.open("w") as to, pinned(core):
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=to,
            text=True,
        )
    with process:
        try:
            yield Server(process, log)
        finally:
            process.terminate()


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Keeps this process, and those that it starts meanwhile, on one core."""
    before = os.sched_getaffinity(0)
    if core in before:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
