"""Renewal by the leader, in an order in which trust always comes first.

The Secret is the one source of truth: replicas serve its chain, and the leader makes the webhook
configuration trust its CAs. A new CA therefore goes through three steps:

1. The leader makes it, keeps it in memory, and adds it to the caBundle.
2. Once the configuration has held it for ``settle_seconds``, so that every API server has seen it,
   the leader writes the CA and a serving certificate of its into the Secret. Only now can a
   replica serve the new chain.
3. The CA before stays in the caBundle until the last serving certificate that it signed has
   expired. No replica need be asked what it serves: one that still had the old chain then would
   serve an expired one. Its key is not kept, so the long overlap costs little.

A leader that ends between two steps leaves nothing behind but a CA in the caBundle that nobody has
the key of; the next leader takes it out and begins anew. A Secret that was deleted or made unusable
is a new CA too: the CAs of the caBundle stay trusted, as some replica may serve a chain of theirs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from webhook.certificates.authority import (
    Due,
    Issued,
    Lifetimes,
    is_own_authority,
    new_authority,
)
from webhook.certificates.clock import ServerClock
from webhook.certificates.material import Material, succeeding
from webhook.certificates.secret import SecretStore, Stored
from webhook.certificates.trust import Trusted, WebhookTrust

if TYPE_CHECKING:
    from cryptography import x509

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Candidate:
    """A new CA that is not in the Secret yet, and since when it is trusted (monotonic seconds)."""

    authority: Issued
    trusted_since: float | None = None


class Rotation:
    """Keeps Secret and caBundle as they should be, one step a call.

    ``names`` are the DNS names to serve, ``leads`` says whether this replica is the leader now.
    """

    def __init__(
        self,
        store: SecretStore,
        trust: WebhookTrust,
        clock: ServerClock,
        names: Sequence[str],
        leads: Callable[[], bool],
        lifetimes: Lifetimes = Lifetimes(),
        settle_seconds: float = 10.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._trust = trust
        self._clock = clock
        self._names = names
        self._leads = leads
        self._lifetimes = lifetimes
        self._settle_seconds = settle_seconds
        self._monotonic = monotonic
        self._candidate: _Candidate | None = None

    async def step(self, stored: Stored | None) -> bool:
        """Do what is next, given the Secret as just read; whether the Secret was written.

        Raises:
            ApiError, Unavailable: a call failed. Nothing is half done: the next step goes on.
        """
        now = await self._clock.now()
        material = stored.material if stored else None
        if material is not None:
            kept = self._maintained(material, now)
            if kept != material:
                # By the CA that is trusted already, so this waits for nothing.
                return await self._write(kept, stored)
        return await self._authority_step(stored, material, now)

    def _maintained(self, material: Material, now: datetime) -> Material:
        kept = material.without_expired(now)
        if Due.SERVING in kept.due(self._names, now, self._lifetimes):
            kept = kept.with_new_serving(self._names, now, self._lifetimes)
            _log.info("renewing the serving certificate")
        return kept

    async def _authority_step(
        self, stored: Stored | None, material: Material | None, now: datetime
    ) -> bool:
        trusted = await self._trust.read()
        if material is None or Due.AUTHORITY in material.due(self._names, now, self._lifetimes):
            if self._candidate is None:
                _log.info("making a new CA: %s", _why(stored))
                self._candidate = _Candidate(new_authority(now, self._lifetimes))
        else:
            self._candidate = None
        # What some replica may be serving a chain of.
        served = material.trusted if material else _own(trusted, now, self._candidate)
        await self._ensure_trust(trusted, served)
        candidate = self._candidate
        if candidate is None or not self._settled(candidate, trusted, served):
            return False
        made = succeeding(candidate.authority, material, served, self._names, now, self._lifetimes)
        written = await self._write(made, stored)
        self._candidate = None
        return written

    async def _ensure_trust(
        self, trusted: Trusted | None, served: Sequence[x509.Certificate]
    ) -> None:
        if trusted is None:
            return
        candidate = self._candidate
        new = [] if candidate is None else [candidate.authority.certificate]
        if not self._leads():
            return
        changed = await self._trust.write(trusted, [*new, *served])
        if changed:
            _log.info("the webhook configuration trusts %d CAs now", len(new) + len(served))
        if candidate is not None and (changed or candidate.trusted_since is None):
            self._candidate = _Candidate(candidate.authority, self._monotonic())

    def _settled(
        self,
        candidate: _Candidate,
        trusted: Trusted | None,
        served: Sequence[x509.Certificate],
    ) -> bool:
        """Whether every API server trusts the candidate, or none can trust anything else."""
        if trusted is None or not served:
            return True
        since = candidate.trusted_since
        return since is not None and self._monotonic() - since >= self._settle_seconds

    async def _write(self, material: Material, stored: Stored | None) -> bool:
        if not self._leads():
            return False
        await self._store.write(material, stored)
        return True


def _own(
    trusted: Trusted | None, now: datetime, candidate: _Candidate | None
) -> tuple[x509.Certificate, ...]:
    own = [] if trusted is None else trusted.certificates
    new = None if candidate is None else candidate.authority.certificate
    return tuple(
        each
        for each in own
        if is_own_authority(each) and each.not_valid_after_utc > now and each != new
    )


def _why(stored: Stored | None) -> str:
    if stored is None:
        return "there is no Secret"
    return stored.problem or "the CA has lived for most of its life"
