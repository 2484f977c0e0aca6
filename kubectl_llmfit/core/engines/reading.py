"""Turns an engine's flags and environment into facts, and what can't be known into sentences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from kubectl_llmfit.core.engines.environment import Environment
from kubectl_llmfit.core.engines.facts import Unknown
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.flags import Flags
from kubectl_llmfit.core.engines.reference import ModelReference
from kubectl_llmfit.core.reasons import quoted
from kubectl_llmfit.core.request import Sourced

T = TypeVar("T")

_WHOLE = re.compile(r"[+]?[0-9]{1,15}")
_FRACTION = re.compile(r"[+]?(?:[0-9]{1,3}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})")
# vLLM's human-readable integers: small letters are decimal, capitals binary
# (vllm-project/vllm vllm/engine/arg_utils.py, human_readable_int).
_HUMAN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([kmgtKMGT])")
_POWERS = "kmgt"

# Fact → the flag of ours that states it instead.
_OURS = {
    "model": "name it with --model",
    "repository": "name it with --model",
    "url": "name it with --model",
    "docker": "name it with --model",
    "quant": "name it with --quant",
}

# Fact → what a sentence calls it, where the fact's own name won't do.
_LABELS = {
    "model": "the model",
    "repository": "the model's repository",
    "url": "the model's address",
    "docker": "the model's repository",
    "quant": "the quantization",
    "dtype": "the type of the weights",
    "max_model_len": "the longest request",
    "tensor_parallel": "the tensor parallel size",
    "pipeline_parallel": "the pipeline parallel size",
    "data_parallel": "the data parallel size",
    "data_parallel_local": "the data parallel size of this pod",
    "nodes": "the number of nodes",
    "max_num_seqs": "the number of requests at once",
    "gpu_memory_utilization": "the engine's share of the memory",
    "kv_cache_dtype": "the type of the KV cache",
}


class Reading:
    """Collects one container's facts. A value that can't be read becomes an ``Unknown``."""

    def __init__(self, container: str, flags: Flags, environment: Environment) -> None:
        self.container = container
        self.flags = flags
        self.environment = environment
        self.unknown: list[Unknown] = []
        for word in flags.open:
            self._refuse("arguments", word.origin, f"may add any argument, because {word.missing}")
        for word in flags.valueless:
            self._refuse("arguments", word.origin, f"{quoted(word.text)} has no value")

    def text(self, fact: str, *variables: str) -> Sourced[str] | None:
        """The text that a flag, else the first of the environment ``variables``, states."""
        return self._read(fact, variables, lambda text: text.strip() or None, "a value")

    def whole(self, fact: str, *variables: str, least: int = 1) -> Sourced[int] | None:
        """The whole number that a flag or variable states."""

        def read(text: str) -> int | None:
            value = int(text) if _WHOLE.fullmatch(text.strip()) else None
            return value if value is not None and value >= least else None

        return self._read(fact, variables, read, f"a whole number from {least}")

    def tokens(self, fact: str) -> Sourced[int] | None:
        """As ``whole``, also ``32k``; ``auto`` and ``-1`` leave it to the engine."""
        word = self.flags.values.get(fact)
        if word is not None and word.text.strip() in {"auto", "-1"}:
            return None
        return self._read(fact, (), _human, "a whole number from 1")

    def fraction(self, fact: str, *variables: str) -> Sourced[float] | None:
        """The share, above 0 and up to 1, that a flag or variable states."""

        def read(text: str) -> float | None:
            value = float(text) if _FRACTION.fullmatch(text.strip()) else 0.0
            return value if 0 < value <= 1 else None

        return self._read(fact, variables, read, "a share above 0 and up to 1")

    def model(
        self, meaning: Callable[[str], ModelReference], *variables: str
    ) -> Sourced[ModelReference] | None:
        """The model that a flag or variable states, as ``meaning`` reads it."""
        stated = self.text("model", *variables)
        return Sourced(meaning(stated.value), stated.origin) if stated is not None else None

    def argument(self, words: tuple[Word, ...]) -> Word | None:
        """The first of ``words``; one that can't be known is an ``Unknown`` model."""
        if not words:
            return None
        if words[0].missing:
            self._missing("model", words[0].origin, words[0].missing)
            return None
        return words[0]

    def config_file(self, flag: str) -> None:
        """Says that a file inside the container may state anything."""
        word = self.flags.values.get(flag)
        if word is not None:
            sentence = f"{quoted(word.text)} is a file in the container and may state more"
            self._refuse("config", word.origin, sentence)

    def no_model(self, sentence: str) -> None:
        """Says why there is no model, unless something else says it already."""
        if any(unknown.what == "model" for unknown in self.unknown):
            return
        if self.flags.open:
            self._missing("model", self.flags.open[0].origin, self.flags.open[0].missing)
        else:
            self._refuse("model", f"container {self.container}", f"{sentence}; {_OURS['model']}")

    def unread_sources(self) -> None:
        """Says that a ConfigMap or Secret may set what an engine reads off its environment."""
        for source in self.environment.unread:
            where = f"container {self.container}, {source.origin}"
            sentence = "can't be read here and may set more of the engine's settings"
            self._refuse("environment", where, sentence)

    def _read(
        self,
        fact: str,
        variables: tuple[str, ...],
        read: Callable[[str], T | None],
        wanted: str,
    ) -> Sourced[T] | None:
        word = self.flags.values.get(fact) or self._variable(fact, variables)
        if word is None:
            return None
        if word.missing:
            self._missing(fact, word.origin, word.missing)
            return None
        value = read(word.text)
        if value is None:
            self._refuse(fact, word.origin, f"{quoted(word.text)} is not {wanted}")
            return None
        return Sourced(value, word.origin)

    def _variable(self, fact: str, names: tuple[str, ...]) -> Word | None:
        for name in names:
            variable = self.environment.get(name)
            # What a source that can't be read might set is said once, but the model is asked for.
            if variable is None or not (variable.certain or fact == "model"):
                continue
            if variable.text == "":
                continue
            missing = "" if variable.certain else f"{quoted(name)} "
            missing += variable.missing
            return Word(variable.text or "", self._origin(variable.origin), missing)
        return None

    def _origin(self, origin: str) -> str:
        return f"container {self.container}, {origin}"

    def _missing(self, fact: str, where: str, why: str) -> None:
        name = _LABELS.get(fact, fact.replace("_", " "))
        remedy = f"; {_OURS[fact]}" if fact in _OURS else ""
        self._refuse(fact, where, f"{name} is not known here, because {why}{remedy}")

    def _refuse(self, fact: str, where: str, sentence: str) -> None:
        self.unknown.append(Unknown(fact, where, f"{where}: {sentence}"))


def _human(text: str) -> int | None:
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text) or None
    found = _HUMAN.fullmatch(text)
    if found is None:
        return None
    number, letter = found.groups()
    base = 1000 if letter.islower() else 1024
    if base == 1024 and "." in number:
        return None
    return int(float(number) * base ** (_POWERS.index(letter.lower()) + 1)) or None
