"""A user's own catalog files: where they are read from, and which entry wins."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kubectl_llmfit import Catalog, Model
from tests.unit.commandline import MODEL, Run, environment, whole_process
from tests.unit.samples import catalog_file

OWN = "name: acme/support-7b, parameters: 7000000000, quantization: BF16"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the user's own file, in a config folder of this test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "kubectl-llmfit"
    folder.mkdir(parents=True)
    return folder / "models.yaml"


def claim_numbers(text: str) -> tuple[int, int]:
    summary = json.loads(text)
    return summary["memoryGi"], summary["minBandwidthGBs"]


def test_an_own_model_is_rendered(run: Run, tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "models.yaml", OWN)
    finished = run("render", "acme/support-7b", "--json", "--catalog", path)
    # 7 x 2 = 14; 20 x 14 x 100 / 55 = 509.1
    assert claim_numbers(finished.stdout()) == (14, 510)


def test_every_field_is_read(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(
        "# every field that an entry may have\n"
        "models:\n"
        "- name: acme/all\n"
        "  parameters: 100_000_000_000\n"
        "  quantization: fp16\n"
        "  minVramGb: 17\n"
        "  minRamGb: 18.5\n"
        "  contextLength: 32768\n"
        "  architecture: mixtral\n"
        "  format: safetensors\n"
        "  layers: 32\n"
        "  attentionHeads: 64\n"
        "  kvHeads: 8\n"
        "  headDim: 128\n"
        "  hiddenSize: 4096\n"
        "  intermediateSize: 14336\n"
        "  vocabSize: 32000\n"
        "  experts: 8\n"
        "  activeExperts: 2\n"
        "  activeParameters: 13000000000\n"
        "  sharedExpertIntermediateSize: 512\n"
    )
    assert Catalog.open([str(path)]).resolve("acme/all") == Model(
        name="acme/all",
        parameters=100_000_000_000,
        quantization="fp16",
        min_vram_gb=17.0,
        min_ram_gb=18.5,
        context_length=32768,
        architecture="mixtral",
        format="safetensors",
        layers=32,
        attention_heads=64,
        kv_heads=8,
        head_dim=128,
        hidden_size=4096,
        vocab_size=32000,
        experts=8,
        active_experts=2,
        active_parameters=13_000_000_000,
        intermediate_size=14336,
        shared_expert_intermediate_size=512,
    )


def test_a_field_that_is_null_is_not_known(tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "models.yaml", f"{OWN}, minVramGb: null, layers: ~")
    model = Catalog.open([path]).resolve("acme/support-7b")
    assert (model.min_vram_gb, model.layers) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("models: []\n", id="no-entries"),
        pytest.param("\ufeffmodels: []\n", id="byte-order-mark"),
        pytest.param("models: []\r\n", id="windows-line-ends"),
        pytest.param("---\nmodels: []\n...\n", id="document-marks"),
        pytest.param('{"models": []}', id="json"),
    ],
)
def test_a_file_without_entries_is_a_valid_one(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_bytes(text.encode())
    finished = run("render", MODEL, "-o", "name", "--catalog", str(path))
    assert finished.stdout() == "resourceclaim.resource.k8s.io/qwen-qwen2-5-7b-instruct-fit\n"


def test_an_own_entry_wins_over_the_shipped_one(run: Run, tmp_path: Path) -> None:
    shipped = claim_numbers(run("render", MODEL, "--json").stdout())
    path = catalog_file(
        tmp_path / "models.yaml",
        f"name: {MODEL.upper()}, parameters: 1000000000, quantization: F32, minVramGb: 9.5",
    )
    own = claim_numbers(run("render", MODEL, "--json", "--catalog", path).stdout())
    # 1 x 4 = 4 below the floor of 9.5; 20 x 4 x 100 / 55 = 145.5
    assert own == (10, 146)
    assert shipped != own


def test_a_later_file_wins_entry_by_entry(run: Run, tmp_path: Path) -> None:
    first = catalog_file(
        tmp_path / "first.yaml", OWN, "name: acme/only, parameters: 2000000000, quantization: F16"
    )
    second = catalog_file(
        tmp_path / "second.yaml", "name: ACME/support-7B, parameters: 3000000000, quantization: F16"
    )
    catalog = Catalog.open([first, second])
    assert catalog.resolve("acme/support-7b").parameters == 3_000_000_000
    assert catalog.resolve("acme/only").parameters == 2_000_000_000
    assert Catalog.open([second, first]).resolve("acme/support-7b").parameters == 7_000_000_000
    flags = ("--catalog", first, "--catalog", second)
    listed = run("models", "search", "acme/", "-o", "name", *flags).stdout()
    assert sorted(listed.split()) == ["ACME/support-7B", "acme/only"]


def test_the_file_in_the_config_folder_is_read(config: Path, run: Run) -> None:
    catalog_file(config, OWN)
    finished = run("render", "acme/support-7b", "-o", "name")
    assert finished.stdout() == "resourceclaim.resource.k8s.io/acme-support-7b-fit\n"


def test_a_file_of_the_command_line_wins_over_the_config_folders(
    config: Path, tmp_path: Path
) -> None:
    catalog_file(config, OWN)
    given = catalog_file(
        tmp_path / "given.yaml", "name: acme/support-7b, parameters: 3000000000, quantization: F16"
    )
    assert Catalog.open([given]).resolve("acme/support-7b").parameters == 3_000_000_000


def test_a_broken_file_in_the_config_folder_is_named(config: Path, run: Run) -> None:
    config.write_text("models: {}\n")
    error = run("render", MODEL).error()
    assert error.startswith(f"error: {config}")
    assert error.endswith("(bad-catalog)")


@pytest.mark.parametrize("base", ["relative", "./relative", ""])
def test_a_relative_config_folder_is_ignored_for_the_one_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", base)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder, parameters in ((tmp_path / base, 1), (tmp_path / "home" / ".config", 2)):
        (folder / "kubectl-llmfit").mkdir(parents=True)
        catalog_file(
            folder / "kubectl-llmfit" / "models.yaml",
            f"name: acme/own, parameters: {parameters}, quantization: F16",
        )
    assert Catalog.open().resolve("acme/own").parameters == 2


@pytest.mark.parametrize(
    "home",
    [
        pytest.param("/nonexistent/home", id="missing"),
        pytest.param("/proc", id="read-only"),
        pytest.param(os.devnull, id="not-a-folder"),
        pytest.param("relative", id="relative"),
        pytest.param("", id="empty"),
        pytest.param(None, id="not-set"),
    ],
)
def test_a_home_folder_is_not_needed(home: str | None) -> None:
    env = environment(HOME=home, XDG_CONFIG_HOME=None)
    finished = whole_process("render", MODEL, "-o", "name", env=env)
    assert finished.stderr == b""
    assert finished.stdout == b"resourceclaim.resource.k8s.io/qwen-qwen2-5-7b-instruct-fit\n"
    assert finished.returncode == 0
