"""The endpoint as HTTP: statuses, headers, methods, bounds, and clients that mean no good."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.core.model import Model
from tests.webhook.endpoint.serving import serving
from webhook.endpoint.app import make_app
from webhook.endpoint.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "Qwen/Qwen2.5-7B-Instruct"
PROBLEM = "application/problem+json"
CLAIM = f"/v1/claim?model={MODEL}"
JSON = {"Content-Type": "application/json"}


def is_problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem of a response that has to be one."""
    assert (response.status_code, response.headers["content-type"]) == (status, PROBLEM)
    assert response.headers["cache-control"] == "no-store"
    problem: dict[str, Any] = response.json()
    assert (problem["type"], problem["status"]) == ("about:blank", status)
    assert problem["detail"]
    return problem


def reasons(problem: dict[str, Any]) -> list[str]:
    return [each["reason"] for each in problem["problems"]]


def raw(url: str, request: bytes) -> bytes:
    """All that the server answers to ``request`` until it closes the connection."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65536):
            received += piece
        return received


def test_claim_of_a_model(client: httpx.Client) -> None:
    """7.615616512 x 0.58 = 4.417 GB; 5 Gi; 20 x 4.417 / 0.55 = 160.6 GB/s."""
    response = client.get("/v1/claim", params={"model": MODEL})
    claim = response.json()
    assert (claim["memoryGi"], claim["minBandwidthGBs"], claim["weightsGb"]) == (5, 161, 4.4)
    assert dict(response.headers) | {"date": ""} == {
        "cache-control": "no-cache",
        "content-length": str(len(response.content)),
        "content-type": "application/json",
        "date": "",
        "x-content-type-options": "nosniff",
    }


def test_object_of_a_model(client: httpx.Client) -> None:
    body = {"model": MODEL, "output": "object", "template": True, "namespace": "llm"}
    claim = client.post("/v1/claim", json=body).json()
    assert (claim["apiVersion"], claim["kind"]) == ("resource.k8s.io/v1", "ResourceClaimTemplate")
    assert claim["metadata"] == {"name": "qwen-qwen2-5-7b-instruct-fit", "namespace": "llm"}


@pytest.mark.parametrize(
    ("model", "status", "reason"),
    [
        ("no-such-model", 404, "unknown-model"),
        ("", 404, "unknown-model"),
        ("x" * 501, 404, "unknown-model"),
        ("qwen2.5", 409, "ambiguous-model"),
        ("größe/模型-2bit", 422, "unknown-quantization"),
    ],
)
def test_model_that_is_not_found(
    client: httpx.Client, model: str, status: int, reason: str
) -> None:
    problem = is_problem(client.get("/v1/claim", params={"model": model}), status)
    assert reasons(problem) == [reason]
    assert problem["problems"][0]["sentence"] == problem["detail"]


def test_every_mistake_of_a_query_at_once(client: httpx.Client) -> None:
    query = "min_tps=-1&count=x&driver=nobody&labels=a&template=yes&min_tp=3&count=2&output=yaml"
    problem = is_problem(client.get(f"/v1/claim?{query}"), 422)
    starts = [each["sentence"].split(" ")[0] for each in problem["problems"]]
    assert sorted(starts) == sorted(
        ["count:", "model:", "min_tps:", "driver:", "labels:", "template:", "output:", "min_tp:"]
    )
    assert set(reasons(problem)) == {"invalid-value", "unknown-driver"}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("min_tps", "20", 'min_tps: "20" is not a number'),
        ("min_tps", True, "min_tps: true is not a number"),
        ("min_tps", [20], "min_tps: a list is not a number"),
        ("count", 1.5, 'count: "1.5" is not a whole number from 1 to 32'),
        ("count", None, "count: null is no value; leave it out"),
        ("model", 7, "model: 7 is not text"),
        ("model", {}, "model: an object is not text"),
        ("template", "true", 'template: "true" is not true or false'),
        ("labels", {"a": "b"}, "labels: an object is not text"),
        ("name", "Bad_Name", 'name: "Bad_Name" is no DNS subdomain'),
        ("namespace", "a.b", 'namespace: "a.b" is no DNS label'),
        ("a b\n", 1, '"a b\\n": is no parameter; there are model, quant, '),
    ],
)
def test_value_of_another_type(
    client: httpx.Client, field: str, value: object, sentence: str
) -> None:
    body = {"model": MODEL, field: value}
    problem = is_problem(client.post("/v1/claim", json=body), 422)
    assert [each["sentence"].startswith(sentence) for each in problem["problems"]] == [True]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b'{"model": "\xff"}', b'{"model": "\\ud800"}', b"[" * 10_000, b"{}{}"],
    ids=repr,
)
def test_body_that_is_no_json(client: httpx.Client, body: bytes) -> None:
    is_problem(client.post("/v1/claim", content=body, headers=JSON), 400)


@pytest.mark.parametrize("body", [b"[]", b"null", b"7", b'"x"'])
def test_body_that_is_no_object(client: httpx.Client, body: bytes) -> None:
    problem = is_problem(client.post("/v1/claim", content=body, headers=JSON), 422)
    assert problem["detail"] == "body: is no JSON object"


@pytest.mark.parametrize(
    ("parameters", "detail"),
    [
        ({}, "q: is missing"),
        ({"q": " "}, "q: is empty; give a part of a name"),
        ({"q": "x" * 201}, "q: has 201 characters; give at most 200"),
        ({"q": "x", "limit": "0"}, "limit: 0 is out of range; give a number from 1 to 100"),
        ({"q": "x", "limit": "101"}, "limit: 101 is out of range; give a number from 1 to 100"),
        ({"q": "x", "limit": "ten"}, 'limit: "ten" is not a whole number'),
    ],
)
def test_search_that_is_wrong(
    client: httpx.Client, parameters: dict[str, str], detail: str
) -> None:
    assert is_problem(client.get("/v1/models", params=parameters), 422)["detail"] == detail


def test_search_is_bounded(client: httpx.Client) -> None:
    found = client.get("/v1/models", params={"q": "a", "limit": "100"}).json()
    assert (found["total"] > 1000, len(found["models"])) == (True, 100)
    assert len(client.get("/v1/models", params={"q": "a"}).json()["models"]) == 20


@pytest.mark.parametrize("path", [CLAIM, "/v1/models?q=qwen", "/openapi.json", "/v1/claim"])
def test_head_is_get_without_a_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert dict(head.headers) | {"date": ""} == dict(get.headers) | {"date": ""}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/claim", "GET,HEAD,POST"),
        ("OPTIONS", "/v1/claim", "GET,HEAD,POST"),
        ("POST", "/v1/models", "GET,HEAD"),
        ("DELETE", "/openapi.json", "GET,HEAD"),
    ],
)
def test_other_methods(client: httpx.Client, method: str, path: str, allowed: str) -> None:
    response = client.request(method, path)
    is_problem(response, 405)
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/claim/", "/v1/claim%2f", "/%00", "/../etc"])
def test_other_paths(client: httpx.Client, path: str) -> None:
    is_problem(client.get(path), 404)


@pytest.mark.parametrize(
    "media_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"],
)
def test_other_media_types(client: httpx.Client, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    response = client.post("/v1/claim", content=b'{"model": "x"}', headers=headers)
    is_problem(response, 415)
    assert response.headers["accept-post"] == "application/json"


def test_a_post_has_no_query(client: httpx.Client) -> None:
    is_problem(client.post(CLAIM, json={"model": MODEL}), 400)


def chunks(total: int) -> Iterator[bytes]:
    for _ in range(total // 1000):
        yield b" " * 1000


@pytest.mark.parametrize("content", [b" " * 20_000, chunks(20_000)], ids=["known", "chunked"])
def test_large_bodies(client: httpx.Client, content: Any) -> None:
    is_problem(client.post("/v1/claim", content=content, headers=JSON), 413)


def test_compressed_bodies_are_measured_as_they_unfold(client: httpx.Client) -> None:
    import gzip

    headers = {**JSON, "Content-Encoding": "gzip"}
    content = gzip.compress(b" " * 10_000_000)
    assert len(content) < Limits().body_bytes
    is_problem(client.post("/v1/claim", content=content, headers=headers), 413)


def test_long_queries(client: httpx.Client) -> None:
    is_problem(client.get(CLAIM + "&labels=" + "x" * 5_000), 414)


@pytest.mark.parametrize(
    "line",
    [
        b"GET /v1/claim?model=\xff\xfe HTTP/1.1",
        b"GET /v1/claim?model=%FF%ED%A0%80 HTTP/1.1",
        b"GET /v1/claim?%=%zz&&=&model HTTP/1.1",
        b"GET /v1/claim?model=" + b"x" * 60_000 + b" HTTP/1.1",
        b"GET http://other/v1/claim?model=a HTTP/1.1",
        b"GET /\x00\x1b[2J HTTP/1.1",
        b"\x16\x03\x01\x02\x00",
        b"nonsense",
    ],
    ids=lambda line: repr(line[:40]),
)
def test_bytes_that_no_client_sends(url: str, line: bytes) -> None:
    """An answer of 4xx, with nothing in it that a terminal or a browser could stumble over."""
    answer = raw(url, line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    assert all(32 <= byte < 127 or byte in b"\r\n" for byte in answer)


def test_nothing_that_was_sent_comes_back_raw(client: httpx.Client) -> None:
    evil = "\x1b[2J\r\nSet-Cookie: a=b\u202e<script>"
    for response in (
        client.get("/v1/claim", params={"model": evil, evil: evil}),
        client.get("/v1/claim", params={"model": evil}),
        client.post("/v1/claim", json={"model": MODEL, "quant": evil, evil: 1}),
        client.get("/v1/models", params={"q": evil, "limit": evil}),
    ):
        assert min(response.content.replace(b"\n", b" ")) >= 32
        assert max(response.content) < 127
        assert "set-cookie" not in response.headers
        for each in response.json()["problems"]:
            assert each["sentence"].isprintable()


def test_entry_with_control_characters() -> None:
    entry = Model(name="evil\x1b[2J\u202e", parameters=7_000_000_000, quantization="F16")
    with serving(make_app(Catalog([entry]), ())) as url:
        found = httpx.get(f"{url}/v1/models", params={"q": "evil"})
        claim = httpx.get(f"{url}/v1/claim", params={"model": "evil\x1b[2J\u202e"})
    assert claim.json()["model"] == found.json()["models"][0]["model"]["name"] == entry.name
    assert b"\x1b" not in found.content + claim.content


class Stuck(Catalog):
    """A catalog whose look-up lasts until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.let_go = threading.Event()

    def resolve(self, selector: str) -> Model:
        self.entered.release()
        assert self.let_go.wait(30)
        return super().resolve(selector)


@contextmanager
def asking(url: str, times: int) -> Iterator[list[httpx.Response]]:
    """Asks for a claim in as many threads; the answers are there when the context has ended."""
    answers: list[httpx.Response] = []

    def ask() -> None:
        answers.append(httpx.get(url + CLAIM, timeout=30))

    threads = [threading.Thread(target=ask) for _ in range(times)]
    for each in threads:
        each.start()
    yield answers
    for each in threads:
        each.join(30)


def test_too_many_requests_at_once() -> None:
    catalog, limits = Stuck(), Limits(in_flight=2, workers=2, answer_seconds=30)
    with serving(make_app(catalog, (), limits)) as url:
        with asking(url, 2) as answers:
            assert catalog.entered.acquire(timeout=10)
            assert catalog.entered.acquire(timeout=10)
            refused = httpx.get(f"{url}/openapi.json")
            is_problem(refused, 503)
            assert refused.headers["retry-after"] == "1"
            catalog.let_go.set()
        assert [each.status_code for each in answers] == [200, 200]
        assert httpx.get(f"{url}/openapi.json").status_code == 200


def test_answer_that_takes_too_long() -> None:
    catalog = Stuck()
    with serving(make_app(catalog, (), Limits(answer_seconds=0.05))) as url:
        is_problem(httpx.get(url + CLAIM, timeout=30), 503)
        catalog.let_go.set()
        assert httpx.get(f"{url}/openapi.json").status_code == 200


def test_slow_search_holds_up_nothing_else() -> None:
    catalog = Stuck()
    with serving(make_app(catalog, (), Limits(workers=1, answer_seconds=30))) as url:
        with asking(url, 1) as answers:
            assert catalog.entered.acquire(timeout=10)
            assert httpx.get(f"{url}/openapi.json").status_code == 200
            catalog.let_go.set()
        assert [each.status_code for each in answers] == [200]


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (
            b"POST /v1/claim HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{",
            b"HTTP/1.1 408",
        ),
        (b"GET /v1/claim?model=", b""),
        (b"", b""),
    ],
    ids=["body", "headers", "silence"],
)
def test_slow_clients_are_cut_off(sent: bytes, answer: bytes) -> None:
    limits = Limits(read_seconds=0.1, idle_seconds=0.2)
    with serving(make_app(Catalog(), (), limits), limits) as url:
        received = raw(url, sent)
    assert received.startswith(answer)
    assert bool(received) is bool(answer)


def test_fault_of_our_own(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Catalog):
        def search(self, words: Sequence[str]) -> list[Model]:
            raise RuntimeError("secret of the inside")

    with serving(make_app(Broken(), ())) as url:
        response = httpx.get(f"{url}/v1/models", params={"q": "x"})
    problem = is_problem(response, 500)
    assert reasons(problem) == ["internal-error"]
    assert "secret" not in json.dumps(problem)
    (record,) = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert record.exc_info
