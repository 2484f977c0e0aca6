"""Sample models, and the smallest catalog file that describes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubectl_llmfit import Model


def seven_billion(**changes: Any) -> Model:
    """The example of the llmfit project's documentation, with ``changes``."""
    facts: dict[str, Any] = {
        "name": "Test Model 7B",
        "parameters": 7_000_000_000,
        "quantization": "Q4_K_M",
        "min_vram_gb": 6.0,
    }
    return Model(**{**facts, **changes})


def catalog_file(path: Path, *entries: str) -> str:
    """Writes a catalog file of flow-style ``entries`` to ``path``; returns it as text."""
    lines = ["models:", *(f"- {{{entry}}}" for entry in entries)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)
