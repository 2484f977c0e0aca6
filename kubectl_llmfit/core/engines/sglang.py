"""SGLang: ``python3 -m sglang.launch_server --model-path MODEL`` and ``sglang serve``.

Sources: sgl-project/sglang docs/advanced_features/server_arguments.md and
python/sglang/srt/server_args.py (flags, aliases, --enable-dp-attention, --nnodes);
sgl-model-gateway's launch_server starts the same workers behind a router.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server, never_by_image
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import reference
from kubectl_llmfit.core.engines.stated import stated_facts

NAME = "SGLang"

# sglang_router.launch_router is not among them: it serves no model itself.
_MODULES = frozenset({"sglang.launch_server", "sglang_router.launch_server"})

_TABLE = flags.Table(
    {
        "--model-path": "model",
        "--model": "model",
        "--quantization": "quant",
        "--dtype": "dtype",
        "--load-format": "load_format",
        "--context-length": "max_model_len",
        "--tp-size": "tensor_parallel",
        "--tp": "tensor_parallel",
        "--tensor-parallel-size": "tensor_parallel",
        "--pp-size": "pipeline_parallel",
        "--pp": "pipeline_parallel",
        "--pipeline-parallel-size": "pipeline_parallel",
        "--dp-size": "data_parallel",
        "--dp": "data_parallel",
        "--data-parallel-size": "data_parallel",
        "--nnodes": "nodes",
        "--max-running-requests": "max_num_seqs",
        "--mem-fraction-static": "gpu_memory_utilization",
        "--kv-cache-dtype": "kv_cache_dtype",
        "--config": "config",
        "--speculative-draft-model-path": "draft",
        "--speculative-draft-model": "draft",
        "--cpu-offload-gb": "offload",
    },
    switches=frozenset({"--enable-dp-attention", "--trust-remote-code", "--enable-lora"}),
    lists=frozenset({"--lora-paths"}),
    others=frozenset(
        # Longer flags of which no shorter one of ours may be taken for an abbreviation.
        {"--tokenizer-path", "--served-model-name", "--model-impl", "--dp-rank"}
    ),
    abbreviations=True,
)


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    module = wrappers.python_module(words)
    if module is not None:
        return module[1] if module[0] in _MODULES else None
    is_sglang = len(words) > 1 and wrappers.program(words[0]) == "sglang"
    return words[2:] if is_sglang and words[1].text == "serve" else None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, _TABLE)
    reading = Reading(server.container, found, server.environment)
    model = reading.model(reference)
    reading.config_file("config")
    if model is None:
        reading.no_model("no model is named by --model-path")
    facts = stated_facts(NAME, server, reading, model)
    notes: list[str] = []
    if "draft" in found.values:
        notes.append("a draft model is loaded as well and takes memory of its own")
    if "--enable-dp-attention" in found.switches and facts.data_parallel is not None:
        # The copies of attention share the tensor parallel devices; none has devices of its own.
        notes.append("--enable-dp-attention: data parallelism adds no devices")
        facts = replace(facts, data_parallel=None)
    return replace(facts, notes=tuple(notes))


ENGINE = Engine(NAME, _arguments, never_by_image, _read)
