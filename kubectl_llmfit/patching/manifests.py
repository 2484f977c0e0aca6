"""Patching workloads in files: all of a file or nothing, and every other byte stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kubectl_llmfit.core.claims import yaml
from kubectl_llmfit.core.engines import ConfigMapReader
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.rewrite.held import ClaimReader, claim_named_by, claim_spec
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.core.rewrite.operations import Operation
from kubectl_llmfit.files.documents import Located, Manifest
from kubectl_llmfit.files.editing import edited
from kubectl_llmfit.files.sources import Source
from kubectl_llmfit.patching.decided import Decided, decide_workload, generated


@dataclass(frozen=True)
class Patched:
    """A source, its text as it will be, and what was decided of its workloads."""

    source: Source
    text: str
    decided: tuple[Decided, ...]


def patch_manifests(
    sources: Sequence[Source],
    wishes: Wishes,
    knowledge: Knowledge,
    *,
    unread: Sequence[Problem] = (),
    template_path: str | None = None,
) -> list[Patched]:
    """What becomes of ``sources``; nothing is written. ``unread`` says what is missing of them.

    Raises:
        Refused: ``unread``, every document that can't be used and every workload that can't be
            changed.
    """
    problems = list(unread)
    found: list[tuple[Source, dict[Located, Decided]]] = []
    for source in sources:
        problems += source.manifest.problems
        found.append((source, {}))
        manifest = source.manifest
        knows = replace(knowledge, config_maps=_config_maps(manifest), claims=_claims(manifest))
        for located in source.manifest.objects:
            try:
                decided = decide_workload(
                    located.value, located.where, wishes, knows, template_path
                )
            except Refused as refused:
                problems += placed(refused, located)
            else:
                if decided is not None:
                    found[-1][1][located] = decided
    if problems:
        raise Refused(problems)
    return [
        Patched(source, _text(source.manifest, decided), tuple(decided.values()))
        for source, decided in found
    ]


def joined(texts: Sequence[str]) -> str:
    """Several files' texts as one stream."""
    stream = ""
    for text in texts:
        if stream and not stream.endswith("\n"):
            stream += "\n"
        stream += ("---\n" if stream else "") + text
    return stream


def placed(refused: Refused, located: Located) -> list[Problem]:
    """The problems of a refusal, each with the place of the object that it is about."""
    return [Problem(each.reason, f"{located.where}: {each.sentence}") for each in refused.problems]


def _config_maps(manifest: Manifest) -> ConfigMapReader:
    """The data of the ConfigMaps of the same file, by name; others are not known."""
    found = {
        (each.value.get("metadata") or {}).get("name"): each.value.get("data") or {}
        for each in manifest.objects
        if each.value.get("kind") == "ConfigMap"
    }
    read: Callable[[str], dict[str, str] | None] = found.get
    return read


def _claims(manifest: Manifest) -> ClaimReader:
    """The claims and templates of the same file; others are not known."""
    found = {
        (each.value.get("kind"), (each.value.get("metadata") or {}).get("name")): each.value
        for each in manifest.objects
    }

    def read(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        item = found.get(claim_named_by(entry))
        return claim_spec(item) if item is not None else None

    return read


def _text(manifest: Manifest, decided: dict[Located, Decided]) -> str:
    """The manifest's text as it will be: each template once, before the first that names it."""
    operations: dict[Located, tuple[Operation, ...]] = {}
    before: dict[Located, str] = {}
    written: set[tuple[str | None, str]] = set()
    for located, each in decided.items():
        operations[located] = each.operations
        new = []
        for inject in each.templates:
            if inject.identity not in written:
                written.add(inject.identity)
                new.append(generated(inject))
        if new:
            before[located] = yaml.dump_all(new)
    return edited(manifest, operations, before)
