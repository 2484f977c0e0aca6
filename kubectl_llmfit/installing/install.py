"""Putting the webhook into a cluster: the server first, its configuration once it is ready."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from kubectl_llmfit.cluster.api import FIELD_MANAGER, Api, Object
from kubectl_llmfit.cluster.kubectl import FIELD_CONFLICT, ApiError
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Refused, refuse
from kubectl_llmfit.installing import manifests
from kubectl_llmfit.installing.observing import (
    CONFIGURATION_PATH,
    ca_bundle,
    rollout,
    waiting_because,
)

PAUSE_SECONDS = 1.0
_NEEDED_FOR = {
    "monitoring.coreos.com/v1": "the Prometheus operator, or leave out --overlay monitoring",
    "cert-manager.io/v1": "cert-manager, or leave out --overlay cert-manager",
}


@dataclass(frozen=True)
class Installed:
    """What the server made of the objects, and the names of those that were taken away."""

    made: list[Object]
    gone: list[str]


@dataclass(frozen=True)
class Installer:
    """How to install: over which connection, for real or not, and how long to wait.

    Attributes:
        wait_seconds: longest wait for the server and for its certificate; 0 waits for neither.
    """

    api: Api
    dry_run: bool = False
    wait_seconds: float = 0
    field_manager: str = FIELD_MANAGER
    force_conflicts: bool = False

    def install(self, wanted: Sequence[Object]) -> Installed:
        """Puts ``wanted`` into the cluster.

        Objects of overlays that are no longer wanted are taken away. The configuration comes last,
        once every replica is ready, so that the API server calls nobody who can't answer.

        Raises:
            Refused: ``webhook-not-ready``, with the configuration as it was before; or why the
                cluster refused.
        """
        self._check_kinds(wanted)
        server = [each for each in wanted if each["kind"] != manifests.CONFIGURATION]
        configuration = [each for each in wanted if each["kind"] == manifests.CONFIGURATION]
        if self.dry_run and self._namespace_is_missing():
            # Nothing can be tried in a namespace that is not there.
            server = [each for each in server if "namespace" not in each["metadata"]]
        made = self._apply(server)
        self._wait_for_server()
        made += self._apply(configuration)
        self._wait_for_trust()
        gone = self.api.delete_all(self._superseded(wanted), dry_run=self.dry_run)
        return Installed(made, gone)

    def _namespace_is_missing(self) -> bool:
        return self.api.find(f"/api/v1/namespaces/{manifests.NAMESPACE}") is None

    def _apply(self, items: Sequence[Object]) -> list[Object]:
        try:
            return self.api.apply_all(
                items,
                field_manager=self.field_manager,
                dry_run=self.dry_run,
                force_conflicts=self.force_conflicts,
            )
        except ApiError as error:
            if error.status != FIELD_CONFLICT:
                raise
            said = f"{error.problems[0].sentence}; --force-conflicts takes the fields over"
            raise ApiError(Problem(reasons.CLUSTER_ERROR, said), error.status) from None

    def _check_kinds(self, wanted: Sequence[Object]) -> None:
        """An overlay whose kinds the cluster lacks is refused before anything is changed."""
        problems = []
        for version, remedy in _NEEDED_FOR.items():
            kinds = sorted({each["kind"] for each in wanted if each["apiVersion"] == version})
            if kinds and not self.api.serves(version):
                sentence = f"the cluster has no {', '.join(kinds)} of {version}; install {remedy}"
                problems.append(Problem(reasons.CLUSTER_ERROR, sentence))
        if problems:
            raise Refused(problems)

    def _superseded(self, wanted: Sequence[Object]) -> list[Object]:
        keys = {manifests.key(each) for each in wanted}
        others = [each for each in manifests.every_object() if manifests.key(each) not in keys]
        return served(self.api, others)

    def _wait_for_server(self) -> None:
        if self.dry_run or not self.wait_seconds:
            return
        deadline = time.monotonic() + self.wait_seconds
        while not (state := rollout(self.api)).done:
            if time.monotonic() >= deadline:
                raise refuse(
                    reasons.WEBHOOK_NOT_READY,
                    f"{state} after {self.wait_seconds:g} s{waiting_because(self.api)}; the "
                    "webhook's configuration stays as it was, so no pod is held up; mend the "
                    "cause and run the command again",
                )
            time.sleep(PAUSE_SECONDS)

    def _wait_for_trust(self) -> None:
        if self.dry_run or not self.wait_seconds:
            return
        deadline = time.monotonic() + self.wait_seconds
        while not ca_bundle(self.api.get(CONFIGURATION_PATH)):
            if time.monotonic() >= deadline:
                raise refuse(
                    reasons.WEBHOOK_NOT_READY,
                    f"nothing has put a caBundle into the webhook's configuration for "
                    f"{self.wait_seconds:g} s, so every call of it fails; see the log of "
                    f"deployment/{manifests.NAME}, or of cert-manager's CA injector",
                )
            time.sleep(PAUSE_SECONDS)


def served(api: Api, items: Sequence[Object]) -> list[Object]:
    """Those of ``items`` whose kinds the cluster has."""
    versions = {each["apiVersion"] for each in items}
    unserved = {each for each in versions & set(_NEEDED_FOR) if not api.serves(each)}
    return [each for each in items if each["apiVersion"] not in unserved]
