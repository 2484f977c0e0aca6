"""The plain port: /livez, /readyz and /metrics."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from webhook.observed.metrics import CONTENT_TYPE, Metrics

Check = Callable[[], bool]


class Readiness:
    """Named checks, each of which has to hold; once the process ends, none does."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}
        self._is_ending = False

    def add(self, name: str, check: Check) -> None:
        """Asks ``check`` from now on."""
        self._checks[name] = check

    def end(self) -> None:
        """The process ends: no more reviews should come here."""
        self._is_ending = True

    @property
    def states(self) -> dict[str, bool]:
        """Whether each check holds."""
        return {
            **{name: check() for name, check in self._checks.items()},
            "serving": not self._is_ending,
        }

    @property
    def is_ready(self) -> bool:
        """Whether all checks hold."""
        return all(self.states.values())


class Probes:
    """Answers the plain port."""

    def __init__(self, readiness: Readiness, metrics: Metrics) -> None:
        self._readiness = readiness
        self._metrics = metrics

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """One request."""
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, headers={"Allow": "GET, HEAD"})
        match request.path:
            case "/livez":
                return web.Response(text="ok\n")
            case "/readyz":
                return self._ready()
            case "/metrics":
                headers = {"Content-Type": CONTENT_TYPE}
                return web.Response(body=self._metrics.page(), headers=headers)
            case _:
                return web.Response(status=404)

    def _ready(self) -> web.Response:
        states = self._readiness.states
        lines = [f"[{'+' if holds else '-'}] {name}\n" for name, holds in states.items()]
        return web.Response(text="".join(lines), status=200 if all(states.values()) else 503)
