"""The precision in which an engine holds a model's weights: the engine's, not the catalog's.

The catalog's quantization is mostly what a GGUF user gets. vLLM, SGLang, TGI and TensorRT-LLM load
the checkpoint as it is, 16-bit unless something says otherwise. Sources: the engines' modules
beside this one; vllm-project/vllm docs/features/quantization/; the quantization_config of the
repositories' config.json for ``_NATIVE``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kubectl_llmfit.core.engines import llamacpp, naming, ollama, tgi, trtllm
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.reference import GGUF, ModelReference
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.sizing import quantization

_PATH = "the model's path"
_REMEDY = "name the one to size for with --quant"

# Method → canonical name, where the method fixes the size of a weight.
_METHODS: dict[str, str] = {
    "fp8": "FP8",
    "ptpc_fp8": "FP8",
    "fbgemm_fp8": "FP8",
    "modelopt_fp8": "FP8",
    "w8a8_fp8": "FP8",
    "mxfp8": "FP8",
    "modelopt_fp4": "NVFP4",
    "modelopt_nvfp4": "NVFP4",
    "petit_nvfp4": "NVFP4",
    "nvfp4": "NVFP4",
    "mxfp4": "MXFP4",
    "int8": "INT8",
    "w8a8_int8": "INT8",
    "experts_int8": "INT8",
    "eetq": "INT8",
    "bitsandbytes-nf4": "AWQ-4bit",
    "bitsandbytes-fp4": "AWQ-4bit",
    "w4afp8": "GPTQ-Int4",
}
# Method → canonical names for 4 and for 8 bits; the repository's name says which, 4 when silent.
_FOUR_OR_EIGHT: dict[str, tuple[str, str]] = {
    "awq": ("AWQ-4bit", "AWQ-8bit"),
    "awq_marlin": ("AWQ-4bit", "AWQ-8bit"),
    "gptq": ("GPTQ-Int4", "GPTQ-Int8"),
    "gptq_marlin": ("GPTQ-Int4", "GPTQ-Int8"),
    "marlin": ("GPTQ-Int4", "GPTQ-Int8"),
    "auto-round": ("AutoRound-4bit", "AutoRound-8bit"),
    "auto_round": ("AutoRound-4bit", "AutoRound-8bit"),
    "bitsandbytes": ("AWQ-4bit", "INT8"),
}
_DTYPES = {
    "float32": "F32",
    "float": "F32",
    "float16": "F16",
    "half": "F16",
    "bfloat16": "BF16",
}
# Repositories whose checkpoints are quantized although their names do not say so.
_NATIVE: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("openai", re.compile(r"gpt-oss-(?:safeguard-)?[0-9]+b", re.IGNORECASE), "MXFP4"),
    ("deepseek-ai", re.compile(r"DeepSeek-V3(?:[.-].*)?", re.IGNORECASE), "FP8"),
    ("deepseek-ai", re.compile(r"DeepSeek-R1(?:-0528|-Zero)?", re.IGNORECASE), "FP8"),
    ("moonshotai", re.compile(r"Kimi-K2-(?:Base|Instruct(?:-0905)?)", re.IGNORECASE), "FP8"),
)
# Catalog entries of GGUF sizes and of 16 bits say what llmfit assumes, not what the file holds.
_CHECKPOINTS = ("AWQ-", "GPTQ-", "AutoRound-", "FP8", "INT8", "NVFP4", "MXFP4")


@dataclass(frozen=True)
class Precision:
    """The answer.

    Attributes:
        quant: the canonical name, with what says so; ``None`` when it is not known.
        assumption: what is assumed, or why it is not known; empty when something states it.
    """

    quant: Sourced[str] | None
    assumption: str = ""


def precision(facts: EngineFacts, model: Model | None = None) -> Precision:
    """In which quantization ``facts``' engine holds the weights.

    Args:
        facts: the container.
        model: the catalog's entry, once it is known: its name and quantization may tell more than
            a local path does.
    """
    if facts.engine == trtllm.TRITON:
        return _not_known(f"{facts.engine}'s model repository is not read")
    if facts.is_unknown("quant"):
        return _not_known("the quantization is stated, but can't be known here")
    reference = facts.model.value if facts.model is not None else None
    if facts.engine == ollama.NAME:
        return _of_ollama(facts)
    if facts.engine == llamacpp.NAME or (reference is not None and reference.kind == GGUF):
        return _of_gguf(facts)
    names = _names(facts, model)
    if facts.quant is not None:
        return _of_method(facts.engine, facts.quant, names)
    return _of_names(names, model) or _of_dtype(facts)


def _names(facts: EngineFacts, model: Model | None) -> list[Sourced[str]]:
    names = []
    if facts.model is not None:
        reference = facts.model.value
        kind = "the repository's name" if reference.hub_name else _PATH
        names.append(Sourced(reference.hub_name or reference.text, kind))
    if model is not None:
        names.append(Sourced(model.name, "the model's name"))
    return names


def _of_method(engine: str, method: Sourced[str], names: list[Sourced[str]]) -> Precision:
    key = method.value.lower()
    text = " ".join(name.value for name in names)
    if key in {"modelopt", "compressed-tensors", "compressed_tensors", "quark", "moe_wna16"}:
        # The checkpoint's own settings decide; only its name can tell.
        return _of_names(names, None) or _not_known(
            f"{method.origin}: {quoted(method.value)} has several sizes, and the model's name "
            "does not tell which"
        )
    if key in _FOUR_OR_EIGHT:
        four, eight = _FOUR_OR_EIGHT[key]
        # TGI's bitsandbytes is 8-bit; its 4-bit ones are called bitsandbytes-nf4 and -fp4.
        is_eight = naming.bits(text) == 8 or (engine == tgi.NAME and key == "bitsandbytes")
        return Precision(Sourced(eight if is_eight else four, method.origin))
    if key in _METHODS:
        return Precision(Sourced(_METHODS[key], method.origin))
    return _not_known(
        f"{method.origin}: no size per parameter is known for quantization {quoted(method.value)}"
    )


def _of_names(names: list[Sourced[str]], model: Model | None) -> Precision | None:
    for name in names:
        native = _published(name)
        if native is not None:
            return native
        named = naming.checkpoint(name.value)
        if named is None:
            continue
        if named.quant is None:
            return _not_known(
                f"{name.origin} says {quoted(named.marker)}, for which no size per parameter is "
                "known"
            )
        return Precision(Sourced(named.quant, name.origin))
    if model is not None and model.quantization.startswith(_CHECKPOINTS):
        known = quantization.find(model.quantization)
        if known is not None:
            return Precision(Sourced(known.name, f"the catalog's entry {model.name}"))
    return None


def _published(name: Sourced[str]) -> Precision | None:
    folder, _, last = name.value.rstrip("/").rpartition("/")
    for organisation, pattern, quant in _NATIVE:
        if not pattern.fullmatch(last):
            continue
        published = f"the checkpoint of {organisation}/{last}"
        if folder.lower() == organisation:
            return Precision(Sourced(quant, published))
        if name.origin == _PATH:
            sentence = f"{quoted(name.value)} is taken for {published}, which is {quant}"
            return Precision(Sourced(quant, published), sentence)
    return None


def _of_dtype(facts: EngineFacts) -> Precision:
    if facts.is_unknown("dtype"):
        return _not_known("the type of the weights is stated, but can't be known here")
    if facts.dtype is not None and facts.dtype.value.lower() in _DTYPES:
        return Precision(Sourced(_DTYPES[facts.dtype.value.lower()], facts.dtype.origin))
    origin = f"{facts.engine}'s default: the checkpoint's precision, BF16"
    return Precision(
        Sourced("BF16", origin),
        f"nothing says how {facts.container}'s model is quantized, so 16-bit weights are assumed, "
        f"as {facts.engine} loads an ordinary checkpoint{_unless(facts)}",
    )


def _of_gguf(facts: EngineFacts) -> Precision:
    if facts.model is None:
        return _not_known("the model is not known")
    reference = facts.model.value
    named = _named_gguf(reference)
    if named is not None and named.quant is not None:
        return Precision(Sourced(named.quant, facts.model.origin))
    if named is not None:
        return _not_known(
            f"{facts.model.origin}: no size per parameter is known for {quoted(named.marker)}"
        )
    if reference.kind == GGUF and reference.file is None:
        return Precision(
            Sourced("Q4_K_M", f"{facts.engine}'s default for a repository, Q4_K_M"),
            f"{facts.model.origin} names no quantization, so Q4_K_M is assumed; {facts.engine} "
            "takes the first file where the repository has none of it",
        )
    return _not_known(f"{facts.model.origin}: {quoted(reference.text)} does not tell it")


def _of_ollama(facts: EngineFacts) -> Precision:
    if facts.model is None:
        return _not_known("the model is not known")
    named = _named_gguf(facts.model.value)
    if named is not None and named.quant is not None:
        return Precision(Sourced(named.quant, facts.model.origin))
    if named is not None:
        return _not_known(
            f"{facts.model.origin}: no size per parameter is known for {quoted(named.marker)}"
        )
    return Precision(
        Sourced("Q4_K_M", "what most Ollama tags that name no quantization hold, Q4_K_M"),
        f"the tag of {quoted(facts.model.value.text)} names no quantization, so Q4_K_M is assumed, "
        "which most of them hold",
    )


def _named_gguf(reference: ModelReference) -> naming.Named | None:
    # A tag or file that says nothing may stand beside a repository's name that does.
    for text in (reference.file, reference.hub_name, reference.text):
        named = naming.gguf(text) if text else None
        if named is not None:
            return named
    return None


def _unless(facts: EngineFacts) -> str:
    hiding = {"arguments", "config", "environment"}
    places = [unknown.where for unknown in facts.unknown if unknown.what in hiding]
    return f", unless {' or '.join(places)} says otherwise" if places else ""


def _not_known(sentence: str) -> Precision:
    return Precision(None, f"{sentence}; {_REMEDY}")
