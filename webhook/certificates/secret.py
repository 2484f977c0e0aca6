"""The Secret that the replicas share, and its form.

``kubernetes.io/tls`` with ``tls.crt`` and ``tls.key`` (the serving chain), ``ca.crt`` and
``ca.key`` (the CA that signs), and ``retired.json`` (CAs that sign no more, each trusted until a
given moment). A Secret of this name without our label was made by somebody else: it is never
touched. One with our label that cannot be used is replaced by the leader.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from webhook.certificates.authority import Issued, is_own_authority, signed_by
from webhook.certificates.material import RETIRED_MAX, Material, Retired, pem
from webhook.kube.client import ApiError, Client, Object
from webhook.kube.paths import path

MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "llmfit-webhook"
SECRET_TYPE = "kubernetes.io/tls"  # noqa: S105 - a type, no password


class Unusable(Exception):
    """A Secret's content is not what this module writes; the message says what is wrong."""


class Foreign(Exception):
    """Somebody else's Secret has our name; the message says what to do."""


@dataclass(frozen=True)
class Stored:
    """The Secret as read: what is in it, or why that cannot be used, and its version."""

    material: Material | None
    problem: str
    resource_version: str


class SecretStore:
    """One Secret in the cluster.

    Every method raises ``ApiError`` or ``Unavailable`` with the API server's sentence.
    """

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._collection = path("v1", "secrets", namespace)
        self._path = path("v1", "secrets", namespace, name)

    async def read(self) -> Stored | None:
        """What the Secret holds, or ``None`` where there is none.

        Raises:
            Foreign: the Secret is not ours.
        """
        try:
            found = await self._client.get(self._path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        labels = found["metadata"].get("labels") or {}
        if labels.get(MANAGED_BY) != MANAGER or found.get("type") != SECRET_TYPE:
            raise Foreign(
                f"Secret {self._namespace}/{self._name} was not made by the webhook (it lacks the "
                f"label {MANAGED_BY}={MANAGER} or the type {SECRET_TYPE}) and is left alone: "
                "delete it, or have the webhook read its certificate from files"
            )
        version = str(found["metadata"]["resourceVersion"])
        try:
            return Stored(_material(found), "", version)
        except Unusable as error:
            return Stored(None, f"Secret {self._namespace}/{self._name}: {error}", version)

    async def write(self, material: Material, after: Stored | None) -> None:
        """Put ``material`` in the place of what was read; ``after`` is ``None`` for a first one.

        Raises:
            ApiError: with reason AlreadyExists or Conflict when somebody else was faster.
        """
        made = _secret(self._namespace, self._name, material)
        if after is None:
            await self._client.create(self._collection, made)
            return
        made["metadata"]["resourceVersion"] = after.resource_version
        await self._client.replace(self._path, made)


def _secret(namespace: str, name: str, material: Material) -> Object:
    retired = [
        {"certificate": pem([each.certificate]).decode(), "until": each.until.isoformat()}
        for each in material.retired
    ]
    data = {
        "tls.crt": material.serving.certificate_pem,
        "tls.key": material.serving.key_pem,
        "ca.crt": material.authority.certificate_pem,
        "ca.key": material.authority.key_pem,
        "retired.json": json.dumps(retired, indent=1).encode(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": {
            "namespace": namespace,
            "name": name,
            "labels": {MANAGED_BY: MANAGER, "app.kubernetes.io/name": MANAGER},
        },
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def _material(secret: Object) -> Material:
    data = secret.get("data") or {}
    authority = _issued(data, "ca")
    serving = _issued(data, "tls")
    if not is_own_authority(authority.certificate):
        raise Unusable("ca.crt is no CA that the webhook has made")
    if not signed_by(serving.certificate, authority.certificate):
        raise Unusable("tls.crt is not signed by ca.crt")
    return Material(authority, serving, _retired(data))


def _issued(data: dict[str, Any], name: str) -> Issued:
    try:
        certificate = x509.load_pem_x509_certificate(_decoded(data, f"{name}.crt"))
        public_key = certificate.public_key()
        _ = certificate.extensions
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Unusable(f"{name}.crt is no certificate in PEM form") from error
    try:
        key = serialization.load_pem_private_key(_decoded(data, f"{name}.key"), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise Unusable(f"{name}.key is no private key in PEM form") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise Unusable(f"{name}.key is no elliptic-curve key")
    if key.public_key() != public_key:
        raise Unusable(f"{name}.key does not belong to {name}.crt")
    return Issued(certificate, key)


def _retired(data: dict[str, Any]) -> tuple[Retired, ...]:
    try:
        return tuple(
            Retired(x509.load_pem_x509_certificate(each["certificate"].encode()), _moment(each))
            for each in json.loads(_decoded(data, "retired.json"))[:RETIRED_MAX]
        )
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise Unusable(
            "retired.json is no list of objects with `certificate` and `until`"
        ) from error


def _moment(entry: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["until"]).astimezone(UTC)


def _decoded(data: dict[str, Any], key: str) -> bytes:
    if key not in data:
        raise Unusable(f"{key} is missing")
    try:
        return base64.b64decode(data[key], validate=True)
    except binascii.Error as error:
        raise Unusable(f"{key} is not base64") from error
