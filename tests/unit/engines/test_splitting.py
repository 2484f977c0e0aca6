"""How a model is split over a container's devices, by what each engine does with them."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.engines import count_warning, shards
from kubectl_llmfit.core.sizing.floors import Shards
from tests.unit.engines.pods import engine

VLLM = "command: [vllm, serve, a/b{}]"
SGLANG = "command: [python3, -m, sglang.launch_server, --model-path, a/b{}]"
TGI = "image: ghcr.io/huggingface/text-generation-inference\nargs: [--model-id, a/b{}]"
LLAMA = "command: [llama-server, -hf, a/b{}]"


@pytest.mark.parametrize(
    ("template", "words", "count", "expected", "warns"),
    [
        pytest.param(VLLM, "", 1, Shards(), "", id="vllm-one"),
        pytest.param(VLLM, "", 4, Shards(), "idle", id="vllm-uses-one-of-four"),
        pytest.param(VLLM, ", -tp=4", 4, Shards(4), "", id="vllm-tensor"),
        pytest.param(VLLM, ", -tp=2, -pp=2", 4, Shards(2, 2), "", id="vllm-both"),
        pytest.param(VLLM, ", -tp=2, -dp=2", 4, Shards(2), "", id="vllm-copies"),
        pytest.param(VLLM, ", -dp=4, -dpl=2", 2, Shards(), "", id="vllm-copies-of-this-pod"),
        pytest.param(VLLM, ", -tp=8, -pp=2", 8, Shards(8, 2), "part of 2", id="vllm-two-pods"),
        pytest.param(VLLM, ", -tp=8, --nnodes=2", 4, Shards(8), "", id="vllm-nodes"),
        pytest.param(VLLM, ", -tp=3", 2, Shards(3), "can't start", id="vllm-too-few"),
        pytest.param(VLLM, ", -tp=$(X)", 4, Shards(), "", id="vllm-unknown"),
        pytest.param(SGLANG, ", --tp=2, --nnodes=2", 1, Shards(2), "", id="sglang-nodes"),
        pytest.param(SGLANG, ", --tp=8, --dp=8, --enable-dp-attention", 8, Shards(8), "", id="dpa"),
        pytest.param(TGI, "", 4, Shards(4), "", id="tgi-all"),
        pytest.param(TGI, ", --num-shard, '2'", 4, Shards(2), "idle", id="tgi-stated"),
        pytest.param(TGI, ", --sharded, 'false'", 4, Shards(), "idle", id="tgi-not-sharded"),
        pytest.param(LLAMA, "", 4, Shards(1, 4), "", id="llamacpp-layers"),
        pytest.param(LLAMA, ", -sm, row", 4, Shards(4), "", id="llamacpp-rows"),
        pytest.param(LLAMA, ", -sm, none", 4, Shards(), "idle", id="llamacpp-one"),
        pytest.param(LLAMA, ", -ts, '1,1'", 2, Shards(1, 2), "", id="llamacpp-even"),
        pytest.param(LLAMA, ", -ts, '3,1'", 2, Shards(), "", id="llamacpp-uneven"),
        pytest.param(LLAMA, ", -ts, '1,1'", 4, Shards(1, 2), "shares for 2", id="llamacpp-two"),
        pytest.param(LLAMA, ", -ts, x", 2, Shards(), "", id="llamacpp-bad-shares"),
        pytest.param("image: ollama/ollama{}", "", 2, Shards(1, 2), "", id="ollama"),
        pytest.param(
            "command: [trtllm-serve, a/b{}]", ", --tp_size, '2'", 2, Shards(2), "", id="trt"
        ),
    ],
)
def test_shards(template: str, words: str, count: int, expected: Shards, warns: str) -> None:
    facts = engine(template.replace("{}", words))
    assert shards(facts, count) == expected
    warning = count_warning(facts, count)
    assert (warning is None) == (not warns)
    assert warns in (warning or "")


def test_a_warning_is_a_sentence() -> None:
    facts = engine(VLLM.replace("{}", ", -tp=8, -pp=2"))
    assert count_warning(facts, 8) == (
        "container main: vLLM uses 16 devices (tensor parallel 8 x pipeline parallel 2), but "
        "8 devices are asked for; it starts only as a part of 2 such pods"
    )
