"""``python -m webhook`` and ``python -m webhook api``: settings, logs, run.

What goes wrong becomes an exit code here only.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

from kubectl_llmfit.core.reasons import Refused
from webhook.observed import logs
from webhook.settings import BadSettingsError, EndpointSettings, Settings, read

API = "api"
"""The word for the JSON endpoint alone."""

OK, FAILED, BAD_SETTINGS = 0, 1, 2

_log = logging.getLogger("webhook.main")


def main(arguments: Sequence[str]) -> int:
    """Runs the webhook, or the JSON endpoint alone; the exit code."""
    words = list(arguments)
    alone = words[:1] == [API]
    settings: Settings | EndpointSettings
    try:
        settings = read(EndpointSettings, words[1:]) if alone else read(Settings, words)
    except BadSettingsError as error:
        sys.stderr.write("".join(f"error: {line}\n" for line in str(error).splitlines()))
        return BAD_SETTINGS
    logs.set_up(settings.log_level)
    try:
        asyncio.run(_serving(settings))
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


def _serving(settings: Settings | EndpointSettings) -> Coroutine[Any, Any, None]:
    """What is run. Imported late: help and mistakes in settings need none of it."""
    if isinstance(settings, Settings):
        from webhook import assembly

        return assembly.serve(settings)
    from webhook.endpoint import alone

    return alone.serve(settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
