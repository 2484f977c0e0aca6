"""The webhook's process under hostile reviews, then under many good ones: ``./dev soak``.

Its cluster is made up and never fails, so every 5xx is of the process's own making, but for
"overloaded" to hostile requests: a body of no stated length counts as one of the largest, and only
four of these may be at hand. Ends with exit code 1 when a 5xx of its own making was seen, when the
process ended or logged a fault, when an answer was wrong or none came, or when its memory grew by
more than is allowed. Latencies are shown and decide nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import random
import re
import signal
import ssl
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubectl_llmfit.core import reasons
from tests.webhook.mutations import reviews
from tests.webhook.pods import pod, review
from tests.webhook.running import FAKED, Process
from tests.webhook.wire import Sent, good, requests

MUTATED_GROWTH_BYTES = 96 * 2**20
GOOD_GROWTH_BYTES = 32 * 2**20
"""How much more the process may hold after a phase than before it.

What a connection leaves that ends too early is in cycles, which Python collects late: 6,000 such
connections in a row cost 66 MiB, and 18,000 more another 10.
"""

SEED = 6
_CONNECTIONS = 8
_SILENT_SECONDS = 60
"""An answer that is not there by then will not come: slow clients are cut off after two seconds."""

_FLAGS = ("--client-seconds=2", "--deadline-seconds=30", "--drain-seconds=0")
_TOKEN = re.compile(rb"\(([a-z-]+)\)\n$")
_SHOWN = 20
_MODELS = ("Qwen/Qwen2.5-7B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-0.5B")


@dataclass
class Phase:
    """What one phase came to; memory in bytes, latencies in seconds."""

    name: str
    before_bytes: int
    after_bytes: int = 0
    peak_bytes: int = 0
    seconds: float = 0.0
    answers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By kind, status and reason token."""
    latencies: list[float] = field(default_factory=list)

    @property
    def growth_bytes(self) -> int:
        return self.after_bytes - self.before_bytes


@dataclass
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes

    @property
    def token(self) -> str:
        found = _TOKEN.search(self.body)
        return found[1].decode() if found else ""


class Soak:
    """One process and what is sent to it; ``findings`` is what must not be."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.findings: list[str] = []
        self.phases: list[Phase] = []
        self._port = process.port("tls_port")
        self._tls = ssl.create_default_context(cafile=str(process.pki.authority))

    @asynccontextmanager
    async def _phase(self, name: str) -> AsyncIterator[Phase]:
        phase = Phase(name, self._memory())
        self.phases.append(phase)
        watching = asyncio.create_task(self._watch(phase))
        started = time.monotonic()
        try:
            yield phase
        finally:
            watching.cancel()
        phase.seconds = time.monotonic() - started
        if self.process.popen.poll() is not None:
            self._found(f"the process ended with {self.process.popen.returncode}")
            return
        phase.after_bytes = self._memory()
        phase.peak_bytes = max(phase.peak_bytes, phase.after_bytes)

    async def mutated(self, seed: int, count: int) -> None:
        """Hostile and broken requests, each on a connection of its own."""
        sending = requests(seed, count)

        async def client() -> None:
            for sent in sending:
                phase.answers[await self._outcome(sent)] += 1

        async with self._phase("mutated") as phase:
            await _all(client() for _ in range(2 * _CONNECTIONS))
        self._check_growth(phase, MUTATED_GROWTH_BYTES)

    async def good(self, seed: int, count: int, *, name: str = "good") -> None:
        """Reviews as an API server sends them, one after the other on each connection."""
        sending = _good_reviews(seed, count)

        async def client() -> None:
            reader, writer = await self._connect()
            for uid, body in sending:
                started = time.perf_counter()
                writer.write(good(body))
                answer = await asyncio.wait_for(_answer(reader), _SILENT_SECONDS)
                phase.latencies.append(time.perf_counter() - started)
                phase.answers["good", str(answer.status), answer.token] += 1
                self._check_claim(answer, uid)
            await _gone(writer)

        async with self._phase(name) as phase:
            await _all(client() for _ in range(_CONNECTIONS))
        self._check_growth(phase, GOOD_GROWTH_BYTES)

    def end(self) -> None:
        """Asks the process to end, and looks at what it has logged."""
        self.process.popen.send_signal(signal.SIGTERM)
        code = self.process.popen.wait(30)
        if code:
            self._found(f"the process ended with {code}")
        for line in self.process.log().splitlines():
            try:
                said = json.loads(line)
            except ValueError:
                self._found(f"a line of the log is no JSON: {line[:200]}")
                continue
            if said["level"] == "error" and said.get("reason") != reasons.OVERLOADED.token:
                self._found(f"an error in the log: {line[:1000]}")

    async def _outcome(self, sent: Sent) -> tuple[str, str, str]:
        """Kind, status and reason token of the answer to one hostile request."""
        try:
            answer = await asyncio.wait_for(self._sent(sent), _SILENT_SECONDS)
        except TimeoutError:
            self._found(f"{sent.kind}: no answer to {sent.data[:300]!r}")
            return sent.kind, "silence", ""
        except (OSError, asyncio.IncompleteReadError):
            return sent.kind, "cut off", ""
        if answer is None:
            return sent.kind, "client left", ""
        if answer.status >= 500 and answer.token != reasons.OVERLOADED.token:
            self._found(
                f"{sent.kind}: {answer.status} {answer.body[:200]!r} to {sent.data!r:.3000}"
            )
        if answer.status == 200:
            self._check_form(answer, sent)
        return sent.kind, str(answer.status), answer.token

    async def _sent(self, sent: Sent) -> Answer | None:
        reader, writer = await self._connect(is_tls=sent.is_tls)
        try:
            writer.write(sent.data)
            return None if sent.leaves else await _answer(reader)
        finally:
            await _gone(writer)

    async def _connect(
        self, *, is_tls: bool = True
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = self._tls if is_tls else None
        return await asyncio.open_connection("127.0.0.1", self._port, ssl=tls, limit=2**20)

    def _check_form(self, answer: Answer, sent: Sent) -> None:
        """Whatever was asked, an answer is a review of the API's form."""
        try:
            response = json.loads(answer.body)["response"]
            assert isinstance(response["uid"], str)
            assert response["allowed"] is ("status" not in response)
            if "patch" in response:
                assert isinstance(json.loads(base64.b64decode(response["patch"])), list)
        except (ValueError, KeyError, TypeError, AssertionError):
            self._found(f"{sent.kind}: {answer.body[:1000]!r} to {sent.data!r:.3000}")

    def _check_claim(self, answer: Answer, uid: str) -> None:
        """A good review is allowed, and its pod gets a claim."""
        response = json.loads(answer.body)["response"] if answer.status == 200 else {}
        patch = base64.b64decode(response.get("patch", ""))
        claims = b"resourceClaimTemplateName" in patch
        if response.get("uid") != uid or not response["allowed"] or not claims:
            self._found(f"good: {answer.status} {answer.body[:1000]!r}")

    def _check_growth(self, phase: Phase, allowed_bytes: int) -> None:
        if phase.growth_bytes > allowed_bytes:
            self._found(f"{phase.name}: memory grew by {_mib(phase.growth_bytes)}")

    def _found(self, what: str) -> None:
        self.findings.append(what)

    async def _watch(self, phase: Phase) -> None:
        while self.process.popen.poll() is None:
            phase.peak_bytes = max(phase.peak_bytes, self._memory())
            await asyncio.sleep(0.2)

    def _memory(self) -> int:
        """Resident memory of the process in bytes."""
        status = Path(f"/proc/{self.process.popen.pid}/status").read_text()
        (kib,) = re.findall(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
        return int(kib) * 1024


def run(folder: Path, *, mutated: int, good: int, seed: int = SEED) -> Soak:
    """Both phases against a new process, after some good reviews that warm it up."""
    process = Process(folder, FAKED, *_FLAGS)
    try:
        process.wait_ready()
        soak = Soak(process)

        async def phases() -> None:
            await soak.good(seed, 200, name="warm-up")
            await soak.mutated(seed, mutated)
            await soak.good(seed + 1, good)

        asyncio.run(phases())
        soak.end()
    finally:
        process.popen.kill()
        process.popen.wait()
    return soak


def _good_reviews(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Reviews with a claim as their end, and their uids: more of them than are remembered."""
    rng = random.Random(seed)
    usual = [each for each in reviews()[:5] if not each["request"]["dryRun"]]
    for number in range(count):
        if rng.random() < 0.1:
            made = review(pod(rng.choice(_MODELS), min_tps=f"{rng.randrange(1, 40_000) / 1000}"))
        else:
            made = rng.choice(usual)
        uid = f"705ab4f5-6393-11e8-b7cc-{number:012x}"
        yield uid, json.dumps(made | {"request": made["request"] | {"uid": uid}}).encode()


async def _all(clients: Iterator[Coroutine[Any, Any, None]]) -> None:
    async with asyncio.TaskGroup() as group:
        for each in clients:
            group.create_task(each)


async def _gone(writer: asyncio.StreamWriter) -> None:
    """Hangs up without a word of TLS."""
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> Answer:
    """The next answer that is final.

    Raises:
        asyncio.IncompleteReadError: the connection ended before it.
    """
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    if status < 200:
        return await _answer(reader)
    length = re.search(rb"\r\ncontent-length: (\d+)\r\n", head, re.IGNORECASE)
    try:
        return Answer(status, await reader.readexactly(int(length[1]) if length else 0))
    except asyncio.IncompleteReadError as error:
        # The answer to HEAD has no body.
        return Answer(status, error.partial)


def print_tables(soak: Soak) -> None:
    """Answers by kind, status and reason; memory and latency of each phase."""
    print("\n| phase | requests | seconds | memory before | after | peak | p50 | p99 |")
    print("|---|---|---|---|---|---|---|---|")
    for phase in soak.phases:
        sizes = map(_mib, (phase.before_bytes, phase.after_bytes, phase.peak_bytes))
        times = (_quantile(phase.latencies, share) for share in (0.5, 0.99))
        cells = [phase.name, f"{phase.answers.total():,}", f"{phase.seconds:.0f}", *sizes, *times]
        print(f"| {' | '.join(cells)} |")
    print("\n| sent | answer | reason | how often |\n|---|---|---|---|")
    answers = sum((phase.answers for phase in soak.phases), Counter[tuple[str, str, str]]())
    for (kind, status, token), count in sorted(answers.items()):
        print(f"| {kind} | {status} | {token or '-'} | {count:,} |")
    failed = Counter[str]()
    for (_, status, token), count in answers.items():
        failed[token or status] += count if status.startswith("5") else 0
    print(f"\n5xx by reason: {dict(+failed) or 'none'}; findings: {len(soak.findings)}")
    for finding in soak.findings[:_SHOWN]:
        print(f"- {finding}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it and prints the tables; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.webhook.soak", description=__doc__)
    parser.add_argument("--mutated", type=int, default=10_000, help="hostile requests")
    parser.add_argument("--good", type=int, default=100_000, help="good reviews")
    parser.add_argument("--seed", type=int, default=SEED, help="of what is sent")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kubectl-llmfit-soak-") as folder:
        soak = run(Path(folder), mutated=given.mutated, good=given.good, seed=given.seed)
    print_tables(soak)
    return 1 if soak.findings else 0


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"


def _quantile(seconds: list[float], share: float) -> str:
    if not seconds:
        return "-"
    return f"{sorted(seconds)[int(share * (len(seconds) - 1))] * 1000:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
