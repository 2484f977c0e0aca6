"""The reader of documented commands itself: a wrong document must not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import blocks
from tests.docs.blocks import BadBlockError, Block, Step
from tests.docs.running import Shell, matches

DOCUMENT = """
Text with `code` and ``` in it.

```console
$ kubectl llmfit version
Client Version: v1
...
$ kubectl llmfit render \\
    --quant Q8_0 M
$ kubectl llmfit render M | kubectl apply -f -
claim created
```

1. In a list:

   ```yaml own.yaml
   models: []
   ```

````text
```console
$ not a command
```
````
"""


def test_blocks_of_a_document() -> None:
    console, file, text = blocks.parse(DOCUMENT, "D.md")
    assert console.place == "D.md:4"
    assert console.steps == (
        Step("kubectl llmfit version", ("Client Version: v1", "...")),
        Step("kubectl llmfit render \\\n    --quant Q8_0 M", None),
        Step("kubectl llmfit render M | kubectl apply -f -", ("claim created",)),
    )
    assert (file.file_name, file.text) == ("own.yaml", "models: []\n")
    assert not text.is_console
    assert blocks.files([console, file, text]) == {"own.yaml": "models: []\n"}


@pytest.mark.parametrize(
    ("command", "runs_plugin", "needs_cluster"),
    [
        ("kubectl llmfit render M", True, False),
        ("kubectl llmfit render M | kubectl apply -f -", True, True),
        ("cat M.yaml | kubectl llmfit models info M", True, False),
        ("kubectl get pods", False, True),
        ("kubectl krew install llmfit", False, False),
        ("kubectl  llmfit version && kubectl get nodes", True, True),
        ("echo kubectl get nodes", False, False),
        ("kubectl llmfit render M --driver auto", True, True),
        ("kubectl llmfit render M --driver gpu.amd.com -n auto", True, False),
    ],
)
def test_step_says_what_it_needs(command: str, runs_plugin: bool, needs_cluster: bool) -> None:
    step = Step(command, None)
    assert (step.runs_plugin, step.needs_cluster) == (runs_plugin, needs_cluster)


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        (["a", "b"], "a\nb\n", True),
        (["a", "b"], "a\nb\nc\n", False),
        (["a", "b"], "a\n", False),
        (["a"], "a", False),
        (["a", "..."], "a\n", True),
        (["a", "...", "d"], "a\nb\nc\nd\n", True),
        (["a", "...", "d"], "a\nb\nc\n", False),
        (["a."], "ab\n", False),
        (["..."], "", True),
    ],
)
def test_output_matches(expected: list[str], output: str, same: bool) -> None:
    assert matches(expected, output) is same


@pytest.mark.parametrize(
    ("step", "sound"),
    [
        (Step("echo a; echo b >&2", ("a", "b")), True),
        (Step("echo a", None), True),
        (Step("echo a", ("b",)), False),
        (Step("echo a; false", ("a",)), False),
        (Step("false", None), False),
        (Step("echo 'error: no'; false", ("error: no",)), True),
        (Step("echo 'error: no'", ("error: no",)), False),
    ],
)
def test_shell_checks_output_and_code(step: Step, sound: bool, tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"PATH": "/usr/bin:/bin"})
    if sound:
        shell.check(step)
    else:
        with pytest.raises(AssertionError, match=r"echo|false"):
            shell.check(step)


@pytest.mark.parametrize("text", ["```console\n$ a\n", "~~~\n```\n"])
def test_block_without_an_end(text: str) -> None:
    with pytest.raises(BadBlockError, match=r"D\.md:1"):
        blocks.parse(text, "D.md")


def test_output_before_a_command() -> None:
    (block,) = blocks.parse("```console\nkubectl llmfit version\n```\n", "D.md")
    with pytest.raises(BadBlockError, match="output before any command"):
        _ = block.steps


@pytest.mark.parametrize("second", [Block("D.md", 9, ("yaml", "a.yaml"), "other\n")])
def test_two_files_of_one_name(second: Block) -> None:
    first = Block("D.md", 1, ("yaml", "a.yaml"), "one\n")
    with pytest.raises(BadBlockError, match=r"D\.md:9"):
        blocks.files([first, second])
