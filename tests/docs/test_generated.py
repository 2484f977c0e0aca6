"""The committed documents are those that the code gives now."""

from __future__ import annotations

import re

import pytest

from tests.docs.generate import DOCUMENTS, FOLDER, contexts
from tests.docs.running import Shell

COMMANDS = [context.command_path for context in contexts()]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_is_up_to_date(name: str) -> None:
    committed = (FOLDER / name).read_text("utf-8")
    assert committed == DOCUMENTS[name](), f"docs/{name} is out of date: run ./dev docs"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_says_that_it_is_generated(name: str) -> None:
    first = (FOLDER / name).read_text("utf-8").splitlines()[0]
    assert first.startswith("<!-- ")
    assert "`./dev docs`" in first


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_what_kubectl_prints(command: str, shell: Shell) -> None:
    code, printed = shell.run(f"{command} --help")
    assert code == 0
    assert f"## {command}\n\n```text\n{printed}```\n" in (FOLDER / "commands.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["reasons.md", "consequences.md", "quantizations.md"])
def test_tables_are_whole(name: str) -> None:
    """No cell broke its row, and no entry is there twice."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("| `")]
    columns = {len(row) for row in rows}
    firsts = [row[1].lower() for row in rows]
    assert columns <= {4, 5}
    assert len(firsts) == len(set(firsts))
    assert all(cell.strip() for row in rows for cell in row[1:-1])
