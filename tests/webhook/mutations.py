"""Reviews, and what becomes of one whose JSON somebody has tampered with; all by a seed."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.webhook.pods import MODEL, Object, pod, review

FRAGMENTS = [
    "'] || true || device.attributes['", "\") || true", "${jndi:ldap://x}", "{{ .Values }}",
    '"}\n{"level":"error","message":"forged"}', "\r\nX-Evil: 1", "\u0000", "\u202e", "\u2028",
    "\x1b[2J", "\U0001f600", "20\n", "-1", "1e400", "nan", "0x10", "1_0", "٣", "../../x", "%s%n",
]  # fmt: skip
"""Texts that mean something to CEL, logs, headers, terminals, templates or number readers."""

_ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 2**31, 2**63, 10**30, -(10**4000), 1e308, "", " ", "x", [], {},
    [None], [[]], {"": ""}, {"a": {"b": []}}, "x" * 300, "'" * 70_000, ["x"] * 3000,
    {str(number): number for number in range(3000)}, *FRAGMENTS,
]  # fmt: skip

_RAW = [
    "NaN", "Infinity", "-Infinity", "-0", "1e99999", "1e-99999", "9" * 5000, "0." + "1" * 5000,
    "01", "1.", "+1", ".5", "0x10", "tru", "nul", "'x'", "/**/1", "\ufeff1", "1,", "[,]", "{,}",
    '{"a":1,"a":2}', '"\\ud800"', '"\\udc00\\ud800"', '"\\x41"', '"\\u12"', '"\t"', '"\x00"',
    '"\ud800"', "[" * 50 + "]" * 50, "[" * 300 + "]" * 300, "[" * 100_000 + "]" * 100_000,
    '{"a":' * 150 + "0" + "}" * 150, '{"a":' * 50_000 + "0" + "}" * 50_000, "[" * 70_000, "}" * 99,
]  # fmt: skip
"""What no JSON writer would write; each stands in the text where a value was."""

_MARK = "raw-text-%d"
_KEY = re.compile(r'"[A-Za-z][\w./-]*": ')


def reviews() -> list[Object]:
    """Reviews as an API server may send them; all but the last four end with a claim."""
    many = pod(min_tps="60")
    many["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "2"
    owned = pod(quant="Q8_0")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "vllm-5d4f"}
    reference |= {"uid": "0c9e3d4e-0000-4000-8000-1f2e3d4c5b6a"}
    owned["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
    beside = pod()
    beside["spec"]["initContainers"] = [{"name": "fetch", "image": "busybox", "env": []}]
    beside["spec"]["containers"].append({"name": "proxy", "image": "proxy:1", "resources": {}})
    beside["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    return [
        review(pod()),
        review(pod(), dryRun=True),
        review(many),
        review(owned),
        review(beside),
        review(pod(min_tps="fast")),
        review(pod("no/such-model")),
        review(pod(None)),
        review(pod(), operation="UPDATE", oldObject=pod()),
    ]


def tampered(rng: random.Random) -> bytes:
    """The text of a review, changed in one place or several."""
    tree = copy.deepcopy(rng.choice(reviews()))
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        rng.choice(_CHANGES)(rng, tree)
    text = json.dumps(tree)
    for number, raw in enumerate(_RAW):
        text = text.replace(json.dumps(_MARK % number), raw)
    if rng.random() < 0.15:
        text = _with_a_key_twice(rng, text)
    return text.encode("utf-8", "surrogatepass")


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Each value below ``node``, as what holds it and under which key or index."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from _places(node[key])


def _place(rng: random.Random, tree: Object) -> tuple[Any, Any]:
    """One of the places, as likely near the root as far from it."""
    places = list(_places(tree))
    return rng.choice(places if rng.random() < 0.5 else places[: max(1, len(places) // 4)])


def _drop(rng: random.Random, tree: Object) -> None:
    if tree:
        parent, key = _place(rng, tree)
        del parent[key]


def _replace(rng: random.Random, tree: Object) -> None:
    if tree:
        parent, key = _place(rng, tree)
        parent[key] = copy.deepcopy(rng.choice(_ODD))


def _write_raw(rng: random.Random, tree: Object) -> None:
    if tree:
        parent, key = _place(rng, tree)
        parent[key] = _MARK % rng.randrange(len(_RAW))


def _retype(rng: random.Random, tree: Object) -> None:
    """The same value in another type."""
    if tree:
        parent, key = _place(rng, tree)
        now = parent[key]
        parent[key] = rng.choice([[now], {"value": now}, str(now), json.dumps(now), not now])


def _swap(rng: random.Random, tree: Object) -> None:
    """A value of somewhere else."""
    if tree:
        (parent, key), (other, there) = _place(rng, tree), _place(rng, tree)
        parent[key] = copy.deepcopy(other[there])


def _nest(rng: random.Random, tree: Object) -> None:
    if tree:
        parent, key = _place(rng, tree)
        for _ in range(rng.choice((2, 20, 90))):
            parent[key] = rng.choice([[parent[key]], {"x": parent[key]}])


def _double(rng: random.Random, tree: Object) -> None:
    """A list with its last item many times; an object with a copy of itself in it."""
    parent, key = _place(rng, tree) if tree else (None, None)
    now = parent[key] if parent is not None else None
    if isinstance(now, list) and now:
        now.extend(copy.deepcopy(now[-1:]) * rng.choice((1, 3, 500)))
    elif isinstance(now, dict):
        now["again"] = copy.deepcopy(now)


def _rename(rng: random.Random, tree: Object) -> None:
    parent, key = _place(rng, tree) if tree else (None, "")
    if isinstance(parent, dict):
        names = [key.upper(), f" {key}", f"{key}\x00", "", "__proto__", rng.choice(FRAGMENTS)]
        parent[rng.choice(names)] = parent.pop(key)


def _annotate(rng: random.Random, tree: Object) -> None:
    """An annotation of ours with a text that means something elsewhere."""
    names = ("model", "quant", "min-tps", "efficiency", "driver", "device-class", "topology")
    request = tree.get("request")
    obj = request.get("object") if isinstance(request, dict) else None
    meta = obj.get("metadata") if isinstance(obj, dict) else None
    if isinstance(meta, dict) and isinstance(meta.get("annotations"), dict):
        text = "".join(rng.choices([*FRAGMENTS, MODEL, "70", "Q8_0"], k=rng.randrange(4)))
        meta["annotations"][f"llmfit.ai/{rng.choice(names)}"] = text


_CHANGES: list[Callable[[random.Random, Object], None]] = [
    _drop, _replace, _replace, _write_raw, _retype, _swap, _nest, _double, _rename, _annotate,
]  # fmt: skip


def _with_a_key_twice(rng: random.Random, text: str) -> str:
    found = list(_KEY.finditer(text))
    if not found:
        return text
    at = rng.choice(found)
    other = json.dumps(rng.choice(_ODD))
    return f"{text[: at.start()]}{at[0]}{other}, {text[at.start() :]}"
