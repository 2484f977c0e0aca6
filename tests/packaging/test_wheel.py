"""The wheel and the sdist: what is in them, and that the installed programs work."""

from __future__ import annotations

import json
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path, PurePosixPath

import pytest
import yaml

from tests.packaging import building
from tests.packaging.building import ROOT, Distributions, Installation
from tests.packaging.conftest import MODEL
from tests.packaging.processes import SYSTEM_FOLDERS, Word, environment, inherited, run, succeed

PACKAGE = "kubectl_llmfit"
CATALOG_LIMIT = 2_500_000
COMPILED = {".so", ".pyd", ".dylib", ".dll", ".pyc", ".pyo", ".o", ".a"}


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _metadata(wheel: Path) -> dict[str, list[str]]:
    (text,) = (
        content.decode()
        for name, content in _contents(wheel).items()
        if name.endswith(".dist-info/METADATA")
    )
    message = message_from_string(text)
    return {key: message.get_all(key, []) for key in message}


def test_wheel_is_universal(distributions: Distributions) -> None:
    assert distributions.wheel.name.endswith("-py3-none-any.whl")


def test_wheel_has_one_top_level_module(distributions: Distributions) -> None:
    tops = {PurePosixPath(name).parts[0] for name in _contents(distributions.wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {PACKAGE}


def test_wheel_holds_the_package_and_nothing_compiled(distributions: Distributions) -> None:
    contents = _contents(distributions.wheel)
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in (ROOT / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shipped = {name for name in contents if name.startswith(f"{PACKAGE}/")}
    assert shipped == sources.keys()
    assert [name for name in shipped if contents[name] != sources[name]] == []
    assert not {name for name in contents if PurePosixPath(name).suffix in COMPILED}
    assert f"{PACKAGE}/py.typed" in contents


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_wheel_carries(name: str, distributions: Distributions) -> None:
    (content,) = (
        content
        for path, content in _contents(distributions.wheel).items()
        if path.endswith(f".dist-info/licenses/{name}")
    )
    assert content == (ROOT / name).read_bytes()


def test_wheel_metadata(distributions: Distributions) -> None:
    metadata = _metadata(distributions.wheel)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert metadata["License-Expression"] == ["Apache-2.0"]
    assert metadata["Requires-Python"] == [">=3.11"]
    assert len(metadata["Requires-Dist"]) == len(project["dependencies"])
    assert f"-{metadata['Version'][0]}-" in distributions.wheel.name


def test_catalog_is_small(distributions: Distributions) -> None:
    with zipfile.ZipFile(distributions.wheel) as archive:
        catalog = archive.getinfo(f"{PACKAGE}/data/models.tsv")
    shown = f"{catalog.file_size} bytes, {catalog.compress_size} compressed in the wheel"
    assert catalog.compress_size < catalog.file_size <= CATALOG_LIMIT, shown


def test_sdist_builds_the_same_wheel(distributions: Distributions, tmp_path: Path) -> None:
    direct = _contents(building.build_wheel(tmp_path))
    through_sdist = _contents(distributions.wheel)
    assert direct.keys() == through_sdist.keys()
    assert [name for name in direct if direct[name] != through_sdist[name]] == []


def test_sdist_holds_what_its_wheel_needs(distributions: Distributions) -> None:
    with tarfile.open(distributions.sdist) as archive:
        members = archive.getmembers()
    tops = {PurePosixPath(member.name).parts[1] for member in members}
    wanted = {PACKAGE, "README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "pyproject.toml"}
    assert wanted <= tops <= wanted | {"PKG-INFO", "docs", ".gitignore"}
    assert all(member.isfile() or member.isdir() for member in members)


def test_installed_plugin_renders(wheel_installation: Installation, home: Path, claim: str) -> None:
    env = environment([wheel_installation.bin], home)
    assert succeed(["kubectl-llmfit", "render", MODEL], env) == claim


def test_claim_has_the_oracle_s_name(claim: str) -> None:
    oracle = Path(sys.executable).parent / "llmfit"
    summary = json.loads(succeed([oracle, "claim", MODEL, "--json"], inherited()))
    assert yaml.safe_load(claim)["metadata"] == {"name": summary["claimName"]}


def test_installed_completion_lists_models(wheel_installation: Installation, home: Path) -> None:
    env = environment([wheel_installation.bin], home)
    command = ["kubectl_complete-llmfit", "render", "qwen/qwen2.5-7b-instruct"]
    *names, directive = succeed(command, env).splitlines()
    assert MODEL in names
    assert {name.lower().startswith(command[-1]) for name in names} == {True}
    assert directive == ":4"


def test_kubectl_finds_the_installed_plugin(
    wheel_installation: Installation, kubectl_folder: Path, home: Path, claim: str
) -> None:
    folders: list[Word] = [wheel_installation.bin, kubectl_folder, *SYSTEM_FOLDERS]
    env = environment(folders, home)
    assert succeed(["kubectl", "llmfit", "render", MODEL], env) == claim
    assert MODEL in succeed(["kubectl", "__complete", "llmfit", "render", MODEL[:-1]], env)


def test_installed_package_is_typed_and_imports(
    wheel_installation: Installation, home: Path
) -> None:
    program = "import kubectl_llmfit as k; print([n for n in k.__all__ if not hasattr(k, n)])"
    python = wheel_installation.bin / "python"
    assert succeed([python, "-I", "-c", program], environment([], home)) == "[]\n"


def test_installed_version_is_the_wheel_s(
    wheel_installation: Installation, distributions: Distributions, home: Path
) -> None:
    finished = run(
        ["kubectl-llmfit", "version", "-o", "json"], environment([wheel_installation.bin], home)
    )
    (version,) = _metadata(distributions.wheel)["Version"]
    assert json.loads(finished.stdout)["version"] == version
