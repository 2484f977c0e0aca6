"""Each driver's floors in CEL, text for text: reviewed here, proved on a real API server."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.boards import Board
from kubectl_llmfit.core.drivers import (
    gpu_amd_com,
    gpu_intel_com,
    gpu_nvidia_com,
    llmfit_ai,
)
from kubectl_llmfit.core.drivers.cel import literal
from kubectl_llmfit.core.drivers.interface import Select
from kubectl_llmfit.core.reasons import Refused
from tests.unit.drivers import boards
from tests.unit.drivers.boards import floors


def test_llmfit_ai_is_the_oracles_text() -> None:
    selection = llmfit_ai.select(floors(5, 161), ())
    assert selection.selector.expression == (
        "'memory' in device.capacity['llmfit.ai'] && "
        "device.capacity['llmfit.ai'].memory.compareTo(quantity('5Gi')) >= 0 && "
        "'memoryBandwidthGBs' in device.attributes['llmfit.ai'] && "
        "device.attributes['llmfit.ai'].memoryBandwidthGBs >= 161 && "
        "'healthy' in device.attributes['llmfit.ai'] && "
        "device.attributes['llmfit.ai'].healthy"
    )
    assert selection.candidates == ()
    assert selection.known_boards == 0


def test_nvidia_names_the_boards_that_are_fast_enough() -> None:
    selection = gpu_nvidia_com.select_gpu(floors(20, 900), boards.NVIDIA)
    assert selection.selector.terms == (
        "'type' in device.attributes['gpu.nvidia.com']",
        "device.attributes['gpu.nvidia.com'].type == 'gpu'",
        "'memory' in device.capacity['gpu.nvidia.com']",
        "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('20Gi')) >= 0",
        "'productName' in device.attributes['gpu.nvidia.com']",
        "device.attributes['gpu.nvidia.com'].productName in "
        "['NVIDIA Fast 24GB', 'NVIDIA Big 80GB']",
    )
    assert [each.board for each in selection.candidates] == [boards.FAST, boards.BIG]
    assert selection.known_boards == 4


def test_nvidia_leaves_out_boards_that_cannot_hold_the_model() -> None:
    """Memory is the slice's to say, but twice a board's size is more than any namesake has."""
    selection = gpu_nvidia_com.select_gpu(floors(70, 100), boards.NVIDIA)
    assert [each.board for each in selection.candidates] == [boards.BIG]


@pytest.mark.parametrize(
    ("bandwidth_gbs", "expected"),
    [
        # 2000 GB/s in eight slices are 250 each; nothing has to be told from one slice.
        pytest.param(250, "['NVIDIA Big 80GB']", id="one-slice"),
        # Halfway between one eighth and two of 81920Mi: 15360Mi.
        pytest.param(
            251,
            "['NVIDIA Big 80GB'] && "
            "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('15Gi')) >= 0",
            id="two-slices",
        ),
        # Five slices: halfway between four eighths and five: 46080Mi.
        pytest.param(
            1001,
            "['NVIDIA Big 80GB'] && "
            "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('45Gi')) >= 0",
            id="five-slices",
        ),
    ],
)
def test_mig_threshold_lies_halfway(bandwidth_gbs: int, expected: str) -> None:
    selection = gpu_nvidia_com.select_mig(floors(5, bandwidth_gbs), boards.NVIDIA)
    product = "device.attributes['gpu.nvidia.com'].productName in "
    assert selection.selector.terms[-1] == f"({product}{expected})"
    assert selection.selector.terms[1] == "device.attributes['gpu.nvidia.com'].type == 'mig'"
    assert selection.known_boards == 1


# Real capacities (Mi) of an H100 80GB's partitions, by slices, and of boards of 81559Mi.
REAL = {1: (9728, 9984), 2: (19968, 20096), 4: (40192, 40448), 8: (80896, 81152)}


@pytest.mark.parametrize("needed", range(2, 9))
def test_mig_threshold_tells_real_capacities_apart(needed: int) -> None:
    board = boards.nvidia("NVIDIA H100 80GB HBM3", 3350, 81559, slices=8)
    threshold = gpu_nvidia_com.threshold_bytes(board, needed) / 2**20
    for slices, capacities in REAL.items():
        for capacity in capacities:
            assert (capacity >= threshold) == (slices >= needed), (slices, capacity, threshold)


def test_mig_says_that_the_first_match_is_taken() -> None:
    (note,) = gpu_nvidia_com.select_mig(floors(5, 1), boards.NVIDIA).notes
    assert "not the smallest" in note


def test_mig_profiles_that_suffice() -> None:
    selection = gpu_nvidia_com.select_mig(floors(5, 1000), boards.NVIDIA)
    assert [each.part for each in selection.candidates] == ["7g.80gb"]


def test_amd_whole_or_partition_by_name_or_id() -> None:
    selection = gpu_amd_com.select(floors(20, 450), boards.AMD)
    attributes, memory = "device.attributes['gpu.amd.com']", "device.capacity['gpu.amd.com'].memory"
    by_name = f"'productName' in {attributes} && {attributes}.productName in ['AMD_Instinct_X_OAM']"
    assert selection.selector.terms == (
        "'memory' in device.capacity['gpu.amd.com']",
        f"{memory}.compareTo(quantity('20Gi')) >= 0",
        f"'type' in {attributes}",
        # 4000 GB/s in eight are 500: enough, and nothing smaller has to be told from it.
        f"({attributes}.type == 'amdgpu' && ({by_name} || "
        f"'deviceID' in {attributes} && {attributes}.deviceID in ['0x0001', '0x0002', '0x0003'])"
        f" || {attributes}.type == 'amdgpu-partition' && !('computePartition' in {attributes}) && "
        f"({by_name} || 'deviceID' in {attributes} && {attributes}.deviceID in ['0x0001']))",
    )


def test_amd_partition_threshold_lies_halfway() -> None:
    """501 GB/s: an eighth is too slow, a half is not; between 24574Mi and 98296Mi: 61435Mi."""
    selection = gpu_amd_com.select(floors(20, 501), boards.AMD)
    assert selection.selector.expression.endswith(
        "device.capacity['gpu.amd.com'].memory.compareTo(quantity('61435Mi')) >= 0)"
    )


def test_amd_too_fast_for_any_partition() -> None:
    selection = gpu_amd_com.select(floors(20, 2001), boards.AMD)
    assert "amdgpu-partition" not in selection.selector.expression


def test_intel_by_model_or_id_and_not_ill() -> None:
    selection = gpu_intel_com.select(floors(10, 200), boards.INTEL)
    attributes = "device.attributes['gpu.intel.com']"
    assert selection.selector.terms[2:] == (
        f"('model' in {attributes} && {attributes}.model in ['B60', 'B50'] || "
        f"'pciId' in {attributes} && {attributes}.pciId in ['0xe211'])",
        f"(!('health' in {attributes}) || {attributes}.health != 'Unhealthy')",
        f"(!('type' in {attributes}) || {attributes}.type == 'gpu')",
    )


def test_intel_without_any_known_id() -> None:
    selection = gpu_intel_com.select(floors(10, 200), boards.INTEL[1:])
    assert "pciId" not in selection.selector.expression


NOTHING = [
    pytest.param(gpu_nvidia_com.select_gpu, boards.NVIDIA, "NVIDIA Big 80GB", id="nvidia"),
    pytest.param(gpu_nvidia_com.select_mig, boards.NVIDIA, "NVIDIA Big 80GB", id="mig"),
    pytest.param(gpu_amd_com.select, boards.AMD, "AMD_Instinct_X_OAM", id="amd"),
    pytest.param(gpu_intel_com.select, boards.INTEL, "B60", id="intel"),
]


@pytest.mark.parametrize(("select", "table", "fastest"), NOTHING)
def test_no_board_is_a_refusal_that_names_the_fastest(
    select: Select, table: tuple[Board, ...], fastest: str
) -> None:
    with pytest.raises(Refused) as caught:
        select(floors(5, 9000), table)
    (problem,) = caught.value.problems
    assert problem.reason.token == "no-board-fits"
    assert f"the fastest is {fastest}" in problem.sentence
    assert "9000 GB/s" in problem.sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "'plain'", id="plain"),
        pytest.param("it's", r"'it\'s'", id="quote"),
        pytest.param("back\\slash", r"'back\\slash'", id="backslash"),
        pytest.param("'] || true || x in ['", r"'\'] || true || x in [\''", id="breaking-out"),
        pytest.param("line\nbreak", r"'line\U0000000abreak'", id="newline"),
    ],
)
def test_values_cannot_end_their_literal(text: str, expected: str) -> None:
    """Escapes of the CEL specification: section "String and Bytes Values"."""
    assert literal(text) == expected
