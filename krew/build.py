"""Builds the krew archive and its plugin manifest: ``python krew/build.py FOLDER``.

The archive is pure Python and the same for Linux and macOS: the launcher, this package and the
libraries that it imports, taken from the environment that runs this script, with their licences.
Equal inputs give equal bytes, so the manifest's checksum can be checked by anyone.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import runpy
import string
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
PACKAGE = ROOT / "kubectl_llmfit"
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
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"lib/{path.relative_to(ROOT)}", path, 0o644
    for library in LIBRARIES:
        yield from library_members(library)


def library_members(name: str) -> Iterator[tuple[str, Path, int]]:
    """The modules and the licence of an installed library.

    Raises:
        ValueError: it brings a compiled file, or its modules or its licence are not to be found.
    """
    folders = set()
    for file in sorted(distribution(name).files or []):
        path = Path(str(file.locate()))
        if "__pycache__" in file.parts or ".." in file.parts:
            continue
        if file.suffix in COMPILED:
            raise ValueError(f"{name} brings a compiled file: {file}")
        if not file.parts[0].endswith(".dist-info"):
            folders.add("lib")
            yield f"lib/{file}", path, 0o644
        elif "licen" in path.name.lower() or path.name.upper().startswith("COPYING"):
            folders.add("licenses")
            yield f"licenses/{name}-{path.name}", path, 0o644
    if folders != {"lib", "licenses"}:
        raise ValueError(f"{name} is installed without a list of its modules, or without a licence")


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


def package_version() -> str:
    """The version that the sources state; metadata of an editable installation may lag behind."""
    stated: str = runpy.run_path(str(PACKAGE / "version.py"))["__version__"]
    return stated


def manifest(version: str, name: str, content: bytes) -> str:
    """The plugin manifest for the archive called ``name``."""
    template = string.Template((HERE / "llmfit.yaml.tmpl").read_text("utf-8"))
    return template.substitute(
        version=version, archive=name, sha256=hashlib.sha256(content).hexdigest()
    )


def build(folder: Path) -> tuple[Path, Path]:
    """Writes both files into ``folder`` and returns their paths: archive, manifest."""
    version = package_version()
    content = archive()
    name = f"kubectl-llmfit-v{version}.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    (folder / "llmfit.yaml").write_text(manifest(version, name, content), "utf-8")
    return folder / name, folder / "llmfit.yaml"


if __name__ == "__main__":
    for written in build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")):
        print(written)
