"""The benchmark's reviews are what they say, and its client takes nothing else for an answer."""

from __future__ import annotations

import json

import pytest

from kubectl_llmfit.core.rewrite.admission import essence
from tests.bench.admission.client import is_whole
from tests.bench.admission.review import BYTES, pod, review
from webhook.reviews.model import read_review


def _essence(number: int, *, alike: bool) -> object:
    request = read_review(review(number, alike=alike))
    assert request.is_new_pod
    assert request.object is not None
    return essence(request.object)


def test_reviews_are_of_that_size_and_of_pods_of_one_workload() -> None:
    assert len({review(number) for number in range(3)}) == 3
    assert {len(review(number, alike=alike)) for number in (0, 9) for alike in (True, False)} == {
        BYTES
    }
    assert _essence(1, alike=True) == _essence(2, alike=True)
    assert _essence(1, alike=False) != _essence(2, alike=False)


def test_pod_is_the_one_of_the_reviews_as_a_client_posts_it() -> None:
    made = json.loads(pod("x"))
    assert made["metadata"]["namespace"] == "x"
    assert (
        made["spec"]["containers"]
        == json.loads(review(1))["request"]["object"]["spec"]["containers"]
    )


@pytest.mark.parametrize(
    ("got", "whole"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n", False, id="head-cut"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{", False, id="body-cut"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", True, id="all"),
        pytest.param(
            b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
            False, id="chunks-cut",
        ),
        pytest.param(
            b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            True, id="chunks",
        ),
    ],
)  # fmt: skip
def test_an_answer_counts_when_it_is_whole(got: bytes, whole: bool) -> None:
    assert is_whole(got) is whole
