"""How kubectl itself reads a manifest: the oracle of the reader."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any


def read(text: str, folder: Path, suffix: str = ".yaml") -> list[Any] | None:
    """The objects that kubectl reads from ``text``; None when it refuses all or part of it."""
    file = folder / f"manifest{suffix}"
    file.write_bytes(text.encode())
    # Labels are the one thing that it is asked to change, without a server.
    command = ["kubectl", "annotate", "--local", "-f", str(file), "-o", "json", "seen=yes"]
    environment = {**os.environ, "KUBECONFIG": os.devnull}
    done = subprocess.run(
        command, capture_output=True, check=False, env=environment, timeout=60, text=True
    )
    if done.returncode:
        return None
    decoder = json.JSONDecoder(parse_int=_number)
    objects: list[Any] = []
    output = done.stdout.strip()
    while output:
        found, end = decoder.raw_decode(output)
        objects.append(found)
        output = output[end:].strip()
    for each in objects:
        annotations = each["metadata"]["annotations"]
        del annotations["seen"]
        if not annotations:
            del each["metadata"]["annotations"]
    return objects


def _number(digits: str) -> int | float:
    """A number as Kubernetes reads it from JSON: what 64 bits cannot hold is no integer."""
    number = int(digits)
    return number if number.bit_length() < 64 else float(number)
