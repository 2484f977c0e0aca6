"""Every command that the documentation or a command's help shows works as shown."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest

from tests.docs import blocks
from tests.docs.blocks import ROOT, Block, Step
from tests.docs.examples import examples
from tests.docs.generate import contexts
from tests.docs.running import Shell

BLOCKS = blocks.all_blocks()
CONSOLE = [block for block in BLOCKS if block.is_console and not block.is_for_endpoint]
PROGRAMS = [block for block in BLOCKS if block.language == "python"]
EXAMPLES = examples()
# What a block may show besides the plugin: setting up, which other tests do.
NOT_RUN = ("./dev ", "git clone ", "cd ", "pip install ", "kubectl krew ", "cat ", "export ")


def _place(block: Block) -> str:
    return block.place


@pytest.mark.parametrize("block", [b for b in CONSOLE if not b.is_for_cluster], ids=_place)
def test_documented_commands(block: Block, shell: Shell) -> None:
    for step in block.steps:
        if step.runs_plugin:
            shell.check(step)


@pytest.mark.parametrize("block", CONSOLE, ids=_place)
def test_block_is_tagged_by_what_it_needs(block: Block) -> None:
    assert block.steps
    assert block.is_for_cluster == any(step.needs_cluster for step in block.steps)
    others = [step.command for step in block.steps if not step.runs_plugin]
    if not block.is_for_cluster:
        assert [each for each in others if not each.startswith(NOT_RUN)] == []


@pytest.mark.parametrize(
    "step",
    [each.step for each in EXAMPLES if not each.step.needs_cluster],
    ids=lambda step: step.command.removeprefix("kubectl llmfit "),
)
def test_examples_of_the_help(step: Step, shell: Shell) -> None:
    assert step.runs_plugin
    shell.check(step)


def test_every_command_has_an_example_of_itself() -> None:
    leaves = [each for each in contexts() if not isinstance(each.command, click.Group)]
    assert leaves
    for context in leaves:
        own = [each.step.command for each in EXAMPLES if each.shown_by == context.command_path]
        assert own, context.command_path
        assert all(command.startswith(context.command_path) for command in own)


@pytest.mark.parametrize("block", PROGRAMS, ids=_place)
def test_documented_programs(block: Block, shell: Shell) -> None:
    finished = subprocess.run(
        [sys.executable, "-P", "-c", block.text],
        cwd=shell.folder,
        env={**shell.env, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    promised = re.findall(r"# (.+)…", block.text)
    assert [text for text in promised if text not in finished.stdout] == []


def test_jobs_of_dev_exist() -> None:
    """Every ``./dev JOB`` in the documentation is a job, or a command that dev hands on."""
    script = (ROOT / "dev").read_text("utf-8")
    jobs = set(re.findall(r"^([a-z]+)\)", script, re.MULTILINE))
    commands = {context.info_name for context in contexts()}
    text = "\n".join(path.read_text("utf-8") for path in blocks.documents())
    shown = set(re.findall(r"\./dev ([a-z]+)", text))
    assert shown
    assert shown <= jobs | commands


def test_links_lead_somewhere() -> None:
    broken = [
        (path.name, target)
        for path in blocks.documents()
        for target in re.findall(r"\]\(([^)#]+)", path.read_text("utf-8"))
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("page", "pattern"), [("README.md", "docs/*.md"), ("docs/webhook.md", "webhook-*.md")]
)
def test_every_page_is_linked(page: str, pattern: str) -> None:
    """From the first page that a reader opens."""
    linking = ROOT / page
    pages = {str(each.relative_to(linking.parent)) for each in linking.parent.glob(pattern)}
    assert pages
    assert pages <= set(re.findall(r"\]\(([^)#]+)", linking.read_text("utf-8")))
