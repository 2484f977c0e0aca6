"""The fields of the parameters: each read and checked by the core, so that its sentences are used.

A query holds text and a JSON body values, so a number is text in the one and a number in the
other; pydantic's mode tells which is read. JSON's ``null`` is no value: a field that is not meant
is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic.json_schema import SkipJsonSchema

from kubectl_llmfit.core import drivers, reasons
from kubectl_llmfit.core.claims.labels import parse_labels
from kubectl_llmfit.core.claims.names import (
    LABEL_MAX,
    LABEL_PATTERN,
    SUBDOMAIN_MAX,
    SUBDOMAIN_PATTERN,
    label_problems,
)
from kubectl_llmfit.core.claims.objects import API_VERSIONS
from kubectl_llmfit.core.claims.sized import MAX_DEVICES
from kubectl_llmfit.core.reasons import Refused, quoted, refuse
from kubectl_llmfit.core.request import TOPOLOGIES, Sourced, merge
from kubectl_llmfit.core.sizing.formula import MAX_MIN_TPS

T = TypeVar("T")

CORE_NAMES = {"efficiency": "efficiency_pct"}
"""Fields of ``ClaimRequest`` that have another name here: that of the flag."""

OUTPUTS = ("summary", "object")
MOST_MODELS = 100
SEARCH_CHARACTERS = 200

_QUERY = "python"  # pydantic's name of the mode in which a dict of text is read
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_TRUTH: dict[object, bool] = {"true": True, "false": False}


def core_name(field: str) -> str:
    """The name of ``field`` in the core's ``ClaimRequest``."""
    return CORE_NAMES.get(field, field)


def _read_by_core(text: str, field: str) -> Any:
    """The value of one field of a request. The core reads each by itself."""
    name = core_name(field)
    return getattr(merge({name: Sourced(text, field)}), name).value


def _number(value: object, info: ValidationInfo) -> object:
    """A number by the core; what is none in JSON is left to pydantic's check of the type."""
    if isinstance(value, str) and info.mode == _QUERY:
        return _read_by_core(value, info.field_name or "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _read_by_core(repr(value), info.field_name or "")
    return value


def _text(value: str, info: ValidationInfo) -> Any:
    return _read_by_core(value, info.field_name or "")


def _whole(value: object, info: ValidationInfo) -> object:
    """A whole number that only this endpoint has."""
    if isinstance(value, str) and info.mode == _QUERY and _WHOLE.fullmatch(value):
        return int(value)
    return value


def _truth(value: object, info: ValidationInfo) -> object:
    return _TRUTH.get(value, value) if info.mode == _QUERY and isinstance(value, str) else value


def _labels(value: str, info: ValidationInfo) -> str:
    parse_labels(value, info.field_name or "")
    return value


def _namespace(value: str, info: ValidationInfo) -> str:
    problems = label_problems(value, info.field_name or "")
    if problems:
        raise Refused(problems)
    return value


def _one_of(choices: Sequence[str]) -> Callable[[str, ValidationInfo], str]:
    def check(value: str, info: ValidationInfo) -> str:
        if value not in choices:
            sentence = f"{info.field_name}: {quoted(value)} is not one of {', '.join(choices)}"
            raise refuse(reasons.INVALID_VALUE, sentence)
        return value

    return check


def _not_null(value: object, info: ValidationInfo) -> object:
    if value is None:
        raise refuse(reasons.INVALID_VALUE, f"{info.field_name}: null is no value; leave it out")
    return value


def _schema(**keywords: Any) -> Any:
    return Field(json_schema_extra=keywords)


Maybe = Annotated[T | SkipJsonSchema[None], BeforeValidator(_not_null)]
"""A field that may be left out; ``None`` then."""

MinTps = Annotated[
    float, BeforeValidator(_number), _schema(exclusiveMinimum=0, maximum=MAX_MIN_TPS)
]
Percent = Annotated[int, BeforeValidator(_number), _schema(minimum=1, maximum=100)]
Devices = Annotated[int, BeforeValidator(_number), _schema(minimum=1, maximum=MAX_DEVICES)]
Quant = Annotated[str, AfterValidator(_text), _schema(minLength=1, maxLength=64)]
Subdomain = Annotated[
    str, AfterValidator(_text), _schema(maxLength=SUBDOMAIN_MAX, pattern=f"^{SUBDOMAIN_PATTERN}$")
]
Driver = Annotated[str, AfterValidator(_text), _schema(enum=list(drivers.BY_NAME))]
Topology = Annotated[str, AfterValidator(_text), _schema(enum=list(TOPOLOGIES))]
Namespace = Annotated[
    str, AfterValidator(_namespace), _schema(maxLength=LABEL_MAX, pattern=f"^{LABEL_PATTERN}$")
]
Labels = Annotated[str, AfterValidator(_labels)]
ApiVersion = Annotated[str, AfterValidator(_one_of(API_VERSIONS)), _schema(enum=list(API_VERSIONS))]
Output = Annotated[str, AfterValidator(_one_of(OUTPUTS)), _schema(enum=list(OUTPUTS))]
Truth = Annotated[bool, BeforeValidator(_truth)]
Limit = Annotated[int, Field(ge=1, le=MOST_MODELS), BeforeValidator(_whole)]
