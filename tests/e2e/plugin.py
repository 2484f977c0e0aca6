"""The plugin as a user of the cluster under test runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox


def llmfit(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``kubectl llmfit ARGUMENTS`` as a process of its own, without any cluster in its reach."""
    inherited = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    return subprocess.run(
        [sys.executable, "-m", "kubectl_llmfit", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=inherited | dict(environment or {}),
    )


def render(*arguments: str) -> str:
    """What ``kubectl llmfit render ARGUMENTS`` prints; it must succeed."""
    done = llmfit("render", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_cluster(cluster: Cluster, kubeconfig: Path | None = None) -> dict[str, str]:
    """The environment in which the plugin reaches ``cluster`` through the cluster's kubectl."""
    environment = dict(cluster.environment)
    if kubeconfig is not None:
        environment["KUBECONFIG"] = str(kubeconfig)
    return environment


def claiming_pod(sandbox: Sandbox, name: str, *arguments: str) -> str:
    """A pod with the claim that ``render ARGUMENTS`` prints as a template; the pod's name."""
    template = render(*arguments, "--template", "--name", name)
    sandbox.kubectl("apply", "-f", "-", input=template)
    sandbox.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
                "containers": [
                    {
                        "name": "vllm",
                        "image": "none.invalid/none",
                        "resources": {"claims": [{"name": "gpu"}]},
                    }
                ],
            },
        }
    )
    return name


def shell(cluster: Cluster, folder: Path, line: str) -> str:
    """What a shell line prints, with the cluster's kubectl and the executables of ``folder``."""
    environment = in_cluster(cluster)
    environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=dict(os.environ) | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
