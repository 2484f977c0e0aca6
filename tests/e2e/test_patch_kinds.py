"""``patch`` and ``restore`` of other kinds, and of pods that others have half converted."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.workloads import claim_template
from tests.e2e.test_patch_files import DEPLOYMENT, devices
from tests.e2e.test_patch_live import deployment, made, patch, resources, templates
from tests.e2e.test_restore_live import restore


def pod_template(**changes: object) -> Object:
    template: Object = yaml.safe_load(DEPLOYMENT)["spec"]["template"]
    template["spec"] |= changes
    return template


@pytest.fixture
def boards(sandbox: Sandbox) -> str:
    gpus = [nvidia.Gpu(nvidia.T4, 0), nvidia.Gpu(nvidia.L40S, 1)]
    return sandbox.add_node(lambda node: nvidia.slices(node, gpus))


@pytest.mark.parametrize(
    ("kind", "version"), [("ReplicaSet", "apps/v1"), ("ReplicationController", "v1")]
)
def test_set_that_nobody_owns(
    cluster: Cluster, sandbox: Sandbox, boards: str, kind: str, version: str
) -> None:
    """Pods that it makes from then on have the claim."""
    selector = {"app": "vllm"} if version == "v1" else {"matchLabels": {"app": "vllm"}}
    spec = {"replicas": 0, "selector": selector, "template": pod_template()}
    item = {"apiVersion": version, "kind": kind, "metadata": {"name": "w"}, "spec": spec}
    before = sandbox.create(item)
    code, _, err = patch(cluster, sandbox, f"{kind}/w")
    assert code == 0, err
    sandbox.kubectl("scale", f"{kind}/w", "--replicas=1")
    assert {each.device for each in devices(sandbox, 1, app="vllm")} == {"gpu-1"}
    assert restore(cluster, sandbox, f"{kind}/w")[0] == 0
    after = sandbox.api.get(version, kind, "w", sandbox.namespace)
    assert after["spec"]["template"] == before["spec"]["template"]


@pytest.fixture
def leader_worker_sets(cluster: Cluster) -> Iterator[None]:
    """The kind as the API server knows it, without the controller that makes the pods."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    group = "leaderworkerset.x-k8s.io"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"leaderworkersets.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": "LeaderWorkerSet",
                "plural": "leaderworkersets",
                "singular": "leaderworkerset",
            },
            "versions": [version],
        },
    }
    cluster.kubectl("apply", "-f", "-", input=json.dumps(definition))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/leaderworkersets.{group}")
    yield
    cluster.kubectl("delete", f"crd/leaderworkersets.{group}", "--wait=false")


@pytest.mark.usefixtures("leader_worker_sets")
def test_leader_worker_set(cluster: Cluster, sandbox: Sandbox) -> None:
    """Leader and workers hold a part of one model, and share one template."""
    worker = pod_template()
    worker["spec"]["containers"][0]["command"] = ["sh", "-c", "ray start --address=$LEADER"]
    group = {"size": 2, "leaderTemplate": pod_template(), "workerTemplate": worker}
    item = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "group"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": group},
    }
    sandbox.kubectl("create", "-f", "-", input=json.dumps(item))

    def templates_of_pods() -> Object:
        found = json.loads(sandbox.kubectl("get", "leaderworkerset/group", "-o", "json").stdout)
        part: Object = found["spec"]["leaderWorkerTemplate"]
        return part

    code, out, err = patch(cluster, sandbox, "leaderworkerset/group")
    assert (code, out) == (0, "leaderworkerset.leaderworkerset.x-k8s.io/group patched\n"), err
    (template,) = templates(sandbox)
    for part in ("leaderTemplate", "workerTemplate"):
        spec = templates_of_pods()[part]["spec"]
        assert spec["resourceClaims"] == [{"name": "llmfit", "resourceClaimTemplateName": template}]
        assert spec["containers"][0]["resources"]["claims"] == [{"name": "llmfit"}]
    code, out, err = restore(cluster, sandbox, "leaderworkerset/group")
    assert code == 0, err
    assert out.splitlines()[1].endswith(f'"{template}" deleted')
    assert templates_of_pods() == group


def test_claim_of_somebody_else_is_not_doubled(
    cluster: Cluster, sandbox: Sandbox, boards: str
) -> None:
    """Their claim is for any GPU; ours would be a second one."""
    sandbox.create(claim_template("theirs", "gpu.nvidia.com"))
    main = pod_template()["spec"]["containers"][0]
    main["resources"]["claims"] = [{"name": "gpu"}]
    claims = [{"name": "gpu", "resourceClaimTemplateName": "theirs"}]
    made(sandbox, containers=[main], resourceClaims=claims)
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, "deployment.apps/vllm patched\n"), err
    assert "(claim-kept)" in err
    assert templates(sandbox) == ["theirs"]
    assert resources(sandbox) == {"limits": {"cpu": "4"}, "claims": [{"name": "gpu"}]}
    assert deployment(sandbox)["spec"]["template"]["spec"]["resourceClaims"] == claims
