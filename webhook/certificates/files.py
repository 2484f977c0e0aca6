"""A certificate in files: given by the user, or mounted from a Secret of cert-manager."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from datetime import datetime

from webhook.certificates.complaint import Complaint
from webhook.certificates.reload import ServedChain

_log = logging.getLogger(__name__)

# A certificate with its chain and a key are a few kilobytes.
FILE_MAX_BYTES = 1024 * 1024


class FileCertificates:
    """Serves what two PEM files hold, and looks at them every ``poll_seconds`` for something new.

    Reading beats notifications here: a mounted Secret changes by a link that is swapped, and the
    kubelet itself takes a minute for it. Files that can't be used are logged, and what was served
    goes on. The webhook configuration's caBundle is not touched in this mode.
    """

    def __init__(self, certificate_file: str, key_file: str, poll_seconds: float = 10.0) -> None:
        self._chain = ServedChain()
        self.ssl_context: ssl.SSLContext = self._chain.context
        self._files = (certificate_file, key_file)
        self._poll_seconds = poll_seconds
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
        while True:
            self.load()
            await asyncio.sleep(self._poll_seconds)

    def load(self) -> None:
        """Serve what the files hold now; a problem is logged once."""
        certificate_file, key_file = self._files
        try:
            changed = self._chain.serve(_read(certificate_file), _read(key_file))
        except (OSError, ValueError) as error:
            self._complaint.say(f"TLS files {certificate_file} and {key_file}: {error}")
            return
        self._complaint.over()
        if changed:
            _log.info("serving the certificate of %s until %s", certificate_file, self.expires_at)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        content = file.read(FILE_MAX_BYTES + 1)
    if len(content) > FILE_MAX_BYTES:
        raise ValueError(f"{os.path.basename(path)} is longer than {FILE_MAX_BYTES} bytes")
    return content
