"""The documented commands that need a cluster, run as written against the real API server."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.docs import blocks
from tests.docs.blocks import Block, Step
from tests.docs.examples import examples
from tests.docs.running import Shell, open_shell
from tests.e2e.webhook.pods import Kubelets, Replica, remove_everything

BLOCKS = [block for block in blocks.all_blocks() if block.is_for_cluster]
EXAMPLES = [each.step for each in examples() if each.step.needs_cluster]
_WEBHOOK = "kubectl llmfit webhook "


@pytest.fixture
def shell(cluster: Cluster, sandbox: Sandbox, tmp_path: Path) -> Shell:
    """A reader's shell whose current context is the test's namespace, beside one GPU."""
    sandbox.add_node(lambda node: nvidia.slices(node, [nvidia.Gpu(nvidia.L4)]))
    kubeconfig = tmp_path / "kubeconfig"
    shutil.copy(cluster.kubeconfig, kubeconfig)
    context = ("config", "set-context", "--current", f"--namespace={sandbox.namespace}")
    cluster.kubectl(*context, environment={"KUBECONFIG": str(kubeconfig)})
    opened = open_shell(tmp_path, cluster.bin / "kubectl", blocks.files(blocks.all_blocks()))
    environment = {**opened.env, "KUBECONFIG": str(kubeconfig), "KUBECTL_KUBERC": "false"}
    return dataclasses.replace(opened, env=environment)


@pytest.fixture
def webhook(cluster: Cluster, shell: Shell, tmp_path: Path) -> Iterator[None]:
    """What stands in for the pods of the admission webhook, wherever that is to be installed."""
    with Kubelets(cluster) as kubelets, Replica(cluster) as replica:
        kubelets.also.append(replica.tend)
        yield
        remove_everything(cluster)


def _prepare(step: Step, shell: Shell, request: pytest.FixtureRequest) -> None:
    """Commands that are about the webhook find it installed, but for its installation."""
    if step.command.startswith(_WEBHOOK):
        request.getfixturevalue("webhook")
        if not step.command.startswith(f"{_WEBHOOK}install"):
            shell.check(Step(f"{_WEBHOOK}install", None))


def test_there_are_some() -> None:
    """The promise of the README and of the help: a pipe into kubectl apply."""
    steps = [*EXAMPLES, *(step for block in BLOCKS for step in block.steps)]
    assert any(step.command.endswith("| kubectl apply -f -") for step in steps)
    assert any("--driver auto" in step.command for step in steps)
    assert any("patch deployment/" in step.command for step in steps)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_documented_commands(block: Block, shell: Shell, request: pytest.FixtureRequest) -> None:
    _prepare(block.steps[0], shell, request)
    for step in block.steps:
        shell.check(step)


@pytest.mark.parametrize("step", EXAMPLES, ids=lambda step: step.command)
def test_examples_of_the_help(
    step: Step, shell: Shell, sandbox: Sandbox, request: pytest.FixtureRequest
) -> None:
    """The workloads that the examples name are those of the documents' files."""
    _prepare(step, shell, request)
    sandbox.kubectl("apply", "-f", str(shell.folder / "deployment.yaml"))
    if "llmfit restore" in step.command:
        shell.run("kubectl llmfit patch deployment/vllm")
    shell.check(step)
