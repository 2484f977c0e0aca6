"""``--diff``: the program, its arguments and its exit codes are those of ``kubectl diff``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kubectl_llmfit.console.differences import State, of_files, of_object, show
from kubectl_llmfit.core.reasons import Refused

SAME = State("same", "a\n", "a\n")
CHANGED = State("changed", "a\n", "b\n")
NEW = State("new", "", "b\n")
GONE = State("gone", "a\n", None)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the two are made; nothing may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.delenv("KUBECTL_EXTERNAL_DIFF", raising=False)
    return folder


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A diff program that writes down its arguments and the files, and ends with $CODE."""
    path = tmp_path / "differ"
    lines = '#!/bin/sh\nprintf "%s\\n" "$@"\ngrep -r . "$1" "$2"\nexit "$CODE"\n'
    path.write_text(lines)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", "differ")
    monkeypatch.setenv("CODE", "0")
    return path


@pytest.mark.parametrize(
    ("states", "code", "lines"),
    [
        pytest.param([], 0, [], id="nothing"),
        pytest.param([SAME], 0, [], id="same"),
        pytest.param([SAME, CHANGED], 1, ["-a", "+b"], id="changed"),
        pytest.param([NEW], 1, ["+b"], id="new"),
        pytest.param([GONE], 1, ["-a"], id="gone"),
    ],
)
def test_default_program(
    states: list[State],
    code: int,
    lines: list[str],
    temporary: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert show(states) == code
    printed = capfd.readouterr().out.splitlines()
    assert [line for line in printed if line[:1] in "+-" and line[:2] not in ("++", "--")] == lines
    assert list(temporary.iterdir()) == []


def test_folders_and_their_order(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert show([CHANGED]) == 0
    live, merged, *content = capfd.readouterr().out.splitlines()
    assert Path(live).name.startswith("LIVE-")
    assert Path(merged).name.startswith("MERGED-")
    assert sorted(content) == [f"{live}/changed:a", f"{merged}/changed:b"]


# As getCommand of kubectl's pkg/cmd/diff: split at spaces, further words only when they are simple,
# and behind the folders.
@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        pytest.param("differ", [], id="alone"),
        pytest.param("differ -u -N", ["-u", "-N"], id="flags"),
        pytest.param("differ  --color=always", ["--color=always"], id="two-spaces"),
        pytest.param("differ --tool=/bin/x -u", ["-u"], id="path-is-dropped"),
        pytest.param("differ 'a b' $(x) ; rm", ["rm"], id="no-shell"),
    ],
)
def test_arguments_of_the_users_program(
    value: str,
    arguments: list[str],
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", value)
    assert show([]) == 0
    assert capfd.readouterr().out.splitlines()[2:] == arguments


@pytest.mark.parametrize("code", [0, 1])
def test_exit_code_is_the_programs(
    program: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setenv("CODE", str(code))
    assert show([SAME]) == code


@pytest.mark.parametrize(
    ("value", "code", "said"),
    [
        pytest.param("differ", "2", '"differ" failed with exit code 2', id="failed"),
        pytest.param("no-such-program", "0", '"no-such-program" cannot be run', id="missing"),
        pytest.param(" differ", "0", '"" cannot be run', id="space-first"),
    ],
)
def test_program_that_fails(
    program: Path,
    monkeypatch: pytest.MonkeyPatch,
    temporary: Path,
    value: str,
    code: str,
    said: str,
) -> None:
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", value)
    monkeypatch.setenv("CODE", code)
    with pytest.raises(Refused) as caught:
        show([CHANGED])
    (problem,) = caught.value.problems
    assert problem.reason.token == "diff-failed"
    assert said in problem.sentence
    assert list(temporary.iterdir()) == []


def test_reader_that_goes_away(program: Path) -> None:
    program.write_text("#!/bin/sh\nkill -PIPE $$\n")
    with pytest.raises(BrokenPipeError):
        show([CHANGED])


# As InfoObject.Name of kubectl's pkg/cmd/diff.
@pytest.mark.parametrize(
    ("item", "name"),
    [
        pytest.param(
            {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "llm"},
            "apps.v1.Deployment.llm.x",
            id="group",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod", "namespace": "llm"}, "v1.Pod.llm.x", id="core"
        ),
        pytest.param({"apiVersion": "v1", "kind": "Node"}, "v1.Node..x", id="no-namespace"),
    ],
)
def test_file_of_an_object(item: dict[str, Any], name: str) -> None:
    space = {"namespace": item.pop("namespace")} if "namespace" in item else {}
    state = of_object(None, {**item, "metadata": {"name": "x", **space}})
    assert (state.name, state.before) == (name, "")


def test_managed_fields_are_no_difference() -> None:
    before = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"managedFields": [{"manager": "a"}], "name": "x"},
    }
    state = of_object(before, {**before, "metadata": {"name": "x"}})
    assert state.before == state.after == "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n"


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        pytest.param(["d.yaml"], ["d.yaml"], id="file"),
        pytest.param(["./a/b.yaml", "a.b.yaml"], ["a.b.yaml", "a.b.yaml-2"], id="same-name"),
        pytest.param(["/srv/x/d.yaml"], ["srv.x.d.yaml"], id="absolute"),
        pytest.param([".", ".."], ["manifest", "manifest-2"], id="folders-without-a-name"),
        pytest.param(["standard input"], ["standard input"], id="standard-input"),
        pytest.param(["x" * 300], ["x" * 200], id="long"),
    ],
)
def test_files_of_files(paths: list[str], names: list[str]) -> None:
    states = of_files([(path, "a\n", "b\n") for path in paths])
    assert [(each.name, each.before, each.after) for each in states] == [
        (name, "a\n", "b\n") for name in names
    ]
