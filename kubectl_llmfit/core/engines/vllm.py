"""vLLM: ``vllm serve MODEL``, its older ``api_server`` module, and its images' entrypoint.

Sources: vllm-project/vllm vllm/engine/arg_utils.py (flags and defaults),
vllm/entrypoints/cli/serve.py (the positional model wins over --model),
docs/configuration/serve_args.md (--config), vllm/utils/argparse_utils.py (underscores),
docs/serving/data_parallel_deployment.md (--data-parallel-size-local), docker/Dockerfile
(entrypoints: the api_server module, and ``vllm serve`` in newer images).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import ModelReference, reference
from kubectl_llmfit.core.engines.stated import stated_facts
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.request import Sourced

NAME = "vLLM"

_MODULES = frozenset({"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"})
_CLI_MODULES = frozenset({"vllm.entrypoints.cli.main", "vllm"})
# Images that start the server themselves, beside all whose name has vllm-openai in it.
_IMAGES = frozenset({"vllm-cuda-rhel9", "vllm-rocm-rhel9", "vllm-cpu-release-repo"})

FACTS: dict[str, str] = {
    "--model": "model",
    "--quantization": "quant",
    "-q": "quant",
    "--dtype": "dtype",
    "--load-format": "load_format",
    "--max-model-len": "max_model_len",
    "--tensor-parallel-size": "tensor_parallel",
    "-tp": "tensor_parallel",
    "--pipeline-parallel-size": "pipeline_parallel",
    "-pp": "pipeline_parallel",
    "--data-parallel-size": "data_parallel",
    "-dp": "data_parallel",
    "--data-parallel-size-local": "data_parallel_local",
    "-dpl": "data_parallel_local",
    "--nnodes": "nodes",
    "-n": "nodes",
    "--max-num-seqs": "max_num_seqs",
    "--gpu-memory-utilization": "gpu_memory_utilization",
    "--kv-cache-dtype": "kv_cache_dtype",
    "--config": "config",
    "--speculative-config": "draft",
    "-sc": "draft",
    "--speculative-model": "draft",
    "--cpu-offload-gb": "offload",
}
_SWITCHES = frozenset(
    {
        "--allow-credentials",
        "--async-scheduling",
        "--calculate-kv-scales",
        "--disable-access-log",
        "--disable-custom-all-reduce",
        "--disable-fastapi-docs",
        "--disable-frontend-multiprocessing",
        "--disable-log-requests",
        "--disable-log-stats",
        "--disable-sliding-window",
        "--disable-uvicorn-access-log",
        "--enable-auto-tool-choice",
        "--enable-chunked-prefill",
        "--enable-eplb",
        "--enable-expert-parallel",
        "--enable-lora",
        "--enable-log-requests",
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--enable-reasoning",
        "--enable-request-id-headers",
        "--enable-server-load-tracking",
        "--enable-sleep-mode",
        "--enforce-eager",
        "--fully-sharded-loras",
        "--headless",
        "--language-model-only",
        "--no-enable-chunked-prefill",
        "--no-enable-expert-parallel",
        "--no-enable-log-requests",
        "--no-enable-prefix-caching",
        "--no-trust-remote-code",
        "--return-tokens-as-token-ids",
        "--skip-mm-profiling",
        "--skip-tokenizer-init",
        "--trust-remote-code",
        "--use-v2-block-manager",
    }
)
_LISTS = frozenset({"--served-model-name", "--lora-modules", "--prompt-adapters"})
# Flags with one value that stand near a model in practice, so that the model is told from it.
_OTHERS = frozenset(
    {
        "--api-key",
        "--block-size",
        "--chat-template",
        "--download-dir",
        "--host",
        "--hf-config-path",
        "--port",
        "--reasoning-parser",
        "--revision",
        "--seed",
        "--swap-space",
        "--task",
        "--tokenizer",
        "--tokenizer-mode",
        "--tool-call-parser",
        "--uvicorn-log-level",
        "--compilation-config",
        "--distributed-executor-backend",
        "--kv-transfer-config",
        "--limit-mm-per-prompt",
        "--max-num-batched-tokens",
        "--max-lora-rank",
        "--max-loras",
        "-O",
    }
)
TABLE = flags.Table(FACTS, _SWITCHES, _LISTS, _OTHERS, underscores=True, abbreviations=True)


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    module = wrappers.python_module(words)
    if module is not None:
        name, rest = module
        if name in _MODULES:
            return rest
        return _behind_serve(rest) if name in _CLI_MODULES else None
    return _behind_serve(words[1:]) if words and wrappers.program(words[0]) == "vllm" else None


def _behind_serve(words: Sequence[Word]) -> Sequence[Word] | None:
    return words[1:] if words and words[0].text == "serve" else None


def _entrypoint(image: Image, arguments: Sequence[Word]) -> Sequence[Word] | None:
    if image.stands_beside or not ("vllm-openai" in image.name or image.name in _IMAGES):
        return None
    if arguments and arguments[0].text == "serve":
        return arguments[1:]
    # A word that is neither a flag nor a model is another program's: "sleep infinity".
    first = arguments[0] if arguments else None
    if first is None or flags.is_flag(first) or "/" in first.text or first.missing:
        return arguments
    return None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, TABLE)
    reading = Reading(server.container, found, server.environment)
    if found.arguments:
        word = reading.argument(found.arguments)
        model = Sourced(reference(word.text), word.origin) if word is not None else None
    else:
        model = reading.model(reference)
    if model is None and found.perhaps:
        words = ", ".join(quoted(word.text) for word in found.perhaps)
        reading.no_model(f"which word is the model can't be told from flags' values: {words}")
    reading.config_file("config")
    if model is None:
        reading.no_model("no model is named, and vLLM's own default changes between versions")
    return facts(NAME, server, reading, model)


def facts(
    engine: str, server: Server, reading: Reading, model: Sourced[ModelReference] | None
) -> EngineFacts:
    """The facts that vLLM's flags state, for every server that takes them."""
    return replace(stated_facts(engine, server, reading, model), notes=_notes(reading.flags))


def _notes(found: flags.Flags) -> tuple[str, ...]:
    notes = []
    if "draft" in found.values:
        notes.append("a draft model or speculator is loaded as well and takes memory of its own")
    if "--enable-lora" in found.switches:
        notes.append("LoRA adapters are loaded as well and take memory of their own")
    if "--enable-expert-parallel" in found.switches:
        notes.append("the experts are split over the data parallel copies too, so each needs less")
    offload = found.values.get("offload")
    if offload is not None and offload.text not in {"0", "0.0"}:
        notes.append("a part of the weights is offloaded to the CPU, so the device holds less")
    return tuple(notes)


ENGINE = Engine(NAME, _arguments, _entrypoint, _read)
