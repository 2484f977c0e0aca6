"""What `render` imports in a fresh process: the reason why it starts fast."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.unit.commandline import MODEL, REPOSITORY, environment

# A module that is added here is felt by every render: measure it first (tests/bench).
RENDER_NEEDS = {
    "kubectl_llmfit",
    "kubectl_llmfit.__main__",
    "kubectl_llmfit.catalog",
    "kubectl_llmfit.catalog.catalog",
    "kubectl_llmfit.catalog.shipped",
    "kubectl_llmfit.catalog.userfiles",
    "kubectl_llmfit.cli",
    "kubectl_llmfit.commands",
    "kubectl_llmfit.commands.render",
    "kubectl_llmfit.console",
    "kubectl_llmfit.console.cluster_flags",
    "kubectl_llmfit.console.command",
    "kubectl_llmfit.console.completion",
    "kubectl_llmfit.console.flags",
    "kubectl_llmfit.console.streams",
    "kubectl_llmfit.core",
    "kubectl_llmfit.core.claims",
    "kubectl_llmfit.core.claims.header",
    "kubectl_llmfit.core.claims.labels",
    "kubectl_llmfit.core.claims.names",
    "kubectl_llmfit.core.claims.objects",
    "kubectl_llmfit.core.claims.plan",
    "kubectl_llmfit.core.claims.render",
    "kubectl_llmfit.core.claims.sized",
    "kubectl_llmfit.core.claims.yaml",
    "kubectl_llmfit.core.drivers",
    "kubectl_llmfit.core.drivers.cel",
    "kubectl_llmfit.core.drivers.conditions",
    "kubectl_llmfit.core.drivers.domain",
    "kubectl_llmfit.core.drivers.fitting",
    "kubectl_llmfit.core.drivers.gpu_amd_com",
    "kubectl_llmfit.core.drivers.gpu_intel_com",
    "kubectl_llmfit.core.drivers.gpu_nvidia_com",
    "kubectl_llmfit.core.drivers.interface",
    "kubectl_llmfit.core.drivers.llmfit_ai",
    "kubectl_llmfit.core.drivers.unsized",
    "kubectl_llmfit.core.model",
    "kubectl_llmfit.core.reasons",
    "kubectl_llmfit.core.request",
    "kubectl_llmfit.core.sizing",
    "kubectl_llmfit.core.sizing.floors",
    "kubectl_llmfit.core.sizing.formula",
    "kubectl_llmfit.core.sizing.quantity",
    "kubectl_llmfit.core.sizing.quantization",
    "kubectl_llmfit.version",
}

HEAVY = {
    "aiohttp",
    "asyncio",
    "cryptography",
    "difflib",
    "email",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "json",
    "kubernetes",
    "logging",
    "pathlib",
    "pydantic",
    "ruamel",
    "shutil",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "unittest",
    "urllib",
    "yaml",
}


def environment_without_coverage() -> Mapping[str, str]:
    """Measuring coverage imports modules of its own into every process."""
    return {key: value for key, value in environment().items() if not key.startswith("COVERAGE")}


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The modules of a process that has rendered a model."""
    program = (
        "import sys\n"
        "from kubectl_llmfit.__main__ import main\n"
        f"code = main(['render', '{MODEL}'])\n"
        "print(*sorted(sys.modules), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env=environment_without_coverage(),
    )
    assert "kind: ResourceClaim" in finished.stdout
    return set(finished.stderr.split())


def test_render_imports_no_more_of_this_project_than_it_needs(imported: set[str]) -> None:
    assert {name for name in imported if name.partition(".")[0] == "kubectl_llmfit"} == RENDER_NEEDS


@pytest.mark.parametrize("module", sorted(HEAVY))
def test_render_imports_nothing_heavy(imported: set[str], module: str) -> None:
    assert not {name for name in imported if name == module or name.startswith(f"{module}.")}


def test_the_program_imports_no_command_to_show_its_help() -> None:
    program = (
        "import sys\n"
        "from kubectl_llmfit.__main__ import main\n"
        "main(['--help'])\n"
        "print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=REPOSITORY,
        env=environment_without_coverage(),
    )
    assert not [
        name for name in finished.stderr.split() if name.startswith("kubectl_llmfit.commands.")
    ]
