"""The catalog as admission uses it: answers are remembered, and a slow search can be foreseen.

A whole name is found at once. A part of one, or a name that no model has, makes the catalog walk
all of its names, which takes up to a tenth of a second.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Refused

REMEMBERED = 1024
"""Selectors whose answers are kept: the pods of one ReplicaSet all have the same."""


class Models:
    """Models by selector and by name. Safe to use from several threads."""

    def __init__(self, catalog: Catalog) -> None:
        self.release = catalog.release
        self.exact = catalog.exact
        self._catalog = catalog
        self._answers: OrderedDict[str, Model | Refused] = OrderedDict()
        self._lock = Lock()

    def is_quick(self, selector: str) -> bool:
        """Whether ``resolve`` needs no search."""
        with self._lock:
            remembered = selector in self._answers
        return remembered or self.exact(selector.strip()) is not None

    def resolve(self, selector: str) -> Model:
        """The model that ``selector`` names.

        Raises:
            Refused: as ``Catalog.resolve``.
        """
        with self._lock:
            answer = self._answers.get(selector)
            if answer is not None:
                self._answers.move_to_end(selector)
        if answer is None:
            answer = self._look_up(selector)
            with self._lock:
                self._answers[selector] = answer
                if len(self._answers) > REMEMBERED:
                    self._answers.popitem(last=False)
        if isinstance(answer, Refused):
            # An exception that is raised again would hold on to the frames of every caller.
            raise Refused(answer.problems)
        return answer

    def _look_up(self, selector: str) -> Model | Refused:
        try:
            return self._catalog.resolve(selector)
        except Refused as refused:
            return Refused(refused.problems)
