"""Keeping templates: what a pod refers to is there before the pod is.

A template's name is made from its spec, so a thousand pods share one, and nothing is ever edited
but the list of its owners. What is there already is known from a watch and costs no call.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from webhook.kube.backoff import Backoff
from webhook.kube.client import ApiError, Client, Object, Unavailable
from webhook.kube.watch import Key, Known, Watched
from webhook.templates.known import OWNERS_MAX, KnownTemplate, canonical, collection, own_path

_log = logging.getLogger(__name__)

ENSURE_SECONDS = 3.0
_READ_ALIKE_MAX = 1000
_COMPARED_MAX = 1000


class Keeper(Protocol):
    """Makes sure of templates."""

    def has(self, template: Object, owner: Object | None) -> bool:
        """Whether ``ensure`` would find nothing to do."""

    async def ensure(self, template: Object, owner: Object | None) -> None:
        """Makes ``template`` where it is absent, and ``owner`` (an owner reference) one of its own.

        Raises:
            Unavailable: the API server did not answer.
            ApiError: it refused.
        """


class _Wanted(NamedTuple):
    """A template that has to be there, with an owner: the reference of its pod."""

    template: Object
    key: Key
    owner: Object | None
    owner_uid: str | None

    @property
    def reference(self) -> Object:
        """The owner, without what only the pod's reference says: that it is the controller."""
        owner = self.owner or {}
        return {field: owner.get(field) for field in ("apiVersion", "kind", "name", "uid")}

    def __str__(self) -> str:
        return f"ResourceClaimTemplate {'/'.join(self.key)}"


@dataclass(frozen=True)
class _Running:
    owner_uid: str | None
    task: asyncio.Task[None]


class TemplateKeeper:
    """Makes sure of templates by what ``templates``, a watch, knows of them.

    Reviews that need the same at the same time share one call and its outcome. ``ensure`` ends
    within ``seconds``. ``on_made`` is told of each template that was made.
    """

    def __init__(
        self,
        client: Client,
        templates: Watched[KnownTemplate],
        seconds: float = ENSURE_SECONDS,
        on_made: Callable[[], None] = lambda: None,
    ) -> None:
        self._client = client
        self._templates = templates
        self._seconds = seconds
        self._on_made = on_made
        self._running: dict[Key, _Running] = {}
        # uid of a template, and a spec that the server has been found to read as the same.
        self._read_alike: dict[str, bytes] = {}
        # What was last compared and is the same: a spec, which nobody changes, its version, and
        # what is known of the template.
        self._compared: dict[Key, tuple[Object, str, Known[KnownTemplate]]] = {}

    def has(self, template: Object, owner: Object | None) -> bool:
        """Whether ``ensure`` would find nothing to do."""
        return self._is_there(_wanted(template, owner))

    async def ensure(self, template: Object, owner: Object | None) -> None:
        """Makes ``template`` where it is absent, and ``owner`` (an owner reference) one of its own.

        Raises:
            Unavailable: the API server did not answer, or not in time.
            ApiError: it refused, or there is a template of this name with another spec.
        """
        wanted = _wanted(template, owner)
        try:
            async with asyncio.timeout(self._seconds):
                while not self._is_there(wanted) and not await self._join(wanted):
                    pass
        except TimeoutError:
            raise Unavailable(f"{wanted} can't be made within {self._seconds:g} s") from None

    def _is_there(self, wanted: _Wanted) -> bool:
        known = self._templates.get(wanted.key)
        return (
            known is not None
            and not known.value.is_ending
            and self._is_alike(known, wanted)
            and not _lacks_owner(known.value, wanted)
        )

    async def _join(self, wanted: _Wanted) -> bool:
        """Has ``wanted`` made, by the task that does it already where there is one.

        False when that task was for another owner: what it has left to do is looked at anew.
        """
        running = self._running.get(wanted.key)
        if running is not None and running.owner_uid != wanted.owner_uid:
            # Its failure is for others, too.
            await asyncio.wait({running.task})
            return False
        if running is None:
            task = asyncio.create_task(self._make(wanted))
            running = self._running[wanted.key] = _Running(wanted.owner_uid, task)
            task.add_done_callback(lambda _: self._running.pop(wanted.key))
            task.add_done_callback(_retrieve)
        # Who gives up waiting must not end it for the others.
        await asyncio.shield(running.task)
        return True

    async def _make(self, wanted: _Wanted) -> None:
        """Tries until ``wanted`` is there; races with others are lost and tried again.

        So is what may work in a moment. It ends before those who wait for it, so that they hear
        why it could not be done.
        """
        backoff = Backoff(0.02, 0.5)
        failure: Exception | None = None
        try:
            async with asyncio.timeout(self._seconds * 0.9):
                while True:
                    try:
                        if await self._step(wanted):
                            return
                    except Unavailable as error:
                        failure = error
                    except ApiError as error:
                        if not error.lacks_right:
                            raise
                        failure = error
                    await asyncio.sleep(backoff.pause())
        except TimeoutError:
            if failure is not None:
                raise failure from None
            raise

    async def _step(self, wanted: _Wanted) -> bool:
        """One try; false where the state that it began from was no longer true."""
        known = self._templates.get(wanted.key)
        if known is None or known.value.is_ending:
            known = await self._create(wanted)
        if known is None or known.value.is_ending:
            return False
        await self._check_spec(known, wanted)
        if _lacks_owner(known.value, wanted):
            return await self._add_owner(known, wanted)
        return True

    async def _create(self, wanted: _Wanted) -> Known[KnownTemplate] | None:
        """The template as made, or as another has made it; ``None`` when that is gone already."""
        metadata = dict(wanted.template["metadata"])
        if wanted.owner is not None:
            metadata["ownerReferences"] = [wanted.reference]
        try:
            made = await self._client.create(
                collection(wanted.template), {**wanted.template, "metadata": metadata}
            )
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            return await self._read(wanted)
        _log.info("%s is made", wanted)
        self._on_made()
        return self._templates.put(made)

    async def _read(self, wanted: _Wanted) -> Known[KnownTemplate] | None:
        try:
            found = await self._client.get(own_path(wanted.template))
        except ApiError as error:
            if error.reason == "NotFound":
                return None
            raise
        return self._templates.put(found)

    async def _add_owner(self, known: Known[KnownTemplate], wanted: _Wanted) -> bool:
        """Adds the owner to the very template that is known; false when there is another now."""
        patch = {"metadata": {"uid": known.uid, "ownerReferences": [wanted.reference]}}
        try:
            # Owners are merged by uid: what others have added meanwhile stays.
            patched = await self._client.strategic_patch(own_path(wanted.template), patch)
        except ApiError as error:
            if error.reason not in {"NotFound", "Conflict", "Invalid"}:
                raise
            now = await self._read(wanted)
            # Another uid is invalid, and so is an owner reference that can be none.
            if now is not None and now.uid == known.uid and error.reason == "Invalid":
                raise
            if now is None:
                self._templates.forget(wanted.key, known.uid)
            return False
        self._templates.put(patched)
        return True

    def _is_alike(self, known: Known[KnownTemplate], wanted: _Wanted) -> bool:
        stated, version = wanted.template["spec"], wanted.template["apiVersion"]
        before = self._compared.get(wanted.key)
        if before and before[0] is stated and before[1] == version and before[2] is known:
            return True
        spec = canonical(stated)
        same = known.value.api_version == version and known.value.spec == spec
        if not same and self._read_alike.get(known.uid) != spec:
            return False
        if len(self._compared) >= _COMPARED_MAX:
            self._compared.clear()
        self._compared[wanted.key] = (stated, version, known)
        return True

    async def _check_spec(self, known: Known[KnownTemplate], wanted: _Wanted) -> None:
        """Raises ApiError where the template that is there is not the one that is wanted.

        The server may write more into a spec than it was sent, so it is asked what it would make
        of ours before the two are called different.
        """
        if self._is_alike(known, wanted):
            return
        there = await self._client.get(own_path(wanted.template))
        name = wanted.key[1]
        metadata = {"generateName": f"{name}-", "namespace": wanted.key[0]}
        ours = await self._client.create(
            collection(wanted.template), {**wanted.template, "metadata": metadata}, dry_run=True
        )
        if canonical(ours["spec"]) != canonical(there["spec"]):
            raise ApiError(
                409,
                "AlreadyExists",
                f"{wanted} is there with another spec than its name says, so the webhook did not "
                "make it; delete it, and the webhook makes its own",
            )
        if len(self._read_alike) >= _READ_ALIKE_MAX:
            self._read_alike.clear()
        self._read_alike[known.uid] = canonical(wanted.template["spec"])


def _wanted(template: Object, owner: Object | None) -> _Wanted:
    metadata = template["metadata"]
    key = (metadata["namespace"], metadata["name"])
    return _Wanted(template, key, owner, None if owner is None else str(owner["uid"]))


def _lacks_owner(known: KnownTemplate, wanted: _Wanted) -> bool:
    """Whether the owner has yet to be added. A template of another maker is not touched."""
    return (
        wanted.owner_uid is not None
        and wanted.owner_uid not in known.owners
        and known.is_own
        and len(known.owners) < OWNERS_MAX
    )


def _retrieve(task: asyncio.Task[None]) -> None:
    """Takes note of a failure whose waiters have all gone."""
    if not task.cancelled():
        task.exception()
