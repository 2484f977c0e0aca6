"""The webhook over a cluster in memory: ``python -m tests.bench.admission.ours FLAGS``.

All of it is the real service, caches and keeper of templates included. What is made up is the API
server: it makes templates and nothing else, and no watch tells of anything. Writes its port to
standard output.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

from tests.bench.admission.review import NAMESPACE
from webhook.assembly import assemble, file_certificates
from webhook.kube.client import Client, Object
from webhook.observed import logs
from webhook.observed.metrics import Metrics
from webhook.service import Service
from webhook.settings import Settings, read
from webhook.state import ClusterState
from webhook.templates.keeper import TemplateKeeper


class _ApiServer:
    """Answers the two calls that new pods lead to."""

    async def get(self, _path: str) -> Object:
        return {"metadata": {"name": NAMESPACE, "uid": "namespace"}}

    async def create(self, _path: str, template: Object) -> Object:
        return {**template, "metadata": {**template["metadata"], "uid": "template"}}


async def _serve(settings: Settings) -> None:
    client = cast("Client", _ApiServer())
    state, metrics = ClusterState(client), Metrics()
    keeper = TemplateKeeper(client, state.templates, on_made=metrics.templates_made.inc)
    certificates = file_certificates(settings)
    assert certificates is not None
    service = assemble(settings, state, keeper, certificates, metrics=metrics)
    tell = asyncio.create_task(_tell_port(service))
    await service.run()
    await tell


async def _tell_port(service: Service) -> None:
    while not service.tls.port:
        await asyncio.sleep(0.01)
    print(service.tls.port, flush=True)


if __name__ == "__main__":
    given = read(Settings, sys.argv[1:])
    logs.set_up(given.log_level)
    asyncio.run(_serve(given))
