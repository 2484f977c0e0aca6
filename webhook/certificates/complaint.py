"""A problem that lasts, logged when it begins or changes and not at every try."""

from __future__ import annotations

import logging


class Complaint:
    """One kind of work that may fail for a while."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._said = ""

    def say(self, problem: str, level: int = logging.ERROR) -> None:
        """Log ``problem``, unless it was the last one said."""
        if problem != self._said:
            self._log.log(level, "%s", problem)
        self._said = problem

    def over(self) -> None:
        """It works again."""
        if self._said:
            self._log.info("no longer: %s", self._said)
        self._said = ""
