"""``python -m webhook api``: the endpoint as a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[3]


@contextmanager
def process(*flags: str, env: Mapping[str, str] = {}) -> Iterator[subprocess.Popen[str]]:
    """The process; killed if the test has not ended it."""
    with subprocess.Popen(
        [sys.executable, "-m", "webhook", "api", *flags],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def port_of(started: subprocess.Popen[str]) -> int:
    """The port that the process says it listens on."""
    assert started.stderr is not None
    for line in started.stderr:
        found = re.search(r'"endpoint_port":(\d+)', line)
        if found:
            return int(found[1])
    raise AssertionError("the process ended without a port")


def ended(started: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error of a process that ends by itself."""
    out, err = started.communicate(timeout=30)
    assert out == ""
    return started.returncode, err


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_told_to_end(ending: signal.Signals, own_models: str) -> None:
    with process("--port", "0", "--catalog", own_models) as started:
        url = f"http://127.0.0.1:{port_of(started)}"
        claim = httpx.get(f"{url}/v1/claim", params={"model": "acme/moe-30b"}, timeout=30)
        assert claim.json()["memoryGi"] == 71
        started.send_signal(ending)
        assert started.wait(30) == 0


def test_settings_from_the_environment(own_models: str, tmp_path: Path) -> None:
    second = tmp_path / "second.yaml"
    second.write_text("models: [{name: only/second, parameters: 1000000000, quantization: F16}]\n")
    files = f"{own_models},{second}"
    env = {"LLMFIT_WEBHOOK_PORT": "0", "LLMFIT_WEBHOOK_CATALOG": files}
    with process(env=env) as started:
        url = f"http://127.0.0.1:{port_of(started)}/v1/claim"
        for model in ("acme/moe-30b", "only/second"):
            assert httpx.get(url, params={"model": model}, timeout=30).status_code == 200


def test_help() -> None:
    with process("--help") as started:
        out, err = started.communicate(timeout=30)
    assert (started.returncode, err) == (0, "")
    assert all(flag in out for flag in ("--bind-address", "--port", "--catalog", "--boards"))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "99999"], "error: --port: "),
        (["--port", "http"], "error: --port: "),
        (["--catalog", "/no/such/file.yaml"], "/no/such/file.yaml cannot be read"),
        (["--boards", "/a.yaml", "--boards", "/b.yaml"], "/b.yaml cannot be read"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_settings(flags: list[str], message: str) -> None:
    with process(*flags) as started:
        code, err = ended(started)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with process("--port", port) as started:
            code, err = ended(started)
    assert (code, port in err, "Traceback" in err) == (1, True, False)
