"""Annotation values and pods are data: whatever they hold, the answer is one that can be trusted.

Every review goes through the port, so that headers, log lines and JSON are the real ones.
"""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.rewrite.survey import survey
from tests.webhook.hosting import Hosted
from tests.webhook.mutations import FRAGMENTS
from tests.webhook.pods import MODEL, UID, Object, patch_of, patched, pod, review
from webhook.observed import logs
from webhook.reviews.answer import Outcome

TOKENS = {each.token for each in reasons.ALL}
ANNOTATIONS = ("model", "quant", "min-tps", "efficiency", "driver", "device-class", "topology")

# A CEL selector of ours: fixed text, whole numbers, and names of the shipped board table.
NVIDIA = (
    r"'type' in device\.attributes\['gpu\.nvidia\.com'\] && "
    r"device\.attributes\['gpu\.nvidia\.com'\]\.type == 'gpu' && "
    r"'memory' in device\.capacity\['gpu\.nvidia\.com'\] && "
    r"device\.capacity\['gpu\.nvidia\.com'\]\.memory\.compareTo\(quantity\('\d+Gi'\)\) >= 0 && "
    r"'productName' in device\.attributes\['gpu\.nvidia\.com'\] && "
    r"device\.attributes\['gpu\.nvidia\.com'\]\.productName in "
    r"\[('(NVIDIA|Quadro|Tesla) [A-Za-z0-9 -]+'(, )?)+\]"
)
LLMFIT = (
    r"'memory' in device\.capacity\['llmfit\.ai'\] && "
    r"device\.capacity\['llmfit\.ai'\]\.memory\.compareTo\(quantity\('\d+Gi'\)\) >= 0 && "
    r"'memoryBandwidthGBs' in device\.attributes\['llmfit\.ai'\] && "
    r"device\.attributes\['llmfit\.ai'\]\.memoryBandwidthGBs >= \d+ && "
    r"'healthy' in device\.attributes\['llmfit\.ai'\] && "
    r"device\.attributes\['llmfit\.ai'\]\.healthy"
)
SELECTOR = re.compile(f"{NVIDIA}|{LLMFIT}")

VALID = [MODEL, MODEL.lower(), f" {MODEL}\t", "30", " 2e1 ", "70", "Q8_0", "q4_k_m", "BF16", "pcie",
         "llmfit.ai", "gpu.nvidia.com", "gpu.llmfit.ai", "numa"]  # fmt: skip

values = st.one_of(
    st.sampled_from(VALID),
    st.sampled_from(FRAGMENTS),
    st.text(max_size=30),
    st.builds("".join, st.lists(st.sampled_from([*VALID, *FRAGMENTS]), max_size=3)),
    st.builds(lambda text, times: text * times, st.sampled_from(FRAGMENTS), st.just(200)),
)
hostile_marks = st.dictionaries(
    st.sampled_from([f"llmfit.ai/{name}" for name in ANNOTATIONS]), values, max_size=4
)

quantities: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([1, "1", "2", 0, "500m", "-1", None, [], {}, True, 1.5, "1e9", 10**30, "x"]),
    st.sampled_from(FRAGMENTS),
)
odd: st.SearchStrategy[Any] = st.sampled_from([None, [], {}, 0, "", "x", True])
maps = st.dictionaries(
    st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "amd.com/gpu", "cpu", "a~/b"]),
    quantities,
    max_size=3,
)
resources = st.fixed_dictionaries(
    {}, optional={"limits": maps | odd, "requests": maps | odd, "claims": odd}
)
containers = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "", None, FRAGMENTS[4]]),
        "command": st.sampled_from([["vllm", "serve", MODEL], None, "x", [None], [FRAGMENTS[0]]]),
        "env": st.sampled_from(
            [None, [None], [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]]
        ),
        "restartPolicy": st.just("Always"),
        "resources": resources | odd,
    },
)
lists = st.lists(containers | odd, max_size=3)
specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": lists | odd,
        "initContainers": lists | odd,
        "resourceClaims": odd | st.sampled_from([[None], [{"name": "llmfit"}]]),
        "tolerations": odd,
        "nodeSelector": odd,
        "runtimeClassName": odd,
    },
)


class Lines:
    """The log as it is written."""

    def __init__(self, written: io.StringIO) -> None:
        self._written = written

    def take(self) -> list[str]:
        text = self._written.getvalue()
        self._written.seek(0)
        self._written.truncate()
        return text.split("\n")[:-1]


@pytest.fixture(scope="module")
def lines() -> Iterator[Lines]:
    logger, written = logging.getLogger("webhook"), io.StringIO()
    logger.setLevel(logging.INFO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "sys", SimpleNamespace(stderr=written))
        yield Lines(written)
    logger.setLevel(logging.NOTSET)


def checked_line(lines: Lines) -> Object:
    """The one line of a review: JSON, printable ASCII, bounded, in the process's own words."""
    (line,) = lines.take()
    assert line.isascii()
    assert line.isprintable()
    assert len(line) < 4000
    said: Object = json.loads(line)
    assert said["level"] == "info"
    assert said["uid"] == UID
    assert said["decision"] in [str(each) for each in Outcome]
    assert said.get("reason", reasons.BAD_USAGE.token) in TOKENS
    return said


def checked_answer(webhook: Hosted, obj: Object, lines: Lines) -> Object:
    """The response to a review of ``obj``, after everything that holds for each of them."""
    lines.take()
    answered = webhook.send(review(obj))
    assert answered.status_code == 200, answered.text
    assert {name.lower() for name in answered.headers} == {
        "content-type", "content-length", "date", "server",
    }  # fmt: skip
    response: Object = answered.json()["response"]
    assert response["uid"] == UID
    assert set(response) <= {
        "uid", "allowed", "status", "patchType", "patch", "warnings", "auditAnnotations",
    }  # fmt: skip
    assert response["allowed"] is ("status" not in response)
    said = [*response.get("warnings", []), *response["auditAnnotations"].values()]
    assert all(text.isprintable() for text in said)
    assert all(len(text) <= 120 for text in response.get("warnings", []))
    assert all(re.search(r" \([a-z-]+\)$", text) for text in response.get("warnings", []))
    assert sum(map(len, response.get("warnings", []))) <= 4096
    if "status" in response:
        message = response["status"]["message"]
        assert message.isprintable()
        assert len(message) <= 1000
        assert message.rpartition("(")[2].removesuffix(")") in TOKENS
    assert checked_line(lines)["decision"] == response["auditAnnotations"]["decision"]
    return response


def check_template(template: Object) -> None:
    for request in template["spec"]["spec"]["devices"]["requests"]:
        exactly = request["exactly"]
        assert re.fullmatch("[a-z0-9-]+", request["name"])
        assert re.fullmatch("[a-z0-9.-]+", exactly["deviceClassName"])
        for selector in exactly.get("selectors", []):
            assert SELECTOR.fullmatch(selector["cel"]["expression"])


def check_patch(obj: Object, response: Object) -> Object:
    """The pod after the patch: no limit beside a claim, and nothing else touched."""
    patch = patch_of(response)
    for operation in patch:
        assert re.match(
            r"/spec/(containers/\d+/(resources|env)|initContainers/\d+/(resources|env)"
            r"|resourceClaims|tolerations)(/|$)",
            operation["path"],
        )
    after = patched(obj, patch)
    if patch:
        assert all(want.count == 0 for each in survey(after["spec"]).wanting for want in each.wants)
    return after


@settings(max_examples=150, deadline=None)
@given(marks=hostile_marks)
def test_hostile_annotations(running: Hosted, lines: Lines, marks: dict[str, str]) -> None:
    obj = pod()
    obj["metadata"]["annotations"] |= marks
    running.cluster.made.clear()
    response = checked_answer(running, obj, lines)
    after = check_patch(obj, response)
    for template, _ in running.cluster.made:
        check_template(template)
    if "patch" in response:
        again = checked_answer(running, after, lines)
        assert again["allowed"] is True
        assert "patch" not in again


@settings(max_examples=150, deadline=None)
@given(spec=specs | odd, marks=hostile_marks)
def test_hostile_pods(running: Hosted, lines: Lines, spec: Any, marks: dict[str, str]) -> None:
    """What an API server would never send; ours to survive all the same."""
    obj = {**pod(), "spec": spec}
    obj["metadata"]["annotations"] |= marks
    response = checked_answer(running, obj, lines)
    after = check_patch(obj, response)
    if "patch" in response:
        assert "patch" not in checked_answer(running, after, lines)


@settings(deadline=None)
@given(metadata=odd | st.fixed_dictionaries({}, optional={
    "annotations": odd | st.dictionaries(st.sampled_from(["llmfit.ai/model"]), odd),
    "name": odd, "generateName": odd, "ownerReferences": odd | st.just([None, "x"]),
}))  # fmt: skip
def test_hostile_metadata(running: Hosted, lines: Lines, metadata: Any) -> None:
    checked_answer(running, {**pod(), "metadata": metadata}, lines)


@settings(deadline=None)
@given(marks=hostile_marks)
def test_hostile_namespaces(running: Hosted, lines: Lines, marks: dict[str, str]) -> None:
    running.cluster.namespaces["team"] = {"metadata": {"annotations": marks}}
    running.cluster.made.clear()
    response = checked_answer(running, pod(), lines)
    for template, _ in running.cluster.made:
        check_template(template)
    assert response["auditAnnotations"]["decision"] in ("inject", "deny", "skip")
    running.cluster.namespaces.clear()


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_annotation_of_a_megabyte(running: Hosted, lines: Lines, name: str) -> None:
    obj = pod()
    obj["metadata"]["annotations"][f"llmfit.ai/{name}"] = "'] || true\n" * 100_000
    assert checked_answer(running, obj, lines)["allowed"] is False
