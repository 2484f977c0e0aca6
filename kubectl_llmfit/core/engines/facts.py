"""What is read off a container that runs an inference engine."""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_llmfit.core.engines.reference import ModelReference
from kubectl_llmfit.core.request import Sourced

ONE_DEVICE = "one device"
TENSOR = "tensor"
LAYERS = "layers"


@dataclass(frozen=True)
class Unknown:
    """A value that is there but can't be known here.

    Attributes:
        what: the fact's name in ``EngineFacts``, or ``arguments``, ``config``, ``environment``
            where any fact may hide.
        where: its origin.
        sentence: what is not known, why, and what to do.
    """

    what: str
    where: str
    sentence: str


@dataclass(frozen=True)
class EngineFacts:
    """One container that runs an inference engine. Facts that nothing states are ``None``.

    Attributes:
        engine: the engine's name, as its project spells it.
        container: the container's name.
        recognised: what it was recognised by.
        model: the served model; never an adapter, a draft model, a tokenizer or a served name.
        quant: the quantization method or type, as written.
        dtype: the type of the weights, as written.
        max_model_len: tokens that one request may take.
        tensor_parallel: devices that share every layer.
        pipeline_parallel: groups of devices that take whole layers in turns.
        data_parallel: copies of the model.
        data_parallel_local: those of them in this pod, where that is stated.
        nodes: pods over which the shards are spread, where that is stated.
        max_num_seqs: requests that are served at once.
        gpu_memory_utilization: share of a device's memory that the engine takes.
        kv_cache_dtype: the type of the KV cache, as written.
        split: what the engine does with devices that no flag gives a part: ``ONE_DEVICE``,
            ``TENSOR`` or ``LAYERS``.
        proportions: the devices' shares of the model, where they are stated.
        unknown: values that exist but can't be known here.
        notes: what a user might think otherwise, a sentence each.
    """

    engine: str
    container: str
    recognised: str
    model: Sourced[ModelReference] | None = None
    quant: Sourced[str] | None = None
    dtype: Sourced[str] | None = None
    max_model_len: Sourced[int] | None = None
    tensor_parallel: Sourced[int] | None = None
    pipeline_parallel: Sourced[int] | None = None
    data_parallel: Sourced[int] | None = None
    data_parallel_local: Sourced[int] | None = None
    nodes: Sourced[int] | None = None
    max_num_seqs: Sourced[int] | None = None
    gpu_memory_utilization: Sourced[float] | None = None
    kv_cache_dtype: Sourced[str] | None = None
    split: str = ONE_DEVICE
    proportions: tuple[float, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def uses_all_devices(self) -> bool:
        """Whether the engine spreads the model over every device that it sees, untold."""
        return self.split != ONE_DEVICE

    def is_unknown(self, what: str) -> bool:
        """Whether the fact ``what`` is stated by something that can't be known here."""
        return any(unknown.what == what for unknown in self.unknown)
