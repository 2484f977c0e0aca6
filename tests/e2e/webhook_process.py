"""The webhook as a process over the tests' own client of the API server.

``python -m tests.e2e.webhook_process FLAGS``; LLMFIT_TEST_URL, _CA and _TOKEN name the server.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from kubectl_llmfit.core.drivers.auto import Published
from tests.controlplane.client import ApiClient, Object
from tests.controlplane.client import ApiError as HarnessError
from webhook.assembly import assemble
from webhook.kube.client import ApiError
from webhook.observed import logs
from webhook.settings import read_settings


class Direct:
    """Surroundings and keeper that ask the API server each time."""

    api_version = "resource.k8s.io/v1"

    def __init__(self) -> None:
        environment = os.environ
        self._api = ApiClient(
            environment["LLMFIT_TEST_URL"],
            Path(environment["LLMFIT_TEST_CA"]),
            environment["LLMFIT_TEST_TOKEN"],
        )

    def published(self) -> Published | None:
        return None

    def namespace(self, name: str) -> Object | None:
        return self._api.find("v1", "Namespace", name)

    async def learn_namespace(self, name: str) -> None:
        pass

    def lacks(self, device_class: str) -> bool:
        return self._api.find("resource.k8s.io/v1", "DeviceClass", device_class) is None

    async def ensure(self, template: Object, owner: Object | None) -> None:
        try:
            await asyncio.to_thread(self._api.create, template)
        except HarnessError as error:
            reason, message = error.status.get("reason", ""), error.status.get("message", "")
            if reason != "AlreadyExists":
                raise ApiError(error.code, reason, message) from error


async def serve() -> None:
    settings = read_settings(sys.argv[1:])
    logs.set_up(settings.log_level)
    direct = Direct()
    await assemble(settings, direct, direct).run()


if __name__ == "__main__":
    asyncio.run(serve())
