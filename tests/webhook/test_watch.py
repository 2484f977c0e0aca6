"""The watch cache where order matters: answers that overtake events, lists that are read anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from tests.controlplane.waiting import eventually
from webhook.kube.backoff import Backoff
from webhook.kube.client import ApiError, Unavailable
from webhook.kube.watch import Source, Watched

pytestmark = pytest.mark.anyio

Step = Exception | tuple[str, Any]
GONE = ApiError(410, "Expired", "too old resource version")


def obj(name: str, version: int, uid: str = "") -> dict[str, Any]:
    metadata = {"namespace": "ns", "name": name, "uid": uid or name}
    return {"metadata": metadata | {"resourceVersion": str(version)}}


class Scripted:
    """Plays an API server: the n-th list, and the n-th watch, are as given."""

    def __init__(self, lists: Iterable[Any], watches: Iterable[list[Step]]) -> None:
        self.lists = list(lists)
        self.watches = list(watches)
        self.watched_from: list[str] = []

    async def list_pages(self, path: str, query: Any, page_size: int) -> AsyncIterator[Any]:
        answer = self.lists.pop(0)
        if isinstance(answer, Exception):
            raise answer
        version, items = answer
        for item in items:
            yield {"metadata": {"resourceVersion": str(version)}, "items": [item]}
        yield {"metadata": {"resourceVersion": str(version)}}

    async def watch(self, path: str, version: str, query: Any) -> AsyncIterator[tuple[str, Any]]:
        self.watched_from.append(version)
        if not self.watches:
            await asyncio.Event().wait()
        for step in self.watches.pop(0):
            if isinstance(step, Exception):
                raise step
            yield step


def watched(server: Scripted) -> Watched[int]:
    async def path() -> str:
        return "/apis/example.com/v1/things"

    client: Any = server
    return Watched(client, Source("things", path, lambda o: int(o["metadata"]["resourceVersion"])))


async def played(server: Scripted, watches: int) -> Watched[int]:
    """A cache after so many watches have begun."""
    cache = watched(server)
    task = asyncio.create_task(cache.run())
    await eventually(lambda: len(server.watched_from) >= watches)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return cache


def names(cache: Watched[int]) -> dict[str, int]:
    return {name: known.value for (_, name), known in cache.items()}


async def test_goes_on_from_the_last_version_that_it_heard_of() -> None:
    events: list[Step] = [
        ("ADDED", obj("b", 11)),
        ("MODIFIED", obj("a", 12)),
        ("DELETED", obj("b", 13)),
        ("BOOKMARK", {"metadata": {"resourceVersion": "20"}}),
    ]
    server = Scripted([(10, [obj("a", 5)])], [events, [Unavailable("cut off")]])
    cache = await played(server, 3)
    assert server.watched_from == ["10", "20", "20"]
    assert names(cache) == {"a": 12}


async def test_a_version_that_is_gone_has_the_list_read_anew() -> None:
    """What was deleted, made and replaced between the two lists is told to listeners."""
    server = Scripted(
        [(10, [obj("a", 1), obj("b", 2), obj("c", 3)]), (50, [obj("a", 1), obj("b", 40, "new")])],
        [[GONE], []],
    )
    cache = watched(server)
    heard: list[tuple[str, str | None, str | None]] = []

    def listen(key: Any, before: Any, now: Any) -> None:
        heard.append((key[1], before and before.uid, now and now.uid))

    cache.listen(listen)
    task = asyncio.create_task(cache.run())
    await eventually(lambda: len(server.watched_from) >= 2)
    task.cancel()
    assert server.watched_from[:2] == ["10", "50"]
    assert names(cache) == {"a": 1, "b": 40}
    assert heard == [
        ("a", None, "a"), ("b", None, "b"), ("c", None, "c"),
        ("c", "c", None), ("b", "b", "new"),
    ]  # fmt: skip


async def test_an_answer_overtakes_the_watch() -> None:
    """Events that are older than what a call has answered change nothing."""
    late: list[Step] = [("ADDED", obj("a", 20, "old")), ("DELETED", obj("a", 25, "old"))]
    server = Scripted([(10, [])], [late, [("DELETED", obj("a", 40, "new"))]])
    cache = watched(server)
    cache.put(obj("a", 30, "new"))
    task = asyncio.create_task(cache.run())
    await eventually(lambda: len(server.watched_from) == 2)
    assert server.watched_from == ["10", "25"]
    await eventually(lambda: len(server.watched_from) == 3)
    task.cancel()
    assert names(cache) == {}


async def test_what_was_made_while_the_list_was_read_stays() -> None:
    server = Scripted([(10, [])], [])
    cache = watched(server)
    cache.put(obj("older", 9))
    cache.put(obj("newer", 11))
    task = asyncio.create_task(cache.run())
    await asyncio.wait_for(cache.until_synced(), 5)
    task.cancel()
    assert names(cache) == {"newer": 11}


async def test_forgets_only_the_one_that_was_meant() -> None:
    cache = watched(Scripted([], []))
    cache.put(obj("a", 5, "second"))
    cache.forget(("ns", "a"), "first")
    assert names(cache) == {"a": 5}
    cache.forget(("ns", "a"), "second")
    assert names(cache) == {}


async def test_a_list_that_fails_half_way_changes_nothing() -> None:
    server = Scripted([(10, [obj("a", 1)]), GONE, Unavailable("down"), (30, [])], [[GONE]])
    cache = watched(server)
    task = asyncio.create_task(cache.run())
    await asyncio.wait_for(cache.until_synced(), 5)
    await eventually(lambda: "down" in cache.problem)
    assert names(cache) == {"a": 1}
    assert cache.synced
    await eventually(lambda: cache.problem == "")
    task.cancel()
    assert names(cache) == {}


async def test_nothing_is_asked_without_a_pause() -> None:
    """A server, or a proxy, that ends every stream at once is not asked in a tight loop."""
    server = Scripted([(10, [])], [[] for _ in range(1000)])
    task = asyncio.create_task(watched(server).run())
    await asyncio.sleep(0.5)
    task.cancel()
    assert len(server.watched_from) < 10


def test_pauses_grow_to_a_longest_one() -> None:
    backoff = Backoff(0.1, 15.0)
    pauses = [backoff.pause() for _ in range(20)]
    nominal = [0.1 * 2**n for n in range(8)] + [15.0] * 12
    assert all(n / 2 <= pause <= n for pause, n in zip(pauses, nominal, strict=True))
    backoff.reset()
    assert backoff.pause() <= 0.1
