"""Which containers run an engine, and which only look like it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kubectl_llmfit.core.engines import find_engines
from tests.unit.engines.pods import found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("image: vllm/vllm-openai\ncommand: [nginx]", id="another-command"),
        pytest.param("image: vllm/vllm-openai\ncommand: [sleep, infinity]", id="sleeps"),
        pytest.param("image: vllm/vllm-openai\nargs: [sleep, infinity]", id="sleeps-by-args"),
        pytest.param("image: vllm/vllm-openai\ncommand: [bash, /start.sh]", id="unread-script"),
        pytest.param("image: vllm/vllm-openai\ncommand: [vllm, bench, serve]", id="benchmark"),
        pytest.param("image: lmcache/vllm-router\nargs: [--model, a/b]", id="router-image"),
        pytest.param("image: x/vllm-openai-exporter", id="exporter-image"),
        pytest.param("command: [vllm-router, --model, a/b]", id="router"),
        pytest.param("command: [lmcache_server, --model, a/b]", id="lmcache"),
        pytest.param("command: [python3, -m, sglang_router.launch_router]", id="sglang-router"),
        pytest.param("command: [pip, install, vllm, serve]", id="pip"),
        pytest.param("command: [sh, -c, 'echo vllm serve a/b']", id="echo"),
        pytest.param("command: [sh, -c, '# vllm serve a/b']", id="comment"),
        pytest.param('command: [sh, -c, "cat <<E\\nvllm serve a/b\\nE"]', id="here-document"),
        pytest.param("command: [sh, -c, 'case $A in llama-server) x;; esac']", id="case-pattern"),
        pytest.param("command: [ollama, run, llama3]", id="ollama-client"),
        pytest.param("command: [ollama, pull, llama3]", id="ollama-pull"),
        pytest.param("image: ghcr.io/ggml-org/llama.cpp:light", id="llama-cli"),
        pytest.param("image: huggingface/text-embeddings-inference", id="embeddings"),
        pytest.param(
            "image: ghcr.io/huggingface/text-generation-inference\ncommand: [sh]", id="tgi"
        ),
        pytest.param("command: [trtllm-serve, disaggregated, -c, x.yaml]", id="trtllm-router"),
        pytest.param("image: nginx\nargs: [--model, a/b]", id="another-image"),
        pytest.param("image: nginx", id="nothing"),
    ],
)
def test_no_engine(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("image: registry.example:5000/team/vllm-openai@sha256:0123\nargs: [a/b]", "vLLM"),
        ("image: us-docker.pkg.dev/x/huggingface-text-generation-inference-cu124.2-3", "TGI"),
        ("image: ghcr.io/ggml-org/llama.cpp:server", "llama.cpp"),
        ("image: ollama/ollama:0.12\nargs: [serve]", "Ollama"),
        ("command: [/bin/ollama, serve]", "Ollama"),
        ("command: [/app/llama-server]", "llama.cpp"),
        ("command: [/opt/tritonserver/bin/tritonserver]", "Triton"),
        ("command: [python3, /scripts/launch_triton_server.py, --world_size=4]", "Triton"),
        ("command: [python, -u, -m, vllm.entrypoints.cli.main, serve, a/b]", "vLLM"),
        ("image: kserve/huggingfaceserver", "KServe Hugging Face server"),
    ],
)
def test_engine(text: str, engine: str) -> None:
    assert [facts.engine for facts in found(text)] == [engine]


def _pod(text: str) -> dict[str, Any]:
    pod: dict[str, Any] = yaml.safe_load(text)
    return pod


def test_containers_and_native_sidecars_are_looked_at_and_other_init_containers_are_not() -> None:
    facts = find_engines(
        _pod("""
          initContainers:
          - {name: once, command: [vllm, serve, a/b]}
          - {name: sidecar, restartPolicy: Always, command: [vllm, serve, c/d]}
          containers:
          - {name: proxy, image: envoy}
          - {name: main, command: [vllm, serve, e/f]}
        """)
    )
    assert [one.container for one in facts] == ["sidecar", "main"]


@pytest.mark.parametrize(
    "other",
    [
        "initContainers: [{name: pull, command: [ollama, pull, NAME]}]",
        "initContainers: [{name: pull, command: [sh, -c, 'ollama serve & ollama pull NAME']}]",
        "x: []",
    ],
)
def test_the_model_that_the_pod_pulls_for_ollama(other: str) -> None:
    name = "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q5_K_M"
    hook = (
        ""
        if "pull" in other
        else f", lifecycle: {{postStart: {{exec: {{command: [ollama, run, '{name}']}}}}}}"
    )
    pod = f"{other}\ncontainers: [{{name: main, image: ollama/ollama{hook}}}]"
    (facts,) = find_engines(_pod(pod.replace("NAME", name)))
    assert facts.model is not None
    assert facts.model.value.hub_name == "bartowski/Llama-3.2-3B-Instruct-GGUF"


@pytest.mark.parametrize(
    "pod",
    [
        # pkg/webhook/admission/pod/storage_initializer_injector.go of kserve/kserve
        """
        initContainers:
        - {name: storage-initializer, args: [hf://Qwen/Qwen2.5-7B-Instruct, /mnt/models]}
        containers:
        - {name: kserve-container, image: kserve/huggingfaceserver, args: [--model_name=qwen]}
        """,
        """
        containers:
        - name: kserve-container
          image: vllm/vllm-openai
          args: [--model=/mnt/models/]
          env: [{name: STORAGE_URI, value: hf://Qwen/Qwen2.5-7B-Instruct:main}]
        """,
    ],
)
def test_the_model_that_kserve_brings(pod: str) -> None:
    (facts,) = find_engines(_pod(pod))
    assert facts.model is not None
    assert facts.model.value.hub_name == "Qwen/Qwen2.5-7B-Instruct"
