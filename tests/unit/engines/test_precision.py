"""The precision of the weights, by the engines' documentation and repositories' own names."""

from __future__ import annotations

import pytest

from kubectl_llmfit import Model
from kubectl_llmfit.core.engines import precision
from kubectl_llmfit.core.sizing import quantization
from tests.unit.engines.pods import engine

VLLM = "command: [vllm, serve, {}]"
TGI = "image: ghcr.io/huggingface/text-generation-inference\nargs: [--model-id, {}]"
LLAMA = "command: [llama-server, {}]"
OLLAMA = "command: [sh, -c, 'ollama serve & ollama run {}']"


@pytest.mark.parametrize(
    ("template", "words", "quant", "assumed"),
    [
        (VLLM, "Qwen/Qwen2.5-7B-Instruct", "BF16", True),
        (VLLM, "meta-llama/Llama-3.1-8B-Instruct, --dtype, float32", "F32", False),
        (VLLM, "meta-llama/Llama-3.1-8B-Instruct, --dtype, half", "F16", False),
        (VLLM, "meta-llama/Llama-3.1-8B-Instruct, --dtype, auto", "BF16", True),
        (VLLM, "a/b, --quantization, fp8", "FP8", False),
        (VLLM, "a/b, --quantization, awq_marlin, --dtype, half", "AWQ-4bit", False),
        (VLLM, "a/b, --quantization, gptq", "GPTQ-Int4", False),
        (VLLM, "a/b-Int8, --quantization, gptq", "GPTQ-Int8", False),
        (VLLM, "a/b, --quantization, modelopt_fp4", "NVFP4", False),
        (VLLM, "a/b, --quantization, bitsandbytes", "AWQ-4bit", False),
        (VLLM, "a/b, --quantization, mxfp4", "MXFP4", False),
        (VLLM, "a/b, --quantization, compressed-tensors", None, True),
        (VLLM, "a/b.w4a16, --quantization, compressed-tensors", "GPTQ-Int4", False),
        (VLLM, "a/b, --quantization, hqq", None, True),
        (VLLM, "Qwen/Qwen2.5-7B-Instruct-AWQ", "AWQ-4bit", False),
        (VLLM, "Qwen/Qwen2.5-7B-Instruct-AWQ, --dtype, half", "AWQ-4bit", False),
        (VLLM, "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "GPTQ-Int8", False),
        (VLLM, "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "GPTQ-Int4", False),
        (VLLM, "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "FP8", False),
        (VLLM, "amd/Llama-3.1-8B-Instruct-FP8-KV", "FP8", False),
        (VLLM, "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "INT8", False),
        (VLLM, "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "GPTQ-Int4", False),
        (VLLM, "nvidia/Llama-3.3-70B-Instruct-NVFP4", "NVFP4", False),
        (VLLM, "nvidia/DeepSeek-R1-FP4", "NVFP4", False),
        (VLLM, "unsloth/Llama-3.2-3B-Instruct-bnb-4bit", "AWQ-4bit", False),
        (VLLM, "Intel/Qwen2-7B-int4-AutoRound", "AutoRound-4bit", False),
        (VLLM, "unsloth/gpt-oss-20b-BF16", "BF16", False),
        (VLLM, "turboderp/Llama-3-8B-exl2", None, True),
        (VLLM, "openai/gpt-oss-20b", "MXFP4", False),
        (VLLM, "deepseek-ai/DeepSeek-R1", "FP8", False),
        (VLLM, "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "BF16", True),
        (VLLM, "/models/DeepSeek-R1", "FP8", True),
        (VLLM, "/models/Qwen2.5-7B-Instruct-AWQ", "AWQ-4bit", False),
        (VLLM, "/mnt/models", "BF16", True),
        (VLLM, "'unsloth/Qwen3-0.6B-GGUF:Q4_K_M'", "Q4_K_M", False),
        (VLLM, "a/b, --quantization, $(Q)", None, True),
        (VLLM, "a/b, --dtype, $(D)", None, True),
        (TGI, "a/b", "BF16", True),
        (TGI, "a/b, --quantize, bitsandbytes", "INT8", False),
        (TGI, "a/b, --quantize, bitsandbytes-nf4", "AWQ-4bit", False),
        (TGI, "a/b, --quantize, eetq", "INT8", False),
        (LLAMA, "-hf, 'a/b-GGUF:Q4_K_M'", "Q4_K_M", False),
        (LLAMA, "-hf, 'a/b-GGUF:q8_0'", "Q8_0", False),
        (LLAMA, "-hf, 'a/b-GGUF:UD-Q4_K_XL'", "UD-Q4_K_XL", False),
        (LLAMA, "-hf, 'a/b-GGUF:UD-IQ1_S'", "IQ1_S", False),
        (LLAMA, "-hf, a/b-GGUF", "Q4_K_M", True),
        (LLAMA, "-hf, 'a/b-GGUF:Q4_K_M', -hff, b-Q8_0.gguf", "Q8_0", False),
        (LLAMA, "-m, /models/b-Q5_K_M.gguf", "Q5_K_M", False),
        (LLAMA, "-m, /models/b.Q5_K_S-00001-of-00002.gguf", "Q5_K_S", False),
        (LLAMA, "-m, /models/gpt-oss-20b-mxfp4.gguf", "MXFP4", False),
        (LLAMA, "-m, /models/b-f16.gguf", "F16", False),
        (LLAMA, "-m, /models/b-Q5_1.gguf", None, True),
        (LLAMA, "-m, /models/model.gguf", None, True),
        (LLAMA, "--jinja", None, True),
        (OLLAMA, "llama3.1:8b-instruct-q8_0", "Q8_0", False),
        (OLLAMA, "llama3.1:8b-instruct-fp16", "F16", False),
        (OLLAMA, "llama3.1:8b", "Q4_K_M", True),
        (OLLAMA, "hf.co/a/b-GGUF:Q5_K_M", "Q5_K_M", False),
        ("command: [tritonserver]", "", None, True),
    ],
)
def test_precision(template: str, words: str, quant: str | None, assumed: bool) -> None:
    found = precision(engine(template.replace("{}", words)))
    assert (found.quant.value if found.quant else None) == quant
    assert bool(found.assumption) == assumed
    if quant is not None:
        known = quantization.find(quant)
        assert known is not None
        assert known.name == quant


def test_the_catalog_tells_what_a_path_does_not() -> None:
    facts = engine("command: [vllm, serve, /mnt/models]")
    awq = Model("Qwen/Qwen2.5-7B-Instruct", 7_000_000_000, "AWQ-4bit")
    found = precision(facts, awq)
    assert found.quant is not None
    assert (found.quant.value, found.quant.origin) == (
        "AWQ-4bit",
        "the catalog's entry Qwen/Qwen2.5-7B-Instruct",
    )
    # What the catalog assumes for GGUF users says nothing about a checkpoint.
    gguf = precision(facts, Model("Qwen/Qwen2.5-7B-Instruct", 7_000_000_000, "Q4_K_M"))
    assert gguf.quant is not None
    assert gguf.quant.value == "BF16"


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("command: [vllm, serve, a/b, -q, fp8]", "container main, command[4]"),
        ("command: [vllm, serve, a/b-AWQ]", "the repository's name"),
        ("command: [vllm, serve, a/b]", "vLLM's default: the checkpoint's precision, BF16"),
        ("command: [llama-server, -hf, 'a/b:Q8_0']", "container main, command[2]"),
        ("command: [vllm, serve, openai/gpt-oss-20b]", "the checkpoint of openai/gpt-oss-20b"),
    ],
)
def test_what_says_so(text: str, origin: str) -> None:
    found = precision(engine(text))
    assert found.quant is not None
    assert found.quant.origin == origin


def test_an_assumption_names_what_may_say_otherwise() -> None:
    found = precision(engine("command: [vllm, serve, a/b, --config, /c.yaml]"))
    assert found.assumption.endswith("unless container main, command[4] says otherwise")
