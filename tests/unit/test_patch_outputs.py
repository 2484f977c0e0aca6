"""``patch -f`` with ``-o``, ``--diff`` and ``--show-sources``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.commandline import MODEL, Run
from tests.unit.test_patch_command import DEPLOYMENT, SERVICE

PLAIN = "apiVersion: v1\nkind: Pod\nmetadata: {name: plain}\nspec: {containers: [{name: a}]}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "d.yaml"
    path.write_text(f"{SERVICE}---\n{DEPLOYMENT}---\n{PLAIN}")
    return path


def test_objects_are_those_of_the_printed_manifest(run: Run, file: Path) -> None:
    """Of the file's objects the workloads, changed or not, and what they need."""
    _, *expected = yaml.safe_load_all(run("patch", "-f", str(file)).out)
    done = run("patch", "-f", str(file), "-o", "yaml")
    assert done.code == 0
    assert list(yaml.safe_load_all(done.out)) == expected
    listed = json.loads(run("patch", "-f", str(file), "-o", "json").out)
    assert listed == {"apiVersion": "v1", "kind": "List", "items": expected}


def test_names(run: Run, file: Path) -> None:
    template, *others = run("patch", "-f", str(file), "-o", "name").out.splitlines()
    assert template.startswith("resourceclaimtemplate.resource.k8s.io/llmfit-")
    assert others == ["deployment.apps/vllm", "pod/plain"]


def test_messages_stay_on_standard_error(run: Run, file: Path) -> None:
    plain = run("patch", "-f", str(file))
    assert run("patch", "-f", str(file), "-o", "name").err == plain.err
    assert "\ndeployment.apps/vllm patched\n" in plain.err
    assert plain.err.splitlines()[-1].startswith("pod/plain skipped: no container asks for")


def test_template_of_two_files_is_one_object(run: Run, tmp_path: Path) -> None:
    """Each file has to hold it, since each may be applied by itself; a List needs it once."""
    other = DEPLOYMENT.replace("name: vllm,", "name: other,")
    for name, text in (("a.yaml", DEPLOYMENT), ("b.yaml", other)):
        (tmp_path / name).write_text(text)
    names = run("patch", "-f", str(tmp_path), "-o", "name").out.splitlines()
    assert [name.partition("/")[0] for name in names] == [
        "resourceclaimtemplate.resource.k8s.io",
        "deployment.apps",
        "deployment.apps",
    ]


def test_difference_is_that_of_the_texts(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The program is handed the file as it is and as it would be, and the file itself stays."""
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", str(tmp_path / "keep"))
    keep = f'#!/bin/sh\ncat "$1"/* > {tmp_path}/live\ncat "$2"/* > {tmp_path}/merged\nexit 1\n'
    (tmp_path / "keep").write_text(keep)
    (tmp_path / "keep").chmod(0o755)
    before = file.read_text()
    done = run("patch", "-f", str(file), "--diff")
    assert (done.code, done.out) == (1, "")
    assert (tmp_path / "live").read_text() == before == file.read_text()
    assert (tmp_path / "merged").read_text() == run("patch", "-f", str(file)).out


def test_no_difference(run: Run, file: Path) -> None:
    run("patch", "-f", str(file), "-i")
    done = run("patch", "-f", str(file), "--diff")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "pod/plain skipped: no container asks for an accelerator by its limits "
        "(no-legacy-devices)\n"
    )


def test_diff_has_no_line_for_what_was_not_done(run: Run, file: Path) -> None:
    done = run("patch", "-f", str(file), "--diff")
    assert "vllm patched" not in done.err
    assert done.err.startswith("Warning: deployment.apps/vllm: ")


def test_sources_follow_the_line_of_the_workload(run: Run, file: Path) -> None:
    done = run("patch", "-f", str(file), "--show-sources")
    lines = [line for line in done.err.splitlines() if not line.startswith("Warning: ")]
    start = "deployment.apps/vllm: "
    assert lines[:2] == [
        "deployment.apps/vllm patched",
        f"{start}model:         {MODEL}, from container vllm, command[2]",
    ]
    said = [line.removeprefix(start) for line in lines if line.startswith(start)]
    # The very lines of the template's comments.
    comments = [line.removeprefix("# ") for line in done.out.splitlines() if ", from " in line]
    assert said == comments
    assert done.out == run("patch", "-f", str(file)).out
