"""One whole output of every form, to the letter.

A golden file is what is printed, but for the version of this project and of Python, which stand
as ``{version}`` and ``{python}``.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from kubectl_llmfit import __version__, cli
from tests.unit.commandline import Run

HERE = Path(__file__).parent
CATALOG = ("--catalog", str(HERE / "models.yaml"))
ONE = "test model 7b"
TWO = "acme/moe-30b"

# Needs no board table, whose changes are no change of the form.
DRIVER = ("--driver", "llmfit.ai")
DIFFERENCE = "patched.diff"
MESSAGES = "patched-messages.txt"

# File of text/ by what prints it.
FORMS: dict[str, tuple[str, ...]] = {
    "claim.yaml": ("render", ONE, *CATALOG),
    "claims.yaml": ("render", ONE, TWO, *CATALOG),
    "claim.json": ("render", ONE, "-o", "json", *CATALOG),
    "claims.json": ("render", ONE, TWO, "-o", "json", *CATALOG),
    "names.txt": ("render", ONE, TWO, "-o", "name", *CATALOG),
    "summary.json": ("render", ONE, "--json", *CATALOG),
    "summaries.json": ("render", ONE, TWO, "--json", *CATALOG),
    "search.txt": ("models", "search", "acme/", *CATALOG),
    "search-wide.txt": ("models", "search", "acme/moe", "-o", "wide", *CATALOG),
    "search-name.txt": ("models", "search", "acme/moe", "-o", "name", *CATALOG),
    "search.json": ("models", "search", "acme/moe", "-o", "json", *CATALOG),
    "search.yaml": ("models", "search", "größe", "-o", "yaml", *CATALOG),
    "info.txt": ("models", "info", TWO, *CATALOG),
    "info-wide.txt": ("models", "info", ONE, "-o", "wide", *CATALOG),
    "info-name.txt": ("models", "info", ONE, TWO, "-o", "name", *CATALOG),
    "info.json": ("models", "info", TWO, "-o", "json", *CATALOG),
    "info.yaml": ("models", "info", TWO, ONE, "-o", "yaml", *CATALOG),
    "version.txt": ("version",),
    "version.json": ("version", "-o", "json"),
    "version.yaml": ("version", "-o", "yaml"),
    "help-command.txt": ("models", "search", "--help"),
    "help-group.txt": ("models", "--help"),
    "patched.yaml": ("patch", "-f", "workload.yaml", *CATALOG, *DRIVER),
    "patched-objects.yaml": ("patch", "-f", "workload.yaml", "-o", "yaml", *CATALOG, *DRIVER),
    "patched-objects.json": ("patch", "-f", "workload.yaml", "-o", "json", *CATALOG, *DRIVER),
    "patched-names.txt": ("patch", "-f", "workload.yaml", "-o", "name", *CATALOG, *DRIVER),
    "patched-decisions.json": ("patch", "-f", "workload.yaml", "--json", *CATALOG, *DRIVER),
    "completion.txt": ("__complete", "render", "-o", ""),
}


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named without their folder."""
    monkeypatch.chdir(HERE)


@pytest.mark.parametrize("file", FORMS)
def test_the_output_is_the_golden_file_to_the_letter(run: Run, file: str) -> None:
    assert run(*FORMS[file]).out == golden(file)


def test_messages_on_standard_error(run: Run) -> None:
    printed = run("patch", "-f", "workload.yaml", "--show-sources", *CATALOG, *DRIVER)
    assert printed.err == golden(MESSAGES)


def test_difference(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The diff program's own output, but for the names of its folders and the time of day."""
    monkeypatch.delenv("KUBECTL_EXTERNAL_DIFF", raising=False)
    assert cli.main(["patch", "-f", "workload.yaml", "--diff", *CATALOG, *DRIVER]) == 1
    printed = re.sub(r"\S*/(LIVE|MERGED)-\w+/", r"\1/", capfd.readouterr().out)
    printed = re.sub(r"(?m)^(---|\+\+\+) (\S+)\t.*", r"\1 \2", printed)
    assert printed == golden(DIFFERENCE)


def test_no_golden_file_is_left_over() -> None:
    written = {path.name for path in (HERE / "text").iterdir()}
    assert written == {*FORMS, DIFFERENCE, MESSAGES}


def golden(file: str) -> str:
    text = (HERE / "text" / file).read_text(encoding="utf-8")
    return text.replace("{version}", __version__).replace("{python}", platform.python_version())
