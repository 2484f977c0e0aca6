"""The cluster through the user's kubectl: discovery, reads, apply, patch, and its errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.discovery import discover
from kubectl_llmfit.cluster.kubectl import ApiError, Kubectl
from tests.controlplane.cluster import Cluster
from tests.controlplane.devices import nvidia
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.versions import minor


@pytest.fixture
def api(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API as the admin's kubectl sees it."""
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    return Api(Kubectl())


def config_map(sandbox: Sandbox, **data: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "facts", "namespace": sandbox.namespace},
        "data": data,
    }


def stored(sandbox: Sandbox) -> dict[str, str] | None:
    found = sandbox.api.find("v1", "ConfigMap", "facts", sandbox.namespace)
    return None if found is None else found["data"]


def test_discovers_versions_classes_and_devices(
    api: Api, cluster: Cluster, sandbox: Sandbox
) -> None:
    boards = [nvidia.Gpu(nvidia.L4, n) for n in range(3)]
    sandbox.add_node(lambda node: nvidia.slices(node, boards))
    offer = discover(api)
    has = offer.has
    assert has.device_classes is not None
    assert has.published is not None
    assert offer.api_version == "resource.k8s.io/v1"
    assert has.device_classes["gpu.nvidia.com"] == (
        # The field is behind a gate that is off by default in 1.34.
        "nvidia.com/gpu" if minor(cluster.version) > 34 else None
    )
    assert has.device_classes["mig.nvidia.com"] is None
    assert not has.lacks("gpu.nvidia.com")
    assert has.lacks("gpu.example.com")
    assert has.published.of("gpu.nvidia.com", ("gpu",)) == 3


def test_lists_in_pages(api: Api, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven objects in pages of three: nothing is lost or doubled, whatever is beside them."""
    monkeypatch.setattr("kubectl_llmfit.cluster.api.PAGE_SIZE", 3)
    names = [f"page-{n}" for n in range(7)]
    for name in names:
        sandbox.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    listed = api.list_all(f"/api/v1/namespaces/{sandbox.namespace}/configmaps")
    ours = [each["metadata"]["name"] for each in listed]
    assert [name for name in ours if name.startswith("page-")] == names


def test_applies_by_server_side_apply(api: Api, sandbox: Sandbox) -> None:
    api.apply(config_map(sandbox, a="1"))
    api.apply(config_map(sandbox, a="2"))
    assert stored(sandbox) == {"a": "2"}
    found = sandbox.api.get("v1", "ConfigMap", "facts", sandbox.namespace)
    (manager,) = found["metadata"]["managedFields"]
    assert (manager["manager"], manager["operation"]) == ("kubectl-llmfit", "Apply")


def test_dry_run_of_apply_writes_nothing(api: Api, sandbox: Sandbox) -> None:
    answer = api.apply(config_map(sandbox, a="1"), dry_run=True)
    assert answer["data"] == {"a": "1"}
    assert stored(sandbox) is None


def test_apply_refuses_a_field_that_the_server_does_not_know(api: Api, sandbox: Sandbox) -> None:
    with pytest.raises(ApiError, match="colour: field not declared in schema"):
        api.apply({**config_map(sandbox, a="1"), "colour": "red"})
    assert stored(sandbox) is None


def test_patches_all_or_nothing(api: Api, sandbox: Sandbox) -> None:
    made = sandbox.create(config_map(sandbox, a="1", b="2"))
    version = made["metadata"]["resourceVersion"]
    precondition = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    change = {"op": "replace", "path": "/data/a", "value": "changed"}
    target, where = "configmap/facts", sandbox.namespace

    api.patch(target, [precondition, change], namespace=where, dry_run=True)
    assert stored(sandbox) == {"a": "1", "b": "2"}
    api.patch(target, [precondition, change], namespace=where)
    assert stored(sandbox) == {"a": "changed", "b": "2"}

    again = {"op": "remove", "path": "/data/b"}
    with pytest.raises(ApiError):
        api.patch(target, [again, precondition], namespace=where)
    assert stored(sandbox) == {"a": "changed", "b": "2"}


def test_what_is_not_there(api: Api) -> None:
    with pytest.raises(ApiError) as caught:
        api.get("/api/v1/namespaces/default/configmaps/none")
    assert caught.value.status == "NotFound"
    assert "not found" in str(caught.value)


def test_global_flags_are_handed_on(cluster: Cluster, sandbox: Sandbox, tmp_path: Path) -> None:
    """Without any environment: the flags alone lead to the cluster, and as whom."""
    reach = (f"--kubeconfig={cluster.kubeconfig}", f"--cache-dir={tmp_path}")
    assert Api(Kubectl(reach)).get("/version")["gitVersion"] == cluster.version
    nobody = Api(Kubectl((*reach, "--as=nobody")))
    with pytest.raises(ApiError) as caught:
        nobody.list_all(f"/api/v1/namespaces/{sandbox.namespace}/configmaps")
    assert caught.value.status == "Forbidden"
    assert 'User "nobody" cannot list resource "configmaps"' in str(caught.value)
    assert "(cluster-forbidden)" in str(caught.value)


def test_expired_token(cluster: Cluster, tmp_path: Path) -> None:
    text = cluster.kubeconfig.read_text().replace(cluster.token, "no-such-token")
    stale = tmp_path / "stale"
    stale.write_text(text)
    with pytest.raises(ApiError) as caught:
        Api(Kubectl((f"--kubeconfig={stale}",))).get("/apis/apps/v1/deployments")
    assert "(cluster-forbidden)" in str(caught.value)


def test_nobody_answers(tmp_path: Path) -> None:
    """A port that nothing listens on: port 1 of loopback."""
    flags = (f"--cache-dir={tmp_path}", "--server=https://127.0.0.1:1", "--token=none")
    with pytest.raises(ApiError) as caught:
        Api(Kubectl(flags)).get("/version")
    assert "(cluster-unreachable)" in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)


def test_no_credentials(tmp_path: Path) -> None:
    """kubectl would ask for a user name; it must not read what is piped into us for it."""
    flags = (f"--cache-dir={tmp_path}", "--server=https://127.0.0.1:1")
    with pytest.raises(ApiError) as caught:
        Api(Kubectl(flags)).get("/version")
    assert "kubectl has no credentials for the server" in str(caught.value)
    assert "(cluster-forbidden)" in str(caught.value)


def test_kubectl_of_the_environment_variable(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = tmp_path / "my-kubectl"
    stub.write_text('#!/bin/sh\nprintf \'{"called": "%s"}\' "$*"\n')
    stub.chmod(0o755)
    monkeypatch.setenv("KUBECTL", os.fspath(stub))
    answer = Api(Kubectl(("--context=a b",))).get("/version")
    assert answer == {"called": "--context=a b --request-timeout=15s get --raw=/version"}
