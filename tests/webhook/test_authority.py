"""The CA and its certificates, as other programs verify them; and when they are due."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError
from hypothesis import given
from hypothesis import strategies as st

from webhook.certificates.authority import (
    Due,
    Issued,
    Lifetimes,
    due,
    is_own_authority,
    new_authority,
    new_serving,
    service_names,
    signed_by,
)

NAMES = service_names("llmfit-webhook", "llmfit-system")
NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
LIVES = Lifetimes()

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")


@pytest.fixture(scope="module")
def authority() -> Issued:
    return new_authority(NOW, LIVES)


@pytest.fixture(scope="module")
def serving(authority: Issued) -> Issued:
    return new_serving(authority, NAMES, NOW, LIVES)


def openssl(*arguments: str | Path) -> tuple[int, str]:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def written(folder: Path, name: str, *pem: bytes) -> Path:
    path = folder / name
    path.write_bytes(b"".join(pem))
    return path


def test_the_names_are_those_that_kubernetes_gives_a_service() -> None:
    assert NAMES == (
        "llmfit-webhook",
        "llmfit-webhook.llmfit-system",
        "llmfit-webhook.llmfit-system.svc",
        "llmfit-webhook.llmfit-system.svc.cluster.local",
    )


@needs_openssl
@pytest.mark.parametrize("name", NAMES)
def test_openssl_takes_the_chain(
    authority: Issued, serving: Issued, tmp_path: Path, name: str
) -> None:
    ca = written(tmp_path, "ca.crt", authority.certificate_pem)
    leaf = written(tmp_path, "tls.crt", serving.certificate_pem)
    strict = ("verify", "-x509_strict", "-CAfile", ca, "-purpose", "sslserver")
    assert openssl(*strict, "-verify_hostname", name, leaf)[0] == 0


@needs_openssl
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-verify_hostname", "llmfit-webhook.other.svc"), "hostname mismatch"),
        (("-purpose", "sslclient"), "purpose"),
        (("-attime", str(int((NOW + 31 * DAY).timestamp()))), "expired"),
        (("-attime", str(int((NOW - timedelta(hours=2)).timestamp()))), "not yet valid"),
    ],
    ids=["another name", "another purpose", "a month later", "two hours before"],
)
def test_openssl_refuses_the_rest(
    authority: Issued, serving: Issued, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    ca = written(tmp_path, "ca.crt", authority.certificate_pem)
    leaf = written(tmp_path, "tls.crt", serving.certificate_pem)
    code, out = openssl("verify", "-x509_strict", "-CAfile", ca, *arguments, leaf)
    assert code != 0
    assert says in out


def test_a_verifier_whose_clock_is_59_minutes_behind_takes_it(
    authority: Issued, serving: Issued
) -> None:
    early = NOW - timedelta(minutes=59)
    verifier = PolicyBuilder().store(Store([authority.certificate])).time(early)
    verified = verifier.build_server_verifier(x509.DNSName(NAMES[2])).verify(
        serving.certificate, []
    )
    assert verified == [serving.certificate, authority.certificate]


def test_another_ca_is_not_trusted_though_it_has_a_like_name(serving: Issued) -> None:
    other = new_authority(NOW, LIVES)
    verifier = PolicyBuilder().store(Store([other.certificate])).time(NOW)
    with pytest.raises(VerificationError):
        verifier.build_server_verifier(x509.DNSName(NAMES[2])).verify(serving.certificate, [])
    assert not signed_by(serving.certificate, other.certificate)


@needs_openssl
def test_the_ca_can_have_no_ca_below_it(authority: Issued, tmp_path: Path) -> None:
    code, text = openssl(
        "x509", "-noout", "-text", "-in", written(tmp_path, "ca", authority.certificate_pem)
    )
    assert code == 0
    assert "CA:TRUE, pathlen:0" in text
    assert "Certificate Sign, CRL Sign" in text
    assert "ASN1 OID: prime256v1" in text
    assert "X509v3 Subject Key Identifier" in text


def test_serial_numbers_differ(authority: Issued) -> None:
    made = [new_serving(authority, NAMES, NOW, LIVES) for _ in range(20)]
    assert len({each.certificate.serial_number for each in made}) == 20


def test_python_takes_a_live_handshake(authority: Issued, serving: Issued, tmp_path: Path) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(
        written(tmp_path, "tls", serving.certificate_pem, serving.key_pem), password=b""
    )
    client = ssl.create_default_context(cadata=authority.certificate_pem.decode())
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    near, far = socket.socketpair()

    def answer() -> None:
        with server.wrap_socket(far, server_side=True) as wrapped:
            wrapped.sendall(b"hello")

    thread = threading.Thread(target=answer)
    thread.start()
    with client.wrap_socket(near, server_hostname=NAMES[2]) as wrapped:
        assert wrapped.recv(5) == b"hello"
    thread.join()


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (timedelta(0), Due.NOTHING),
        (20 * DAY - timedelta(seconds=1), Due.NOTHING),
        (20 * DAY, Due.SERVING),
        (29 * DAY, Due.SERVING),
        (365 * DAY * 2 / 3, Due.SERVING | Due.AUTHORITY),
        # The CA has expired: it signs nothing, so only another one helps.
        (366 * DAY, Due.AUTHORITY),
        # The clock was wrong as they were made, and has been set right.
        (-timedelta(minutes=59), Due.NOTHING),
        (-timedelta(minutes=61), Due.AUTHORITY),
        (-40 * DAY, Due.AUTHORITY),
    ],
    ids=str,
)
def test_due(authority: Issued, serving: Issued, after: timedelta, expected: Due) -> None:
    assert due(authority.certificate, serving.certificate, NAMES, NOW + after, LIVES) == expected


def test_due_when_the_service_has_another_name_now(authority: Issued, serving: Issued) -> None:
    names = service_names("llmfit-webhook", "elsewhere")
    assert due(authority.certificate, serving.certificate, names, NOW, LIVES) == Due.SERVING


def test_due_when_another_ca_has_signed(authority: Issued) -> None:
    foreign = new_serving(new_authority(NOW, LIVES), NAMES, NOW, LIVES)
    assert due(authority.certificate, foreign.certificate, NAMES, NOW, LIVES) == Due.SERVING


def test_due_when_the_settings_are_shorter_now(authority: Issued, serving: Issued) -> None:
    shorter = Lifetimes(authority=365 * DAY, serving=DAY)
    assert due(authority.certificate, serving.certificate, NAMES, NOW, shorter) == Due.SERVING


def test_a_serving_certificate_ends_with_its_ca_and_is_then_left_alone(authority: Issued) -> None:
    late = NOW + 360 * DAY
    last = new_serving(authority, NAMES, late, LIVES)
    assert last.certificate.not_valid_after_utc == authority.certificate.not_valid_after_utc
    found = due(authority.certificate, last.certificate, NAMES, late, LIVES)
    assert found == Due.AUTHORITY


@pytest.mark.parametrize(
    "wrong",
    [
        {"serving": 122 * DAY},
        {"serving": timedelta(0)},
        {"backdate": -DAY},
        {"renew_at": 1.0},
        {"renew_at": 0.0},
    ],
    ids=str,
)
def test_lifetimes_that_would_leave_a_gap_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"renew_at|outlive|longer"):
        Lifetimes(**wrong)  # type: ignore[arg-type]


def test_own_cas_are_known_by_name(authority: Issued, serving: Issued) -> None:
    assert is_own_authority(authority.certificate)
    assert not is_own_authority(serving.certificate)


@given(
    serving_hours=st.integers(1, 24 * 120),
    steps=st.lists(st.floats(0.01, 0.33), min_size=1, max_size=12),
)
def test_a_leader_that_looks_often_enough_never_serves_an_expired_chain(
    serving_hours: int, steps: list[float]
) -> None:
    """Looks at most a third of a serving certificate's life apart: the chain is always valid."""
    lives = Lifetimes(serving=timedelta(hours=serving_hours))
    now = NOW
    authority = new_authority(now, lives)
    serving = new_serving(authority, NAMES, now, lives)
    for step in steps:
        now += timedelta(hours=serving_hours) * step
        certificate = serving.certificate
        assert certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc
        found = due(authority.certificate, certificate, NAMES, now, lives)
        if Due.AUTHORITY in found:
            authority = new_authority(now, lives)
        if found:
            serving = new_serving(authority, NAMES, now, lives)
            again = due(authority.certificate, serving.certificate, NAMES, now, lives)
            assert again == Due.NOTHING
