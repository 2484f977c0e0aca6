"""Manifests from public repositories, where they are at hand beside the repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_llmfit.core.rewrite import operations
from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation
from kubectl_llmfit.files.documents import Located, parse
from kubectl_llmfit.files.editing import edited
from kubectl_llmfit.files.splicing import same
from tests.unit.files import kubectl
from tests.unit.files.conftest import MANIFESTS

FILES = [
    pytest.param(path, id=str(path.relative_to(MANIFESTS)))
    for path in sorted(MANIFESTS.rglob("*.yaml"))
]
BROKEN = {
    "gke-broken-indent-containers-in-affinity.yaml": 37,
    "kserve-isvc-invalid-braces.yaml": 8,
    "lws-quote-parse-error.yaml": 37,
}
DEVICES = ("nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "google.com/tpu", "habana.ai/", "aliyun")


def read(path: Path) -> str:
    return path.read_bytes().decode()


def walk(value: Any, path: operations.Path = ()) -> Iterator[tuple[operations.Path, Any]]:
    yield path, value
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk(item, (*path, key))


def conversion(value: dict[str, Any]) -> list[Operation]:
    """Every device out of limits and requests, a claim into each first container."""
    found: list[Operation] = []
    for path, part in walk(value):
        if path[-1:] in {("limits",), ("requests",)} and isinstance(part, dict):
            found += [
                Operation((*path, name), quantity, ABSENT)
                for name, quantity in part.items()
                if name.startswith(DEVICES)
            ]
        if path[-1:] == ("containers",) and isinstance(part, list) and isinstance(part[0], dict):
            resources = (*path, 0, "resources")
            old = part[0].get("resources", ABSENT)
            if not isinstance(old, dict):
                found.append(Operation(resources, old, {}))
                old = {}
            claims = old.get("claims")
            if claims is None:
                found.append(Operation((*resources, "claims"), old.get("claims", ABSENT), []))
            new = {"name": "gpu", "request": "r"}
            found.append(Operation((*resources, "claims", len(claims or ())), ABSENT, new))
    return found


@pytest.mark.parametrize("path", FILES)
def test_a_manifest_is_read_as_kubectl_reads_it(path: Path, tmp_path: Path) -> None:
    text = read(path)
    manifest = parse(text, path.name)
    line = BROKEN.get(path.name)
    places = [
        problem.sentence.startswith(f"{path.name}, line {line}: ") for problem in manifest.problems
    ]
    assert places == ([] if line is None else [True])
    assert edited(manifest, {}) == text
    if path.parent == MANIFESTS:
        wanted = kubectl.read(text, tmp_path)
        assert (wanted is None) == (line is not None)
        assert wanted is None or same([each.value for each in manifest.objects], wanted)


@pytest.mark.parametrize("path", FILES)
def test_a_manifest_is_converted_and_every_other_line_stays(path: Path) -> None:
    text = read(path)
    manifest = parse(text, path.name)
    changes: dict[Located, list[Operation]] = {
        each: conversion(each.value) for each in manifest.objects
    }
    result = edited(manifest, changes)
    wanted = [operations.applied(each.value, own) for each, own in changes.items()]
    again = parse(result, path.name)
    assert same([each.value for each in again.objects], wanted)
    # Only lines with a device, or what held nothing else, may change.
    rest = iter(result.splitlines(keepends=True))
    may_go = (*DEVICES, "limits:", "requests:", "resources: {}")
    lines = [
        line for line in text.splitlines(keepends=True) if not any(map(line.__contains__, may_go))
    ]
    if changes and lines and not lines[-1].endswith("\n"):
        lines[-1] = lines[-1] + "\n" if result.endswith("\n") else lines[-1]
    assert [line for line in lines if line.strip() and line not in rest] == []
    undo = {
        new: operations.inverted(own)
        for new, own in zip(again.objects, changes.values(), strict=True)
    }
    back = parse(edited(again, undo), path.name)
    assert same([each.value for each in back.objects], [each.value for each in manifest.objects])
