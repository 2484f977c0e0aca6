"""A pod's spec rewritten: who gets which request, and nothing else changed."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.claims.plan import Selector
from kubectl_llmfit.core.drivers.conditions import Has
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.rewrite.claim import PodClaim, claim_for
from kubectl_llmfit.core.rewrite.operations import applied, inverted
from kubectl_llmfit.core.rewrite.pod import operations_for
from kubectl_llmfit.core.rewrite.survey import survey
from tests.unit.rewrite.pods import Object, container, pod, sidecar

SIZED = Selector((Has("gpu.nvidia.com", "productName"),))
TEMPLATE = "llmfit-abc"


def planned(spec: Object, model: str | None = "main", driver: str | None = None) -> PodClaim:
    """The claim for a pod, its legacy names standing for their own classes."""
    containers = survey(spec, driver).containers
    return claim_for(containers, model, (SIZED,), lambda legacy: legacy.device_class)


def rewritten(spec: Object, model: str | None = "main", driver: str | None = None) -> Object:
    wanting = survey(spec, driver).wanting
    return applied(spec, operations_for(spec, wanting, planned(spec, model, driver), TEMPLATE))


def requests(claim: PodClaim) -> list[tuple[str, str, int]]:
    return [(each.name, each.device_class, each.count) for each in claim.plan.requests]


def test_one_container() -> None:
    spec = pod(container("main", gpu=1, cpu="4"))
    assert rewritten(spec) == {
        "containers": [
            {
                "name": "main",
                "image": "i",
                "resources": {"limits": {"cpu": "4"}, "claims": [{"name": "llmfit"}]},
            }
        ],
        "resourceClaims": [{"name": "llmfit", "resourceClaimTemplateName": TEMPLATE}],
    }
    (request,) = planned(spec).plan.requests
    assert (request.name, request.count, request.selectors) == ("model", 1, (SIZED,))


def test_limits_and_requests_and_what_is_left_of_them() -> None:
    both = {"name": "main", "resources": {
        "limits": {"nvidia.com/gpu": 2}, "requests": {"nvidia.com/gpu": "2", "memory": "1Gi"},
    }}  # fmt: skip
    (main,) = rewritten(pod(both))["containers"]
    assert main["resources"] == {"requests": {"memory": "1Gi"}, "claims": [{"name": "llmfit"}]}


def test_gpu_in_requests_only() -> None:
    spec = pod({"name": "main", "resources": {"requests": {"nvidia.com/gpu": 4}}})
    assert requests(planned(spec)) == [("model", "gpu.nvidia.com", 4)]
    assert "requests" not in rewritten(spec)["containers"][0]["resources"]


@pytest.mark.parametrize("zero", [0, "0", None])
def test_zero_is_taken_out_and_claims_nothing(zero: Any) -> None:
    spec = pod(container("main", gpu=zero, cpu=1))
    assert rewritten(spec) == pod(container("main", cpu=1))


def test_other_devices_and_other_claims_stay() -> None:
    main = container("main", gpu=1, rdma=1, amd=1)
    main["resources"]["claims"] = [{"name": "net"}]
    spec = {**pod(main), "resourceClaims": [{"name": "net", "resourceClaimName": "n"}]}
    after = rewritten(spec, driver="gpu.nvidia.com")
    assert after["containers"][0]["resources"] == {
        "limits": {"rdma/ib": 1, "amd.com/gpu": 1},
        "claims": [{"name": "net"}, {"name": "llmfit"}],
    }
    assert [each["name"] for each in after["resourceClaims"]] == ["net", "llmfit"]


def test_name_of_another_claim_is_not_taken() -> None:
    spec = {
        **pod(container("main", gpu=1)),
        "resourceClaims": [{"name": "llmfit", "resourceClaimName": "theirs"}],
    }
    after = rewritten(spec)
    assert after["resourceClaims"][1]["name"] == "llmfit-1"
    assert after["containers"][0]["resources"]["claims"] == [{"name": "llmfit-1"}]


# The pod's devices are max(sum(main) + sum(sidecars), max over init (init + earlier sidecars)),
# as the scheduler counts extended resources.
COUNTS = [
    pytest.param(pod(container(gpu=1)), 1, id="one"),
    pytest.param(pod(container("main", gpu=2), container("b", gpu=3)), 5, id="two-containers"),
    pytest.param(pod(container(gpu=2), init=(container("i", gpu=1),)), 2, id="init-fits"),
    pytest.param(pod(container(gpu=1), init=(container("i", gpu=4),)), 4, id="init-is-larger"),
    pytest.param(pod(container(cpu=1), init=(container("i", gpu=1),)), 1, id="init-only"),
    pytest.param(
        pod(container(cpu=1), init=(container("i", gpu=2), container("j", gpu=3))),
        3,
        id="two-inits",
    ),
    pytest.param(
        pod(container(gpu=1), init=(sidecar(gpu=1), container("i", gpu=2))), 3, id="after-a-sidecar"
    ),
    pytest.param(
        pod(container(gpu=1), init=(container("i", gpu=2), sidecar(gpu=1))),
        2,
        id="before-a-sidecar",
    ),
]


@pytest.mark.parametrize(("spec", "devices"), COUNTS)
def test_devices_as_the_scheduler_counts_them(spec: Object, devices: int) -> None:
    assert sum(count for _, _, count in requests(planned(spec))) == devices


@pytest.mark.parametrize(("spec", "devices"), COUNTS)
def test_every_container_sees_at_least_its_count(spec: Object, devices: int) -> None:
    claim = planned(spec)
    counts = {name: count for name, _, count in requests(claim)}
    for each in survey(spec).wanting:
        assert sum(counts[used] for used in claim.uses[each.path]) >= each.wants[0].count


def test_a_container_that_runs_beside_another_shares_nothing_with_it() -> None:
    spec = pod(container("main", gpu=1), container("b", gpu=1), init=(sidecar(gpu=1),))
    uses = list(planned(spec).uses.values())
    assert len({name for used in uses for name in used}) == 3


def test_requests_are_named_where_there_are_several() -> None:
    after = rewritten(pod(container("main", gpu=1), container("helper", gpu=1)))
    assert [each["resources"]["claims"] for each in after["containers"]] == [
        [{"name": "llmfit", "request": "model"}],
        [{"name": "llmfit", "request": "gpu"}],
    ]


def test_only_the_models_container_is_sized() -> None:
    claim = planned(pod(container("other", gpu=1), container("main", gpu=1)))
    assert [(each.name, each.selectors) for each in claim.plan.requests] == [
        ("gpu", ()),
        ("model", (SIZED,)),
    ]


def test_mig_keeps_its_profile() -> None:
    spec = pod({"name": "main", "resources": {"limits": {"nvidia.com/mig-1g.10gb": 1}}})
    (request,) = planned(spec, model=None).plan.requests
    assert request.device_class == "mig.nvidia.com"
    assert request.selectors[0].expression == (
        "'profile' in device.attributes['gpu.nvidia.com'] && "
        "device.attributes['gpu.nvidia.com'].profile in ['1g.10gb']"
    )


def test_several_vendors_need_a_driver() -> None:
    with pytest.raises(Refused) as caught:
        survey(pod(container("main", gpu=1), container("b", amd=1)))
    assert [each.reason.token for each in caught.value.problems] == ["several-drivers"]


def test_every_mistake_is_named_at_once() -> None:
    spec = pod(
        container("a", gpu="500m"), container("b", gpu=-1),
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000}}},
    )  # fmt: skip
    with pytest.raises(Refused) as caught:
        survey(spec)
    assert [each.reason.token for each in caught.value.problems] == [
        "bad-quantity",
        "bad-quantity",
        "shared-device",
    ]
    assert all('container "' in each.sentence for each in caught.value.problems)


def test_limit_goes_before_a_request_that_differs() -> None:
    spec = pod({"name": "main", "resources": {
        "limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 6},
    }})  # fmt: skip
    assert requests(planned(spec)) == [("model", "gpu.nvidia.com", 8)]
    (note,) = survey(spec).notes
    assert "the limit counts" in note


quantities = st.sampled_from([0, 1, "2", "3000m", None, 8])
limits = st.dictionaries(
    st.sampled_from(["nvidia.com/gpu", "cpu", "memory", "rdma/ib"]), quantities, max_size=4
)
resources = st.none() | st.fixed_dictionaries(
    {}, optional={"limits": st.none() | limits, "requests": st.none() | limits}
)
names = st.text("abc-", min_size=1, max_size=40)


@st.composite
def pods(draw: st.DrawFn) -> Object:
    def drawn(many: int, **more: Any) -> list[Object]:
        made = []
        for index in range(draw(st.integers(0, many))):
            one: Object = {"name": f"{index}{draw(names)}", **more}
            if draw(st.booleans()):
                one["resources"] = draw(resources)
            made.append(one)
        return made

    spec: Object = {"containers": drawn(3)}
    if draw(st.booleans()):
        spec["initContainers"] = [*drawn(2), *drawn(1, restartPolicy="Always"), *drawn(2)]
    if draw(st.booleans()):
        spec["resourceClaims"] = draw(st.sampled_from([None, [], [{"name": "net"}]]))
    return spec


@given(spec=pods())
def test_never_both_and_once_is_enough_and_it_can_be_undone(spec: Object) -> None:
    before = copy.deepcopy(spec)
    model = next((each["name"] for each in spec["containers"]), None)
    wanting = survey(spec).wanting
    claim = planned(spec, model)
    operations = operations_for(spec, wanting, claim, TEMPLATE)
    after = applied(spec, operations)
    assert spec == before
    assert "nvidia.com/gpu" not in repr(after)
    assert survey(after).wanting == ()
    assert operations_for(after, (), PodClaim(type(claim.plan)(()), {}), TEMPLATE) == ()
    assert applied(after, inverted(operations)) == before
    declared = {each["name"] for each in after.get("resourceClaims") or []}
    for each in [*after["containers"], *after.get("initContainers", [])]:
        used = (each.get("resources") or {}).get("claims") or []
        assert {reference["name"] for reference in used} <= declared
        pairs = [(reference["name"], reference.get("request")) for reference in used]
        assert len(set(pairs)) == len(pairs)
        assert all(re.fullmatch("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name) for name, _ in pairs)


@given(spec=pods())
def test_everything_else_stays(spec: Object) -> None:
    after = rewritten(spec, None)

    def without_devices(each: Object) -> Object:
        kept = {key: value for key, value in each.items() if key != "resources"}
        found = each.get("resources") or {}
        kept["others"] = {
            section: {k: v for k, v in (found.get(section) or {}).items() if k != "nvidia.com/gpu"}
            for section in ("limits", "requests")
        }
        return kept

    for field in ("containers", "initContainers"):
        assert [without_devices(each) for each in after.get(field, [])] == [
            without_devices(each) for each in spec.get(field, [])
        ]
