"""Values that exist but can't be known: each is said, with where it is and why."""

from __future__ import annotations

import pytest

from tests.unit.engines.pods import engine, stated

QWEN = "Qwen/Qwen2.5-7B-Instruct"
TGI_IMAGE = "image: ghcr.io/huggingface/text-generation-inference:3.3.4"


@pytest.mark.parametrize(
    ("text", "what", "sentence"),
    [
        pytest.param(
            f"command: [vllm, serve, {QWEN}, -tp, two]",
            "tensor_parallel",
            'container main, command[4]: "two" is not a whole number from 1',
            id="no-number",
        ),
        pytest.param(
            f"command: [vllm, serve, {QWEN}, --gpu-memory-utilization, '90']",
            "gpu_memory_utilization",
            'container main, command[4]: "90" is not a share above 0 and up to 1',
            id="no-share",
        ),
        pytest.param(
            f"command: [vllm, serve, {QWEN}, -tp]",
            "arguments",
            'container main, command[3]: "-tp" has no value',
            id="no-value",
        ),
        pytest.param(
            "command: [vllm, serve, $(M)]\n"
            "env: [{name: M, valueFrom: {configMapKeyRef: {name: s, key: m}}}]",
            "model",
            "container main, command[2]: the model is not known here, because key m of ConfigMap "
            "s can't be read here; name it with --model",
            id="configmap-in-a-file",
        ),
        pytest.param(
            f"command: [sh, -c, 'vllm serve {QWEN} $EXTRA']",
            "arguments",
            "container main, command line word 4 of command[2]: may add any argument, because "
            'nothing in the container sets "EXTRA"',
            id="any-number-of-flags",
        ),
        pytest.param(
            "command: [sh, -c, 'vllm serve $(cat /model)']",
            "model",
            "container main, command line word 3 of command[2]: the model is not known here, "
            'because only a running shell knows "$(cat /model)"; name it with --model',
            id="command-substitution",
        ),
        pytest.param(
            "command: [vllm, serve, --config, /etc/vllm.yaml]",
            "config",
            'container main, command[3]: "/etc/vllm.yaml" is a file in the container and may '
            "state more",
            id="config-file",
        ),
        pytest.param(
            "command: [vllm, serve, --new-flag, a/b]",
            "model",
            "container main: which word is the model can't be told from flags' values: "
            '"a/b"; name it with --model',
            id="behind-a-flag-that-is-not-known",
        ),
        pytest.param(
            "image: vllm/vllm-openai\n",
            "model",
            "container main: no model is named, and vLLM's own default changes between "
            "versions; name it with --model",
            id="no-model",
        ),
        pytest.param(
            f"{TGI_IMAGE}\nenvFrom: [{{configMapRef: {{name: tgi}}}}]",
            "model",
            'container main, envFrom ConfigMap tgi: the model is not known here, because "MODEL_ID"'
            " may be set by ConfigMap tgi, which can't be read here; name it with --model",
            id="whole-configmap-in-a-file",
        ),
        pytest.param(
            "command: [sh, -c, 'if [ $BIG ]; then vllm serve a/b; else vllm serve c/d; fi']",
            "model",
            'container main: it starts several servers ("a/b", "c/d"); name the model with --model',
            id="several-servers",
        ),
        pytest.param(
            "command: [tritonserver, --model-repository=/models]",
            "model",
            "container main: Triton reads its models and their settings from a model repository; "
            "name it with --model",
            id="triton",
        ),
        pytest.param(
            "image: ollama/ollama",
            "model",
            "container main: Ollama loads the model that a request asks for, and nothing in the "
            "pod pulls one; name it with --model",
            id="ollama-alone",
        ),
        pytest.param(
            "command: [sh, -c, 'ollama serve & ollama pull llama3.1:8b; wait']",
            "hub_name",
            'container main, command line word 5 of command[2]: "llama3.1:8b" is a name of '
            "Ollama's library, which does not tell the model's repository; name it with --model",
            id="ollama-library",
        ),
        pytest.param(
            "command: [sh, -c, 'ollama serve & ollama pull a; ollama pull b; wait']",
            "model",
            'container main: it pulls several models ("a", "b"); name it with --model',
            id="ollama-several",
        ),
        pytest.param(
            "command: [llama-server, -hf, $(R)]",
            "model",
            "container main, command[2]: the model's repository is not known here, because "
            'nothing in the container sets "R"; name it with --model',
            id="llamacpp-repository",
        ),
    ],
)
def test_what_is_not_known_is_said(text: str, what: str, sentence: str) -> None:
    sentences = [unknown.sentence for unknown in engine(text).unknown if unknown.what == what]
    assert sentences == [sentence]


def test_a_known_configmap_is_read() -> None:
    text = f"{TGI_IMAGE}\nenvFrom: [{{configMapRef: {{name: tgi}}}}]"
    found = engine(text, {"tgi": {"MODEL_ID": QWEN, "QUANTIZE": "fp8"}}.get)
    assert stated(found) == {"model": QWEN, "quant": "fp8"}
    assert found.unknown == ()
