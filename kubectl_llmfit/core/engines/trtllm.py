"""TensorRT-LLM (``trtllm-serve MODEL``) and Triton, whose model repositories can't be looked into.

Sources: NVIDIA/TensorRT-LLM tensorrt_llm/commands/serve.py (flags, subcommands, --config);
triton-inference-server/server docs/user_guide/model_repository.md;
triton-inference-server/tensorrtllm_backend scripts/launch_triton_server.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server, never_by_image
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import reference
from kubectl_llmfit.core.request import Sourced

NAME = "TensorRT-LLM"
TRITON = "Triton"

_TABLE = flags.Table(
    {
        "--tensor-parallel-size": "tensor_parallel",
        "--tp-size": "tensor_parallel",
        "--pipeline-parallel-size": "pipeline_parallel",
        "--pp-size": "pipeline_parallel",
        "--max-seq-len": "max_model_len",
        "--max-batch-size": "max_num_seqs",
        "--config": "config",
        "--extra-llm-api-options": "config",
    },
    switches=frozenset(
        {
            "--trust-remote-code",
            "--enable-chunked-prefill",
            "--fail-fast-on-attention-window-too-large",
        }
    ),
    others=frozenset(
        {
            "--backend",
            "--free-gpu-memory-fraction",
            "--host",
            "--kv-cache-free-gpu-memory-fraction",
            "--log-level",
            "--max-num-tokens",
            "--ep-size",
            "--port",
            "--tokenizer",
        }
    ),
    underscores=True,
)
# The other subcommands serve no language model: a router between servers, an image encoder.
_NOT_SERVING = frozenset({"disaggregated", "disaggregated_mpi_worker", "mm_embedding_serve"})


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    if not words or wrappers.program(words[0]) != "trtllm-serve":
        return None
    rest = words[1:]
    if rest and rest[0].text in _NOT_SERVING:
        return None
    return rest[1:] if rest and rest[0].text in {"serve", "grpc"} else rest


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, _TABLE)
    reading = Reading(server.container, found, server.environment)
    word = reading.argument(found.arguments)
    model = Sourced(reference(word.text), word.origin) if word is not None else None
    reading.config_file("config")
    if model is None:
        reading.no_model("no model is named")
    return EngineFacts(
        NAME,
        server.container,
        server.recognised,
        model=model,
        max_model_len=reading.whole("max_model_len"),
        tensor_parallel=reading.whole("tensor_parallel"),
        pipeline_parallel=reading.whole("pipeline_parallel"),
        max_num_seqs=reading.whole("max_num_seqs"),
        unknown=tuple(reading.unknown),
    )


def _triton_arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    if not words:
        return None
    # python3 …/launch_triton_server.py starts tritonserver once a GPU.
    programs = [wrappers.program(word) for word in words[:2]]
    if programs[0] == "tritonserver" or programs[0] == "launch_triton_server.py":
        return words[1:]
    is_launcher = programs[0].startswith("python") and programs[1:] == ["launch_triton_server.py"]
    return words[2:] if is_launcher else None


def _read_triton(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, flags.Table({}))
    reading = Reading(server.container, found, server.environment)
    reading.no_model("Triton reads its models and their settings from a model repository")
    return EngineFacts(TRITON, server.container, server.recognised, unknown=tuple(reading.unknown))


ENGINE = Engine(NAME, _arguments, never_by_image, _read)
TRITON_ENGINE = Engine(TRITON, _triton_arguments, never_by_image, _read_triton)
