"""The parameters of each operation, and how a query or a JSON body becomes them.

The models are also where the OpenAPI document has its parameters from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.objects import V1
from kubectl_llmfit.core.reasons import Problem, Refused, printable, quoted
from kubectl_llmfit.core.request import Layer, Sourced
from kubectl_llmfit.core.sizing.formula import DEFAULT_EFFICIENCY_PCT, DEFAULT_MIN_TPS
from webhook.endpoint.fields import (
    MOST_MODELS,
    OUTPUTS,
    SEARCH_CHARACTERS,
    ApiVersion,
    Devices,
    Driver,
    Labels,
    Limit,
    Maybe,
    MinTps,
    Namespace,
    Output,
    Percent,
    Quant,
    Subdomain,
    Topology,
    Truth,
    core_name,
)


class MalformedBody(Exception):
    """The body is no JSON at all; the message says where it ends to be."""


class Parameters(BaseModel):
    """What the parameters of every operation have in common: types are strict, names known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ClaimParameters(Parameters):
    """What a claim is asked for: the flags of ``kubectl llmfit render``."""

    model: str = Field(
        description="The model's exact name, or a part of it that no other name has. Case does "
        "not count.",
        examples=["Qwen/Qwen2.5-7B-Instruct"],
        json_schema_extra={"minLength": 1, "maxLength": 500},
    )
    quant: Maybe[Quant] = Field(
        None,
        description="Quantization to size for instead of the model's own. Case does not count.",
        examples=["Q8_0"],
    )
    min_tps: MinTps = Field(
        DEFAULT_MIN_TPS, description="Decode speed to ask for, in tokens a second of one stream."
    )
    efficiency: Percent = Field(
        DEFAULT_EFFICIENCY_PCT,
        description="Share of the peak memory bandwidth that the engine reaches, in percent.",
    )
    driver: Maybe[Driver] = Field(
        None,
        description="DRA driver whose devices to ask for. If left out, the one that ships the "
        "device class, else llmfit.ai.",
    )
    device_class: Maybe[Subdomain] = Field(
        None,
        description="DeviceClass to ask for. If left out, the driver's one for a whole "
        "accelerator.",
        examples=["gpu.llmfit.ai"],
    )
    count: Maybe[Devices] = Field(
        None,
        description="Devices to ask for. If left out, as many as the model is split over.",
    )
    tensor_parallel: Maybe[Devices] = Field(
        None,
        description="Devices that each layer is split over, which divides memory and bandwidth. "
        "If left out, all of `count`.",
    )
    pipeline_parallel: Maybe[Devices] = Field(
        None,
        description="Devices that take whole layers in turn, which divides memory only.",
    )
    topology: Maybe[Topology] = Field(
        None, description="What all devices have to share; needs a `count` of 2 or more."
    )
    name: Maybe[Subdomain] = Field(
        None,
        description="`metadata.name` of the object. If left out, it is derived from the model's "
        "name.",
    )
    namespace: Maybe[Namespace] = Field(
        None, description="`metadata.namespace` of the object. If left out, it has none."
    )
    labels: Maybe[Labels] = Field(
        None,
        description="Labels of the object, as key=value pairs with commas between them.",
        examples=["app=chat"],
    )
    template: Truth = Field(
        False, description="A ResourceClaimTemplate (for pods) instead of a ResourceClaim."
    )
    api_version: ApiVersion = Field(V1, description="API version of the object.")
    output: Output = Field(
        OUTPUTS[0],
        description="`summary`: the numbers of the claim, as `render --json` prints them. "
        "`object`: the Kubernetes object, as `render -o json` prints it.",
    )

    def layer(self) -> Layer:
        """What is stated of a request; fields that were left out are not statements."""
        return {
            core_name(field): Sourced(str(getattr(self, field)), field)
            for field in _REQUEST_FIELDS
            if field in self.model_fields_set
        }


_REQUEST_FIELDS = (
    "quant",
    "min_tps",
    "efficiency",
    "driver",
    "device_class",
    "count",
    "tensor_parallel",
    "pipeline_parallel",
    "topology",
    "name",
)


class ModelsParameters(Parameters):
    """What models are searched for."""

    q: str = Field(
        description="Words that a model's name has to hold, every one, with spaces between them. "
        "Case does not count.",
        examples=["qwen2.5 instruct"],
        min_length=1,
        max_length=SEARCH_CHARACTERS,
        pattern=r"\S",
    )
    limit: Limit = Field(20, description="Greatest number of models to list.")


Read = TypeVar("Read", bound=Parameters)

# What a value of another type should have been, by pydantic's name of the error.
_WANTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
}


def from_query(kind: type[Read], pairs: Iterable[tuple[str, str]]) -> Read:
    """The parameters that a query states.

    Raises:
        Refused: everything that is wrong with it: unknown names, repetitions, missing and bad
            values.
    """
    stated: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in pairs:
        if name in stated:
            problems.append(_invalid(f"{_shown(name)}: is there more than once; give it once"))
        stated[name] = value
    try:
        read = kind.model_validate(stated)
    except ValidationError as error:
        problems += _problems(kind, error)
    if problems:
        raise Refused(dict.fromkeys(problems))
    return read


def from_json(kind: type[Read], body: bytes) -> Read:
    """The parameters that a JSON object states.

    Raises:
        MalformedBody: it is no JSON in UTF-8.
        Refused: everything that is wrong with its fields.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            if each["type"] == "json_invalid":
                raise MalformedBody(printable(each["ctx"]["error"])) from None
        raise Refused(dict.fromkeys(_problems(kind, error))) from None


def _problems(kind: type[Parameters], error: ValidationError) -> Iterator[Problem]:
    """pydantic's errors as problems; those that the core found are its own."""
    for each in error.errors(include_url=False):
        found = each.get("ctx", {}).get("error")
        if isinstance(found, Refused):
            yield from found.problems
        # What pydantic says beside the error of a field that may be left out.
        elif each["type"] != "none_required":
            field = str(each["loc"][0]) if each["loc"] else "body"
            yield _invalid(f"{_shown(field)}: {_mistake(kind, each)}")


def _mistake(kind: type[Parameters], error: Any) -> str:
    """What is wrong with one field, in words."""
    given, limits = error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            mistake = "is missing"
        case "extra_forbidden":
            mistake = f"is no parameter; there are {', '.join(kind.model_fields)}"
        case "model_type":
            mistake = "is no JSON object"
        case "string_too_long":
            mistake = f"has {len(given)} characters; give at most {limits['max_length']}"
        case "string_too_short" | "string_pattern_mismatch":
            mistake = "is empty; give a part of a name"
        case "greater_than_equal" | "less_than_equal":
            mistake = f"{given} is out of range; give a number from 1 to {MOST_MODELS}"
        case other:
            wanted = _WANTED.get(other, "a value that can be used")
            shown = quoted(given) if isinstance(given, str) else _json_kind(given)
            mistake = f"{shown} is not {wanted}"
    return mistake


def _json_kind(value: object) -> str:
    """What a JSON value is, without repeating all of it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value!r:.40}"
    return "an object" if isinstance(value, dict) else "a list"


def _shown(name: str) -> str:
    return name if name.isidentifier() and len(name) <= 40 else quoted(name, 40)


def _invalid(sentence: str) -> Problem:
    return Problem(reasons.INVALID_VALUE, sentence)
