"""The webhook installed as shipped, fail-closed, with a process behind it that is really asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kubectl_llmfit.installing.manifests import NAMESPACE
from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster, llmfit
from tests.e2e.webhook.pods import Kubelets, Replica, remove_everything
from tests.webhook.pods import MODEL


@contextmanager
def installed(
    cluster: Cluster, sandbox: Sandbox, kind: type[Replica] = Replica
) -> Iterator[Replica]:
    """By ``kubectl llmfit webhook install``; pods of the sandbox become ready, and end when told.

    Until the API server asks the webhook about a pod, and gets its answer.
    """
    try:
        with (
            Kubelets(cluster, namespaces=(NAMESPACE, sandbox.namespace)) as kubelets,
            kind(cluster) as replica,
        ):
            kubelets.also.append(replica.tend)
            command = ("webhook", "install", "--overlay", "fail-closed", "--timeout", "40s")
            done = llmfit(*command, environment=in_cluster(cluster))
            assert done.returncode == 0, f"{done.stdout}{done.stderr}{replica.log}"
            wait_for(lambda: _is_asked(sandbox), what="a pod to get its claim")
            yield replica
    finally:
        remove_everything(cluster)


def _is_asked(sandbox: Sandbox) -> bool:
    container = {"name": "c", "image": "none.invalid/none"}
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "annotations": {"llmfit.ai/model": MODEL}},
        "spec": {"containers": [container | {"resources": limits}]},
    }
    try:
        return "resourceClaims" in sandbox.api.dry_run(pod, sandbox.namespace)["spec"]
    except ApiError:
        # It learns of the port, of the certificate and of the webhook by watches.
        return False
