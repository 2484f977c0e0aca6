"""llama.cpp: ``llama-server``, by flags or LLAMA_ARG_ variables.

Sources: ggml-org/llama.cpp tools/server/README.md (flags, variables, defaults: Q4_K_M for -hf
without a quantization, layers split over all GPUs) and common/arg.cpp (underscores; a flag wins
over its variable); .devops/cuda.Dockerfile and tools.sh (which image starts the server);
docs/multi-gpu.md (what the split modes do).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.facts import LAYERS, ONE_DEVICE, TENSOR, EngineFacts, Unknown
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import ModelReference, gguf_repository, reference
from kubectl_llmfit.core.request import Sourced

NAME = "llama.cpp"

_TABLE = flags.Table(
    {
        "-m": "model",
        "--model": "model",
        "-mu": "url",
        "--model-url": "url",
        "-hf": "repository",
        "-hfr": "repository",
        "--hf-repo": "repository",
        "-hff": "file",
        "--hf-file": "file",
        "-dr": "docker",
        "--docker-repo": "docker",
        "-c": "context",
        "--ctx-size": "context",
        "-np": "max_num_seqs",
        "--parallel": "max_num_seqs",
        "-ts": "proportions",
        "--tensor-split": "proportions",
        "-sm": "split",
        "--split-mode": "split",
        "-ngl": "layers",
        "--gpu-layers": "layers",
        "--n-gpu-layers": "layers",
        "-ctk": "kv_cache_dtype",
        "--cache-type-k": "kv_cache_dtype",
        "-ctv": "kv_cache_dtype_v",
        "--cache-type-v": "kv_cache_dtype_v",
        "-md": "draft",
        "--model-draft": "draft",
        "-hfd": "draft",
        "--hf-repo-draft": "draft",
    },
    underscores=True,
)
_SPLITS = {"none": ONE_DEVICE, "layer": LAYERS, "row": TENSOR, "tensor": TENSOR}


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    return words[1:] if words and wrappers.program(words[0]) == "llama-server" else None


def _entrypoint(image: Image, arguments: Sequence[Word]) -> Sequence[Word] | None:
    if image.name != "llama.cpp":
        return None
    if image.tag.startswith("server"):
        return arguments if not arguments or flags.is_flag(arguments[0]) else None
    starts = image.tag.startswith("full") and arguments and arguments[0].text in {"--server", "-s"}
    return arguments[1:] if starts else None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, _TABLE)
    reading = Reading(server.container, found, server.environment)
    model = _model(reading)
    if model is None:
        reading.no_model("no model is named by -m, -hf or their variables")
    reading.unread_sources()
    slots = reading.whole("max_num_seqs", "LLAMA_ARG_N_PARALLEL")
    mode = reading.text("split", "LLAMA_ARG_SPLIT_MODE")
    keys = reading.text("kv_cache_dtype", "LLAMA_ARG_CACHE_TYPE_K")
    values = reading.text("kv_cache_dtype_v", "LLAMA_ARG_CACHE_TYPE_V")
    proportions = _proportions(reading)
    layers = reading.text("layers", "LLAMA_ARG_N_GPU_LAYERS")
    context = reading.whole("context", "LLAMA_ARG_CTX_SIZE", least=0)
    notes = []
    # People write 99 and 999 for all of them.
    if layers is not None and re.fullmatch("[0-9]{1,2}", layers.value) and layers.value != "99":
        notes.append(f"{layers.origin}: at most {layers.value} layers are held by the device")
    if "draft" in found.values:
        notes.append("a draft model is loaded as well and takes memory of its own")
    return EngineFacts(
        NAME,
        server.container,
        server.recognised,
        model=model,
        max_model_len=_per_slot(context, slots),
        max_num_seqs=slots,
        kv_cache_dtype=_cache_type(keys, values),
        split=_SPLITS.get(mode.value, ONE_DEVICE) if mode is not None else LAYERS,
        proportions=proportions,
        unknown=tuple(reading.unknown),
        notes=tuple(notes),
    )


def _model(reading: Reading) -> Sourced[ModelReference] | None:
    # A repository says where the file of -m comes from, so it tells more.
    repository = reading.text("repository", "LLAMA_ARG_HF_REPO")
    file = reading.text("file", "LLAMA_ARG_HF_FILE")
    if repository is not None:
        only = file.value if file is not None else None
        return Sourced(gguf_repository(repository.value, only), repository.origin)
    for fact, variable in (
        ("url", "LLAMA_ARG_MODEL_URL"),
        ("model", "LLAMA_ARG_MODEL"),
        ("docker", "LLAMA_ARG_DOCKER_REPO"),
    ):
        stated = reading.text(fact, variable)
        if stated is None:
            continue
        if fact == "docker":
            return Sourced(ModelReference(f"docker://{stated.value}", "address"), stated.origin)
        return Sourced(reference(stated.value), stated.origin)
    for fact in ("repository", "url", "docker"):
        # Whichever of them can't be known, it is the model that is not.
        for unknown in [unknown for unknown in reading.unknown if unknown.what == fact]:
            reading.unknown.remove(unknown)
            reading.unknown.append(Unknown("model", unknown.where, unknown.sentence))
    return None


def _per_slot(context: Sourced[int] | None, slots: Sourced[int] | None) -> Sourced[int] | None:
    # -c is shared by all slots; 0 is the model's own.
    if context is None or context.value == 0:
        return None
    if slots is None or slots.value == 1:
        return context
    origin = f"{context.origin}, divided by the {slots.value} slots of {slots.origin}"
    return Sourced(context.value // slots.value, origin)


def _cache_type(keys: Sourced[str] | None, values: Sourced[str] | None) -> Sourced[str] | None:
    if keys is None or values is None or keys.value == values.value:
        return keys or values
    return Sourced(f"{keys.value} keys, {values.value} values", f"{keys.origin}; {values.origin}")


def _proportions(reading: Reading) -> tuple[float, ...]:
    stated = reading.text("proportions", "LLAMA_ARG_TENSOR_SPLIT")
    if stated is None:
        return ()
    try:
        shares = tuple(float(text) for text in stated.value.replace("/", ",").split(","))
    except ValueError:
        shares = ()
    if not shares or not all(0 <= share < 1e6 for share in shares) or not any(shares):
        where = stated.origin
        sentence = f"{where}: the devices' shares can't be read, so nothing is divided by them"
        reading.unknown.append(Unknown("proportions", where, sentence))
        return ()
    return shares


ENGINE = Engine(NAME, _arguments, _entrypoint, _read)
