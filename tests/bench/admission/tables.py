"""Reviews a second and their latencies: ours, a bare aiohttp handler, webhooks in Go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.admission.client import Client, Load, request
from tests.bench.admission.review import review
from tests.bench.admission.servers import (
    CLIENT_CORE,
    Server,
    pinned,
)

SECONDS = 1.5
MANY = 100_000
_WARM_UP = 300


@dataclass(frozen=True)
class Run:
    """One run of a server: what was answered, and the CPU seconds that it took."""

    load: Load
    cpu_seconds: float

    @property
    def cpu_each(self) -> float:
        """CPU seconds of a review."""
        return self.cpu_seconds / len(self.load.latencies)


@dataclass(frozen=True)
class Runs:
    """The runs of one server with so many connections, in the order of the rounds."""

    runs: Sequence[Run]

    @property
    def rate(self) -> float:
        return median(each.load.rate for each in self.runs)

    @property
    def cpu_each(self) -> float:
        return median(each.cpu_each for each in self.runs)

    @property
    def client_busy(self) -> float:
        return median(each.load.busy for each in self.runs)

    def percentile(self, percent: int) -> float:
        return median(each.load.percentile(percent) for each in self.runs)


def compared(
    servers: dict[str, Server], authority: Path, connections: int, rounds: int
) -> dict[str, Runs]:
    """Every server once a round, forwards and backwards in turn."""
    messages = [request(review(number)) for number in range(64)]
    taken: dict[str, list[Run]] = {name: [] for name in servers}
    for number in range(rounds):
        names = list(servers) if number % 2 == 0 else list(reversed(servers))
        for name in names:
            taken[name].append(_run(servers[name], authority, connections, messages))
    return {name: Runs(runs) for name, runs in taken.items()}


def _run(server: Server, authority: Path, connections: int, messages: Sequence[bytes]) -> Run:
    with pinned(CLIENT_CORE):
        client = Client(server.port, authority, connections)
        client.load(messages, count=_WARM_UP)
        before = server.cpu_seconds
        load = client.load(messages, seconds=SECONDS)
        used = server.cpu_seconds - before
        client.close()
    return Run(load, used)
