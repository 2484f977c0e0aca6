"""The same pod through ``kubectl llmfit patch -f`` and through the webhook: one spec."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.e2e.plugin import llmfit
from tests.e2e.webhook.admission import Admission
from tests.webhook.pods import MODEL

GPU = {"nvidia.com/gpu": "1"}


@pytest.fixture(scope="module")
def admission(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Admission]:
    made = Admission(cluster, tmp_path_factory.mktemp("webhook"))
    yield made
    made.stop()


def container(name: str, limits: dict[str, str] | None = None, **fields: Any) -> Object:
    made: Object = {"name": name, "image": "none.invalid/none", **fields}
    if limits is not None:
        made["resources"] = {"limits": limits}
    return made


def vllm(limits: dict[str, str] | None = None, **fields: Any) -> Object:
    """The container that serves the model."""
    command = ["vllm", "serve", MODEL]
    return container("vllm", GPU if limits is None else limits, command=command, **fields)


def spec(*containers: Object, **fields: Any) -> Object:
    return {"containers": list(containers), **fields}


def requesting(**requests: str) -> Object:
    """The container with its device in its requests alone."""
    made = vllm()
    made["resources"] = {"requests": {**GPU, **requests}}
    return made


TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
OTHERS = {"key": "team", "operator": "Equal", "value": "a", "effect": "NoExecute"}
PODS = {
    "plain": spec(vllm()),
    "beside-other-limits": spec(vllm({**GPU, "cpu": "2", "memory": "8Gi"})),
    "two-devices": spec(vllm({"nvidia.com/gpu": "2"})),
    "two-containers": spec(container("first", GPU), vllm()),
    "one-without": spec(container("first", {"cpu": "1"}), vllm()),
    "init-container": spec(vllm(), initContainers=[container("warm", {"nvidia.com/gpu": "2"})]),
    "sidecar": spec(vllm(), initContainers=[container("side", GPU, restartPolicy="Always")]),
    "variable": spec(
        vllm(env=[{"name": "A", "value": "b"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])
    ),
    "tolerated-already": spec(vllm(), tolerations=[TOLERATION]),
    "other-tolerations": spec(vllm(), tolerations=[OTHERS]),
    "mig": spec(vllm({"nvidia.com/mig-3g.40gb": "1"})),
    "requests-only": spec(requesting(cpu="1")),
    "with-a-claim-of-its-own": spec(
        vllm({"cpu": "1", **GPU}),
        resourceClaims=[{"name": "own", "resourceClaimName": "mine"}],
    ),
}


@pytest.mark.parametrize("written", PODS.values(), ids=PODS)
def test_same_spec(admission: Admission, sandbox: Sandbox, tmp_path: Path, written: Object) -> None:
    """As the API server reads either, but for the name of the template: that of its maker."""
    sandbox.add_node(lambda node: nvidia.slices(node, nvidia.gpus(nvidia.H100)))
    # A mounted token has a name by chance.
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "vllm", "annotations": {"llmfit.ai/model": MODEL}},
        "spec": {**written, "automountServiceAccountToken": False},
    }
    with admission.sending(sandbox):
        by_webhook = sandbox.api.dry_run(pod, sandbox.namespace)
        by_patch = patched(sandbox, tmp_path, pod)
        # The webhook saw either, and had nothing to add to the patched one.
        decisions = [each["decision"] for each in admission.reviews(sandbox.namespace)]
    assert decisions == ["inject", "skip"]
    assert comparable(by_webhook, "llmfit-webhook-") == comparable(by_patch, "llmfit-")
    # No limit and no request of a device is left.
    assert "nvidia.com/" not in json.dumps(by_webhook["spec"].get("initContainers"))
    assert "nvidia.com/" not in json.dumps(by_webhook["spec"]["containers"])


def patched(sandbox: Sandbox, folder: Path, pod: Object) -> Object:
    """The pod of a patched file, as the API server and the webhook read it."""
    file = folder / "pod.json"
    file.write_text(json.dumps(pod))
    done = llmfit("patch", "-f", str(file), "-o", "json")
    assert done.returncode == 0, done.stderr
    (found,) = (each for each in json.loads(done.stdout)["items"] if each["kind"] == "Pod")
    return sandbox.api.dry_run(found, sandbox.namespace)


def comparable(pod: Object, prefix: str) -> Object:
    """The spec, with the digits alone of the template's name: they are those of its content.

    Tolerations of the API server's own come before those of a webhook and after those of a file.
    """
    made: Object = copy.deepcopy(pod["spec"])
    named = [each for each in made["resourceClaims"] if "resourceClaimTemplateName" in each]
    (claim,) = named
    name = claim["resourceClaimTemplateName"]
    assert name.startswith(prefix)
    claim["resourceClaimTemplateName"] = name.removeprefix(prefix)
    made["tolerations"].sort(key=lambda each: str(each["key"]))
    return made
