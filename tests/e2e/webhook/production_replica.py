"""A replica of the webhook, whole, at the pace of tests: ``python -m … FLAGS``, as the real one.

What differs: how long certificates, the Lease and leftovers last (LLMFIT_TEST_PACE, as JSON); that
its ports may be shared with other replicas, which stands for the Service in front of them; and,
where it is asked for, that no connection outlives an answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from datetime import timedelta
from typing import Any

from webhook.assembly import Pace, connected
from webhook.certificates.authority import Lifetimes
from webhook.certificates.own import OwnSettings
from webhook.kube.client import Client
from webhook.kube.lease import Timing
from webhook.observed import logs
from webhook.settings import read_settings
from webhook.templates.sweep import SweepTiming


class SharingPorts(asyncio.SelectorEventLoop):
    """Of processes that listen on one port the kernel chooses one for each connection."""

    async def create_server(self, *positional: Any, **named: Any) -> asyncio.Server:
        return await super().create_server(*positional, **named, reuse_port=True)


def pace(given: dict[str, Any]) -> Pace:
    """From seconds by name, the lease's three, and perhaps the sweeper's two."""
    lifetimes = Lifetimes(
        authority=timedelta(seconds=given["authority_seconds"]),
        serving=timedelta(seconds=given["serving_seconds"]),
        renew_at=given["renew_at"],
        backdate=timedelta(seconds=given["backdate_seconds"]),
    )
    certificates = OwnSettings(
        lifetimes=lifetimes,
        poll_seconds=given["poll_seconds"],
        settle_seconds=given["settle_seconds"],
    )
    return Pace(Timing(*given["lease"]), certificates, SweepTiming(*given.get("sweep", ())))


async def serve() -> None:
    settings = read_settings(sys.argv[1:])
    logs.set_up(settings.log_level)
    given = json.loads(os.environ["LLMFIT_TEST_PACE"])
    async with await Client.connect() as client:
        service = connected(settings, client, pace(given))
        if given.get("every_review_a_handshake"):
            service.tls.end()
        await service.run()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=SharingPorts) as runner:
        runner.run(serve())
