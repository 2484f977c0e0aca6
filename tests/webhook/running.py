"""The webhook's process as a test starts it, and what it says."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from pathlib import Path

import httpx

from tests.controlplane.waiting import wait_for
from tests.webhook.pki import Pki
from tests.webhook.pods import Object, review

FAKED = "tests.webhook.process"
"""The module of the process whose cluster is made up."""


class Process:
    """A webhook in a process of its own; its log is a file of JSON lines."""

    def __init__(self, folder: Path, module: str, *flags: str) -> None:
        self.pki = Pki(folder)
        self.hold = folder / "hold"
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", module, "--bind-address=127.0.0.1", "--tls-port=0",
                 "--plain-port=0", f"--tls-cert-file={self.pki.certificate}",
                 f"--tls-key-file={self.pki.key}", *flags],
                stderr=log,
                env=os.environ | {"LLMFIT_TEST_HOLD": str(self.hold)},
            )  # fmt: skip

    def log(self) -> str:
        """All that it has written."""
        return self._log.read_text()

    def lines(self, message: str) -> list[Object]:
        """The log's lines with that message."""
        read = [json.loads(line) for line in self._log.read_text().split("\n")[:-1]]
        return [each for each in read if each["message"] == message]

    def lines_of(self, level: str) -> list[Object]:
        """The log's lines of that level."""
        read = [json.loads(line) for line in self._log.read_text().split("\n")[:-1]]
        return [each for each in read if each["level"] == level]

    def port(self, name: str) -> int:
        (line,) = wait_for(lambda: self.lines("listening"), what=self._log.read_text)
        port: int = line[name]
        return port

    def page(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port('plain_port')}{path}", trust_env=False)

    def send(self, obj: Object) -> httpx.Response:
        context = ssl.create_default_context(cafile=str(self.pki.authority))
        url = f"https://127.0.0.1:{self.port('tls_port')}/mutate"
        return httpx.post(url, json=review(obj), verify=context, trust_env=False, timeout=20)

    def wait_ready(self) -> None:
        wait_for(lambda: self.page("/readyz").status_code == 200)
