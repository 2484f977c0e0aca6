"""Building the catalog file from llmfit's list."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from kubectl_llmfit import Model
from kubectl_llmfit.catalog import build
from kubectl_llmfit.catalog.shipped import ShippedCatalog


def entry(name: str, **changes: Any) -> dict[str, Any]:
    """An entry as `llmfit list --json` prints it, prose included."""
    facts = {
        "name": name,
        "provider": "someone",
        "use_case": "prose that is not taken",
        "parameters_raw": 7_000_000_000,
        "quantization": "Q4_K_M",
        "min_vram_gb": 3.9,
        "min_ram_gb": 4.0,
        "context_length": 32768,
        "architecture": "llama",
        "format": "gguf",
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "head_dim": 128,
        "hidden_size": 3584,
        "vocab_size": 152064,
        "num_experts": None,
        "active_experts": None,
        "active_parameters": None,
        "moe_intermediate_size": 18944,
        "shared_expert_intermediate_size": None,
    }
    return {**facts, **changes}


def test_facts_are_taken_and_prose_is_not(tmp_path: Any) -> None:
    text = build.build([entry("a/One"), entry("B/two", num_experts=8)], "llmfit 9")
    path = tmp_path / "models.tsv"
    path.write_text(text)
    catalog = ShippedCatalog(str(path))
    assert (catalog.release.source, catalog.release.models) == ("llmfit 9", 2)
    assert "prose" not in text
    expected = Model(
        name="a/One",
        parameters=7_000_000_000,
        quantization="Q4_K_M",
        min_vram_gb=3.9,
        min_ram_gb=4.0,
        context_length=32768,
        architecture="llama",
        format="gguf",
        layers=28,
        attention_heads=28,
        kv_heads=4,
        head_dim=128,
        hidden_size=3584,
        vocab_size=152064,
        intermediate_size=18944,
    )
    assert catalog.exact("a/one") == expected
    two = catalog.exact("b/two")
    assert two is not None
    assert (two.experts, two.is_moe) == (8, True)


def test_the_order_of_the_input_does_not_count() -> None:
    entries = [entry(name) for name in ("b", "C", "a", "a-b", "a/b", "a.b", "A_b")]
    text = build.build(entries, "llmfit 9")
    assert build.build(reversed(entries), "llmfit 9") == text
    names = [line.split("\t")[0] for line in text.splitlines()[2:]]
    assert names == sorted(names, key=str.lower)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["größe"], id="not-ascii"),
        pytest.param(["a\tb"], id="tab"),
        pytest.param(["a\nb"], id="newline"),
        pytest.param(["a\x7fb"], id="control-character"),
        pytest.param([" a"], id="space-in-front"),
        pytest.param(["a "], id="space-behind"),
        pytest.param(["a/b", "A/B"], id="twice-but-for-case"),
    ],
)
def test_a_name_that_the_file_cannot_hold_is_an_error(names: list[str]) -> None:
    with pytest.raises(
        ValueError, match=r"name that the catalog cannot hold|two models are called"
    ):
        build.build([entry(name) for name in names], "llmfit 9")


@pytest.mark.parametrize(
    ("name", "counted", "sized"),
    [
        pytest.param("a/M-27B-NVFP4", 15 * 10**9, 27 * 10**9, id="packed-below-three-quarters"),
        pytest.param("a/M-27B-NVFP4", 20_250_000_000, 20_250_000_000, id="just-three-quarters"),
        pytest.param("a/M-27B-NVFP4", 20_249_999_999, 27 * 10**9, id="just-below"),
        pytest.param("a/M-27B", 15 * 10**9, 15 * 10**9, id="not-packed"),
        pytest.param("a/M-AWQ", 15 * 10**9, 15 * 10**9, id="no-size-in-the-name"),
        pytest.param("a/M-1.5b-awq", 4 * 10**8, 1_500_000_000, id="fraction-in-small-letters"),
        pytest.param("27B/M-7B-GPTQ", 2 * 10**9, 7 * 10**9, id="the-owners-name-does-not-count"),
        pytest.param("a/M-235B-A22B-Int4", 4 * 10**10, 235 * 10**9, id="total-before-active"),
        pytest.param("a/M-A22B-AWQ", 4 * 10**9, 4 * 10**9, id="active-size-alone"),
        pytest.param("a/M-8x7B-AWQ", 10**9, 10**9, id="times-is-no-size"),
        pytest.param("a/M-27B-DFlash-AWQ", 10**9, 10**9, id="draft-model"),
        pytest.param("a/M-27Bit-AWQ", 10**9, 10**9, id="bits-are-no-size"),
        pytest.param("a/M-v1.27B-AWQ", 10**8, 10**8, id="part-of-a-version"),
    ],
)
def test_packed_checkpoints_are_sized_by_their_names(name: str, counted: int, sized: int) -> None:
    assert build.sized_parameters(name, counted) == sized


def test_the_command_reads_a_list_and_writes_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([entry("a/b")])))
    assert build.main(["llmfit 9"]) == 0
    assert capsys.readouterr().out == build.build([entry("a/b")], "llmfit 9")


def test_the_command_without_a_source_says_how_to_call_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert build.main([]) == 2
    assert capsys.readouterr().out.startswith("usage: llmfit list --json | python -m ")
