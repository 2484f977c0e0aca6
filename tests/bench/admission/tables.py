"""Reviews a second and their latencies: ours, a bare aiohttp handler, webhooks in Go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


Figure = Callable[[Run], float]


@dataclass(frozen=True)
class Runs:
    """The runs of one server with so many connections, in the order of the rounds."""

    runs: Sequence[Run]

    def median(self, figure: Figure) -> float:
        """The median of a figure of the runs."""
        return median(figure(run) for run in self.runs)

    def ratio(self, other: Runs, figure: Figure) -> float:
        """The median of the ratios to the other's run of the same round."""
        pairs = zip(self.runs, other.runs, strict=True)
        return median(figure(mine) / figure(its) for mine, its in pairs)


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
            "client is how busy the client's core was. Ratios are medians of pairs within a round."
        )
        _memory(servers, pki.authority)


def _print(taken: Mapping[str, Runs], connections: int) -> None:
    row("program", "a second", "ratio", "p50", "p99", "CPU each", "client", "target")
    base, go = taken[BARE], taken.get(GO) if connections == 1 else None
    for name, runs in taken.items():
        row(
            name,
            f"{runs.median(_rate):.0f}",
            f"{runs.ratio(base, _rate):.2f}",
            _latency(runs, go, 50),
            _latency(runs, go, 99),
            f"{runs.median(_cpu) * 1e6:.0f} µs",
            f"{runs.median(_client) * 100:.0f} %",
            (">= 0.75; <= 1.4" if connections == 1 else ">= 0.75") if name == OURS else "-",
        )


def _latency(runs: Runs, go: Runs | None, percent: int) -> str:
    """A percentile, and its ratio to Go's where there is a target for it."""

    def figure(run: Run) -> float:
        return run.load.percentile(percent)

    ratio = f" ({runs.ratio(go, figure):.2f})" if go else ""
    return f"{runs.median(figure) * 1000:.2f} ms{ratio}"


def _rate(run: Run) -> float:
    return run.load.rate


def _cpu(run: Run) -> float:
    return run.cpu_seconds / len(run.load.latencies)


def _client(run: Run) -> float:
    return run.load.busy


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
