"""The TLS context of the server, and new certificates put into it while it serves."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator
from datetime import datetime

from cryptography import x509


class ServedChain:
    """A server's TLS context and the chain that it serves at the moment.

    A new chain serves the handshakes that begin after it; connections that are open go on.
    """

    def __init__(self) -> None:
        self.context = _context()
        self._served: bytes | None = None
        self._expires_at: datetime | None = None

    @property
    def expires_at(self) -> datetime | None:
        """When the served certificate ends (UTC); ``None`` before there is one."""
        return self._expires_at

    def serve(self, chain: bytes, key: bytes) -> bool:
        """Serve ``chain`` with ``key`` (both PEM); whether that is a change.

        Raises:
            ValueError: they can't be used together, and why; what was served goes on.
        """
        whole = chain.rstrip() + b"\n" + key
        if whole == self._served:
            return False
        try:
            expires_at = x509.load_pem_x509_certificate(chain).not_valid_after_utc
            # First into a context of no use: a pair that does not match would leave half of
            # itself in the one that serves.
            for context in (_context(), self.context):
                with _in_memory(whole) as path:
                    # Without a password OpenSSL would ask for one on the terminal.
                    context.load_cert_chain(path, password=b"")
        except ssl.SSLError as error:
            reason = (error.reason or "no certificate and key in PEM form").lower()
            raise ValueError(f"certificate and key can't be used: {reason}") from error
        self._served = whole
        self._expires_at = expires_at
        return True


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[str]:
    """The path of a file that is in memory only: OpenSSL takes keys as files, and no key of ours
    is to reach a disk. It also needs no writable folder."""
    descriptor = os.memfd_create("llmfit-webhook-tls", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
