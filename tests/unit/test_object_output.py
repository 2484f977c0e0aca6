"""Objects as ``-o`` prints them: the forms of kubectl's own write commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kubectl_llmfit.console.objects import text

SERVICE: dict[str, Any] = {"kind": "Service", "apiVersion": "v1", "metadata": {"name": "web"}}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "vllm", "annotations": {"a": "two\nlines\n", "b": None}},
    "spec": {"containers": [{"name": "c", "args": ["-x"], "on": False}]},
}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([], {"apiVersion": "v1", "kind": "List", "items": []}, id="none"),
        pytest.param([SERVICE], SERVICE, id="one"),
        pytest.param(
            [SERVICE, DEPLOYMENT],
            {"apiVersion": "v1", "kind": "List", "items": [SERVICE, DEPLOYMENT]},
            id="two",
        ),
    ],
)
def test_json(objects: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    shown = text(objects, "json")
    assert json.loads(shown) == expected
    assert shown == json.dumps(expected, indent=4, sort_keys=True) + "\n"


@pytest.mark.parametrize("objects", [[], [SERVICE], [SERVICE, DEPLOYMENT]], ids=len)
def test_yaml(objects: list[dict[str, Any]]) -> None:
    assert list(yaml.safe_load_all(text(objects, "yaml"))) == objects


def test_keys_of_yaml_are_sorted_and_lines_stand_as_they_are() -> None:
    assert text([DEPLOYMENT], "yaml") == (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  annotations:\n"
        "    a: |\n      two\n      lines\n    b: null\n  name: vllm\n"
        'spec:\n  containers:\n  - args:\n    - "-x"\n    name: c\n    "on": false\n'
    )


def test_names() -> None:
    assert text([SERVICE, DEPLOYMENT], "name") == "service/web\ndeployment.apps/vllm\n"
    assert text([], "name") == ""
