"""``restore TYPE/NAME`` on a real cluster: the object as it was, and no template too many."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.plugin import in_cluster
from tests.e2e.plugin import llmfit as run
from tests.e2e.test_patch_files import DEPLOYMENT
from tests.e2e.test_patch_live import deployment, made, patch, templates
from tests.e2e.test_patch_outputs import CRON_JOB

SERVER_SET = ("resourceVersion", "generation", "managedFields")


def restore(cluster: Cluster, sandbox: Sandbox, *arguments: str) -> tuple[int, str, str]:
    done = run("restore", *arguments, "-n", sandbox.namespace, environment=in_cluster(cluster))
    return done.returncode, done.stdout, done.stderr


def lasting(item: Object) -> Object:
    """The object without what every change of it changes."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in SERVER_SET}
    # Written by the Deployment's controller.
    marks = metadata.get("annotations") or {}
    metadata["annotations"] = {
        key: value for key, value in marks.items() if key != "deployment.kubernetes.io/revision"
    }
    return {**item, "metadata": metadata, "status": None}


def cron_job(sandbox: Sandbox) -> Object:
    return sandbox.api.get("batch/v1", "CronJob", "nightly", sandbox.namespace)


def test_restored_object_is_the_original(cluster: Cluster, sandbox: Sandbox) -> None:
    template = yaml.safe_load(DEPLOYMENT)["spec"]["template"]["spec"]
    main = {
        **template["containers"][0],
        "env": [
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
            {"name": "HF_HOME", "value": "/models"},
        ],
    }
    before = made(sandbox, containers=[main])
    code, _, err = patch(cluster, sandbox, "deployment/vllm")
    assert code == 0, err
    assert lasting(deployment(sandbox)) != lasting(before)
    code, out, err = restore(cluster, sandbox, "deployment/vllm")
    assert (code, out) == (0, "deployment.apps/vllm restored\n"), err
    assert lasting(deployment(sandbox)) == lasting(before)


def test_template_that_a_rollback_needs_stays(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    patch(cluster, sandbox, "deployment/vllm")
    (template,) = templates(sandbox)

    def rolled_out() -> bool:
        sets = sandbox.api.list("apps/v1", "ReplicaSet", sandbox.namespace)
        return template in json.dumps(sets)

    wait_for(rolled_out, what="the ReplicaSet of the patched Deployment")
    code, _, err = restore(cluster, sandbox, "deployment/vllm")
    assert code == 0
    assert f'resourceclaimtemplate.resource.k8s.io "{template}" stays: ' in err
    assert "replicaset.apps/vllm-" in err
    assert templates(sandbox) == [template]


def test_pods_with_the_limit_come_back(cluster: Cluster, sandbox: Sandbox) -> None:
    gpus = [nvidia.Gpu(nvidia.L40S, 0)]
    node = sandbox.add_node(
        lambda name: nvidia.slices(name, gpus), extended_resources={"nvidia.com/gpu": "1"}
    )
    made(sandbox)
    patch(cluster, sandbox, "deployment/vllm")
    wait_for(lambda: bound(sandbox, node, claims=True), what="a pod with the claim")
    restore(cluster, sandbox, "deployment/vllm")
    wait_for(lambda: bound(sandbox, node, claims=False), what="a pod with the limit")


def bound(sandbox: Sandbox, node: str, *, claims: bool) -> list[str]:
    """Pods on ``node`` that are not ending and have either a claim or the limit, never both."""
    found = []
    for each in sandbox.api.list("v1", "Pod", sandbox.namespace):
        (container,) = each["spec"]["containers"]
        limited = "nvidia.com/gpu" in (container["resources"].get("limits") or {})
        claiming = bool(each["spec"].get("resourceClaims"))
        assert limited != claiming
        alive = "deletionTimestamp" not in each["metadata"]
        if alive and claiming == claims and each["spec"].get("nodeName") == node:
            found.append(each["metadata"]["name"])
    return found


def test_template_that_nothing_names_goes(cluster: Cluster, sandbox: Sandbox) -> None:
    before = sandbox.create(yaml.safe_load(CRON_JOB))
    patch(cluster, sandbox, "cronjob/nightly")
    (template,) = templates(sandbox)
    code, out, err = restore(cluster, sandbox, "cronjob/nightly", "--dry-run=server")
    assert code == 0, err
    shown = f'resourceclaimtemplate.resource.k8s.io "{template}" deleted'
    assert out.splitlines() == [
        "cronjob.batch/nightly restored (server dry run)",
        f"{shown} (server dry run)",
    ]
    assert templates(sandbox) == [template]
    code, out, err = restore(cluster, sandbox, "cronjob/nightly")
    assert out.splitlines() == ["cronjob.batch/nightly restored", shown], err
    assert templates(sandbox) == []
    assert lasting(cron_job(sandbox)) == lasting(before)


def test_template_that_another_workload_names_stays(cluster: Cluster, sandbox: Sandbox) -> None:
    other = yaml.safe_load(CRON_JOB)
    other["metadata"]["name"] = "weekly"
    sandbox.create(yaml.safe_load(CRON_JOB))
    sandbox.create(other)
    patch(cluster, sandbox, "cronjob", "--all")
    (template,) = templates(sandbox)
    _, _, err = restore(cluster, sandbox, "cronjob/nightly")
    assert f'"{template}" stays: cronjob.batch/weekly' in err
    code, out, err = restore(cluster, sandbox, "cronjob", "--all")
    assert code == 0, err
    assert out.splitlines()[:2] == [
        "cronjob.batch/nightly skipped: it has no annotation llmfit.ai/undo, which a patch leaves "
        "(not-patched)",
        "cronjob.batch/weekly restored",
    ]
    assert templates(sandbox) == []


def test_template_of_somebody_else_stays(cluster: Cluster, sandbox: Sandbox) -> None:
    sandbox.create(yaml.safe_load(CRON_JOB))
    patch(cluster, sandbox, "cronjob/nightly")
    (template,) = templates(sandbox)
    name = f"resourceclaimtemplate/{template}"
    sandbox.kubectl("label", name, "app.kubernetes.io/managed-by=me", "--overwrite")
    code, _, err = restore(cluster, sandbox, "cronjob/nightly")
    assert code == 0
    assert "stays: patch did not make it" in err
    assert templates(sandbox) == [template]


def test_what_others_changed_since_stays(cluster: Cluster, sandbox: Sandbox) -> None:
    made(sandbox)
    patch(cluster, sandbox, "deployment/vllm")
    sandbox.kubectl("set", "env", "deployment/vllm", "ROUND=1")
    sandbox.kubectl("set", "resources", "deployment/vllm", "--limits=cpu=7")
    sandbox.kubectl("annotate", "deployment/vllm", "team=a")
    restore(cluster, sandbox, "deployment/vllm")
    found = deployment(sandbox)
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [{"name": "ROUND", "value": "1"}]
    assert container["resources"] == {"limits": {"cpu": "7", "nvidia.com/gpu": "1"}}
    assert "resourceClaims" not in found["spec"]["template"]["spec"]
    assert found["metadata"]["annotations"]["team"] == "a"
    assert "llmfit.ai/undo" not in found["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(("--dry-run=client",), " (dry run)\n", id="client"),
        pytest.param(("--dry-run=server",), " (server dry run)\n", id="server"),
        pytest.param(("--diff",), 'nvidia.com/gpu: "1"', id="diff"),
        pytest.param(("--json",), '"decision": "restore"', id="json"),
    ],
)
def test_nothing_changes(
    cluster: Cluster, sandbox: Sandbox, flags: tuple[str, ...], said: str
) -> None:
    sandbox.create(yaml.safe_load(CRON_JOB))
    patch(cluster, sandbox, "cronjob/nightly")
    before = (cron_job(sandbox), templates(sandbox))
    code, out, err = restore(cluster, sandbox, "cronjob/nightly", *flags)
    assert code == (1 if flags == ("--diff",) else 0), err
    assert said in out
    assert (cron_job(sandbox), templates(sandbox)) == before


def role(sandbox: Sandbox, *rules: Object) -> None:
    meta = {"name": "some"}
    rbac: Any = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta}
    sandbox.create({**rbac, "kind": "Role", "rules": list(rules)})
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": sandbox.namespace}
    reference = {"apiGroup": group, "kind": "Role", "name": "some"}
    sandbox.create({**rbac, "kind": "RoleBinding", "roleRef": reference, "subjects": [subject]})


def test_who_may_not_see_all_users_keeps_the_template(cluster: Cluster, sandbox: Sandbox) -> None:
    """The workload is restored all the same, and the server's own word is told."""
    sandbox.create(yaml.safe_load(CRON_JOB))
    patch(cluster, sandbox, "cronjob/nightly")
    found = templates(sandbox)
    role(
        sandbox,
        {"apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["get", "patch", "list"]},
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaimtemplates"],
            "verbs": ["get", "delete"],
        },
    )
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    flags = ("-n", sandbox.namespace)
    done = run("restore", "cronjob/nightly", *flags, environment=in_cluster(cluster, kubeconfig))
    assert (done.returncode, done.stdout) == (1, "cronjob.batch/nightly restored\n")
    assert f'"{found[0]}" was not deleted: ' in done.stderr
    assert done.stderr.endswith("(cluster-forbidden)\n")
    assert templates(sandbox) == found


def test_job_is_refused(cluster: Cluster, sandbox: Sandbox) -> None:
    job = yaml.safe_load(CRON_JOB)["spec"]["jobTemplate"]
    sandbox.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, **job})
    code, _, err = restore(cluster, sandbox, "job/j")
    assert code == 1
    assert err.endswith("(immutable-workload)\n")
