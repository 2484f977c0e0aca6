"""A Deployment that is rolled again and again: its templates come and go with its ReplicaSets."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster, llmfit
from tests.e2e.webhook.installed import installed
from tests.e2e.webhook.pods import Replica
from tests.webhook.pods import MODEL

TEMPLATES = ("resource.k8s.io/v1", "ResourceClaimTemplate")
DEPLOYMENTS = ("apps/v1", "Deployment")
REPLICA_SETS = ("apps/v1", "ReplicaSet")

# The annotation llmfit.ai/min-tps after each of the ten changes. Floors of bandwidth go by it, so
# pods with different ones need different claims: some changes make a new template, some share the
# one that is there, some go back to one that is owned still, and some to one that is gone.
MIN_TPS = ["20", "20", "30", "20", "40", "40", "40", "50", "20", "60"]
KEPT = 2


@pytest.fixture
def replica(cluster: Cluster, sandbox: Sandbox) -> Iterator[Replica]:
    sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.H100, 8)))
    with installed(cluster, sandbox) as made:
        yield made


def deployment(name: str, model: str | None, revision: int = 0, min_tps: str = "10") -> Object:
    annotations = {"llmfit.ai/min-tps": min_tps}
    if model is not None:
        annotations["llmfit.ai/model"] = model
    container = {
        "name": "vllm",
        "image": "none.invalid/none",
        "command": ["vllm", "serve", model or MODEL],
        "env": [{"name": "REVISION", "value": str(revision)}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    template = {
        "metadata": {"labels": {"app": name}, "annotations": annotations},
        "spec": {"containers": [container]},
    }
    spec = {
        "revisionHistoryLimit": KEPT,
        "selector": {"matchLabels": {"app": name}},
        "template": template,
    }
    return {
        "apiVersion": DEPLOYMENTS[0],
        "kind": DEPLOYMENTS[1],
        "metadata": {"name": name},
        "spec": spec,
    }


def is_rolled_out(sandbox: Sandbox, name: str) -> bool:
    """All pods are of the newest revision, and those of older ones have gone."""
    found = sandbox.api.get(*DEPLOYMENTS, name, sandbox.namespace)
    status = found["status"]
    return bool(
        status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("replicas") == status.get("updatedReplicas") == 1
        and status.get("availableReplicas") == 1
        and len(sandbox.api.list("v1", "Pod", sandbox.namespace, labelSelector=f"app={name}")) == 1
    )


def template_of(sandbox: Sandbox, name: str) -> str:
    """The template that the Deployment's pod claims from."""
    (pod,) = sandbox.api.list("v1", "Pod", sandbox.namespace, labelSelector=f"app={name}")
    (claim,) = pod["spec"]["resourceClaims"]
    found: str = claim["resourceClaimTemplateName"]
    return found


def templates(sandbox: Sandbox) -> dict[str, Object]:
    """Metadata of each template."""
    found = sandbox.api.list(*TEMPLATES, sandbox.namespace)
    return {each["metadata"]["name"]: each["metadata"] for each in found}


def owned(sandbox: Sandbox) -> set[frozenset[str]]:
    """The owners of each template that has some, by uid."""
    owners = (
        frozenset(owner["uid"] for owner in each.get("ownerReferences", []))
        for each in templates(sandbox).values()
    )
    return {each for each in owners if each}


def replica_sets_by_claim(sandbox: Sandbox, name: str) -> set[frozenset[str]]:
    """The uids of the Deployment's ReplicaSets, those that need the same claim together."""
    alike = defaultdict(set)
    for each in sandbox.api.list(*REPLICA_SETS, sandbox.namespace, labelSelector=f"app={name}"):
        wish = each["spec"]["template"]["metadata"]["annotations"]["llmfit.ai/min-tps"]
        alike[wish].add(each["metadata"]["uid"])
    return {frozenset(uids) for uids in alike.values()}


def apply(sandbox: Sandbox, made: Object) -> None:
    name = made["metadata"]["name"]
    sandbox.kubectl("apply", "-f", "-", input=json.dumps(made))
    wait_for(lambda: is_rolled_out(sandbox, name), 60, f"the rollout of {name}")


def test_templates_go_with_the_replica_sets_that_need_them(
    cluster: Cluster, sandbox: Sandbox, replica: Replica
) -> None:
    other, patched, rolled = "other", "patched", "rolled"
    sandbox.create(deployment(patched, None))
    done = llmfit(
        "patch", f"deployment/{patched}", "--model", MODEL, "-n", sandbox.namespace,
        environment=in_cluster(cluster),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    apply(sandbox, deployment(other, "Qwen/Qwen2.5-14B-Instruct"))
    wait_for(lambda: is_rolled_out(sandbox, patched), 60, "the rollout of what was patched")
    untouched = templates(sandbox)
    assert set(untouched) == {template_of(sandbox, name) for name in (other, patched)}
    assert template_of(sandbox, other).startswith("llmfit-webhook-")
    assert not template_of(sandbox, patched).startswith("llmfit-webhook-")
    (of_other,) = owned(sandbox)

    apply(sandbox, deployment(rolled, MODEL))
    seen = {template_of(sandbox, rolled)}
    for revision, min_tps in enumerate(MIN_TPS, 1):
        apply(sandbox, deployment(rolled, MODEL, revision, min_tps))
        seen.add(template_of(sandbox, rolled))

        def only_those_needed() -> bool:
            kept = replica_sets_by_claim(sandbox, rolled)
            return sum(map(len, kept)) <= KEPT + 1 and owned(sandbox) == kept | {of_other}

        wait_for(only_those_needed, 60, f"the templates after change {revision}")
    # min-tps 10 of the beginning, and the five of the changes.
    assert len(seen) == 6

    named = {"apiVersion": DEPLOYMENTS[0], "kind": DEPLOYMENTS[1]}
    sandbox.api.delete(named | {"metadata": {"name": rolled, "namespace": sandbox.namespace}})
    wait_for(lambda: set(templates(sandbox)) == set(untouched), 60, "the end of its templates")
    assert templates(sandbox) == untouched
    assert [line for line in replica.log if line["level"] == "error"] == []
