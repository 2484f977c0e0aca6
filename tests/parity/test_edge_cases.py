"""Chosen cases at the edges of the formula: equal numbers and objects."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from kubectl_llmfit.core.sizing import quantization
from tests.parity.cases import Case, compared, sized_models
from tests.parity.oracle import Options

DENSE = "Qwen/Qwen2.5-7B-Instruct"
SMALLEST = "Fu01978/Nano-H"
LARGEST = "inclusionAI/Ling-3.0-flash-base-30T"
ROUND_550B = "nvidia/NVIDIA-Nemotron-Labs-3-Competitive-Coding-550B-A55B-NVFP4"
LONGEST_NAME = (
    "interlinguistic-language-modeling/"
    "BabyLM-130M-ilm_it-ilm_pl-tokenizer_ilm_bilingual_it_pl_bpe_trailing_ws_32000"
)

CHOSEN = {
    "dense": Case(DENSE),
    "smallest": Case(SMALLEST),
    "largest": Case(LARGEST),
    "mixture-of-experts": Case("Qwen/Qwen3-30B-A3B"),
    "largest-mixture-in-use": Case("moonshotai/Kimi-K3"),
    "longest-name": Case(LONGEST_NAME),
    "name-cut-at-a-dash": Case("AEON-7/Ornith-1.0-35B-AEON-Ultimate-Uncensored-NVFP4"),
    "name-with-dots-and-underscores": Case(
        "0xgr3y/Qwen2.5-Coder-0.5B-Instruct-Gensyn-Swarm-tall_tame_panther"
    ),
    "floor-above-the-weights": Case("ajh-code/Fish-Audio-S2-Pro-NVFP4-Balanced"),
    "packed-nvfp4": Case("0xSero/GLM-5.1-478B-A42B-REAP-NVFP4"),
    "packed-mxfp4": Case("amd/gemma-4-31B-it-MXFP4"),
    "packed-mxfp8": Case("OsaurusAI/Ornith-1.0-9B-MXFP8"),
    "packed-awq": Case("bullerwins/MiniMax-M2.7-REAP-172B-AWQ-8bit"),
    "packed-gptq": Case("bbarn4/medgemma-27b-text-it-GPTQ"),
    "packed-autoround": Case("dewamade/ThinkingCap-Qwen3.8-27B-AutoRound-W4A16-fast"),
    "packed-int4": Case("juewang/deepseek-coder-1.3b-instruct-trt-int4-g64-hf"),
    "draft-model": Case("AEON-7/AEON-DFlash-Qwen3.6-35B-A3B"),
    "slowest": Case(DENSE, Options(min_tps="0.001")),
    "slowest-that-a-float-holds": Case(DENSE, Options(min_tps="5e-324")),
    "smallest-at-the-slowest": Case(SMALLEST, Options(min_tps="5e-324", efficiency="100")),
    "fastest": Case(DENSE, Options(min_tps="1000000")),
    "largest-at-the-fastest": Case(LARGEST, Options(min_tps="1000000", efficiency="1")),
    "efficiency-1": Case(DENSE, Options(efficiency="1")),
    "efficiency-100": Case(DENSE, Options(efficiency="100")),
    "speed-with-many-digits": Case(DENSE, Options(min_tps="33.333333333333336")),
    "template": Case(DENSE, Options(template=True)),
    "name": Case(DENSE, Options(name="a.b-c")),
    "device-class": Case(DENSE, Options(device_class="gpu.llmfit.ai")),
    "every-option": Case(
        LARGEST, Options("Q8_0", "7.3", "33", "npu.llmfit.ai", "mine", template=True)
    ),
    # 550e9 parameters lead to whole numbers: nothing may round up past them.
    "whole-bandwidth": Case(ROUND_550B),
    "whole-bandwidth-in-16-bit": Case(ROUND_550B, Options(quant="F16")),
    "whole-bandwidth-in-2-bit": Case(ROUND_550B, Options(quant="Q2_K")),
    "whole-memory-behind-the-headroom": Case(LARGEST, Options(quant="Q3_K_M")),
    "own-quantization-named": Case(DENSE, Options(quant="Q4_K_M")),
    "another-of-the-same-size": Case(DENSE, Options(quant="Q4_0")),
    # Weights of 1.55, 0.65, 12.95, 164.45 and 313.95 GB, rounded to one decimal.
    "tie-1.55": Case("openai/whisper-large-v3", Options(quant="mlx-8bit")),
    "tie-0.65": Case(
        "juewang/deepseek-coder-1.3b-instruct-trt-int4-g64-hf", Options(quant="AWQ-4bit")
    ),
    "tie-12.95": Case(
        "AEON-7/Ornith-1.0-35B-AEON-Ultimate-Uncensored-NVFP4", Options(quant="Q2_K")
    ),
    "tie-164.45": Case("0xSero/Hy3-299B-NVFP4", Options(quant="MXFP4")),
    "tie-313.95": Case("0xSero/Hy3-299B-NVFP4", Options(quant="Q8_0")),
}

# llmfit's own sizes, each measured again by its claim for another quantization's model.
BY_QUANTIZATION = {
    f"override-{entry.name}": Case(
        "openai/whisper-large-v3" if entry.name != "F16" else DENSE,
        Options(quant=entry.name),
        with_object=False,
    )
    for entry in quantization.TABLE
    if entry.source == quantization.LLMFIT
}

# A model of every quantization that the catalog's entries name.
BY_OWN_QUANTIZATION = {
    f"own-{model.quantization}": Case(model.name, with_object=False)
    for model in reversed(sized_models())
}

CASES = {**CHOSEN, **BY_QUANTIZATION, **BY_OWN_QUANTIZATION}


@pytest.fixture(scope="module")
def differences() -> dict[str, list[str]]:
    """What differs, by case."""
    return compared(CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_the_oracles_summary_and_object(
    case: str, differences: dict[str, list[str]]
) -> None:
    assert differences[case] == []


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("tie-")])
def test_a_tie_is_one(case: str) -> None:
    model = ShippedCatalog().exact(CASES[case].model)
    quant = CASES[case].options.quant
    assert model is not None
    assert quant is not None
    bytes_each = Decimal(str(quantization.get(quant).bytes_per_parameter))
    weights = model.parameters * bytes_each / 10**9
    assert weights == Decimal(case.removeprefix("tie-"))
    assert weights * 100 % 10 == 5


def test_every_quantization_of_the_catalog_that_has_a_size_is_compared() -> None:
    named = {model.quantization for model in sized_models()}
    assert {case.removeprefix("own-") for case in BY_OWN_QUANTIZATION} == named
    assert len(named) >= 9
