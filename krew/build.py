"""Builds the krew archive and its plugin manifest: ``python krew/build.py FOLDER``.

The archive is pure Python and the same for Linux and macOS: the launcher, this package and the
libraries that it imports, taken from the environment that runs this script, with their licences.
Equal inputs give equal bytes, so the manifest's checksum can be checked by anyone.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import string
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
LIBRARIES = ("click", "ruamel.yaml")
COMPILED = {".so", ".pyd", ".dylib", ".pyc", ".pyo"}
# The time of every file in the archive: a fixed one, since builds should not differ by it.
EPOCH = 1577836800


def members() -> Iterator[tuple[str, Path, int]]:
    """Every file of the archive: name in it, source, mode.

    Raises:
        ValueError: a library brings a compiled file, so it can't go into a universal archive.
    """
    yield "kubectl-llmfit", HERE / "launcher", 0o755
    for name in ("LICENSE", "NOTICE"):
        yield name, ROOT / name, 0o644
    package = ROOT / "kubectl_llmfit"
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"lib/{path.relative_to(ROOT)}", path, 0o644
    for library in LIBRARIES:
        yield from library_members(library)


def library_members(name: str) -> Iterator[tuple[str, Path, int]]:
    """The modules and the licence of an installed library."""
    installed = distribution(name)
    for file in sorted(installed.files or []):
        path = Path(str(file.locate()))
        if file.suffix in COMPILED - {".pyc", ".pyo"}:
            raise ValueError(f"{name} brings a compiled file: {file}")
        if "__pycache__" in file.parts or ".." in file.parts:
            continue
        if not file.parts[0].endswith(".dist-info"):
            yield f"lib/{file}", path, 0o644
        elif "licen" in path.name.lower() or path.name.upper().startswith("COPYING"):
            yield f"licenses/{name}-{path.name}", path, 0o644


def archive() -> bytes:
    """The archive's bytes: a gzipped tar with files and folders only, as krew wants it."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, path, mode in members():
            content = path.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(content), mode, EPOCH
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), mtime=0)


def manifest(version: str, name: str, content: bytes) -> str:
    """The plugin manifest for the archive called ``name``."""
    template = string.Template((HERE / "llmfit.yaml.tmpl").read_text("utf-8"))
    return template.substitute(
        version=version, archive=name, sha256=hashlib.sha256(content).hexdigest()
    )


def build(folder: Path) -> tuple[Path, Path]:
    """Writes both files into ``folder`` and returns their paths: archive, manifest."""
    version = distribution("kubectl-llmfit").version
    content = archive()
    name = f"kubectl-llmfit-v{version}.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    (folder / "llmfit.yaml").write_text(manifest(version, name, content), "utf-8")
    return folder / name, folder / "llmfit.yaml"


if __name__ == "__main__":
    for written in build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")):
        print(written)
