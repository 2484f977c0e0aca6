"""Runs ``llmfit claim`` and reads what it printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

VERSION = "1.1.17"


@dataclass(frozen=True)
class Options:
    """Flags of ``llmfit claim``; ``None`` leaves the flag out."""

    quant: str | None = None
    min_tps: str | None = None
    efficiency: str | None = None
    device_class: str | None = None
    name: str | None = None
    template: bool = False

    def flags(self) -> list[str]:
        """The command line, the same for the oracle and for us."""
        values = {
            "--quant": self.quant,
            "--min-tps": self.min_tps,
            "--efficiency": self.efficiency,
            "--device-class": self.device_class,
            "--name": self.name,
        }
        flags = [part for flag, value in values.items() if value for part in (flag, value)]
        return [*flags, *(["--template"] if self.template else [])]


@cache
def binary() -> str:
    """The oracle's path: beside this Python, else on PATH.

    Raises:
        RuntimeError: it is not installed, or is another version.
    """
    beside = Path(sys.executable).parent / "llmfit"
    path = str(beside) if beside.exists() else shutil.which("llmfit")
    if path is None:
        raise RuntimeError(f"the oracle is missing; install it with: pip install llmfit=={VERSION}")
    version = _run([path, "--version"])
    if version.stdout.split() != ["llmfit", VERSION]:
        raise RuntimeError(f"{path} is {version.stdout.strip()}, not llmfit {VERSION}")
    return path


def run(model: str, options: Options, *extra: str) -> subprocess.CompletedProcess[str]:
    """``llmfit claim MODEL`` with ``options`` and ``extra`` flags."""
    return _run([binary(), "claim", model, *options.flags(), *extra])


def summary(model: str, options: Options) -> dict[str, Any]:
    """What ``--json`` prints."""
    finished = run(model, options, "--json")
    finished.check_returncode()
    parsed: dict[str, Any] = json.loads(finished.stdout)
    return parsed


@dataclass(frozen=True)
class Claim:
    """The YAML that the oracle prints, taken apart."""

    document: dict[str, Any]
    quant: str

    @property
    def selector(self) -> str:
        """The CEL text, as a YAML reader gives it."""
        spec = self.document["spec"]
        devices = spec.get("spec", spec)["devices"]
        text: str = devices["requests"][0]["exactly"]["selectors"][0]["cel"]["expression"]
        return text


def claim(model: str, options: Options) -> Claim:
    """What ``llmfit claim`` prints without ``--json``."""
    finished = run(model, options)
    finished.check_returncode()
    quant = re.search(
        r"^# model: .* params, (.+) ≈ [0-9.]+ GB weights\)$", finished.stdout, re.MULTILINE
    )
    if quant is None:
        raise RuntimeError(f"unexpected header for {model}: {finished.stdout[:400]}")
    return Claim(yaml.safe_load(finished.stdout), quant.group(1))


def models() -> list[dict[str, Any]]:
    """Every entry of ``llmfit list --json``."""
    listed: list[dict[str, Any]] = json.loads(_run([binary(), "list", "--json"]).stdout)
    return listed


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    # The binary notes a missing glibc symbol on standard error; only standard output is read.
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "LLMFIT_NO_UPDATE": "1", "NO_COLOR": "1"},
    )
