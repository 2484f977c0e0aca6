"""The table of quantizations: sizes, sources, spellings, and what an unknown name is told."""

from __future__ import annotations

import math

import pytest

from kubectl_llmfit import Refused
from kubectl_llmfit.core.sizing import quantization
from kubectl_llmfit.core.sizing.quantization import Quantization

# By the formats' definitions; llmfit's own figures are held against its binary in tests/parity.
BY_DEFINITION = {
    "F32": 32 / 8,
    "F16": 16 / 8,
    "BF16": 16 / 8,
    "FP8": 8 / 8,
    "INT8": 8 / 8,
    # 4 bits a value and an 8-bit scale for every 16 values
    "NVFP4": (4 + 8 / 16) / 8,
    "AWQ-4bit": 4 / 8,
    "GPTQ-Int4": 4 / 8,
    "GPTQ-Int8": 8 / 8,
    # bits a weight of Llama-3.1-8B in llama.cpp's table
    "IQ1_S": 2.0042 / 8,
    "IQ4_XS": 4.4597 / 8,
    "Q4_K_S": 4.6672 / 8,
    "Q5_K_S": 5.5704 / 8,
}


@pytest.mark.parametrize("name", BY_DEFINITION)
def test_a_size_is_that_of_the_formats_definition(name: str) -> None:
    assert math.isclose(quantization.get(name).bytes_per_parameter, BY_DEFINITION[name])


@pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=entry.name) for entry in quantization.TABLE]
)
def test_an_entry_is_found_in_any_case_and_says_its_source(entry: Quantization) -> None:
    spellings = (entry.name, entry.name.lower(), entry.name.upper(), f" {entry.name}\t")
    assert [quantization.find(spelling) for spelling in spellings] == [entry] * 4
    assert entry.source in (
        quantization.LLMFIT,
        quantization.LLAMA_CPP,
        quantization.WIDTH,
        quantization.NVFP4_FORMAT,
    )
    assert 0.2 < entry.bytes_per_parameter <= 4.0


def test_no_name_is_in_the_table_twice() -> None:
    names = [entry.name.lower() for entry in quantization.TABLE]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        pytest.param("fp32", "F32", id="fp32"),
        pytest.param("float32", "F32", id="float32"),
        pytest.param("fp16", "F16", id="fp16"),
        pytest.param("FP16", "F16", id="FP16"),
        pytest.param("Float16", "F16", id="Float16"),
        pytest.param("bfloat16", "BF16", id="bfloat16"),
    ],
)
def test_an_alias_is_the_same_quantization(alias: str, name: str) -> None:
    assert quantization.get(alias) == quantization.get(name)


def test_an_alias_hides_no_name_of_the_table() -> None:
    names = {entry.name.lower() for entry in quantization.TABLE}
    assert names.isdisjoint(quantization.ALIASES)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        pytest.param("Q4_K_X", "Q4_K_M", id="a-slip"),
        pytest.param("int4", "GPTQ-Int4", id="a-part"),
        pytest.param("zzz", "for example F16", id="nothing-near"),
        pytest.param("", "for example F16", id="empty"),
        pytest.param("q" * 10_000, "for example F16", id="very-long"),
        pytest.param("Q8\x1b[2J", "Q8", id="control-characters"),
    ],
)
def test_an_unknown_name_is_told_known_ones(name: str, suggestion: str) -> None:
    with pytest.raises(Refused) as refused:
        quantization.get(name, origin="--quant")
    (problem,) = refused.value.problems
    assert problem.reason.token == "unknown-quantization"
    assert problem.sentence.startswith("--quant: ")
    assert suggestion in problem.sentence
    assert problem.sentence.isprintable()
    assert len(problem.sentence) < 400


@pytest.mark.parametrize("name", ["AutoRound-2bit", "GPTQ-Int2", "AutoRound-6bit", "Q4_K", "4bit"])
def test_a_name_whose_size_is_not_known_is_not_guessed(name: str) -> None:
    assert quantization.find(name) is None
