"""``patch -f`` and ``restore -f``: the file as it was, whatever it is written in."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.boards import load_boards
from kubectl_llmfit.core.reasons import Refused
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite.inputs import Knowledge, Wishes
from kubectl_llmfit.files.documents import parse
from kubectl_llmfit.files.sources import Source
from kubectl_llmfit.patching.manifests import patch_manifests
from kubectl_llmfit.patching.restoring import restore_manifests
from tests.unit.files.conftest import MANIFESTS

MODEL = "Qwen/Qwen2.5-7B-Instruct"
SHARED = [
    pytest.param(path, id=str(path.relative_to(MANIFESTS)))
    for path in sorted(MANIFESTS.rglob("*.yaml"))
]


def source(text: str, name: str = "f.yaml") -> Source:
    return Source(parse(text, name), None)


def patched(*texts: str) -> list[str]:
    catalog = Catalog.open()
    knowledge = Knowledge(catalog.resolve, catalog.exact, load_boards)
    wishes = Wishes({}, model=Sourced(MODEL, "--model"))
    sources = [source(text) for text in texts]
    return [each.text for each in patch_manifests(sources, wishes, knowledge)]


def restored(*texts: str) -> list[str]:
    return [each.text for each in restore_manifests([source(text) for text in texts])]


def workload(name: str = "a", indent: str = "") -> str:
    lines = f"""\
apiVersion: batch/v1
kind: CronJob  # nightly
metadata: {{name: {name}, annotations: {{team: search}}}}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          # the engine
          - name: vllm
            env:
            - name: NVIDIA_VISIBLE_DEVICES
              value: all
            - name: HF_HOME   # cache
              value: /models
            resources:
              requests: {{nvidia.com/gpu: 1}}
              limits:
                cpu: "4"
                nvidia.com/gpu: 1
"""
    return "".join(f"{indent}{line}" for line in lines.splitlines(keepends=True))


OTHER = "kind: ConfigMap\nmetadata: {name: c}\n"
TEXTS = [
    pytest.param(workload(), id="alone"),
    pytest.param(f"# about the file\n\n---\n{OTHER}---\n{workload()}", id="behind-another"),
    pytest.param(f"{workload('a')}---\n{workload('b')}", id="two-of-one-claim"),
    pytest.param(workload().replace("\n", "\r\n"), id="crlf"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_objects_and_comments_are_as_they_were(text: str) -> None:
    (after,) = patched(text)
    assert "ResourceClaimTemplate" in after
    (back,) = restored(after)
    assert values(back) == values(text)
    assert sorted(comments(back)) == sorted(comments(text))
    assert ("\r\n" in back) == ("\r\n" in text)


def values(text: str) -> list[dict[str, object]]:
    return [each.value for each in parse(text, "f").objects]


def comments(text: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]


def test_an_item_of_a_list() -> None:
    indented = workload(indent="  ").replace("  apiVersion", "- apiVersion", 1)
    text = f"kind: List\nitems:\n{indented}"
    (after,) = patched(text)
    assert len(values(after)) == 2
    assert values(*restored(after)) == values(text)


def test_a_template_that_another_file_still_names_stays() -> None:
    first, second = patched(workload("a"), workload("b"))
    untouched = second.replace("llmfit.ai/undo", "example.com/undo")
    back = restored(first, untouched)
    assert [each["kind"] for each in values(back[0])] == ["ResourceClaimTemplate", "CronJob"]
    assert back[1] == untouched


def test_a_template_in_a_file_of_its_own_stays_there() -> None:
    (after,) = patched(workload())
    template, _, rest = after.partition("---\n")
    back = restored(template, rest)
    assert back[0] == template
    assert values(back[1]) == values(workload())


def test_what_no_patch_changed_stays() -> None:
    text = f"{OTHER}---\n{workload()}"
    (result,) = restore_manifests([source(text)])
    assert result.text == text
    assert [skip.reason.token for each in result.decided for skip in each.skipped] == [
        "not-patched"
    ]


def test_a_damaged_record_is_told_with_its_place() -> None:
    text = workload().replace("{team: search}", "{llmfit.ai/undo: x}")
    with pytest.raises(Refused) as caught:
        restored(text)
    (problem,) = caught.value.problems
    assert problem.reason.token == "bad-undo-record"
    assert problem.sentence.startswith("f.yaml, line 1: ")


@pytest.mark.parametrize("path", SHARED)
def test_shared_manifests(path: Path) -> None:
    text = path.read_bytes().decode()
    try:
        (after,) = patched(text)
    except Refused:
        return
    (back,) = restored(after)
    assert values(back) == values(text)
