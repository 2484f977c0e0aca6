"""The Secret's form: read back as written, and content of any kind is a sentence, never a crash."""

from __future__ import annotations

import base64
import copy
import json
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from tests.webhook.certificate_world import LIVES, NAMES, START, ModelClient, World, finished
from webhook.certificates.authority import Issued, new_authority, new_serving
from webhook.certificates.material import Material, Retired
from webhook.certificates.secret import Foreign, SecretStore, Stored
from webhook.kube.client import ApiError, Object

AUTHORITY = new_authority(START, LIVES)
OLD = new_authority(START, LIVES)
MATERIAL = Material(
    AUTHORITY,
    new_serving(AUTHORITY, NAMES, START, LIVES),
    (Retired(OLD.certificate, START + timedelta(seconds=90)),),
)


def store(world: World) -> SecretStore:
    return SecretStore(ModelClient(world), "llmfit-system", "llmfit-webhook-tls")  # type: ignore[arg-type]


def read(secret: Object | None) -> Stored | None:
    world = World()
    if secret is not None:
        world.put(secret)
    return finished(store(world).read())


@pytest.fixture
def secret() -> Object:
    world = World()
    finished(store(world).write(MATERIAL, None))
    assert world.secret is not None
    return copy.deepcopy(world.secret)


def test_it_is_read_as_it_was_written(secret: Object) -> None:
    stored = read(secret)
    assert stored is not None
    found = stored.material
    assert found is not None
    assert found.trusted == MATERIAL.trusted
    assert found.retired == MATERIAL.retired
    assert found.serving.key_pem == MATERIAL.serving.key_pem
    assert found.authority.key_pem == MATERIAL.authority.key_pem


def test_its_form_is_that_of_a_tls_secret(secret: Object) -> None:
    assert secret["type"] == "kubernetes.io/tls"
    certificate = base64.b64decode(secret["data"]["tls.crt"])
    assert certificate == MATERIAL.serving.certificate_pem
    assert secret["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "llmfit-webhook"


def test_no_secret() -> None:
    assert read(None) is None


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {}},
        {"metadata": {"labels": None}},
        {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}},
        {"type": "Opaque"},
        {"type": None},
    ],
    ids=str,
)
def test_a_secret_of_somebody_else_is_named(secret: Object, change: Object) -> None:
    with pytest.raises(Foreign, match="llmfit-system/llmfit-webhook-tls was not made"):
        read({**secret, **change})


def rsa_key() -> bytes:
    return rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def retired(until: str) -> bytes:
    return json.dumps([{"certificate": OLD.certificate_pem.decode(), "until": until}]).encode()


def entries(made: Issued, name: str) -> dict[str, bytes]:
    return {f"{name}.crt": made.certificate_pem, f"{name}.key": made.key_pem}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tls.crt": None}, "tls.crt is missing"),
        ({"tls.crt": b"x"}, "tls.crt is no certificate in PEM form"),
        ({"tls.key": OLD.key_pem}, "tls.key does not belong to tls.crt"),
        ({"ca.key": rsa_key()}, "ca.key is no elliptic-curve key"),
        ({"ca.key": b""}, "ca.key is no private key in PEM form"),
        (entries(OLD, "ca"), "tls.crt is not signed by ca.crt"),
        (entries(MATERIAL.serving, "ca"), "ca.crt is no CA that the webhook has made"),
        ({"retired.json": b"{}"}, "retired.json"),
        ({"retired.json": b"7"}, "retired.json"),
        ({"retired.json": retired("9999-12-31T23:59:59-14:00")}, "retired.json"),
        ({"retired.json": retired("soon")}, "retired.json"),
        ({"retired.json": b'[{"certificate": "x", "until": 7}]'}, "retired.json"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(
    secret: Object, changes: dict[str, bytes | None], problem: str
) -> None:
    data = secret["data"]
    for key, value in changes.items():
        data[key] = None if value is None else base64.b64encode(value).decode()
        if value is None:
            del data[key]
    stored = read(secret)
    assert stored is not None
    assert stored.material is None
    assert problem in stored.problem
    assert "PRIVATE" not in stored.problem


KEYS = st.sampled_from(["tls.crt", "tls.key", "ca.crt", "ca.key", "retired.json"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(key=KEYS, content=st.binary(max_size=200), cut=st.integers(0, 2000), mode=st.integers(0, 3))
def test_content_of_any_kind_is_a_sentence(key: str, content: bytes, cut: int, mode: int) -> None:
    world = World()
    finished(store(world).write(MATERIAL, None))
    secret: Any = world.secret
    good = base64.b64decode(secret["data"][key])
    whole = {0: content, 1: good[:cut], 2: good[:cut] + content + good[cut:], 3: good + content}
    secret["data"][key] = base64.b64encode(whole[mode]).decode()
    stored = finished(store(world).read())
    assert stored is not None
    assert (stored.material is None) == bool(stored.problem)


@given(content=JSON)
def test_retired_cas_of_any_form_are_a_sentence(content: object) -> None:
    world = World()
    finished(store(world).write(MATERIAL, None))
    secret: Any = world.secret
    secret["data"]["retired.json"] = base64.b64encode(json.dumps(content).encode()).decode()
    stored = finished(store(world).read())
    assert stored is not None
    assert (stored.material is None) == bool(stored.problem)


def test_a_write_after_somebody_else_s_is_refused(secret: Object) -> None:
    world = World()
    world.put(secret)
    before = finished(store(world).read())
    world.put(secret)
    for after in (before, None):
        with pytest.raises(ApiError, match=r"changed|is one"):
            finished(store(world).write(MATERIAL, after))
