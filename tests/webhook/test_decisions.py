"""Decisions are remembered for what they depend on, and for nothing else."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Awaitable, Callable

import pytest

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.core.drivers.auto import Published
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Refused
from tests.webhook.hosting import Cluster
from tests.webhook.pods import MODEL, Object, pod
from webhook.reviews.answer import Outcome
from webhook.reviews.decisions import LARGEST_BYTES, REMEMBERED, Decisions
from webhook.reviews.models import Models


class Counting(Models):
    """Counts how often a decision asks for its model, which each one does once."""

    def __init__(self) -> None:
        super().__init__(Catalog())
        self.asked = 0

    def resolve(self, selector: str) -> Model:
        self.asked += 1
        return super().resolve(selector)


class Desk:
    def __init__(self) -> None:
        self.models = Counting()
        self.cluster = Cluster(namespaces={"a": {"metadata": {}}, "b": {"metadata": {}}})
        self.decisions = Decisions(self.models, load_boards([]), self.cluster)

    async def made_anew(self, obj: Object, namespace: str = "a") -> bool:
        """Decides; whether that was more than remembering."""
        before = self.models.asked
        await self.decisions.over(obj, namespace)
        return self.models.asked > before


def run(test: Callable[[Desk], Awaitable[None]]) -> None:
    async def inside() -> None:
        await test(Desk())

    asyncio.run(inside())


def test_pods_of_a_workload_are_decided_once() -> None:
    async def test(desk: Desk) -> None:
        first, second = pod(), pod()
        second["metadata"]["generateName"] = "other-"
        second["spec"]["volumes"] = [{"name": "kube-api-access-x"}]
        assert await desk.made_anew(first)
        assert not await desk.made_anew(second)
        assert await desk.decisions.over(first, "a") is await desk.decisions.over(second, "a")
        assert desk.decisions.remembered(first, "a") is desk.decisions.remembered(second, "a")

    run(test)


def annotated(desk: Desk, obj: Object) -> None:
    obj["metadata"]["annotations"]["llmfit.ai/min-tps"] = "9"


def with_another_command(desk: Desk, obj: Object) -> None:
    obj["spec"]["containers"][0]["command"].append("--dtype=float32")


def in_a_namespace_with_defaults(desk: Desk, obj: Object) -> None:
    desk.cluster.namespaces["a"] = {"metadata": {"annotations": {"llmfit.ai/min-tps": "9"}}}


def with_other_slices(desk: Desk, obj: Object) -> None:
    desk.cluster.publishes = Published({("llmfit.ai", "gpu"): 1})


def in_another_version(desk: Desk, obj: Object) -> None:
    desk.cluster.api_version = "resource.k8s.io/v1beta2"


CHANGES = [
    annotated,
    with_another_command,
    in_a_namespace_with_defaults,
    with_other_slices,
    in_another_version,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_counts_is_decided_anew(change: Callable[[Desk, Object], None]) -> None:
    async def test(desk: Desk) -> None:
        obj = pod()
        before = await desk.decisions.over(copy.deepcopy(obj), "a")
        change(desk, obj)
        assert desk.decisions.remembered(obj, "a") is None
        assert await desk.made_anew(obj)
        after = await desk.decisions.over(obj, "a")
        assert before.template is not None
        assert after.template is not None
        assert before.template != after.template

    run(test)


def test_each_namespace_has_its_own_template() -> None:
    async def test(desk: Desk) -> None:
        made = [(await desk.decisions.over(pod(), name)).template for name in ("a", "b")]
        assert [each["metadata"]["namespace"] for each in made if each] == ["a", "b"]

    run(test)


def test_refusals_are_remembered_as_well() -> None:
    async def test(desk: Desk) -> None:
        for anew in (True, False):
            before = desk.models.asked
            refused = (await desk.decisions.over(pod("no/such-model"), "a")).verdict
            assert (refused.outcome, refused.token) == (Outcome.DENY, "unknown-model")
            assert (desk.models.asked > before) is anew

    run(test)


def test_memory_is_bounded() -> None:
    async def test(desk: Desk) -> None:
        large = pod()
        large["spec"]["containers"][0]["env"] = [{"name": "X", "value": "x" * LARGEST_BYTES}]
        assert await desk.made_anew(large)
        assert await desk.made_anew(large)
        assert await desk.made_anew(pod())
        for number in range(REMEMBERED):
            await desk.made_anew(pod(min_tps=f"1.{number:03d}"))
        assert await desk.made_anew(pod())

    run(test)


class Slow(Models):
    """A catalog whose searches take until they are let go."""

    def __init__(self) -> None:
        super().__init__(Catalog())
        self.at_it = 0
        self.let_go = threading.Event()

    def resolve(self, selector: str) -> Model:
        if not self.is_quick(selector):
            self.at_it += 1
            assert self.let_go.wait(20)
        return super().resolve(selector)


def test_a_search_keeps_nobody_else_waiting() -> None:
    """And there is one at a time, however many ask for one."""

    async def test() -> None:
        models = Slow()
        cluster = Cluster(namespaces={"a": {"metadata": {}}})
        decisions = Decisions(models, load_boards([]), cluster)
        searches = [
            asyncio.create_task(decisions.over(pod(f"no/such-model-{number}"), "a"))
            for number in range(3)
        ]
        while not models.at_it:
            await asyncio.sleep(0.005)
        assert (await decisions.over(pod(), "a")).verdict.outcome is Outcome.INJECT
        assert models.at_it == 1
        models.let_go.set()
        answers = await asyncio.gather(*searches)
        assert [each.verdict.outcome for each in answers] == [Outcome.DENY] * 3

    asyncio.run(test())


def test_a_search_is_foreseen() -> None:
    models = Models(Catalog())
    assert models.is_quick(MODEL)
    assert models.is_quick(f" {MODEL.upper()} ")
    assert not models.is_quick("no/such-model")
    for _ in range(2):
        with pytest.raises(Refused):
            models.resolve("no/such-model")
    assert models.is_quick("no/such-model")
