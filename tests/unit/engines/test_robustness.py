"""Whatever a pod holds, reading it never raises."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_llmfit.core.engines import count_warning, find_engines, precision, shards

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
words = st.sampled_from(
    [
        *("sh", "-c", "bash", "-lc", "exec", "env", "vllm", "serve", "python3", "-m"),
        *("vllm.entrypoints.openai.api_server", "sglang.launch_server", "text-generation-launcher"),
        *("llama-server", "-hf", "-m", "ollama", "pull", "run", "trtllm-serve", "tritonserver"),
        *(
            "--model",
            "--model=a/b",
            "a/b:Q4_K_M",
            "-tp",
            "2",
            "-c",
            "-np",
            "0",
            "-ts",
            "1,,2",
            "--",
        ),
        *("$(A)", "${A:-b}", "$A $A", "'", '"', "`", "${", "$((", "<<E", "\n", "a;b", "a && b"),
        *("vllm serve $A --max-model-len $(B)", "x=1; y=$x; ollama serve & ollama pull $y"),
        *("huggingfaceserver", "--model_id", "s3://x/y", "hf://", "https://huggingface.co/a/b"),
    ]
)
junk = st.recursive(
    scalars | words,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=8,
)
word_list = st.lists(words | st.text(max_size=6) | scalars, max_size=7)
variable = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["A", "B", "MODEL_ID", "STORAGE_URI", "LLAMA_ARG_CTX_SIZE"]) | junk,
        "value": words | junk,
        "valueFrom": junk
        | st.just({"configMapKeyRef": {"name": "s", "key": "k"}})
        | st.just({"secretKeyRef": {"name": "s", "key": "k"}}),
    },
)
container = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["main", "storage-initializer"]) | junk,
        "image": st.sampled_from(
            [
                "vllm/vllm-openai",
                "ollama/ollama",
                "ghcr.io/ggml-org/llama.cpp:server",
                "ghcr.io/huggingface/text-generation-inference",
                "kserve/huggingfaceserver",
            ]
        )
        | junk,
        "command": word_list | junk,
        "args": word_list | junk,
        "env": st.lists(variable | junk, max_size=4) | junk,
        "envFrom": junk | st.just([{"configMapRef": {"name": "s"}}, {"secretRef": {"name": "t"}}]),
        "restartPolicy": st.just("Always") | junk,
        "lifecycle": junk | st.just({"postStart": {"exec": {"command": ["ollama", "run", "x"]}}}),
    },
)
pods = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(container | junk, max_size=3) | junk,
        "initContainers": st.lists(container | junk, max_size=2) | junk,
    },
)


@settings(max_examples=400, deadline=None)
@given(pods, st.booleans(), st.integers(-1, 9))
def test_reading_never_raises(pod: dict[str, Any], readable: bool, count: int) -> None:
    data = {"s": {"k": "v", "MODEL_ID": "a/b"}}
    for facts in find_engines(pod, data.get if readable else lambda _name: None):
        assert (facts.model is not None) or facts.is_unknown("model")
        precision(facts)
        assert shards(facts, count).devices >= 1
        count_warning(facts, count)
        hash(facts)
