"""What the packaging tests share: each release file is built once a run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.packaging import building, krew_program
from tests.packaging.building import Distributions, Installation, KrewRelease
from tests.packaging.processes import BASE_PYTHON, in_ci, inherited, succeed

MODEL = "Qwen/Qwen2.5-7B-Instruct"


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return building.build_distributions(tmp_path_factory.mktemp("distributions"))


@pytest.fixture(scope="session")
def wheel_installation(
    distributions: Distributions, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    folder = tmp_path_factory.mktemp("wheel") / "venv"
    return building.install_wheel(distributions.wheel, folder)


@pytest.fixture(scope="session")
def krew_release(tmp_path_factory: pytest.TempPathFactory) -> KrewRelease:
    return building.build_krew(tmp_path_factory.mktemp("krew-release"))


@pytest.fixture
def unpacked(krew_release: KrewRelease, tmp_path: Path) -> Installation:
    """The krew archive, unpacked for this test alone."""
    return building.unpack(krew_release.archive, tmp_path / "krew")


@pytest.fixture(params=["wheel", "krew"])
def installation(request: pytest.FixtureRequest) -> Installation:
    """Each way of having the plugin."""
    name = {"wheel": "wheel_installation", "krew": "unpacked"}[request.param]
    found: Installation = request.getfixturevalue(name)
    return found


@pytest.fixture(scope="session")
def krew_programs() -> Path | None:
    """krew and its validator; ``None`` where Go is missing, which CI may not be."""
    found = krew_program.programs()
    if found is None and in_ci():
        pytest.fail("the packaging tests need `go` on PATH to build krew", pytrace=False)
    return found


@pytest.fixture
def python_folder(tmp_path: Path) -> Path:
    """A folder for PATH whose ``python3`` has none of the project's libraries."""
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "python3").symlink_to(BASE_PYTHON)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def kubectl_folder() -> Path:
    """The folder that holds kubectl."""
    found = shutil.which("kubectl")
    if found is None:
        pytest.fail("the packaging tests need `kubectl` on PATH", pytrace=False)
    return Path(found).parent


@pytest.fixture(scope="session")
def claim() -> str:
    """The claim for MODEL as the source tree renders it."""
    module = [sys.executable, "-m", "kubectl_llmfit"]
    return succeed([*module, "render", MODEL], inherited(), building.ROOT)
