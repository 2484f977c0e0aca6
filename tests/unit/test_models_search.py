"""`models search`: a table for people, facts and claims for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from tests.unit.commandline import MODEL, Run
from tests.unit.samples import catalog_file

WORDS = ("qwen2.5-7b", "instruct")
HEADS = ["NAME", "PARAMS", "QUANT", "WEIGHTS", "MEMORY", "BANDWIDTH", "CONTEXT"]


def holding(*words: str) -> list[str]:
    """Names that hold every word, by brute force."""
    return [
        name for name in ShippedCatalog().names() if all(word in name.lower() for word in words)
    ]


def test_the_table_is_kubectls(run: Run) -> None:
    finished = run("models", "search", *WORDS, "--limit", "3")
    head, *rows = finished.out.splitlines()
    assert head.split() == HEADS
    # 7.615616512 x 0.58 = 4.417; 5Gi; 160.6 GB/s
    assert re.split(r" {3,}", rows[0]) == [
        MODEL,
        "7.62B",
        "Q4_K_M",
        "4.4GB",
        "5Gi",
        "161GB/s",
        "32768",
    ]
    assert len(rows) == 3
    columns = [match.start() for match in re.finditer(r"(?<!\S)\S", head)]
    for row in rows:
        assert all(row[column - 3 : column] == "   " for column in columns[1:])


def test_the_table_without_heads_is_the_rows(run: Run) -> None:
    rows = run("models", "search", *WORDS, "--limit", "0").stdout().splitlines()[1:]
    bare = run("models", "search", *WORDS, "--limit", "0", "--no-headers").stdout().splitlines()
    assert [row.split() for row in bare] == [row.split() for row in rows]


def test_what_is_left_out_is_said_on_stderr(run: Run) -> None:
    total = len(holding(*WORDS))
    finished = run("models", "search", *WORDS, "--limit", "3")
    assert finished.code == 0
    assert finished.err == f"3 of {total} models shown; --limit 0 shows all.\n"


def test_twenty_are_shown_unless_told_otherwise(run: Run) -> None:
    assert len(run("models", "search", "qwen", "-o", "name").out.splitlines()) == 20


def test_limit_0_shows_all(run: Run) -> None:
    names = run("models", "search", *WORDS, "--limit", "0", "-o", "name").stdout().splitlines()
    assert sorted(names) == sorted(holding(*WORDS))
    assert names[0] == MODEL


def test_the_wide_table_has_the_architecture(run: Run, tmp_path: Path) -> None:
    path = catalog_file(
        tmp_path / "own.yaml",
        "name: own-test/dense, parameters: 7000000000, quantization: F16, layers: 28, kvHeads: 4, "
        "headDim: 128, architecture: llama, format: gguf",
        "name: own-test/moe, parameters: 7000000000, quantization: F16, experts: 8",
        "name: own-test/unsized, parameters: 7000000000, quantization: AutoRound-2bit",
    )
    text = run("models", "search", "own-test/", "-o", "wide", "--catalog", path).stdout()
    rows = {row.split()[0]: row.split()[1:] for row in text.splitlines()}
    claim = ["14GB", "14Gi", "510GB/s"]
    unknown = "<unknown>"
    assert rows == {
        "NAME": [*HEADS[1:], "LAYERS", "KV-HEADS", "HEAD-DIM", "EXPERTS", "ARCHITECTURE", "FORMAT"],
        "own-test/dense": [
            "7B",
            "F16",
            *claim,
            unknown,
            "28",
            "4",
            "128",
            "<none>",
            "llama",
            "gguf",
        ],
        "own-test/moe": ["7B", "F16", *claim, *[unknown] * 4, "8", *[unknown] * 2],
        "own-test/unsized": ["7B", "AutoRound-2bit", *[unknown] * 7, "<none>", *[unknown] * 2],
    }


def test_json_and_yaml_hold_the_same_facts_and_claims(run: Run) -> None:
    arguments = ("models", "search", *WORDS, "--limit", "3", "-o")
    from_json = json.loads(run(*arguments, "json").out)
    assert yaml.safe_load(run(*arguments, "yaml").out) == from_json
    assert from_json["total"] == len(holding(*WORDS))
    assert len(from_json["models"]) == 3
    first = from_json["models"][0]
    assert first["model"]["name"] == MODEL
    assert first["model"]["parameters"] == 7_615_616_512
    assert first["claim"] == json.loads(run("render", MODEL, "--json").stdout())


def test_a_model_that_cannot_be_sized_says_why_in_its_place(run: Run, tmp_path: Path) -> None:
    path = catalog_file(
        tmp_path / "own.yaml", "name: own-test/own, parameters: 5, quantization: AutoRound-2bit"
    )
    found = json.loads(
        run("models", "search", "own-test/own", "-o", "json", "--catalog", path).stdout()
    )
    (entry,) = found["models"]
    assert entry["noClaim"]["reason"] == "unknown-quantization"
    assert "AutoRound-2bit" in entry["noClaim"]["message"]
    assert "claim" not in entry


@pytest.mark.parametrize(
    ("form", "out"),
    [
        pytest.param((), "", id="table"),
        pytest.param(("-o", "name"), "", id="names"),
        pytest.param(("-o", "json"), '{\n    "total": 0,\n    "models": []\n}\n', id="json"),
        pytest.param(("-o", "yaml"), "total: 0\nmodels: []\n", id="yaml"),
    ],
)
def test_nothing_found_is_no_error(run: Run, form: tuple[str, ...], out: str) -> None:
    finished = run("models", "search", "no-such", "\x1b[2J", *form)
    assert (finished.code, finished.out) == (0, out)
    assert finished.err == 'No models found whose names hold "no-such" and "\\x1b[2J".\n'
