"""Tells what kind of thing a workload names as its model: a hub's repository, a file, an address.

Sources: huggingface/huggingface_hub src/huggingface_hub/utils/_validators.py (repository names) and
docs/source/en/guides/manage-cache.md (cache folders); kserve/kserve docs/storage (hf://, pvc://,
oci://, s3://, gs://); ggml-org/llama.cpp tools/server/README.md (-hf, repository:quantization);
ollama/ollama docs/import.mdx and huggingface hub docs on Ollama (hf.co/…).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HUB = "hub name"
PATH = "local path"
URI = "address"
GGUF = "GGUF"
OLLAMA = "Ollama name"

_HUB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)?")
_CACHED = re.compile(r"(?:^|/)models--([A-Za-z0-9._-]+?)--([A-Za-z0-9._-]+?)(?:/|$)")
_HUB_ADDRESS = re.compile(
    r"(?:https?://(?:www\.)?|)(?:huggingface\.co|hf\.co)/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class ModelReference:
    """The model as a workload names it.

    Attributes:
        text: what is written.
        kind: ``HUB``, ``PATH``, ``URI``, ``GGUF`` or ``OLLAMA``.
        hub_name: the repository on the Hugging Face hub; ``None`` when the text does not tell.
        file: the file or tag that tells the quantization of a GGUF or Ollama model.
    """

    text: str
    kind: str
    hub_name: str | None = None
    file: str | None = None


def reference(text: str) -> ModelReference:
    """The model that an engine of Hugging Face checkpoints is given as ``text``."""
    text = text.strip()
    address = _HUB_ADDRESS.match(text)
    if address is not None:
        hub_name = address.group(1).removesuffix(".git")
        file = text[address.end() :].partition("?")[0].rsplit("/", 1)[-1]
        if _is_gguf(file):
            return ModelReference(text, GGUF, hub_name, file)
        return ModelReference(text, URI, hub_name)
    scheme = _SCHEME.match(text)
    if scheme is not None and scheme.group() != "file://":
        return _address(text, scheme.group())
    return _local_or_hub(text, text.removeprefix("file://"))


def gguf_repository(text: str, file: str | None = None) -> ModelReference:
    """The model of ``-hf REPOSITORY:QUANTIZATION``, or of a file in that repository."""
    name, _, tag = text.strip().partition(":")
    hub_name = name if _HUB_NAME.fullmatch(name) else None
    return ModelReference(text.strip(), GGUF, hub_name, file or tag or None)


def ollama_name(text: str) -> ModelReference:
    """The model of ``ollama run NAME``."""
    text = text.strip()
    address = _HUB_ADDRESS.match(text)
    if address is not None:
        return ModelReference(
            text, GGUF, address.group(1), text[address.end() :].strip(":") or None
        )
    _, _, tag = text.rpartition("/")[2].partition(":")
    return ModelReference(text, OLLAMA, None, tag or None)


def _address(text: str, scheme: str) -> ModelReference:
    if scheme not in {"hf://", "huggingface://"}:
        return ModelReference(text, URI, None, text if _is_gguf(text) else None)
    # hf://organisation/name, and behind that a :revision or a /file.
    repository = text.removeprefix(scheme).strip("/").partition(":")[0]
    name = "/".join(repository.split("/")[:2])
    return ModelReference(text, URI, name if "/" in name and _HUB_NAME.fullmatch(name) else None)


def _local_or_hub(text: str, path: str) -> ModelReference:
    is_path = path != text or path.startswith(("/", "./", "../", "~")) or path.endswith("/")
    if is_path or _is_gguf(path):
        return _path(text, path)
    name, colon, tag = text.partition(":")
    if not _HUB_NAME.fullmatch(name):
        return _path(text, path)
    return ModelReference(text, GGUF, name, tag) if colon else ModelReference(text, HUB, name)


def _path(text: str, path: str) -> ModelReference:
    cached = _CACHED.search(path)
    hub_name = f"{cached.group(1)}/{cached.group(2)}" if cached else None
    if _is_gguf(path):
        return ModelReference(text, GGUF, hub_name, path.rsplit("/", 1)[-1])
    return ModelReference(text, PATH, hub_name)


def _is_gguf(text: str) -> bool:
    return text.lower().partition("?")[0].endswith(".gguf")
