"""The whole webhook, as shipped, under load, while things break: nothing is let in without a claim.

failurePolicy is Fail, two replicas share a port, and pods are created all the time.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.load import (
    TEMPLATES,
    Load,
    check_all_pods,
    gpu_pod,
    is_untouched,
    template_of,
    without_claim,
)
from tests.e2e.webhook.parts import paused, stopped
from tests.e2e.webhook.pods import CONFIGURATIONS, LEASE
from tests.e2e.webhook.production import CALM, FAST, LEASE_SECONDS, RENEW_SECONDS, Production

GROWTH_BYTES = 16 * 1024 * 1024
TIMEOUT_SECONDS = 5
"""Of the configuration: after it the API server waits no longer."""


@pytest.fixture
def production(
    cluster: Cluster, sandbox: Sandbox, request: pytest.FixtureRequest
) -> Iterator[Production]:
    """Installed, with two replicas; pods are admitted. Its pace is calm unless a test asks."""
    made = Production(cluster)
    try:
        made.install(getattr(request, "param", CALM))
        made.wait_admitting(sandbox)
        yield made
    finally:
        made.remove()


def deployment(replicas: int) -> Object:
    template = gpu_pod()
    template["metadata"] = {
        "labels": {"app": "w"}, "annotations": template["metadata"]["annotations"],
    }  # fmt: skip
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "w"}}}
    spec["template"] = {"metadata": template["metadata"], "spec": template["spec"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize("production", [FAST], indirect=True, ids=["fast"])
def test_rotation_under_load(production: Production, sandbox: Sandbox) -> None:
    """Serving certificate and CA every few seconds: not one failure, not one pod without claim.

    Each review is a handshake, so that a chain that is not trusted yet would be seen.
    """
    load = Load(sandbox)
    authorities = set(production.trusted())
    with load.running():
        load.wait_admitted(60)
        before = [each.resident_bytes for each in production.started]

        def rotated() -> bool:
            authorities.update(production.trusted())
            return len(authorities) >= 4 and len(production.served()) >= 6

        wait_for(rotated, 60, lambda: f"{len(authorities)} CAs, {len(production.served())} served")
    after = [each.resident_bytes for each in production.started]
    assert (load.failures, load.wrong, load.untouched) == ([], [], 0)
    assert check_all_pods(sandbox) == load.admitted
    assert all(end - begin < GROWTH_BYTES for begin, end in zip(before, after, strict=True))
    assert production.faults() == []


@pytest.mark.parametrize("production", [FAST], indirect=True, ids=["fast"])
def test_replicas_are_killed_in_the_middle(production: Production, sandbox: Sandbox) -> None:
    """The calls on their way to it fail, as they must; none does afterwards."""
    load = Load(sandbox)
    sandbox.create(deployment(2))
    with load.running():
        for name in ("c", "d"):
            load.wait_admitted(30)
            killed = production.wait_leader()
            known = len(load.failures)
            production.kill(killed)
            killed_at = time.monotonic()
            load.wait_admitted(30)
            assert len(load.failures) - known <= load.clients, load.summary()
            # A connection that was idle may be chosen before its end has been noticed.
            assert load.refused_since(killed_at + 0.5) == [], load.summary()
            production.wait_leader()
            production.start(name, pace=FAST)
        sandbox.kubectl("scale", "deployment/w", "--replicas=5")
        served = production.served()
        wait_for(lambda: production.served() - served, 30, "a new certificate")
        # Without any, pods are refused until there is one again.
        for each in production.alive():
            production.kill(each)
        known = len(load.failures)
        wait_for(lambda: len(load.failures) >= known + 4, what=load.summary)
        production.start("e", pace=FAST)
        assert_recovers(load)
    assert (load.wrong, load.untouched) == ([], 0)
    wait_for(
        lambda: len(sandbox.api.list("v1", "Pod", sandbox.namespace, labelSelector="app=w")) == 5,
        what="the Deployment's pods",
    )
    assert check_all_pods(sandbox) == load.admitted + 5
    assert production.faults() == []


def test_replicas_are_replaced(production: Production, sandbox: Sandbox) -> None:
    """An upgrade, or a drained node: a successor is ready first, and no call fails."""
    load = Load(sandbox)
    with load.running():
        for name, old in zip("cd", production.alive(), strict=True):
            load.wait_admitted(20)
            production.start(name, pace=CALM)
            os.kill(old.pid, signal.SIGTERM)
        for old in production.started[:2]:
            wait_for(partial(old.said, "ended$"), 20, "the end of a replica")
            production.kill(old)
        load.wait_admitted(20)
        production.wait_leader()
    assert (load.failures, load.wrong, load.untouched) == ([], [], 0)
    assert check_all_pods(sandbox) == load.admitted
    assert production.faults() == []


def test_api_server_is_restarted(production: Production, sandbox: Sandbox) -> None:
    """The same processes go on, with new templates too."""
    pids = [each.pid for each in production.started]
    load = Load(sandbox, many_templates=True)
    with load.running():
        load.wait_admitted(30)
        began = datetime.now(UTC)
        sandbox.cluster.restart("kube-apiserver")
        restarting = (began, datetime.now(UTC))
        assert_recovers(load)
    assert load.failures
    check_all_pods(sandbox)
    production.wait_admitting(sandbox)
    assert [each.pid for each in production.started] == pids
    assert all(each.is_ready() for each in production.started)
    production.cluster.group.check()
    assert production.faults(excused=restarting) == []


def test_etcd_is_paused(production: Production, sandbox: Sandbox) -> None:
    """Templates can't be made: the webhook says so in time, and goes on by itself."""
    # Most of so many sleep when it begins, and are not caught in the middle of a call.
    load = Load(sandbox, clients=6, pause_seconds=0.3, many_templates=True)
    with load.running():
        load.wait_admitted(30)
        with paused(sandbox.cluster, "etcd"):
            wait_for(lambda: len(unreachable(production)) >= 3, 20, "reviews that fail")
        assert_recovers(load)
    assert max(each["duration_ms"] for each in unreachable(production)) < TIMEOUT_SECONDS * 1000
    assert any("failed calling webhook" in each.why for each in load.failures), load.summary()
    check_all_pods(sandbox)
    production.wait_admitting(sandbox)
    assert production.faults() == []


def assert_recovers(load: Load) -> None:
    """Pods are admitted again, soon all of them, and none was let in without a claim."""
    load.wait_admitted(20)
    recovered_at = time.monotonic()
    load.wait_admitted(60)
    assert load.refused_since(recovered_at) == [], load.summary()
    assert (load.wrong, load.untouched) == ([], 0), load.summary()


def unreachable(production: Production) -> list[Object]:
    """The reviews that ended since the API server did not answer in time."""
    reviews = [line for each in production.started for line in each.said("review$")]
    return [each for each in reviews if each.get("reason") == "cluster-unreachable"]


def test_templates_are_deleted_meanwhile(production: Production, sandbox: Sandbox) -> None:
    """Between cache and answer, too: each pod that was let in gets its claim."""
    gpus = [nvidia.Gpu(nvidia.L40S, index) for index in range(10)]
    sandbox.add_node(lambda node: nvidia.slices(node, gpus))
    load = Load(sandbox, templates_stay=False)
    pod = gpu_pod()
    pod["spec"]["schedulerName"] = "default-scheduler"
    names = []
    selector = f"--selector=app.kubernetes.io/managed-by={NAME}"
    with load.running():
        for _ in gpus:
            created = sandbox.create(pod)
            template_of(created)
            names.append(created["metadata"]["name"])
            sandbox.kubectl("delete", "resourceclaimtemplates", selector, "--wait=false")
    for name in names:
        (device,) = sandbox.allocated(name, 60)
        assert device.driver == "gpu.nvidia.com"
    wait_for(lambda: without_claim(sandbox) == [], 60, lambda: str(without_claim(sandbox)))
    assert (load.failures, load.wrong, load.untouched) == ([], [], 0)
    assert production.faults() == []


def test_the_lease_is_stolen(production: Production, sandbox: Sandbox) -> None:
    """Its holder leads no more in time; what only a leader does goes on when the theft runs out.

    That is here: a template made again for a pod that waits for its claim.
    """
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L40S, 0)]))
    load = Load(sandbox, templates_stay=False)
    lease = sandbox.api.get(*LEASE, NAME, NAMESPACE)
    stolen = {"holderIdentity": "a stranger", "leaseDurationSeconds": round(LEASE_SECONDS)}
    pod = gpu_pod(name="waiting", annotations={"llmfit.ai/min-tps": "1"})
    pod["spec"]["schedulerName"] = "default-scheduler"
    with load.running():
        load.wait_admitted(10)
        others = {template_of(each) for each in sandbox.api.list("v1", "Pod", sandbox.namespace)}
        # Stopped, not paused: what it remembered of the template would make the claim.
        with stopped(sandbox.cluster, "kube-controller-manager"):
            template = template_of(sandbox.create(pod))
            assert template not in others
            first = sandbox.api.get(*TEMPLATES, template, sandbox.namespace)
            sandbox.api.patch(lease, {"spec": stolen})
            stolen_at = time.monotonic()
            wait_for(lambda: not any(each.leads for each in production.started), 5, "no leader")
            assert time.monotonic() - stolen_at < RENEW_SECONDS + 1
            sandbox.api.delete(first)
        production.wait_leader()
        assert time.monotonic() - stolen_at > LEASE_SECONDS
        assert [got.device for got in sandbox.allocated("waiting")] == ["gpu-0"]
    again = sandbox.api.get(*TEMPLATES, template, sandbox.namespace)
    assert again["metadata"]["uid"] != first["metadata"]["uid"]
    assert (load.failures, load.wrong, load.untouched) == ([], [], 0)
    check_all_pods(sandbox)
    assert production.faults() == []


def test_uninstalled_under_load(production: Production, sandbox: Sandbox) -> None:
    """No pod is refused: each has its claim, or comes later and is left as it is."""
    load = Load(sandbox, templates_stay=False)
    with load.running():
        load.wait_admitted(20)
        assert production.faults() == []
        production.plugin("uninstall")
        # As the kubelet does when the Deployment is gone.
        for each in production.started:
            os.kill(each.pid, signal.SIGTERM)
        wait_for(lambda: load.untouched >= 20, what=load.summary)
    assert (load.failures, load.wrong) == ([], []), load.summary()
    assert load.untouched >= 20
    assert sandbox.api.find(*CONFIGURATIONS, NAME) is None
    assert is_untouched(sandbox.create(gpu_pod()))
    for each in production.started:
        wait_for(partial(each.said, "ended$"), 20, "the end of a replica")
