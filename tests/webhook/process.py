"""The webhook as a process whose cluster is made up: ``python -m tests.webhook.process FLAGS``.

While the file in LLMFIT_TEST_HOLD exists, no template is made.
"""

from __future__ import annotations

import asyncio
import os
import sys

from tests.webhook.hosting import Cluster
from webhook.assembly import assemble, file_certificates
from webhook.observed import logs
from webhook.settings import read_settings


class Held(Cluster):
    """A cluster that takes its time while a file is there, and keeps nothing."""

    async def ensure(self, template: dict[str, object], owner: dict[str, object] | None) -> None:
        while os.path.exists(os.environ.get("LLMFIT_TEST_HOLD", "")):
            await asyncio.sleep(0.01)


async def serve() -> None:
    settings = read_settings(sys.argv[1:])
    logs.set_up(settings.log_level)
    cluster = Held()
    certificates = file_certificates(settings)
    assert certificates is not None
    await assemble(settings, cluster, cluster, certificates).run()


if __name__ == "__main__":
    asyncio.run(serve())
