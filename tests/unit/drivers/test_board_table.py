"""The shipped board table holds together, and users' boards go over it."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlparse

import pytest

from kubectl_llmfit.catalog.boards import PATH, load_boards
from kubectl_llmfit.core.boards import Board
from kubectl_llmfit.core.drivers.gpu_nvidia_com import threshold_bytes
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.sizing.quantity import GI, MI

BOARDS = load_boards()


def by_name(name: str, boards: tuple[Board, ...] = BOARDS) -> Board:
    (found,) = [board for board in boards if board.name == name]
    return found


def test_names_are_unique_within_a_driver() -> None:
    names = [(board.driver, board.name) for board in BOARDS]
    assert len(set(names)) == len(names)


def test_ids_name_one_board() -> None:
    ids = [(board.driver, each) for board in BOARDS for each in board.ids]
    assert len(set(ids)) == len(ids)


def test_every_board_has_a_public_source() -> None:
    assert all(urlparse(board.source).scheme == "https" for board in BOARDS)


def test_attribute_strings_are_within_the_api_limit() -> None:
    """64 bytes; source: resource.k8s.io, DeviceAttributeMaxValueLength."""
    assert max(len(board.name.encode()) for board in BOARDS) <= 64


def test_file_is_sorted_with_a_board_a_line() -> None:
    lines = Path(PATH).read_text("utf-8").splitlines()
    rows = [json.loads(line.rstrip(",")) for line in lines if line.startswith("  {")]
    assert len(rows) == len(BOARDS)
    names = [(row["driver"], row["productName"]) for row in rows]
    assert names == sorted(names)


# Bandwidth = bus width (bits) x data rate (Gbit/s a pin) / 8, from the vendors' data sheets.
ARITHMETIC = [
    pytest.param("Tesla T4", 256 * 10 / 8, id="T4-GDDR6-256bit-10Gbps"),
    pytest.param("NVIDIA L4", 192 * 12.5 / 8, id="L4-GDDR6-192bit-12.5Gbps"),
    pytest.param("NVIDIA L40S", 384 * 18 / 8, id="L40S-GDDR6-384bit-18Gbps"),
    pytest.param("NVIDIA GeForce RTX 4090", 384 * 21 / 8, id="4090-GDDR6X-384bit-21Gbps"),
    pytest.param("NVIDIA GeForce RTX 3090", 384 * 19.5 / 8, id="3090-GDDR6X-384bit-19.5Gbps"),
    pytest.param("NVIDIA A100-SXM4-40GB", 5120 * 2.43 / 8, id="A100-HBM2-5120bit-2.43Gbps"),
    pytest.param("NVIDIA H100 80GB HBM3", 5120 * 5.23 / 8, id="H100-HBM3-5120bit-5.23Gbps"),
    pytest.param("AMD_Instinct_MI300X_OAM", 8192 * 5.2 / 8, id="MI300X-HBM3-8192bit-5.2Gbps"),
    pytest.param("B580", 192 * 19 / 8, id="B580-GDDR6-192bit-19Gbps"),
]


@pytest.mark.parametrize(("name", "gbs"), ARITHMETIC)
def test_bandwidth_is_width_times_rate(name: str, gbs: float) -> None:
    assert by_name(name).bandwidth_gbs == pytest.approx(gbs, rel=0.01)


# As nodes report it: public ResourceSlices and nvidia-smi output.
@pytest.mark.parametrize(
    ("name", "mib"),
    [
        ("NVIDIA H100 80GB HBM3", 81559),
        ("NVIDIA H200", 143771),
        ("NVIDIA GB200", 189471),
        ("NVIDIA GB300", 284208),
        ("NVIDIA A100-SXM4-40GB", 40960),
        ("NVIDIA A100-SXM4-80GB", 81920),
        ("AMD_Instinct_MI300X_OAM", 196592),
        ("B60", 24480),
    ],
)
def test_memory_is_the_published_capacity_and_not_the_name(name: str, mib: int) -> None:
    assert by_name(name).memory_bytes == mib * MI


def test_every_known_mig_capacity_lies_on_its_side_of_every_threshold() -> None:
    checked = 0
    for board in BOARDS:
        for profile in board.profiles:
            if profile.memory_bytes is None:
                continue
            for needed in range(1, (board.memory_slices or 0) + 1):
                enough = profile.memory_bytes >= threshold_bytes(board, needed)
                assert enough == (profile.memory_slices >= needed), (board.name, profile, needed)
                checked += 1
    assert checked > 500


def test_labels_are_as_gpu_feature_discovery_spells_them() -> None:
    assert by_name("NVIDIA H100 80GB HBM3").label == "NVIDIA-H100-80GB-HBM3"
    assert by_name("NVIDIA A100-SXM4-40GB").label == "NVIDIA-A100-SXM4-40GB"


OWN = """
boards:
- driver: gpu.nvidia.com
  name: NVIDIA Prototype
  bandwidthGBs: 12000
  memoryGi: 288
  memorySlices: 8
- driver: gpu.amd.com
  name: AMD_Prototype
  bandwidthGBs: 9000
  memoryGi: 256.5
  ids: ["0x9999"]
- driver: gpu.nvidia.com
  name: NVIDIA L4
  bandwidthGBs: 299
  memoryGi: 22
  source: measured here
"""


def test_own_boards_are_added_and_win(tmp_path: Path) -> None:
    file = tmp_path / "boards.yaml"
    file.write_text(OWN)
    boards = load_boards([str(file)])
    assert len(boards) == len(BOARDS) + 2
    prototype = by_name("NVIDIA Prototype", boards)
    assert (prototype.memory_bytes, prototype.memory_slices) == (288 * GI, 8)
    assert by_name("AMD_Prototype", boards).ids == ("0x9999",)
    assert by_name("NVIDIA L4", boards).bandwidth_gbs == 299
    assert by_name("NVIDIA L4", boards).source == "measured here"


def test_own_boards_of_the_config_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kubectl-llmfit"
    folder.mkdir()
    (folder / "boards.yaml").write_text(OWN)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert by_name("NVIDIA Prototype", load_boards()).bandwidth_gbs == 12000


def test_mistakes_are_listed_together(tmp_path: Path) -> None:
    file = tmp_path / "boards.yaml"
    file.write_text(
        "boards:\n"
        "- {driver: gpu.example.com, name: A, bandwidthGBs: 1, memoryGi: 1}\n"
        "- {driver: gpu.nvidia.com, name: B, bandwidthGBs: 1.5, memoryGi: -1}\n"
        "- {driver: llmfit.ai, name: C, bandwidthGBs: 1, memoryGi: 1}\n"
        "- {driver: gpu.amd.com, bandwidthGBs: 1, ids: x}\n"
    )
    with pytest.raises(Refused) as caught:
        load_boards([str(file)])
    said = [each.sentence.removeprefix(f"{file}: ") for each in caught.value.problems]
    assert said == [
        "boards[0] (A): driver must be one of gpu.nvidia.com, gpu.amd.com, gpu.intel.com",
        'boards[1] (B): bandwidthGBs must be a whole number above 0, not "1.5"',
        'boards[1] (B): memoryGi must be a number above 0, not "-1"',
        "boards[2] (C): driver must be one of gpu.nvidia.com, gpu.amd.com, gpu.intel.com",
        'boards[3]: ids must be a list of texts, not "x"',
        "boards[3]: name is missing",
        "boards[3]: memoryGi is missing",
    ]
    assert {each.reason.token for each in caught.value.problems} == {"bad-boards"}
