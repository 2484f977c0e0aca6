"""A fresh clone on a machine whose Python is externally managed (PEP 668)."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.packaging import pythons
from tests.packaging.building import ROOT
from tests.packaging.conftest import MODEL
from tests.packaging.processes import Word, environment, inherited, run, succeed

AUTHOR = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid")
UNSIGNED = ("-c", "commit.gpgsign=false")


def _clone(folder: Path) -> Path:
    """A clone of the working tree: what git tracks, and what it would track next."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    origin, clone = folder / "origin", folder / "clone"
    for name in filter(None, succeed(listing, inherited(), ROOT).split("\0")):
        if (ROOT / name).is_file():  # a file that is deleted but still tracked is not
            (origin / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, origin / name)
    git: list[Word] = ["git", "-C", origin, *AUTHOR, *UNSIGNED]
    succeed([*git, "init", "--quiet"], inherited())
    succeed([*git, "add", "--all"], inherited())
    succeed([*git, "commit", "--quiet", "--message", "the working tree"], inherited())
    succeed(["git", "clone", "--quiet", origin, clone], inherited())
    return clone


def test_first_command_of_the_readme(tmp_path: Path, home: Path, claim: str) -> None:
    """One command in an empty clone, with an empty home folder, ends with a rendered claim."""
    python = pythons.externally_managed(tmp_path / "managed")
    # The user's caches are in the home folder, so nothing that pip downloaded before helps.
    env = inherited("XDG_CACHE_HOME", "PIP_CACHE_DIR", HOME=str(home), PYTHON=str(python))
    clone = _clone(tmp_path)
    finished = run([clone / "dev", "render", MODEL], env, tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == claim
    assert (clone / ".venv" / "pyvenv.cfg").is_file()
    # Nothing was installed for the user beside the clone's own environment.
    assert not (home / ".local").exists()


def test_stand_in_for_a_managed_python_is_one(tmp_path: Path, home: Path) -> None:
    """Where no distributor manages a Python, the test above makes one; it refuses pip too."""
    python = pythons.mark_as_managed(tmp_path / "managed")
    env = environment(["/usr/bin", "/bin"], home)
    program = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    library = Path(succeed([python, "-c", program], env).strip())
    assert library.is_relative_to(tmp_path)
    assert (library / pythons.MARKER).is_file()
    succeed([python, "-m", "venv", tmp_path / "venv"], env)
    pip = tmp_path / "venv" / "lib" / library.name / "site-packages"
    install: list[Word] = [python, "-m", "pip", "install", "--no-index", "nothing"]
    refused = run(install, {**env, "PYTHONPATH": str(pip)})
    assert "externally-managed-environment" in refused.stderr
