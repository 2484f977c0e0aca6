"""KServe's Hugging Face server, and what KServe's storage initializer brings to any container.

Sources: kserve/kserve python/huggingfaceserver/huggingfaceserver/__main__.py (flags; vLLM's own are
taken as well; --model_name is the name in the API, --model_dir defaults to /mnt/models) and
pkg/webhook/admission/pod/storage_initializer_injector.go (the init container and its arguments).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kubectl_llmfit.core.engines import flags, vllm, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.reference import PATH, ModelReference, reference
from kubectl_llmfit.core.engines.words import Started
from kubectl_llmfit.core.request import Sourced

NAME = "KServe Hugging Face server"
MODEL_DIR = "/mnt/models"

_INITIALIZER = "storage-initializer"
_TABLE = replace(
    vllm.TABLE,
    facts={
        **{flag: fact for flag, fact in vllm.FACTS.items() if fact != "model"},
        "--model-id": "model",
        "--model-dir": "directory",
        "--max-length": "max_model_len",
        "--backend": "backend",
    },
)


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    module = wrappers.python_module(words)
    return module[1] if module is not None and module[0] == "huggingfaceserver" else None


def _entrypoint(image: Image, arguments: Sequence[Word]) -> Sequence[Word] | None:
    is_flags = not arguments or flags.is_flag(arguments[0])
    return arguments if image.name.startswith("huggingfaceserver") and is_flags else None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, _TABLE)
    reading = Reading(server.container, found, server.environment)
    model = reading.model(reference)
    if model is None and not reading.unknown:
        directory = reading.text("directory")
        model = (
            Sourced(reference(directory.value), directory.origin)
            if directory is not None
            else Sourced(ModelReference(MODEL_DIR, PATH), f"{NAME}'s default")
        )
    if model is None:
        reading.no_model("the model is not known")
    return vllm.facts(NAME, server, reading, model)


def brought(containers: Sequence[Started]) -> Mapping[str, Sourced[str]]:
    """Folder → the address that a storage initializer among ``containers`` fills it from."""
    found: dict[str, Sourced[str]] = {}
    for container in containers:
        words = container.arguments
        if container.name == _INITIALIZER and len(words) == 2 and not words[0].missing:
            found[words[1].text.rstrip("/")] = Sourced(words[0].text, words[0].origin)
    return found


def resolve(
    facts: EngineFacts, container: Started, filled: Mapping[str, Sourced[str]]
) -> EngineFacts:
    """``facts`` with a local folder replaced by the address that it is filled from."""
    model = facts.model
    if model is None or model.value.kind != PATH or model.value.hub_name is not None:
        return facts
    folder = model.value.text.rstrip("/")
    source = filled.get(folder)
    variable = container.environment.get("STORAGE_URI")
    if source is None and folder == MODEL_DIR and variable is not None and variable.text:
        source = Sourced(variable.text, f"container {container.name}, {variable.origin}")
    if source is None:
        return facts
    origin = f"{source.origin}, which fills {folder} ({model.origin})"
    return replace(facts, model=Sourced(reference(source.value), origin))


ENGINE = Engine(NAME, _arguments, _entrypoint, _read)
