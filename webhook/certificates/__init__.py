"""The certificate that the webhook serves with, and the API server's trust in it."""

from __future__ import annotations

import ssl
from datetime import datetime
from typing import Protocol


class Certificates(Protocol):
    """Where the serving certificate comes from: a Secret kept by the webhook itself, or files.

    Attributes:
        ssl_context: for the TLS site; new certificates are loaded into this same object, so new
            connections get them and open ones go on.
    """

    ssl_context: ssl.SSLContext

    @property
    def ready(self) -> bool:
        """Whether there is a certificate to serve with."""

    @property
    def expires_at(self) -> datetime | None:
        """When the served certificate ends (UTC); ``None`` before there is one."""

    async def run(self) -> None:
        """Keeps the certificate up to date until cancelled."""
