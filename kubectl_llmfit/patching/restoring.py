"""Patches undone in files: the workload as its record says, and the template that only it named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.rewrite.decision import Restore
from kubectl_llmfit.core.rewrite.generated import TEMPLATE_LABEL
from kubectl_llmfit.core.rewrite.held import PATCH
from kubectl_llmfit.core.rewrite.survey import mapping
from kubectl_llmfit.files.documents import Located, Manifest, parse
from kubectl_llmfit.files.editing import edited
from kubectl_llmfit.files.removing import without
from kubectl_llmfit.files.sources import Source
from kubectl_llmfit.patching.decided import Decided, decide_restore
from kubectl_llmfit.patching.leftovers import naming_it
from kubectl_llmfit.patching.manifests import Patched, placed


def restore_manifests(
    sources: Sequence[Source], *, unread: Sequence[Problem] = ()
) -> list[Patched]:
    """What becomes of ``sources``; nothing is written. ``unread`` says what is missing of them.

    A template goes where none of the sources names it any more, unless its file holds nothing
    else.

    Raises:
        Refused: ``unread``, and every document or record that can't be used.
    """
    problems = list(unread)
    found: list[tuple[Source, dict[Located, Decided]]] = []
    for source in sources:
        problems += source.manifest.problems
        found.append((source, {}))
        for located in source.manifest.objects:
            try:
                decided = decide_restore(located.value, located.where)
            except Refused as refused:
                problems += placed(refused, located)
            else:
                if decided is not None:
                    found[-1][1][located] = decided
    if problems:
        raise Refused(problems)
    restored = [_edited(source, decided) for source, decided in found]
    unnamed = _unnamed(restored, [each for _, decided in found for each in decided.values()])
    return [
        Patched(source, _without(manifest, unnamed), tuple(decided.values()))
        for manifest, (source, decided) in zip(restored, found, strict=True)
    ]


def _edited(source: Source, decided: Mapping[Located, Decided]) -> Manifest:
    operations = {located: each.operations for located, each in decided.items()}
    return parse(edited(source.manifest, operations), source.manifest.name)


def _unnamed(manifests: Sequence[Manifest], decided: Sequence[Decided]) -> set[str]:
    """The templates of the patches that nothing in ``manifests`` names any more."""
    objects = [each.value for manifest in manifests for each in manifest.objects]
    names = (
        name
        for each in decided
        for decision in each.changed
        if isinstance(decision, Restore)
        for name in decision.templates
    )
    return {name for name in names if not any(naming_it(objects, name))}


def _without(manifest: Manifest, names: set[str]) -> str:
    going = [each for each in manifest.objects if _is_generated(each.value, names)]
    if not going or len(going) == len(manifest.objects):
        return manifest.text
    return without(manifest, going)


def _is_generated(item: Mapping[str, Any], names: set[str]) -> bool:
    metadata = mapping(item.get("metadata"))
    return (
        item.get("kind") == "ResourceClaimTemplate"
        and metadata.get("name") in names
        and mapping(metadata.get("labels")).get(TEMPLATE_LABEL) == PATCH.label
    )
