"""One replica of a webhook that does nothing but serve with certificates of its own.

A process, so that a test can kill it. It takes its settings as JSON in its only argument. Each
answer closes its connection: every admission is a handshake, which is what the tests are about.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
from datetime import timedelta

from aiohttp import web

from webhook.certificates.authority import Lifetimes
from webhook.certificates.own import OwnCertificates, OwnSettings
from webhook.kube.client import Client
from webhook.kube.lease import Leadership, Timing

SEEN_LABEL = "llmfit.test/seen-by-webhook"


async def mutate(request: web.Request) -> web.Response:
    """Allow, and label the pod so that a test sees that it came by."""
    review = await request.json()
    labels = review["request"]["object"]["metadata"].get("labels")
    patch = [{"op": "add", "path": "/metadata/labels", "value": {**(labels or {}), SEEN_LABEL: ""}}]
    response = {
        "uid": review["request"]["uid"],
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": base64.b64encode(json.dumps(patch).encode()).decode(),
    }
    answer = web.json_response({**review, "response": response})
    answer.force_close()
    return answer


async def main() -> None:
    """Serve on the shared port and on one of this replica's own, from when it is ready on."""
    given = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    settings = OwnSettings(
        namespace=given["namespace"],
        configuration=given["configuration"],
        lifetimes=Lifetimes(
            authority=timedelta(seconds=given["authority_seconds"]),
            serving=timedelta(seconds=given["serving_seconds"]),
            renew_at=given["renew_at"],
            backdate=timedelta(seconds=given["backdate_seconds"]),
        ),
        poll_seconds=given["poll_seconds"],
        settle_seconds=given["settle_seconds"],
    )
    async with await Client.connect() as client, asyncio.TaskGroup() as group:
        leadership = Leadership(
            client, given["namespace"], "llmfit-webhook", given["identity"], Timing(3, 2, 0.4)
        )
        certificates = OwnCertificates(client, lambda: leadership.is_leader, settings)
        group.create_task(leadership.run())
        group.create_task(certificates.run())
        while not certificates.ready:
            await asyncio.sleep(0.02)
        application = web.Application()
        application.router.add_post("/mutate", mutate)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        for port in (given["port"], given["own_port"]):
            context = certificates.ssl_context
            site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=context, reuse_port=True)
            await site.start()


if __name__ == "__main__":
    asyncio.run(main())
