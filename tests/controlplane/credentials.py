"""Keys, certificates and tokens of one cluster, made new at each start."""

import base64
import datetime as dt
import ipaddress
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Users of the token file. The scheduler has the name that the bootstrap roles know, so
# it runs with the rights that it has in every cluster.
ADMIN = ("admin", "system:masters")
SCHEDULER = ("system:kube-scheduler", "")


@dataclass(frozen=True)
class Credentials:
    """The files that the servers read, and the two tokens."""

    ca_file: Path
    server_cert: Path
    server_key: Path
    service_account_key: Path
    token_file: Path
    admin_token: str
    scheduler_token: str


def make_credentials(folder: Path) -> Credentials:
    """Write a new CA, a server certificate, a signing key and tokens to ``folder``."""
    folder.mkdir(mode=0o700)
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = _name("kubectl-llmfit test CA")
    ca = (
        _certificate(ca_name, ca_name, ca_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), False)
        .sign(ca_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    names = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.IPv4Address("127.0.0.1")),
        x509.DNSName("kubernetes.default.svc"),
    ]
    cert = (
        _certificate(_name("kube-apiserver"), ca_name, key.public_key())
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), False
        )
        .sign(ca_key, hashes.SHA256())
    )
    admin, scheduler = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    made = Credentials(
        ca_file=folder / "ca.crt",
        server_cert=folder / "server.crt",
        server_key=folder / "server.key",
        service_account_key=folder / "service-account.key",
        token_file=folder / "tokens.csv",
        admin_token=admin,
        scheduler_token=scheduler,
    )
    made.ca_file.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    made.server_cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    made.server_key.write_bytes(_pem(key))
    made.service_account_key.write_bytes(_pem(ec.generate_private_key(ec.SECP256R1())))
    made.token_file.write_text(_token_lines({ADMIN: admin, SCHEDULER: scheduler}))
    return made


def kubeconfig(url: str, ca_file: Path, token: str) -> str:
    """A kubeconfig (JSON is YAML) that needs no other file."""
    ca = base64.b64encode(ca_file.read_bytes()).decode()
    name = "llmfit-test"
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": url, "certificate-authority-data": ca}}
            ],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        indent=1,
    )


def _token_lines(tokens: dict[tuple[str, str], str]) -> str:
    return "".join(
        f'{token},{user},{user},"{group}"\n' if group else f"{token},{user},{user}\n"
        for (user, group), token in tokens.items()
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    # Valid from a while ago, so that a clock that steps back a little does no harm.
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=30))
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        # The API server reads an elliptic-curve key in this form only.
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
