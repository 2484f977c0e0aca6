"""The folders of ``manifests/`` as ``kubectl kustomize`` builds them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kubectl_llmfit.installing.manifests import BASE, FOLDER, OVERLAYS
from tests.controlplane.binaries import find_programs
from tests.controlplane.versions import DEFAULT_VERSION

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "manifests"
BUILT = Path(FOLDER)
NAMES = (BASE, *OVERLAYS)


@contextmanager
def pinned_kubectl() -> Iterator[Path]:
    """The kubectl that belongs to the control plane of the tests, whatever is on PATH."""
    with tempfile.TemporaryDirectory(prefix="llmfit-kubectl-") as folder:
        find_programs(DEFAULT_VERSION).link_into(Path(folder))
        yield Path(folder) / "kubectl"


def source(name: str) -> Path:
    """The folder that ``name``, the base or an overlay, is built from."""
    return SOURCES / BASE if name == BASE else SOURCES / "overlays" / name


def kustomize(kubectl: Path, folder: Path) -> str:
    """What ``kubectl kustomize FOLDER`` prints."""
    done = subprocess.run(
        [kubectl, "kustomize", folder], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode or done.stderr:
        raise RuntimeError(f"kubectl kustomize {folder}: {done.stderr}")
    return done.stdout


def together(kubectl: Path, overlays: Iterable[str]) -> str:
    """What kustomize builds of the base with the components of several overlays."""
    with tempfile.TemporaryDirectory(prefix="llmfit-kustomize-", dir=ROOT) as folder:
        path = Path(folder)
        lines = ["resources:", "- ../manifests/base", "components:"]
        lines += [f"- ../manifests/components/{each}" for each in overlays]
        (path / "kustomization.yaml").write_text("\n".join(lines) + "\n", "utf-8")
        return kustomize(kubectl, path)


def write_all(kubectl: Path) -> list[Path]:
    """Writes what the plugin ships anew; the files."""
    os.makedirs(BUILT, exist_ok=True)
    written = [BUILT / f"{name}.yaml" for name in NAMES]
    for name, path in zip(NAMES, written, strict=True):
        path.write_text(kustomize(kubectl, source(name)), "utf-8")
    return written
