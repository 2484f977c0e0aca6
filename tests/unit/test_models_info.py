"""`models info`: every fact with its unit, the claim that follows, and the facts as an entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from tests.unit.commandline import MODEL, Run
from tests.unit.samples import catalog_file

MOE = "Qwen/Qwen3-30B-A3B"

# Sample models of every kind: dense, MoE, each format and quantization family, few facts, many.
ROUND_TRIPS = (
    MODEL,
    MOE,
    "moonshotai/Kimi-K3",
    "Fu01978/Nano-H",
    "WhirlwindAI/NanoZephyr",
    "cyankiwi/gemma-4-31B-it-AWQ-8bit",
    "JunHowie/Qwen3-8B-GPTQ-Int8",
    "onnx-community/Qwen2.5-0.5B-Instruct",
    "inclusionAI/Ling-3.0-flash-base-30T",
)


def sections(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The facts and the claim of a page, each as label and value of its lines."""
    facts, _, claim = text.partition("\nClaim at ")
    lines = (facts.splitlines(), claim.partition("Other quantizations:")[0].splitlines()[1:])
    first, second = (
        {label.strip(): value.strip() for label, _, value in (line.partition(":") for line in part)}
        for part in lines
    )
    return first, second


def test_every_fact_has_its_unit(run: Run) -> None:
    page, claim = sections(run("models", "info", MODEL).stdout())
    assert page["Name"] == MODEL
    assert page["Parameters"] == "7615616512 weights"
    assert page["VRAM Floor"] == "3.9 GB"
    assert page["Context Length"] == "32768 tokens"
    assert page["Layers"] == "28 layers"
    assert page["KV Heads"] == "4 heads"
    assert page["Head Dimension"] == "128 values a head"
    assert page["Experts"] == "<none>"
    assert claim == {
        "Name": "qwen-qwen2-5-7b-instruct-fit",
        "DeviceClass": "llmfit.ai",
        "Quantization": "Q4_K_M",
        "Weights": "4.4 GB",
        "Memory": "5 Gi or more",
        "Bandwidth": "161 GB/s or more",
    }


def test_a_mixture_shows_its_experts(run: Run) -> None:
    page, _ = sections(run("models", "info", MOE).stdout())
    assert page["Experts"] == "128 experts"
    assert page["Active Experts"] == "8 experts a token"


def test_what_is_not_known_is_said_to_be(run: Run, tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "own.yaml", "name: a/b, parameters: 5, quantization: F16")
    page, _ = sections(run("models", "info", "a/b", "--catalog", path).stdout())
    assert page["Layers"] == "<unknown>"
    assert page["VRAM Floor"] == "<unknown>"
    assert page["Experts"] == "<none>"


def test_the_claim_follows_from_the_flags(run: Run) -> None:
    flags = ("--quant", "q8_0", "--min-tps", "40", "--efficiency", "80")
    text = run("models", "info", MODEL, *flags).stdout()
    assert "\nClaim at 40 tok/s and 80% efficiency:\n" in text
    # 7.615616512 x 1.05 = 7.996; x 1.2 = 9.6; 40 x 7.996 / 0.8 = 399.8
    _, page = sections(text)
    assert page["Weights"] == "8 GB"
    assert page["Memory"] == "10 Gi or more"
    assert page["Bandwidth"] == "400 GB/s or more"
    claim = json.loads(run("render", MODEL, "--json", *flags).stdout())
    assert json.loads(run("models", "info", MODEL, "-o", "json", *flags).stdout())["claim"] == claim


def test_the_wide_page_compares_quantizations(run: Run) -> None:
    text = run("models", "info", MODEL, "-o", "wide").stdout()
    assert text.startswith(run("models", "info", MODEL).stdout())
    lines = text.partition("Other quantizations:\n")[2].splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines}
    assert table["QUANT"] == ["WEIGHTS", "MEMORY", "BANDWIDTH"]
    # 15.231; x 1.2 = 18.3; 20 x 15.231 / 0.55 = 553.9
    assert table["F16"] == ["15.2GB", "19Gi", "554GB/s"]
    assert table["Q4_K_M"] == ["4.4GB", "5Gi", "161GB/s"]


def test_json_and_yaml_hold_the_same(run: Run) -> None:
    from_json = json.loads(run("models", "info", MODEL, "-o", "json").stdout())
    assert yaml.safe_load(run("models", "info", MODEL, "-o", "yaml").stdout()) == from_json
    assert list(from_json) == ["model", "claim"]
    assert from_json["model"]["minVramGb"] == 3.9
    assert "experts" not in from_json["model"]


def test_several_models_are_a_list_documents_pages_or_lines(run: Run) -> None:
    arguments = ("models", "info", MODEL, MOE)
    each = [json.loads(run("models", "info", name, "-o", "json").stdout()) for name in (MODEL, MOE)]
    assert json.loads(run(*arguments, "-o", "json").stdout()) == each
    assert list(yaml.safe_load_all(run(*arguments, "-o", "yaml").stdout())) == each
    assert run(*arguments, "-o", "name").stdout() == f"{MODEL}\n{MOE}\n"
    pages = [run("models", "info", name).stdout() for name in (MODEL, MOE)]
    assert run(*arguments).stdout() == f"{pages[0]}\n\n{pages[1]}"


def test_a_model_that_cannot_be_sized_is_shown_with_the_reason(run: Run) -> None:
    name = "klee100/Qwen3.8-Flash-Next-AutoRound-3bpw-MTP"
    text = run("models", "info", name).stdout()
    assert "unknown-quantization" in sections(text)[1]["None"]
    data = json.loads(run("models", "info", name, "-o", "json").stdout())
    assert data["noClaim"]["reason"] == "unknown-quantization"
    sized = json.loads(run("models", "info", name, "-o", "json", "--quant", "Q4_K_M").stdout())
    assert sized["claim"]["quant"] == "Q4_K_M"


def test_every_unknown_model_is_an_error_and_nothing_is_shown(run: Run) -> None:
    lines = run("models", "info", MODEL, "no-such-model", "qwen2.5").errors()
    assert [line.rpartition(" (")[2] for line in lines] == ["unknown-model)", "ambiguous-model)"]


def entry_of(run: Run, model: str, *flags: str) -> dict[str, Any]:
    """The facts that `info -o yaml` prints."""
    document = yaml.safe_load(run("models", "info", model, "-o", "yaml", *flags).stdout())
    facts: dict[str, Any] = document["model"]
    return facts


@pytest.mark.parametrize("model", ROUND_TRIPS)
def test_the_facts_are_an_entry_that_gives_the_same_claim(
    run: Run, tmp_path: Path, model: str
) -> None:
    text = run("models", "info", model, "-o", "yaml").stdout()
    facts = text.partition("model:\n")[2].partition("claim:\n")[0]
    # The printed lines themselves, indented for a list, under another name.
    entry = "- " + facts.strip().replace(f"name: {model}", "name: fed/back")
    path = tmp_path / "own.yaml"
    path.write_text(f"models:\n{entry}\n")
    flags = ("--catalog", str(path))
    assert entry_of(run, "fed/back", *flags) == {**entry_of(run, model), "name": "fed/back"}
    for extra in ((), ("--quant", "F16", "--min-tps", "7.3")):
        shipped = json.loads(run("render", model, "--json", *extra).stdout())
        own = json.loads(run("render", "fed/back", "--json", *extra, *flags).stdout())
        assert own == {**shipped, "model": "fed/back", "claimName": "fed-back-fit"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("größe/模型-7b", id="letters-beyond-ascii"),
        pytest.param("emoji/\U0001f600-7b", id="beyond-16-bits"),
        pytest.param("yes", id="word-with-a-meaning"),
        pytest.param("1e3", id="number"),
        pytest.param("a: b #c", id="yaml-inside"),
        pytest.param('"quoted" \\ back', id="quotes"),
    ],
)
def test_a_nasty_name_survives_being_fed_back(run: Run, tmp_path: Path, name: str) -> None:
    first = tmp_path / "first.yaml"
    entry = {"name": name, "parameters": 7_000_000_000, "quantization": "F16", "minVramGb": 1e-05}
    first.write_text(json.dumps({"models": [entry]}, ensure_ascii=False), encoding="utf-8")
    text = run("models", "info", name, "-o", "yaml", "--catalog", str(first)).stdout()
    second = tmp_path / "second.yaml"
    lines = text.partition("model:\n")[2].partition("claim:\n")[0].splitlines()
    second.write_text("models:\n- " + "\n".join(lines).strip() + "\n", encoding="utf-8")
    finished = run("models", "info", name, "-o", "json", "--catalog", str(second))
    assert json.loads(finished.stdout())["model"] == entry


def test_the_name_of_every_shipped_model_finds_it(run: Run) -> None:
    names = list(ShippedCatalog().names())[::1500]
    assert run("models", "info", *names, "-o", "name").stdout().splitlines() == names
