"""Text Generation Inference: ``text-generation-launcher``, mostly as its image's entrypoint.

Source: huggingface/text-generation-inference docs/source/reference/launcher.md: every flag, its
environment variable, and that the model is sharded over all devices unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.facts import ONE_DEVICE, TENSOR, EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import reference

NAME = "TGI"

_PROGRAMS = frozenset({"text-generation-launcher", "tgi-entrypoint.sh"})

_TABLE = flags.Table(
    {
        "--model-id": "model",
        "--quantize": "quant",
        "--dtype": "dtype",
        "--max-total-tokens": "max_model_len",
        "--num-shard": "tensor_parallel",
        "--sharded": "sharded",
        "--max-batch-size": "max_batch_size",
        "--max-concurrent-requests": "max_concurrent_requests",
        "--cuda-memory-fraction": "gpu_memory_utilization",
        "--kv-cache-dtype": "kv_cache_dtype",
        "--lora-adapters": "adapters",
    },
)


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    return words[1:] if words and wrappers.program(words[0]) in _PROGRAMS else None


def _entrypoint(image: Image, arguments: Sequence[Word]) -> Sequence[Word] | None:
    named = "text-generation-inference" in image.name or image.name == "tgi-gaudi"
    is_flags = not arguments or flags.is_flag(arguments[0])
    return arguments if named and is_flags and not image.stands_beside else None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, _TABLE)
    reading = Reading(server.container, found, server.environment)
    model = reading.model(reference, "MODEL_ID")
    if model is None:
        reading.no_model("no model is named by --model-id or MODEL_ID")
    reading.unread_sources()
    batch = reading.whole("max_batch_size", "MAX_BATCH_SIZE")
    requests = reading.whole("max_concurrent_requests", "MAX_CONCURRENT_REQUESTS")
    sharded = reading.text("sharded", "SHARDED")
    facts = EngineFacts(
        NAME,
        server.container,
        server.recognised,
        model=model,
        quant=reading.text("quant", "QUANTIZE"),
        dtype=reading.text("dtype", "DTYPE"),
        max_model_len=reading.whole("max_model_len", "MAX_TOTAL_TOKENS"),
        tensor_parallel=reading.whole("tensor_parallel", "NUM_SHARD"),
        max_num_seqs=batch or requests,
        gpu_memory_utilization=reading.fraction("gpu_memory_utilization", "CUDA_MEMORY_FRACTION"),
        kv_cache_dtype=reading.text("kv_cache_dtype", "KV_CACHE_DTYPE"),
        split=TENSOR,
        unknown=tuple(reading.unknown),
    )
    if sharded is not None and sharded.value.lower() == "false":
        # It switches --num-shard off as well.
        return replace(facts, split=ONE_DEVICE, tensor_parallel=None)
    return facts


ENGINE = Engine(NAME, _arguments, _entrypoint, _read)
