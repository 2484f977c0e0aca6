"""A model's facts, as the catalog and users' own entries state them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """The facts of one model. ``None`` means that the fact is not known, never zero.

    Units: ``parameters`` and ``active_parameters`` count weights; ``min_vram_gb`` and
    ``min_ram_gb`` are the llmfit project's floors for the entry's own quantization, in its GB;
    ``context_length`` is in tokens; the rest are counts or widths of the architecture.
    """

    name: str
    parameters: int
    quantization: str
    min_vram_gb: float | None = None
    min_ram_gb: float | None = None
    context_length: int | None = None
    architecture: str | None = None
    format: str | None = None
    layers: int | None = None
    attention_heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    hidden_size: int | None = None
    vocab_size: int | None = None
    experts: int | None = None
    active_experts: int | None = None
    active_parameters: int | None = None
    intermediate_size: int | None = None
    shared_expert_intermediate_size: int | None = None

    @property
    def parameters_billion(self) -> float:
        """The parameter count in billions (1e9)."""
        return self.parameters / 1_000_000_000.0

    @property
    def is_moe(self) -> bool:
        """Whether the model is a mixture of experts."""
        return self.experts is not None
