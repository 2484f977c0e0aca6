"""What is kept of a template: comparable, and small whatever others write."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from webhook.templates.known import KnownTemplate, canonical

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def template(spec: Any, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", **metadata}, "spec": spec}


@given(st.dictionaries(st.text(min_size=1), JSON))
def test_the_order_of_keys_does_not_count(spec: dict[str, Any]) -> None:
    turned = dict(reversed(list(spec.items())))
    assert canonical(spec) == canonical(turned)


def test_what_the_server_writes_out_does_not_count() -> None:
    assert canonical({"metadata": {}, "spec": {"devices": {}}}) == canonical(
        {"spec": {"devices": {}}}
    )
    labelled = {"metadata": {"labels": {"a": "b"}}, "spec": {}}
    assert canonical(labelled) != canonical({"spec": {}})


def test_takes_little_whatever_others_write() -> None:
    owners = [{"uid": str(n)} for n in range(10_000)]
    spec = {"spec": {"devices": {"requests": [{"name": "x" * 1_000_000}]}}}
    known = KnownTemplate.of(template(spec, ownerReferences=owners), "resource.k8s.io/v1")
    assert known.spec == b""
    assert len(known.owners) == 100


def test_marks() -> None:
    own = {"app.kubernetes.io/managed-by": "llmfit-webhook"}
    known = KnownTemplate.of(template({}, labels=own, ownerReferences=[{"uid": "u"}]), "v")
    assert known == KnownTemplate("v", b"{}", frozenset({"u"}), is_own=True, is_ending=False)
    ending = template({}, labels={"app.kubernetes.io/managed-by": "x"}, deletionTimestamp="t")
    assert KnownTemplate.of(ending | {"apiVersion": "w"}, "v") == KnownTemplate(
        "w", b"{}", frozenset(), is_own=False, is_ending=True
    )
