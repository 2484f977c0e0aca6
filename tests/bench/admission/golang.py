"""The webhooks in Go, built once into a cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.controlplane.build import find_go, go_environment

MODULE = Path(__file__).parents[1] / "go"
ORDINARY: Mapping[str, str] = {}
TUNED: Mapping[str, str] = {"GOEXPERIMENT": "jsonv2"}
"""Builds with the faster JSON of Go's next library."""
TUNED_RUN: Mapping[str, str] = {"GOGC": "400"}


def program(build: Mapping[str, str]) -> Path | None:
    """The program built in that environment; ``None`` where there is no Go."""
    go = find_go()
    if go is None:
        return None
    target = _cache() / f"webhook-{_hash(build)}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [go, "build", "-trimpath", "-o", str(target), "."],
            cwd=MODULE,
            env={**go_environment(), **build},
            check=True,
        )
    return target


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kubectl-llmfit" / "bench"


def _hash(build: Mapping[str, str]) -> str:
    digest = hashlib.sha256(repr(sorted(build.items())).encode())
    for path in sorted(MODULE.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
