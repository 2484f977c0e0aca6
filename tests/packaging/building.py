"""Makes and installs what a release ships, by the commands that a release uses."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.processes import BASE_PYTHON, Word, inherited, succeed

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Distributions:
    """The two files of a release on a package index."""

    wheel: Path
    sdist: Path


@dataclass(frozen=True)
class KrewRelease:
    """The two files of a release for krew."""

    archive: Path
    manifest: Path


@dataclass(frozen=True)
class Installation:
    """A way of having the plugin: the folder for PATH, and the one with all that was installed."""

    name: str
    bin: Path
    files: Path


def build_distributions(folder: Path, source: Path = ROOT) -> Distributions:
    """The sdist of ``source``, and the wheel made from that sdist."""
    build: list[Word] = [sys.executable, "-m", "build", "--outdir", folder]
    succeed([*build, source], inherited())
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return Distributions(wheel, sdist)


def build_wheel(folder: Path, source: Path = ROOT) -> Path:
    """The wheel made from ``source`` without an sdist between."""
    build: list[Word] = [sys.executable, "-m", "build", "--wheel", "--outdir", folder]
    succeed([*build, source], inherited())
    (wheel,) = folder.glob("*.whl")
    return wheel


def build_krew(folder: Path, cwd: Path = ROOT, **variables: str) -> KrewRelease:
    """The krew archive and its manifest, built in ``cwd`` with more ``variables`` set."""
    command: list[Word] = [sys.executable, ROOT / "krew" / "build.py", folder]
    succeed(command, inherited(**variables), cwd)
    (archive,) = folder.glob("*.tar.gz")
    return KrewRelease(archive, folder / "llmfit.yaml")


def install_wheel(wheel: Path, folder: Path) -> Installation:
    """``wheel`` in a new virtual environment, its libraries pinned as in CI."""
    succeed([BASE_PYTHON, "-m", "venv", "--without-pip", folder], inherited())
    python = folder / "bin" / "python"
    pip: list[Word] = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    quiet: list[Word] = ["--disable-pip-version-check", "--constraint", CONSTRAINTS]
    succeed([*pip, *quiet, wheel], inherited())
    return Installation("wheel", folder / "bin", folder)


def unpack(archive: Path, folder: Path) -> Installation:
    """The krew archive installed as krew does it: unpacked, with one link on PATH."""
    store, linked = folder / "store", folder / "bin"
    store.mkdir(parents=True)
    linked.mkdir()
    # -m: krew keeps no times either.
    succeed(["tar", "-xzmf", archive, "-C", store], inherited())
    (linked / "kubectl-llmfit").symlink_to(store / "kubectl-llmfit")
    return Installation("krew", linked, store)
