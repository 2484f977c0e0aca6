"""What is different about a workload in a cluster: who changes it too, and what can't change."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.rewrite.live import live_consequences, live_problems
from tests.unit.rewrite.pods import Object


def workload(kind: str = "StatefulSet", spec: Object | None = None, **metadata: Any) -> Object:
    return {"kind": kind, "metadata": {"name": "w", **metadata}, "spec": spec or {}}


def tokens(item: Object) -> list[str]:
    return [each.token for each in live_consequences(item)]


APPLIED = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}

# As the tools' own documentation says that they mark what they manage.
MANAGED = [
    pytest.param({"annotations": {"argocd.argoproj.io/tracking-id": "a:apps/x"}}, "Argo CD",
                 id="argo-annotation"),
    pytest.param({"labels": {"argocd.argoproj.io/instance": "a"}}, "Argo CD", id="argo-label"),
    pytest.param({"labels": {"kustomize.toolkit.fluxcd.io/name": "a",
                             "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}, "Flux",
                 id="flux-kustomization"),
    pytest.param({"labels": {"helm.toolkit.fluxcd.io/name": "a"},
                  "annotations": {"meta.helm.sh/release-name": "a"}}, "Flux", id="flux-release"),
    pytest.param({"labels": {"app.kubernetes.io/managed-by": "Helm"},
                  "annotations": {"meta.helm.sh/release-name": "a"}}, "Helm", id="helm"),
]  # fmt: skip


@pytest.mark.parametrize(("metadata", "manager"), MANAGED)
def test_who_puts_the_limit_back(metadata: Object, manager: str) -> None:
    told = list(live_consequences(workload(**metadata)))
    assert {each.token for each in told} == {"managed-elsewhere"}
    assert told[0].sentence.startswith(f"{manager} manages it")


def test_an_applied_configuration_is_told_where_no_manager_is() -> None:
    assert tokens(workload(annotations=APPLIED)) == ["last-applied-remembers-limits"]
    by_argo = {**APPLIED, "argocd.argoproj.io/tracking-id": "a"}
    assert tokens(workload(annotations=by_argo)) == ["managed-elsewhere"]


def surge(**update: Any) -> Object:
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": update}}


# k8s.io/api/apps/v1, DeploymentStrategy: RollingUpdate with maxSurge 25% when nothing is said.
ROLLOUTS = [
    pytest.param("Deployment", {}, True, id="default"),
    pytest.param("Deployment", surge(maxSurge=1), True, id="one"),
    pytest.param("Deployment", surge(maxSurge="10%"), True, id="percent"),
    pytest.param("Deployment", surge(maxSurge=0, maxUnavailable=1), False, id="none"),
    pytest.param("Deployment", surge(maxSurge="0%"), False, id="none-in-percent"),
    pytest.param("Deployment", {"strategy": {"type": "Recreate"}}, False, id="recreate"),
    pytest.param("Deployment", {"replicas": 0}, False, id="no-replicas"),
    pytest.param("StatefulSet", {}, False, id="stateful-set"),
]


@pytest.mark.parametrize(("kind", "spec", "told"), ROLLOUTS)
def test_rollout_that_needs_a_free_device(kind: str, spec: Object, told: bool) -> None:
    expected = ["rollout-needs-free-devices"] if told else []
    assert tokens(workload(kind, spec)) == expected


OWNER = [{"kind": "Deployment", "name": "d", "controller": True}]


@pytest.mark.parametrize(
    ("item", "token", "advice"),
    [
        pytest.param(workload("Pod"), "immutable-workload", "delete pod/w", id="bare-pod"),
        pytest.param(
            workload("Pod", ownerReferences=OWNER),
            "immutable-workload",
            "patch its owner deployment/d",
            id="owned-pod",
        ),
        pytest.param(workload("Job"), "immutable-workload", "delete pod/w", id="job"),
        pytest.param(workload("JobSet"), "immutable-workload", "delete pod/w", id="job-set"),
        pytest.param(
            workload("ReplicaSet", ownerReferences=OWNER),
            "owned-workload",
            "patch its owner deployment/d",
            id="owned-replica-set",
        ),
    ],
)
def test_what_cannot_be_patched(item: Object, token: str, advice: str) -> None:
    (problem,) = live_problems(item, "pod/w")
    assert problem.reason.token == token
    assert advice in problem.sentence


@pytest.mark.parametrize(
    "owners", [None, [], [{"kind": "Node", "name": "n"}], [{"controller": False}]]
)
def test_an_owner_that_does_not_control_is_no_reason(owners: Any) -> None:
    assert live_problems(workload(ownerReferences=owners), "w") == []
