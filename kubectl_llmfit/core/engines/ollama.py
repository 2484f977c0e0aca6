"""Ollama: ``ollama serve``, and the model that the pod pulls for it.

Sources: ollama/ollama envconfig/config.go and docs/faq.mdx (OLLAMA_CONTEXT_LENGTH,
OLLAMA_NUM_PARALLEL, OLLAMA_KV_CACHE_TYPE, and that a model which fits no single GPU is spread over
all), Dockerfile (entrypoint /bin/ollama, arguments serve).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_llmfit.core.engines import flags, wrappers
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.facts import LAYERS, EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image
from kubectl_llmfit.core.engines.reading import Reading
from kubectl_llmfit.core.engines.words import CommandLine

NAME = "Ollama"

NO_MODEL = "Ollama loads the model that a request asks for, and nothing in the pod pulls one"


def pulled(lines: Iterable[CommandLine]) -> Iterator[Word]:
    """The models that ``lines`` pull or run."""
    for line in lines:
        words = line.words
        if len(words) < 3 or wrappers.program(words[0]) != "ollama":
            continue
        if words[1].text in {"pull", "run"}:
            yield from flags.read(words[2:], flags.Table({})).arguments[:1]


def _arguments(words: Sequence[Word]) -> Sequence[Word] | None:
    is_ollama = len(words) > 1 and wrappers.program(words[0]) == "ollama"
    return words[2:] if is_ollama and words[1].text in {"serve", "start"} else None


def _entrypoint(image: Image, arguments: Sequence[Word]) -> Sequence[Word] | None:
    if image.name != "ollama" or image.stands_beside:
        return None
    return () if not arguments or arguments[0].text in {"serve", "start"} else None


def _read(server: Server) -> EngineFacts:
    found = flags.read(server.arguments, flags.Table({}))
    reading = Reading(server.container, found, server.environment)
    reading.unread_sources()
    return EngineFacts(
        NAME,
        server.container,
        server.recognised,
        max_model_len=reading.whole("max_model_len", "OLLAMA_CONTEXT_LENGTH"),
        max_num_seqs=reading.whole("max_num_seqs", "OLLAMA_NUM_PARALLEL"),
        kv_cache_dtype=reading.text("kv_cache_dtype", "OLLAMA_KV_CACHE_TYPE"),
        split=LAYERS,
        unknown=tuple(reading.unknown),
    )


ENGINE = Engine(NAME, _arguments, _entrypoint, _read)
