"""Certificates out of files, and hot reload into a server that has connections open."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import ssl
import warnings
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from webhook.certificates import Certificates
from webhook.certificates.authority import Issued, Lifetimes, new_authority, new_serving
from webhook.certificates.files import FileCertificates
from webhook.certificates.reload import ServedChain

NOW = datetime.now(UTC).replace(microsecond=0)
LIVES = Lifetimes()
AUTHORITY = new_authority(NOW, LIVES)
NAME = "llmfit-webhook.llmfit-system.svc"


def issued() -> Issued:
    return new_serving(AUTHORITY, [NAME], NOW, LIVES)


def put(folder: Path, made: Issued) -> None:
    """As the kubelet swaps a mounted Secret: a new folder, and a link renamed onto the old."""
    content = folder / f"..{made.certificate.serial_number}"
    content.mkdir()
    (content / "tls.crt").write_bytes(made.certificate_pem)
    (content / "tls.key").write_bytes(made.key_pem)
    (folder / "..new").symlink_to(content.name)
    (folder / "..new").replace(folder / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")


def files(folder: Path) -> FileCertificates:
    return FileCertificates(str(folder / "tls.crt"), str(folder / "tls.key"), poll_seconds=0.01)


def client_context() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=AUTHORITY.certificate_pem.decode())


@contextlib.asynccontextmanager
async def server(context: ssl.SSLContext) -> AsyncIterator[int]:
    """Answers each line with itself."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0, ssl=context) as started:
        port: int = started.sockets[0].getsockname()[1]
        yield port


class Connection:
    """A client of the echo server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int) -> Connection:
        context = client_context()
        return cls(
            *await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=NAME)
        )

    @property
    def served(self) -> x509.Certificate:
        tls = self.writer.get_extra_info("ssl_object")
        der = tls.getpeercert(binary_form=True)
        return x509.load_der_x509_certificate(der)

    async def echo(self) -> bool:
        self.writer.write(b"x\n")
        line: bytes = await self.reader.readline()
        return line == b"x\n"

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            await self.writer.wait_closed()


async def served_at(port: int) -> x509.Certificate:
    connection = await Connection.open(port)
    await connection.close()
    return connection.served


def test_it_is_what_the_service_asks_for(tmp_path: Path) -> None:
    certificates: Certificates = files(tmp_path)
    assert not certificates.ready
    assert certificates.expires_at is None


def test_new_files_serve_new_connections_and_open_ones_go_on(tmp_path: Path) -> None:
    first, second = issued(), issued()

    async def scenario() -> None:
        put(tmp_path, first)
        certificates = files(tmp_path)
        running = asyncio.create_task(certificates.run())
        async with server(certificates.ssl_context) as port:
            old = await Connection.open(port)
            assert old.served == first.certificate
            put(tmp_path, second)
            async with asyncio.timeout(10):
                while await served_at(port) != second.certificate:
                    assert await old.echo()
            assert await old.echo()
            assert certificates.expires_at == second.certificate.not_valid_after_utc
            await old.close()
        running.cancel()

    asyncio.run(scenario())


ENCRYPTED = issued().key.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.BestAvailableEncryption(b"secret"),
)


@pytest.mark.parametrize(
    ("certificate", "key"),
    [
        (issued().certificate_pem, issued().key_pem),
        (b"nonsense", issued().key_pem),
        (b"", b""),
        (issued().certificate_pem, b"nonsense"),
        (issued().certificate_pem, ENCRYPTED),
        (b"x" * 2_000_000, issued().key_pem),
        (None, None),
    ],
    ids=["two pairs mixed", "no certificate", "empty", "no key", "encrypted", "2 MB", "no files"],
)
def test_bad_files_are_logged_once_and_the_old_certificate_stays(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    certificate: bytes | None,
    key: bytes | None,
) -> None:
    good = issued()
    put(tmp_path, good)
    certificates = files(tmp_path)
    certificates.load()
    for name, content in (("tls.crt", certificate), ("tls.key", key)):
        (tmp_path / name).unlink()
        if content is not None:
            (tmp_path / name).write_bytes(content)
    caplog.set_level(logging.INFO)
    certificates.load()
    certificates.load()
    (record,) = caplog.records
    assert str(tmp_path / "tls.crt") in record.message
    assert "PRIVATE KEY" not in record.message
    assert certificates.ready

    async def scenario() -> None:
        async with server(certificates.ssl_context) as port:
            assert await served_at(port) == good.certificate

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("version", "taken"),
    [("TLSv1", False), ("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)],
)
def test_tls_below_1_2_is_refused(version: str, taken: bool) -> None:
    made = issued()
    chain = ServedChain()
    chain.serve(made.certificate_pem, made.key_pem)
    context = client_context()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    # Else the client itself refuses old versions, and the test would say nothing of the server.
    context.set_ciphers("ALL:@SECLEVEL=0")
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(back, there, server_hostname=NAME)
    server_end = chain.context.wrap_bio(there, back, server_side=True)

    def handshake() -> None:
        for side in (client, server_end) * 4:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()

    if taken:
        handshake()
        assert server_end.version() == version.replace("_", ".")
    else:
        with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
            handshake()


def test_no_key_is_left_open() -> None:
    made = issued()
    before = len(os.listdir("/proc/self/fd"))
    ServedChain().serve(made.certificate_pem, made.key_pem)
    assert len(os.listdir("/proc/self/fd")) == before
