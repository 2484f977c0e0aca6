"""What becomes of a workload, for every source of the model and every reason not to."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import UNKNOWN_MODEL, Refused, refuse
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.decide import decide_all
from kubectl_llmfit.core.rewrite.decision import Decision, Finish, Inject, Skip
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.operations import applied
from kubectl_llmfit.core.rewrite.workloads import kind_of, pod_templates
from tests.unit.drivers import boards
from tests.unit.rewrite.pods import Object, container, pod

# 10e9 parameters: 16-bit weights are 20 GB, x 1.2 = 24Gi; 20 tok/s at 55 %: 728 GB/s.
TEN = Model("acme/ten", 10_000_000_000, "Q4_K_M", min_vram_gb=6.0)


def resolve(selector: str) -> Model:
    if selector not in ("acme/ten", "ten"):
        raise refuse(UNKNOWN_MODEL, f"no model matches {selector}")
    return TEN


KNOWLEDGE = Knowledge(
    resolve,
    lambda name: TEN if name == TEN.name else None,
    lambda: (*boards.NVIDIA, *boards.AMD, *boards.INTEL),
)


def deployment(spec: Object, **annotations: str) -> Object:
    marks = {f"llmfit.ai/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"template": {"metadata": {"annotations": marks}, "spec": spec}},
    }


def vllm(*arguments: str, model: str = "acme/ten", **limits: Any) -> Object:
    return {
        **container("vllm", **(limits or {"gpu": 1})),
        "command": ["vllm", "serve", model, *arguments],
    }


def decided(workload: Object, knowledge: Knowledge = KNOWLEDGE, **wishes: Any) -> Decision:
    kind = kind_of(workload)
    assert kind is not None
    paths = pod_templates(workload, kind.templates)
    layer = {
        field: Sourced(value, f"--{field}") for field, value in wishes.pop("layer", {}).items()
    }
    (decision,) = decide_all(workload, paths, Wishes(layer, **wishes), knowledge)
    return decision


def injected(workload: Object, **wishes: Any) -> Inject:
    decision = decided(workload, **wishes)
    assert isinstance(decision, Inject)
    return decision


def tokens(workload: Object, **wishes: Any) -> list[str]:
    with pytest.raises(Refused) as caught:
        decided(workload, **wishes)
    return [each.reason.token for each in caught.value.problems]


def test_engine_says_model_and_precision() -> None:
    inject = injected(deployment(pod(vllm())))
    assert inject.sized.floors == boards.floors(24, 728)
    assert inject.sources["model"] == Sourced("acme/ten", "container vllm, command[2]")
    assert inject.sources["quant"].value == "BF16"


@pytest.mark.parametrize(
    ("annotations", "layer", "expected", "origin"),
    [
        pytest.param({"quant": "Q8_0"}, {}, "Q8_0", "annotation llmfit.ai/quant", id="annotation"),
        pytest.param({"quant": "Q8_0"}, {"quant": "F16"}, "F16", "--quant", id="flag-wins"),
    ],
)
def test_stated_precision_wins(
    annotations: dict[str, str], layer: dict[str, str], expected: str, origin: str
) -> None:
    inject = injected(deployment(pod(vllm()), **annotations), layer=layer)
    assert inject.sources["quant"] == Sourced(expected, origin)
    assert inject.sized.demand.quant.name == expected


def test_stated_model_wins_over_the_workloads() -> None:
    workload = deployment(pod(vllm(model="/models/x")), model="ten")
    assert injected(workload).sources["model"].origin == "annotation llmfit.ai/model"
    by_flag = injected(workload, model=Sourced("acme/ten", "--model"))
    assert by_flag.sources["model"].origin == "--model"


def test_model_by_flag_for_an_engine_that_is_not_known() -> None:
    """Then nothing says the precision either, and the catalog's own holds."""
    inject = injected(deployment(pod(container("main", gpu=1))), model=Sourced("ten", "--model"))
    assert inject.sized.demand.quant.name == "Q4_K_M"
    assert inject.sized.floors == boards.floors(6, 211)


def test_floors_are_divided_by_what_the_engine_does() -> None:
    inject = injected(deployment(pod(vllm("--tensor-parallel-size", "4", gpu=4))))
    assert inject.sized.floors == boards.floors(6, 182)
    assert inject.sized.placement.count == 4


def test_count_that_the_engine_does_not_use_is_a_warning_and_divides_nothing() -> None:
    inject = injected(deployment(pod(vllm(gpu=4))))
    assert inject.sized.floors == boards.floors(24, 728)
    assert "devices-and-shards-differ" in {each.token for each in inject.consequences}


def test_template_is_named_after_its_content() -> None:
    first, second = deployment(pod(vllm())), deployment(pod(vllm(), container("web", cpu=1)))
    names = {injected(each).template["metadata"]["name"] for each in (first, second)}
    assert len(names) == 1
    faster = injected(first, layer={"min_tps": "30"}).template["metadata"]["name"]
    assert {faster} != names


def test_result_is_the_rewritten_workload() -> None:
    workload = deployment(pod(vllm()))
    inject = injected(workload)
    after = applied(workload, inject.operations)["spec"]["template"]["spec"]
    name = inject.template["metadata"]["name"]
    assert after["resourceClaims"] == [{"name": "llmfit", "resourceClaimTemplateName": name}]
    assert after["containers"][0]["resources"] == {"claims": [{"name": "llmfit"}]}


@pytest.mark.parametrize(
    ("limits", "layer", "expected"),
    [
        pytest.param({"gpu": 1}, {}, "gpu.nvidia.com", id="nvidia"),
        pytest.param({"amd": 1}, {}, "gpu.amd.com", id="amd"),
        pytest.param({"gpu": 1}, {"driver": "llmfit.ai"}, "gpu.llmfit.ai", id="llmfit-for-a-gpu"),
        pytest.param({"gpu": 1}, {"device_class": "mig.nvidia.com"}, "mig.nvidia.com", id="class"),
    ],
)
def test_device_class(limits: Object, layer: dict[str, str], expected: str) -> None:
    inject = injected(deployment(pod(vllm(**limits)), quant="Q4_K_M"), layer=layer)
    (request,) = inject.template["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == expected


def test_workers_of_a_group_hold_the_leaders_model() -> None:
    worker = {**container("worker", gpu=2), "command": ["ray", "start", "--block"]}
    leader = vllm("--tensor-parallel-size=2", "--pipeline-parallel-size=2", gpu=2)
    group: Object = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "spec": {
            "leaderWorkerTemplate": {
                "leaderTemplate": {"spec": pod(leader)},
                "workerTemplate": {"spec": pod(worker)},
            }
        },
    }
    kind = kind_of(group)
    assert kind is not None
    paths = pod_templates(group, kind.templates)
    decisions = decide_all(group, paths, Wishes({}), KNOWLEDGE)
    sized = [each.sized.floors for each in decisions if isinstance(each, Inject)]
    assert sized == [boards.floors(6, 364), boards.floors(6, 364)]


SKIPPED = [
    pytest.param(deployment(pod(vllm(cpu=1))), "no-legacy-devices", id="no-device"),
    pytest.param(deployment(pod(vllm(gpu=0))), "no-legacy-devices", id="count-of-zero"),
    pytest.param(deployment(pod(vllm()), inject="false"), "opted-out", id="opted-out"),
]


@pytest.mark.parametrize(("workload", "token"), SKIPPED)
def test_skipped(workload: Object, token: str) -> None:
    decision = decided(workload)
    assert isinstance(decision, Skip)
    assert decision.reason.token == token


REFUSED = [
    pytest.param(pod(container("main", gpu=1)), "model-not-said", id="no-engine"),
    pytest.param(pod(vllm(model="/models/ten")), "model-not-said", id="path"),
    pytest.param(pod(vllm(model="acme/eleven")), "unknown-model", id="unknown"),
    pytest.param(pod(vllm(model="acme/te")), "unknown-model", id="part-of-a-name"),
    pytest.param(
        pod(container("a", gpu=1), container("b", gpu=1)), "ambiguous-container", id="which"
    ),
    pytest.param(pod(vllm(gpu="500m")), "bad-quantity", id="half-a-gpu"),
    pytest.param(pod(vllm(gpu=64)), "invalid-value", id="more-than-a-claim-takes"),
    pytest.param(pod(vllm(amd=1, gpu=1)), "several-drivers", id="two-vendors"),
]


@pytest.mark.parametrize(("spec", "token"), REFUSED)
def test_refused(spec: Object, token: str) -> None:
    assert tokens(deployment(spec)) == [token]


def test_container_can_be_named() -> None:
    spec = pod(container("a", gpu=1), container("b", gpu=1))
    wishes = {"model": Sourced("ten", "--model")}
    claim = injected(deployment(spec), container="b", **wishes).template["spec"]["spec"]
    names = {each["name"]: each["exactly"] for each in claim["devices"]["requests"]}
    assert "memory" in str(names["model"]["selectors"])
    assert "selectors" not in names["gpu"]
    assert tokens(deployment(spec), container="c", **wishes) == ["ambiguous-container"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_tps", "fast"), ("efficiency", "0"), ("driver", "x"), ("quant", "'] || true")],
)
def test_annotation_that_cannot_be_read_names_itself(name: str, value: str) -> None:
    with pytest.raises(Refused) as caught:
        decided(deployment(pod(vllm()), **{name: value}))
    (problem,) = caught.value.problems
    assert problem.sentence.startswith(f"annotation llmfit.ai/{name.replace('_', '-')}: ")


def with_limit(workload: Object, index: int = 0) -> Object:
    """The workload after someone who knows nothing of the claim put the limit back."""
    again = copy.deepcopy(workload)
    resources = again["spec"]["template"]["spec"]["containers"][index]["resources"]
    resources.setdefault("limits", {})["nvidia.com/gpu"] = 1
    return again


def test_claim_without_a_limit_beside_it_is_all_there_is_to_do() -> None:
    converted = applied(deployment(pod(vllm())), injected(deployment(pod(vllm()))).operations)
    decision = decided(converted)
    assert isinstance(decision, Skip)
    assert decision.reason.token == "already-claimed"


def test_limit_put_back_beside_the_claim_goes_out_again() -> None:
    converted = applied(deployment(pod(vllm())), injected(deployment(pod(vllm()))).operations)
    decision = decided(with_limit(converted))
    assert isinstance(decision, Finish)
    assert applied(with_limit(converted), decision.operations) == converted
    assert "claim-kept" in [each.token for each in decision.consequences]


def test_container_with_its_claim_takes_no_part_in_another() -> None:
    """The engine's limit came back, and a second container with a limit was added."""
    converted = applied(deployment(pod(vllm())), injected(deployment(pod(vllm()))).operations)
    before = converted["spec"]["template"]["spec"]["containers"][0]
    both = with_limit(converted)
    both["spec"]["template"]["spec"]["containers"].append(container("other", gpu=1))
    inject = injected(both, model=Sourced("ten", "--model"))
    spec = applied(both, inject.operations)["spec"]["template"]["spec"]
    assert spec["containers"][0] == before
    assert spec["containers"][1]["resources"] == {"claims": [{"name": "llmfit-1"}]}
    assert [each["name"] for each in spec["resourceClaims"]] == ["llmfit", "llmfit-1"]
    (request,) = inject.template["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["count"] == 1


def test_claim_that_is_not_known_is_named() -> None:
    """It may be a network card's, so that it is no reason to do nothing."""
    spec = pod(vllm())
    spec["containers"][0]["resources"]["claims"] = [{"name": "nic"}]
    spec["resourceClaims"] = [{"name": "nic", "resourceClaimTemplateName": "nics"}]
    inject = injected(deployment(spec))
    (said,) = (each for each in inject.consequences if each.token == "other-claim-stays")
    assert 'claim "nic"' in said.sentence


GPU_OF_LLMFIT = ("llmfit.ai", "gpu")
MANAGED = ("llmfit.ai", "vendorManaged")
VENDORS = ("gpu.nvidia.com", "gpu.nvidia.com")
STAND_IN = ("llmfit.ai", "gpu.llmfit.ai")


@pytest.mark.parametrize(
    ("counts", "limits", "layer", "expected"),
    [
        pytest.param(None, {"gpu": 1}, {}, VENDORS, id="not-known"),
        pytest.param({}, {"gpu": 1}, {}, VENDORS, id="nobody-publishes"),
        pytest.param({GPU_OF_LLMFIT: 2}, {"gpu": 1}, {}, STAND_IN, id="only-llmfit"),
        pytest.param({GPU_OF_LLMFIT: 2}, {"amd": 1}, {}, STAND_IN, id="for-another-vendor"),
        pytest.param({MANAGED: 2}, {"gpu": 1}, {}, VENDORS, id="only-what-vendors-manage"),
        pytest.param({("llmfit.ai", "cpu"): 1}, {"gpu": 1}, {}, VENDORS, id="only-a-cpu"),
        pytest.param(
            {GPU_OF_LLMFIT: 9, ("gpu.nvidia.com", "gpu"): 1}, {"gpu": 1}, {}, VENDORS, id="both"
        ),
        pytest.param(
            {GPU_OF_LLMFIT: 9, ("gpu.amd.com", "amdgpu"): 1},
            {"gpu": 1},
            {},
            STAND_IN,
            id="of-another-vendor",
        ),
        pytest.param(
            {GPU_OF_LLMFIT: 2},
            {"nvidia.com/mig-1g.10gb": 1},
            {"min_tps": "1"},
            ("gpu.nvidia.com", "mig.nvidia.com"),
            id="no-partitions",
        ),
        pytest.param(
            {GPU_OF_LLMFIT: 2}, {"gpu": 1}, {"driver": "gpu.nvidia.com"}, VENDORS, id="driver-wins"
        ),
        pytest.param(
            {GPU_OF_LLMFIT: 2},
            {"gpu": 1},
            {"device_class": "gpu.nvidia.com"},
            VENDORS,
            id="class-wins",
        ),
    ],
)
def test_slices_of_the_cluster_choose_the_driver(
    counts: dict[tuple[str, str], int] | None,
    limits: Object,
    layer: dict[str, str],
    expected: tuple[str, str],
) -> None:
    knowledge = replace(KNOWLEDGE, published=None if counts is None else Published(counts))
    decision = decided(deployment(pod(vllm(**limits))), knowledge, layer=layer)
    assert isinstance(decision, Inject)
    (request,) = decision.template["spec"]["spec"]["devices"]["requests"]
    driver = decision.sized.driver.name
    assert (driver, request["exactly"]["deviceClassName"]) == expected
    said = decision.sources.get("driver")
    chosen = Sourced("llmfit.ai", "the cluster's ResourceSlices")
    assert (said == chosen) == (expected == STAND_IN)
