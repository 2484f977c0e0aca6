"""``patch -k``: what the user's kubectl builds from a kustomization, patched as a file is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.e2e.plugin import in_cluster, llmfit
from tests.e2e.test_patch_files import MODEL, patched
from tests.e2e.test_patch_outputs import CRON_JOB

KUSTOMIZATION = """\
resources: [cronjob.yaml]
namePrefix: prod-
patches:
- target: {kind: CronJob}
  patch: |
    - op: add
      path: /spec/jobTemplate/spec/template/spec/containers/0/resources/limits/cpu
      value: "4"
"""


def patch(cluster: Cluster, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return llmfit("patch", "-k", str(folder), *arguments, environment=in_cluster(cluster))


@pytest.fixture
def kustomization(tmp_path: Path) -> Path:
    folder = tmp_path / "overlay"
    folder.mkdir()
    (folder / "cronjob.yaml").write_text(CRON_JOB)
    (folder / "kustomization.yaml").write_text(KUSTOMIZATION)
    return folder


def test_kustomization(cluster: Cluster, sandbox: Sandbox, kustomization: Path) -> None:
    """What kubectl kustomize prints is patched as a file of that text would be."""
    built = sandbox.kubectl("kustomize", str(kustomization)).stdout
    done = patch(cluster, kustomization)
    assert (done.returncode, done.stdout) == (0, patched(built))
    assert done.stderr.endswith("\ncronjob.batch/prod-nightly patched\n")
    sandbox.kubectl("apply", "-f", "-", input=done.stdout)
    made = sandbox.api.get("batch/v1", "CronJob", "prod-nightly", sandbox.namespace)
    (container,) = made["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "4"}, "claims": [{"name": "llmfit"}]}


def test_difference_of_a_kustomization(cluster: Cluster, kustomization: Path) -> None:
    done = patch(cluster, kustomization, "--diff")
    assert done.returncode == 1
    assert re.search(r'(?m)^- +nvidia\.com/gpu: "1"$', done.stdout)
    assert "+kind: ResourceClaimTemplate\n" in done.stdout


def test_refusal_of_a_kustomization_names_the_folder(cluster: Cluster, kustomization: Path) -> None:
    (kustomization / "cronjob.yaml").write_text(CRON_JOB.replace(MODEL, "/models/own"))
    done = patch(cluster, kustomization)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {kustomization}, line 1: container vllm, command[2]: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("resources: [none.yaml]\n", "none.yaml", id="missing-resource"),
        pytest.param("resources: [\n", "invalid Kustomization", id="no-yaml"),
        pytest.param(None, "unable to find one of 'kustomization.yaml'", id="no-kustomization"),
    ],
)
def test_kustomization_that_cannot_be_built(
    cluster: Cluster, kustomization: Path, text: str | None, said: str
) -> None:
    if text is None:
        (kustomization / "kustomization.yaml").unlink()
    else:
        (kustomization / "kustomization.yaml").write_text(text)
    done = patch(cluster, kustomization)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {kustomization}: kustomize cannot build it: ")
    assert said in line
    assert line.endswith("(kustomize-failed)")
