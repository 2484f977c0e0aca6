"""What kind of thing names the model."""

from __future__ import annotations

import pytest

from kubectl_llmfit.core.engines.reference import (
    GGUF,
    HUB,
    OLLAMA,
    PATH,
    URI,
    gguf_repository,
    ollama_name,
    reference,
)


@pytest.mark.parametrize(
    ("text", "kind", "hub_name", "file"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", HUB, "Qwen/Qwen2.5-7B-Instruct", None),
        ("gpt2", HUB, "gpt2", None),
        ("/models/Qwen3-32B", PATH, None, None),
        ("./model", PATH, None, None),
        ("models/llama/7b", PATH, None, None),
        ("file:///models/x", PATH, None, None),
        (
            "/home/vllm/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0123",
            PATH,
            "Qwen/Qwen3-8B",
            None,
        ),
        ("s3://bucket/llama", URI, None, None),
        ("gs://bucket/llama", URI, None, None),
        ("pvc://claim/llama", URI, None, None),
        ("oci://registry/llama:1", URI, None, None),
        ("hf://Qwen/Qwen3-8B", URI, "Qwen/Qwen3-8B", None),
        ("hf://Qwen/Qwen3-8B:0123", URI, "Qwen/Qwen3-8B", None),
        ("https://huggingface.co/Qwen/Qwen3-8B", URI, "Qwen/Qwen3-8B", None),
        (
            "https://huggingface.co/a/b-GGUF/resolve/main/b-Q5_K_M.gguf?download=true",
            GGUF,
            "a/b-GGUF",
            "b-Q5_K_M.gguf",
        ),
        ("/models/x-Q4_K_M.gguf", GGUF, None, "x-Q4_K_M.gguf"),
        ("unsloth/Qwen3-0.6B-GGUF:Q4_K_M", GGUF, "unsloth/Qwen3-0.6B-GGUF", "Q4_K_M"),
    ],
)
def test_references(text: str, kind: str, hub_name: str | None, file: str | None) -> None:
    found = reference(text)
    assert (found.text, found.kind, found.hub_name, found.file) == (text, kind, hub_name, file)


def test_gguf_repositories() -> None:
    assert gguf_repository("a/b:Q4_K_M").file == "Q4_K_M"
    assert gguf_repository("a/b:Q4_K_M", "b-Q8_0.gguf").file == "b-Q8_0.gguf"
    assert gguf_repository("a/b").hub_name == "a/b"


@pytest.mark.parametrize(
    ("text", "kind", "hub_name", "tag"),
    [
        ("llama3.1", OLLAMA, None, None),
        ("llama3.1:8b-instruct-q8_0", OLLAMA, None, "8b-instruct-q8_0"),
        ("registry:5000/me/model:x", OLLAMA, None, "x"),
        ("hf.co/a/b-GGUF", GGUF, "a/b-GGUF", None),
        ("hf.co/a/b-GGUF:Q8_0", GGUF, "a/b-GGUF", "Q8_0"),
    ],
)
def test_ollama_names(text: str, kind: str, hub_name: str | None, tag: str | None) -> None:
    found = ollama_name(text)
    assert (found.kind, found.hub_name, found.file) == (kind, hub_name, tag)
