"""What is answered to a review: the patch, the words, and the template that is there before."""

from __future__ import annotations

from kubectl_llmfit.core.rewrite.held import WEBHOOK
from tests.webhook.hosting import Hosted
from tests.webhook.pods import MODEL, NAMESPACE, UID, patch_of, pod, review

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
