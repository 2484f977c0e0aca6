"""What is answered to a review: the patch, the words, and the template that is there before."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.rewrite.held import WEBHOOK
from tests.webhook.hosting import Hosted, hosted
from tests.webhook.pods import MODEL, NAMESPACE, UID, Object, patch_of, patched, pod, review
from webhook.kube.client import ApiError, Unavailable

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "vllm-5d4f", "uid": "u-1"}


def test_pod_gets_its_claim_by_the_smallest_patch(webhook: Hosted) -> None:
    response = webhook.ask(review(pod()))
    assert response["uid"] == UID
    assert response["allowed"] is True
    ((template, owner),) = webhook.cluster.made
    name = template["metadata"]["name"]
    assert patch_of(response) == [
        {"op": "remove", "path": "/spec/containers/0/resources/limits/nvidia.com~1gpu"},
        {"op": "remove", "path": "/spec/containers/0/resources/requests/nvidia.com~1gpu"},
        {"op": "add", "path": "/spec/containers/0/resources/claims", "value": [{"name": "llmfit"}]},
        {
            "op": "add",
            "path": "/spec/resourceClaims",
            "value": [{"name": "llmfit", "resourceClaimTemplateName": name}],
        },
        {
            "op": "add",
            "path": "/spec/tolerations",
            "value": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        },
    ]
    assert owner is None
    assert name.startswith(WEBHOOK.prefix)
    assert template["metadata"]["namespace"] == NAMESPACE
    assert template["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "llmfit-webhook"}
    assert response["auditAnnotations"] == {
        "decision": "inject",
        "model": MODEL,
        "template": name,
    }
    # 7.6e9 16-bit weights: 15.2 GB, x 1.2 = 18.3 GB; 15.2 GB x 20 / 0.55 = 554 GB/s.
    assert response["warnings"][0] == (
        "llmfit: claims 1 device of gpu.nvidia.com, each with 19Gi and 554 GB/s, for "
        f"{MODEL} (claim-added)"
    )


def test_second_answer_has_no_patch(webhook: Hosted) -> None:
    """As under reinvocationPolicy IfNeeded."""
    first = webhook.ask(review(pod()))
    after = patched(pod(), patch_of(first))
    second = webhook.ask(review(after))
    assert second["allowed"] is True
    assert "patch" not in second
    assert second["auditAnnotations"] == {"decision": "skip", "reason": "already-claimed"}
    assert len(webhook.cluster.made) == 1


def test_container_that_another_webhook_adds_later_gets_a_claim_of_its_own(
    webhook: Hosted,
) -> None:
    after = patched(pod(), patch_of(webhook.ask(review(pod()))))
    sidecar = {"name": "metrics", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    after["spec"]["containers"].append(sidecar)
    final = patched(after, patch_of(webhook.ask(review(after))))
    assert [each["resources"]["claims"] for each in final["spec"]["containers"]] == [
        [{"name": "llmfit"}],
        [{"name": "llmfit-1"}],
    ]
    assert "nvidia.com/gpu" not in str(final["spec"]["containers"])


def test_limit_that_came_back_beside_the_claim_only_goes_out(webhook: Hosted) -> None:
    after = patched(pod(), patch_of(webhook.ask(review(pod()))))
    again = copy.deepcopy(after)
    again["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1"
    response = webhook.ask(review(again))
    assert patched(again, patch_of(response)) == after
    assert response["auditAnnotations"] == {"decision": "finish"}
    assert len(webhook.cluster.made) == 1


def test_controller_of_the_pod_owns_the_template(webhook: Hosted) -> None:
    owned = pod()
    others = [{**OWNER, "uid": "u-0", "controller": False}, None]
    owned["metadata"]["ownerReferences"] = [*others, {**OWNER, "controller": True}]
    webhook.ask(review(owned))
    ((_, owner),) = webhook.cluster.made
    assert owner == {**OWNER, "controller": True}


@pytest.mark.parametrize("field", ["apiVersion", "kind", "name", "uid"])
def test_reference_that_lacks_a_field_owns_nothing(webhook: Hosted, field: str) -> None:
    owned = pod()
    reference = {**OWNER, "controller": True, field: None}
    owned["metadata"]["ownerReferences"] = [reference]
    assert webhook.ask(review(owned))["allowed"] is True
    ((_, owner),) = webhook.cluster.made
    assert owner is None


def test_namespace_is_that_of_the_request(webhook: Hosted) -> None:
    stray = pod()
    stray["metadata"]["namespace"] = "elsewhere"
    webhook.ask(review(stray, namespace="x"))
    ((template, _),) = webhook.cluster.made
    assert template["metadata"]["namespace"] == "x"


def test_defaults_of_the_namespace(webhook: Hosted) -> None:
    marks = {"llmfit.ai/min-tps": "40"}
    webhook.cluster.namespaces[NAMESPACE] = {"metadata": {"annotations": marks}}
    assert "1108 GB/s" in webhook.ask(review(pod()))["warnings"][0]
    assert "554 GB/s" in webhook.ask(review(pod(), namespace="other"))["warnings"][0]


def test_dry_run_answers_the_same_and_makes_nothing(webhook: Hosted) -> None:
    dry = webhook.ask(review(pod(), dryRun=True))
    assert webhook.cluster.made == []
    assert dry == webhook.ask(review(pod()))
    assert len(webhook.cluster.made) == 1


LET_PASS = [
    pytest.param({"operation": "UPDATE"}, id="update"),
    pytest.param({"operation": "DELETE", "object": None}, id="delete"),
    pytest.param({"operation": "CONNECT", "object": None, "subResource": "exec"}, id="connect"),
    pytest.param({"subResource": "binding"}, id="subresource"),
    pytest.param({"kind": {"group": "apps", "version": "v1", "kind": "Pod"}}, id="other-group"),
    pytest.param({"kind": {"group": "", "version": "v1", "kind": "Service"}}, id="other-kind"),
]


@pytest.mark.parametrize("what", LET_PASS)
def test_what_is_no_new_pod_passes_unchanged(webhook: Hosted, what: Object) -> None:
    sent = review(pod())
    sent["request"] |= what
    response = webhook.ask(sent)
    assert response == {
        "uid": UID,
        "allowed": True,
        "auditAnnotations": {"decision": "skip", "reason": "not-a-new-pod"},
    }
    assert webhook.cluster.made == []


@pytest.mark.parametrize(
    ("obj", "reason", "warned"),
    [
        pytest.param(pod(None), "not-annotated", False, id="no-annotation"),
        pytest.param(pod(inject="false"), "opted-out", False, id="opted-out"),
        pytest.param(pod(inject="False"), "opted-out", False, id="opted-out-in-capitals"),
        pytest.param({**pod(), "spec": {"containers": []}}, "no-legacy-devices", True, id="no-gpu"),
    ],
)
def test_skipped(webhook: Hosted, obj: Object, reason: str, warned: bool) -> None:
    response = webhook.ask(review(obj))
    assert response["allowed"] is True
    assert response["auditAnnotations"] == {"decision": "skip", "reason": reason}
    assert "patch" not in response
    assert ("warnings" in response) is warned


def half(gpu: Any) -> Object:
    made = pod()
    made["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": gpu}}
    return made


MISTAKES = [
    pytest.param(pod("no/such-model"), "unknown-model", 'no model matches "no/such', id="unknown"),
    pytest.param(pod("Qwen2.5-7B-Ins"), "ambiguous-model", "is part of", id="ambiguous"),
    pytest.param(pod(min_tps="fast"), "invalid-value", "annotation llmfit.ai/min-tps", id="number"),
    pytest.param(pod(quant="Q9"), "unknown-quantization", "annotation llmfit.ai/quant", id="quant"),
    pytest.param(pod(driver="x"), "unknown-driver", "annotation llmfit.ai/driver", id="driver"),
    pytest.param(half("500m"), "bad-quantity", 'container "vllm": nvidia.com/gpu', id="quantity"),
    pytest.param(
        {**pod(), "spec": {"containers": [{"name": "c", "resources": {
            "limits": {"nvidia.com/gpumem": 3000, "nvidia.com/gpu": 1}}}]}},
        "shared-device", "nvidia.com/gpumem", id="share",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "token", "sentence"), MISTAKES)
def test_mistake_is_a_denial_that_says_what_and_where(
    webhook: Hosted, obj: Object, token: str, sentence: str
) -> None:
    response = webhook.ask(review(obj))
    assert response["allowed"] is False
    assert response["status"]["code"] == 422
    assert sentence in response["status"]["message"]
    assert response["status"]["message"].endswith(f"({token})")
    assert response["auditAnnotations"] == {"decision": "deny", "reason": token}
    assert "patch" not in response
    assert webhook.cluster.made == []


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    with hosted(tmp_path_factory.mktemp("lenient"), on_mistake="warn") as made:
        yield made


@pytest.mark.parametrize(("obj", "token", "sentence"), MISTAKES)
def test_by_setting_a_mistake_passes_with_a_warning(
    lenient: Hosted, obj: Object, token: str, sentence: str
) -> None:
    response = lenient.ask(review(obj))
    assert response["allowed"] is True
    assert "patch" not in response
    assert response["auditAnnotations"] == {"decision": "admit", "reason": token}
    (warning,) = response["warnings"]
    assert sentence in warning
    assert warning.endswith(f"({token})")
    assert len(warning) <= 120


def test_every_mistake_is_named_at_once(webhook: Hosted) -> None:
    response = webhook.ask(review(pod(min_tps="fast", quant="Q9")))
    message = response["status"]["message"]
    assert "llmfit.ai/min-tps" in message
    assert "llmfit.ai/quant" in message


REFUSED_BY_THE_SERVER = [
    # Sentences of a v1.37 API server.
    pytest.param(
        ApiError(403, "Forbidden", 'resourceclaimtemplates.resource.k8s.io "llmfit-webhook-1" is '
                 "forbidden: exceeded quota: objects, requested: count/resourceclaimtemplates"
                 ".resource.k8s.io=1, used: 5, limited: 5"),
        "exceeded quota", id="quota",
    ),
    pytest.param(
        ApiError(403, "Forbidden", 'resourceclaimtemplates.resource.k8s.io "llmfit-webhook-1" is '
                 "forbidden: unable to create new content in namespace team because it is being "
                 "terminated"),
        "because it is being terminated", id="namespace-ends",
    ),
    pytest.param(
        ApiError(404, "NotFound", 'namespaces "team" not found'), "not found", id="no-namespace"
    ),
    pytest.param(
        ApiError(422, "Invalid", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request"),
        "denied request", id="policy",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("refusal", "sentence"), REFUSED_BY_THE_SERVER)
def test_template_that_the_namespace_may_not_have_is_a_denial(
    webhook: Hosted, refusal: Exception, sentence: str
) -> None:
    webhook.cluster.refusal = refusal
    response = webhook.ask(review(pod()))
    assert response["allowed"] is False
    assert sentence in response["status"]["message"]
    assert response["status"]["message"].endswith("(template-refused)")
    assert response["auditAnnotations"] == {"decision": "deny", "reason": "template-refused"}


OURS = [
    pytest.param(Unavailable("no connection"), 503, "cluster-unreachable", id="outage"),
    pytest.param(
        ApiError(403, "Forbidden", "resourceclaimtemplates.resource.k8s.io is forbidden: User "
                 '"system:serviceaccount:llmfit-system:llmfit-webhook" cannot create resource '
                 '"resourceclaimtemplates" in API group "resource.k8s.io" in the namespace "team"'),
        500, "cluster-forbidden", id="no-right",
    ),
    pytest.param(
        ApiError(401, "Unauthorized", "Unauthorized"), 500, "cluster-forbidden", id="token"
    ),
    pytest.param(
        ApiError(404, "NotFound", "the server could not find the requested resource"),
        500, "cluster-error", id="no-dra",
    ),
    pytest.param(RuntimeError("secret detail"), 500, "internal-error", id="fault"),
]  # fmt: skip


@pytest.mark.parametrize(("refusal", "status", "token"), OURS)
def test_what_is_no_fault_of_the_pods_is_left_to_the_failure_policy(
    webhook: Hosted, refusal: Exception, status: int, token: str
) -> None:
    webhook.cluster.refusal = refusal
    before = webhook.count("fail", token)
    answered = webhook.send(review(pod()))
    assert answered.status_code == status
    assert answered.text.endswith(f"({token})\n")
    assert "secret" not in answered.text
    assert webhook.count("fail", token) == before + 1
    webhook.cluster.refusal = None
    assert webhook.ask(review(pod()))["allowed"] is True


def test_namespace_that_is_newer_than_the_watch(webhook: Hosted) -> None:
    marks = {"llmfit.ai/min-tps": "40"}
    webhook.cluster.unseen["new"] = {"metadata": {"annotations": marks}}
    assert "1108 GB/s" in webhook.ask(review(pod(), namespace="new"))["warnings"][0]


def test_namespace_that_cannot_be_asked_for_is_no_reason_to_guess(webhook: Hosted) -> None:
    webhook.cluster.refusal = Unavailable("no connection")
    answered = webhook.send(review(pod(min_tps="fast"), namespace="new"))
    assert answered.status_code == 503
    assert answered.text.endswith("(cluster-unreachable)\n")


def test_class_that_the_cluster_lacks_is_a_warning(webhook: Hosted) -> None:
    webhook.cluster.without.add("gpu.nvidia.com")
    response = webhook.ask(review(pod()))
    assert response["warnings"][1] == (
        "llmfit: the cluster has no DeviceClass gpu.nvidia.com; the pod pends until it has "
        "(device-class-missing)"
    )
    assert patch_of(response)


def test_template_in_the_version_that_the_cluster_serves(webhook: Hosted) -> None:
    webhook.cluster.api_version = "resource.k8s.io/v1beta2"
    webhook.ask(review(pod()))
    ((template, _),) = webhook.cluster.made
    assert template["apiVersion"] == "resource.k8s.io/v1beta2"


def test_driver_by_what_the_cluster_publishes(webhook: Hosted) -> None:
    """The vendor's driver publishes nothing, and llmfit.ai has GPUs."""
    webhook.cluster.publishes = Published({("llmfit.ai", "gpu"): 2})
    assert "gpu.llmfit.ai" in webhook.ask(review(pod()))["warnings"][0]
    webhook.cluster.publishes = Published({("llmfit.ai", "gpu"): 2, ("gpu.nvidia.com", "gpu"): 1})
    assert "gpu.nvidia.com" in webhook.ask(review(pod()))["warnings"][0]
