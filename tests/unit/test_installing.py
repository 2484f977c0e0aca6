"""The webhook's installation where a cluster is not needed, or can't be made to show it."""

from __future__ import annotations

import base64
import datetime as dt
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem
from kubectl_llmfit.installing import manifests
from kubectl_llmfit.installing.observing import (
    CONFIGURATION_PATH,
    DEPLOYMENT_PATH,
    LEASE_PATH,
    PODS_PATH,
)
from kubectl_llmfit.installing.status import Check, status, works
from tests.unit.commandline import Run

NOW = dt.datetime.now(dt.UTC)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--overlay", "nope"], '--overlay: "nope" is not one of cert-manager, fail-closed, '),
        (["--dry-run=maybe"], '--dry-run: "maybe" is not one of none, client, server'),
        (["--wait=perhaps"], '--wait: "perhaps" is not one of true, false'),
        (["-o", "table"], '--output: "table" is not one of yaml, json, name'),
        (["--timeout", "soon"], '--timeout: "soon" is no duration'),
        (["--timeout", "0s"], '--timeout: "0s" is no duration'),
        (["--replicas", "0"], '--replicas: "0" is no number of replicas'),
        (["--replicas", "two"], '--replicas: "two" is no number of replicas'),
        (["--overlay", "fail-closed", "--wait=false"], "--overlay fail-closed needs --wait=true"),
    ],
)
def test_flags_that_install_does_not_take(run: Run, flags: list[str], said: str) -> None:
    finished = run("webhook", "install", *flags)
    assert (finished.code, finished.out) == (1, "")
    assert finished.err.startswith(f"error: {said}")


def test_without_a_cluster(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs no cluster asks none: no kubectl is there to be asked."""
    monkeypatch.setenv("KUBECTL", "/nonexistent/kubectl")
    names = run("webhook", "install", "--dry-run", "-o", "name").stdout().splitlines()
    assert names[0] == "namespace/llmfit-system"
    assert names[-1] == ("mutatingwebhookconfiguration.admissionregistration.k8s.io/llmfit-webhook")
    gone = run("webhook", "uninstall", "--dry-run").stdout()
    assert "namespace/llmfit-system deleted (dry run)\n" in gone


def test_overlay_given_twice_counts_once(run: Run) -> None:
    once = run("webhook", "install", "--dry-run", "-o", "json", "--overlay", "opt-in").stdout()
    flags = ["--overlay", "opt-in", "--overlay", "opt-in"]
    assert run("webhook", "install", "--dry-run", "-o", "json", *flags).stdout() == once


def test_overlays_that_disagree_are_never_guessed() -> None:
    base, ours, theirs = ({"a": {"b": value}} for value in (1, 2, 3))
    with pytest.raises(ValueError, match="two overlays change one value: 1 to 2 and to 3"):
        manifests._merged(base, ours, theirs)


class Server:
    """An API that answers what it was told to, by path."""

    def __init__(self, answers: dict[str, Any], made: Any) -> None:
        self._answers = answers
        self._made = made

    def get(self, path: str) -> Any:
        found = self.find(path)
        if found is None:
            raise refusal(f"{path} not found", "NotFound")
        return found

    def find(self, path: str) -> Any:
        found = self._answers.get(path)
        if isinstance(found, ApiError):
            raise found
        return found

    def list_all(self, path: str) -> Any:
        return self.find(path) or []

    def create(self, item: Any, *, dry_run: bool) -> Any:
        assert dry_run
        if isinstance(self._made, ApiError):
            raise self._made
        return item | {"spec": item["spec"] | self._made}


def refusal(sentence: str, status_: str = "") -> ApiError:
    return ApiError(Problem(reasons.CLUSTER_ERROR, sentence), status_)


def authority(days: int) -> str:
    """A CA that ends in so many days, as a caBundle holds it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - dt.timedelta(days=100))
        .not_valid_after(NOW + dt.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return built.public_bytes(serialization.Encoding.PEM).decode()


def configuration(pem: str, policy: str = "Ignore") -> Any:
    client = {"caBundle": base64.b64encode(pem.encode()).decode()}
    return {"webhooks": [{"clientConfig": client, "failurePolicy": policy}]}


def deployment(available: int) -> Any:
    counts = {"observedGeneration": 1, "updatedReplicas": 2, "availableReplicas": available}
    return {"metadata": {"generation": 1}, "spec": {"replicas": 2}, "status": counts}


def lease(seconds_ago: int, holder: str = "replica-1") -> Any:
    renewed = (dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds_ago)).isoformat()
    return {"spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}}


CLAIM = {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "llmfit-webhook-abc"}]}
OTHER = {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "somebody-s"}, {}]}


def look(
    answers: dict[str, Any] | None = None, made: Any = CLAIM, said: tuple[str, ...] = ()
) -> dict[str, Check]:
    sound = {
        CONFIGURATION_PATH: configuration(authority(10)),
        DEPLOYMENT_PATH: deployment(2),
        LEASE_PATH: lease(1),
    }
    warned = [[], list(said)]
    server: Any = Server(sound | (answers or {}), made)
    checks = status(server, lambda: warned.pop(0))
    return {each.name: each for each in checks}


def test_all_is_well() -> None:
    checks = look()
    assert {each.state for each in checks.values()} == {"ok"}
    assert works(list(checks.values()))


@pytest.mark.parametrize(
    ("pem", "state", "said"),
    [
        ("", "failed", "empty"),
        ("no certificate", "failed", "no certificates in PEM"),
        (authority(-1), "failed", "1 certificate, the last expired"),
        (authority(-1) + authority(5), "ok", "2 certificates, the last good until"),
    ],
    ids=["empty", "garbage", "expired", "rotation"],
)
def test_ca_bundle(pem: str, state: str, said: str) -> None:
    check = look({CONFIGURATION_PATH: configuration(pem)})["caBundle"]
    assert check.state == state
    assert check.detail.startswith(said)


def test_ca_bundle_that_is_no_base64() -> None:
    broken = {"webhooks": [{"clientConfig": {"caBundle": "%%%"}}]}
    assert look({CONFIGURATION_PATH: broken})["caBundle"].state == "failed"


@pytest.mark.parametrize(
    ("seconds_ago", "holder", "state", "said"),
    [
        pytest.param(3, "replica-1", "ok", "replica-1, renewed ", id="renewed"),
        pytest.param(-30, "replica-1", "ok", "replica-1, renewed 0 s ago", id="clock ahead"),
        pytest.param(90, "replica-1", "unknown", "replica-1 renewed its Lease 9", id="too old"),
        pytest.param(1, "", "unknown", "no replica holds the Lease", id="released"),
    ],
)
def test_leader(seconds_ago: int, holder: str, state: str, said: str) -> None:
    """Reviews are answered without one, so it never fails the whole."""
    check = look({LEASE_PATH: lease(seconds_ago, holder)})["leader"]
    assert check.state == state
    assert check.detail.startswith(said)


def test_no_lease_yet() -> None:
    assert look({LEASE_PATH: None})["leader"].state == "unknown"


def test_replicas_that_do_not_come_up() -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "not\nfound"}}
    pod = {"status": {"containerStatuses": [{"state": waiting}]}}
    check = look({DEPLOYMENT_PATH: deployment(0), PODS_PATH: [pod, pod]})["replicas"]
    assert check.state == "failed"
    assert check.detail == (
        "deployment/llmfit-webhook: 0 of 2 replicas ready (ImagePullBackOff: not\\nfound)"
    )


DENIED = 'admission webhook "pods.llmfit.ai" denied the request: no such model (unknown-model)'
UNCALLED = 'Internal error occurred: failed calling webhook "pods.llmfit.ai": EOF'


@pytest.mark.parametrize(
    ("made", "said", "state"),
    [
        pytest.param(CLAIM, (), "ok", id="claim"),
        pytest.param({}, (), "failed", id="unchanged"),
        pytest.param(OTHER, (), "failed", id="claim of others"),
        pytest.param({}, ("would violate PodSecurity",), "failed", id="warning of others"),
        pytest.param({}, ("llmfit: no devices (no-devices)",), "ok", id="skipped with a warning"),
        pytest.param(refusal(DENIED, "Forbidden"), (), "ok", id="denied by the webhook"),
        pytest.param(refusal(UNCALLED, "InternalError"), (), "failed", id="not called"),
        pytest.param(refusal("pods is forbidden", "Forbidden"), (), "unknown", id="no rights"),
        pytest.param(refusal("quota exceeded", ""), (), "failed", id="another refusal"),
    ],
)
def test_dry_run(made: Any, said: tuple[str, ...], state: str) -> None:
    assert look(made=made, said=said)["dry run"].state == state


@pytest.mark.parametrize("path", [CONFIGURATION_PATH, DEPLOYMENT_PATH, LEASE_PATH])
def test_what_may_not_be_seen_is_unknown(path: str) -> None:
    checks = look({path: refusal("forbidden", "Forbidden")})
    assert [each.state for each in checks.values()].count("unknown") == 1
    assert works(list(checks.values()))


def test_an_outage_ends_the_command() -> None:
    with pytest.raises(ApiError):
        look({DEPLOYMENT_PATH: refusal("timed out", "Unreachable")})
