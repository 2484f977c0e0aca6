"""The webhook's own certificates at a real API server: rotation under load, and what goes wrong.

failurePolicy is Fail and every admission is a new handshake, so a chain that the API server does
not trust at that moment is a pod that can't be created.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.e2e.webhook.parts import connected, paused
from tests.e2e.webhook.tls import (
    CALM,
    CONFIGURATION,
    FAST,
    SECRET,
    Installed,
    Load,
    Watcher,
    in_background,
    signers,
)
from tests.e2e.webhook.tls import installed as install
from webhook.certificates.authority import Lifetimes, new_authority
from webhook.certificates.clock import ServerClock

LEASE = ("coordination.k8s.io/v1", "Lease")


@pytest.fixture
def installed(cluster: Cluster, sandbox: Sandbox) -> Iterator[Installed]:
    with install(cluster, sandbox) as made:
        yield made


def test_two_replicas_that_start_at_once_make_one_ca(installed: Installed) -> None:
    installed.register()
    both = installed.start("a", CALM), installed.start("b", CALM)
    installed.ready(*both)
    assert len(installed.trusted()) == 1
    Load(installed).create()
    logs = "".join(installed.log(each) for each in both)
    assert logs.count("making a new CA") == 1, logs


def test_rotation_under_load(installed: Installed) -> None:
    """Serving certificate and CA every few seconds, and not one pod that can't be created."""
    installed.register()
    both = installed.start("a", FAST), installed.start("b", FAST)
    installed.ready(*both)
    load, watcher = Load(installed), Watcher(installed, both)
    with in_background(load, watcher):
        wait_for(
            lambda: len(watcher.authorities) >= 4 and len(watcher.served) >= 6,
            timeout=60,
            what=lambda: f"{len(watcher.authorities)} CAs, {len(watcher.served)} certificates",
        )
    assert load.failures == []
    assert watcher.disagreements == []
    assert load.created > 100
    logs = "".join(installed.log(each) for each in both)
    assert "cannot" not in logs, logs
    # The old ones go once no certificate of theirs is valid: 12 s after their last signature.
    assert watcher.most_trusted <= 4


def test_the_leader_is_killed_in_the_middle(installed: Installed) -> None:
    """What was on its way to it fails, as it must; no handshake does, and rotation goes on."""
    installed.register()
    both = installed.start("a", FAST), installed.start("b", FAST)
    installed.ready(*both)
    killed = installed.leader(*both)
    (left,) = (each for each in both if each is not killed)
    load, watcher = Load(installed), Watcher(installed, both)
    with in_background(load, watcher):
        wait_for(lambda: len(watcher.authorities) >= 2, timeout=60, what="a second CA")
        installed.kill(killed)
        known = set(watcher.authorities)
        wait_for(lambda: len(watcher.authorities - known) >= 2, timeout=60, what="two more CAs")
        again = installed.start(f"{killed.name[-1]}2", FAST)
        installed.ready(left, again)
    assert len(load.failures) <= 1, load.failures
    assert not any("x509" in each or "tls:" in each for each in load.failures), load.failures
    assert watcher.disagreements == []


def test_the_lease_is_lost_and_the_secret_deleted_under_load(installed: Installed) -> None:
    """Another CA then, with overlap: deleting the Secret is how to rotate by hand."""
    installed.register()
    both = installed.start("a", CALM), installed.start("b", CALM)
    installed.ready(*both)
    (first,) = installed.trusted()
    load, watcher = Load(installed), Watcher(installed, both)
    with in_background(load, watcher):
        stolen = installed.api.get(*LEASE, "llmfit-webhook", installed.namespace)
        installed.api.patch(stolen, {"spec": {"holderIdentity": "a stranger"}})
        installed.delete_secret()
        wait_for(
            lambda: all(
                each.served is not None and not signers({each.served}, [first]) for each in both
            ),
            what="both replicas serve the chain of another CA",
        )
    assert first in installed.trusted()
    assert load.failures == []
    assert watcher.disagreements == []


@pytest.mark.parametrize("leaked", [False, True], ids=["the old CA stays", "a key has leaked"])
def test_the_secret_is_deleted_while_no_replica_runs(installed: Installed, leaked: bool) -> None:
    """Nobody remembers the old CA then but the configuration, unless that is emptied as well."""
    installed.register()
    old = installed.start("a", CALM)
    installed.ready(old)
    (first,) = installed.trusted()
    installed.kill(old)
    installed.delete_secret()
    if leaked:
        installed.set_bundle(b"")
    new = installed.start("b", CALM)
    installed.ready(new)
    assert (first in installed.trusted()) == (not leaked)


BUNDLES = {
    "emptied": lambda _mine: b"",
    "another CA": lambda _mine: new_authority(datetime.now(UTC), Lifetimes()).certificate_pem,
    "one more CA": lambda mine: (
        mine + new_authority(datetime.now(UTC), Lifetimes()).certificate_pem
    ),
}


@pytest.mark.parametrize("changed", BUNDLES.values(), ids=BUNDLES)
def test_a_ca_bundle_changed_by_hand_is_set_right(
    installed: Installed, changed: Callable[[bytes], bytes]
) -> None:
    installed.register()
    # Seen by the watch: the next look of its own would come after the test has given up.
    installed.ready(installed.start("a", CALM | {"poll_seconds": 3600}))
    right = installed.bundle()
    before = installed.api.get(*CONFIGURATION, installed.configuration)["webhooks"]
    installed.set_bundle(changed(right))
    wait_for(lambda: installed.bundle() == right, what="the right caBundle")
    after = installed.api.get(*CONFIGURATION, installed.configuration)["webhooks"]
    assert after == before
    Load(installed).create()


def creates_a_pod(installed: Installed) -> bool:
    load = Load(installed)
    load.create()
    return load.created == 1


def test_a_configuration_that_comes_later_or_again_gets_its_ca_bundle(
    installed: Installed,
) -> None:
    replica = installed.start("a", CALM)
    wait_for(lambda: replica.served, what="a replica without any configuration")
    for _ in range(2):
        installed.register()
        installed.ready(replica)
        wait_for(partial(creates_a_pod, installed), what="a pod that is admitted")
        configuration = installed.api.get(*CONFIGURATION, installed.configuration)
        installed.api.delete(configuration)


def changed_secret(installed: Installed, **changes: str | None) -> Object:
    """The Secret with some of its entries changed or out, written by hand."""
    secret = installed.secret()
    assert secret is not None
    for key, value in changes.items():
        name = key.replace("_", ".")
        del secret["data"][name]
        if value is not None:
            secret["data"][name] = base64.b64encode(value.encode()).decode()
    return installed.api.replace(secret)


UNUSABLE: dict[str, dict[str, str | None]] = {
    "no certificate": {"tls_crt": "x"},
    # A whole CA that nobody trusts yet, but for the serving certificate's signature.
    "another CA": {
        "ca_crt": (OTHER := new_authority(datetime.now(UTC), Lifetimes())).certificate_pem.decode(),
        "ca_key": OTHER.key_pem.decode(),
    },
}


@pytest.mark.parametrize("changes", UNUSABLE.values(), ids=UNUSABLE)
def test_a_secret_that_cannot_be_used_is_replaced_under_load(
    installed: Installed, changes: dict[str, str | None]
) -> None:
    installed.register()
    replica = installed.start("a", CALM)
    installed.ready(replica)
    before = replica.served
    load, watcher = Load(installed), Watcher(installed, (replica,))
    with in_background(load, watcher):
        changed_secret(installed, **changes)
        wait_for(lambda: replica.served not in {before, None}, what="a new chain")
    installed.ready(replica)
    assert (load.failures, watcher.disagreements) == ([], [])
    assert "PRIVATE KEY" not in installed.log(replica)


def test_a_secret_of_somebody_else_is_left_alone(installed: Installed) -> None:
    data = {"tls.crt": "", "tls.key": ""}
    meta = {"name": SECRET}
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data}
    foreign = installed.sandbox.create({**made, "type": "kubernetes.io/tls"})
    installed.register()
    replica = installed.start("a", CALM)
    wait_for(lambda: "was not made by the webhook" in installed.log(replica), what="a sentence")
    assert installed.secret() == foreign
    assert installed.bundle() == b""
    assert replica.served is None
    # As the sentence says.
    installed.delete_secret()
    installed.ready(replica)


def test_the_clock_is_the_api_server_s(installed: Installed) -> None:
    async def scenario() -> datetime:
        async with connected(installed.kubeconfig) as client:
            return await ServerClock(client, installed.namespace).now()

    now = asyncio.run(scenario())
    made = installed.sandbox.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "now"}}
    )
    stamp = datetime.fromisoformat(made["metadata"]["creationTimestamp"])
    assert abs((stamp - now).total_seconds()) <= 10
    assert installed.api.list(*LEASE, installed.namespace) == []


def test_what_is_served_goes_on_while_the_api_server_does_not_answer(
    installed: Installed,
) -> None:
    installed.register()
    both = installed.start("a", FAST), installed.start("b", FAST)
    installed.ready(*both)
    before = both[0].served
    with paused(installed.cluster, "kube-apiserver"):
        for _ in range(20):
            assert None not in {each.served for each in both}
    wait_for(lambda: both[0].served != before, what="rotation afterwards")
    installed.ready(*both)
    Load(installed).create()
