"""What hostile or broken clients put on the wire instead of an API server's request; by a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.webhook.mutations import reviews, tampered

_LINE = b"POST /mutate?timeout=10s HTTP/1.1"
_TYPE = (b"Content-Type", b"application/json")
Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class Sent:
    """The bytes of one connection, and what kind of mutation made them.

    With ``leaves`` the client hangs up at once; without ``is_tls`` it never heard of TLS.
    """

    kind: str
    data: bytes
    leaves: bool = False
    is_tls: bool = True


def requests(seed: int, count: int) -> Iterator[Sent]:
    """``count`` connections, the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.choice(_KINDS)
        yield kind(rng)


def good(body: bytes) -> bytes:
    """A request with ``body`` as an API server sends it."""
    return _request(body, [_TYPE, _length(body)])


def _request(body: bytes, headers: list[Header], line: bytes = _LINE) -> bytes:
    fields = [(b"Host", b"llmfit-webhook.llmfit-system.svc"), *headers]
    head = b"".join(name + b": " + value + b"\r\n" for name, value in fields)
    return line + b"\r\n" + head + b"\r\n" + body


def _length(body: bytes) -> Header:
    return b"Content-Length", str(len(body)).encode()


def _body(rng: random.Random) -> bytes:
    return json.dumps(rng.choice(reviews())).encode()


def _noise(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((1, 2, 8, 64, 1000)))


def _damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes flipped, cut off, put in, taken out, or repeated."""
    at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    match rng.randrange(5):
        case 0:
            flipped = bytearray(data)
            for _ in range(rng.choice((1, 1, 3, 30))):
                flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            return bytes(flipped)
        case 1:
            return data[:at]
        case 2:
            return data[:at] + _noise(rng) + data[at:]
        case 3:
            return data[:at] + data[to:]
        case _:
            return data[:to] + data[at:to] * rng.choice((1, 20)) + data[to:]


def _structure(rng: random.Random) -> Sent:
    return Sent("structure", good(tampered(rng)))


def _bytes_of_body(rng: random.Random) -> Sent:
    return Sent("bytes of the body", good(_damaged(rng, _body(rng))))


def _bytes_of_request(rng: random.Random) -> Sent:
    """Whatever may be hit: request line, headers, body; most of it in the head."""
    body = _body(rng)
    whole = good(body)
    head = len(whole) - len(body)
    damaged = _damaged(rng, whole[:head]) + body if rng.random() < 0.7 else _damaged(rng, whole)
    # Too short a request would have to be waited for, which ``_waiting`` is about.
    return Sent("bytes of the request", damaged, leaves=rng.random() < 0.2)


_LINES = [
    b"GET /mutate HTTP/1.1", b"HEAD /mutate HTTP/1.1", b"PUT /mutate HTTP/1.1",
    b"CONNECT a:1 HTTP/1.1", b"OPTIONS * HTTP/1.1", b"POST /mutate HTTP/1.0",
    b"POST /mutate HTTP/2.0", b"POST /mutate HTTP/9", b"POST /mutate", b"PRI * HTTP/2.0",
    b"POST //mutate HTTP/1.1", b"POST /mutate/../livez HTTP/1.1", b"POST /%6dutate HTTP/1.1",
    b"POST /mutate%00 HTTP/1.1", b"POST /mutate?timeout=0s HTTP/1.1",
    b"POST /mutate?timeout=-1s HTTP/1.1", b"POST /mutate?timeout=9999999999s HTTP/1.1",
    b"POST /mutate?timeout=%d9%a3s&timeout=\xff HTTP/1.1", b"POST /mutate?" + b"a" * 20_000,
    b"POST http://x/mutate HTTP/1.1", b"POST http://[::1/mutate HTTP/1.1",
    b"POST //[ HTTP/1.1", b"POST http://x:99999999/mutate HTTP/1.1", b"\x16\x03\x01\x02",
    b"X" * 30_000, b"", b" ", b"POST\t/mutate\tHTTP/1.1", b"post /mutate HTTP/1.1",
]  # fmt: skip
_HEADERS: list[Header] = [
    (b"Content-Type", b"application/json; charset=utf-16"), (b"Content-Type", b"text/plain"),
    (b"Content-Type", b""), (b"Content-Type", b"\xff/\xfe"), (b"Content-Type", b";;;="),
    (b"Content-Type", b"application/json; a*=x''%ff; a*0*=x"), (b"Content-Encoding", b"gzip"),
    (b"Content-Encoding", b"br, deflate"), (b"Expect", b"100-continue"), (b"Expect", b"a pony"),
    (b"Upgrade", b"h2c"), (b"Connection", b"upgrade"), (b"Connection", b"close, keep-alive, \xff"),
    (b"Host", b""), (b"Host", b"\x00"), (b"X", b"a" * 20_000), (b"X", b"\xff\xfe"), (b"", b"x"),
    (b" X", b"y"), (b"X ", b"y"), (b"X\r\n Y", b"folded"), (b"X\nY", b"z"), (b"X\x00", b"y"),
    (b"Cookie", b"a=b; " * 500), (b"Transfer-Encoding", b"gzip"), (b"Trailer", b"X"),
    (b"Sec-WebSocket-Key", b"x"), (b"If-Modified-Since", b"never"), (b"Range", b"bytes=9-1"),
]  # fmt: skip


def _head(rng: random.Random) -> Sent:
    body = _body(rng)
    headers = [_TYPE, _length(body), *rng.sample(_HEADERS, rng.choice((0, 1, 1, 2, 5)))]
    if rng.random() < 0.1:
        headers += [(b"X-%d" % number, b"y") for number in range(rng.choice((60, 70, 2000)))]
    rng.shuffle(headers)
    line = rng.choice(_LINES) if rng.random() < 0.4 else _LINE
    return Sent("head", _request(body, headers, line))


def _chunks(rng: random.Random, body: bytes) -> bytes:
    parts, at = [], 0
    while at < len(body):
        size = rng.choice((1, 7, 100, 2000))
        part = body[at : at + size]
        parts.append(b"%x\r\n%s\r\n" % (len(part), part))
        at += size
    return b"".join(parts)


_ENDS = [
    b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0;a=b\r\n\r\n", b"-1\r\n\r\n",
    b"ffffffffffffffffff\r\nx\r\n", b"zz\r\n\r\n", b"5\r\nabc\r\n\r\n", b"\r\n\r\n", b"0x0\r\n\r\n",
    b"0\n\n", b"1\r\nab\r\n0\r\n\r\n", b"0\r\n" + b"X: y\r\n" * 5000 + b"\r\n", b"0" * 20_000,
]  # fmt: skip


def _chunked(rng: random.Random) -> Sent:
    body = tampered(rng) if rng.random() < 0.3 else _body(rng)
    data = _chunks(rng, body) + rng.choice(_ENDS)
    encoding = rng.choice((b"chunked", b"chunked", b"chunked", b"Chunked", b"gzip, chunked", b"x"))
    headers = [_TYPE, (b"Transfer-Encoding", encoding)]
    if rng.random() < 0.1:
        headers.append(_length(body))
    return Sent("chunked", _request(data, headers))


def _wrong_length(rng: random.Random) -> Sent:
    """Shorter than the body, none, several, no number, or more than is taken."""
    body = _body(rng)
    shorter = str(rng.randrange(len(body))).encode()
    stated = rng.choice((
        shorter, shorter, shorter, b"", b"-1", b"1_0", b"+5", b"0x10", b"1e3", b"9" * 30, b"nan",
        b"999999999", b"5, 5", "٣".encode(),
    ))  # fmt: skip
    headers = [_TYPE, (b"Content-Length", stated)]
    if rng.random() < 0.2:
        headers.append(_length(body))
    return Sent("wrong length", _request(body, headers if rng.random() < 0.95 else [_TYPE]))


def _early_end(rng: random.Random) -> Sent:
    whole = good(_body(rng))
    return Sent("early end", whole[: rng.randrange(len(whole))], leaves=True)


def _waiting(rng: random.Random) -> Sent:
    """A request that never ends, from a client that stays."""
    whole = good(_body(rng))
    return Sent("no end", whole[: rng.randrange(1, len(whole))])


def _plain(rng: random.Random) -> Sent:
    data = good(_body(rng)) if rng.random() < 0.5 else b"\x16\x03\x01" + _noise(rng)
    return Sent("no TLS", data, is_tls=False, leaves=data.startswith(b"\x16"))


def _large(rng: random.Random) -> Sent:
    """Of megabytes, up to more than is taken."""
    text = rng.choice((b" ", b"[", b'{"a":', b'"\\u0000', b"1,", b"\xff"))
    body = b'{"a": ' + text * (rng.choice((1, 3, 5)) * 2**20 // len(text))
    return Sent("large", good(body))


_KINDS: list[Callable[[random.Random], Sent]] = [
    *[_structure] * 100, *[_bytes_of_body] * 40, *[_bytes_of_request] * 15, *[_head] * 15,
    *[_chunked] * 10, *[_wrong_length] * 10, *[_early_end] * 6, *[_waiting] * 2, *[_plain] * 2,
    _large,
]  # fmt: skip
