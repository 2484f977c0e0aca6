"""Finds inference engines in pods, and reads off them which model they serve and how.

One module an engine. Nothing is guessed: a value that is there but can't be known here, such as a
Secret's, is reported as unknown, with where it is and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kubectl_llmfit.core.engines import image as images
from kubectl_llmfit.core.engines import kserve, llamacpp, ollama, sglang, tgi, trtllm, vllm
from kubectl_llmfit.core.engines.engine import Engine, Server
from kubectl_llmfit.core.engines.environment import ConfigMapReader, entries, nothing_known
from kubectl_llmfit.core.engines.facts import EngineFacts, Unknown
from kubectl_llmfit.core.engines.precision import Precision, precision
from kubectl_llmfit.core.engines.reference import ModelReference, ollama_name
from kubectl_llmfit.core.engines.splitting import count_warning, shards
from kubectl_llmfit.core.engines.words import CommandLine, Started, started
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.request import Sourced

__all__ = [
    "ConfigMapReader",
    "EngineFacts",
    "ModelReference",
    "Precision",
    "Unknown",
    "count_warning",
    "find_engines",
    "nothing_known",
    "precision",
    "shards",
]

ENGINES: tuple[Engine, ...] = (
    vllm.ENGINE,
    sglang.ENGINE,
    tgi.ENGINE,
    llamacpp.ENGINE,
    ollama.ENGINE,
    trtllm.ENGINE,
    trtllm.TRITON_ENGINE,
    kserve.ENGINE,
)


def find_engines(
    pod_spec: Mapping[str, Any], config_maps: ConfigMapReader = nothing_known
) -> tuple[EngineFacts, ...]:
    """The facts of each container of ``pod_spec`` that runs a known inference engine, in order.

    Looked at are the containers and the native sidecars (init containers that are restarted
    always). A container is recognised by the command that it runs, and by its image only where the
    image's own entrypoint runs. Parts of the wrong type count as left out; nothing is raised.

    Args:
        pod_spec: a pod's ``spec``, as JSON.
        config_maps: a ConfigMap's name → its data; ``None`` when it can't be read. The default
            reads none, as for files.
    """
    before = list(entries(pod_spec.get("initContainers")))
    main = list(entries(pod_spec.get("containers")))
    ran = [(container, started(container, config_maps)) for container in (*before, *main)]
    everything = [container for _, container in ran]
    filled = kserve.brought(everything)
    found = []
    for number, (container, runs) in enumerate(ran):
        if number < len(before) and container.get("restartPolicy") != "Always":
            continue
        facts = _of_container(runs)
        if facts is None:
            continue
        if facts.engine == ollama.NAME:
            facts = _with_pulled(facts, [line for other in everything for line in other.lines])
        found.append(kserve.resolve(facts, runs, filled))
    return tuple(found)


def _of_container(runs: Started) -> EngineFacts | None:
    servers = [facts for line in runs.lines for facts in _of_line(runs, line)]
    if not servers and runs.image_decides:
        servers = list(_of_image(runs))
    if len(servers) < 2:
        return servers[0] if servers else None
    # Several lines start a server: branches of a condition, or servers side by side.
    models = {facts.model.value.text if facts.model is not None else "" for facts in servers}
    if len(models) == 1 and len({facts.engine for facts in servers}) == 1:
        return servers[0]
    where = f"container {runs.name}"
    named = ", ".join(quoted(model) for model in sorted(models) if model)
    sentence = f"{where}: it starts several servers ({named}); name the model with --model"
    unknown = (*servers[0].unknown, Unknown("model", where, sentence))
    return replace(servers[0], model=None, unknown=unknown)


def _of_line(runs: Started, line: CommandLine) -> Iterator[EngineFacts]:
    for engine in ENGINES:
        arguments = engine.arguments(line.words)
        if arguments is not None:
            recognised = line.words[0].origin
            yield engine.read(Server(runs.name, recognised, arguments, line.environment))
            return


def _of_image(runs: Started) -> Iterator[EngineFacts]:
    image = images.parse(runs.image)
    for engine in ENGINES:
        arguments = engine.entrypoint(image, runs.arguments)
        if arguments is not None:
            recognised = f"container {runs.name}, image {runs.image}"
            yield engine.read(Server(runs.name, recognised, arguments, runs.environment))
            return


def _with_pulled(facts: EngineFacts, lines: Sequence[CommandLine]) -> EngineFacts:
    words = list(ollama.pulled(lines))
    where = f"container {facts.container}"
    missing = next((word for word in words if word.missing), None)
    names = sorted({word.text for word in words})
    if len(names) == 1 and missing is None:
        model = Sourced(ollama_name(names[0]), words[0].origin)
        if model.value.hub_name is not None:
            return replace(facts, model=model)
        sentence = (
            f"{model.origin}: {quoted(names[0])} is a name of Ollama's library, which does not "
            "tell the model's repository; name it with --model"
        )
        unknown = (*facts.unknown, Unknown("hub_name", model.origin, sentence))
        return replace(facts, model=model, unknown=unknown)
    if missing is not None:
        where = missing.origin
        why = f"the model is not known here, because {missing.missing}"
    elif names:
        why = f"it pulls several models ({', '.join(map(quoted, names))})"
    else:
        why = ollama.NO_MODEL
    unknown = (*facts.unknown, Unknown("model", where, f"{where}: {why}; name it with --model"))
    return replace(facts, unknown=unknown)
