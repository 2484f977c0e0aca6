"""The krew archive: what is in it, and that anyone can build the same bytes."""

from __future__ import annotations

import stat
import tarfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement

from tests.packaging import building
from tests.packaging.building import ROOT, KrewRelease
from tests.packaging.test_wheel import COMPILED, PACKAGE

# Several times what it is now; a library that was not meant to come along shows here.
MAX_ARCHIVE_BYTES = 2_000_000
TOPS = {"kubectl-llmfit", "LICENSE", "NOTICE", "lib", "licenses"}
PLATFORMS = ("linux", "darwin")


@pytest.fixture(scope="module")
def members(krew_release: KrewRelease) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(krew_release.archive) as archive:
        return {member.name: member for member in archive.getmembers()}


def _content(release: KrewRelease, name: str) -> bytes:
    with tarfile.open(release.archive) as archive:
        file = archive.extractfile(name)
        assert file is not None
        return file.read()


def _requirements(name: str) -> set[str]:
    """``name`` and every distribution that it needs on a platform of the archive."""
    needed = {name}
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        environments = [{"sys_platform": p, "extra": ""} for p in PLATFORMS]
        marker = requirement.marker
        if marker is None or any(marker.evaluate(each) for each in environments):
            needed |= _requirements(requirement.name)
    return needed


def test_two_builds_are_equal(krew_release: KrewRelease, tmp_path: Path) -> None:
    """Also in another folder, another zone and language, and with other hashes."""
    others = {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    again = building.build_krew(tmp_path / "dist", tmp_path, **others)
    assert again.archive.name == krew_release.archive.name
    assert again.archive.read_bytes() == krew_release.archive.read_bytes()
    assert again.manifest.read_bytes() == krew_release.manifest.read_bytes()


def test_holds_files_and_folders_only(members: dict[str, tarfile.TarInfo]) -> None:
    assert {name for name, each in members.items() if not (each.isfile() or each.isdir())} == set()
    assert {name for name in members if ".." in name or name.startswith(("/", "\\"))} == set()


def test_names_nobody_s_machine(members: dict[str, tarfile.TarInfo]) -> None:
    owners = {(each.uid, each.gid, each.uname, each.gname) for each in members.values()}
    assert owners == {(0, 0, "", "")}
    assert {PurePosixPath(name).parts[0] for name in members} == TOPS


def test_holds_nothing_compiled(
    members: dict[str, tarfile.TarInfo], krew_release: KrewRelease
) -> None:
    assert {name for name in members if PurePosixPath(name).suffix in COMPILED} == set()
    assert {name for name in members if "__pycache__" in name} == set()
    machine_code = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")
    starts = {name: _content(krew_release, name)[:4] for name in members if members[name].isfile()}
    assert {name for name, start in starts.items() if start.startswith(machine_code)} == set()


def test_is_of_a_sane_size(krew_release: KrewRelease) -> None:
    assert krew_release.archive.stat().st_size <= MAX_ARCHIVE_BYTES


def test_holds_the_package_of_the_sources(
    members: dict[str, tarfile.TarInfo], krew_release: KrewRelease
) -> None:
    sources = {
        f"lib/{path.relative_to(ROOT).as_posix()}": path.read_bytes()
        for path in (ROOT / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in members if name.startswith(f"lib/{PACKAGE}/")} == sources.keys()
    assert [name for name in sources if _content(krew_release, name) != sources[name]] == []


def test_holds_every_library_with_its_licence(members: dict[str, tarfile.TarInfo]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    direct = {Requirement(text).name for text in project["dependencies"]}
    needed = {name for each in direct for name in _requirements(each)}
    for name in needed:
        assert f"lib/{name.replace('.', '/')}/__init__.py" in members
        assert [each for each in members if each.startswith(f"licenses/{name}-")]
    licensed = {
        PurePosixPath(each).name.rpartition("-")[0] for each in members if "licenses/" in each
    }
    assert licensed == needed


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_carries(name: str, krew_release: KrewRelease) -> None:
    assert _content(krew_release, name) == (ROOT / name).read_bytes()


def test_launcher_is_executable(
    members: dict[str, tarfile.TarInfo], krew_release: KrewRelease
) -> None:
    executable = {
        name for name, each in members.items() if each.mode & stat.S_IXUSR and each.isfile()
    }
    assert executable == {"kubectl-llmfit"}
    assert members["kubectl-llmfit"].mode == 0o755
    assert _content(krew_release, "kubectl-llmfit").startswith(b"#!/usr/bin/env python3\n")
