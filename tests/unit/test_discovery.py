"""What a cluster is found to have, for answers that the clusters of the tests do not give."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.discovery import CLASSES, NODES, SLICES, Offer, discover
from kubectl_llmfit.cluster.kubectl import NO_SUCH_TYPE, ApiError, Kubectl
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Refused
from kubectl_llmfit.core.rewrite.surroundings import Surroundings

Object = dict[str, Any]
ALL = (CLASSES, SLICES, NODES)


def item(kind: str, version: str = "resource.k8s.io/v1", **fields: Any) -> Object:
    metadata = {"name": fields.pop("name", "gpu.example.com")}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def listed(*items: Object) -> Object:
    return {"kind": "List", "items": list(items)}


def groups(*versions: str) -> Object:
    served = [{"groupVersion": f"resource.k8s.io/{version}"} for version in versions]
    return {"groups": [{"name": "apps"}, {"name": "resource.k8s.io", "versions": served}]}


def error(status: str, *sentences: str, output: str = "") -> ApiError:
    first, *others = (Problem(reasons.CLUSTER_ERROR, each) for each in sentences or (status,))
    return ApiError(first, status, *others, output=output)


def forbidden(*kinds: str, read: Object) -> ApiError:
    """As kubectl answers where some kinds may not be listed: the others, and a line for each."""
    return error("Forbidden", *(f"{kind} is forbidden" for kind in kinds), output=json.dumps(read))


class Answering(Kubectl):
    """Answers from a table of what is asked for: paths, and kinds in one word."""

    def __init__(self, answers: Mapping[str, Object | ApiError]) -> None:
        super().__init__()
        object.__setattr__(self, "answers", answers)
        object.__setattr__(self, "asked", [])

    def run(self, arguments: Sequence[str], stdin: str | None = None) -> str:
        word = arguments[1].removeprefix("--raw=").partition("?")[0]
        self.asked.append(word)  # type: ignore[attr-defined]
        answer = self.answers.get(word, error("NotFound"))  # type: ignore[attr-defined]
        if isinstance(answer, ApiError):
            raise answer
        return json.dumps(answer)


def found(answers: Mapping[str, Object | ApiError]) -> tuple[Offer, list[str]]:
    kubectl = Answering(answers)
    return discover(Api(kubectl), ALL), kubectl.asked  # type: ignore[attr-defined]


NODE = item("Node", "v1", name="a")
WORD = "deviceclasses.v1.resource.k8s.io,resourceslices.v1.resource.k8s.io,nodes"


def test_one_call_tells_everything() -> None:
    slices = item("ResourceSlice", spec={"driver": "d", "devices": [{"name": "g"}]})
    classes = item("DeviceClass", spec={"extendedResourceName": "example.com/gpu"})
    offer, asked = found({WORD: listed(classes, slices, NODE)})
    assert asked == [WORD]
    assert offer.api_version == "resource.k8s.io/v1"
    assert offer.has.device_classes == {"gpu.example.com": "example.com/gpu"}
    assert offer.has.nodes == (NODE,)
    assert offer.has.published is not None
    assert offer.has.published.by("d") == 1
    assert offer.unread == ()


def test_nothing_there_is_known_as_such() -> None:
    offer, asked = found({WORD: listed()})
    assert offer == Offer("resource.k8s.io/v1", Surroundings({}, (), ()))
    assert asked == [WORD]


@pytest.mark.parametrize(
    ("hidden", "has"),
    [
        pytest.param(
            (SLICES, NODES), Surroundings(device_classes={"gpu.example.com": None}), id="classes"
        ),
        pytest.param((CLASSES, SLICES), Surroundings(nodes=(NODE,)), id="nodes"),
        pytest.param(ALL, Surroundings(), id="nothing"),
    ],
)
def test_what_may_not_be_read_is_not_known(hidden: Sequence[str], has: Surroundings) -> None:
    every = {CLASSES: item("DeviceClass"), NODES: NODE}
    read = listed(*(each for kind, each in every.items() if kind not in hidden))
    offer, asked = found({WORD: forbidden(*hidden, read=read)})
    assert asked == [WORD]
    assert (offer.api_version, offer.has) == ("resource.k8s.io/v1", has)
    assert len(offer.unread) == len(hidden)
    assert not Surroundings().lacks("gpu.example.com")


@pytest.mark.parametrize(
    ("served", "best"),
    [
        pytest.param(("v1beta1",), "v1beta1", id="oldest"),
        pytest.param(("v1beta2", "v1beta1"), "v1beta2", id="older"),
        pytest.param(("v1beta1", "v1"), "v1", id="kubectls-list-is-old"),
    ],
)
def test_plain_requests_where_kubectl_knows_no_such_type(served: Sequence[str], best: str) -> None:
    path = f"/apis/resource.k8s.io/{best}"
    answers: dict[str, Object | ApiError] = {
        WORD: error(NO_SUCH_TYPE),
        "/apis": groups(*served),
        f"{path}/deviceclasses": {"items": [item("DeviceClass")]},
        f"{path}/resourceslices": error("Forbidden"),
        "/api/v1/nodes": {"items": [NODE]},
    }
    offer, _ = found(answers)
    assert offer.api_version == f"resource.k8s.io/{best}"
    assert offer.has == Surroundings({"gpu.example.com": None}, None, (NODE,))
    assert len(offer.unread) == 1


@pytest.mark.parametrize("served", [(), ("v1alpha3",)], ids=["no-version", "too-old"])
def test_no_version_that_can_be_written(served: tuple[str, ...]) -> None:
    answers: dict[str, Object | ApiError] = {
        WORD: error(NO_SUCH_TYPE),
        "/apis": groups(*served),
        "/version": {"gitVersion": "v1.31.2"},
    }
    with pytest.raises(Refused) as caught:
        found(answers)
    (problem,) = caught.value.problems
    assert problem.reason is reasons.NO_DRA
    assert "(v1.31.2)" in problem.sentence


@pytest.mark.parametrize("word", [WORD, "/apis"])
def test_other_errors_are_the_servers_own(word: str) -> None:
    answers = {WORD: error(NO_SUCH_TYPE)} | {word: error("InternalError")}
    with pytest.raises(ApiError, match="InternalError"):
        found(answers)
