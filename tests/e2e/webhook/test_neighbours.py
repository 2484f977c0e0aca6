"""The webhook beside another one that adds a container with a GPU, before ours is asked or after.

The API server asks webhooks by the names of their configurations, and ours once more where a later
one has changed the pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.admission import Admission
from tests.e2e.webhook.neighbour import ADDED, Neighbour
from tests.webhook.pods import MODEL

RCT = ("resource.k8s.io/v1", "ResourceClaimTemplate")
POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "vllm", "annotations": {"llmfit.ai/model": MODEL}},
    "spec": {
        "containers": [
            {
                "name": "vllm",
                "image": "none.invalid/none",
                "command": ["vllm", "serve", MODEL],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
            }
        ]
    },
}


@pytest.fixture(scope="module")
def admission(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admission]:
    made = Admission(cluster, tmp_path_factory.mktemp("webhook"))
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def gpus(sandbox: Sandbox) -> None:
    """One GPU that is no match for the model, and one that is."""
    boards = [nvidia.Gpu(nvidia.T4, 0), nvidia.Gpu(nvidia.L40S, 1)]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))


def created(sandbox: Sandbox) -> Object:
    """The pod, once the API server asks the neighbour as well."""

    def is_asked() -> bool:
        answered = sandbox.api.dry_run(POD, sandbox.namespace)
        return ADDED["name"] in [each["name"] for each in answered["spec"]["containers"]]

    wait_for(is_asked, what="a pod that is sent to the neighbour")
    return sandbox.create(POD)


def references(pod: Object) -> dict[str, Object]:
    """What each container's resources hold."""
    return {each["name"]: each.get("resources", {}) for each in pod["spec"]["containers"]}


def requested(sandbox: Sandbox, template: str) -> list[str]:
    """The names of a template's requests."""
    spec = sandbox.api.get(*RCT, template, sandbox.namespace)["spec"]["spec"]
    return [each["name"] for each in spec["devices"]["requests"]]


def test_container_that_was_there_before_shares_the_claim(
    admission: Admission, sandbox: Sandbox, tmp_path: Path
) -> None:
    with (
        admission.sending(sandbox),
        Neighbour(sandbox, tmp_path, f"a-neighbour-of-{sandbox.namespace}"),
    ):
        pod = created(sandbox)
        reviews = [each for each in admission.reviews(sandbox.namespace) if "dry_run" not in each]
    (claim,) = pod["spec"]["resourceClaims"]
    assert references(pod) == {
        "vllm": {"claims": [{"name": claim["name"], "request": "model"}]},
        "added": {"claims": [{"name": claim["name"], "request": "gpu"}]},
    }
    assert requested(sandbox, claim["resourceClaimTemplateName"]) == ["model", "gpu"]
    # The API server may ask once more, since the pod was changed.
    assert [each["template"] for each in reviews if each["decision"] != "skip"] == [
        claim["resourceClaimTemplateName"]
    ]
    got = {each.request: each.device for each in sandbox.allocated("vllm")}
    assert got == {"model": "gpu-1", "gpu": "gpu-0"}


def test_container_that_comes_after_gets_a_claim_of_its_own(
    admission: Admission, sandbox: Sandbox, tmp_path: Path
) -> None:
    """In a second review of the same pod, which leaves the first container as it is."""
    with (
        admission.sending(sandbox),
        Neighbour(sandbox, tmp_path, f"z-neighbour-of-{sandbox.namespace}"),
    ):
        pod = created(sandbox)
        reviews = [each for each in admission.reviews(sandbox.namespace) if "dry_run" not in each]
    first, second = pod["spec"]["resourceClaims"]
    assert references(pod) == {
        "vllm": {"claims": [{"name": first["name"]}]},
        "added": {"claims": [{"name": second["name"]}]},
    }
    assert [each["template"] for each in reviews] == [
        first["resourceClaimTemplateName"],
        second["resourceClaimTemplateName"],
    ]
    assert len(sandbox.api.list(*RCT, sandbox.namespace)) == 2
    assert sorted(each.device for each in sandbox.allocated("vllm")) == ["gpu-0", "gpu-1"]
