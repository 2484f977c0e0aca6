"""What is known is answered at once, and with the very same words as what has to be waited for."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from kubectl_llmfit.core.drivers.auto import Published
from tests.webhook.hosting import Cluster, mutator
from tests.webhook.pods import NAMESPACE, Object, pod, review
from webhook.reviews.answer import Outcome, answer
from webhook.reviews.model import AdmissionRequest, read_review
from webhook.reviews.mutate import Mutator

pytestmark = pytest.mark.anyio


class Keeping(Cluster):
    """A cluster whose templates are known once they are made."""

    def has(self, template: Object, owner: Object | None) -> bool:
        return (template, owner) in self.made


def request(obj: Object, **more: Any) -> AdmissionRequest:
    return read_review(json.dumps(review(obj, **more)).encode())


@pytest.fixture
def cluster() -> Keeping:
    return Keeping(namespaces={NAMESPACE: {"metadata": {"name": NAMESPACE}}})


@pytest.fixture
def made(cluster: Keeping) -> Mutator:
    return mutator(cluster)


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(pod(), id="inject"),
        pytest.param(pod(inject="false"), id="skip"),
        pytest.param(pod(min_tps="fast"), id="deny"),
        pytest.param(pod("no/such-model"), id="unknown-model"),
    ],
)
async def test_second_pod_is_answered_at_once_as_the_first(
    made: Mutator, cluster: Keeping, obj: Object
) -> None:
    first = request(obj)
    assert made.at_once(first) is None
    verdict = await made.verdict(first)
    again = copy.deepcopy(obj)
    again["metadata"]["generateName"] = "another-"
    second = made.at_once(request(again))
    assert second is not None
    assert answer("u", second) == answer("u", verdict)
    assert len(cluster.made) <= 1


async def test_what_has_to_be_made_is_waited_for(made: Mutator, cluster: Keeping) -> None:
    """A dry run makes nothing, and its answer is no promise to the next pod."""
    dry = request(pod(), dryRun=True)
    await made.verdict(dry)
    assert cluster.made == []
    assert made.at_once(dry) is not None
    assert made.at_once(request(pod())) is None
    await made.verdict(request(pod()))
    assert made.at_once(request(pod())) is not None
    owned = pod()
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u"}
    owned["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    assert made.at_once(request(owned)) is None
    cluster.made.clear()
    assert made.at_once(request(pod())) is None


async def test_what_the_cluster_becomes_counts_at_once(made: Mutator, cluster: Keeping) -> None:
    await made.verdict(request(pod()))
    cluster.without.add("gpu.nvidia.com")
    verdict = made.at_once(request(pod()))
    assert verdict is not None
    assert verdict.warnings[1].endswith("(device-class-missing)")
    cluster.without.clear()
    verdict = made.at_once(request(pod()))
    assert verdict is not None
    assert "device-class-missing" not in str(verdict.warnings)
    cluster.publishes = Published({("llmfit.ai", "gpu"): 2})
    assert made.at_once(request(pod())) is None
    cluster.publishes = None
    await made.verdict(request(pod()))
    cluster.namespaces[NAMESPACE] = {"metadata": {"annotations": {"llmfit.ai/min-tps": "40"}}}
    assert made.at_once(request(pod())) is None
    cluster.namespaces.clear()
    assert made.at_once(request(pod())) is None


async def test_what_is_no_new_pod_is_answered_at_once(made: Mutator) -> None:
    verdict = made.at_once(request(pod(), operation="UPDATE"))
    assert verdict is not None
    assert (verdict.outcome, verdict.token) == (Outcome.SKIP, "not-a-new-pod")
