"""The API server takes every form of what render prints: length, cost and schema included."""

from __future__ import annotations

import itertools

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.e2e.plugin import render

SMALL = "Qwen/Qwen2.5-0.5B"
MIDDLE = "Qwen/Qwen2.5-7B-Instruct"
LARGE = "Qwen/Qwen2.5-72B-Instruct"

VERSIONS = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
CLASSES = (
    "llmfit.ai",
    "gpu.llmfit.ai",
    "npu.llmfit.ai",
    "cpu.llmfit.ai",
    "gpu.nvidia.com",
    "mig.nvidia.com",
    "gpu.amd.com",
    "gpu.intel.com",
)
KINDS = ((), ("--template",))


def accepted(sandbox: Sandbox, text: str) -> list[str]:
    """What a dry-run on the server says of each document of ``text``."""
    return sandbox.kubectl(
        "create", "--dry-run=server", "--validate=strict", "-f", "-", input=text
    ).stdout.splitlines()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_class_and_kind_in_every_version(
    sandbox: Sandbox, cluster: Cluster, version: str
) -> None:
    assert version.rpartition("/")[2] in cluster.served_versions
    texts = [
        render(MIDDLE, "--device-class", name, "--api-version", version, "--name", f"c{n}", *kind)
        for n, (name, kind) in enumerate(itertools.product(CLASSES, KINDS))
    ]
    said = accepted(sandbox, "---\n".join(texts))
    assert len(said) == len(CLASSES) * len(KINDS)
    assert all(line.endswith("created (server dry run)") for line in said)


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("device_class", CLASSES)
def test_smallest_and_largest_floors(sandbox: Sandbox, device_class: str, model: str) -> None:
    """The smallest floor has the longest list of boards, so it costs the most to evaluate."""
    slow = render(model, "--device-class", device_class, "--min-tps", "0.001", "--name", "slow")
    fast = render(model, "--device-class", device_class, "--min-tps", "5", "--name", "fast")
    assert len(accepted(sandbox, f"{slow}---\n{fast}")) == 2


def test_extreme_floors_of_the_default_driver(sandbox: Sandbox) -> None:
    """The largest legal speed at the lowest efficiency for the largest model, and the contrary."""
    text = render("Fu01978/Nano-H", "--min-tps", "0.000001")
    text += "---\n" + render(
        "inclusionAI/Ling-3.0-flash-base-30T", "--min-tps", "1000000", "--efficiency", "1"
    )
    assert len(accepted(sandbox, text)) == 2


@pytest.mark.parametrize(
    ("driver", "topology"),
    [
        ("gpu.nvidia.com", "pcie"),
        ("gpu.nvidia.com", "numa"),
        ("gpu.amd.com", "pcie"),
        ("gpu.amd.com", "numa"),
        ("gpu.intel.com", "pcie"),
        ("llmfit.ai", "pcie"),
    ],
)
def test_counts_and_topologies(sandbox: Sandbox, driver: str, topology: str) -> None:
    flags = ("--driver", driver, "--topology", topology)
    texts = [
        render(MIDDLE, *flags, "--count", str(count), "--name", f"n{count}", "--template")
        for count in (2, 8, 32)
    ]
    assert len(accepted(sandbox, "---\n".join(texts))) == 3


def test_labels_namespace_and_the_whole_sum(sandbox: Sandbox) -> None:
    text = render(
        MIDDLE,
        "--labels",
        "app=chat,example.com/team=a.b_c",
        "-n",
        sandbox.namespace,
        "--show-math",
    )
    assert accepted(sandbox, text) == [
        "resourceclaim.resource.k8s.io/qwen-qwen2-5-7b-instruct-fit created (server dry run)"
    ]


def test_names_that_a_reader_could_take_for_other_things(sandbox: Sandbox) -> None:
    texts = [
        render(MIDDLE, "--name", name) for name in ("1e3", "true", "null", "0x10", "12.5", "y")
    ]
    assert len(accepted(sandbox, "---\n".join(texts))) == 6


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_several_models_in_one_call(sandbox: Sandbox, output: str) -> None:
    text = render(SMALL, MIDDLE, LARGE, "-o", output)
    assert len(accepted(sandbox, text)) == 3
