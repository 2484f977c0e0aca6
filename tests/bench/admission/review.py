"""Reviews of 10 KB, as an API server sends them for the pods of a Deployment."""

from __future__ import annotations

import json
from typing import Any

from tests.bench.contenders import MODEL

Object = dict[str, Any]

BYTES = 10_240
NAMESPACE = "inference"
_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_PODS = {"group": "", "version": "v1", "resource": "pods"}
_KIND = {"group": "", "version": "v1", "kind": "Pod"}
_NOTE = "example.com/rendered-values"


def review(number: int, *, alike: bool = True) -> bytes:
    """The review of the pod ``number``, which is ``BYTES`` long.

    The pods are ``alike`` but for what differs between those of one ReplicaSet; else each has an
    environment variable of its own, so that each has to be decided anew.
    """
    new = _pod("all" if alike else f"{number:08d}")
    request = {
        "uid": f"705ab4f5-6393-11e8-b7cc-{number:012d}",
        "kind": _KIND,
        "resource": _PODS,
        "requestKind": _KIND,
        "requestResource": _PODS,
        "namespace": NAMESPACE,
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:replicaset-controller",
            "uid": "0b0f54a6-5f0e-4d53-8d8f-1d7b3f0c1c52",
            "groups": [
                "system:serviceaccounts",
                "system:serviceaccounts:kube-system",
                "system:authenticated",
            ],
        },
        "object": new,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    made = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    missing = BYTES - len(_dumped(made))
    new["metadata"]["annotations"][_NOTE] += "x" * missing
    return _dumped(made)


def pod(namespace: str) -> bytes:
    """Such a pod as a client posts it; what it refers to need not be there."""
    made = _pod("all")
    metadata, spec = made["metadata"], made["spec"]
    del metadata["managedFields"], metadata["creationTimestamp"], made["status"]
    metadata["namespace"] = namespace
    for field in ("serviceAccountName", "serviceAccount", "priority", "preemptionPolicy"):
        del spec[field]
    return _dumped(made)


def _pod(release: str) -> Object:
    labels = {
        "app.kubernetes.io/name": "vllm",
        "app.kubernetes.io/instance": "chat",
        "pod-template-hash": "5d4f7c9b6d",
    }
    spec = _spec(release)
    metadata: Object = {
        "generateName": "chat-vllm-5d4f7c9b6d-",
        "namespace": NAMESPACE,
        "creationTimestamp": None,
        "labels": labels,
        "annotations": {"llmfit.ai/model": MODEL, "prometheus.io/scrape": "true", _NOTE: ""},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "chat-vllm-5d4f7c9b6d",
                "uid": "6cfe2f1c-55c5-4a07-94b4-1e36a0c6a4c8",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    metadata["managedFields"] = [
        {
            "manager": "kube-controller-manager",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-11-01T09:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": _fields(metadata), "f:spec": _fields(spec)},
        }
    ]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {}}


def _spec(release: str) -> Object:
    return {
        "volumes": [
            {"name": "cache", "persistentVolumeClaim": {"claimName": "models"}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
            _token_volume(),
        ],
        "containers": [_server(release), _exporter()],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 120,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "chat",
        "serviceAccount": "chat",
        "securityContext": {"fsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "key": f"node.kubernetes.io/{state}",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            }
            for state in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _server(release: str) -> Object:
    variables = {"VLLM_LOGGING_LEVEL": "INFO", "HF_HUB_OFFLINE": "1", "RELEASE": release}
    return {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.11.0",
        "command": ["vllm", "serve", MODEL],
        "args": ["--port=8000", "--max-model-len=16384", "--gpu-memory-utilization=0.92"],
        "ports": [{"name": "http", "containerPort": 8000, "protocol": "TCP"}],
        "env": [
            *({"name": name, "value": value} for name, value in variables.items()),
            {
                "name": "HF_TOKEN",
                "valueFrom": {"secretKeyRef": {"name": "hugging-face", "key": "token"}},
            },
        ],
        "resources": {
            "limits": {"cpu": "8", "memory": "48Gi", "nvidia.com/gpu": "1"},
            "requests": {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"},
        },
        "volumeMounts": [
            {"name": "cache", "mountPath": "/home/vllm/.cache/huggingface"},
            {"name": "shm", "mountPath": "/dev/shm"},
            _token_mount(),
        ],
        "startupProbe": _probe("/health", 5, 120),
        "readinessProbe": _probe("/health", 10, 3),
        "livenessProbe": _probe("/health", 30, 3),
        **_DEFAULTS,
    }


def _exporter() -> Object:
    return {
        "name": "exporter",
        "image": "registry.example.com/metrics/exporter:2.4.1",
        "args": ["--listen=:9400", "--scrape=http://127.0.0.1:8000/metrics"],
        "ports": [{"name": "metrics", "containerPort": 9400, "protocol": "TCP"}],
        "resources": {
            "limits": {"cpu": "200m", "memory": "128Mi"},
            "requests": {"cpu": "50m", "memory": "64Mi"},
        },
        "volumeMounts": [_token_mount()],
        "readinessProbe": _probe("/ready", 10, 3),
        **_DEFAULTS,
    }


_DEFAULTS: Object = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent",
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
}


def _probe(path: str, period: int, failures: int) -> Object:
    return {
        "httpGet": {"path": path, "port": 8000, "scheme": "HTTP"},
        "timeoutSeconds": 5,
        "periodSeconds": period,
        "successThreshold": 1,
        "failureThreshold": failures,
    }


def _token_mount() -> Object:
    return {"name": "kube-api-access-x7k2p", "readOnly": True, "mountPath": _SERVICE_ACCOUNT}


def _token_volume() -> Object:
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    sources: list[Object] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": "kube-api-access-x7k2p", "projected": {"sources": sources, "defaultMode": 420}}


def _fields(value: Any) -> Object:
    """The fields of ``value`` as managedFields lists them."""
    if isinstance(value, dict):
        return {f"f:{name}": _fields(each) for name, each in value.items()}
    if isinstance(value, list):
        named = [each for each in value if isinstance(each, dict) and "name" in each]
        return {f'k:{{"name":"{each["name"]}"}}': {".": {}, **_fields(each)} for each in named}
    return {}


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
