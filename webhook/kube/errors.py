"""The two ways in which a call to the API server fails."""

from __future__ import annotations

import json
import re
from typing import Any

MESSAGE_MAX = 1000
_NO_RIGHT = re.compile(r"\bcannot (?:[a-z]+ (?:resource|path)|set an ownerRef) ")


class ApiError(Exception):
    """The API server refused a call: asking again in the same way would not help.

    Attributes:
        status: the HTTP status, 400 to 499 but for 429.
        reason: the server's token, such as ``NotFound``, ``AlreadyExists``, ``Conflict``,
            ``Forbidden``, ``Expired``; empty where it gave none.
        message: the server's own sentence, at most 1,000 characters.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{message} ({status} {reason})" if reason else f"{message} ({status})")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def gone(self) -> bool:
        """Whether a resource version or a page's token is too old: the list has to be read anew."""
        return self.status == 410

    @property
    def lacks_right(self) -> bool:
        """Whether RBAC is what forbids it, and not a quota or a namespace that ends.

        An API server that has just started says so too, until it has read the roles.
        """
        return self.status == 401 or (self.status == 403 and bool(_NO_RIGHT.search(self.message)))


class Unavailable(Exception):
    """No answer that counts: no connection, not in time, HTTP 5xx or 429. It may work later."""


def failure(status: int, body: Any, call: str) -> ApiError | Unavailable:
    """The error that an HTTP status of 400 or more and its body (a Status object) stand for."""
    stated = body if isinstance(body, dict) else {}
    message = str(stated.get("message") or f"{call}: HTTP {status}")[:MESSAGE_MAX]
    if status >= 500 or status == 429:
        return Unavailable(f"{call}: {message} ({status})")
    return ApiError(status, str(stated.get("reason") or ""), message)


def decoded(body: bytes) -> Any:
    """``body`` as JSON; ``None`` where it is none, such as a proxy's page."""
    try:
        return json.loads(body)
    except ValueError:
        return None
