"""A patch undone: what it took out comes back, what it put in goes, what others did stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import printable, quoted
from kubectl_llmfit.core.rewrite import effects
from kubectl_llmfit.core.rewrite.consequences import Consequence
from kubectl_llmfit.core.rewrite.decision import Restore, Skip
from kubectl_llmfit.core.rewrite.effects import Effect
from kubectl_llmfit.core.rewrite.held import claims_named, is_generated
from kubectl_llmfit.core.rewrite.operations import (
    ABSENT,
    Operation,
    Path,
    applied,
    pointer,
    value_at,
)
from kubectl_llmfit.core.rewrite.survey import mapping
from kubectl_llmfit.core.rewrite.undo import ANNOTATIONS, UNDO, Named, Step, located, read

_CLAIMS = "resourceClaims"


def restore(workload: Mapping[str, Any]) -> Restore | Skip:
    """What becomes of ``workload`` when the patch that its annotation records is undone.

    Raises:
        Refused: ``bad-undo-record``.
    """
    text = mapping(value_at(workload, ANNOTATIONS)).get(UNDO)
    if not isinstance(text, str):
        return Skip(reasons.NOT_PATCHED, f"it has no annotation {UNDO}, which a patch leaves")
    steps = read(text)
    work = _Work(workload)
    for step in _in_order(steps):
        work.undo(step)
    work.change(Operation((*ANNOTATIONS, UNDO), text, ABSENT))
    for step in steps:
        if step.place == ANNOTATIONS:
            work.undo(step)
    return Restore(tuple(work.operations), tuple(work.consequences), _templates(steps))


def _in_order(steps: Sequence[Step]) -> Iterator[Step]:
    """The last first, but a pod's claims behind the containers that refer to them."""
    backwards = [step for step in reversed(steps) if step.place != ANNOTATIONS]
    yield from (step for step in backwards if _CLAIMS not in step.place)
    yield from (step for step in backwards if _CLAIMS in step.place)


def _templates(steps: Sequence[Step]) -> tuple[str, ...]:
    """The generated templates that the patch made the workload name."""
    names: dict[str, None] = {}
    for step in steps:
        if _CLAIMS in step.place:
            for entry in step.new if isinstance(step.new, list) else [step.new]:
                name = str(mapping(entry).get("resourceClaimTemplateName", ""))
                if is_generated(name):
                    names[name] = None
    return tuple(names)


class _Work:
    """A workload on its way back: the operations so far, and what could not be done."""

    def __init__(self, workload: Mapping[str, Any]) -> None:
        self.state = dict(workload)
        self.operations: list[Operation] = []
        self.consequences: list[Consequence] = []

    def change(self, operation: Operation) -> None:
        """Does one more operation."""
        self.state = applied(self.state, [operation])
        self.operations.append(operation)

    def undo(self, step: Step) -> None:
        """Undoes ``step`` as far as its place is still there and as it was left."""
        path = located(self.state, step.place)
        if path is None:
            gone = " ".join(quoted(part.name) for part in step.place if isinstance(part, Named))
            self._say(
                effects.GONE_SINCE, f"{gone} is gone, and with it the place of what was taken out"
            )
        elif isinstance(path[-1], int):
            if step.new is ABSENT:
                self._put_item(path[:-1], path[-1], step.old)
            else:
                self._take_items(path[:-1], [step.new], [])
        elif step.new is ABSENT:
            self._put(path, step.old)
        elif isinstance(step.new, list):
            self._take_items(path, step.new, step.old)
        elif value_at(self.state, path) == {}:
            self.change(Operation(path, {}, step.old))

    def _put(self, path: Path, old: Any) -> None:
        """Puts ``old`` back at ``path``; of a map or list, what is not there again already."""
        now = value_at(self.state, path)
        if now is ABSENT:
            self._add(path, old)
        elif isinstance(now, Mapping) and isinstance(old, Mapping):
            for name, value in old.items():
                self._put((*path, name), value)
        elif isinstance(now, list) and isinstance(old, list):
            for index, item in enumerate(old):
                self._put_item(path, index, item)
        elif now is None and old:
            self.change(Operation(path, now, old))
        elif now != old:
            where = printable(pointer(path))
            self._say(effects.CHANGED_SINCE, f"{where} was set anew since the patch, and stays so")

    def _add(self, path: Path, value: Any) -> None:
        """Adds what is absent, and the maps around it that have gone since."""
        while not isinstance(value_at(self.state, path[:-1]), Mapping | list):
            value = {path[-1]: value}
            path = path[:-1]
        self.change(Operation(path, value_at(self.state, path), value))

    def _put_item(self, path: Path, index: int, item: Any) -> None:
        items = value_at(self.state, path)
        if not isinstance(items, list):
            self._add(path, [item])
        elif not any(_is_same(each, item) for each in items):
            self.change(Operation((*path, min(index, len(items))), ABSENT, item))
        elif item not in items:
            name = quoted(str(mapping(item).get("name", "")))
            self._say(effects.CHANGED_SINCE, f"{name} was set anew since the patch, and stays so")

    def _take_items(self, path: Path, ours: Sequence[Any], old: Any) -> None:
        """Takes ``ours`` out of the list at ``path``, and the list where it was made for them."""
        items = value_at(self.state, path)
        if not isinstance(items, list):
            return
        by_name = path[-2:] == ("resources", "claims")
        going = [
            index
            for index, item in enumerate(items)
            if any(item == each or (by_name and _is_same(item, each)) for each in ours)
        ]
        if path[-1] == _CLAIMS:
            going = [index for index in going if not self._is_used(path, items[index])]
            self._say_changed(items, ours)
        if going and len(going) == len(items) and not isinstance(old, list):
            self.change(Operation(path, items, old))
            return
        for index in reversed(going):
            self.change(Operation((*path, index), items[index], ABSENT))

    def _is_used(self, path: Path, claim: Mapping[str, Any]) -> bool:
        """Whether a container that was added since refers to the pod's ``claim``."""
        spec = mapping(value_at(self.state, path[:-1]))
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        name = str(claim.get("name", ""))
        users = [each for each in containers if name in claims_named(mapping(each))]
        if users:
            shown = ", ".join(quoted(str(each.get("name", ""))) for each in users)
            self._say(effects.CLAIM_STILL_USED, f"claim {quoted(name)} stays: {shown} refers to it")
        return bool(users)

    def _say_changed(self, items: Sequence[Any], ours: Sequence[Any]) -> None:
        for item in items:
            if item not in ours and any(_is_same(item, each) for each in ours):
                name = quoted(str(item.get("name", "")))
                self._say(
                    effects.CHANGED_SINCE, f"claim {name} was changed since the patch, and stays"
                )

    def _say(self, effect: Effect, sentence: str) -> None:
        said = Consequence(effect, sentence)
        if said not in self.consequences:
            self.consequences.append(said)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two items of a list are one: equal, or of the same name."""
    name = mapping(one).get("name")
    return bool(one == other) or (name is not None and name == mapping(other).get("name"))
