"""What a patch changed, kept in an annotation of the workload so that it can be put back.

The record holds the operations themselves. Items of lists on the way are kept by name where they
have one, because others may add containers before that name or move it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import refuse
from kubectl_llmfit.core.rewrite.annotated import PREFIX
from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, value_at

UNDO = f"{PREFIX}undo"
"""The annotation that holds the record."""

ANNOTATIONS: Path = ("metadata", "annotations")
_VERSION = 1
_MAX_STEPS = 1000
_SECTIONS = ("containers", "initContainers")


@dataclass(frozen=True)
class Named:
    """Stands in a path for the index of the list's item of this name."""

    name: str


Place = tuple[str | int | Named, ...]


@dataclass(frozen=True)
class Step:
    """A recorded operation: what was at ``place`` before and after, either perhaps ``ABSENT``."""

    place: Place
    old: Any
    new: Any


def recording(workload: Mapping[str, Any], operations: Sequence[Operation]) -> list[Operation]:
    """The operations that write ``operations`` of ``workload`` into its annotation.

    A record that is there already is continued; one that can't be read is of no use and replaced.
    """
    annotations = value_at(workload, ANNOTATIONS)
    if not operations or not isinstance(workload.get("metadata"), Mapping):
        return []
    steps = [Step(_place(workload, each.path), each.old, each.new) for each in operations]
    if not isinstance(annotations, Mapping):
        # A map of ours, whose content is not part of its own record.
        made = Step(ANNOTATIONS, annotations, {})
        return [Operation(ANNOTATIONS, annotations, {UNDO: _written([made, *steps])})]
    earlier = annotations.get(UNDO, ABSENT)
    try:
        known = list(read(earlier)) if isinstance(earlier, str) else []
    except reasons.Refused:
        known = []
    new = [each for each in steps if each not in known]
    return [Operation((*ANNOTATIONS, UNDO), earlier, _written([*known, *new]))]


def read(text: str) -> tuple[Step, ...]:
    """The steps that the annotation's ``text`` holds, in the order in which they were made.

    Raises:
        Refused: ``bad-undo-record``: it is nothing that a patch has written.
    """
    try:
        content = json.loads(text)
        steps = tuple(_step(each) for each in content["operations"])
        usable = content["version"] == _VERSION and 0 < len(steps) <= _MAX_STEPS
    except (ValueError, KeyError, TypeError, RecursionError):
        usable, steps = False, ()
    if not usable or not all(_is_ours(each.place) for each in steps):
        raise refuse(
            reasons.BAD_UNDO_RECORD,
            f"annotation {UNDO} is not as a patch wrote it; put the limits back by hand, and take "
            "the annotation away",
        )
    return steps


def located(workload: Mapping[str, Any], place: Place) -> Path | None:
    """Where ``place`` is in ``workload`` as it is now; ``None`` where a named item is gone."""
    path: Path = ()
    for part in place:
        if not isinstance(part, Named):
            path = (*path, part)
            continue
        index = next(_indexes(value_at(workload, path), part.name), None)
        if index is None:
            return None
        path = (*path, index)
    return path


def _place(workload: Mapping[str, Any], path: Path) -> Place:
    place: Place = ()
    for depth, part in enumerate(path):
        items = value_at(workload, path[:depth])
        item = value_at(workload, path[: depth + 1])
        name = item.get("name") if isinstance(item, Mapping) else None
        # The last part is the position of an item that comes or goes itself.
        named = isinstance(part, int) and depth + 1 < len(path) and isinstance(name, str)
        if named and len(list(_indexes(items, str(name)))) == 1:
            place = (*place, Named(str(name)))
        else:
            place = (*place, part)
    return place


def _indexes(items: Any, name: str) -> Iterator[int]:
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, Mapping) and item.get("name") == name:
            yield index


def _written(steps: Sequence[Step]) -> str:
    content = {"version": _VERSION, "operations": [_shown(each) for each in steps]}
    return json.dumps(content, separators=(",", ":"), sort_keys=True)


def _shown(step: Step) -> dict[str, Any]:
    """A side that is absent is left out; ``null`` is a value."""
    shown: dict[str, Any] = {
        "path": [{"name": part.name} if isinstance(part, Named) else part for part in step.place]
    }
    if step.old is not ABSENT:
        shown["old"] = step.old
    if step.new is not ABSENT:
        shown["new"] = step.new
    return shown


def _step(shown: dict[str, Any]) -> Step:
    place = tuple(Named(part["name"]) if isinstance(part, dict) else part for part in shown["path"])
    return Step(place, shown.get("old", ABSENT), shown.get("new", ABSENT))


def _is_ours(place: Place) -> bool:
    """Whether a patch changes anything at ``place``: the record is data that others can write."""
    if place == ANNOTATIONS:
        return True
    tails = (place[index + 1 :] for index, part in enumerate(place) if part == "spec")
    return any(_is_in_pod(tail) for tail in tails)


def _is_in_pod(tail: Place) -> bool:
    match tail:
        case ("resourceClaims" | "tolerations",):
            return True
        case ("resourceClaims" | "tolerations", int()):
            return True
        case (str(section), Named() | int(), *rest) if section in _SECTIONS:
            return _is_in_container(rest)
    return False


def _is_in_container(rest: Sequence[str | int | Named]) -> bool:
    match rest:
        case ["env"] | ["env", int()]:
            return True
        case ["resources", "limits" | "requests"] | ["resources", "limits" | "requests", str()]:
            return True
        case ["resources", "claims"] | ["resources", "claims", int()]:
            return True
    return False
