"""The OpenAPI document, made from the models that read the requests and describe the answers."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from kubectl_llmfit.core import reasons
from kubectl_llmfit.version import __version__
from webhook.endpoint import schemas
from webhook.endpoint.limits import Limits
from webhook.endpoint.parameters import ClaimParameters, ModelsParameters
from webhook.endpoint.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from pydantic import BaseModel

CLAIM_PATH = "/v1/claim"
MODELS_PATH = "/v1/models"
DOCUMENT_PATH = "/openapi.json"
WARNING = "Llmfit-Warning"

_REF = "#/components/schemas/{model}"
_JSON = "application/json"
_WARNING_HEADER = {
    WARNING: {
        "description": "A sentence about an answer that is likely not what was meant: devices "
        "that hold no whole number of copies of the model.",
        "schema": {"type": "string"},
    }
}


class _Schemas(GenerateJsonSchema):
    """JSON schemas without what a reader does not need: made-up titles, and null for "left out"."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """Never: the fields' names say it."""
        return False

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """The schema with its default, unless that is ``None``."""
        described = super().default_schema(schema)
        return {
            key: described[key] for key in described if (key, described[key]) != ("default", None)
        }


def document(limits: Limits = Limits()) -> dict[str, Any]:
    """The OpenAPI 3.1 document of the endpoint under ``limits``."""
    models = (
        *(ClaimParameters, ModelsParameters),
        *(schemas.Summary, schemas.ClaimObject, schemas.FoundModels, schemas.ProblemDetails),
    )
    _, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template=_REF, schema_generator=_Schemas
    )
    components: dict[str, Any] = definitions["$defs"]
    statuses = _statuses(limits)
    claim = _get(
        "getClaim",
        "The claim that fits a model",
        components[ClaimParameters.__name__],
        _ok([schemas.Summary, schemas.ClaimObject], _WARNING_HEADER),
        statuses,
    )
    found = _get(
        "getModels",
        "Models by a part of their name",
        components.pop(ModelsParameters.__name__),
        _ok([schemas.FoundModels]),
        {code: text for code, text in statuses.items() if code not in (404, 409)},
    )
    post = {
        "operationId": "postClaim",
        "summary": "The claim that fits a model, asked for in a JSON body",
        "requestBody": {
            "required": True,
            "content": {_JSON: {"schema": _ref(ClaimParameters)}},
        },
        "responses": {
            **_ok([schemas.Summary, schemas.ClaimObject], _WARNING_HEADER),
            **_problems({**statuses, **_body_statuses(limits)}),
        },
    }
    itself = {
        "operationId": "getDocument",
        "summary": "This document",
        "responses": {
            "200": {
                "description": "The OpenAPI document.",
                "content": {_JSON: {"schema": {"type": "object"}}},
            },
            **_problems({code: statuses[code] for code in (414, 503)}),
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kubectl-llmfit",
            "version": __version__,
            "summary": "Which claim of Dynamic Resource Allocation fits a model",
            "description": "Read-only. Names, values and refusals are those of the command line.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            CLAIM_PATH: {"get": claim, "head": _head(claim), "post": post},
            MODELS_PATH: {"get": found, "head": _head(found)},
            DOCUMENT_PATH: {"get": itself, "head": _head(itself)},
        },
        "components": {"schemas": components},
    }


def _get(
    operation: str,
    text: str,
    parameters: dict[str, Any],
    success: dict[str, Any],
    statuses: dict[int, str],
) -> dict[str, Any]:
    required = parameters.get("required", [])
    return {
        "operationId": operation,
        "summary": text,
        "parameters": [
            _parameter(name, dict(schema), required=name in required)
            for name, schema in parameters["properties"].items()
        ],
        "responses": {**success, **_problems(statuses)},
    }


def _parameter(name: str, schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    text = schema.pop("description")
    return {
        "name": name,
        "in": "query",
        "description": text,
        "required": required,
        "schema": schema,
    }


def _head(get: dict[str, Any]) -> dict[str, Any]:
    """The operation of ``get`` without bodies."""
    responses = {
        code: {key: part for key, part in response.items() if key != "content"}
        for code, response in get["responses"].items()
    }
    operation = get["operationId"].replace("get", "head")
    text = f"{get['summary']}: the headers alone"
    return {**get, "operationId": operation, "summary": text, "responses": responses}


def _statuses(limits: Limits) -> dict[int, str]:
    """Why each status comes, for every operation that has parameters."""
    return {
        400: "The request is no sound HTTP.",
        404: f"`{reasons.UNKNOWN_MODEL.token}`.",
        409: f"`{reasons.AMBIGUOUS_MODEL.token}`.",
        414: f"Path and query are longer than {limits.target_bytes} bytes.",
        422: "Parameters are wrong, or no claim can be made of them; every reason is listed.",
        503: f"More than {limits.in_flight} requests are in flight, or the answer took longer "
        f"than {limits.answer_seconds:g} seconds.",
    }


def _body_statuses(limits: Limits) -> dict[int, str]:
    return {
        400: "The body is no JSON, or there is a query as well.",
        408: f"The body took longer than {limits.read_seconds:g} seconds to arrive.",
        413: f"The body is longer than {limits.body_bytes} bytes.",
        415: f"The body is not of Content-Type {_JSON}.",
    }


def _ok(models: Iterable[type[BaseModel]], headers: Any = None) -> dict[str, Any]:
    refs = [_ref(model) for model in models]
    schema = refs[0] if len(refs) == 1 else {"oneOf": refs}
    answer: dict[str, Any] = {"description": HTTPStatus.OK.phrase}
    if headers is not None:
        answer["headers"] = headers
    return {"200": {**answer, "content": {_JSON: {"schema": schema}}}}


def _problems(statuses: dict[int, str]) -> dict[str, Any]:
    schema = {"schema": _ref(schemas.ProblemDetails)}
    return {
        str(code): {"description": text, "content": {MEDIA_TYPE: schema}}
        for code, text in sorted(statuses.items())
    }


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}
