"""krew itself, built once from its Go module into a cache.

The cache lies in ``$XDG_CACHE_HOME/kubectl-llmfit/krew`` (``~/.cache/…``); an entry's name holds
krew's version, the Go release and the platform, so nothing has to be invalidated.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.packaging.processes import inherited, run, succeed

VERSION = "v0.4.3"
_PROGRAMS = ("krew", "validate-krew-manifest")


def programs() -> Path | None:
    """The folder that holds ``krew`` and ``validate-krew-manifest``; ``None`` where Go is missing.

    Several processes may ask at once: one builds, the others wait for it.
    """
    go = shutil.which("go")
    if go is None:
        return None
    release = succeed([go, "env", "GOVERSION", "GOOS", "GOARCH"], _environment()).split()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    entry = cache / "kubectl-llmfit" / "krew" / "-".join([VERSION, *release])
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _locked(entry.with_name(f"{entry.name}.lock")):
        if not entry.exists():
            _build(go, entry)
    return entry


def _build(go: str, entry: Path) -> None:
    with tempfile.TemporaryDirectory(dir=entry.parent, prefix=".building-") as scratch:
        built = Path(scratch) / "bin"
        packages = [f"sigs.k8s.io/krew/cmd/{name}@{VERSION}" for name in _PROGRAMS]
        finished = run([go, "install", *packages], _environment(GOBIN=str(built)))
        assert finished.returncode == 0, f"krew {VERSION} cannot be built:\n{finished.stderr}"
        # One rename, so that a killed build never leaves half an entry.
        built.rename(entry)


def _environment(**more: str) -> dict[str, str]:
    """The user's, less what would change which code is built."""
    return inherited("GOFLAGS", CGO_ENABLED="0", GOWORK="off", **more)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
