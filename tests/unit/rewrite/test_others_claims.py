"""A pod that somebody else has half converted is finished, and never gets its devices twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kubectl_llmfit.core.rewrite.decide import decide
from kubectl_llmfit.core.rewrite.decision import Finish, Inject
from kubectl_llmfit.core.rewrite.inputs import Wishes
from kubectl_llmfit.core.rewrite.operations import applied
from tests.unit.rewrite.pods import Object, pod
from tests.unit.rewrite.test_decide import KNOWLEDGE, deployment, vllm


def gpu(count: int = 1, name: str = "gpu", device_class: str = "gpu.nvidia.com") -> Object:
    exactly = {"deviceClassName": device_class, "count": count}
    return {"name": name, "exactly": exactly}


def flat(count: int) -> Object:
    return {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": count}


ALL = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}}
FIRST = {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "gpu.nvidia.com"}]}
NO_COUNT = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}


def decided(limit: int, reference: Object, *requests: Object) -> tuple[Object, Any]:
    main = vllm(gpu=limit)
    main["resources"]["claims"] = [reference]
    spec = {**pod(main), "resourceClaims": [{"name": "own", "resourceClaimTemplateName": "t"}]}
    workload = deployment(spec)

    def read(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        assert entry["resourceClaimTemplateName"] == "t"
        return {"devices": {"requests": list(requests)}} if requests else None

    path = ("spec", "template")
    return workload, decide(workload, path, Wishes({}), replace(KNOWLEDGE, claims=read))


OWN = {"name": "own"}


@pytest.mark.parametrize(
    ("limit", "reference", "requests"),
    [
        pytest.param(1, OWN, [gpu()], id="one"),
        pytest.param(2, OWN, [gpu(2)], id="count"),
        pytest.param(2, OWN, [gpu(1, "a"), gpu(1, "b")], id="two-requests"),
        pytest.param(1, {"name": "own", "request": "b"}, [gpu(0, "a"), gpu(1, "b")], id="named"),
        pytest.param(1, OWN, [NO_COUNT], id="count-of-one-unsaid"),
        pytest.param(8, OWN, [ALL], id="all"),
        pytest.param(1, OWN, [FIRST], id="alternatives"),
        pytest.param(1, OWN, [flat(1)], id="v1beta1"),
        pytest.param(1, OWN, [gpu(device_class="gpu.llmfit.ai")], id="llmfit-stands-for-any"),
    ],
)
def test_only_the_limit_goes_out(limit: int, reference: Object, requests: list[Object]) -> None:
    workload, decision = decided(limit, reference, *requests)
    assert isinstance(decision, Finish)
    assert [each.token for each in decision.consequences][:1] == ["claim-kept"]
    (main,) = applied(workload, decision.operations)["spec"]["template"]["spec"]["containers"]
    assert main["resources"] == {"claims": [reference]}


@pytest.mark.parametrize(
    ("limit", "reference", "requests"),
    [
        pytest.param(1, OWN, [], id="not-known"),
        pytest.param(1, OWN, [gpu(device_class="rdma")], id="a-network-card"),
        pytest.param(1, OWN, [gpu(device_class="gpu.amd.com")], id="another-vendor"),
        pytest.param(1, OWN, [gpu(device_class="mig.nvidia.com")], id="a-part-of-one"),
        pytest.param(2, OWN, [gpu(1)], id="fewer"),
        pytest.param(1, {"name": "own", "request": "a"}, [gpu(1, "b")], id="another-request"),
        pytest.param(1, {"name": "other"}, [gpu()], id="another-claim"),
        pytest.param(1, OWN, [{"name": "gpu", "exactly": {"count": "x"}}], id="garbage"),
    ],
)
def test_another_claim_stays_beside_ours(
    limit: int, reference: Object, requests: list[Object]
) -> None:
    _, decision = decided(limit, reference, *requests)
    assert isinstance(decision, Inject)
    assert "other-claim-stays" in [each.token for each in decision.consequences]
