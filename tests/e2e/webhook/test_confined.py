"""The webhook works with no more of the machine than the shipped Deployment gives it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.e2e.webhook.confined import PROGRAMS, Confined, shipped
from tests.e2e.webhook.installed import installed
from tests.webhook.pods import MODEL

POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "bare", "annotations": {"llmfit.ai/model": MODEL}},
    "spec": {
        "containers": [
            {
                "name": "vllm",
                "image": "none.invalid/none",
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
            }
        ]
    },
}


@pytest.fixture
def confinable() -> None:
    """Skips where mounts can't be made; fails where CI is set."""
    reason = next((f"no {each} is here" for each in PROGRAMS if shutil.which(each) is None), "")
    if not reason:
        mount = ["mount", "-t", "tmpfs", "none", "/mnt"]
        command = ["unshare", "--mount", "--propagation", "private", *mount]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        reason = done.stderr.strip()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def status(pid: int) -> dict[str, list[str]]:
    """What the kernel says of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def writable_mounts(pid: int) -> set[str]:
    """Where the file systems that the process sees would let somebody write.

    Of the form of its list: proc_pid_mountinfo(5).
    """
    lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    writable = set()
    for point in {line.split()[4] for line in lines}:
        # One that another mount hides is in the list, but not there for the process.
        with contextlib.suppress(FileNotFoundError):
            if not os.statvfs(f"/proc/{pid}/root{point}").f_flag & os.ST_RDONLY:
                writable.add(point)
    return writable


def test_ready_and_at_work_as_confined_by_the_manifests(
    confinable: None, cluster: Cluster, sandbox: Sandbox
) -> None:
    """Another uid, no capability, no way to more, nothing to write to, own certificates."""
    sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.L40S, 1)))
    confined = shipped()
    with installed(cluster, sandbox, Confined) as replica:
        said = status(replica.pid)
        assert said["Uid"] == [str(confined.uid)] * 4 != ["0"] * 4
        assert said["Gid"] == [str(confined.gid)] * 4 != ["0"] * 4
        assert said["Groups"] == []
        for each in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert said[each] == ["0" * 16]
        assert said["NoNewPrivs"] == ["1"]
        assert writable_mounts(replica.pid) == set(confined.writable) == set()

        sandbox.create(POD)
        (got,) = sandbox.allocated("bare")
        assert got.device == "gpu-0"
        assert [line for line in replica.log if line["level"] == "error"] == []
