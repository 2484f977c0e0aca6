"""``patch -f`` on a real cluster: what it prints is applied as it is, and its pods are placed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controlplane import workloads
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import amd, llmfit, nvidia, nvidia_mig
from tests.controlplane.devices.nvidia_mig import Partition
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.controlplane.workloads import Allocated

MODEL = "Qwen/Qwen2.5-7B-Instruct"

# vLLM loads 16-bit weights: 15.23 GB, so 19Gi and 554 GB/s at 20 tok/s.
DEPLOYMENT = f"""\
# The chat service.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  replicas: 1   # one is enough
  selector:
    matchLabels: {{app: vllm}}
  template:
    metadata:
      labels: {{app: vllm}}
    spec:
      containers:
      - name: vllm
        image: none.invalid/vllm
        command: ["vllm", "serve", "{MODEL}"]
        resources:
          limits:
            cpu: "4"
            nvidia.com/gpu: "1"
"""


def patched(text: str, *arguments: str) -> str:
    """What ``kubectl llmfit patch -f -`` makes of ``text``."""
    done = subprocess.run(
        [sys.executable, "-m", "kubectl_llmfit", "patch", "-f", "-", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pods_of(sandbox: Sandbox, count: int, **labels: str) -> list[str]:
    """The names of the ``count`` pods that controllers make."""
    selector = ",".join(f"{key}={value}" for key, value in labels.items())

    def made() -> list[str]:
        found = sandbox.api.list("v1", "Pod", sandbox.namespace, labelSelector=selector)
        alive = [each for each in found if "deletionTimestamp" not in each["metadata"]]
        return [each["metadata"]["name"] for each in alive] if len(alive) == count else []

    return wait_for(made, what=f"{count} pods with {selector}")


def devices(sandbox: Sandbox, count: int, **labels: str) -> list[Allocated]:
    names = pods_of(sandbox, count, **labels)
    return [device for name in names for device in sandbox.allocated(name)]


@pytest.fixture
def boards(sandbox: Sandbox) -> str:
    """A node with GPUs of which the first three won't do."""
    gpus = [
        nvidia.Gpu(nvidia.T4, 0),  # 15 GiB
        nvidia.Gpu(nvidia.L4, 1),  # 22 GiB, 300 GB/s
        nvidia.Gpu(nvidia.UNLISTED, 2),
        nvidia.Gpu(nvidia.L40S, 3),  # 45 GiB, 864 GB/s
        nvidia.Gpu(nvidia.A100_40GB, 4),
    ]
    return sandbox.add_node(lambda node: nvidia.slices(node, gpus))


def test_deployment_gets_the_device_that_fits(sandbox: Sandbox, boards: str) -> None:
    sandbox.kubectl("apply", "-f", "-", input=patched(DEPLOYMENT))
    (got,) = devices(sandbox, 1, app="vllm")
    assert (got.pool, got.device) == (boards, "gpu-3")


def test_two_replicas_get_two_devices(sandbox: Sandbox, boards: str) -> None:
    text = patched(DEPLOYMENT.replace("replicas: 1 ", "replicas: 2 "))
    sandbox.kubectl("apply", "-f", "-", input=text)
    assert {each.device for each in devices(sandbox, 2, app="vllm")} == {"gpu-3", "gpu-4"}


def test_too_slow_stays_pending(sandbox: Sandbox, boards: str) -> None:
    """At 60 tok/s it takes 1662 GB/s, which none of the boards has."""
    sandbox.kubectl("apply", "-f", "-", input=patched(DEPLOYMENT, "--min-tps", "60"))
    (name,) = pods_of(sandbox, 1, app="vllm")
    assert sandbox.pod_pending_reason(name).startswith("Unschedulable: 0/")


def test_nothing_else_of_the_file_changes() -> None:
    out = patched(DEPLOYMENT).splitlines()
    before = DEPLOYMENT.splitlines()
    kept = [line for line in before if "nvidia.com/gpu" not in line]
    assert [line for line in out if line in kept][-len(kept) + 1 :] == kept[1:]
    assert "          claims:" in out
    assert not any("nvidia.com/gpu:" in line for line in out)


def test_once_is_enough() -> None:
    once = patched(DEPLOYMENT)
    assert patched(once) == once


def test_one_device_where_the_class_serves_the_limit_as_well(
    sandbox: Sandbox, cluster: Cluster, boards: str
) -> None:
    """The chart's class serves nvidia.com/gpu through DRA: limit and claim would be two devices."""
    sandbox.kubectl("apply", "-f", "-", input=patched(DEPLOYMENT))
    (name,) = pods_of(sandbox, 1, app="vllm")
    pod = sandbox.pod_scheduled(name)
    assert len(workloads.claims_of(sandbox.api, pod)) == 1
    assert len(workloads.allocated(sandbox.api, pod)) == 1


def _changed(change: Callable[[Object], Any]) -> str:
    deployment = yaml.safe_load(DEPLOYMENT)
    change(deployment["spec"]["template"]["spec"])
    return yaml.safe_dump(deployment)


def test_init_container_only(sandbox: Sandbox, boards: str) -> None:
    def change(spec: Object) -> None:
        spec["initContainers"] = [
            {
                "name": "warm-up",
                "image": "none.invalid/none",
                "resources": {"limits": {"nvidia.com/gpu": 1}},
            }
        ]
        spec["containers"][0]["resources"] = {}

    text = patched(_changed(change), "--model", MODEL)
    sandbox.kubectl("apply", "-f", "-", input=text)
    assert len(devices(sandbox, 1, app="vllm")) == 1


def test_mig_profile_stays(sandbox: Sandbox) -> None:
    cut = [Partition("1g.10gb", 0), Partition("1g.20gb", 2), Partition("3g.40gb", 4)]
    sandbox.add_node(
        lambda node: nvidia_mig.static_slices(node, [(nvidia.Gpu(nvidia.A100_80GB), cut)])
    )

    def change(spec: Object) -> None:
        spec["containers"][0]["resources"] = {"limits": {"nvidia.com/mig-3g.40gb": 1}}

    sandbox.kubectl("apply", "-f", "-", input=patched(_changed(change)))
    (got,) = devices(sandbox, 1, app="vllm")
    assert got.device == "gpu-0-mig-3g40gb-9-4"


def test_amd(sandbox: Sandbox) -> None:
    gpus = [amd.Gpu(amd.NAMELESS, 0), amd.Gpu(amd.MI300X, 1, "0000:06:00.0")]
    sandbox.add_node(lambda node: amd.slices(node, gpus))

    def change(spec: Object) -> None:
        spec["containers"][0]["resources"] = {"limits": {"amd.com/gpu": 1}}

    text = patched(_changed(change), "--min-tps", "30")
    sandbox.kubectl("apply", "-f", "-", input=text)
    (got,) = devices(sandbox, 1, app="vllm")
    assert got.device == "gpu-8-136"


def test_llmfit_stands_in_for_the_vendor(sandbox: Sandbox) -> None:
    small = llmfit.Gpu(model="small", memory_gib=18, pci="0000:01:00.0")
    large = llmfit.Gpu(model="large", memory_gib=48, bandwidth=900, pci="0000:02:00.0")
    sandbox.add_node(lambda node: llmfit.slices(node, [llmfit.Cpu(), small, large]))
    sandbox.kubectl("apply", "-f", "-", input=patched(DEPLOYMENT, "--driver", "llmfit.ai"))
    (got,) = devices(sandbox, 1, app="vllm")
    assert got.device == "gpu-0000-02-00-0"


def test_stateful_set_and_cron_job(sandbox: Sandbox, boards: str) -> None:
    template = yaml.safe_load(DEPLOYMENT)["spec"]["template"]
    job = {**template, "metadata": {"labels": {"app": "job"}}}
    job["spec"] = {**template["spec"], "restartPolicy": "Never"}
    both: list[Object] = [
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "vllm"},
            "spec": {
                "serviceName": "vllm",
                "selector": {"matchLabels": {"app": "vllm"}},
                "template": template,
            },
        },
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "nightly"},
            "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": job}}},
        },
    ]
    text = patched(yaml.safe_dump_all(both))
    sandbox.kubectl("apply", "-f", "-", input=text)
    sandbox.kubectl("create", "job", "now", "--from=cronjob/nightly")
    got = devices(sandbox, 1, app="vllm") + devices(sandbox, 1, app="job")
    assert {each.device for each in got} == {"gpu-3", "gpu-4"}


SHARED = sorted((Path(__file__).parents[3] / "shared" / "cases" / "manifests").glob("*.yaml"))
KNOWN = {"Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet"}


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.name)
def test_shared_manifest_ends_valid_or_with_a_reason(sandbox: Sandbox, path: Path) -> None:
    """Real manifests: the API server takes the result, or there is a reason and no output."""
    done = subprocess.run(
        [sys.executable, "-m", "kubectl_llmfit", "patch", "-f", path],
        capture_output=True,
        check=False,
        timeout=60,
    )
    said = done.stderr.decode()
    assert "internal-error" not in said
    assert "Traceback" not in said
    if done.returncode:
        assert done.stdout == b""
        assert said.splitlines()
        assert all(line.startswith("error: ") for line in said.splitlines())
        return
    if b"patched" not in done.stderr:
        assert done.stdout == path.read_bytes()
        return
    documents = [each for each in yaml.safe_load_all(done.stdout) if each]
    checked = 0
    for each in documents:
        if each["kind"] in KNOWN or each["kind"] == "ResourceClaimTemplate":
            each["metadata"]["namespace"] = sandbox.namespace
            sandbox.kubectl("create", "--dry-run=server", "-f", "-", input=yaml.safe_dump(each))
            checked += 1
    assert checked
