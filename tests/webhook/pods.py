"""Pods and reviews as the API server sends them."""

from __future__ import annotations

import base64
import json
from typing import Any

Object = dict[str, Any]

MODEL = "Qwen/Qwen2.5-7B-Instruct"
NAMESPACE = "team"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


def pod(model: str | None = MODEL, **annotations: str) -> Object:
    """A pod of a ReplicaSet with one GPU, annotated with ``model`` and more of llmfit.ai."""
    marks = {f"llmfit.ai/{name.replace('_', '-')}": value for name, value in annotations.items()}
    if model is not None:
        marks["llmfit.ai/model"] = model
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "vllm-5d4f-", "annotations": marks},
        "spec": {
            "containers": [
                {
                    "name": "vllm",
                    "image": "vllm/vllm-openai:v0.11.0",
                    "command": ["vllm", "serve", MODEL],
                    "resources": {
                        "limits": {"nvidia.com/gpu": "1", "cpu": "4"},
                        "requests": {"nvidia.com/gpu": "1", "cpu": "4"},
                    },
                }
            ]
        },
    }


def review(obj: Object | None, **request: Any) -> Object:
    """A review of ``obj``; the source of its form is k8s.io/api/admission/v1."""
    resource = {"group": "", "version": "v1", "resource": "pods"}
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": UID,
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "namespace": NAMESPACE,
            "operation": "CREATE",
            "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
            "object": obj,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def patch_of(response: Object) -> list[Object]:
    """The JSON patch of a response; none is an empty one."""
    if "patch" not in response:
        return []
    assert response["patchType"] == "JSONPatch"
    decoded: list[Object] = json.loads(base64.b64decode(response["patch"]))
    return decoded


def patched(document: Object, patch: list[Object]) -> Object:
    """``document`` after an RFC 6902 patch, by an implementation of the tests' own."""
    result: Object = json.loads(json.dumps(document))
    for operation in patch:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        parent: Any = result
        for part in parents:
            parent = parent[int(part)] if isinstance(parent, list) else parent[part]
        if isinstance(parent, list):
            _in_list(parent, last, operation)
        elif operation["op"] == "add":
            parent[last] = operation["value"]
        elif operation["op"] == "replace":
            assert last in parent
            parent[last] = operation["value"]
        else:
            del parent[last]
    return result


def _in_list(parent: list[Any], last: str, operation: Object) -> None:
    if operation["op"] == "add":
        index = len(parent) if last == "-" else int(last)
        assert index <= len(parent)
        parent.insert(index, operation["value"])
    elif operation["op"] == "replace":
        parent[int(last)] = operation["value"]
    else:
        del parent[int(last)]
