"""The process: ready when it can serve, and ended without losing a review."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.controlplane.waiting import wait_for
from tests.webhook.pods import pod
from tests.webhook.running import FAKED, Process


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Any]:
    processes: list[Process] = []

    def start(module: str, *flags: str) -> Process:
        folder = tmp_path / str(len(processes))
        folder.mkdir()
        processes.append(Process(folder, module, *flags))
        return processes[-1]

    yield start
    for each in processes:
        each.popen.kill()
        each.popen.wait()


def test_end_without_losing_a_review(started: Any) -> None:
    """Readiness goes first, new reviews are still answered, one at hand is finished, exit 0."""
    process = started(FAKED, "--drain-seconds=2", "--shutdown-seconds=20", "--deadline-seconds=30")
    process.wait_ready()
    process.hold.touch()
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(process.send(pod()).status_code))
    thread.start()
    in_flight = "llmfit_webhook_reviews_in_flight 1.0"
    wait_for(lambda: in_flight in process.page("/metrics").text)
    process.popen.send_signal(signal.SIGTERM)
    wait_for(lambda: process.page("/readyz").status_code == 503)
    assert process.page("/livez").status_code == 200
    late = process.send(pod(None))
    assert (late.status_code, late.headers["connection"]) == (200, "close")
    with pytest.raises(subprocess.TimeoutExpired):
        process.popen.wait(2.5)
    process.hold.unlink()
    thread.join()
    assert statuses == [200]
    assert process.popen.wait(20) == 0
    assert process.lines("ended")


def test_review_that_takes_too_long_does_not_keep_the_process(started: Any) -> None:
    process = started(FAKED, "--drain-seconds=0", "--shutdown-seconds=0.2")
    process.wait_ready()
    process.hold.touch()
    failed: list[bool] = []

    def send() -> None:
        try:
            failed.append(process.send(pod()).status_code >= 500)
        except httpx.TransportError:
            failed.append(True)

    thread = threading.Thread(target=send)
    thread.start()
    in_flight = "llmfit_webhook_reviews_in_flight 1.0"
    wait_for(lambda: in_flight in process.page("/metrics").text)
    process.popen.send_signal(signal.SIGTERM)
    assert process.popen.wait(20) == 0
    thread.join()
    assert failed == [True]


def test_not_ready_without_a_certificate(started: Any) -> None:
    process = started(FAKED, "--tls-cert-file=/none")
    page = process.page("/readyz")
    assert page.status_code == 503
    assert page.text == "[-] certificate\n[+] serving\n"
    assert process.page("/livez").status_code == 200


def test_one_line_for_a_review(started: Any) -> None:
    process = started(FAKED)
    process.wait_ready()
    assert process.send(pod()).status_code == 200
    (line,) = wait_for(lambda: process.lines("review"))
    assert line.pop("time").endswith("Z")
    assert 0 < line.pop("duration_ms") < 5000
    assert line.pop("template").startswith("llmfit-webhook-")
    assert line == {
        "level": "info",
        "part": "reviews.http",
        "message": "review",
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "namespace": "team",
        "name": "vllm-5d4f-",
        "decision": "inject",
        "model": "Qwen/Qwen2.5-7B-Instruct",
    }


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kubeconfig of a cluster that nobody serves."""
    named = {"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "x", "clusters": [named],
        "contexts": [context], "users": [{"name": "x", "user": {"token": "t"}}],
    }  # fmt: skip
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(file))


def test_without_an_api_server_it_lives_and_is_not_ready(started: Any, nobody: None) -> None:
    process = started("webhook", "--drain-seconds=0")
    wait_for(lambda: "[+] certificate\n" in process.page("/readyz").text)
    page = process.page("/readyz")
    assert (page.status_code, page.text) == (503, "[+] certificate\n[-] caches\n[+] serving\n")
    assert process.page("/livez").status_code == 200
    answered = process.send(pod())
    assert answered.status_code == 503
    assert answered.text.endswith("(cluster-unreachable)\n")
    process.popen.send_signal(signal.SIGTERM)
    assert process.popen.wait(20) == 0


def test_port_that_is_taken(started: Any, nobody: None) -> None:
    process = started(FAKED)
    process.wait_ready()
    second = started("webhook", f"--plain-port={process.port('plain_port')}")
    assert second.popen.wait(20) == 1
    (line,) = second.lines_of("error")
    assert "address already in use" in line["message"]


def test_catalog_that_is_not_there(started: Any, nobody: None) -> None:
    process = started("webhook", "--catalog=none.yaml")
    assert process.popen.wait(20) == 2
    (line,) = process.lines_of("error")
    assert line["message"].endswith("(bad-catalog)")


def _without_a_cluster() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        pytest.param(["--on-mistake=maybe"], "error: --on-mistake: ", id="value"),
        pytest.param(["--config=none.yaml"], "error: config none.yaml: ", id="no-config"),
        pytest.param([], "KUBECONFIG", id="no-cluster"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path: Path, flags: list[str], sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "webhook", *flags],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
        env=_without_a_cluster() | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
