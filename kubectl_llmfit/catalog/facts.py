"""The facts of a model as people read and write them: label, unit, kind of value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.catalog.entries import Kind
from kubectl_llmfit.core.model import Model


@dataclass(frozen=True)
class Fact:
    """One fact: attribute of ``Model``, name in files and output, title for people, unit."""

    attribute: str
    label: str
    title: str
    kind: Kind
    unit: str = ""
    moe_only: bool = False


FACTS: tuple[Fact, ...] = (
    Fact("name", "name", "Name", Kind.TEXT),
    Fact("parameters", "parameters", "Parameters", Kind.COUNT, "weights"),
    Fact("quantization", "quantization", "Quantization", Kind.TEXT),
    Fact("min_vram_gb", "minVramGb", "VRAM Floor", Kind.NUMBER, "GB"),
    Fact("min_ram_gb", "minRamGb", "RAM Floor", Kind.NUMBER, "GB"),
    Fact("context_length", "contextLength", "Context Length", Kind.COUNT, "tokens"),
    Fact("architecture", "architecture", "Architecture", Kind.TEXT),
    Fact("format", "format", "Format", Kind.TEXT),
    Fact("layers", "layers", "Layers", Kind.COUNT, "layers"),
    Fact("attention_heads", "attentionHeads", "Attention Heads", Kind.COUNT, "heads"),
    Fact("kv_heads", "kvHeads", "KV Heads", Kind.COUNT, "heads"),
    Fact("head_dim", "headDim", "Head Dimension", Kind.COUNT, "values a head"),
    Fact("hidden_size", "hiddenSize", "Hidden Size", Kind.COUNT, "values"),
    Fact("intermediate_size", "intermediateSize", "Intermediate Size", Kind.COUNT, "values"),
    Fact("vocab_size", "vocabSize", "Vocabulary", Kind.COUNT, "tokens"),
    Fact("experts", "experts", "Experts", Kind.COUNT, "experts", moe_only=True),
    Fact(
        "active_experts",
        "activeExperts",
        "Active Experts",
        Kind.COUNT,
        "experts a token",
        moe_only=True,
    ),
    Fact(
        "active_parameters",
        "activeParameters",
        "Active Parameters",
        Kind.COUNT,
        "weights a token",
        moe_only=True,
    ),
    Fact(
        "shared_expert_intermediate_size",
        "sharedExpertIntermediateSize",
        "Shared Expert Size",
        Kind.COUNT,
        "values",
        moe_only=True,
    ),
)


def as_dict(model: Model) -> dict[str, Any]:
    """The known facts of ``model`` by label: what ``models info`` prints and a file may hold."""
    values = ((fact.label, getattr(model, fact.attribute)) for fact in FACTS)
    return {label: value for label, value in values if value is not None}
