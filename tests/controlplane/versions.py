"""Which Kubernetes versions the cluster tests can run: one Go module file each."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

GO_MODULE = Path(__file__).parent / "go"
DEFAULT_VERSION = "v1.37.2"
VERSION_VARIABLE = "LLMFIT_K8S_VERSION"


def supported() -> list[str]:
    """Every version with a module file, oldest first."""
    names = [path.stem for path in GO_MODULE.glob("v*.mod")]
    return sorted(names, key=lambda name: [int(part) for part in name[1:].split(".")])


def resolve(asked: str) -> str:
    """The supported version that ``asked`` means: ``v1.37.2``, ``1.37.2`` or ``1.37``."""
    wanted = "v" + asked.removeprefix("v")
    for version in reversed(supported()):
        if version == wanted or version.startswith(wanted + "."):
            return version
    known = ", ".join(supported())
    raise ValueError(
        f"Kubernetes {asked} is not set up for the cluster tests (there are: {known}). "
        f"Add it with: python -m tests.controlplane.newversion {wanted}"
    )


def asked_for(environment: Mapping[str, str] = os.environ) -> str:
    """The version that LLMFIT_K8S_VERSION asks for, or the default."""
    return resolve(environment.get(VERSION_VARIABLE) or DEFAULT_VERSION)


def minor(version: str) -> int:
    """37 for ``v1.37.2``."""
    match = re.match(r"v1\.(\d+)\.", version)
    if match is None:
        raise ValueError(f"{version} is not a version of the form v1.MINOR.PATCH")
    return int(match[1])
