"""The shape of the object in every API version, against the API's types written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kubectl_llmfit import ClaimTarget, ObjectOptions, render
from tests.unit.samples import seven_billion

VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
NESTED = VERSIONS[:2]

# The selector that `llmfit claim` prints for 6Gi and 148 GB/s.
CEL = (
    "'memory' in device.capacity['llmfit.ai'] && "
    "device.capacity['llmfit.ai'].memory.compareTo(quantity('6Gi')) >= 0 && "
    "'memoryBandwidthGBs' in device.attributes['llmfit.ai'] && "
    "device.attributes['llmfit.ai'].memoryBandwidthGBs >= 148 && "
    "'healthy' in device.attributes['llmfit.ai'] && "
    "device.attributes['llmfit.ai'].healthy"
)


def rendered(
    target: ClaimTarget = ClaimTarget(), options: ObjectOptions = ObjectOptions()
) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(render(seven_billion(), target, options))
    return document


def exact_request() -> dict[str, Any]:
    return {
        "deviceClassName": "llmfit.ai",
        "selectors": [{"cel": {"expression": CEL}}],
        "allocationMode": "ExactCount",
        "count": 1,
    }


@pytest.mark.parametrize("version", NESTED)
def test_a_claim_nests_its_request_under_exactly(version: str) -> None:
    assert rendered(options=ObjectOptions(api_version=version)) == {
        "apiVersion": version,
        "kind": "ResourceClaim",
        "metadata": {"name": "test-model-7b-fit"},
        "spec": {"devices": {"requests": [{"name": "model", "exactly": exact_request()}]}},
    }


def test_only_v1beta1_has_the_flat_request() -> None:
    assert rendered(options=ObjectOptions(api_version="resource.k8s.io/v1beta1")) == {
        "apiVersion": "resource.k8s.io/v1beta1",
        "kind": "ResourceClaim",
        "metadata": {"name": "test-model-7b-fit"},
        "spec": {"devices": {"requests": [{"name": "model", **exact_request()}]}},
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_template_holds_the_claims_spec(version: str) -> None:
    options = ObjectOptions(api_version=version)
    claim = rendered(options=options)
    assert rendered(ClaimTarget(template=True), options) == {
        "apiVersion": version,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "test-model-7b-fit"},
        "spec": {"spec": claim["spec"]},
    }


def test_v1_is_the_default() -> None:
    assert rendered()["apiVersion"] == "resource.k8s.io/v1"


@pytest.mark.parametrize("template", [False, True], ids=["claim", "template"])
def test_namespace_and_labels_go_into_the_objects_own_metadata(template: bool) -> None:
    options = ObjectOptions(namespace="llm", labels={"app": "chat", "b": "yes"})
    assert rendered(ClaimTarget(template=template), options)["metadata"] == {
        "name": "test-model-7b-fit",
        "namespace": "llm",
        "labels": {"app": "chat", "b": "yes"},
    }


def test_the_given_name_and_class_are_used() -> None:
    document = rendered(ClaimTarget(name="mine", device_class="gpu.llmfit.ai"))
    assert document["metadata"] == {"name": "mine"}
    (request,) = document["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == "gpu.llmfit.ai"


@pytest.mark.parametrize(
    ("version", "path", "keys"),
    [
        pytest.param(VERSIONS[0], (), ["apiVersion", "kind", "metadata", "spec"], id="object"),
        pytest.param(VERSIONS[0], ("metadata",), ["name", "namespace", "labels"], id="metadata"),
        pytest.param(
            VERSIONS[0], ("spec", "devices", "requests", 0), ["name", "exactly"], id="request"
        ),
        pytest.param(
            VERSIONS[0],
            ("spec", "devices", "requests", 0, "exactly"),
            ["deviceClassName", "selectors", "allocationMode", "count"],
            id="exactly",
        ),
        pytest.param(
            VERSIONS[2],
            ("spec", "devices", "requests", 0),
            ["name", "deviceClassName", "selectors", "allocationMode", "count"],
            id="flat-request",
        ),
        pytest.param(VERSIONS[0], ("metadata", "labels"), ["z", "a"], id="labels-as-given"),
    ],
)
def test_keys_have_a_fixed_order(version: str, path: tuple[Any, ...], keys: list[str]) -> None:
    node: Any = rendered(options=ObjectOptions("llm", {"z": "1", "a": "2"}, version))
    for step in path:
        node = node[step]
    assert list(node) == keys


def test_a_version_that_does_not_exist_is_no_option() -> None:
    with pytest.raises(ValueError, match=r"resource\.k8s\.io/v2"):
        render(seven_billion(), options=ObjectOptions(api_version="resource.k8s.io/v2"))


def test_the_same_input_gives_the_same_text() -> None:
    assert render(seven_billion()) == render(seven_billion())
