"""The facts that the flags of vLLM and SGLang state alike."""

from __future__ import annotations

from kubectl_llmfit.core.engines.engine import Server
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import ModelReference
from kubectl_llmfit.core.request import Sourced


def stated_facts(
    engine: str, server: Server, reading: Reading, model: Sourced[ModelReference] | None
) -> EngineFacts:
    """What the flags say, without notes; a fact that an engine's table lacks is not stated.

    A ``--load-format`` of bitsandbytes quantizes as it loads, so it stands in for a quantization.
    """
    quant = reading.text("quant")
    load_format = reading.text("load_format")
    if quant is None and load_format is not None and load_format.value == "bitsandbytes":
        quant = load_format
    # Evaluated in order, so that "unknown" holds what could not be read.
    return EngineFacts(
        engine,
        server.container,
        server.recognised,
        model=model,
        quant=quant,
        dtype=reading.text("dtype"),
        max_model_len=reading.tokens("max_model_len"),
        tensor_parallel=reading.whole("tensor_parallel"),
        pipeline_parallel=reading.whole("pipeline_parallel"),
        data_parallel=reading.whole("data_parallel"),
        data_parallel_local=reading.whole("data_parallel_local", least=0),
        nodes=reading.whole("nodes"),
        max_num_seqs=reading.whole("max_num_seqs"),
        gpu_memory_utilization=reading.fraction("gpu_memory_utilization"),
        kv_cache_dtype=reading.text("kv_cache_dtype"),
        unknown=tuple(reading.unknown),
    )
