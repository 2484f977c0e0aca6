"""``kubectl llmfit webhook`` on a real API server: put there, looked at, taken away."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE, every_object, key, objects
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster, llmfit
from tests.e2e.webhook.pods import (
    CONFIGURATIONS,
    Kubelets,
    Replica,
    remove_everything,
    trust,
)
from tests.webhook.pki import Pki

TEMPLATES = ("resource.k8s.io/v1", "ResourceClaimTemplate")
OF_OPERATORS = ("monitoring.coreos.com", "cert-manager.io")


@pytest.fixture
def clean(cluster: Cluster) -> Iterator[None]:
    """A cluster in which nothing of the webhook is, before and after."""
    yield
    remove_everything(cluster)


@pytest.fixture
def pods(cluster: Cluster, clean: None) -> Iterator[Kubelets]:
    """Kubelets that report the webhook's pods as ready."""
    with Kubelets(cluster) as kubelets:
        yield kubelets


@pytest.fixture
def replica(cluster: Cluster, pods: Kubelets) -> Iterator[Replica]:
    """A webhook that the API server can call, once it is installed."""
    with Replica(cluster) as serving:
        pods.also.append(serving.tend)
        yield serving


def webhook(cluster: Cluster, *arguments: str, kubeconfig: Path | None = None) -> tuple[int, str]:
    """Exit code and all output of ``kubectl llmfit webhook ARGUMENTS``."""
    done: CompletedProcess[str] = llmfit(
        "webhook", *arguments, environment=in_cluster(cluster, kubeconfig)
    )
    return done.returncode, done.stdout + done.stderr


def there(cluster: Cluster) -> set[tuple[str, str]]:
    """Kind and name of every object of the webhook that the cluster has."""
    return {
        (each["kind"], each["metadata"]["name"])
        for each in every_object()
        if not each["apiVersion"].startswith(OF_OPERATORS)
        and cluster.api.find(
            each["apiVersion"],
            each["kind"],
            each["metadata"]["name"],
            each["metadata"].get("namespace", ""),
        )
    }


def in_base() -> set[tuple[str, str]]:
    """Kind and name of what the base holds."""
    return {(each["kind"], each["metadata"]["name"]) for each in objects()}


def gone(cluster: Cluster) -> bool:
    return not there(cluster)


def all_but_the_namespace_gone(cluster: Cluster) -> bool:
    """The namespace itself goes some seconds later."""
    return there(cluster) <= {("Namespace", NAMESPACE)}


def configuration(cluster: Cluster) -> Object | None:
    return cluster.api.find(*CONFIGURATIONS, NAME)


def test_from_nothing_to_nothing(cluster: Cluster, sandbox: Sandbox, replica: Replica) -> None:
    code, said = webhook(cluster, "install")
    assert code == 0, said
    lines = said.splitlines()
    assert lines[0] == f"namespace/{NAMESPACE} applied"
    assert lines[-1] == f"mutatingwebhookconfiguration.admissionregistration.k8s.io/{NAME} applied"
    assert there(cluster) == in_base()

    code, said = webhook(cluster, "status", "-n", sandbox.namespace)
    assert code == 0, said
    states = [line.split("   ")[0].strip() for line in said.splitlines() if "   ok " in line]
    assert states == ["configuration", "caBundle", "replicas", "leader", "dry run"]
    assert socket.gethostname() in said
    told = r"would get a claim from llmfit-webhook-[0-9a-f]{12}; llmfit: .* \(claim-added\)"
    assert re.search(told, said)
    assert "2 of 2 replicas ready" in said
    # The rights are enough for all of that.
    assert [line for line in replica.log if "forbidden" in json.dumps(line).lower()] == []

    code, said = webhook(cluster, "uninstall")
    assert code == 0, said
    first, *_, last = said.splitlines()
    assert first == f"mutatingwebhookconfiguration.admissionregistration.k8s.io/{NAME} deleted"
    assert last == f"namespace/{NAMESPACE} deleted"
    wait_for(lambda: gone(cluster), what="the end of everything")

    code, said = webhook(cluster, "uninstall")
    assert (code, said) == (0, "Nothing of the webhook is there.\n")


def test_status_for_a_program(cluster: Cluster, sandbox: Sandbox, replica: Replica) -> None:
    webhook(cluster, "install")
    code, said = webhook(cluster, "status", "-n", sandbox.namespace, "-o", "json")
    result = json.loads(said)
    assert (code, result["works"]) == (0, True)
    assert [each["name"] for each in result["checks"]] == [
        "configuration",
        "caBundle",
        "replicas",
        "leader",
        "dry run",
    ]
    assert {each["state"] for each in result["checks"]} == {"ok"}
    assert cluster.api.list("v1", "Pod", sandbox.namespace) == []


def test_status_of_nothing(cluster: Cluster, sandbox: Sandbox, clean: None) -> None:
    code, said = webhook(cluster, "status", "-n", sandbox.namespace)
    assert code == 1
    states = {line[:13].strip(): line[16:].split()[0] for line in said.splitlines()[1:]}
    assert states.pop("leader") == "unknown"
    assert set(states) == {"configuration", "caBundle", "replicas", "dry run"}
    assert set(states.values()) == {"failed"}


def test_status_where_the_certificate_is_another(
    cluster: Cluster, sandbox: Sandbox, replica: Replica, tmp_path: Path
) -> None:
    """The caBundle is sound, but what is served was not signed by it: only a call can tell."""
    webhook(cluster, "install")
    # Else the leader would set it right at once.
    cluster.kubectl("delete", "clusterrolebinding", f"{NAME}-certificates")
    other = Pki(tmp_path, "another.example")
    trust(cluster.api, other.authority)

    def failed() -> str:
        code, said = webhook(cluster, "status", "-n", sandbox.namespace)
        assert code == 1
        return said

    said = wait_for(failed, what="a call that fails")
    assert "an annotated pod stays as it is" in said
    assert "failurePolicy Ignore hides why" in said
    # What the runbook has an on-call engineer look at.
    metrics = cluster.kubectl("get", "--raw", "/metrics").stdout
    counter = r'^apiserver_admission_webhook_fail_open_count\{name="pods.llmfit.ai".*\} [1-9]'
    assert re.search(counter, metrics, re.MULTILINE)


def test_status_of_a_namespace_that_has_to_opt_in(
    cluster: Cluster, sandbox: Sandbox, replica: Replica
) -> None:
    webhook(cluster, "install", "--overlay", "opt-in")
    code, said = webhook(cluster, "status", "-n", sandbox.namespace)
    assert code == 1
    assert "is its namespace labelled llmfit.ai/inject=enabled?" in said
    sandbox.kubectl("label", "namespace", sandbox.namespace, "llmfit.ai/inject=enabled")

    def works() -> bool:
        return webhook(cluster, "status", "-n", sandbox.namespace)[0] == 0

    wait_for(works, what="the API server to know of the label")


def test_status_for_somebody_without_rights(
    cluster: Cluster, sandbox: Sandbox, replica: Replica
) -> None:
    webhook(cluster, "install")
    nobody = cluster.kubeconfig_for(sandbox.namespace, "default")
    code, said = webhook(cluster, "status", "-n", sandbox.namespace, kubeconfig=nobody)
    assert code == 0
    assert said.count("unknown") == 4, said


def test_server_that_does_not_come_up(cluster: Cluster, clean: None) -> None:
    """No kubelet, no ready pod: the configuration is never made, so no pod waits for it."""
    code, said = webhook(cluster, "install", "--overlay", "fail-closed", "--timeout", "2s")
    assert code == 1
    assert "error: deployment/llmfit-webhook: 0 of 2 replicas ready after 2 s" in said
    assert said.rstrip().endswith("(webhook-not-ready)")
    assert configuration(cluster) is None


def test_trust_that_nobody_fills_in(cluster: Cluster, pods: Kubelets) -> None:
    code, said = webhook(cluster, "install", "--timeout", "3s")
    assert code == 1
    assert "nothing has put a caBundle into the webhook's configuration" in said


def test_again_changes_nothing(cluster: Cluster, pods: Kubelets) -> None:
    webhook(cluster, "install", "--wait=false")
    before = cluster.api.list(*CONFIGURATIONS)
    version = cluster.api.get("apps/v1", "Deployment", NAME, NAMESPACE)["metadata"]["generation"]
    code, said = webhook(cluster, "install", "--wait=false")
    assert code == 0, said
    assert "deleted" not in said
    assert cluster.api.list(*CONFIGURATIONS) == before
    deployment = cluster.api.get("apps/v1", "Deployment", NAME, NAMESPACE)
    assert deployment["metadata"]["generation"] == version


def test_field_that_somebody_else_has_set(cluster: Cluster, pods: Kubelets) -> None:
    webhook(cluster, "install", "--wait=false")
    cluster.kubectl("scale", f"deployment/{NAME}", "--namespace", NAMESPACE, "--replicas=3")
    code, said = webhook(cluster, "install", "--wait=false")
    assert code == 1
    assert "error: Apply failed with 1 conflict" in said
    assert ".spec.replicas; --force-conflicts takes the fields over (cluster-error)" in said
    code, said = webhook(cluster, "install", "--wait=false", "--force-conflicts")
    assert code == 0, said
    deployment = cluster.api.get("apps/v1", "Deployment", NAME, NAMESPACE)
    assert deployment["spec"]["replicas"] == 2


def test_overlays_come_and_go(cluster: Cluster, pods: Kubelets) -> None:
    flags = ["--overlay", "network-policy", "--overlay", "single-replica", "--overlay", "opt-in"]
    code, said = webhook(cluster, "install", "--wait=false", *flags)
    assert code == 0, said
    policy, budget = ("NetworkPolicy", NAME), ("PodDisruptionBudget", NAME)
    assert there(cluster) == in_base() - {budget} | {policy}
    code, said = webhook(cluster, "install", "--wait=false")
    assert f"networkpolicy.networking.k8s.io/{NAME} deleted" in said
    assert there(cluster) == in_base()
    found = configuration(cluster)
    assert found is not None
    assert len(found["webhooks"][0]["namespaceSelector"]["matchExpressions"]) == 1


def test_overlay_of_an_operator_that_is_not_there(cluster: Cluster, clean: None) -> None:
    """Both are named at once, and nothing was changed."""
    flags = ["--overlay", "cert-manager", "--overlay", "monitoring"]
    code, said = webhook(cluster, "install", *flags)
    assert code == 1
    assert "Certificate, Issuer of cert-manager.io/v1" in said
    assert "PrometheusRule, ServiceMonitor of monitoring.coreos.com/v1" in said
    assert gone(cluster)


@pytest.mark.parametrize("flag", ["--dry-run=server", "--dry-run=client", "--dry-run"])
def test_dry_run_changes_nothing(cluster: Cluster, clean: None, flag: str) -> None:
    code, said = webhook(cluster, "install", flag)
    assert code == 0, said
    suffix = " (server dry run)" if flag.endswith("server") else " (dry run)"
    applied = [line for line in said.splitlines() if "applied" in line]
    assert all(line.endswith(suffix) for line in applied)
    assert gone(cluster)
    code, said = webhook(cluster, "uninstall", flag)
    assert code == 0, said


def test_dry_run_on_the_server_tries_every_object(cluster: Cluster, pods: Kubelets) -> None:
    webhook(cluster, "install", "--wait=false")
    code, said = webhook(cluster, "install", "--dry-run=server", "--replicas", "3")
    assert code == 0, said
    assert len(said.splitlines()) == len(in_base())
    deployment = cluster.api.get("apps/v1", "Deployment", NAME, NAMESPACE)
    assert deployment["spec"]["replicas"] == 2
    code, said = webhook(cluster, "uninstall", "--dry-run=server")
    assert len(said.splitlines()) == len(in_base())
    assert there(cluster) == in_base()


@pytest.mark.parametrize("missing", ["namespace", "configuration", "roles"])
def test_uninstalling_what_is_half_there(cluster: Cluster, pods: Kubelets, missing: str) -> None:
    webhook(cluster, "install", "--wait=false")
    match missing:
        case "namespace":
            cluster.kubectl("delete", "namespace", NAMESPACE)
        case "configuration":
            cluster.kubectl("delete", "mutatingwebhookconfiguration", NAME)
        case _:
            cluster.kubectl("delete", "clusterrole", NAME)
    code, said = webhook(cluster, "uninstall")
    assert code == 0, said
    wait_for(lambda: all_but_the_namespace_gone(cluster), what="the end of everything")


def test_nothing_goes_before_the_configuration(
    cluster: Cluster, sandbox: Sandbox, pods: Kubelets
) -> None:
    """Who may not delete it takes nothing away: the server has to answer as long as it is there."""
    webhook(cluster, "install", "--wait=false")
    rights = ["--verb=delete,get", "--resource=deployments,services,namespaces"]
    cluster.kubectl("create", "clusterrole", f"half-{sandbox.namespace}", *rights)
    subject = f"--serviceaccount={sandbox.namespace}:default"
    role = f"half-{sandbox.namespace}"
    cluster.kubectl("create", "clusterrolebinding", role, f"--clusterrole={role}", subject)
    somebody = cluster.kubeconfig_for(sandbox.namespace, "default")
    code, said = webhook(cluster, "uninstall", kubeconfig=somebody)
    cluster.kubectl("delete", "clusterrole,clusterrolebinding", role)
    assert code == 1
    assert "(cluster-forbidden)" in said
    assert there(cluster) == in_base()


def template(name: str, manager: str) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    return {
        "apiVersion": TEMPLATES[0],
        "kind": TEMPLATES[1],
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": manager}},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def pod_with(name: str) -> Object:
    container = {"name": "c", "image": "none.invalid/none"}
    claim = {"name": "llmfit", "resourceClaimTemplateName": name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user"},
        "spec": {"containers": [container], "resourceClaims": [claim]},
    }


def test_templates_that_pods_name_stay(cluster: Cluster, sandbox: Sandbox, pods: Kubelets) -> None:
    webhook(cluster, "install", "--wait=false")
    sandbox.create(template("llmfit-webhook-named", NAME))
    sandbox.create(template("llmfit-webhook-unnamed", NAME))
    sandbox.create(template("llmfit-of-patch", "kubectl-llmfit"))
    sandbox.create(pod_with("llmfit-webhook-named"))
    code, said = webhook(cluster, "uninstall")
    assert code == 0, said
    place = f"{sandbox.namespace}/llmfit-webhook-named"
    assert f"resourceclaimtemplate {place} stays: a pod names it." in said
    left = {each["metadata"]["name"] for each in sandbox.api.list(*TEMPLATES, sandbox.namespace)}
    assert left == {"llmfit-webhook-named", "llmfit-of-patch"}


def test_every_object_has_a_name_of_its_own() -> None:
    """What the tests above look for by kind and name are all of them."""
    keys = [key(each) for each in every_object()]
    assert len({(kind, name) for _, kind, _, name in keys}) == len(keys)
