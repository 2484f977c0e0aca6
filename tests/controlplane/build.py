"""Build the control plane's one program with Go, once, into a cache.

The cache lies in ``$XDG_CACHE_HOME/kubectl-llmfit/controlplane`` (``~/.cache/…``). An
entry's name holds everything that the program is made of: the Kubernetes version, a
hash of the Go module's files, the Go release and the platform. So a changed source or
toolchain makes a new entry, and nothing has to be invalidated.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.controlplane.versions import GO_MODULE, minor

PROGRAM = "controlplane"


class BuildError(Exception):
    """The program is missing and can't be built; the message says what to do."""


class GoMissingError(BuildError):
    """It can't be built because there is no go command."""


def cache_folder() -> Path:
    """Where built programs are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kubectl-llmfit" / "controlplane"


def go_environment() -> dict[str, str]:
    """The environment for Go: the user's, less what would change which code is built."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GOFLAGS", "GOWORK")}
    return kept | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}


def find_go() -> str | None:
    """The go command, or None."""
    return shutil.which("go")


def sources_hash(version: str) -> str:
    """A short hash of all files that decide what is built for ``version``."""
    digest = hashlib.sha256()
    paths = [*GO_MODULE.glob("*.go"), GO_MODULE / f"{version}.mod", GO_MODULE / f"{version}.sum"]
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _go_release(go: str) -> str:
    command = [go, "env", "GOVERSION", "GOOS", "GOARCH"]
    result = subprocess.run(
        command, cwd=GO_MODULE, env=go_environment(), capture_output=True, text=True, check=True
    )
    return "-".join(result.stdout.split())


def cached_program(version: str) -> Path | None:
    """The program for ``version`` from the cache, or None.

    Without a go command the toolchain is not known; then any entry that was built from
    the same sources will do.
    """
    go = find_go()
    release = _go_release(go) if go else "*"
    for folder in sorted(cache_folder().glob(f"{version}-{sources_hash(version)}-{release}")):
        if (folder / PROGRAM).is_file():
            return folder / PROGRAM
    return None


def build_program(version: str) -> Path:
    """The program for ``version``: from the cache, else built into it.

    Several processes may ask at once: one builds, the others wait for it.
    """
    if found := cached_program(version):
        return found
    go = find_go()
    if go is None:
        raise GoMissingError(
            f"The cluster tests need etcd and Kubernetes {version}, and there is no `go` "
            f"command on PATH to build them with. Install Go (https://go.dev/doc/install) and "
            f"run `python -m tests.controlplane build`, or name a program that was built "
            f"elsewhere in LLMFIT_CONTROLPLANE, or a folder with etcd, kube-apiserver, "
            f"kube-controller-manager, kube-scheduler and kubectl in KUBEBUILDER_ASSETS."
        )
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f"{version}.lock"):
        return cached_program(version) or _build(go, version, cache)


def _build(go: str, version: str, cache: Path) -> Path:
    print(
        f"building etcd and Kubernetes {version}: once for this machine, some minutes …",
        file=sys.stderr,
        flush=True,
    )
    package = "k8s.io/component-base/version"
    # Without these the servers call themselves v0.0.0-master, and clients that ask for
    # the server's version would be told so.
    stamps = {
        "gitVersion": version,
        "gitMajor": "1",
        "gitMinor": str(minor(version)),
        "gitTreeState": "clean",
    }
    linker = " ".join(
        ["-s -w", *(f"-X {package}.{name}={value}" for name, value in stamps.items())]
    )
    target = cache / f"{version}-{sources_hash(version)}-{_go_release(go)}"
    prefix = f".building-{version}-"
    for left in cache.glob(prefix + "*"):  # by a build that was killed: the lock is ours now
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=cache, prefix=prefix) as scratch:
        made = Path(scratch) / target.name
        made.mkdir()
        command = [go, "build", f"-modfile={version}.mod", "-trimpath", "-ldflags", linker]
        result = subprocess.run(
            [*command, "-o", str(made / PROGRAM), "."],
            cwd=GO_MODULE,
            env=go_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            tail = "\n".join(result.stderr.splitlines()[-20:])
            raise BuildError(f"Building Kubernetes {version} failed:\n{tail}")
        # One rename, so that a killed build never leaves half a program in the cache.
        made.rename(target)
    return target / PROGRAM


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file lock at ``path``; the kernel lets go of it when the process ends."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
