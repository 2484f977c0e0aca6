"""The caBundle of one webhook in a MutatingWebhookConfiguration.

Only the leader writes it: replicas of two releases, or two with different views of the Secret,
would otherwise undo each other's writes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from cryptography import x509

from webhook.certificates.material import pem
from webhook.kube.client import ApiError, Client, Object
from webhook.kube.paths import path

_API = ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations")


@dataclass(frozen=True)
class Trusted:
    """What the configuration says now.

    Attributes:
        certificates: the CAs in its caBundle; none where it is empty or cannot be read.
        bundle: the field itself, or ``None`` where it is absent.
        index: the webhook's place in the configuration.
    """

    certificates: tuple[x509.Certificate, ...]
    bundle: str | None
    index: int


class WebhookTrust:
    """The named webhook of a configuration. Nothing but its caBundle is ever written.

    Every method raises ``ApiError`` or ``Unavailable`` with the API server's sentence.
    """

    def __init__(self, client: Client, configuration: str, webhook: str) -> None:
        self._client = client
        self._webhook = webhook
        self._configuration = configuration
        self._path = path(*_API, name=configuration)

    async def read(self) -> Trusted | None:
        """What is trusted now, or ``None`` where there is no such configuration or webhook."""
        try:
            found = await self._client.get(self._path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return self._trusted(found)

    async def write(self, before: Trusted, certificates: Sequence[x509.Certificate]) -> bool:
        """Make the caBundle hold exactly ``certificates``; whether that was a change.

        The patch applies to the configuration as it was read; where somebody has changed that
        meanwhile the API server refuses it (``ApiError``), and the next look starts anew.
        """
        wanted = base64.b64encode(pem(certificates)).decode()
        if before.bundle == wanted:
            return False
        client = f"/webhooks/{before.index}/clientConfig"
        patch = [
            {"op": "test", "path": f"/webhooks/{before.index}/name", "value": self._webhook},
            {"op": "add", "path": f"{client}/caBundle", "value": wanted},
        ]
        if before.bundle is not None:
            patch.insert(1, {"op": "test", "path": f"{client}/caBundle", "value": before.bundle})
        await self._client.json_patch(self._path, patch)
        return True

    async def changes(self) -> AsyncGenerator[None, None]:
        """One item for each change of the configuration, and one for it as it is at first."""
        query = {"fieldSelector": f"metadata.name={self._configuration}"}
        async for kind, _ in self._client.watch(path(*_API), "", query):
            if kind != "BOOKMARK":
                yield

    def _trusted(self, configuration: Object) -> Trusted | None:
        for index, each in enumerate(configuration.get("webhooks") or []):
            if each.get("name") == self._webhook:
                bundle = each["clientConfig"].get("caBundle")
                return Trusted(_certificates(bundle or ""), bundle, index)
        return None


def _certificates(bundle: str) -> tuple[x509.Certificate, ...]:
    try:
        return tuple(x509.load_pem_x509_certificates(base64.b64decode(bundle, validate=True)))
    except (ValueError, binascii.Error):
        return ()
