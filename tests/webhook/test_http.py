"""What is sent to the port: reviews and everything else, large, slow, broken and many."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.controlplane.waiting import wait_for
from tests.webhook.hosting import BOUNDS, Cluster, Hosted, hosted
from tests.webhook.pods import Object, pod, review
from webhook.reviews.http import ReviewBounds

JSON = {"Content-Type": "application/json"}


def without(field: str) -> Object:
    made = review(pod())
    del made["request"][field]
    return made


def changed(**fields: Any) -> Object:
    return {**review(pod()), **fields}


BAD = [
    pytest.param(b"", 400, "body: ", id="empty"),
    pytest.param(b"{", 400, "body: ", id="cut"),
    pytest.param(b"[]", 400, "body: ", id="list"),
    pytest.param(b"\xff\xfe", 400, "body: ", id="no-utf8"),
    pytest.param(b"[" * 100_000, 400, "body: ", id="deep"),
    pytest.param(b'{"a":' * 100_000, 400, "body: ", id="deep-objects"),
    pytest.param(json.dumps(changed(apiVersion="admission.k8s.io/v1beta1")).encode(), 400,
                 'admissionReviewVersions: ["v1"]', id="v1beta1"),
    pytest.param(json.dumps(changed(kind="Pod")).encode(), 400, "kind: ", id="other-kind"),
    pytest.param(json.dumps(changed(request=None)).encode(), 400, "request: ", id="null-request"),
    pytest.param(json.dumps(changed(request=[1])).encode(), 400, "request: ", id="list-request"),
    pytest.param(json.dumps(without("uid")).encode(), 400, "request.uid: ", id="no-uid"),
    pytest.param(json.dumps(review(pod(), uid=7)).encode(), 400, "request.uid: ", id="uid"),
    pytest.param(json.dumps(review(pod(), uid="u" * 129)).encode(), 400, "request.uid: ",
                 id="long-uid"),
    pytest.param(json.dumps(review(pod(), dryRun="yes")).encode(), 400, "request.dryRun: ",
                 id="dry-run"),
    pytest.param(json.dumps(review(None)).encode(), 400, "request.object: ", id="no-pod"),
    pytest.param(json.dumps(review(pod(), namespace="")).encode(), 400, "request.namespace: ",
                 id="no-namespace"),
    pytest.param(json.dumps(review(pod(), namespace="../secrets")).encode(), 400,
                 "request.namespace: ", id="path-for-a-namespace"),
    pytest.param(json.dumps(review(pod(), namespace="team\n")).encode(), 400,
                 "request.namespace: ", id="newline-behind-a-namespace"),
    pytest.param(json.dumps(review("pod")).encode(), 400, "request.object: ",  # type: ignore[arg-type]
                 id="text-for-a-pod"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "sentence"), BAD)
def test_what_is_no_review_is_the_senders_fault(
    webhook: Hosted, body: bytes, status: int, sentence: str
) -> None:
    before = webhook.count("reject", "bad-review")
    answered = webhook.client.post("/mutate", content=body, headers=JSON)
    assert answered.status_code == status
    assert sentence in answered.text
    assert answered.text.endswith(" (bad-review)\n")
    assert len(answered.text) < 1000
    assert webhook.count("reject", "bad-review") == before + 1
    assert webhook.ask(review(pod()))["allowed"] is True


def test_values_of_a_bad_review_are_not_sent_back(webhook: Hosted) -> None:
    secret = {"token": "s3cr3t"}
    answered = webhook.send(review(pod(), uid=secret, dryRun="s3cr3t"))
    assert answered.status_code == 400
    assert "s3cr3t" not in answered.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("GET", "/mutate", 405, id="get"),
        pytest.param("PUT", "/mutate", 405, id="put"),
        pytest.param("POST", "/", 404, id="root"),
        pytest.param("POST", "/mutate/", 404, id="slash"),
        pytest.param("GET", "/metrics", 404, id="not-this-port"),
    ],
)
def test_there_is_nothing_else(webhook: Hosted, method: str, path: str, status: int) -> None:
    assert webhook.client.request(method, path, json=review(pod())).status_code == status


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Content-Type": "text/plain"}, id="text"),
        pytest.param({"Content-Type": "application/yaml"}, id="yaml"),
        pytest.param({**JSON, "Content-Encoding": "gzip"}, id="packed"),
    ],
)
def test_a_review_is_plain_json(webhook: Hosted, headers: dict[str, str]) -> None:
    body = json.dumps(review(pod())).encode()
    assert webhook.client.post("/mutate", content=body, headers=headers).status_code == 415


def test_content_type_may_have_a_charset(webhook: Hosted) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    body = json.dumps(review(pod())).encode()
    assert webhook.client.post("/mutate", content=body, headers=headers).status_code == 200


LIMIT = BOUNDS.review_bytes


def padded(size: int) -> bytes:
    """A review of exactly ``size`` bytes."""
    body = json.dumps(review(pod())).encode()
    return body + b" " * (size - len(body))


def test_largest_review(webhook: Hosted) -> None:
    assert webhook.client.post("/mutate", content=padded(LIMIT), headers=JSON).status_code == 200


def test_one_byte_more_is_too_large(webhook: Hosted) -> None:
    answered = webhook.client.post("/mutate", content=padded(LIMIT + 1), headers=JSON)
    assert answered.status_code == 413
    assert answered.text == f"the review is larger than {LIMIT} bytes (bad-review)\n"


def test_too_large_without_saying_so_before(webhook: Hosted) -> None:
    """A chunked body states no length."""

    def chunks() -> Any:
        yield from [b" " * 65536] * (LIMIT // 65536 + 2)

    answered = webhook.client.post("/mutate", content=chunks(), headers=JSON)
    assert answered.status_code == 413


def secure(webhook: Hosted) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=str(webhook.authority))
    plain = socket.create_connection(("127.0.0.1", webhook.tls.port), timeout=10)
    return context.wrap_socket(plain, server_hostname="localhost")


def is_closed(connection: socket.socket) -> bool:
    """Reads until the other end closes; a socket's timeout is a failure."""
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while connection.recv(65536):
            pass
    return True


PATIENCE_S = 1.0


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A webhook that soon loses its patience with slow clients."""
    bounds = replace(BOUNDS, patience_s=PATIENCE_S)
    with hosted(tmp_path_factory.mktemp("hurried"), bounds=bounds) as made:
        yield made


HEAD = b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(HEAD, id="half-of-the-headers"),
        pytest.param(HEAD + b"Content-Length: 100\r\n\r\n{", id="half-of-the-body"),
        pytest.param(b"\x00\x01\x02", id="no-http"),
        pytest.param(HEAD + b"X: " + b"x" * 100_000 + b"\r\n\r\n", id="endless-header"),
        pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", id="negative-length"),
        pytest.param(
            HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            id="two-lengths",
        ),
    ],
)
def test_who_does_not_finish_is_cut_off(hurried: Hosted, sent: bytes) -> None:
    with secure(hurried) as connection:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            # What is refused half way is closed before all of it is sent.
            connection.sendall(sent)
        assert is_closed(connection)
    assert hurried.ask(review(pod()))["allowed"] is True


def test_who_leaves_in_the_middle_is_no_fault_of_the_webhook(webhook: Hosted) -> None:
    before = webhook.count("reject", "bad-review")
    with secure(webhook) as connection:
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        wait_for(lambda: "reviews_in_flight 1.0" in webhook.page("/metrics").text)
        # Closed without a word of TLS, and with a reset.
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    wait_for(lambda: webhook.count("reject", "bad-review") == before + 1)
    assert webhook.count("fail", "internal-error") == 0


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"Content-Length: 5, 5\r\n\r\nsecret", id="length"),
        pytest.param(b"Transfer-Encoding: chunked\r\n\r\nsecret\r\n", id="chunk"),
        pytest.param(b"secret\r\n\r\n", id="header"),
    ],
)
def test_broken_http_is_a_line_without_what_was_sent(
    webhook: Hosted, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    with secure(webhook) as connection:
        connection.sendall(HEAD + sent)
        assert connection.recv(65536).startswith(b"HTTP/1.")
    said = [each for each in caplog.records if each.name == "webhook.serving"]
    assert [each.levelname for each in said] == ["WARNING"]
    assert "secret" not in caplog.text
    assert "Traceback" not in caplog.text


def test_who_does_not_speak_tls_is_cut_off(hurried: Hosted) -> None:
    with socket.create_connection(("127.0.0.1", hurried.tls.port), timeout=10) as connection:
        assert is_closed(connection)


def test_connection_that_has_spoken_stays_open(hurried: Hosted) -> None:
    """Longer than the time for a first request: an API server keeps its connections."""
    body = json.dumps(review(pod())).encode()
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with secure(hurried) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.settimeout(PATIENCE_S * 1.5)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(10)


def test_only_so_many_reviews_at_a_time(tmp_path: Path) -> None:
    """The one that is too many hears at once, and so does the failurePolicy."""
    bounds = ReviewBounds(1024 * 1024, in_flight=2, patience_s=5, deadline_s=20)
    with hosted(tmp_path, Cluster(holds=True), bounds=bounds) as webhook:
        answers: list[int] = []

        def send() -> None:
            answers.append(webhook.send(review(pod())).status_code)

        threads = [threading.Thread(target=send) for _ in range(2)]
        for thread in threads:
            thread.start()
        gauge = "llmfit_webhook_reviews_in_flight"
        wait_for(lambda: webhook.metrics.registry.get_sample_value(gauge) == 2)
        refused = webhook.send(review(pod()))
        assert refused.status_code == 503
        assert refused.text == "2 reviews are at hand already (overloaded)\n"
        webhook.release()
        for thread in threads:
            thread.join()
        assert answers == [200, 200]
        assert webhook.count("fail", "overloaded") == 1


def test_only_so_many_bytes_at_a_time(tmp_path: Path) -> None:
    """Four of the largest reviews, whatever the number of small ones."""
    size = 64 * 1024
    bounds = ReviewBounds(size, in_flight=8, patience_s=5, deadline_s=20)
    with hosted(tmp_path, Cluster(holds=True), bounds=bounds) as webhook:

        def send() -> None:
            webhook.client.post("/mutate", content=padded(size), headers=JSON)

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        gauge = "llmfit_webhook_reviews_in_flight"
        wait_for(lambda: webhook.metrics.registry.get_sample_value(gauge) == 4)
        refused = webhook.send(review(pod()))
        assert refused.status_code == 503
        assert refused.text == "too many large reviews are at hand (overloaded)\n"
        webhook.release()
        for thread in threads:
            thread.join()
        assert webhook.ask(review(pod()))["allowed"] is True


@pytest.mark.parametrize(
    ("deadline_s", "timeout"),
    [
        pytest.param(0.2, {}, id="own"),
        pytest.param(0.2, {"timeout": "10s"}, id="shorter-than-the-servers"),
        pytest.param(30, {"timeout": "1s"}, id="the-servers"),
        pytest.param(0.2, {"timeout": "'; --"}, id="no-duration"),
    ],
)
def test_no_answer_is_better_than_a_late_one(
    tmp_path: Path, deadline_s: float, timeout: dict[str, str]
) -> None:
    bounds = ReviewBounds(1024 * 1024, in_flight=2, patience_s=5, deadline_s=deadline_s)
    with hosted(tmp_path, Cluster(holds=True), bounds=bounds) as webhook:
        answered = webhook.send(review(pod()), **timeout)
        assert answered.status_code == 503
        assert answered.text.endswith("(overloaded)\n")
        webhook.release()


def test_connections_are_bounded(tmp_path: Path) -> None:
    with hosted(tmp_path, connections=2) as webhook:
        with secure(webhook) as first, secure(webhook) as second, secure(webhook) as third:
            third.settimeout(10)
            assert is_closed(third)
            for each in (first, second):
                each.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")
                assert each.recv(65536).startswith(b"HTTP/1.1 400")
        assert webhook.ask(review(pod()))["allowed"] is True


@settings(deadline=None)
@given(body=st.binary(max_size=200))
def test_any_bytes(running: Hosted, body: bytes) -> None:
    answered = running.client.post("/mutate", content=body, headers=JSON)
    assert 400 <= answered.status_code < 500


@settings(deadline=None)
@given(data=st.data())
def test_a_review_with_any_byte_changed(running: Hosted, data: st.DataObject) -> None:
    body = bytearray(json.dumps(review(pod())).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    answered = running.client.post("/mutate", content=bytes(body), headers=JSON)
    assert answered.status_code < 500
    assert isinstance(answered, httpx.Response)
