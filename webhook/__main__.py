"""``python -m webhook``: settings, logs, run; what goes wrong becomes an exit code here only."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from kubectl_llmfit.core.reasons import Refused
from webhook.observed import logs
from webhook.settings import BadSettingsError, read_settings

OK, FAILED, BAD_SETTINGS = 0, 1, 2

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Runs the webhook; the exit code."""
    try:
        settings = read_settings(list(arguments))
    except BadSettingsError as error:
        sys.stderr.write("".join(f"error: {line}\n" for line in str(error).splitlines()))
        return BAD_SETTINGS
    logs.set_up(settings.log_level)
    try:
        # Imported late: help and mistakes in settings need none of it.
        from webhook.assembly import serve

        asyncio.run(serve(settings))
    except (BadSettingsError, Refused) as error:
        for line in str(error).splitlines():
            _log.error(line)
        return BAD_SETTINGS
    except OSError as error:
        _log.error("%s", error)
        return FAILED
    except Exception:  # noqa: BLE001 - the last one to hear of it
        _log.exception("the webhook ends by a fault")
        return FAILED
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
