"""Pauses between tries: doubled up to a longest one, spread so that replicas don't ask in step."""

from __future__ import annotations

import random


class Backoff:
    """Seconds to wait before the next try; ``reset`` after a success."""

    def __init__(self, first_seconds: float = 0.1, longest_seconds: float = 15.0) -> None:
        self._first = first_seconds
        self._longest = longest_seconds
        self._next = first_seconds

    def reset(self) -> None:
        """The next pause is the first again."""
        self._next = self._first

    def pause(self) -> float:
        """The next pause: between half of its nominal length and the whole."""
        nominal = self._next
        self._next = min(nominal * 2, self._longest)
        return nominal * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
