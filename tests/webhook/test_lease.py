"""Leader election where only this process's clock moves."""

from __future__ import annotations

import copy
from typing import Any
from unittest import mock

import pytest

from webhook.kube.client import ApiError, Unavailable
from webhook.kube.lease import Leadership, Timing

pytestmark = pytest.mark.anyio

TIMING = Timing(lease_seconds=15, renew_seconds=10, retry_seconds=2)


class OneLease:
    """The API server's part: one Lease with optimistic locking. ``down`` makes it fail."""

    def __init__(self) -> None:
        self.stored: dict[str, Any] | None = None
        self.version = 0
        self.down = False

    async def get(self, path: str) -> dict[str, Any]:
        self._answer()
        if self.stored is None:
            raise ApiError(404, "NotFound", "no such lease")
        return copy.deepcopy(self.stored)

    async def create(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        self._answer()
        if self.stored is not None:
            raise ApiError(409, "AlreadyExists", "there is one")
        return self._store(obj)

    async def replace(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        self._answer()
        assert self.stored is not None
        if obj["metadata"]["resourceVersion"] != self.stored["metadata"]["resourceVersion"]:
            raise ApiError(409, "Conflict", "it has changed")
        return self._store(obj)

    def _answer(self) -> None:
        if self.down:
            raise Unavailable("down")

    def _store(self, obj: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        self.stored = copy.deepcopy(obj)
        self.stored["metadata"]["resourceVersion"] = str(self.version)
        return copy.deepcopy(self.stored)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def candidate(server: OneLease, identity: str, clock: Clock) -> Leadership:
    client: Any = server
    return Leadership(client, "llmfit-system", "llmfit-webhook", identity, TIMING, clock)


async def test_leads_for_the_renewal_time_and_no_longer() -> None:
    server, clock = OneLease(), Clock()
    first = candidate(server, "first", clock)
    await first._try_once()
    led = {}
    for clock.now in (0.0, 9.9, 10.0, 11.0):
        led[clock.now] = first.is_leader
    assert led == {0.0: True, 9.9: True, 10.0: False, 11.0: False}


async def test_of_two_that_start_at_once_the_slower_finds_nothing_wrong(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """There was no Lease when it looked, and there is one when it makes its own."""
    server, clock = OneLease(), Clock()
    slower = candidate(server, "slower", clock)
    await candidate(server, "faster", clock)._try_once()
    with mock.patch.object(server, "get", side_effect=ApiError(404, "NotFound", "no such lease")):
        await slower._try_once()
    assert not slower.is_leader
    assert caplog.messages == []


async def test_a_process_that_was_stopped_knows_it_at_once() -> None:
    """No renewal, no answer of the server is needed: only its own clock."""
    server, clock = OneLease(), Clock()
    first = candidate(server, "first", clock)
    await first._try_once()
    server.down = True
    clock.now = 3600.0
    assert not first.is_leader


@pytest.mark.parametrize("ahead", [-86400.0, 0.0, 86400.0], ids=["behind", "same", "ahead"])
async def test_never_two_leaders_whatever_their_clocks_say(ahead: float) -> None:
    server, own, others = OneLease(), Clock(), Clock()
    others.now = ahead
    first, second = candidate(server, "first", own), candidate(server, "second", others)
    await first._try_once()
    for step in range(200):
        own.now += 1
        others.now += 1
        # The first is cut off between 50 and 100.
        server.down = 50 <= step < 100
        await first._try_once()
        server.down = False
        await second._try_once()
        assert not (first.is_leader and second.is_leader)
        if step == 49:
            assert first.is_leader
        if step == 66:
            assert second.is_leader
    assert second.is_leader


async def test_labels_that_others_write_are_no_sign_of_life() -> None:
    server, own, others = OneLease(), Clock(), Clock()
    await candidate(server, "dead", own)._try_once()
    second = candidate(server, "second", others)
    for step in range(17):
        assert server.stored is not None
        server.stored["metadata"]["labels"] = {"touched": str(step)}
        server.version += 1
        server.stored["metadata"]["resourceVersion"] = str(server.version)
        await second._try_once()
        others.now += 1
    assert second.is_leader


@pytest.mark.parametrize(
    ("lease", "renew", "retry"), [(10, 10, 2), (15, 2, 2), (15, 10, 0)], ids=str
)
def test_times_that_would_let_two_lead_are_refused(lease: int, renew: int, retry: int) -> None:
    with pytest.raises(ValueError, match="lasts longer"):
        Timing(lease, renew, retry)
