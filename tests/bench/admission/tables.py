"""Reviews a second and their latencies: ours, a bare aiohttp handler, webhooks in Go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.admission.client import Client, Load, request
from tests.bench.admission.review import review
from tests.bench.admission.servers import (
    BARE,
    CLIENT_CORE,
    GO,
    OURS,
    Server,
    commands,
    pinned,
    running,
)
from tests.bench.printing import mb, row
from tests.webhook.pki import Pki

SECONDS = 1.5
MANY, DIFFERENT = 100_000, 2_000
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


def review_tables(folder: Path, rounds: int) -> None:
    """Reviews over TLS, the server on one core and the client on the other."""
    pki = Pki(folder)
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running(command, env, folder / f"{name}.log"))
            for name, (command, env) in commands(pki).items()
        }
        if GO not in servers:
            print("\nThere is no Go here: its webhooks are left out.")
        for connections in (1, 16):
            several = f"{connections} connections" if connections > 1 else "one connection"
            print(f"\n## Reviews of 10 KB over TLS, {several}, median of {rounds} runs in turn\n")
            _print(compared(servers, pki.authority, connections, rounds), connections)
        print(
            "\nThe target of ours is in reviews a second against bare aiohttp, and at one "
            "connection in p50 and p99 against Go. CPU each is the server's own for a review; "
            "client is how busy the client's core was."
        )
        _memory(servers, pki.authority)


def _print(taken: Mapping[str, Runs], connections: int) -> None:
    row("program", "a second", "ratio", "p50", "p99", "CPU each", "client", "target")
    base, go = taken[BARE], taken.get(GO) if connections == 1 else None
    for name, runs in taken.items():
        p50, p99 = (runs.percentile(percent) for percent in (50, 99))
        row(
            name,
            f"{runs.rate:.0f}",
            f"{runs.rate / base.rate:.2f}",
            f"{p50 * 1000:.2f} ms{_of(p50, go, 50)}",
            f"{p99 * 1000:.2f} ms{_of(p99, go, 99)}",
            f"{runs.cpu_each * 1e6:.0f} µs",
            f"{runs.client_busy * 100:.0f} %",
            (">= 0.75; <= 1.4" if connections == 1 else ">= 0.75") if name == OURS else "-",
        )


def _of(seconds: float, go: Runs | None, percent: int) -> str:
    """The ratio to Go's, where there is a target for it."""
    return f" ({seconds / go.percentile(percent):.2f})" if go else ""


def _memory(servers: Mapping[str, Server], authority: Path) -> None:
    """Resident memory after many reviews, and after some whose pods are all different."""
    print("\n## Memory after more reviews, 16 connections\n")
    row("program", "reviews", "memory", "a second", "target")
    server, target = servers[OURS], "<= 100 MB"
    row(OURS, "those above", mb(server.resident_bytes), "-", target)
    for kind, count, alike in (("alike", MANY, True), ("all different", DIFFERENT, False)):
        messages = [request(review(number, alike=alike)) for number in range(DIFFERENT)]
        with pinned(CLIENT_CORE):
            client = Client(server.port, authority, 16)
            load = client.load(messages, count=count)
            client.close()
        figures = (mb(server.resident_bytes), f"{load.rate:.0f}")
        row(OURS, f"{count:,} more, {kind}", *figures, target)
