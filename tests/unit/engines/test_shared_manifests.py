"""Public manifests: the facts that a person reads in them, and nothing in those without an engine.

The files lie beside the repository where there are any. Without them the tests are given the folder
alone, and find that there is nothing to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from kubectl_llmfit.core.engines import EngineFacts, find_engines
from tests.unit.engines.pods import stated

FOLDER = Path(__file__).parents[4] / "shared" / "cases" / "manifests"
FILES = sorted(FOLDER.rglob("*.yaml"))
NOT_YAML = {
    "gke-broken-indent-containers-in-affinity.yaml",
    "kserve-isvc-invalid-braces.yaml",
    "lws-quote-parse-error.yaml",
}

LLAMA_8B = "meta-llama/Meta-Llama-3.1-8B-Instruct"
QWEN3_8B = {"engine": "vLLM", "model": "/models/Qwen3-8B", "tensor_parallel": 1}
EXPECTED: dict[str, list[dict[str, object]]] = {
    "aibrix-stormservice-lora.yaml": [
        {
            "engine": "vLLM",
            "model": "/models/Qwen2.5-7B-Instruct/",
            "tensor_parallel": 2,
            "max_model_len": 4096,
            "max_num_seqs": 16,
            "gpu_memory_utilization": 0.75,
        }
    ],
    "already-two-claims.yaml": [
        {
            "engine": "vLLM",
            "model": "meta-llama/Llama-3.1-8B-Instruct",
            "quant": "fp8",
            "dtype": "float16",
            "tensor_parallel": 2,
            "max_model_len": 2048,
            "max_num_seqs": 64,
            "gpu_memory_utilization": 0.9,
        }
    ],
    "gke-lws-deepseek-8.yaml": [
        {
            "engine": "vLLM",
            "model": "/models/DeepSeek-R1",
            "tensor_parallel": 8,
            "pipeline_parallel": 2,
            "max_model_len": 4096,
        }
    ],
    "gke-tab-in-yaml.yaml": [
        {
            "engine": "vLLM",
            "model": "meta-llama/Llama-3.1-70B",
            "tensor_parallel": 8,
            "max_model_len": 4096,
            "max_num_seqs": 128,
        }
    ],
    "gke-tgi-27b-l4x4.yaml": [
        {
            "engine": "TGI",
            "model": "google/gemma-2-27b-it",
            "tensor_parallel": 4,
            "max_model_len": 2048,
            "gpu_memory_utilization": 0.93,
        }
    ],
    "llmd-decoder-pod-affinity.yaml": [{"engine": "vLLM", "model": "Qwen/Qwen2-0.5B"}],
    "llmd-pd-rdma-sidecar.yaml": [{**QWEN3_8B, "max_model_len": 16384}] * 2,
    "lws-sglang.yaml": [
        {"engine": "SGLang", "model": LLAMA_8B, "tensor_parallel": 2, "unknown": ["nodes"]}
    ]
    * 2,
    "lws-vllm-gpu.yaml": [
        {
            "engine": "vLLM",
            "model": "meta-llama/Llama-3.1-405B-Instruct",
            "tensor_parallel": 8,
            "pipeline_parallel": 2,
        }
    ],
    "mig-7g-pod-multidoc.yaml": [
        {
            "engine": "vLLM",
            "model": "openai/gpt-oss-20b",
            "max_model_len": 2048,
            "gpu_memory_utilization": 0.6,
        }
    ],
    "mig-statefulset-vllm.yaml": [{"engine": "vLLM", "model": "facebook/opt-125m"}],
    "ollama-gpu-official-old.yaml": [{"engine": "Ollama", "unknown": ["model"]}],
    "ollama-homelab-runtimeclass.yaml": [
        {"engine": "Ollama", "max_num_seqs": 1, "unknown": ["model"]}
    ],
    "prodstack-gaie-embedded-yaml.yaml": [
        {
            "engine": "vLLM",
            "model": "meta-llama/Llama-3.2-1B-Instruct",
            "tensor_parallel": 1,
            "max_num_seqs": 1024,
        }
    ],
    "replicaset-and-deploy.yaml": [{"engine": "vLLM", "model": "facebook/opt-125m"}],
    "rh-vllm-createdTs-null.yaml": [
        {
            "engine": "vLLM",
            "model": "mistralai/Mistral-7B-Instruct-v0.2",
            "dtype": "float16",
            "max_model_len": 6144,
        }
    ],
    "rocm-vllm-deploy-decimal-G.yaml": [{"engine": "vLLM", "model": "mistralai/Mistral-7B-v0.3"}],
    "statefulset-vllm-2gpu.yaml": [
        {
            "engine": "vLLM",
            "model": "/models/Qwen3-32B",
            "tensor_parallel": 2,
            "max_model_len": 2048,
            "gpu_memory_utilization": 0.85,
        }
    ],
    "tgi-nv-two-empty-docs.yaml": [
        {"engine": "TGI", "unknown": ["environment", "environment", "model"]}
    ],
    "vllm-gemma-deploy.yaml": [
        {
            "engine": "vLLM",
            "model": "google/gemma-3-1b-it",
            "tensor_parallel": 1,
            "max_num_seqs": 64,
            "gpu_memory_utilization": 0.85,
        }
    ],
}


def _pods(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for item in value.values():
            yield from _pods(item)
    elif isinstance(value, list):
        for item in value:
            yield from _pods(item)


def _documents(path: Path) -> list[Any]:
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = True
    # One of them has a tab behind a value, which kubectl takes and this reader does not.
    text = path.read_text(encoding="utf-8").replace("\t\n", "\n")
    return list(yaml.load_all(text))


def _summary(facts: EngineFacts) -> dict[str, object]:
    unknown = sorted(item.what for item in facts.unknown)
    return {"engine": facts.engine, **stated(facts), **({"unknown": unknown} if unknown else {})}


@pytest.mark.parametrize("path", FILES or [FOLDER], ids=lambda path: path.name)
def test_facts_of_public_manifests(path: Path) -> None:
    if path == FOLDER:
        assert not FILES
        return
    if path.name in NOT_YAML:
        with pytest.raises(YAMLError):
            _documents(path)
        return
    found = [
        _summary(facts)
        for document in _documents(path)
        for pod in _pods(document)
        for facts in find_engines(pod)
    ]
    assert found == EXPECTED.get(path.name, [])


def test_configmaps_of_the_same_file_tell_the_rest() -> None:
    for path in FOLDER.glob("tgi-nv-two-empty-docs.yaml"):
        documents = [document for document in _documents(path) if document]
        config_maps = {
            document["metadata"]["name"]: document["data"]
            for document in documents
            if document["kind"] == "ConfigMap"
        }
        (pod,) = _pods(documents)
        (facts,) = find_engines(pod, lambda name, known=config_maps: known.get(name, {}))  # type: ignore[misc]
        assert stated(facts)["model"] == "Intel/neural-chat-7b-v3-3"
        assert facts.unknown == ()
