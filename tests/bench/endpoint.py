"""Requests to the JSON endpoint, one after another over one connection."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from statistics import median
from urllib.parse import quote

from tests.bench.contenders import MODEL
from tests.packaging.building import ROOT

_WARM_UP = 100


def seconds_of_requests(count: int) -> list[float]:
    """How long each of ``count`` requests for a claim took, in a process started for them."""
    command = [sys.executable, "-m", "webhook", "api", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stderr is not None
            port = re.search(r'port":(\d+)', process.stderr.readline())
            assert port is not None
            return _ask(int(port[1]), _WARM_UP + count)[_WARM_UP:]
        finally:
            process.terminate()


def _ask(port: int, count: int) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        connection.request("GET", f"/v1/claim?model={quote(MODEL)}")
        response = connection.getresponse()
        response.read()
        taken.append(time.perf_counter() - start)
        assert response.status == http.client.OK
    connection.close()
    return taken


def rate(seconds: list[float]) -> tuple[float, float]:
    """Median latency in seconds, and requests a second."""
    return median(seconds), len(seconds) / sum(seconds)
