"""The manifests as they are shipped, on a real API server: accepted, and of the effect they say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from kubectl_llmfit.installing.manifests import CONFIGURATION, NAME, NAMESPACE, OVERLAYS, objects
from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e import operators
from tests.e2e.webhook.pods import CONFIGURATIONS, Kubelets, remove_everything
from tests.e2e.webhook.rights import allowed

MODEL = {"llmfit.ai/model": "Qwen/Qwen2.5-7B-Instruct"}


@pytest.fixture(scope="module")
def base(cluster: Cluster) -> Iterator[None]:
    """The base, applied, but for the configuration, which would wait for a server."""
    for each in objects():
        if each["kind"] != CONFIGURATION:
            cluster.api.create(each)
    yield
    remove_everything(cluster)


@pytest.fixture(scope="module")
def foreign_kinds(cluster: Cluster) -> Iterator[None]:
    """The kinds of the Prometheus operator and of cert-manager, as far as the overlays use them."""
    operators.install(cluster.api)
    yield
    operators.remove(cluster.api)


@pytest.mark.parametrize("overlays", [(), *((each,) for each in OVERLAYS), OVERLAYS], ids="+".join)
def test_api_server_accepts(
    cluster: Cluster, base: None, foreign_kinds: None, overlays: tuple[str, ...]
) -> None:
    """Each object, with strict validation: a field that the server does not know is an error."""
    made = {"apiVersion": "v1", "kind": "List", "items": objects(overlays)}
    flags = ["--server-side", "--dry-run=server", "--force-conflicts", "--validate=strict"]
    done = cluster.kubectl("apply", *flags, "-f", "-", input=json.dumps(made))
    assert len(done.stdout.splitlines()) == len(made["items"])
    assert done.stderr == ""


@pytest.mark.usefixtures("base")
class TestRunning:
    """The Deployment in a namespace that enforces the strictest pod security level."""

    def test_pods_are_allowed_and_the_rollout_ends(self, cluster: Cluster) -> None:
        def available() -> bool:
            deployment = cluster.api.get("apps/v1", "Deployment", NAME, NAMESPACE)
            return bool(deployment["status"].get("availableReplicas") == 2)

        with Kubelets(cluster):
            wait_for(available, what="two replicas")

    def test_one_replica_at_a_time_may_be_evicted(self, cluster: Cluster) -> None:
        def healthy() -> bool:
            budget = cluster.api.get("policy/v1", "PodDisruptionBudget", NAME, NAMESPACE)
            return bool(budget.get("status", {}).get("disruptionsAllowed") == 1)

        with Kubelets(cluster):
            wait_for(healthy, what="the budget to count two healthy replicas")
        first, second = (
            each["metadata"]["name"] for each in cluster.api.list("v1", "Pod", NAMESPACE)
        )
        self.evict(cluster, first)
        with pytest.raises(ApiError, match="disruption budget"):
            self.evict(cluster, second)

    def evict(self, cluster: Cluster, name: str) -> None:
        path = cluster.api.path("v1", "Pod", name, NAMESPACE)
        meta = {"name": name, "namespace": NAMESPACE}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
        cluster.api.request("POST", f"{path}/eviction", eviction)


# What the webhook calls, and nothing else: group/resource (and name), namespace, verbs.
ALLOWED = [
    ("resource.k8s.io/resourceslices", "", ("list", "watch")),
    ("resource.k8s.io/deviceclasses", "", ("list", "watch")),
    (
        "resource.k8s.io/resourceclaimtemplates",
        "",
        ("get", "list", "watch", "create", "patch", "delete"),
    ),
    ("/pods", "", ("list",)),
    ("/namespaces", "", ("get", "list", "watch")),
    (
        "admissionregistration.k8s.io/mutatingwebhookconfigurations/llmfit-webhook",
        "",
        ("get", "patch", "watch"),
    ),
    ("coordination.k8s.io/leases", NAMESPACE, ("create",)),
    ("coordination.k8s.io/leases/llmfit-webhook", NAMESPACE, ("get", "update")),
    ("/secrets", NAMESPACE, ("create",)),
    ("/secrets/llmfit-webhook-tls", NAMESPACE, ("get", "update")),
]
FORBIDDEN = [
    ("resource.k8s.io/resourceclaimtemplates", "", "update"),
    ("resource.k8s.io/resourceclaims", "", "list"),
    ("/pods", "", "get"),
    ("/pods", "", "watch"),
    ("/pods", "", "create"),
    ("/pods", "", "patch"),
    ("/pods", "", "delete"),
    ("/namespaces", "", "patch"),
    ("/secrets", "", "get"),
    ("/secrets", "", "list"),
    ("/secrets", NAMESPACE, "list"),
    ("/secrets/another", NAMESPACE, "get"),
    ("/secrets/llmfit-webhook-tls", NAMESPACE, "delete"),
    ("/secrets/llmfit-webhook-tls", "default", "get"),
    ("admissionregistration.k8s.io/mutatingwebhookconfigurations", "", "list"),
    ("admissionregistration.k8s.io/mutatingwebhookconfigurations", "", "create"),
    ("admissionregistration.k8s.io/mutatingwebhookconfigurations/another", "", "patch"),
    ("admissionregistration.k8s.io/mutatingwebhookconfigurations/llmfit-webhook", "", "delete"),
    ("coordination.k8s.io/leases/another", NAMESPACE, "update"),
    ("coordination.k8s.io/leases", "kube-system", "create"),
    ("rbac.authorization.k8s.io/clusterroles", "", "list"),
]


@pytest.mark.usefixtures("base")
class TestRights:
    """What the ServiceAccount may do, as the API server's own authorizer says."""

    @pytest.mark.parametrize(
        ("resource", "namespace", "verb"),
        [(resource, place, verb) for resource, place, verbs in ALLOWED for verb in verbs],
    )
    def test_may(self, cluster: Cluster, resource: str, namespace: str, verb: str) -> None:
        assert allowed(cluster, resource, namespace, verb)

    @pytest.mark.parametrize(("resource", "namespace", "verb"), FORBIDDEN)
    def test_may_not(self, cluster: Cluster, resource: str, namespace: str, verb: str) -> None:
        assert not allowed(cluster, resource, namespace, verb)

    def test_nothing_else(self, cluster: Cluster) -> None:
        """kubectl's list of all rights holds the above, and what every ServiceAccount has."""
        own = self.rights(cluster, NAME) - self.rights(cluster, "default")
        wanted = {
            (resource, name, frozenset(verbs))
            for each, _, verbs in ALLOWED
            for resource, name in [self.as_kubectl_names(each)]
        }
        assert own == wanted

    def as_kubectl_names(self, resource: str) -> tuple[str, str]:
        group, kind, *names = resource.split("/")
        return f"{kind}.{group}" if group else kind, names[0] if names else ""

    def rights(self, cluster: Cluster, account: str) -> set[tuple[str, str, frozenset[str]]]:
        who = f"--as=system:serviceaccount:{NAMESPACE}:{account}"
        listed = cluster.kubectl("auth", "can-i", "--list", "--namespace", NAMESPACE, who).stdout
        rows = re.findall(r"^(\S*) +\[[^]]*\] +\[([^]]*)\] +\[([^]]*)\]$", listed, re.MULTILINE)
        return {(kind, name, frozenset(verbs.split())) for kind, name, verbs in rows if kind}


def configuration(*overlays: str) -> Object:
    """The configuration with failurePolicy Fail: whatever is sent to the webhook is refused."""
    found = objects((*overlays, "fail-closed"))[-1]
    assert found["kind"] == CONFIGURATION
    return found


@pytest.fixture
def closed(cluster: Cluster, sandbox: Sandbox) -> Iterator[None]:
    """The configuration as shipped, with no server behind it: what is sent to it is refused."""
    made = cluster.api.create(configuration())
    wait_until_closed(sandbox)
    yield
    cluster.api.delete(made)


@pytest.fixture
def closed_by_label(cluster: Cluster, sandbox: Sandbox) -> Iterator[None]:
    made = cluster.api.create(configuration("opt-in"))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": sandbox.namespace}}
    sandbox.api.patch(namespace, {"metadata": {"labels": {"llmfit.ai/inject": "enabled"}}})
    wait_until_closed(sandbox)
    yield
    cluster.api.delete(made)


def pod(annotations: dict[str, str] | None, **spec: object) -> Object:
    metadata: Object = {"generateName": "any-"}
    if annotations is not None:
        metadata["annotations"] = annotations
    containers = [{"name": "c", "image": "none.invalid/none"}]
    spec = {"containers": containers} | spec
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def is_sent(cluster: Cluster, namespace: str, made: Object) -> bool:
    """Whether the API server would call the webhook for ``made``, which nobody answers."""
    try:
        cluster.api.dry_run(made, namespace)
    except ApiError as error:
        refused = str(error)
    else:
        return False
    assert 'failed calling webhook "pods.llmfit.ai"' in refused
    return True


def wait_until_closed(sandbox: Sandbox) -> None:
    """An API server learns of a configuration a moment after it is made."""
    wait_for(
        lambda: is_sent(sandbox.cluster, sandbox.namespace, pod(MODEL)),
        what="the API server to know the configuration",
    )


@pytest.mark.parametrize(
    ("annotations", "sent"),
    [
        pytest.param(MODEL, True, id="names a model"),
        pytest.param(None, False, id="no annotations"),
        pytest.param({}, False, id="empty annotations"),
        pytest.param({"other": "x"}, False, id="others"),
        pytest.param({"llmfit.ai/inject": "true"}, False, id="no model"),
        pytest.param({"llmfit.ai/models": "x"}, False, id="a longer name"),
        pytest.param({**MODEL, "llmfit.ai/inject": "false"}, False, id="opted out"),
        pytest.param({**MODEL, "llmfit.ai/inject": "False"}, False, id="opted out, capital"),
        pytest.param({**MODEL, "llmfit.ai/inject": "true"}, True, id="opted in"),
        pytest.param({**MODEL, "llmfit.ai/inject": ""}, True, id="empty opt-out"),
        pytest.param({"llmfit.ai/model": ""}, True, id="empty model"),
        pytest.param({"llmfit.ai/model": "'\"\n&&"}, True, id="odd model"),
    ],
)
def test_which_pods_are_sent(
    cluster: Cluster, sandbox: Sandbox, closed: None, annotations: dict[str, str] | None, sent: bool
) -> None:
    assert is_sent(cluster, sandbox.namespace, pod(annotations)) is sent


@pytest.mark.parametrize(
    ("namespace", "sent"),
    [("kube-system", False), ("default", True), ("kube-public", True)],
)
def test_which_namespaces_are_sent(
    cluster: Cluster, sandbox: Sandbox, closed: None, namespace: str, sent: bool
) -> None:
    wait_for(
        lambda: cluster.api.find("v1", "ServiceAccount", "default", namespace),
        what=f"the ServiceAccount of {namespace}",
    )
    assert is_sent(cluster, namespace, pod(MODEL)) is sent


def test_own_namespace_is_not_sent(
    cluster: Cluster, sandbox: Sandbox, base: None, closed: None
) -> None:
    """Else no replica could ever come back while all are away."""
    (deployment,) = (each for each in objects() if each["kind"] == "Deployment")
    own = pod(MODEL, **deployment["spec"]["template"]["spec"])
    assert not is_sent(cluster, NAMESPACE, own)


def test_opt_in_by_label(cluster: Cluster, sandbox: Sandbox, closed_by_label: None) -> None:
    assert is_sent(cluster, sandbox.namespace, pod(MODEL))
    assert not is_sent(cluster, "default", pod(MODEL))


def test_only_creation_is_sent(cluster: Cluster, sandbox: Sandbox) -> None:
    """What happens to a pod later, and its subresources, are none of the webhook's business."""
    created = cluster.api.create(pod(MODEL), sandbox.namespace)
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": created["metadata"]}
    made = cluster.api.create(configuration())
    try:
        wait_until_closed(sandbox)
        cluster.api.patch(named, {"metadata": {"labels": {"a": "b"}}})
        cluster.api.patch_status(named, {"phase": "Failed"})
        cluster.api.delete(named, grace_seconds=0)
    finally:
        cluster.api.delete(made)
    assert cluster.api.find(*CONFIGURATIONS, NAME) is None
