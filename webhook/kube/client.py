"""What the API server may answer instead of an object."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


class ApiError(Exception):
    """The API server refused: ``status`` is the HTTP code, ``reason`` and ``message`` its own."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


class Unavailable(Exception):
    """The API server did not answer: no connection, no answer in time, or 5xx and 429."""
