"""A cache of one kind's objects, fed by list and watch, as far as the webhook needs them.

It outlives the API server: what it knew stays readable while it can't be asked, the watch goes on
from where it was, and the list is read anew when the server no longer has that moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Generic, TypeVar

from webhook.kube.backoff import Backoff
from webhook.kube.client import PAGE_SIZE, ApiError, Client, Object, Query, Unavailable

_log = logging.getLogger(__name__)

Value = TypeVar("Value")
Key = tuple[str, str]
"""Namespace (empty for what belongs to the cluster) and name."""


@dataclass(frozen=True, slots=True)
class Known(Generic[Value]):
    """What is kept of an object. ``version`` is its resourceVersion, 0 where that is no number."""

    uid: str
    version: int
    value: Value


@dataclass(frozen=True)
class Source(Generic[Value]):
    """What is watched.

    Attributes:
        what: the objects, in words.
        path: finds the path of their collection; asked whenever the list is read.
        keep: an object → the little of it that stays in memory.
        selects: whether an answer to a call is one of what ``query`` selects, so that the watch
            will tell of its changes.
        query: label and field selectors.
        page_size: objects a page: a page is in memory as a whole for a moment.
    """

    what: str
    path: Callable[[], Awaitable[str]]
    keep: Callable[[Object], Value]
    query: Query | None = None
    page_size: int = PAGE_SIZE
    selects: Callable[[Value], bool] = lambda _: True


Listener = Callable[[Key, Known[Value] | None, Known[Value] | None], None]
"""Called with key, what was known before, and what is known now, on every change."""


class Watched(Generic[Value]):
    """The objects of ``source`` as last heard of; ``run`` keeps it so.

    ``problem`` is why it can't be brought up to date at the moment; empty when all is well.
    """

    def __init__(self, client: Client, source: Source[Value]) -> None:
        self._client = client
        self._source = source
        self._items: dict[Key, Known[Value]] = {}
        self._listeners: list[Listener[Value]] = []
        self._synced = asyncio.Event()
        self._version: str | None = None
        self.problem = "not read yet"

    @property
    def synced(self) -> bool:
        """Whether the list has been read once. It stays so when the API server goes away."""
        return self._synced.is_set()

    async def until_synced(self) -> None:
        """Returns when the list has been read."""
        await self._synced.wait()

    def listen(self, listener: Listener[Value]) -> None:
        """Has ``listener`` called on every change from now on; it must not raise."""
        self._listeners.append(listener)

    def get(self, key: Key) -> Known[Value] | None:
        """What is known of an object."""
        return self._items.get(key)

    def items(self) -> Iterator[tuple[Key, Known[Value]]]:
        """All that is known, as it is at this moment."""
        return iter(list(self._items.items()))

    def __len__(self) -> int:
        return len(self._items)

    def put(self, obj: Object) -> Known[Value]:
        """Takes note of ``obj``, as the server has just answered: the watch may be slower."""
        key, known = self._known(obj)
        if self._source.selects(known.value) and self._is_news(key, known.version):
            self._set(key, known)
        return known

    def forget(self, key: Key, uid: str) -> None:
        """Takes note that the object is gone, as the server has just answered."""
        known = self._items.get(key)
        if known is not None and known.uid == uid:
            self._set(key, None)

    async def run(self) -> None:
        """Lists and watches until cancelled."""
        backoff = Backoff()
        while True:
            try:
                path = await self._source.path()
                if self._version is None:
                    self._version = await self._read_list(path)
                    self._synced.set()
                self._fares_well()
                await self._follow(path, self._version, backoff)
                await asyncio.sleep(backoff.pause())
            except (ApiError, Unavailable) as error:
                if isinstance(error, ApiError) and not error.lacks_right:
                    # Too old to go on from, or the version of the API is served no more.
                    self._version = None
                self._fares_ill(str(error))
                await asyncio.sleep(backoff.pause())

    async def _read_list(self, path: str) -> str:
        source = self._source
        listed: dict[Key, Known[Value]] = {}
        version = ""
        pages = self._client.list_pages(path, source.query, page_size=source.page_size)
        async with aclosing(pages):
            async for page in pages:
                version = str(page["metadata"]["resourceVersion"])
                listed |= (self._known(item) for item in page.get("items") or ())
        moment = _number(version)
        for key, known in list(self._items.items()):
            # What was put is newer than the list when it was made while that was read.
            if key not in listed and not known.version > moment > 0:
                self._set(key, None)
        for key, known in listed.items():
            if self._is_news(key, known.version):
                self._set(key, known)
        return version

    async def _follow(self, path: str, version: str, backoff: Backoff) -> None:
        """Takes note of events until the server ends the stream."""
        events: AsyncGenerator[tuple[str, Object], None] = self._client.watch(
            path, version, self._source.query
        )
        async with aclosing(events):
            async for kind, obj in events:
                backoff.reset()
                if kind != "BOOKMARK":
                    self._take(kind, obj)
                self._version = str(obj["metadata"]["resourceVersion"])

    def _take(self, kind: str, obj: Object) -> None:
        key, known = self._known(obj)
        if self._is_news(key, known.version):
            self._set(key, None if kind == "DELETED" else known)

    def _known(self, obj: Object) -> tuple[Key, Known[Value]]:
        metadata: Mapping[str, str] = obj["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        version = _number(metadata.get("resourceVersion", ""))
        return key, Known(metadata.get("uid", ""), version, self._source.keep(obj))

    def _is_news(self, key: Key, version: int) -> bool:
        """Whether a state is none older than is known: answers to calls overtake the watch."""
        known = self._items.get(key)
        return known is None or version == 0 or version >= known.version

    def _set(self, key: Key, known: Known[Value] | None) -> None:
        before = self._items.pop(key, None)
        if known is not None:
            self._items[key] = known
        if before == known:
            return
        for listener in self._listeners:
            listener(key, before, known)

    def _fares_well(self) -> None:
        if self.problem:
            _log.info("%s: watched, %d known", self._source.what, len(self._items))
        self.problem = ""

    def _fares_ill(self, problem: str) -> None:
        if self.problem != problem:
            _log.warning("%s can't be watched: %s", self._source.what, problem)
        self.problem = problem


def _number(version: str) -> int:
    """A resourceVersion as the number that Kubernetes says it is since 1.35, and always was."""
    return int(version) if version.isdecimal() else 0
