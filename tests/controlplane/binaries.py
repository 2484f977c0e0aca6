"""Find the five programs of a control plane: named, installed, cached, or built.

1. ``LLMFIT_CONTROLPLANE`` names the multi-call program that ``build.py`` makes.
2. ``KUBEBUILDER_ASSETS`` names a folder that holds all five programs. The folder that
   setup-envtest makes has no controller manager and no scheduler; it is passed over.
3. The cache, then a build (``build.py``).
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.controlplane.build import BuildError, build_program

PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
PROGRAM_VARIABLE = "LLMFIT_CONTROLPLANE"
FOLDER_VARIABLE = "KUBEBUILDER_ASSETS"


@dataclass(frozen=True)
class Programs:
    """The five programs by name, and where they came from."""

    version: str
    paths: Mapping[str, Path]
    origin: str

    def link_into(self, folder: Path) -> None:
        """Make ``folder`` a PATH entry: one symbolic link for each program.

        The multi-call program goes by the name that it is called with.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in self.paths.items():
            (folder / name).symlink_to(path)


def find_programs(version: str, environment: Mapping[str, str] = os.environ) -> Programs:
    """The programs for ``version``; BuildError with one clear message when there are none."""
    if named := environment.get(PROGRAM_VARIABLE):
        program = Path(named).absolute()
        if not os.access(program, os.X_OK):
            raise BuildError(f"{PROGRAM_VARIABLE} names {named}, which is no executable file.")
        _check_version([str(program), "kube-apiserver"], version, PROGRAM_VARIABLE)
        return _multi_call(version, program, PROGRAM_VARIABLE)
    if named := environment.get(FOLDER_VARIABLE):
        paths = {name: Path(named).absolute() / name for name in PARTS}
        if all(os.access(path, os.X_OK) for path in paths.values()):
            _check_version([str(paths["kube-apiserver"])], version, FOLDER_VARIABLE)
            return Programs(version, paths, FOLDER_VARIABLE)
    return _multi_call(version, build_program(version), "cache")


def _multi_call(version: str, program: Path, origin: str) -> Programs:
    return Programs(version, dict.fromkeys(PARTS, program), origin)


def _check_version(apiserver: list[str], version: str, variable: str) -> None:
    result = subprocess.run([*apiserver, "--version"], capture_output=True, text=True, check=False)
    found = result.stdout.strip().removeprefix("Kubernetes ")
    if result.returncode != 0 or found != version:
        raise BuildError(
            f"{variable} leads to Kubernetes {found or result.stderr.strip()}, and the tests "
            f"were asked for {version}. Set LLMFIT_K8S_VERSION or {variable} to match."
        )
