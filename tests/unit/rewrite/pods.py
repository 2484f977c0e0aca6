"""Pods for the tests of the rewrite, as short as they can be written."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def container(name: str = "main", **limits: Any) -> Object:
    """A container with ``limits``; ``gpu=1`` is short for ``nvidia.com/gpu: 1``."""
    return {"name": name, "image": "i", "resources": {"limits": _spelled(limits)}}


def sidecar(name: str = "sidecar", **limits: Any) -> Object:
    """A native sidecar."""
    return {**container(name, **limits), "restartPolicy": "Always"}


def pod(*containers: Object, init: tuple[Object, ...] = ()) -> Object:
    """A pod's spec."""
    spec: Object = {"containers": list(containers)}
    if init:
        spec["initContainers"] = list(init)
    return spec


def _spelled(limits: Object) -> Object:
    names = {"gpu": "nvidia.com/gpu", "amd": "amd.com/gpu", "rdma": "rdma/ib"}
    return {names.get(name, name): value for name, value in limits.items()}
