"""What goes or comes with the limits: variables that defeat a claim, and tolerations."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_llmfit.core.rewrite.decision import Finish, Inject
from kubectl_llmfit.core.rewrite.operations import applied, inverted
from tests.unit.rewrite.pods import Object, container, pod
from tests.unit.rewrite.test_decide import decided, deployment, vllm

TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
PLAIN = {"name": "HF_HOME", "value": "/models"}
ALL = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
FIRST = {"name": "CUDA_VISIBLE_DEVICES", "value": "0"}
MPS = {"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp/mps"}
VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}


def after(spec: Object, annotations: Object | None = None, **wishes: Any) -> Object:
    """The pod's spec of a Deployment after the decision, which can be undone exactly."""
    workload = deployment(spec, **(annotations or {}))
    decision = decided(workload, **wishes)
    assert isinstance(decision, Inject | Finish)
    result = applied(workload, decision.operations)
    assert applied(result, inverted(decision.operations)) == workload
    found: Object = result["spec"]["template"]["spec"]
    return found


def with_env(*env: Object, **more: Any) -> Object:
    return pod({**vllm(), "env": list(env), **more})


@pytest.mark.parametrize(
    ("env", "left"),
    [
        pytest.param([ALL, PLAIN], [PLAIN], id="first"),
        pytest.param([PLAIN, ALL, VOID], [PLAIN, VOID], id="middle"),
        pytest.param([ALL, PLAIN, FIRST, MPS], [PLAIN], id="several"),
        pytest.param([PLAIN], [PLAIN], id="none"),
    ],
)
def test_variables_that_defeat_the_claim_go(env: list[Object], left: list[Object]) -> None:
    assert after(with_env(*env))["containers"][0]["env"] == left


def test_nothing_is_left_of_a_list_of_them() -> None:
    assert "env" not in after(with_env(ALL, FIRST))["containers"][0]


@pytest.mark.parametrize(
    ("annotations", "wishes"),
    [
        pytest.param({}, {"keep_env": True}, id="flag"),
        pytest.param({"keep_env": "true"}, {}, id="annotation"),
    ],
)
def test_they_stay_on_request(annotations: Object, wishes: Object) -> None:
    assert after(with_env(ALL, PLAIN), annotations, **wishes)["containers"][0]["env"] == [
        ALL,
        PLAIN,
    ]


def test_a_container_without_devices_keeps_its_own() -> None:
    other = {**container("other", cpu=1), "env": [ALL]}
    assert after(pod(vllm(), other))["containers"][1]["env"] == [ALL]


@pytest.mark.parametrize(
    ("tolerations", "result"),
    [
        pytest.param({}, [TOLERATION], id="absent"),
        pytest.param({"tolerations": None}, [TOLERATION], id="null"),
        pytest.param(
            {"tolerations": [{"key": "zone", "operator": "Exists"}]},
            [{"key": "zone", "operator": "Exists"}, TOLERATION],
            id="another",
        ),
        pytest.param(
            {"tolerations": [{"key": "nvidia.com/gpu", "value": "present"}]},
            [{"key": "nvidia.com/gpu", "value": "present"}],
            id="there-already",
        ),
        pytest.param(
            {"tolerations": [{"operator": "Exists"}]}, [{"operator": "Exists"}], id="of-everything"
        ),
    ],
)
def test_toleration_of_the_limit_becomes_the_pods_own(tolerations: Object, result: Object) -> None:
    assert after({**pod(vllm()), **tolerations})["tolerations"] == result


def test_finishing_a_conversion_does_it_too() -> None:
    converted = after(with_env(PLAIN))
    main = converted["containers"][0]
    main["env"].append(ALL)
    main["resources"]["limits"] = {"nvidia.com/gpu": 1}
    del converted["tolerations"]
    again = after(converted)
    assert again["containers"][0]["env"] == [PLAIN]
    assert again["tolerations"] == [TOLERATION]


def test_kubernetes_own_names_have_no_taint() -> None:
    implicit = {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": 1}
    main = {**vllm(), "resources": {"limits": implicit}}
    assert "tolerations" not in after(pod(main))
