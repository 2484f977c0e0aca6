"""`version`: the tool, its catalog, and the Python that runs it."""

from __future__ import annotations

import json
import platform

import yaml

import kubectl_llmfit
from tests.unit.commandline import Run

FACTS = {
    "version": kubectl_llmfit.__version__,
    "catalog": "llmfit 1.1.17",
    "catalogModels": 15_855,
    "python": platform.python_version(),
}


def test_people_get_a_line_for_each(run: Run) -> None:
    assert run("version").stdout() == (
        f"Client Version: v{FACTS['version']}\n"
        "Catalog: llmfit 1.1.17, 15855 models\n"
        f"Python: {FACTS['python']}\n"
    )


def test_programs_get_json_or_yaml(run: Run) -> None:
    assert json.loads(run("version", "-o", "json").stdout()) == FACTS
    assert yaml.safe_load(run("version", "-o", "yaml").stdout()) == FACTS
