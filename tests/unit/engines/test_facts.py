"""Facts of each engine, by the flags and variables that its own documentation names."""

from __future__ import annotations

import pytest

from tests.unit.engines.pods import engine, stated

QWEN = "Qwen/Qwen2.5-7B-Instruct"

# vllm-project/vllm docs/serving/openai_compatible_server.md, vllm/engine/arg_utils.py
VLLM = {
    "serve": (f"command: [vllm, serve, {QWEN}]", {}),
    "api-server": (
        f"command: [python3, -m, vllm.entrypoints.openai.api_server, --model, {QWEN}]",
        {},
    ),
    "image-entrypoint-with-flags": (
        f"image: vllm/vllm-openai:v0.11.0\nargs: [--model={QWEN}, --dtype, half]",
        {"dtype": "half"},
    ),
    "image-entrypoint-with-a-model": (f"image: docker.io/vllm/vllm-openai\nargs: [{QWEN}]", {}),
    "program-in-args": (f"image: x\nargs: [vllm, serve, {QWEN}]", {}),
    "short-flags": (
        f"command: [vllm, serve, {QWEN}, -tp, '2', -pp=3, -dp, '4', -q, fp8]",
        {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 4, "quant": "fp8"},
    ),
    "underscores": (
        f"command: [vllm, serve, {QWEN}, --tensor_parallel_size, '2', --max_model_len=4096]",
        {"tensor_parallel": 2, "max_model_len": 4096},
    ),
    "abbreviations": (
        f"command: [vllm, serve, {QWEN}, --gpu-memory-util=0.9, --max-num-seq, '8']",
        {"gpu_memory_utilization": 0.9, "max_num_seqs": 8},
    ),
    "last-of-a-repeated-flag": (
        f"command: [vllm, serve, {QWEN}, --max-model-len, '1', --max-model-len=2]",
        {"max_model_len": 2},
    ),
    "human-readable-integers": (
        f"command: [vllm, serve, {QWEN}, --max-model-len, 25.6k]",
        {"max_model_len": 25600},
    ),
    "binary-human-readable-integers": (
        f"command: [vllm, serve, {QWEN}, --max-model-len, 32K]",
        {"max_model_len": 32768},
    ),
    "left-to-vllm": (f"command: [vllm, serve, {QWEN}, --max-model-len, auto]", {}),
    "model-behind-flags": (
        f"command: [vllm, serve, --port, '8000', --enforce-eager, {QWEN}]",
        {},
    ),
    "model-behind-a-switch": (f"command: [vllm, serve, --trust-remote-code, {QWEN}]", {}),
    "positional-wins": (f"command: [vllm, serve, {QWEN}, --model, other/model]", {}),
    "everything-else-that-names-a-model": (
        f"command: [vllm, serve, {QWEN}, --served-model-name, a/b, c/d, --tokenizer, e/f,"
        ' --lora-modules, x=g/h, --speculative-config, \'{"model": "i/j"}\','
        " --kv-cache-dtype, fp8]",
        {"kv_cache_dtype": "fp8"},
    ),
    "bitsandbytes-by-load-format": (
        f"command: [vllm, serve, {QWEN}, --load-format, bitsandbytes]",
        {"quant": "bitsandbytes"},
    ),
    "numbers-in-yaml": (
        f"command: [vllm, serve, {QWEN}]\nargs: [--tensor-parallel-size, 2]",
        {"tensor_parallel": 2},
    ),
    "shell-with-continuations": (
        "command: [bash, -c]\n"
        "args:\n"
        "- |\n"
        "  # start it\n"
        "  pip install x && exec vllm serve $MODEL \\\n"
        "    --tensor-parallel-size ${TP:-2} \\\n"
        '    --max-model-len "$LEN" $MORE 2>&1\n'
        "env:\n"
        f"- {{name: MODEL, value: {QWEN}}}\n"
        "- {name: LEN, value: '4096'}\n"
        "- {name: MORE, value: --max-num-seqs 16}\n",
        {"tensor_parallel": 2, "max_model_len": 4096, "max_num_seqs": 16},
    ),
}
# sgl-project/sglang docs/advanced_features/server_arguments.md
SGLANG = {
    "launch-server": (
        f"command: [python3, -m, sglang.launch_server, --model-path, {QWEN}, --tp, '2', --dp=3,"
        " --pp-size, '4', --context-length, '8192', --mem-fraction-static, '0.8',"
        " --max-running-requests, '32', --kv-cache-dtype, fp8_e5m2, --quantization, fp8,"
        " --nnodes, '2', --tokenizer-path, a/b, --speculative-draft-model-path, c/d,"
        " --lora-paths, e=f/g, --served-model-name, h/i]",
        {
            "tensor_parallel": 2,
            "data_parallel": 3,
            "pipeline_parallel": 4,
            "max_model_len": 8192,
            "gpu_memory_utilization": 0.8,
            "max_num_seqs": 32,
            "kv_cache_dtype": "fp8_e5m2",
            "quant": "fp8",
            "nodes": 2,
        },
    ),
    "other-spellings": (
        f"command: [sglang, serve, --model={QWEN}, --tensor-parallel-size=2]",
        {"tensor_parallel": 2},
    ),
    "attention-data-parallelism-shares-devices": (
        f"command: [python, -m, sglang.launch_server, --model-path={QWEN}, --tp=8, --dp=8,"
        " --enable-dp-attention]",
        {"tensor_parallel": 8},
    ),
}
# huggingface/text-generation-inference docs/source/reference/launcher.md
TGI_IMAGE = "image: ghcr.io/huggingface/text-generation-inference:3.3.4"
TGI = {
    "flags": (
        f"{TGI_IMAGE}\nargs: [--model-id, {QWEN}, --num-shard, '2', --quantize, eetq,"
        " --max-total-tokens, '4096', --cuda-memory-fraction=0.9, --max-concurrent-requests,"
        " '64', --kv-cache-dtype, fp8_e5m2]",
        {
            "tensor_parallel": 2,
            "quant": "eetq",
            "max_model_len": 4096,
            "gpu_memory_utilization": 0.9,
            "max_num_seqs": 64,
            "kv_cache_dtype": "fp8_e5m2",
        },
    ),
    "variables": (
        f"{TGI_IMAGE}\nenv: [{{name: MODEL_ID, value: {QWEN}}}, {{name: NUM_SHARD, value: '2'}},"
        " {name: LORA_ADAPTERS, value: a/b}, {name: DTYPE, value: bfloat16}]",
        {"tensor_parallel": 2, "dtype": "bfloat16"},
    ),
    "flag-over-variable": (
        f"command: [text-generation-launcher, --model-id={QWEN}]\n"
        "env: [{name: MODEL_ID, value: other/model}]",
        {},
    ),
    "variable-set-by-a-shell": (
        f"command: [sh, -c, 'export MODEL_ID={QWEN}; NUM_SHARD=4 text-generation-launcher']",
        {"tensor_parallel": 4},
    ),
    "sharding-switched-off": (
        f"{TGI_IMAGE}\nargs: [--model-id, {QWEN}, --sharded, 'false', --num-shard, '2']",
        {},
    ),
}
# ggml-org/llama.cpp tools/server/README.md
GGUF = "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M"
LLAMA_CPP = {
    "repository": (
        f"command: [llama-server, -hf, '{GGUF}', -c, '32768', -np, '4', -ctk, q8_0, -ctv, q8_0,"
        " -md, /models/draft.gguf, --jinja]",
        {"max_model_len": 8192, "max_num_seqs": 4, "kv_cache_dtype": "q8_0"},
    ),
    "image": (
        f"image: ghcr.io/ggml-org/llama.cpp:server-cuda\nargs: [--hf-repo, '{GGUF}']",
        {},
    ),
    "full-image": (
        f"image: ghcr.io/ggml-org/llama.cpp:full-cuda\nargs: [--server, -hf, '{GGUF}']",
        {},
    ),
    "variables": (
        "image: ghcr.io/ggml-org/llama.cpp:server\n"
        f"env: [{{name: LLAMA_ARG_HF_REPO, value: '{GGUF}'}},"
        " {name: LLAMA_ARG_CTX_SIZE, value: '4096'}]",
        {"max_model_len": 4096},
    ),
    "context-of-the-model": (f"command: [llama-server, -hf, '{GGUF}', -c, '0']", {}),
    "different-cache-types": (
        f"command: [llama-server, -hf, '{GGUF}', -ctk, q8_0, -ctv, q4_0]",
        {"kv_cache_dtype": "q8_0 keys, q4_0 values"},
    ),
}
# NVIDIA/TensorRT-LLM tensorrt_llm/commands/serve.py
TRTLLM = {
    "serve": (
        f"command: [trtllm-serve, {QWEN}, --tp_size, '4', --pp_size=2, --max_seq_len, '8192',"
        " --max_batch_size, '64', --tokenizer, a/b]",
        {
            "tensor_parallel": 4,
            "pipeline_parallel": 2,
            "max_model_len": 8192,
            "max_num_seqs": 64,
        },
    ),
    "subcommand-behind-a-launcher": (
        f"command: [trtllm-llmapi-launch, trtllm-serve, serve, --backend, pytorch, {QWEN}]",
        {},
    ),
}
# kserve/kserve python/huggingfaceserver/huggingfaceserver/__main__.py
KSERVE = {
    "model-id": (
        "image: kserve/huggingfaceserver:v0.15.0-gpu\n"
        f"args: [--model_name=llama3, --model_id={QWEN}, --backend=vllm, --max_model_len=4096,"
        " --tensor-parallel-size=2, --dtype=float16]",
        {"max_model_len": 4096, "tensor_parallel": 2, "dtype": "float16"},
    ),
    "module": (f"command: [python3, -m, huggingfaceserver, --model_id, {QWEN}]", {}),
}


@pytest.mark.parametrize(
    ("name", "model", "text", "facts"),
    [
        pytest.param(name, model, text, facts, id=f"{name}-{case}")
        for name, model, table in (
            ("vLLM", QWEN, VLLM),
            ("SGLang", QWEN, SGLANG),
            ("TGI", QWEN, TGI),
            ("llama.cpp", GGUF, LLAMA_CPP),
            ("TensorRT-LLM", QWEN, TRTLLM),
            ("KServe Hugging Face server", QWEN, KSERVE),
        )
        for case, (text, facts) in table.items()
    ],
)
def test_facts(name: str, model: str, text: str, facts: dict[str, object]) -> None:
    found = engine(text)
    assert found.engine == name
    assert stated(found) == {"model": model, **facts}
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("text", "fact", "origin"),
    [
        (f"command: [vllm, serve, {QWEN}]", "model", "container main, command[2]"),
        (
            "command: [vllm, serve]\nargs: [--model=$(M)]\nenv: [{name: M, value: a/b}]",
            "model",
            "container main, args[0], from env M",
        ),
        (
            f"command: [sh, -c]\nargs: ['vllm serve {QWEN} -tp 2']",
            "tensor_parallel",
            "container main, command line word 5 of args[0]",
        ),
        (
            f"{TGI_IMAGE}\nenv: [{{name: MODEL_ID, value: a/b}}]",
            "model",
            "container main, env MODEL_ID",
        ),
        (
            f"command: [vllm, serve, {QWEN}, -tp, $(TP)]\n"
            "env: [{name: TP, valueFrom: {configMapKeyRef: {name: settings, key: tp}}}]",
            "tensor_parallel",
            "container main, command[4], from env TP (ConfigMap settings, key tp)",
        ),
        (
            f"command: [llama-server, -hf, '{GGUF}', -c, '8192', -np, '2']",
            "max_model_len",
            "container main, command[4], divided by the 2 slots of container main, command[6]",
        ),
    ],
)
def test_origins(text: str, fact: str, origin: str) -> None:
    found = engine(text, {"settings": {"tp": "2"}}.get)
    assert getattr(found, fact).origin == origin
