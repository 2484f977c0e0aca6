"""The webhook as a process whose cluster is made up: ``python -m tests.webhook.process FLAGS``.

While the file in LLMFIT_TEST_HOLD exists, no template is made.
"""

from __future__ import annotations

import asyncio
import os
import sys

from tests.webhook.hosting import Cluster, Object
from webhook.assembly import assemble, file_certificates
from webhook.observed import logs
from webhook.settings import read_settings

_REMEMBERED = 1000


class Held(Cluster):
    """A cluster that takes its time while a file is there, and keeps nothing but names."""

    def __init__(self) -> None:
        super().__init__()
        self._names: set[str] = set()

    def has(self, template: Object, owner: Object | None) -> bool:
        return template["metadata"]["name"] in self._names and not self._is_held

    async def ensure(self, template: Object, owner: Object | None) -> None:
        while self._is_held:
            await asyncio.sleep(0.01)
        if len(self._names) < _REMEMBERED:
            self._names.add(template["metadata"]["name"])

    @property
    def _is_held(self) -> bool:
        return os.path.exists(os.environ.get("LLMFIT_TEST_HOLD", ""))


async def serve() -> None:
    settings = read_settings(sys.argv[1:])
    logs.set_up(settings.log_level)
    cluster = Held()
    certificates = file_certificates(settings)
    assert certificates is not None
    await assemble(settings, cluster, cluster, certificates).run()


if __name__ == "__main__":
    asyncio.run(serve())
