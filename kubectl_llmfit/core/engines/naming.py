"""Reads a quantization off the name of a repository, file or tag.

Only names that hubs' publishers use for it, and only where they mean one size. Sources: the
quantization names of ggml-org/llama.cpp tools/quantize/README.md; repository names and their
config.json on the Hugging Face hub (…-AWQ, …-GPTQ-Int8, …-FP8-dynamic, …-quantized.w4a16,
…-NVFP4, …-bnb-4bit); vllm-project/llm-compressor docs on schemes (W4A16, W8A8, FP8, NVFP4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kubectl_llmfit.core.sizing import quantization

_GGUF = re.compile(
    r"(?<![a-z0-9])(?:ud-)?(?:iq[1-4]_(?:xxs|xs|s|m|nl)|q[2-8]_k(?:_(?:xl|l|m|s))?|q[2-8]_[01]"
    r"|tq[12]_0|i2_s|mxfp4|bf16|fp16|f16|fp32|f32)(?![a-z0-9])",
    re.IGNORECASE,
)
# llama.cpp's tool takes the short names for the middle size (tools/quantize/quantize.cpp).
_SHORT = {"Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M"}
_TOKENS = re.compile(r"[a-z0-9]+")
_EIGHT = frozenset({"8bit", "8bits", "int8", "w8a16", "w8a8"})
_FOUR = frozenset({"4bit", "4bits", "int4", "w4a16", "w4a8", "w4afp8"})
_OTHER_BITS = re.compile(r"int[2356]|[2356]bits?|w[2356]a16")
# Method → its canonical names for 8 and for 4 bits. bitsandbytes holds 4.1 to 4.5 bits a weight,
# as AWQ does, and 8-bit weights without scales worth counting.
_METHODS: dict[str, tuple[str, str]] = {
    "autoround": ("AutoRound-8bit", "AutoRound-4bit"),
    "awq": ("AWQ-8bit", "AWQ-4bit"),
    "gptq": ("GPTQ-Int8", "GPTQ-Int4"),
    "bnb": ("INT8", "AWQ-4bit"),
    "bitsandbytes": ("INT8", "AWQ-4bit"),
    "nf4": ("INT8", "AWQ-4bit"),
}
_FORMATS: dict[str, str] = {
    "nvfp4": "NVFP4",
    "mxfp4": "MXFP4",
    "mxfp8": "FP8",
    "float8": "FP8",
    "fp4": "NVFP4",
    "w4afp8": "GPTQ-Int4",
    "w4a8": "GPTQ-Int4",
    "w4a16": "GPTQ-Int4",
    "w8a16": "GPTQ-Int8",
}
# After the formats, because W8A8 may be FP8 or INT8 and says so beside it.
_WIDTHS: dict[str, str] = {"w8a8": "INT8", "int8": "INT8", "int4": "GPTQ-Int4"}
_SIXTEEN = {"bf16": "BF16", "fp16": "F16", "f16": "F16"}
# Formats without one size, or without a known one.
_UNSIZED = frozenset({"exl2", "exl3", "aqlm", "hqq", "quip", "vptq", "4bit", "8bit", "quantized"})


@dataclass(frozen=True)
class Named:
    """What a name says: the canonical quantization, or ``None`` when its size is not known."""

    quant: str | None
    marker: str


def gguf(text: str) -> Named | None:
    """The quantization of a GGUF file or tag; ``None`` when the name says nothing."""
    markers = _GGUF.findall(text.rsplit("/", 1)[-1])
    if not markers:
        return None
    marker = markers[-1]
    for name in (marker, marker.upper().removeprefix("UD-")):
        known = quantization.find(_SHORT.get(name.upper(), name))
        if known is not None:
            return Named(known.name, marker)
    return Named(None, marker)


def checkpoint(text: str) -> Named | None:
    """The quantization of a Hugging Face checkpoint; ``None`` when its name says nothing."""
    name = text.rstrip("/").rsplit("/", 1)[-1].lower().replace("auto-round", "autoround")
    tokens = _TOKENS.findall(name)
    for method, (eight, four) in _METHODS.items():
        if method in tokens:
            if any(_OTHER_BITS.fullmatch(token) for token in tokens):
                return Named(None, method)
            return Named(eight if _EIGHT & set(tokens) else four, method)
    for token in tokens:
        if token in _FORMATS or token.startswith("fp8"):
            return Named(_FORMATS.get(token, "FP8"), token)
    for token in tokens:
        if token in _WIDTHS or token in _SIXTEEN:
            return Named(_WIDTHS.get(token) or _SIXTEEN[token], token)
    unsized = next((token for token in tokens if token in _UNSIZED), None)
    return Named(None, unsized) if unsized else None


def bits(text: str) -> int | None:
    """The bits a weight that a checkpoint's name says: 4 or 8; ``None`` when it says neither."""
    words = set(_TOKENS.findall(text.lower()))
    if words & _EIGHT:
        return 8
    return 4 if words & _FOUR else None
