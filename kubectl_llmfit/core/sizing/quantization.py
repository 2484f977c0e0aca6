"""Bytes per parameter of every quantization whose size is known, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import quoted, refuse

LLMFIT = "llmfit 1.1.17, measured from its claims"
LLAMA_CPP = "llama.cpp tools/quantize/README.md, bits per weight of Llama-3.1-8B / 8"
WIDTH = "width of the number format"
NVFP4_FORMAT = "NVFP4 format: 4 bits a value and one 8-bit scale per 16 values"


@dataclass(frozen=True)
class Quantization:
    """A quantization: its canonical ``name``, whole-model ``bytes_per_parameter``, and source."""

    name: str
    bytes_per_parameter: float
    source: str


# What llmfit itself knows. These figures make the default formula, so they equal the oracle's,
# also where a better figure exists (llama.cpp gives Q4_K_M 4.89 bits, not 4.64).
_LLMFIT_SIZES: dict[float, tuple[str, ...]] = {
    4.0: ("F32",),
    2.0: ("F16", "BF16"),
    1.05: ("Q8_0", "UD-Q8_K_XL", "UD-Q8_K_L", "UD-Q8_K_M", "UD-Q8_K_S"),
    1.0: ("mlx-8bit", "AWQ-8bit", "GPTQ-Int8", "AutoRound-8bit"),
    0.80: ("Q6_K", "UD-Q6_K_XL", "UD-Q6_K_L", "UD-Q6_K_M", "UD-Q6_K_S"),
    0.68: ("Q5_K_M", "UD-Q5_K_XL", "UD-Q5_K_L", "UD-Q5_K_M", "UD-Q5_K_S"),
    0.58: ("Q4_K_M", "Q4_0", "UD-Q4_K_XL", "UD-Q4_K_L", "UD-Q4_K_M", "UD-Q4_K_S"),
    0.55: ("MXFP4", "mlx-4bit"),
    0.5: ("AWQ-4bit", "GPTQ-Int4", "AutoRound-4bit"),
    0.48: ("Q3_K_M", "UD-Q3_K_XL", "UD-Q3_K_L", "UD-Q3_K_M", "UD-Q3_K_S"),
    0.42: ("I2_S", "TQ1_0", "TQ2_0"),
    0.37: ("Q2_K", "UD-Q2_K_XL", "UD-Q2_K_L", "UD-Q2_K_M", "UD-Q2_K_S"),
}

# Names that llmfit takes too, but sizes at a silent 0.58.
_LLAMA_CPP_BITS: dict[str, float] = {
    "IQ1_S": 2.0042,
    "IQ1_M": 2.1460,
    "IQ2_XXS": 2.3824,
    "IQ2_XS": 2.5882,
    "IQ2_S": 2.7403,
    "IQ2_M": 2.9294,
    "IQ3_XXS": 3.2548,
    "IQ3_XS": 3.4977,
    "IQ3_S": 3.6606,
    "IQ3_M": 3.7628,
    "IQ4_XS": 4.4597,
    "IQ4_NL": 4.6818,
    "Q2_K_S": 2.9697,
    "Q3_K_S": 3.6429,
    "Q3_K_L": 4.2979,
    "Q4_K_S": 4.6672,
    "Q5_K_S": 5.5704,
}
_EIGHT_BIT = ("FP8", "INT8")

# What an error suggests when nothing is near; docs/quantizations.md has the whole table.
_COMMON = ("F16", "BF16", "FP8", "Q8_0", "Q5_K_M", "Q4_K_M", "AWQ-4bit", "GPTQ-Int4", "MXFP4")

# Other spellings of the same format, so that "--quant fp16" is not taken for a change of an F16
# model's quantization.
ALIASES: dict[str, str] = {
    "fp32": "F32",
    "float32": "F32",
    "fp16": "F16",
    "float16": "F16",
    "bfloat16": "BF16",
}

TABLE: tuple[Quantization, ...] = (
    *(Quantization(name, size, LLMFIT) for size, names in _LLMFIT_SIZES.items() for name in names),
    *(Quantization(name, bits / 8, LLAMA_CPP) for name, bits in _LLAMA_CPP_BITS.items()),
    *(Quantization(name, 1.0, WIDTH) for name in _EIGHT_BIT),
    Quantization("NVFP4", 0.5625, NVFP4_FORMAT),
)

_BY_KEY: dict[str, Quantization] = {entry.name.lower(): entry for entry in TABLE}
_BY_KEY.update({alias: _BY_KEY[name.lower()] for alias, name in ALIASES.items()})


def find(name: str) -> Quantization | None:
    """The quantization called ``name``, matched without case; ``None`` when it is not known."""
    return _BY_KEY.get(name.strip().lower())


def get(name: str, origin: str = "quantization") -> Quantization:
    """The quantization called ``name``, matched without case.

    Raises:
        Refused: ``unknown-quantization``, naming ``origin`` and known names that are close.
    """
    found = find(name)
    if found is not None:
        return found
    near = ", ".join(_near(name))
    known = f"near it: {near}" if near else f"for example {', '.join(_COMMON)}"
    raise refuse(
        reasons.UNKNOWN_QUANTIZATION,
        f"{origin}: no size per parameter is known for quantization {quoted(name)}; "
        f"name the one to size for with --quant ({known})",
    )


def _near(name: str) -> list[str]:
    # Imported here because difflib costs more than a whole render, and errors are rare.
    from difflib import get_close_matches

    keys = get_close_matches(name.strip().lower()[:40], list(_BY_KEY), n=4, cutoff=0.5)
    return list(dict.fromkeys(_BY_KEY[key].name for key in keys))
