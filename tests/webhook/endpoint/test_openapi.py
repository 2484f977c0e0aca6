"""The endpoint does what its OpenAPI document says: requests are made from the document alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
