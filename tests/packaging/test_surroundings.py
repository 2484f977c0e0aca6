"""Each installation in surroundings that a user may have: none of them may show."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.packaging import building
from tests.packaging.building import Installation, KrewRelease
from tests.packaging.conftest import MODEL
from tests.packaging.processes import Finished, Word, bound_by_modes, environment, run

RENDER = ("kubectl-llmfit", "render", MODEL)
TRAP = "raise SystemExit('the wrong module was imported')\n"
SHADOWS = ("click", "kubectl_llmfit", "ruamel", "typing_extensions")


@pytest.fixture
def env(installation: Installation, python_folder: Path, home: Path) -> dict[str, str]:
    return environment([installation.bin, python_folder], home)


def _is_claim(finished: Finished, claim: str) -> bool:
    return (finished.returncode, finished.stdout, finished.stderr) == (0, claim, "")


def _shadowing(folder: Path) -> Path:
    """A folder with modules and packages that bear the names of the plugin's own."""
    folder.mkdir()
    for name in SHADOWS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(TRAP)
        (folder / f"{name}.py").write_text(TRAP)
    return folder


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Takes the right to write ``folder`` and all below it away for a while."""
    paths = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    modes = {path: path.stat().st_mode for path in paths}
    for path, mode in modes.items():
        path.chmod(stat.S_IMODE(mode) & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(stat.S_IMODE(mode))


def _files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def test_read_only_installation(
    installation: Installation, env: dict[str, str], claim: str
) -> None:
    before = _files(installation.files)
    with _read_only(installation.files):
        touch: list[Word] = ["/usr/bin/env", "touch", installation.files / "probe"]
        assert run(bound_by_modes(touch), {"PATH": os.defpath}).returncode != 0
        for _ in range(2):
            assert _is_claim(run(bound_by_modes(RENDER), env), claim)
    assert _files(installation.files) == before


def test_read_only_home(env: dict[str, str], home: Path, claim: str) -> None:
    with _read_only(home):
        assert _is_claim(run(bound_by_modes(RENDER), env), claim)


def test_unreadable_home(env: dict[str, str], home: Path, claim: str) -> None:
    home.chmod(0)
    try:
        assert _is_claim(run(bound_by_modes(RENDER), env), claim)
    finally:
        home.chmod(0o755)


@pytest.mark.parametrize("place", [None, "/nonexistent", "", "relative/folder", "/dev/null"])
def test_home_that_is_none(env: dict[str, str], place: str | None, claim: str) -> None:
    del env["HOME"]
    if place is not None:
        env["HOME"] = place
    assert _is_claim(run(RENDER, env), claim)


@pytest.mark.parametrize("place", ["/nonexistent", "", "relative", "/dev/null"])
def test_config_folder_that_is_none(env: dict[str, str], place: str, claim: str) -> None:
    assert _is_claim(run(RENDER, {**env, "XDG_CONFIG_HOME": place}), claim)


def test_working_folder_with_namesakes(env: dict[str, str], tmp_path: Path, claim: str) -> None:
    assert _is_claim(run(RENDER, env, _shadowing(tmp_path / "cwd")), claim)


def test_working_folder_that_is_gone(env: dict[str, str], tmp_path: Path, claim: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    vanish = ["/bin/sh", "-c", f'rmdir "{gone}" && exec {" ".join(RENDER)}']
    assert _is_claim(run(vanish, {**env, "PATH": f"{env['PATH']}:{os.defpath}"}, gone), claim)


@pytest.mark.parametrize("value", ["/nonexistent", "/dev/null", "a\tb:\x01", ":", "/"])
def test_senseless_pythonpath(env: dict[str, str], home: Path, value: str, claim: str) -> None:
    assert _is_claim(run(RENDER, {**env, "PYTHONPATH": value}, home), claim)


@pytest.mark.parametrize("safe_path", ["", "1"])
def test_pythonpath_with_namesakes(
    safe_path: str,
    unpacked: Installation,
    python_folder: Path,
    home: Path,
    tmp_path: Path,
    claim: str,
) -> None:
    """The krew archive's own libraries come first; in a virtual environment PYTHONPATH does."""
    namesakes = str(_shadowing(tmp_path / "namesakes"))
    env = environment([unpacked.bin, python_folder], home, PYTHONPATH=namesakes)
    assert _is_claim(run(RENDER, {**env, "PYTHONSAFEPATH": safe_path}), claim)


def test_user_site_with_namesakes(
    unpacked: Installation, python_folder: Path, home: Path, tmp_path: Path, claim: str
) -> None:
    env = environment([unpacked.bin, python_folder], home, PYTHONUSERBASE=str(tmp_path / "user"))
    site = Path(run(["python3", "-m", "site", "--user-site"], env).stdout.strip())
    site.parent.mkdir(parents=True)
    _shadowing(site)
    assert _is_claim(run(RENDER, env), claim)


@pytest.mark.parametrize("name", ["a folder", "größe", "semi;colon$HOME", "-dash"])
def test_folder_with_an_odd_name(
    name: str,
    krew_release: KrewRelease,
    python_folder: Path,
    home: Path,
    tmp_path: Path,
    claim: str,
) -> None:
    plugin = building.unpack(krew_release.archive, tmp_path / name)
    assert _is_claim(run(RENDER, environment([plugin.bin, python_folder], home)), claim)


def test_link_to_a_link(
    unpacked: Installation, python_folder: Path, home: Path, tmp_path: Path, claim: str
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "kubectl-llmfit").symlink_to(unpacked.bin / "kubectl-llmfit")
    assert _is_claim(run(RENDER, environment([links, python_folder], home)), claim)


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1", "none.such"])
def test_locale(env: dict[str, str], locale: str, claim: str) -> None:
    assert _is_claim(run(RENDER, {**env, "LANG": locale, "LC_ALL": locale}), claim)
