"""Patch and restore: the way there and back, with and without others' changes in between."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.decision import Restore, Skip
from kubectl_llmfit.core.rewrite.inputs import Wishes
from kubectl_llmfit.core.rewrite.operations import applied, inverted
from kubectl_llmfit.core.rewrite.restore import restore
from kubectl_llmfit.core.rewrite.undo import UNDO, Step, read
from kubectl_llmfit.patching.decided import decide_workload
from tests.unit.rewrite.pods import Object, container, pod, sidecar
from tests.unit.rewrite.test_decide import KNOWLEDGE, deployment, vllm

ALL = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
PLAIN = {"name": "HF_HOME", "value": "/models"}


def patched(workload: Object) -> Object:
    """``workload`` as ``patch`` leaves it, with the record."""
    wishes = Wishes({}, Sourced("acme/ten", "--model"), container="vllm")
    decided = decide_workload(workload, "here", wishes, KNOWLEDGE, None)
    assert decided is not None
    return applied(workload, decided.operations)


def restored(workload: Object) -> Object:
    decision = restore(workload)
    assert isinstance(decision, Restore)
    result = applied(workload, decision.operations)
    assert applied(result, inverted(decision.operations)) == workload
    return result


def spec_of(workload: Object) -> Object:
    spec: Object = workload["spec"]["template"]["spec"]
    return spec


def tokens(workload: Object) -> list[str]:
    decision = restore(workload)
    assert isinstance(decision, Restore)
    return [each.token for each in decision.consequences]


WORKLOADS = [
    pytest.param(deployment(pod(vllm())), id="plain"),
    pytest.param(
        deployment({**pod(vllm(gpu=2, cpu=4)), "tolerations": [], "resourceClaims": []}),
        id="empty-lists",
    ),
    pytest.param(
        deployment({**pod(vllm()), "tolerations": None, "resourceClaims": None}), id="nulls"
    ),
    pytest.param(deployment(pod({**vllm(), "env": [ALL, PLAIN]})), id="variable-in-front"),
    pytest.param(deployment(pod({**vllm(), "env": [ALL]})), id="only-variable"),
    pytest.param(
        deployment(
            pod(vllm(), container("b", gpu=1), init=(sidecar(gpu=1), container("i", gpu=9)))
        ),
        id="all-roles",
    ),
    pytest.param({**deployment(pod(vllm())), "metadata": {"name": "d", "annotations": None}},
        id="annotations-null"),
    pytest.param({**deployment(pod(vllm())), "metadata": {"name": "d", "annotations": {}}},
        id="annotations-empty"),
    pytest.param({**deployment(pod(vllm())), "metadata": {"name": "d", "annotations": {"a": "b"}}},
        id="other-annotations"),
    pytest.param(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod(vllm())},
        id="pod",
    ),
]  # fmt: skip


@pytest.mark.parametrize("workload", WORKLOADS)
def test_there_and_back(workload: Object) -> None:
    after = patched(workload)
    assert UNDO in after["metadata"]["annotations"]
    assert restored(after) == workload
    assert tokens(after) == []


counts = st.sampled_from([0, 1, "2", None])
limits = st.dictionaries(
    st.sampled_from(["nvidia.com/gpu", "cpu", "nvidia.com/mig-1g.10gb", "rdma/ib"]), counts
)
maybe_null: st.SearchStrategy[Object] = st.sampled_from(
    [{}, {"limits": None}, {"claims": None}, {"requests": {}}]
)


@st.composite
def containers(draw: st.DrawFn, name: str) -> Object:
    resources = {**draw(maybe_null)}
    for section in ("limits", "requests"):
        if draw(st.booleans()):
            resources[section] = draw(limits)
    made: Object = {"name": name, "resources": resources}
    if draw(st.booleans()):
        made["env"] = draw(st.lists(st.sampled_from([ALL, PLAIN]), unique_by=lambda e: e["name"]))
    return made


@st.composite
def workloads(draw: st.DrawFn) -> Object:
    main = {**draw(containers("vllm")), "command": ["vllm", "serve", "acme/ten"]}
    main["resources"] = {**main["resources"], "limits": {"nvidia.com/gpu": 1, **draw(limits)}}
    spec: Object = {"containers": [main, draw(containers("b"))]}
    if draw(st.booleans()):
        spec["initContainers"] = [draw(containers("i"))]
    for field in ("tolerations", "resourceClaims"):
        if draw(st.booleans()):
            spec[field] = draw(st.sampled_from([None, [], [{"name": "other", "key": "k"}]]))
    return deployment(spec)


@given(workload=workloads())
def test_any_workload_there_and_back(workload: Object) -> None:
    try:
        after = patched(workload)
    except Refused:
        return
    if after != workload:
        assert restored(after) == workload
        assert tokens(after) == []


def others_add_a_container(workload: Object) -> None:
    spec_of(workload)["containers"].insert(0, container("new", cpu=1))


def others_add_a_limit(workload: Object) -> None:
    spec_of(workload)["containers"][0]["resources"]["limits"] = {"cpu": 2}


def others_change_labels(workload: Object) -> None:
    workload["spec"]["replicas"] = 7
    workload["metadata"]["annotations"]["team"] = "a"


def others_add_claims_and_tolerations(workload: Object) -> None:
    spec = spec_of(workload)
    spec["resourceClaims"].insert(0, {"name": "net", "resourceClaimName": "n"})
    spec["containers"][0]["resources"]["claims"].insert(0, {"name": "net"})
    spec["tolerations"].insert(0, {"operator": "Exists", "key": "zone"})


def others_add_variables(workload: Object) -> None:
    spec_of(workload)["containers"][0]["env"].append({"name": "NEW"})


def others_put_the_limit_back(workload: Object) -> None:
    spec_of(workload)["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": 1}


CHANGES: list[Any] = [
    others_add_a_container,
    others_add_a_limit,
    others_change_labels,
    others_add_claims_and_tolerations,
    others_add_variables,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_others_changed_stays(change: Callable[[Object], None]) -> None:
    """Patch, their change and restore come to the same as their change alone."""
    original = deployment({**pod({**vllm(), "env": [PLAIN, ALL]}), "tolerations": [PLAIN],
                           "resourceClaims": [{"name": "a"}]})  # fmt: skip
    original["metadata"]["annotations"] = {"a": "b"}
    resources = spec_of(original)["containers"][0]["resources"]
    resources["claims"] = [{"name": "a"}]
    expected = copy.deepcopy(original)
    change(expected)
    if change is others_add_a_limit:
        spec_of(expected)["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 1
    after = patched(original)
    change(after)
    assert restored(after) == expected
    assert tokens(after) == []


def test_limit_that_came_back_is_no_conflict() -> None:
    original = deployment(pod(vllm()))
    after = patched(original)
    others_put_the_limit_back(after)
    assert restored(after) == original
    assert restored(patched(after)) == original


def test_the_record_does_not_grow_with_every_round() -> None:
    after = patched(deployment(pod(vllm())))
    others_put_the_limit_back(after)
    once = patched(after)
    others_put_the_limit_back(once)
    twice = patched(once)
    assert twice["metadata"]["annotations"] == once["metadata"]["annotations"]


def test_container_that_is_gone_is_said() -> None:
    after = patched(deployment(pod(vllm())))
    spec_of(after)["containers"] = [container("new", cpu=1)]
    assert "gone-since" in tokens(after)
    assert spec_of(restored(after)) == pod(container("new", cpu=1))


def test_a_claim_that_others_use_now_stays() -> None:
    after = patched(deployment(pod(vllm())))
    new = {**container("new", cpu=1)}
    new["resources"]["claims"] = [{"name": "llmfit"}]
    spec_of(after)["containers"].append(new)
    assert tokens(after) == ["claim-still-used"]
    assert [each["name"] for each in spec_of(restored(after))["resourceClaims"]] == ["llmfit"]


def test_another_limit_stays_and_is_said() -> None:
    after = patched(deployment(pod(vllm())))
    spec_of(after)["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": 4}
    assert tokens(after) == ["changed-since"]
    (main,) = spec_of(restored(after))["containers"]
    assert main["resources"] == {"limits": {"nvidia.com/gpu": 4}}


def test_what_was_never_patched_is_left_alone() -> None:
    decision = restore(deployment(pod(vllm())))
    assert isinstance(decision, Skip)
    assert decision.reason.token == "not-patched"


def record(*places: Any, version: int = 1) -> str:
    operations = [{"path": place, "old": 1} for place in places]
    return json.dumps({"version": version, "operations": operations})


LIMIT = ["spec", "template", "spec", "containers", {"name": "a"}, "resources", "limits", "x"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("null", id="null"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"version":1,"operations":[]}', id="no-operations"),
        pytest.param('{"version":1,"operations":[{"path":1}]}', id="no-path"),
        pytest.param(record(LIMIT, version=2), id="of-another-version"),
        pytest.param(record(LIMIT, ["spec", "replicas"]), id="another-field"),
        pytest.param(record([*LIMIT[:5], "image"]), id="another-field-of-a-container"),
        pytest.param(record(["metadata", "finalizers"]), id="metadata"),
        pytest.param(record(*[LIMIT] * 1001), id="too-long"),
    ],
)
def test_a_record_that_no_patch_wrote_is_refused(text: str) -> None:
    workload = deployment(pod(vllm()))
    workload["metadata"]["annotations"] = {UNDO: text}
    with pytest.raises(Refused) as caught:
        restore(workload)
    assert [each.reason.token for each in caught.value.problems] == ["bad-undo-record"]


def test_a_patch_replaces_a_record_that_cannot_be_read() -> None:
    workload = deployment(pod(vllm()))
    workload["metadata"]["annotations"] = {UNDO: "x"}
    assert read(patched(workload)["metadata"]["annotations"][UNDO])


@given(st.text() | st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["version", "operations", "path", "old", "name"]), inner)
).map(json.dumps))  # fmt: skip
def test_any_annotation_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Refused):
        assert all(isinstance(step, Step) for step in read(text))
