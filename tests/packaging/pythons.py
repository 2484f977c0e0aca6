"""Pythons of this machine, and stand-ins for those that it lacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.packaging.processes import BASE_PYTHON, inherited, run

NEEDED = (3, 11)
# By which a distributor says that it manages a Python (PEP 668); beside the library's modules.
MARKER = "EXTERNALLY-MANAGED"
_DESCRIBE = """
import json, os, sys, sysconfig
try:
    import ensurepip, venv
    usable = True
except ImportError:
    usable = False
marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
print(json.dumps([sys.version_info[0], sys.version_info[1], os.path.exists(marker), usable]))
"""
# Runs the script that it is given, after it has lowered the version that the script sees.
_STAND_IN = """#!{python}
import runpy, sys
sys.version_info = {version} + tuple(sys.version_info)[2:]
sys.argv = sys.argv[1:]
if sys.argv[0] == "-c":
    exec(sys.argv[1])
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Python:
    """A Python: where it is, its version, and what its distributor made of it."""

    path: Path
    version: tuple[int, int]
    externally_managed: bool
    makes_environments: bool


def stand_in(path: Path, version: tuple[int, int]) -> Path:
    """An executable at ``path`` in which scripts see Python ``version``."""
    path.write_text(_STAND_IN.format(python=BASE_PYTHON, version=version))
    path.chmod(0o755)
    return path


@cache
def found() -> tuple[Python, ...]:
    """The Pythons of PATH, and those that pyenv keeps beside it, each once."""
    described = {path.resolve(): _describe(path) for path in _candidates()}
    return tuple(each for each in described.values() if each is not None)


def externally_managed(folder: Path) -> Path:
    """A Python that its distributor manages (PEP 668): this machine's, else one in ``folder``."""
    for python in found():
        if python.externally_managed and python.version >= NEEDED and python.makes_environments:
            return python.path
    return mark_as_managed(folder)


def mark_as_managed(folder: Path) -> Path:
    """A copy of the tests' Python in ``folder`` with the marker of PEP 668 in its library."""
    version = BASE_PYTHON.name if BASE_PYTHON.name.startswith("python3.") else "python3"
    library = Path(json.__file__).parents[1]
    copied = folder / "lib" / library.name
    copied.mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name not in ("site-packages", MARKER):
            (copied / entry.name).symlink_to(entry)
    (copied / MARKER).write_text("[externally-managed]\nError=Use an environment.\n")
    program = folder / "bin" / version
    program.parent.mkdir()
    shutil.copy2(BASE_PYTHON, program)
    return program


def _candidates() -> list[Path]:
    names = ["python2", "python3", *(f"python3.{minor}" for minor in range(3, 20)), "python2.7"]
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = shutil.which("pyenv")
    if pyenv is not None:
        root = Path(run([pyenv, "root"], inherited()).stdout.strip())
        folders += sorted(root.glob("versions/*/bin"))
    paths = [folder / name for folder in folders for name in names]
    return [path for path in paths if os.access(path, os.X_OK)]


def _describe(path: Path) -> Python | None:
    """``None`` where it is a stub that starts no Python."""
    try:
        finished = run([path, "-c", _DESCRIBE], inherited())
        major, minor, managed, usable = json.loads(finished.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(path, (major, minor), managed, usable)
