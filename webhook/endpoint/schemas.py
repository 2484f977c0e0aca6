"""What the endpoint answers, described: the models of the OpenAPI document's responses.

The answers themselves are the core's; tests hold them against these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

from kubectl_llmfit.catalog.entries import Kind
from kubectl_llmfit.catalog.facts import FACTS, Fact
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.objects import API_VERSIONS, CLAIM, TEMPLATE


def _one_of(choices: Iterable[str]) -> Any:
    return Field(json_schema_extra={"enum": list(choices)})


Token = Annotated[str, _one_of(sorted(reason.token for reason in reasons.ALL))]


class _Answer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class Summary(_Answer):
    """The numbers of a claim, as `kubectl llmfit render --json` prints them."""

    claim_name: str = Field(description="`metadata.name` of the object.")
    device_class: str
    efficiency_pct: int = Field(ge=1, le=100)
    memory_gi: int = Field(ge=1, description="Memory floor of one device, whole Gi (2^30 bytes).")
    min_bandwidth_gbs: int = Field(
        alias="minBandwidthGBs",
        ge=1,
        description="Memory bandwidth floor of one device, whole GB/s (10^9 bytes a second).",
    )
    min_tps: float = Field(gt=0)
    model: str = Field(description="The model's name in the catalog.")
    quant: str = Field(description="The quantization that was sized.")
    resolver_version: str = Field(description="The kubectl-llmfit that resolved the numbers.")
    weights_gb: float = Field(ge=0, description="Size of the weights, GB (10^9 bytes).")
    driver: str = Field("llmfit.ai", description="There where it is not llmfit.ai.")
    count: int = Field(1, ge=1, description="Devices; there where it is not 1.")


class Metadata(_Answer):
    """The metadata of a generated object."""

    name: str
    namespace: str = Field("", description="There where it was asked for.")
    labels: dict[str, str] = Field({}, description="There where they were asked for.")


class ClaimObject(_Answer):
    """A ResourceClaim or ResourceClaimTemplate, as `kubectl llmfit render -o json` prints it."""

    api_version: str = _one_of(API_VERSIONS)
    kind: str = _one_of((CLAIM, TEMPLATE))
    metadata: Metadata
    spec: dict[str, Any] = Field(description="As the Kubernetes API reference defines it.")


class NoClaim(_Answer):
    """Why a model gets no claim."""

    reason: Token
    message: str


def _fact_type(fact: Fact) -> Any:
    return {Kind.TEXT: str, Kind.COUNT: int, Kind.NUMBER: float}[fact.kind]


def _fact(fact: Fact) -> Any:
    unit = f", in {fact.unit}" if fact.unit else ""
    default = ... if fact.attribute in ("name", "parameters", "quantization") else None
    return _fact_type(fact), Field(default, description=f"{fact.title}{unit}.")


ModelFacts = create_model(
    "ModelFacts",
    __doc__="The facts of a model that are known; the form of an entry in a catalog file.",
    **{fact.label: _fact(fact) for fact in FACTS},
)


class FoundModel(_Answer):
    """A model with the claim that it gets by default: `claim`, or `noClaim` where it gets none."""

    model: ModelFacts  # type: ignore[valid-type]
    claim: Summary | SkipJsonSchema[None] = None
    no_claim: NoClaim | SkipJsonSchema[None] = None


class FoundModels(_Answer):
    """The models that were found, the best match first."""

    total: int = Field(ge=0, description="Models found; `models` holds the first of them.")
    models: list[FoundModel]


class Refusal(_Answer):
    """One thing that is wrong with a request."""

    reason: Token = Field(description="Stable; docs/reasons.md has its meaning.")
    sentence: str = Field(description="What is wrong, where, and what to do.")


class ProblemDetails(_Answer):
    """A problem as RFC 9457 has it."""

    type: Literal["about:blank"]
    title: str = Field(description="The phrase of the status.")
    status: int = Field(ge=400, le=599)
    detail: str
    problems: list[Refusal] = Field(
        [], description="Everything that is wrong with the request, where that can be told."
    )
