"""Workloads to patch: in files, and in a cluster that the benchmark starts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench.contenders import MODEL
from tests.bench.measure import ROUND
from tests.controlplane.cluster import Cluster

_DOCUMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
  replicas: 0
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.11.0
        args: ["--model", "MODEL"]
        resources:
          limits:
            nvidia.com/gpu: 1
"""


def deployments(count: int) -> str:
    """``count`` Deployments as one file: ``d0``, ``d1``, and so on."""
    documents = (_DOCUMENT.replace("NAME", f"d{number}") for number in range(count))
    return "---\n".join(documents).replace("MODEL", MODEL)


def in_files(kubectl: str, entry: str, folder: Path) -> dict[str, list[str]]:
    """The same file changed by both, printed."""
    path = folder / "deployment.yaml"
    path.write_text(deployments(1), "utf-8")
    return {
        "kubectl set resources --local": [
            *(kubectl, "set", "resources", "--local", "-f", str(path)),
            *("--limits=cpu=1", "--output=yaml"),
        ],
        "patch -f": [entry, "patch", "-f", str(path)],
    }


def in_cluster(cluster: Cluster, entry: str, rounds: int) -> dict[str, list[str]]:
    """A Deployment for each round, patched by both; none has pods."""
    cluster.kubectl("create", "-f", "-", input=deployments(rounds))
    note = json.dumps({"metadata": {"annotations": {"note": "patched"}}})
    target = f"deployment/d{ROUND}"
    return {
        "kubectl patch": [str(cluster.bin / "kubectl"), "patch", target, f"--patch={note}"],
        "patch TYPE/NAME": [entry, "patch", target],
    }
