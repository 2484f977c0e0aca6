"""The webhook in the path of pod creation: real API server, real scheduler."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import llmfit as llmfit_ai
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.admission import Admission
from tests.webhook.pods import MODEL

RCT = ("resource.k8s.io/v1", "ResourceClaimTemplate")
SPEC: Object = {
    "restartPolicy": "Never",
    "containers": [
        {
            "name": "vllm",
            "image": "none.invalid/none",
            "command": ["vllm", "serve", MODEL],
            "resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "1"}},
        }
    ],
}
META: Object = {"labels": {"app": "vllm"}, "annotations": {"llmfit.ai/model": MODEL}}


def pod(**metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": META | metadata, "spec": SPEC}


def workload(kind: str) -> Object:
    template = {"metadata": META, "spec": copy.deepcopy(SPEC)}
    if kind == "Job":
        spec: Object = {"template": template}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "w"}, "spec": spec}
    template["spec"]["restartPolicy"] = "Always"
    spec = {"selector": {"matchLabels": {"app": "vllm"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": spec}


@pytest.fixture(scope="module")
def admission(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admission]:
    made = Admission(cluster, tmp_path_factory.mktemp("webhook"))
    yield made
    made.stop()


@pytest.fixture
def asked(admission: Admission, sandbox: Sandbox) -> Iterator[Admission]:
    """The webhook is asked about the sandbox's pods, and of its GPUs only the second one fits."""
    gpus = [nvidia.Gpu(nvidia.T4, 0), nvidia.Gpu(nvidia.L40S, 1)]
    sandbox.add_node(lambda node: nvidia.slices(node, gpus))
    with admission.sending(sandbox):
        yield admission


def templates(sandbox: Sandbox) -> list[str]:
    return [each["metadata"]["name"] for each in sandbox.api.list(*RCT, sandbox.namespace)]


def only_pod(sandbox: Sandbox) -> str:
    def there() -> list[str]:
        found = sandbox.api.list("v1", "Pod", sandbox.namespace)
        return [each["metadata"]["name"] for each in found]

    (name,) = wait_for(there, what="a pod")
    return name


WORKLOADS = [
    pytest.param(workload("Deployment"), id="deployment"),
    pytest.param(workload("StatefulSet"), id="statefulset"),
    pytest.param(workload("Job"), id="job"),
    pytest.param(pod(name="bare"), id="bare"),
    pytest.param(pod(generateName="generated-"), id="generate-name"),
]


@pytest.mark.parametrize("obj", WORKLOADS)
def test_pod_ends_bound_with_the_device_that_fits(
    asked: Admission, sandbox: Sandbox, obj: Object
) -> None:
    sandbox.create(obj)
    check_bound(asked, sandbox, "gpu.nvidia.com", "gpu-1")


@pytest.mark.parametrize("obj", WORKLOADS)
def test_pod_ends_bound_where_llmfit_ai_alone_publishes(
    admission: Admission, sandbox: Sandbox, obj: Object
) -> None:
    """The first of the two GPUs has the memory, and not the 554 GB/s."""
    gpus = [llmfit_ai.STRIX_HALO, llmfit_ai.Gpu()]
    sandbox.add_node(lambda node: llmfit_ai.slices(node, gpus))
    with admission.sending(sandbox):
        # The webhook's watch may not have told yet that another test's devices are gone.
        wait_for(lambda: "1 device of gpu.llmfit.ai" in tried(sandbox), what="the stand-in")
        before = len(admission.reviews(sandbox.namespace))
        sandbox.create(obj)
        check_bound(admission, sandbox, "llmfit.ai", "gpu-0000-03-00-0", before)


def tried(sandbox: Sandbox) -> str:
    """What a user is told on a dry run by the API server."""
    made = json.dumps(pod(name="tried"))
    return sandbox.kubectl("create", "--dry-run=server", "-f", "-", input=made).stderr


def check_bound(
    asked: Admission, sandbox: Sandbox, driver: str, device: str, before: int = 0
) -> None:
    """The sandbox's one pod has its device by its claim, its limit is gone, all else is there."""
    name = only_pod(sandbox)
    (got,) = sandbox.allocated(name)
    assert (got.driver, got.device) == (driver, device)
    bound = sandbox.pod(name)
    (template,) = templates(sandbox)
    assert bound["spec"]["resourceClaims"] == [
        {"name": "llmfit", "resourceClaimTemplateName": template}
    ]
    (container,) = bound["spec"]["containers"]
    assert container["resources"] == {
        "limits": {"cpu": "1"},
        "requests": {"cpu": "1"},
        "claims": [{"name": "llmfit"}],
    }
    (line,) = asked.reviews(sandbox.namespace)[before:]
    assert (line["decision"], line["template"], line["model"]) == ("inject", template, MODEL)


def test_pods_of_a_workload_share_a_template_made_once(asked: Admission, sandbox: Sandbox) -> None:
    before = asked.metric("llmfit_webhook_templates_made_total")
    deployment = workload("Deployment")
    deployment["spec"]["replicas"] = 5
    sandbox.create(deployment)
    wait_for(lambda: len(asked.reviews(sandbox.namespace)) == 5, what="five reviews")
    assert asked.metric("llmfit_webhook_templates_made_total") == before + 1
    (template,) = sandbox.api.list(*RCT, sandbox.namespace)
    (replica_set,) = sandbox.api.list("apps/v1", "ReplicaSet", sandbox.namespace)
    owners = [each["uid"] for each in template["metadata"]["ownerReferences"]]
    assert owners == [replica_set["metadata"]["uid"]]


def test_other_pods_are_never_sent(asked: Admission, sandbox: Sandbox) -> None:
    before = asked.requests()
    plain = pod(name="plain", annotations={"llmfit.ai/min-tps": "20"})
    created = sandbox.create(plain)
    assert created["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert asked.requests() == before
    sandbox.create(pod(name="annotated"))
    assert asked.requests() > before
    assert {each["name"] for each in asked.reviews(sandbox.namespace)} == {"annotated"}


def test_updates_are_not_sent(asked: Admission, sandbox: Sandbox) -> None:
    sandbox.create(pod(name="bare"))
    sandbox.pod_scheduled("bare")
    before = len(asked.reviews(sandbox.namespace))
    sandbox.kubectl("label", "pod", "bare", "a=b")
    assert len(asked.reviews(sandbox.namespace)) == before


def test_dry_run_tells_and_makes_nothing(asked: Admission, sandbox: Sandbox) -> None:
    answered = sandbox.api.dry_run(pod(name="bare"), sandbox.namespace)
    (claim,) = answered["spec"]["resourceClaims"]
    assert claim["resourceClaimTemplateName"].startswith("llmfit-webhook-")
    assert templates(sandbox) == []
    made = json.dumps(pod(name="bare"))
    done = sandbox.kubectl("create", "--dry-run=server", "-f", "-", input=made)
    assert done.stdout == "pod/bare created (server dry run)\n"
    assert f"for {MODEL} (claim-added)" in done.stderr
    reviews = asked.reviews(sandbox.namespace)
    assert [each["dry_run"] for each in reviews] == [True, True]
    # kubectl itself answers this one: the pod as it is in the file.
    done = sandbox.kubectl("create", "--dry-run=client", "-f", "-", "-o", "json", input=made)
    assert json.loads(done.stdout)["spec"] == SPEC
    assert asked.reviews(sandbox.namespace) == reviews
    assert templates(sandbox) == []
    assert sandbox.api.list("v1", "Pod", sandbox.namespace) == []


def test_opt_out(asked: Admission, sandbox: Sandbox) -> None:
    marks = META["annotations"] | {"llmfit.ai/inject": "false"}
    created = sandbox.create(pod(name="bare", annotations=marks))
    assert "resourceClaims" not in created["spec"]
    assert [each["reason"] for each in asked.reviews(sandbox.namespace)] == ["opted-out"]


def test_mistake_as_kubectl_shows_it(asked: Admission, sandbox: Sandbox) -> None:
    wrong = pod(name="bare", annotations=META["annotations"] | {"llmfit.ai/min-tps": "fast"})
    done = sandbox.kubectl("create", "-f", "-", input=json.dumps(wrong), check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'Error from server: error when creating "STDIN": admission webhook "pods.llmfit.ai" denied '
        'the request: annotation llmfit.ai/min-tps: "fast" is not a number of tokens a second '
        "(invalid-value)\n"
    )


def test_mistake_is_an_event_of_the_controller(asked: Admission, sandbox: Sandbox) -> None:
    wrong = workload("Deployment")
    wrong["spec"]["template"]["metadata"] = {
        "labels": {"app": "vllm"}, "annotations": {"llmfit.ai/model": "no/such-model"},
    }  # fmt: skip
    sandbox.create(wrong)

    def events() -> list[str]:
        found = sandbox.api.list("v1", "Event", sandbox.namespace)
        return [each["message"] for each in found if each["reason"] == "FailedCreate"]

    assert "(unknown-model)" in wait_for(events, what="an event of the ReplicaSet")[0]


def test_defaults_of_the_namespace(asked: Admission, sandbox: Sandbox) -> None:
    """At 100 tokens a second no board of the node is fast enough: 2770 GB/s."""
    sandbox.kubectl("annotate", "namespace", sandbox.namespace, "llmfit.ai/min-tps=100")
    done = sandbox.kubectl("create", "-f", "-", input=json.dumps(pod(name="bare")))
    assert "19Gi and 2770 GB/s" in done.stderr
    assert "cannot allocate" in sandbox.pod_pending_reason("bare")


def test_quota_of_templates_is_a_denial_with_the_servers_sentence(
    asked: Admission, sandbox: Sandbox
) -> None:
    key = "count/resourceclaimtemplates.resource.k8s.io"
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"},
             "spec": {"hard": {key: "0"}}}  # fmt: skip
    sandbox.create(quota)
    find = ("v1", "ResourceQuota", "none", sandbox.namespace)
    wait_for(lambda: sandbox.api.get(*find)["status"].get("hard"), what="the quota counts")
    with pytest.raises(ApiError) as caught:
        sandbox.create(pod(name="bare"))
    assert caught.value.code == 422
    assert "exceeded quota: none" in caught.value.status["message"]
    assert caught.value.status["message"].endswith("(template-refused)")


def test_certificates_of_its_own(cluster: Cluster, sandbox: Sandbox) -> None:
    """Ready before there is a configuration, whose caBundle it then fills in."""
    own = Admission(cluster, None)
    try:
        assert own.metric("llmfit_webhook_certificate_expiry_timestamp_seconds") > time.time()
        sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.L40S, 1)))
        with own.sending(sandbox):
            sandbox.create(pod(name="bare"))
            (got,) = sandbox.allocated("bare")
        assert got.device == "gpu-0"
        own.end()
        assert own.errors() == []
    finally:
        own.stop()
