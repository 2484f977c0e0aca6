"""A client that costs less than any server: prepared bytes, one thread, no HTTP library."""

from __future__ import annotations

import re
import selectors
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_OK = b"HTTP/1.1 20"
_END = b"\r\n\r\n"
_CHUNKED, _LAST_CHUNK = b"\r\nTransfer-Encoding: chunked\r\n", b"\r\n0\r\n\r\n"


@dataclass(frozen=True)
class Load:
    """What was answered.

    Attributes:
        latencies: seconds of each review, in order.
        seconds: from the first to the last.
        busy: the share of that time that the client itself was at work.
    """

    latencies: Sequence[float]
    seconds: float
    busy: float

    @property
    def rate(self) -> float:
        """Reviews a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, percent: int) -> float:
        """The latency, in seconds, that so many per cent of the reviews kept below."""
        return quantiles(self.latencies, n=100)[percent - 1]


def request(body: bytes) -> bytes:
    """``body`` as the API server posts it."""
    head = (
        "POST /mutate?timeout=5s HTTP/1.1\r\nHost: llmfit-webhook.llmfit-system.svc:443\r\n"
        f"User-Agent: kube-apiserver-admission\r\nContent-Length: {len(body)}\r\n"
        "Accept: application/json, */*\r\nContent-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n\r\n"
    )
    return head.encode() + body


class _Connection:
    """One connection, with one request at a time."""

    def __init__(self, port: int, tls: ssl.SSLContext, expected: bytes) -> None:
        self._expected = expected
        plain = socket.create_connection(("127.0.0.1", port), timeout=30)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls.wrap_socket(plain, server_hostname="localhost")
        self._started = 0.0

    def send(self, message: bytes) -> None:
        self._started = time.perf_counter()
        self.socket.sendall(message)

    def receive(self) -> float:
        """The seconds since the request was sent; the answer has to be a good one."""
        got = self._more()
        while not is_whole(got):
            got += self._more()
        seconds = time.perf_counter() - self._started
        assert got.startswith(_OK), got
        assert self._expected in got.replace(b" ", b""), got
        return seconds

    def _more(self) -> bytes:
        got = self.socket.recv(65536)
        assert got, "the server has closed the connection"
        return got


def is_whole(got: bytes) -> bool:
    """Whether ``got`` is all of an answer."""
    end = got.find(_END)
    if end < 0:
        return False
    if _CHUNKED in got[: end + 2]:
        return got.endswith(_LAST_CHUNK)
    length = _LENGTH.search(got, 0, end + 2)
    assert length is not None, got
    return len(got) >= end + len(_END) + int(length[1])


class Client:
    """``connections`` open connections to ``port``; every answer has to hold ``expected``."""

    def __init__(
        self, port: int, authority: Path, connections: int, expected: bytes = b'"allowed":true'
    ) -> None:
        tls = ssl.create_default_context(cafile=str(authority))
        self._selector = selectors.DefaultSelector()
        self._connections = [_Connection(port, tls, expected) for _ in range(connections)]
        for each in self._connections:
            self._selector.register(each.socket, selectors.EVENT_READ, each)

    def load(self, messages: Sequence[bytes], seconds: float = 0, count: int = 0) -> Load:
        """Each connection sends one of ``messages`` after another, for a time or a count."""
        latencies: list[float] = []
        start, used = time.perf_counter(), time.process_time()
        waiting = sent = 0
        for each in self._connections:
            each.send(messages[sent % len(messages)])
            waiting, sent = waiting + 1, sent + 1
        while waiting:
            for key, _ in self._selector.select():
                latencies.append(key.data.receive())
                if sent < count or time.perf_counter() - start < seconds:
                    key.data.send(messages[sent % len(messages)])
                    sent += 1
                else:
                    waiting -= 1
        elapsed = time.perf_counter() - start
        return Load(latencies, elapsed, (time.process_time() - used) / elapsed)

    def steady(self, messages: Sequence[bytes], rate: float, seconds: float) -> list[float]:
        """Sends one message after another over one connection, ``rate`` of them a second.

        Latencies count from when a message was due, so that one that is late delays no clock.
        """
        (connection,) = self._connections
        start, latencies = time.perf_counter(), []
        for number in range(int(rate * seconds)):
            due = start + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            connection.send(messages[number % len(messages)])
            connection.receive()
            latencies.append(time.perf_counter() - due)
        return latencies

    def close(self) -> None:
        """Closes the connections."""
        for each in self._connections:
            each.socket.close()
        self._selector.close()
