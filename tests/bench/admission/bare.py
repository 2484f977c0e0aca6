"""The least that an aiohttp webhook does: ``python -m tests.bench.admission.bare CERT KEY``.

It reads the body and parses it, and gives every review the same answer. Writes its port to standard
output.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys

from aiohttp import web


async def _allow(request: web.Request) -> web.Response:
    review = json.loads(await request.read())
    response = {"uid": review["request"]["uid"], "allowed": True}
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    return web.Response(body=json.dumps(body).encode(), content_type="application/json")


async def _serve(certificate: str, key: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    app = web.Application()
    app.router.add_post("/mutate", _allow)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:]))
