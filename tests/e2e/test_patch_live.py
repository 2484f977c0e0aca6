"""``patch TYPE/NAME`` on a real cluster: the template, then the workload, and nothing half done."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import yaml

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.discovery import discover
from kubectl_llmfit.cluster.kubectl import Kubectl
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.patching.changing import ATTEMPTS, Writer
from kubectl_llmfit.patching.live import Live, patch_live
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster
from tests.e2e.plugin import llmfit as run
from tests.e2e.test_patch_files import DEPLOYMENT, MODEL, devices, pods_of

RCT = ("resource.k8s.io/v1", "ResourceClaimTemplate")


@pytest.fixture
def boards(sandbox: Sandbox) -> str:
    """A node whose first GPU is too small and whose second one fits."""
    gpus = [nvidia.Gpu(nvidia.T4, 0), nvidia.Gpu(nvidia.L40S, 1), nvidia.Gpu(nvidia.L40S, 2)]
    return sandbox.add_node(lambda node: nvidia.slices(node, gpus))


def made(sandbox: Sandbox, **changes: Any) -> Object:
    """The Deployment of the tests, created, with fields of its pod's spec changed."""
    deployment = yaml.safe_load(DEPLOYMENT)
    deployment["spec"]["template"]["spec"] |= changes
    return sandbox.create(deployment)


def patch(cluster: Cluster, sandbox: Sandbox, *arguments: str) -> tuple[int, str, str]:
    done = run("patch", *arguments, "-n", sandbox.namespace, environment=in_cluster(cluster))
    return done.returncode, done.stdout, done.stderr


def deployment(sandbox: Sandbox) -> Object:
    return sandbox.api.get("apps/v1", "Deployment", "vllm", sandbox.namespace)


def templates(sandbox: Sandbox) -> list[str]:
    found = sandbox.api.list(*RCT, sandbox.namespace)
    return [each["metadata"]["name"] for each in found]


def resources(sandbox: Sandbox) -> Object:
    (container,) = deployment(sandbox)["spec"]["template"]["spec"]["containers"]
    found: Object = container["resources"]
    return found


def test_new_pods_get_the_device_that_fits(cluster: Cluster, sandbox: Sandbox, boards: str) -> None:
    made(sandbox)
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, "deployment.apps/vllm patched\n"), err
    assert resources(sandbox) == {"limits": {"cpu": "4"}, "claims": [{"name": "llmfit"}]}
    (template,) = templates(sandbox)
    spec = deployment(sandbox)["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [{"name": "llmfit", "resourceClaimTemplateName": template}]

    def claiming() -> list[str]:
        found = sandbox.api.list("v1", "Pod", sandbox.namespace)
        return [each["metadata"]["name"] for each in found if each["spec"].get("resourceClaims")]

    (name,) = wait_for(claiming, what="a pod with the claim")
    (got,) = sandbox.allocated(name)
    assert got.device == "gpu-1"


@pytest.mark.parametrize(
    ("flags", "manager"),
    [
        pytest.param((), "kubectl-llmfit", id="default"),
        pytest.param(("--field-manager", "team-a"), "team-a", id="named"),
    ],
)
def test_field_manager(
    cluster: Cluster, sandbox: Sandbox, flags: tuple[str, ...], manager: str
) -> None:
    made(sandbox)
    code, _, err = patch(cluster, sandbox, "deployment/vllm", *flags)
    assert code == 0, err
    (template,) = sandbox.api.list(*RCT, sandbox.namespace)
    assert [each["manager"] for each in template["metadata"]["managedFields"]] == [manager]
    managers = {each["manager"] for each in deployment(sandbox)["metadata"]["managedFields"]}
    assert manager in managers


def test_second_run_changes_nothing(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    patch(cluster, sandbox, "deployment/vllm")
    version = deployment(sandbox)["metadata"]["generation"]
    code, out, err = patch(cluster, sandbox, "deployment", "vllm")
    assert (code, out, err) == (0, "deployment.apps/vllm patched (no change)\n", "")
    assert deployment(sandbox)["metadata"]["generation"] == version


def test_limit_that_an_old_file_put_back_goes_out_again(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.kubectl("apply", "-f", "-", input=DEPLOYMENT)
    patch(cluster, sandbox, "deployment/vllm")
    converted = deployment(sandbox)["spec"]["template"]["spec"]
    sandbox.kubectl("apply", "-f", "-", input=DEPLOYMENT)
    assert resources(sandbox)["limits"]["nvidia.com/gpu"] == "1"
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, "deployment.apps/vllm patched\n"), err
    assert "(claim-kept)" in err
    assert deployment(sandbox)["spec"]["template"]["spec"] == converted
    assert len(templates(sandbox)) == 1


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--dry-run=server", "deployment.apps/vllm patched (server dry run)\n"),
        ("--dry-run=client", "deployment.apps/vllm patched (dry run)\n"),
        ("--dry-run", "deployment.apps/vllm patched (dry run)\n"),
    ],
)
def test_dry_run_changes_nothing(cluster: Cluster, sandbox: Sandbox, flag: str, said: str) -> None:
    before = made(sandbox)["spec"]
    code, out, err = patch(cluster, sandbox, flag, "deployment/vllm")
    assert (code, out) == (0, said), err
    assert deployment(sandbox)["spec"] == before
    assert templates(sandbox) == []


def test_decisions_for_a_program_change_nothing(cluster: Cluster, sandbox: Sandbox) -> None:
    before = made(sandbox)["spec"]
    code, out, _ = patch(cluster, sandbox, "deployment/vllm", "--json")
    assert code == 0
    (decision,) = json.loads(out)
    assert decision["sources"]["model"]["value"] == MODEL
    assert deployment(sandbox)["spec"] == before


class Meddler(Api):
    """An API in which someone else changes the workload just before each patch of ours."""

    def __init__(self, sandbox: Sandbox, times: int) -> None:
        super().__init__(Kubectl())
        self.sandbox = sandbox
        self.times = times

    def patch(
        self,
        target: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        namespace: str | None = None,
        field_manager: str = "kubectl-llmfit",
        dry_run: bool = False,
    ) -> Object:
        if self.times:
            self.times -= 1
            self.sandbox.kubectl("set", "env", target, f"ROUND={self.times}")
        return super().patch(
            target,
            operations,
            namespace=namespace,
            field_manager=field_manager,
            dry_run=dry_run,
        )


@pytest.fixture
def environment(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)


def meddled(sandbox: Sandbox, times: int) -> Live:
    catalog = Catalog.open()
    api = Meddler(sandbox, times)
    knowledge = Knowledge(catalog.resolve, catalog.exact, load_boards)
    return Live(Writer(api), discover(api), Wishes({}), knowledge)


@pytest.mark.usefixtures("environment")
def test_conflict_is_decided_anew(sandbox: Sandbox) -> None:
    """The other writer's change stays, and ours is made over it."""
    workload = made(sandbox)
    outcome = patch_live(meddled(sandbox, 2), workload)
    assert outcome.problems == ()
    (container,) = deployment(sandbox)["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "ROUND", "value": "0"}]
    assert container["resources"] == {"limits": {"cpu": "4"}, "claims": [{"name": "llmfit"}]}


@pytest.mark.usefixtures("environment")
def test_endless_conflict_gives_up_and_says_so(sandbox: Sandbox) -> None:
    outcome = patch_live(meddled(sandbox, 99), made(sandbox))
    (problem,) = outcome.problems
    assert f"others changed it {ATTEMPTS} times" in problem.sentence
    assert "nvidia.com/gpu" in resources(sandbox)["limits"]


def test_many_workloads_one_of_which_fails(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    other = yaml.safe_load(DEPLOYMENT)
    other["metadata"]["name"] = "web"
    other["spec"]["template"]["spec"]["containers"][0]["command"] = ["nginx"]
    sandbox.create(other)
    code, out, err = patch(cluster, sandbox, "deployment", "--all")
    assert code == 1
    assert out == "deployment.apps/vllm patched\n"
    assert "1 of 2 workloads done.\n" in err
    assert 'error: deployment.apps/web: container "vllm" runs no engine' in err
    code, _, err = patch(cluster, sandbox, "deployment/none", "deployment/vllm")
    assert code == 1
    assert 'deployments.apps "none" not found (cluster-error)' in err


def test_selector(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    sandbox.kubectl("label", "deployment/vllm", "team=a")
    assert patch(cluster, sandbox, "deploy", "-l", "team=b")[1] == ""
    assert patch(cluster, sandbox, "deploy", "-l", "team=a")[1] == "deployment.apps/vllm patched\n"


def test_stateful_set_daemon_set_and_cron_job(
    cluster: Cluster, sandbox: Sandbox, boards: str
) -> None:
    template = yaml.safe_load(DEPLOYMENT)["spec"]["template"]
    labels = {"matchLabels": {"app": "vllm"}}
    job = copy.deepcopy(template)
    job["spec"]["restartPolicy"] = "Never"
    for kind, version, spec in (
        ("StatefulSet", "apps/v1", {"serviceName": "s", "selector": labels, "template": template}),
        ("DaemonSet", "apps/v1", {"selector": labels, "template": template}),
        (
            "CronJob",
            "batch/v1",
            {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": job}}},
        ),
    ):
        item = {"apiVersion": version, "kind": kind, "metadata": {"name": "w"}, "spec": spec}
        sandbox.create(item)
    code, out, err = patch(cluster, sandbox, "statefulset/w", "daemonset/w", "cronjob/w")
    assert code == 0, err
    assert out.splitlines() == [
        "statefulset.apps/w patched",
        "daemonset.apps/w patched",
        "cronjob.batch/w patched",
    ]
    assert len(templates(sandbox)) == 1


def test_what_cannot_be_patched_points_at_its_owner(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    (pod,) = pods_of(sandbox, 1, app="vllm")
    (replica_set,) = sandbox.api.list("apps/v1", "ReplicaSet", sandbox.namespace)
    name = replica_set["metadata"]["name"]
    _, out, err = patch(cluster, sandbox, f"pod/{pod}", f"replicaset/{name}")
    assert out == ""
    assert f"patch its owner replicaset/{name} instead (immutable-workload)" in err
    assert "patch its owner deployment/vllm instead (owned-workload)" in err
    assert templates(sandbox) == []
    code, out, _ = patch(cluster, sandbox, f"replicaset/{name}", "--force")
    assert (code, out) == (0, f"replicaset.apps/{name} patched\n")


def test_warnings_of_what_will_undo_it(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.kubectl("apply", "-f", "-", input=DEPLOYMENT)
    _, _, err = patch(cluster, sandbox, "deployment/vllm", "--dry-run=server")
    assert "(last-applied-remembers-limits)" in err
    assert "(rollout-needs-free-devices)" in err
    sandbox.kubectl("label", "deployment/vllm", "argocd.argoproj.io/instance=x")
    _, _, err = patch(cluster, sandbox, "deployment/vllm", "--dry-run=server")
    assert "Argo CD manages it" in err
    assert "(managed-elsewhere)" in err


def test_class_that_the_cluster_lacks(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    arguments = ("deployment/vllm", "--device-class", "fast", "--driver", "gpu.nvidia.com")
    _, _, err = patch(cluster, sandbox, *arguments)
    assert 'the cluster has no DeviceClass "fast"' in err
    assert "(device-class-missing)" in err


def test_model_of_a_config_map(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"m": MODEL}}
    )
    main = yaml.safe_load(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]
    main["command"] = ["vllm", "serve", "$(M)"]
    main["env"] = [{"name": "M", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "m"}}}]
    made(sandbox, containers=[main])
    code, out, err = patch(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, "deployment.apps/vllm patched\n"), err


def _role(sandbox: Sandbox, *rules: Object) -> None:
    """Rights for the namespace's default ServiceAccount."""
    sandbox.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": {"name": "some"},
            "rules": list(rules),
        }
    )
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": sandbox.namespace}
    sandbox.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "some"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "Role",
                "name": "some",
            },
            "subjects": [subject],
        }
    )


@pytest.mark.usefixtures("environment")
def test_template_of_a_patch_that_is_forbidden_is_named(cluster: Cluster, sandbox: Sandbox) -> None:
    """May read and make templates, but not change Deployments: the template stays, and is named."""
    workload = made(sandbox)
    offer = discover(Api(Kubectl()))
    _role(
        sandbox,
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]},
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaimtemplates"],
            "verbs": ["get", "create", "patch"],
        },
    )
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    catalog = Catalog.open()
    knowledge = Knowledge(catalog.resolve, catalog.exact, load_boards)
    api = Api(Kubectl((f"--kubeconfig={kubeconfig}",)))
    outcome = patch_live(Live(Writer(api), offer, Wishes({}), knowledge), workload)
    (problem,) = outcome.problems
    (template,) = templates(sandbox)
    assert problem.reason.token == "cluster-forbidden"
    assert f"ResourceClaimTemplate {template} stay" in problem.sentence
    assert "nvidia.com/gpu" in resources(sandbox)["limits"]


def test_rights_in_one_namespace_are_enough(cluster: Cluster, sandbox: Sandbox) -> None:
    """Device classes and slices belong to the cluster; who may not list them may still patch."""
    made(sandbox)
    _role(
        sandbox,
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "patch"]},
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaimtemplates"],
            "verbs": ["get", "create", "patch"],
        },
    )
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    flags = ("-n", sandbox.namespace)
    done = run("patch", "deployment/vllm", *flags, environment=in_cluster(cluster, kubeconfig))
    assert (done.returncode, done.stdout) == (0, "deployment.apps/vllm patched\n"), done.stderr


def test_forbidden_user(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    done = run("patch", "deployment/vllm", environment=in_cluster(cluster, kubeconfig))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("(cluster-forbidden)\n")
    assert templates(sandbox) == []


def test_devices_of_replicas_are_different_ones(
    cluster: Cluster, sandbox: Sandbox, boards: str
) -> None:
    deployment = yaml.safe_load(DEPLOYMENT)
    deployment["spec"]["replicas"] = 0
    sandbox.create(deployment)
    code, _, err = patch(cluster, sandbox, "deployment/vllm")
    assert code == 0, err
    sandbox.kubectl("scale", "deployment/vllm", "--replicas=2")
    assert {each.device for each in devices(sandbox, 2, app="vllm")} == {"gpu-1", "gpu-2"}


@pytest.fixture
def custom_resource(cluster: Cluster, sandbox: Sandbox) -> Iterator[None]:
    """A resource of a kind that only its owner knows, with a pod template somewhere in it."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "serveds.llmfit.example"},
        "spec": {
            "group": "llmfit.example",
            "scope": "Namespaced",
            "names": {"kind": "Served", "plural": "serveds", "singular": "served"},
            "versions": [version],
        },
    }
    cluster.kubectl("apply", "-f", "-", input=json.dumps(definition))
    cluster.kubectl("wait", "--for=condition=Established", "crd/serveds.llmfit.example")
    item = {
        "apiVersion": "llmfit.example/v1",
        "kind": "Served",
        "metadata": {"name": "m"},
        "spec": {"pods": {"template": yaml.safe_load(DEPLOYMENT)["spec"]["template"]}},
    }
    sandbox.kubectl("create", "-f", "-", input=json.dumps(item))
    yield
    cluster.kubectl("delete", "crd/serveds.llmfit.example", "--wait=false")


@pytest.mark.usefixtures("custom_resource")
def test_custom_resource_whose_pod_template_is_named(cluster: Cluster, sandbox: Sandbox) -> None:
    code, out, _ = patch(cluster, sandbox, "served/m")
    assert (code, "(unknown-kind)" in out) == (0, True)
    code, out, err = patch(cluster, sandbox, "served/m", "--template-path", "spec.pods.template")
    assert (code, out) == (0, "served.llmfit.example/m patched\n"), err
    found = json.loads(sandbox.kubectl("get", "served/m", "-o", "json").stdout)
    (container,) = found["spec"]["pods"]["template"]["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "4"}, "claims": [{"name": "llmfit"}]}
