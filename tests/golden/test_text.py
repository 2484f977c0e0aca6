"""One whole output of every form, to the letter.

A golden file is what is printed, but for the version of this project and of Python, which stand
as ``{version}`` and ``{python}``.
"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from kubectl_llmfit import __version__
from tests.unit.commandline import Run

HERE = Path(__file__).parent
CATALOG = ("--catalog", str(HERE / "models.yaml"))
ONE = "test model 7b"
TWO = "acme/moe-30b"

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
    "completion.txt": ("__complete", "render", "-o", ""),
}


@pytest.mark.parametrize("file", FORMS)
def test_the_output_is_the_golden_file_to_the_letter(run: Run, file: str) -> None:
    golden = (HERE / "text" / file).read_text(encoding="utf-8")
    golden = golden.replace("{version}", __version__).replace("{python}", platform.python_version())
    assert run(*FORMS[file]).out == golden


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in (HERE / "text").iterdir()} == set(FORMS)
