"""``docs/endpoint.md``: its commands work as shown, and its tables say what the code says."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.docs import blocks
from tests.docs.blocks import ROOT, Block
from tests.docs.running import Shell
from webhook.endpoint.limits import Limits
from webhook.endpoint.openapi import document
from webhook.endpoint.parameters import ClaimParameters, ModelsParameters
from webhook.settings import EndpointSettings

TEXT = (ROOT / "docs" / "endpoint.md").read_text("utf-8")
DOCUMENTED = "http://127.0.0.1:8081"
BLOCKS = [block for block in blocks.all_blocks() if block.is_for_endpoint]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A reader's shell."""
    curl = shutil.which("curl")
    if curl is None:
        pytest.fail("the tests of documented commands need `curl` on PATH", pytrace=False)
    return Shell(tmp_path, {"PATH": str(Path(curl).parent), "LANG": "C.UTF-8"})


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_documented_requests(block: Block, shell: Shell, url: str) -> None:
    assert block.steps
    for step in block.steps:
        assert DOCUMENTED in step.command
        shell.check(replace(step, command=step.command.replace(DOCUMENTED, url)))


def test_every_path_and_parameter_is_documented() -> None:
    names = (*document()["paths"], *ClaimParameters.model_fields, *ModelsParameters.model_fields)
    assert [each for each in names if not re.search(rf"[`/1]{each}\b", TEXT)] == []


def test_table_of_settings() -> None:
    rows = re.findall(
        r"^\| `(--[a-z-]+)` \| `(\w+)` \| `?([^`|]*?)`? ?\| (.+) \|$", TEXT, re.MULTILINE
    )
    assert rows == [
        (
            f"--{name.replace('_', '-')}",
            f"LLMFIT_WEBHOOK_{name.upper()}",
            str(field.default or ""),
            field.description,
        )
        for name, field in EndpointSettings.model_fields.items()
    ]


def test_table_of_statuses() -> None:
    documented = set(re.findall(r"^\| ([45]\d\d) \|", TEXT, re.MULTILINE))
    described = {
        status
        for path in document()["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
        if status != "200"
    }
    # An operation can't describe what comes of a method or a fault that it does not have.
    assert documented == described | {"405", "500"}


def test_limits_are_the_documented_ones() -> None:
    limits = Limits()
    for phrase in (
        f"longer than {limits.body_bytes} bytes",
        f"longer than {limits.target_bytes} bytes",
        f"More than {limits.in_flight} requests",
        f"body took longer than {limits.read_seconds:g} seconds",
        f"answer took longer than {limits.answer_seconds:g} seconds",
        f"no whole request for {limits.idle_seconds:g} seconds",
    ):
        assert phrase in TEXT
