"""Pods written as YAML, and what is found in them."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import yaml

from kubectl_llmfit.core.engines import ConfigMapReader, EngineFacts, find_engines, nothing_known
from kubectl_llmfit.core.engines.words import Started, started


def container(text: str, name: str = "main") -> dict[str, Any]:
    """The container that the YAML ``text`` describes."""
    return {"name": name, **yaml.safe_load(dedent(text))}


def runs(text: str, config_maps: ConfigMapReader = nothing_known) -> Started:
    """What that container runs."""
    return started(container(text), config_maps)


def found(text: str, config_maps: ConfigMapReader = nothing_known) -> tuple[EngineFacts, ...]:
    """The engines of a pod with that container alone."""
    return find_engines({"containers": [container(text)]}, config_maps)


def engine(text: str, config_maps: ConfigMapReader = nothing_known) -> EngineFacts:
    """The one engine of a pod with that container alone."""
    (facts,) = found(text, config_maps)
    return facts


def stated(facts: EngineFacts) -> dict[str, object]:
    """The facts that something states, without their origins; the model as text."""
    values: dict[str, object] = {}
    for name in (
        "quant",
        "dtype",
        "max_model_len",
        "tensor_parallel",
        "pipeline_parallel",
        "data_parallel",
        "data_parallel_local",
        "nodes",
        "max_num_seqs",
        "gpu_memory_utilization",
        "kv_cache_dtype",
    ):
        sourced = getattr(facts, name)
        if sourced is not None:
            values[name] = sourced.value
    if facts.model is not None:
        values["model"] = facts.model.value.text
    return values
