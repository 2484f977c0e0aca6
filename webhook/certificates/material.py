"""All that the replicas share: the CA, the serving certificate, and CAs that are still trusted.

Pure. Every change gives a new ``Material``; the order in which changes reach the API server and
the replicas is ``rotation.py``'s affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import serialization

from webhook.certificates.authority import Due, Issued, Lifetimes, due, new_serving

if TYPE_CHECKING:
    from cryptography import x509

# More than one retired CA needs rotations by hand within one life of a serving certificate. The
# bound keeps the Secret and the webhook configuration small whatever is done to them.
RETIRED_MAX = 16


@dataclass(frozen=True)
class Retired:
    """A CA that signs no more, trusted until the last certificate that it signed has expired."""

    certificate: x509.Certificate
    until: datetime


@dataclass(frozen=True)
class Material:
    """What is in the Secret: the CA with its key, the serving chain, and retired CAs."""

    authority: Issued
    serving: Issued
    retired: tuple[Retired, ...] = ()

    @property
    def trusted(self) -> tuple[x509.Certificate, ...]:
        """The CAs that the API server has to trust, the signing one first."""
        return (self.authority.certificate, *(each.certificate for each in self.retired))

    def due(self, names: Sequence[str], now: datetime, lifetimes: Lifetimes) -> Due:
        """What has to be renewed; see ``authority.due``."""
        return due(self.authority.certificate, self.serving.certificate, names, now, lifetimes)

    def with_new_serving(
        self, names: Sequence[str], now: datetime, lifetimes: Lifetimes
    ) -> Material:
        """The same CA with a new serving certificate."""
        return replace(self, serving=new_serving(self.authority, names, now, lifetimes))

    def without_expired(self, now: datetime) -> Material:
        """Without the retired CAs whose last certificate has expired."""
        return replace(self, retired=tuple(each for each in self.retired if now <= each.until))


def succeeding(
    authority: Issued,
    before: Material | None,
    trusted: Iterable[x509.Certificate],
    names: Sequence[str],
    now: datetime,
    lifetimes: Lifetimes,
) -> Material:
    """The material of a new CA that takes over.

    ``before`` is the material so far. ``trusted`` are CAs out of the webhook configuration: where
    the Secret is lost, some replica may serve a chain of theirs, for a serving certificate's life
    at most.
    """
    retired: list[Retired] = []
    if before is not None:
        last = before.serving.certificate.not_valid_after_utc
        retired = [Retired(before.authority.certificate, last), *before.retired]
    known = {each.certificate for each in retired} | {authority.certificate}
    for each in trusted:
        if each not in known:
            retired.append(Retired(each, min(each.not_valid_after_utc, now + lifetimes.serving)))
    serving = new_serving(authority, names, now, lifetimes)
    made = Material(authority, serving, tuple(retired)).without_expired(now)
    return replace(made, retired=made.retired[:RETIRED_MAX])


def pem(certificates: Iterable[x509.Certificate]) -> bytes:
    """Certificates as PEM blocks, one after the other."""
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)
