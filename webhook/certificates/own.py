"""Certificates of the webhook's own: what each replica does with the Secret they share."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from webhook.certificates.authority import Lifetimes, service_names
from webhook.certificates.clock import ServerClock
from webhook.certificates.complaint import Complaint
from webhook.certificates.reload import ServedChain
from webhook.certificates.rotation import Rotation
from webhook.certificates.secret import Foreign, SecretStore, Stored
from webhook.certificates.trust import WebhookTrust
from webhook.kube.client import ApiError, Client, Unavailable

_log = logging.getLogger(__name__)

# Pause between two looks while there is something to do. It also bounds what a dispute with
# another controller over the caBundle costs.
HURRY_SECONDS = 0.2
# A replica with nothing to serve looks often at first and then less, up to the usual pace.
SLOWER = 1.2


@dataclass(frozen=True)
class OwnSettings:
    """What the objects are called, and the pace.

    Attributes:
        namespace: of the Secret and of the Service.
        service: the Service that API servers call; the certificate is for its names.
        secret: where CA and serving certificate are kept.
        configuration: the MutatingWebhookConfiguration.
        webhook: which of the configuration's webhooks is ours.
        lifetimes: of the certificates.
        poll_seconds: how often each replica reads the Secret, and the leader the configuration.
        settle_seconds: how long the configuration has to trust a new CA before it is used: longer
            than any API server needs to see a change of a configuration.
    """

    namespace: str = "llmfit-system"
    service: str = "llmfit-webhook"
    secret: str = "llmfit-webhook-tls"  # noqa: S105 - a name, no password
    configuration: str = "llmfit-webhook"
    webhook: str = "pods.llmfit.ai"
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    poll_seconds: float = 10.0
    settle_seconds: float = 10.0


class OwnCertificates:
    """Serves the chain in the Secret; as the leader also keeps Secret and caBundle right.

    Where the API server does not answer, or the Secret is gone or can't be used, what was served
    goes on. ``leads`` says whether this replica is the leader at this moment.
    """

    def __init__(
        self, client: Client, leads: Callable[[], bool], settings: OwnSettings = OwnSettings()
    ) -> None:
        self._leads = leads
        self._poll_seconds = settings.poll_seconds
        self._chain = ServedChain()
        self.ssl_context: ssl.SSLContext = self._chain.context
        self._store = SecretStore(client, settings.namespace, settings.secret)
        self._trust = WebhookTrust(client, settings.configuration, settings.webhook)
        self._rotation = Rotation(
            self._store,
            self._trust,
            ServerClock(client, settings.namespace),
            service_names(settings.service, settings.namespace),
            leads,
            settings.lifetimes,
            settings.settle_seconds,
        )
        self._woken = asyncio.Event()
        self._complaint = Complaint(_log)

    @property
    def ready(self) -> bool:
        """Whether there is a certificate to serve with."""
        return self._chain.expires_at is not None

    @property
    def expires_at(self) -> datetime | None:
        """When the served certificate ends (UTC); ``None`` before there is one."""
        return self._chain.expires_at

    async def run(self) -> None:
        """Keeps the certificate up to date until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look_again_and_again())
            group.create_task(self._wake_on_changes())

    async def _look_again_and_again(self) -> None:
        pause = HURRY_SECONDS
        while True:
            self._woken.clear()
            if await self._look():
                pause = HURRY_SECONDS
            elif self.ready:
                pause = self._poll_seconds
            else:
                pause = min(pause * SLOWER, self._poll_seconds)
            await asyncio.sleep(min(HURRY_SECONDS, pause))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause - HURRY_SECONDS):
                    await self._woken.wait()

    async def _look(self) -> bool:
        """Read, serve, and as the leader do what is next; whether there is more to do at once."""
        try:
            stored = await self._store.read()
            self._serve(stored)
            written = self._leads() and await self._rotation.step(stored)
        except ApiError as error:
            if error.reason in {"AlreadyExists", "Conflict"}:
                _log.info("another replica has written the Secret first")
                return True
            self._complaint.say(str(error))
            return False
        except (Foreign, Unavailable, ValueError) as error:
            self._complaint.say(str(error))
            return False
        if stored is None:
            self._complaint.say("there is no Secret: the leader makes one", logging.INFO)
        elif stored.material is None:
            self._complaint.say(f"{stored.problem}: the leader replaces it", logging.WARNING)
        else:
            self._complaint.over()
        return written

    def _serve(self, stored: Stored | None) -> None:
        if stored is None or stored.material is None:
            return
        serving = stored.material.serving
        if self._chain.serve(serving.certificate_pem, serving.key_pem):
            serial = f"{serving.certificate.serial_number:x}"
            _log.info("serving certificate %s until %s", serial, self.expires_at)

    async def _wake_on_changes(self) -> None:
        """Look at once when the configuration is changed, so that its trust is soon right again."""
        complaint = Complaint(_log)
        while True:
            try:
                async for _ in self._trust.changes():
                    self._woken.set()
                complaint.over()
            except (ApiError, Unavailable) as error:
                complaint.say(f"changes of the caBundle are seen late: {error}")
            await asyncio.sleep(self._poll_seconds)
