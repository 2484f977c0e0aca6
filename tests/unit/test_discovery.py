"""What a cluster is found to serve, for answers that the clusters of the tests do not give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kubectl_llmfit.cluster.api import Api
from kubectl_llmfit.cluster.discovery import Offer, discover
from kubectl_llmfit.cluster.kubectl import ApiError, Kubectl
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import Problem, Refused

CLASSES = {"items": [{"metadata": {"name": "gpu.example.com"}, "spec": {}}]}


def groups(*versions: str) -> dict[str, Any]:
    served = [{"groupVersion": f"resource.k8s.io/{version}"} for version in versions]
    return {"groups": [{"name": "apps"}, {"name": "resource.k8s.io", "versions": served}]}


class Answering(Api):
    """Answers from a table of paths; a text is the status of an error."""

    def __init__(self, answers: Mapping[str, dict[str, Any] | str]) -> None:
        super().__init__(Kubectl())
        self.answers = answers
        self.asked: list[str] = []

    def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        self.asked.append(path)
        answer = self.answers.get(path, "NotFound")
        if isinstance(answer, str):
            raise ApiError(Problem(reasons.CLUSTER_ERROR, answer), answer)
        return answer


def classes_of(version: str) -> str:
    return f"/apis/resource.k8s.io/{version}/deviceclasses"


def test_one_request_where_the_best_version_is_served() -> None:
    api = Answering({classes_of("v1"): CLASSES})
    assert discover(api) == Offer("resource.k8s.io/v1", {"gpu.example.com": None})
    assert api.asked == [classes_of("v1")]


def test_older_version() -> None:
    api = Answering({"/apis": groups("v1beta1"), classes_of("v1beta1"): CLASSES})
    assert discover(api) == Offer("resource.k8s.io/v1beta1", {"gpu.example.com": None})


def test_forbidden_says_nothing_of_the_version() -> None:
    """The API server looks at rights first, so that v1 may be forbidden and not served at all."""
    answers: dict[str, dict[str, Any] | str] = {
        classes_of("v1"): "Forbidden",
        classes_of("v1beta2"): "Forbidden",
        "/apis": groups("v1beta1", "v1beta2"),
    }
    offer = discover(Answering(answers))
    assert offer == Offer("resource.k8s.io/v1beta2", None)
    assert not offer.lacks("gpu.example.com")


@pytest.mark.parametrize("served", [(), ("v1alpha3",)], ids=["no-version", "too-old"])
def test_no_version_that_can_be_written(served: tuple[str, ...]) -> None:
    api = Answering({"/apis": groups(*served), "/version": {"gitVersion": "v1.31.2"}})
    with pytest.raises(Refused) as caught:
        discover(api)
    (problem,) = caught.value.problems
    assert problem.reason is reasons.NO_DRA
    assert "(v1.31.2)" in problem.sentence


@pytest.mark.parametrize("path", [classes_of("v1"), "/apis"])
def test_other_errors_are_the_servers_own(path: str) -> None:
    with pytest.raises(ApiError, match="InternalError"):
        discover(Answering({path: "InternalError"}))
