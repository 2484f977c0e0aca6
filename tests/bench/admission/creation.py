"""Pods created through a real API server, with nothing, ours or a webhook in Go in the path.

Scheduler and controller manager are stopped, so that what is measured is the creation alone. All
processes share the machine's cores, as the servers of a small control plane do.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from urllib.error import URLError
from urllib.request import urlopen

from tests.bench.admission import golang
from tests.bench.admission.client import Client
from tests.bench.admission.review import pod
from tests.bench.admission.servers import GO, OURS
from tests.bench.printing import mb, ms, row
from tests.controlplane.cluster import Cluster
from tests.controlplane.waiting import wait_for
from tests.packaging.building import ROOT
from tests.webhook.pki import Pki

NOTHING = "no webhook"
NAMESPACES = {NOTHING: "bench-none", OURS: "bench-ours", GO: "bench-go"}
CONNECTIONS, SATURATED_SECONDS = 16, 3.0
RATE, STEADY_SECONDS = 50, 5.0
_TICKS = os.sysconf("SC_CLK_TCK")
_START_LIMIT_SECONDS = 30.0
_MATCH = "has(object.metadata.annotations) && 'llmfit.ai/model' in object.metadata.annotations"


def creation_tables(folder: Path, rounds: int) -> None:
    """The start of ours, then pods a second and their latencies."""
    pki = Pki(folder)
    with Cluster.start() as cluster:
        _start_table(cluster, pki, rounds)
        with _in_the_path(cluster, pki) as names:
            _saturated_table(cluster, names, rounds)
            _steady_table(cluster, names, rounds)


def _start_table(cluster: Cluster, pki: Pki, rounds: int) -> None:
    """From the start of the process to ``/readyz``, caches filled from the API server."""
    taken = [_started(cluster, pki, f"start-{number}") for number in range(rounds + 1)][1:]
    print(f"\n## Start of the webhook to ready, median of {rounds} starts\n")
    row("program", "wall", "CPU", "memory", "target")
    wall, cpu, memory = (median(each) for each in zip(*taken, strict=True))
    row(OURS, ms(wall), ms(cpu), mb(memory), "<= 1.5 s")


def _started(cluster: Cluster, pki: Pki, name: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and memory of a start."""
    start = time.perf_counter()
    pid = _start_ours(cluster, pki, name)
    while not _is_ready(cluster, name):
        if time.perf_counter() > start + _START_LIMIT_SECONDS:
            raise RuntimeError(f"not ready in time:\n{cluster.group.tail(name)}")
        # Short against what is measured, and no load on the core that it starts on.
        time.sleep(0.005)
    wall = time.perf_counter() - start
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = Path(f"/proc/{pid}/statm").read_text().split()
    cluster.group.stop(name)
    cpu = (int(fields[11]) + int(fields[12])) / _TICKS
    return wall, cpu, int(status[1]) * os.sysconf("SC_PAGE_SIZE")


def _start_ours(cluster: Cluster, pki: Pki, name: str) -> int:
    flags = [f"--tls-cert-file={pki.certificate}", f"--tls-key-file={pki.key}"]
    ports = ["--bind-address=127.0.0.1", "--tls-port=0", "--plain-port=0"]
    command = [sys.executable, "-m", "webhook", *flags, *ports]
    return cluster.run(name, command, {"PYTHONPATH": str(ROOT)})


def _is_ready(cluster: Cluster, name: str) -> bool:
    port = _port(cluster, name, r'"plain_port":(\d+)')
    if port is None:
        return False
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as page:
            return bool(page.status == 200)
    except URLError:
        return False


def _port(cluster: Cluster, name: str, pattern: str) -> int | None:
    log = cluster.group.log(name)
    found = re.search(pattern, log.read_text()) if log.exists() else None
    return int(found[1]) if found else None


@contextmanager
def _in_the_path(cluster: Cluster, pki: Pki) -> Iterator[Mapping[str, str]]:
    """A namespace for each webhook, whose pods it is asked about."""
    program = golang.program(golang.ORDINARY)
    names = {name: each for name, each in NAMESPACES.items() if program or name != GO}
    for namespace in names.values():
        _make_namespace(cluster, namespace)
    _start_ours(cluster, pki, "ours")
    wait_for(lambda: _is_ready(cluster, "ours"), what="ours is ready")
    _ask(cluster, pki, OURS, _port(cluster, "ours", r'"tls_port":(\d+)'))
    if program:
        flags = [f"-cert={pki.certificate}", f"-key={pki.key}"]
        cluster.run("go", [str(program), *flags])
        _ask(cluster, pki, GO, wait_for(lambda: _port(cluster, "go", r"^(\d+)$"), what="Go"))
    for server in ("kube-scheduler", "kube-controller-manager"):
        cluster.group.stop(server)
    yield names


def _make_namespace(cluster: Cluster, name: str) -> None:
    cluster.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    wait_for(
        lambda: cluster.api.find("v1", "ServiceAccount", "default", name),
        what=f"the ServiceAccount of {name}",
    )


def _ask(cluster: Cluster, pki: Pki, name: str, port: int | None) -> None:
    """Has the API server ask the webhook at ``port``, and waits until it does."""
    namespace = NAMESPACES[name]
    client = {
        "url": f"https://127.0.0.1:{port}/mutate",
        "caBundle": base64.b64encode(pki.authority.read_bytes()).decode(),
    }
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    webhook = {
        "name": f"{namespace}.llmfit.ai",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client,
        "rules": [rule],
        "matchConditions": [{"name": "names-a-model", "expression": _MATCH}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "NoneOnDryRun",
        "reinvocationPolicy": "IfNeeded",
        "timeoutSeconds": 5,
    }
    cluster.api.create(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": namespace},
            "webhooks": [webhook],
        }
    )
    made = json.loads(pod(namespace))
    wait_for(
        lambda: "resourceClaims" in cluster.api.dry_run(made, namespace)["spec"],
        what=f"{name} is asked",
    )


def _client(cluster: Cluster, name: str, connections: int) -> tuple[Client, list[bytes]]:
    """A client of the API server, and what it posts."""
    namespace = NAMESPACES[name]
    body = pod(namespace)
    head = (
        f"POST /api/v1/namespaces/{namespace}/pods HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {cluster.token}\r\nAccept: application/json\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    expected = b'"kind":"Pod"' if name == NOTHING else b'"resourceClaimTemplateName"'
    port = int(cluster.url.rpartition(":")[2])
    return Client(port, cluster.ca_file, connections, expected), [head.encode() + body]


def _saturated_table(cluster: Cluster, names: Mapping[str, str], rounds: int) -> None:
    rates: dict[str, list[float]] = {name: [] for name in names}
    clients = {name: _client(cluster, name, CONNECTIONS) for name in names}
    for number in range(rounds + 1):
        for name in list(names) if number % 2 else reversed(list(names)):
            client, messages = clients[name]
            load = client.load(messages, seconds=SATURATED_SECONDS)
            if number:
                rates[name].append(load.rate)
    print(f"\n## Pods created a second, {CONNECTIONS} connections, median of {rounds} runs\n")
    row("program", "a second", "to no webhook", "to Go", "target")
    for name, taken in rates.items():
        target = ">= 0.9 of Go" if name == OURS else "-"
        to_none, to_go = _ratio(taken, rates[NOTHING]), _ratio(taken, rates.get(GO))
        row(name, f"{median(taken):.0f}", to_none, to_go, target)
    print("\nRatios are medians of pairs within a round.")


def _ratio(rates: Sequence[float], others: Sequence[float] | None) -> str:
    if others is None:
        return "-"
    return f"{median(mine / its for mine, its in zip(rates, others, strict=True)):.2f}"


def _steady_table(cluster: Cluster, names: Mapping[str, str], rounds: int) -> None:
    latencies: dict[str, list[float]] = {name: [] for name in names}
    clients = {name: _client(cluster, name, 1) for name in names}
    for number in range(rounds + 1):
        for name in list(names) if number % 2 else reversed(list(names)):
            client, messages = clients[name]
            taken = client.steady(messages, RATE, STEADY_SECONDS)
            if number:
                latencies[name] += taken
    print(f"\n## Latency at a steady {RATE} pods a second, {rounds} runs of {STEADY_SECONDS:g} s\n")
    row("program", "p50", "p99", "added p99", "target")
    base = quantiles(latencies[NOTHING], n=100)
    for name, taken in latencies.items():
        percentiles = quantiles(taken, n=100)
        added = "-" if name == NOTHING else ms(percentiles[98] - base[98])
        target = "<= 10 ms" if name == OURS else "-"
        row(name, ms(percentiles[49]), ms(percentiles[98]), added, target)
