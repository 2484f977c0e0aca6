"""Conditions on devices of slices: the scheduler's verdict is in tests/e2e/test_device_fit.py."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit.core.drivers.conditions import (
    All,
    AnyOf,
    AtLeast,
    BytesAtLeast,
    Condition,
    Has,
    HasCapacity,
    Is,
    IsNot,
    IsTrue,
    Lacks,
    OneOf,
)
from kubectl_llmfit.core.drivers.devices import Device, devices_of, published
from kubectl_llmfit.core.sizing.quantity import GI

D = "gpu.example.com"


def device(capacity: Any = None, **attributes: Any) -> Device:
    kinds = {str: "string", bool: "bool", int: "int"}
    fields: dict[str, Any] = {
        "attributes": {
            name: value if isinstance(value, dict) else {kinds[type(value)]: value}
            for name, value in attributes.items()
        }
    }
    if capacity is not None:
        fields["capacity"] = {"memory": {"value": capacity}}
    return Device(D, "gpu-0", "a", fields)


def _memory(memory_bytes: int) -> Condition:
    return BytesAtLeast(D, "memory", memory_bytes)


FAST = OneOf(D, "model", ("X", "Y"), "boards known to be fast enough")

TABLE: list[Any] = [
    pytest.param(Has(D, "a"), device(a="x"), "", id="has"),
    pytest.param(Has(D, "a"), device(b="x"), "publishes no a", id="has-not"),
    pytest.param(Has("other", "a"), device(a="x"), "publishes no a", id="of-another-domain"),
    pytest.param(Has("other", "a"), device(**{"other/a": "x"}), "", id="qualified"),
    pytest.param(Has(D, "a"), device(**{f"{D}/a": "x"}), "", id="own-domain-written-out"),
    pytest.param(Lacks(D, "a"), device(), "", id="lacks"),
    pytest.param(Lacks(D, "a"), device(a=False), "carries a", id="lacks-not"),
    pytest.param(Is(D, "type", "gpu"), device(type="gpu"), "", id="is"),
    pytest.param(
        Is(D, "type", "gpu"), device(type="mig"), 'has type "mig" and not gpu', id="other"
    ),
    pytest.param(Is(D, "type", "gpu"), device(type=1), 'has type "1" and not gpu', id="a-number"),
    pytest.param(
        Is(D, "type", "1.0.0"),
        device(type={"version": "1.0.0"}),
        "has type of another type and not 1.0.0",
        id="a-version-is-no-string",
    ),
    pytest.param(Is(D, "type", "gpu"), device(), "publishes no type", id="missing"),
    pytest.param(IsNot(D, "health", "Bad"), device(health="Unknown"), "", id="is-not"),
    pytest.param(IsNot(D, "health", "Bad"), device(health="Bad"), "has health Bad", id="is-bad"),
    pytest.param(IsTrue(D, "healthy"), device(healthy=True), "", id="true"),
    pytest.param(IsTrue(D, "healthy"), device(healthy=False), "is not healthy", id="false"),
    pytest.param(IsTrue(D, "healthy"), device(healthy="true"), "is not healthy", id="text"),
    pytest.param(FAST, device(model="Y"), "", id="one-of"),
    pytest.param(
        FAST,
        device(model="Z"),
        "is none of the 2 boards known to be fast enough",
        id="none-of",
    ),
    pytest.param(
        OneOf(D, "profile", ("1g",), "asked for"),
        device(profile="2g"),
        'has profile "2g", not "1g"',
        id="not-the-one",
    ),
    pytest.param(AtLeast(D, "bw", 161, "GB/s"), device(bw=161), "", id="enough"),
    pytest.param(AtLeast(D, "bw", 161, "GB/s"), device(bw=160), "has 160 of 161 GB/s", id="slower"),
    pytest.param(
        AtLeast(D, "bw", 161, "GB/s"), device(bw="999"), "publishes no number as bw", id="no-number"
    ),
    pytest.param(
        AtLeast(D, "bw", 1, "GB/s"), device(bw=True), "publishes no number as bw", id="bool"
    ),
    pytest.param(HasCapacity(D, "memory"), device("1"), "", id="memory"),
    pytest.param(HasCapacity(D, "memory"), device(), "publishes no memory", id="no-memory"),
    pytest.param(_memory(24 * GI), device("24Gi"), "", id="exactly"),
    pytest.param(_memory(24 * GI), device("25769803776"), "", id="in-bytes"),
    pytest.param(
        _memory(24 * GI),
        device("24575Mi"),
        "has 24575Mi of 24Gi memory",
        id="a-mi-less",
    ),
    pytest.param(_memory(24 * GI), device("24G"), "has 22889Mi of 24Gi memory", id="GB"),
    pytest.param(_memory(GI), device("0"), "has 0Gi of 1Gi memory", id="unreadable"),
    pytest.param(
        All((Has(D, "model"), FAST)), device(), "publishes no model", id="all-says-a-thing-once"
    ),
    pytest.param(
        All((_memory(24 * GI), FAST)),
        device("15Gi", model="Z"),
        "has 15Gi of 24Gi memory and is none of the 2 boards known to be fast enough",
        id="all-says-everything",
    ),
    pytest.param(
        AnyOf((All((FAST, _memory(24 * GI))), Is(D, "model", "Z"))),
        device("23Gi", model="X"),
        "has 23Gi of 24Gi memory",
        id="any-says-the-nearest",
    ),
    pytest.param(AnyOf((FAST, Is(D, "model", "Z"))), device(model="Z"), "", id="any"),
    pytest.param(AnyOf((Lacks(D, "a"), Is(D, "a", "x"))), device(), "", id="lacks-or"),
]


@pytest.mark.parametrize(("condition", "tested", "lacks"), TABLE)
def test_condition(condition: Condition, tested: Device, lacks: str) -> None:
    said = " and ".join(each.words for each in condition.shortfalls(tested))
    assert said == lacks
    assert condition.holds(tested) == (lacks == "")


NAMES = st.sampled_from(["a", "b", "type"])
VALUES = st.one_of(st.booleans(), st.integers(-1, 3), st.sampled_from(["x", "y"]))
SIMPLE: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Has, st.just(D), NAMES),
    st.builds(Lacks, st.just(D), NAMES),
    st.builds(IsTrue, st.just(D), NAMES),
    st.builds(Is, st.just(D), NAMES, st.sampled_from(["x", "y"])),
    st.builds(IsNot, st.just(D), NAMES, st.sampled_from(["x", "y"])),
    st.builds(OneOf, st.just(D), NAMES, st.just(("x", "z")), st.just("asked for")),
    st.builds(AtLeast, st.just(D), NAMES, st.integers(1, 3), st.just("GB/s")),
    st.builds(_memory, st.integers(1, 3).map(lambda gi: gi * GI)),
)
CONDITIONS = st.recursive(
    SIMPLE,
    lambda parts: st.one_of(
        st.builds(All, st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(parts, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
DEVICES = st.builds(
    lambda attributes, memory: device(memory, **attributes),
    st.dictionaries(NAMES, VALUES),
    st.sampled_from([None, "0", "1Gi", "2048Mi", "5G"]),
)


@given(CONDITIONS, DEVICES)
def test_what_does_not_hold_has_a_shortfall_and_what_holds_has_none(
    condition: Condition, tested: Device
) -> None:
    shortfalls = condition.shortfalls(tested)
    assert condition.holds(tested) == (not shortfalls)
    assert all(each.distance > 0 and each.words.isprintable() for each in shortfalls)


def slices(*specs: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"spec": {"driver": D, **spec}} for spec in specs]


def pool(generation: int, *names: str) -> dict[str, Any]:
    devices = [{"name": name} for name in names]
    return {"pool": {"name": "p", "generation": generation}, "nodeName": "a", "devices": devices}


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    found = devices_of(slices(pool(2, "new"), pool(1, "old", "gone"), pool(2, "more")))
    assert [each.name for each in found] == ["new", "more"]


@pytest.mark.parametrize("wrapped", [False, True], ids=["v1", "v1beta1"])
def test_both_forms_of_a_device(wrapped: bool) -> None:
    fields = {
        "attributes": {"type": {"string": "gpu"}},
        "capacity": {"memory": {"value": "2Gi"}},
        "taints": [{"key": "ill", "effect": "NoExecute"}, {"key": "note", "effect": "None"}],
    }
    shown = {"name": "g", "basic": fields} if wrapped else {"name": "g", **fields}
    (found,) = devices_of(slices({"nodeName": "a", "devices": [shown]}))
    assert (found.name, found.node, found.attribute(D, "type")) == ("g", "a", "gpu")
    assert found.capacity(D, "memory") == 2 * GI
    assert found.taints == ("ill",)


@pytest.mark.parametrize(
    ("spec", "device_fields", "node"),
    [
        pytest.param({"nodeName": "a"}, {}, "a", id="node"),
        pytest.param({"allNodes": True}, {}, None, id="all-nodes"),
        pytest.param({"nodeSelector": {}}, {}, None, id="node-selector"),
        pytest.param({"perDeviceNodeSelection": True}, {"nodeName": "b"}, "b", id="per-device"),
    ],
)
def test_node_of_a_device(
    spec: dict[str, Any], device_fields: dict[str, Any], node: str | None
) -> None:
    (found,) = devices_of(slices({**spec, "devices": [{"name": "g", **device_fields}]}))
    assert found.node == node


def test_counts_by_driver_and_kind() -> None:
    each = [device(type="gpu"), device(type="mig"), device(kind="gpu"), device()]
    each.append(device(kind="gpu", vendorManaged=True))
    counts = published(each).counts
    assert dict(counts) == {(D, "gpu"): 2, (D, "mig"): 1, (D, ""): 1, (D, "vendorManaged"): 1}


@pytest.mark.parametrize(
    "spec",
    [{}, {"devices": None}, {"devices": [{}]}, {"devices": [{"name": "x", "attributes": None}]}],
    ids=repr,
)
def test_barest_slices(spec: dict[str, Any]) -> None:
    for each in devices_of([{"spec": spec}, {}]):
        assert each.attribute(D, "type") is None
        assert each.capacity(D, "memory") is None
        assert (each.taints, each.is_shared) == ((), False)
