"""The endpoint answers what the command line prints, byte for byte, and refuses what it refuses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from tests.webhook.endpoint.commandline import printed

if TYPE_CHECKING:
    import httpx

MODEL = "Qwen/Qwen2.5-7B-Instruct"
SHIPPED = list(ShippedCatalog().names())

repeatable = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# UTF-8 has no surrogates; empty text on a command line means that nothing is said.
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
numbers = st.sampled_from(("0", "-1", "1.5", "nan", "1e400", "1_0", "٣", " 20 ", "9" * 400))
counts = st.integers(1, 33).map(str) | numbers | words
names = st.sampled_from(("mine", "a.b", "Bad_Name", "a" * 254, "a" * 64)) | words
VALUES = {
    "quant": st.sampled_from(("Q8_0", "fp16", "AutoRound-2bit", "q4_k_m", "BF16")) | words,
    "min_tps": st.floats(0.01, 2e6).map(str) | st.integers(1, 100).map(str) | numbers | words,
    "efficiency": st.integers(1, 101).map(str) | numbers,
    "driver": st.sampled_from(
        ("llmfit.ai", "gpu.nvidia.com", "gpu.amd.com", "gpu.intel.com", "tpu.google.com", "nobody")
    ),
    "device_class": st.sampled_from(
        ("gpu.llmfit.ai", "gpu.nvidia.com", "mig.nvidia.com", "gpu.amd.com", "mine.example", "B c")
    ),
    "count": counts,
    "tensor_parallel": counts,
    "pipeline_parallel": counts,
    "topology": st.sampled_from(("pcie", "numa", "mesh")),
    "name": names,
    "namespace": names,
    "labels": st.sampled_from(("app=chat", "a=b,c=d", "x/y/z=1", "a", "a=-")) | words,
    "api_version": st.sampled_from(("resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2", "v1")),
    "template": st.sampled_from(("true", "false")),
    "output": st.sampled_from(("summary", "object")),
}
NUMBERS = ("min_tps", "efficiency", "count", "tensor_parallel", "pipeline_parallel")
models = st.one_of(
    st.just(MODEL),
    st.sampled_from(SHIPPED),
    st.sampled_from(
        ("Test Model 7B", "ACME/moe-30b", "acme/", "größe/模型-2bit", "no-such", "moe")
    ),
    words,
)
# Few fields at a time, so that most claims have one mistake or none.
asked = st.sets(st.sampled_from(sorted(VALUES)), max_size=4).flatmap(
    lambda fields: st.fixed_dictionaries({field: VALUES[field] for field in sorted(fields)})
)


def flags(values: dict[str, str]) -> list[str]:
    """``values`` as flags of render."""
    given_flags = []
    for field, value in values.items():
        flag = f"--{field.replace('_', '-')}"
        if field == "template":
            given_flags += [flag] if value == "true" else []
        elif field != "output":
            given_flags.append(f"{flag}={value}")
    form = ["-o", "json"] if values.get("output") == "object" else ["--json"]
    return [*given_flags, *form]


def refused(response: httpx.Response) -> set[str]:
    """The refusals of a response, in the form of the command line."""
    return {
        with_field(f"{each['sentence']} ({each['reason']})") for each in response.json()["problems"]
    }


def with_field(line: str) -> str:
    """A refusal with the name of a field where it starts with that of a flag."""
    return re.sub(r"^--([a-z-]+): ", lambda flag: f"{flag[1].replace('-', '_')}: ", line)


def check(response: httpx.Response, values: dict[str, str], model: str, own_models: str) -> None:
    """The response is what the command line prints."""
    shown = printed(["render", "--catalog", own_models, *flags(values), "--", model])
    if shown.code == 0:
        warning = response.headers.get("llmfit-warning")
        assert (response.status_code, response.text) == (200, shown.out)
        assert shown.err == ("" if warning is None else f"Warning: {warning}\n")
        return
    assert response.status_code in (404, 409, 422)
    ours = refused(response)
    theirs = {with_field(line.removeprefix("error: ")) for line in shown.err.splitlines()}
    assert ours
    assert ours <= theirs
    # Whether a class is the driver's is looked at when every field has been read.
    assert all(line.startswith("device class ") for line in theirs - ours)


@given(model=models, values=asked)
@repeatable
def test_a_query_gets_what_render_prints(
    client: httpx.Client, own_models: str, model: str, values: dict[str, str]
) -> None:
    response = client.get("/v1/claim", params={"model": model, **values})
    check(response, values, model, own_models)


def as_json(field: str, text: str) -> Any:
    """The value that a program writes into a body."""
    if field == "template":
        return text == "true"
    if field in NUMBERS and re.fullmatch(r"-?[0-9]{1,15}", text):
        return int(text)
    return float(text) if field == "min_tps" and re.fullmatch(r"[0-9]+\.[0-9]+", text) else text


@given(model=models, values=asked)
@repeatable
def test_a_body_gets_what_render_prints(
    client: httpx.Client, own_models: str, model: str, values: dict[str, str]
) -> None:
    body = {field: as_json(field, text) for field, text in values.items()}
    response = client.post("/v1/claim", json={"model": model, **body})
    no_numbers = [field for field in NUMBERS if isinstance(body.get(field), str)]
    if no_numbers:
        sentences = {each["sentence"] for each in response.json()["problems"]}
        assert response.status_code == 422
        for field in no_numbers:
            assert any(re.match(rf'{field}: ".*" is not a ', each) for each in sentences)
    else:
        check(response, values, model, own_models)


@pytest.mark.parametrize("model", [MODEL, "Test Model 7B", "acme/moe-30b"])
def test_every_parameter_at_once(client: httpx.Client, own_models: str, model: str) -> None:
    values = {
        "quant": "q8_0",
        "min_tps": "12.5",
        "efficiency": "70",
        "driver": "gpu.nvidia.com",
        "device_class": "gpu.nvidia.com",
        "count": "3",
        "tensor_parallel": "2",
        "pipeline_parallel": "1",
        "topology": "numa",
        "name": "mine",
        "namespace": "llm",
        "labels": "app=chat,tier=a",
        "template": "true",
        "api_version": "resource.k8s.io/v1beta1",
        "output": "object",
    }
    assert set(values) == set(VALUES)
    response = client.get("/v1/claim", params={"model": model, **values})
    check(response, values, model, own_models)
    assert response.json()["kind"] == "ResourceClaimTemplate"
    assert response.headers["llmfit-warning"].startswith("3 devices hold no whole number")


@given(
    words=st.lists(
        st.sampled_from(("qwen", "7b", "MoE", "acme", "2bit", "zzz")) | words, max_size=2
    )
)
@settings(repeatable, max_examples=25)
def test_a_search_gets_what_models_search_prints(
    client: httpx.Client, own_models: str, words: list[str]
) -> None:
    query = " ".join(words)
    if not query.strip():
        return
    response = client.get("/v1/models", params={"q": query, "limit": "7"})
    arguments = ["--catalog", own_models, "--limit", "7", "-o", "json", "--", query]
    assert (response.status_code, response.text) == (
        200,
        printed(["models", "search", *arguments]).out,
    )
