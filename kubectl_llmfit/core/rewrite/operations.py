"""Changes of an object as (path, old, new): applied, inverted, and as a JSON patch.

The one form of a change: live patch and webhook send it as a JSON patch, files splice it into
the text, restore inverts it. Paths are keys and list indexes from the object's root.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

Path = tuple[str | int, ...]


class Absent(Enum):
    """The type of ``ABSENT``."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""Stands for "there is no such key", which ``None`` (null) is not."""


@dataclass(frozen=True)
class Operation:
    """One change: what is at ``path`` goes from ``old`` to ``new``, either perhaps ``ABSENT``.

    An operation never creates parents: the parent of ``path`` is a mapping or list that exists
    when its turn comes. An item that is added to a list (``old`` is ``ABSENT``) moves the others
    from its index on, and one that goes moves them back.
    """

    path: Path
    old: Any
    new: Any

    def inverted(self) -> Operation:
        """The operation that undoes this one."""
        return Operation(self.path, self.new, self.old)


class Conflict(ValueError):
    """An operation finds something else than its ``old``; ``operation`` says which."""

    def __init__(self, operation: Operation) -> None:
        super().__init__(f"{pointer(operation.path)} is not as it was")
        self.operation = operation


def inverted(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations that undo ``operations``, in the order in which to apply them."""
    return tuple(operation.inverted() for operation in reversed(operations))


def applied(document: Mapping[str, Any], operations: Iterable[Operation]) -> dict[str, Any]:
    """A copy of ``document`` after ``operations``; ``document`` itself stays.

    Raises:
        Conflict: an operation's ``old`` is not what is there.
    """
    result = copy.deepcopy(dict(document))
    for operation in operations:
        _apply(result, operation)
    return result


def json_patch(operations: Iterable[Operation]) -> list[dict[str, Any]]:
    """``operations`` as an RFC 6902 JSON patch, without tests of old values."""
    return [_patch(operation) for operation in operations]


def pointer(path: Path) -> str:
    """``path`` as an RFC 6901 JSON pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def value_at(document: Any, path: Path) -> Any:
    """What is at ``path``, or ``ABSENT``."""
    found = document
    for key in path:
        if isinstance(found, Mapping):
            found = found.get(key, ABSENT)
        elif isinstance(found, list) and isinstance(key, int) and 0 <= key < len(found):
            found = found[key]
        else:
            return ABSENT
    return found


def _apply(document: dict[str, Any], operation: Operation) -> None:
    *parents, key = operation.path
    parent = value_at(document, tuple(parents))
    inserts = isinstance(parent, list) and operation.old is ABSENT
    if not inserts and value_at(document, operation.path) != operation.old:
        raise Conflict(operation)
    if isinstance(parent, list):
        if not isinstance(key, int) or not 0 <= key <= len(parent):
            raise Conflict(operation)
        if operation.new is ABSENT:
            del parent[key]
        elif inserts:
            parent.insert(key, copy.deepcopy(operation.new))
        else:
            parent[key] = copy.deepcopy(operation.new)
    elif isinstance(parent, dict):
        if operation.new is ABSENT:
            del parent[key]
        else:
            parent[key] = copy.deepcopy(operation.new)
    else:
        raise Conflict(operation)


def _patch(operation: Operation) -> dict[str, Any]:
    path = pointer(operation.path)
    if operation.new is ABSENT:
        return {"op": "remove", "path": path}
    verb = "add" if operation.old is ABSENT else "replace"
    return {"op": verb, "path": path, "value": operation.new}
