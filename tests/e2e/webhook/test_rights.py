"""The shipped ServiceAccount has the rights that the webhook needs, and each of them is needed.

The list of rights is read from the manifests as they are shipped: one that is added there has to be
needed by something that is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE, key, objects
from tests.controlplane.client import ApiError, Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.controlplane.workloads import pod as claiming_pod
from tests.e2e.webhook.pods import LEASE, remove_everything, trust
from tests.e2e.webhook.rights import SECRET, Process, Right, install, shipped_rights, without
from tests.e2e.webhook.templates import owner_uids, stored
from tests.webhook.pki import Pki
from tests.webhook.pods import MODEL, pod, review

RIGHTS = shipped_rights()


@pytest.fixture(scope="module")
def base(cluster: Cluster) -> Iterator[Cluster]:
    install(cluster)
    yield cluster
    remove_everything(cluster)


class Day:
    """A day of the webhook: what makes it do each thing that it may do.

    Each step ends when its outcome is there, or when the API server has refused what ``lacking``
    stands for.
    """

    def __init__(self, process: Process, sandbox: Sandbox, lacking: Right | None) -> None:
        self.process = process
        self.sandbox = sandbox
        self._lacking = lacking

    def is_refused(self) -> bool:
        return self._lacking is not None and self._lacking.refusal in self.process.log()

    def run(self, *, renews: bool = True) -> None:
        steps = [
            self.starts,
            self.makes_a_template,
            self.adds_an_owner,
            self.finds_one_of_that_name,
            self.meets_a_namespace_unheard_of,
            self.sweeps,
            self.makes_again,
        ]
        for step in (*steps, *([self.renews_its_certificate] if renews else [])):
            if self.is_refused():
                return
            step()

    def _until(self, condition: Callable[[], object], what: str) -> None:
        wait_for(
            lambda: self.is_refused() or condition(),
            what=lambda: f"{what}\n{self.process.log()}",
        )

    def starts(self) -> None:
        """Everything is watched, there is a leader, a certificate, and trust in it."""
        self._until(self.process.is_ready, "a webhook that is ready")
        # The API server learns of the caBundle by a watch.
        self._until(lambda: self._template_for("20"), "a pod that comes back with its claim")

    def makes_a_template(self) -> None:
        self._replica_set("first", "20")
        self.first = self._template_for("20")
        self._until(lambda: self._owners() == 1, "a template with its owner")

    def adds_an_owner(self) -> None:
        self._replica_set("second", "20")
        self._until(lambda: self._owners() == 2, "a second owner")

    def finds_one_of_that_name(self) -> None:
        """Somebody's, which is not watched."""
        foreign = stored(self.sandbox, self.first)
        assert foreign is not None
        name = self._template_for("21")
        metadata = {"name": name}
        self.sandbox.create({**_TEMPLATE, "metadata": metadata, "spec": foreign["spec"]})

        def is_denied() -> bool:
            try:
                self.sandbox.create(_pod("21"))
            except ApiError as error:
                return "another spec than its name says" in str(error)
            return False

        self._until(is_denied, "a template that the webhook has read")

    def meets_a_namespace_unheard_of(self) -> None:
        """As one that is newer than what the watch has told."""
        answered = self.process.ask(review(_pod("20"), namespace="unheard-of", dryRun=True))
        self._until(lambda: answered.status_code == 200, answered.text)

    def sweeps(self) -> None:
        """The template of a bare pod that is gone."""
        made = self.sandbox.create(_pod("22"))
        name = self._template_of(made)
        self.sandbox.api.delete(made, grace_seconds=0)
        self._until(lambda: stored(self.sandbox, name) is None, "a leftover that is swept")

    def makes_again(self) -> None:
        """What somebody deleted while a pod still waits for it."""
        found = stored(self.sandbox, self.first)
        assert found is not None
        self.sandbox.api.delete(found)
        self.sandbox.create(claiming_pod("waiting", self.first))
        self._until(lambda: stored(self.sandbox, self.first), "a template that is made again")

    def renews_its_certificate(self) -> None:
        def renewals() -> int:
            return self.process.log().count("renewing the serving certificate")

        before = renewals()
        self._until(lambda: renewals() > before, "a new serving certificate")
        renewed = self._secret_version()
        self._until(lambda: self._secret_version() != renewed, "another one, in the Secret")

    def _secret_version(self) -> str:
        found = self.sandbox.api.find("v1", "Secret", SECRET, NAMESPACE)
        return "" if found is None else str(found["metadata"]["resourceVersion"])

    def _template_for(self, min_tps: str) -> str:
        """The template that a pod would get; empty while the webhook is not asked."""
        return self._template_of(self.sandbox.api.dry_run(_pod(min_tps), self.sandbox.namespace))

    def _template_of(self, made: Object) -> str:
        claims = made["spec"].get("resourceClaims", [{"resourceClaimTemplateName": ""}])
        return str(claims[0]["resourceClaimTemplateName"])

    def _owners(self) -> int:
        there = stored(self.sandbox, self.first)
        return 0 if there is None else len(owner_uids(self.sandbox, self.first))

    def _replica_set(self, name: str, min_tps: str) -> None:
        made = _pod(min_tps)
        made["metadata"] |= {"labels": {"app": name}}
        spec = {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": made["metadata"], "spec": made["spec"]},
        }
        metadata = {"name": name}
        self.sandbox.create(
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}
        )


_TEMPLATE = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}


def _pod(min_tps: str) -> Object:
    """One of MODEL at a speed: another speed is another template."""
    return pod(MODEL, min_tps=min_tps)


def test_all_rights_are_enough(base: Cluster, sandbox: Sandbox) -> None:
    process = Process(base)
    try:
        Day(process, sandbox, None).run()
        assert process.refused() == []
        lease = base.api.get(*LEASE, "llmfit-webhook", NAMESPACE)
        assert lease["spec"]["holderIdentity"]
    finally:
        process.stop()


def test_with_certificates_from_elsewhere_fewer_are_enough(
    base: Cluster, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Those of the overlay cert-manager, whose part in it a test's authority plays."""
    left = {key(each) for each in objects(("cert-manager",))}
    gone = [each for each in objects() if key(each) not in left]
    assert {each["kind"] for each in gone} >= {"RoleBinding", "ClusterRoleBinding"}
    pki = Pki(tmp_path, f"{NAME}.{NAMESPACE}.svc")
    for each in gone:
        base.api.delete(each)
    process = Process(base, f"--tls-cert-file={pki.certificate}", f"--tls-key-file={pki.key}")
    try:
        trust(base.api, pki.authority)
        Day(process, sandbox, None).run(renews=False)
        assert process.refused() == []
    finally:
        process.stop()
        for each in gone:
            base.api.create(each)


@pytest.mark.parametrize("right", RIGHTS, ids=str)
def test_every_right_is_needed(base: Cluster, sandbox: Sandbox, right: Right) -> None:
    with without(base, right):
        process = Process(base)
        try:
            day = Day(process, sandbox, right)
            day.run()
            assert day.is_refused(), "nothing that is done here needs it"
            assert set(process.refused()) == {right.refusal}
        finally:
            process.stop()
