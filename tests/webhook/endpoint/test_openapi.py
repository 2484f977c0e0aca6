"""The endpoint does what its OpenAPI document says: requests are made from the document alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from webhook.endpoint.openapi import document

if TYPE_CHECKING:
    import httpx

CONFIG = {
    "generation": {"deterministic": True},
    "checks": {
        "positive_data_acceptance": {"expected-statuses": [200]},
        "negative_data_rejection": {"expected-statuses": [400, 404, 405, 413, 414, 415, 422]},
    },
    # A claim may be refused although each parameter is sound: the model has to be known, the class
    # has to be the driver's.
    "operations": [
        {
            "include-path": "/v1/claim",
            "checks": {"positive_data_acceptance": {"expected-statuses": [200, 404, 409, 422]}},
        }
    ],
}

repeatable = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=30,
    suppress_health_check=list(HealthCheck),
)


# A copy: loading rewrites what it is given.
description = schemathesis.openapi.from_dict(
    json.loads(json.dumps(document())), config=schemathesis.Config.from_dict(CONFIG)
)


@description.parametrize()
@repeatable
def test_the_endpoint_is_as_described(case: schemathesis.Case[Any], url: str) -> None:
    case.call_and_validate(base_url=url)


def test_the_document_is_served(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json() == document()


@pytest.mark.parametrize(
    ("field", "value", "is_sound"),
    [
        ("min_tps", 0, False),
        ("min_tps", 0.001, True),
        ("min_tps", 1_000_000, True),
        ("min_tps", 1_000_001, False),
        ("efficiency", 0, False),
        ("efficiency", 1, True),
        ("efficiency", 100, True),
        ("efficiency", 101, False),
        ("count", 0, False),
        ("count", 32, True),
        ("count", 33, False),
        ("count", None, False),
        ("name", "a" * 253, True),
        ("name", "a" * 254, False),
        ("name", "a.b-c", True),
        ("name", "a\n", False),
        ("namespace", "a" * 63, True),
        ("namespace", "a" * 64, False),
        ("namespace", "a.b", False),
        ("driver", "gpu.amd.com", True),
        ("driver", "GPU.AMD.COM", False),
        ("topology", "", False),
        ("api_version", "resource.k8s.io/v1beta1", True),
        ("api_version", "resource.k8s.io/v1alpha3", False),
        ("template", 1, False),
        ("other", 1, False),
    ],
)
def test_bounds_are_the_described_ones(
    client: httpx.Client, field: str, value: object, is_sound: bool
) -> None:
    body = {"model": "Qwen/Qwen2.5-7B-Instruct", field: value}
    schema = document()["components"]["schemas"]["ClaimParameters"]
    assert jsonschema_rs.is_valid(schema, body) is is_sound
    assert client.post("/v1/claim", json=body).is_success is is_sound
