"""The endpoint as a part of the webhook's service: there where a setting asks for it."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx
import pytest

from tests.webhook.hosting import Cluster
from tests.webhook.pki import Pki
from webhook.assembly import assemble, file_certificates
from webhook.settings import read_settings


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


async def port_opens(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            await writer.wait_closed()
            return


async def claim_of_a_service(flags: list[str], port: int | None) -> httpx.Response | None:
    """What the endpoint of a service answers, if it has one."""
    cluster = Cluster()
    settings = read_settings(flags)
    certificates = file_certificates(settings)
    assert certificates is not None
    service = assemble(settings, cluster, cluster, certificates)
    running = asyncio.create_task(service.run())
    try:
        async with asyncio.timeout(30), httpx.AsyncClient(trust_env=False) as client:
            while not service.tls.port:
                await asyncio.sleep(0.01)
            if port is None:
                return None
            await port_opens(port)
            url = f"http://127.0.0.1:{port}/v1/claim"
            return await client.get(url, params={"model": "Qwen/Qwen2.5-7B-Instruct"})
    finally:
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def ports_of(caplog: pytest.LogCaptureFixture) -> set[str]:
    """The ports that the log says are listened on."""
    lines = [record.__dict__.get("fields", {}) for record in caplog.records]
    return {name for line in lines for name in line if name.endswith("_port")}


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_endpoint_of_the_service(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, is_asked_for: bool
) -> None:
    caplog.set_level("INFO", "webhook")
    pki, port = Pki(tmp_path), free_port() if is_asked_for else None
    flags = ["--bind-address", "127.0.0.1", "--tls-port", "0", "--plain-port", "0"]
    flags += ["--tls-cert-file", str(pki.certificate), "--tls-key-file", str(pki.key)]
    if port is not None:
        flags += ["--endpoint-port", str(port)]
    answer = asyncio.run(claim_of_a_service(flags, port))
    assert (answer is not None) is is_asked_for
    assert answer is None or answer.json()["memoryGi"] == 5
    others = {"tls_port", "plain_port"}
    assert ports_of(caplog) == (others | {"endpoint_port"} if is_asked_for else others)
