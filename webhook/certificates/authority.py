"""A certificate authority of the webhook's own, and the serving certificates that it signs.

Pure functions over ``cryptography``: the time is given, nothing is read or written.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_NAME = "llmfit-webhook CA"
SERVING_NAME = "llmfit-webhook"


@dataclass(frozen=True)
class Lifetimes:
    """How long certificates live and when they are renewed.

    Attributes:
        authority: life of a CA.
        serving: life of a serving certificate.
        renew_at: the part of its life after which a certificate is renewed, between 0 and 1.
        backdate: how long before its making a certificate is valid already, so that a verifier
            whose clock is behind takes it.

    Raises:
        ValueError: a serving certificate could outlive its CA, or a value is out of range.
    """

    authority: timedelta = timedelta(days=365)
    serving: timedelta = timedelta(days=30)
    renew_at: float = 2 / 3
    backdate: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        if not 0 < self.renew_at < 1:
            raise ValueError(f"renew_at is {self.renew_at}; it has to lie between 0 and 1")
        if min(self.authority, self.serving) <= timedelta(0) or self.backdate < timedelta(0):
            raise ValueError("certificate lifetimes have to be longer than nothing")
        if self.serving > self.authority * (1 - self.renew_at):
            raise ValueError(
                f"a serving certificate of {self.serving} could outlive its CA of "
                f"{self.authority}, which is renewed {self.authority * (1 - self.renew_at)} "
                "before its end: give the CA a longer life"
            )


@dataclass(frozen=True)
class Issued:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        """The certificate as one PEM block."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key as one PEM block (PKCS #8, not encrypted)."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


class Due(enum.Flag):
    """What has to be renewed; false when nothing has."""

    NOTHING = 0
    SERVING = enum.auto()
    AUTHORITY = enum.auto()


def service_names(service: str, namespace: str) -> tuple[str, ...]:
    """The DNS names of a Service; API servers ask for ``NAME.NAMESPACE.svc``."""
    full = f"{service}.{namespace}"
    return (service, full, f"{full}.svc", f"{full}.svc.cluster.local")


def new_authority(now: datetime, lifetimes: Lifetimes) -> Issued:
    """A new self-signed CA, which may sign serving certificates only.

    Each has a name of its own, so that a verifier that trusts several never tries the wrong one.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    serial = x509.random_serial_number()
    name = _name(f"{AUTHORITY_NAME} {serial % 2**32:08x}")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(now - lifetimes.backdate)
        .not_valid_after(now + lifetimes.authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(_issued_by(identifier), critical=False)
        .sign(key, hashes.SHA256())
    )
    return Issued(certificate, key)


def new_serving(
    authority: Issued, names: Sequence[str], now: datetime, lifetimes: Lifetimes
) -> Issued:
    """A new serving certificate for DNS ``names``; it ends no later than its CA."""
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = authority.certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_name(SERVING_NAME))
        .issuer_name(authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - lifetimes.backdate)
        .not_valid_after(_serving_end(authority.certificate, now, lifetimes))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_issued_by(identifier.value), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return Issued(certificate, key)


def due(
    authority: x509.Certificate,
    serving: x509.Certificate,
    names: Collection[str],
    now: datetime,
    lifetimes: Lifetimes,
) -> Due:
    """What has to be renewed at ``now``.

    A certificate is due when it has lived for the given part of its life, is not valid yet, or
    would live for longer than ``lifetimes`` allow now; a serving certificate also when it has
    other names than ``names`` or another CA's signature. One that cannot get a later end, because
    its CA ends first, is left as it is: renewing it again and again would help nobody. A CA that
    is not valid at ``now`` signs nothing more.
    """
    found = Due.NOTHING
    if _worn(authority, lifetimes.authority, now, lifetimes):
        found |= Due.AUTHORITY
    if not authority.not_valid_before_utc <= now < authority.not_valid_after_utc:
        return found
    gains = _serving_end(authority, now, lifetimes) != serving.not_valid_after_utc
    if (
        (gains and _worn(serving, lifetimes.serving, now, lifetimes))
        or dns_names(serving) != set(names)
        or not signed_by(serving, authority)
    ):
        found |= Due.SERVING
    return found


def dns_names(certificate: x509.Certificate) -> set[str]:
    """The DNS names that a certificate is for."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return set(found.value.get_values_for_type(x509.DNSName))


def signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether ``authority`` is the issuer of ``certificate``, by name and by signature."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError):
        return False
    return True


def is_own_authority(certificate: x509.Certificate) -> bool:
    """Whether a certificate looks like a CA that this module makes."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except (x509.ExtensionNotFound, ValueError):
        return False
    return constraints.value.ca and any(
        str(name.value).startswith(f"{AUTHORITY_NAME} ") for name in names
    )


def _worn(
    certificate: x509.Certificate, life: timedelta, now: datetime, lifetimes: Lifetimes
) -> bool:
    left = certificate.not_valid_after_utc - now
    return (
        now < certificate.not_valid_before_utc
        or left <= life * (1 - lifetimes.renew_at)
        # Clocks of several API servers differ a little; that alone makes no certificate too long.
        or left > life + max(lifetimes.backdate, timedelta(seconds=2))
    )


def _serving_end(authority: x509.Certificate, now: datetime, lifetimes: Lifetimes) -> datetime:
    end = min(now + lifetimes.serving, authority.not_valid_after_utc)
    return end.replace(microsecond=0)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _issued_by(identifier: x509.SubjectKeyIdentifier) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
