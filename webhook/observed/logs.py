"""One JSON object a line on standard error; no value can start a line of its own."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from webhook.reviews.notices import MAX_SHOWN, shown

LOGGER = "webhook"

_FIELDS = "fields"
_MAX_TEXT = 4000
"""Longest message or traceback of a line."""
_MAX_FIELD = {"explanation": 1000}
"""Longest values of fields that hold a sentence: those of the API server name the right that is
missing, or the quota that is used up, behind 200 characters of other names."""


def fields(**values: Any) -> dict[str, Any]:
    """Fields for a line, as ``extra``; text is cut to what a line shows, empty text left out."""
    kept = {
        name: shown(value, _MAX_FIELD.get(name, MAX_SHOWN)) if isinstance(value, str) else value
        for name, value in values.items()
        if value not in ("", None)
    }
    return {_FIELDS: kept}


class JsonLines(logging.Formatter):
    """Records as JSON objects."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; whatever is not ASCII or not printable is escaped."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "part": record.name.removeprefix(f"{LOGGER}."),
            "message": shown(record.getMessage(), _MAX_TEXT),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)[-_MAX_TEXT:]
        return json.dumps(line, separators=(",", ":"), default=str)


def set_up(level: str) -> None:
    """Sends all logs of the process to standard error; libraries only from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(LOGGER).setLevel(level.upper())
