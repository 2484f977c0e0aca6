"""Changes of a text in short form, for tests."""

from __future__ import annotations

from typing import Any

from kubectl_llmfit.core.rewrite.operations import ABSENT, Operation, Path, value_at
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.editing import edited

Change = tuple[str, Any]
HEAD = "kind: Thing\n"


def path(shown: str) -> Path:
    return tuple(int(part) if part.isdigit() else part for part in shown.split(" "))


def apply(text: str, *changes: Change) -> str:
    """``text`` after ``changes`` of its first object: a path and the new value each."""
    manifest = parse(text, "f.yaml")
    located = manifest.objects[0]
    state: Any = located.value
    operations: list[Operation] = []
    for shown, new in changes:
        old = value_at(state, path(shown))
        # Only what an earlier change made is not in the object yet.
        if any(path(shown)[: len(each.path)] == each.path for each in operations):
            old = ABSENT
        operations.append(Operation(path(shown), old, new))
    return edited(manifest, {located: operations})
