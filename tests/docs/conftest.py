"""What the tests of documented commands share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs import blocks
from tests.docs.running import Shell, open_shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A reader's shell, in a folder with every file that the documentation shows."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.fail("the tests of documented commands need `kubectl` on PATH", pytrace=False)
    return open_shell(tmp_path, Path(kubectl), blocks.files(blocks.all_blocks()))
