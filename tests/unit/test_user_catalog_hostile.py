"""Catalog files that are no YAML, no text or no files, or that try to do harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.commandline import MODEL, REPOSITORY, Run, environment, whole_process


def error(run: Run, path: Path | str) -> str:
    """The one error of a render with the file at ``path``, behind its path."""
    line = run("render", MODEL, "--catalog", str(path)).error()
    assert line.startswith(f"error: {path}")
    assert line.endswith(" (bad-catalog)")
    return line.removeprefix(f"error: {path}").removesuffix(" (bad-catalog)")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        pytest.param("models:\n- {name: a\n", 3, 1, id="bracket-left-open"),
        pytest.param("models:\n\t- a\n", 2, 1, id="tab-as-indent"),
        pytest.param("models: []\nmodels: []\n", 2, 1, id="key-twice"),
        pytest.param("models:\n- {name: a, name: b}\n", 2, 13, id="field-twice"),
        pytest.param("models: *a\n", 1, 9, id="unknown-alias"),
        pytest.param("models: !foo []\n", 1, 9, id="tag"),
        pytest.param("models: !!python/name:os.system ''\n", 1, 9, id="python-tag"),
        pytest.param("models: !!python/object/apply:os.abort []\n", 1, 9, id="python-call"),
        pytest.param("a: 1\n---\nb: 2\n", 2, 1, id="two-documents"),
        pytest.param('models: "a\n', 2, 1, id="quote-left-open"),
        pytest.param("models: [a]]\n", 1, 12, id="bracket-too-many"),
        pytest.param("%YAML 9.9\n---\nmodels: []\n", 1, 1, id="yaml-of-the-future"),
        pytest.param("models:\n- <<: 3\n", 2, 3, id="merge-of-a-number"),
        pytest.param("models: @a\n", 1, 9, id="reserved-character"),
    ],
)
def test_what_is_not_yaml_is_named_with_line_and_column(
    run: Run, tmp_path: Path, text: str, line: int, column: int
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    assert error(run, path).startswith(f": line {line}, column {column} is not YAML: ")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("models: 2024-13-45\n", id="month-13"),
        pytest.param("models: 2001-12-14t21:59:43.10+99:99\n", id="zone-of-99-hours"),
        pytest.param("models: " + "9" * 5000 + "\n", id="number-of-5000-digits"),
        pytest.param("models: 0b_\n", id="number-without-digits"),
        pytest.param("models: !!int abc\n", id="tagged-integer"),
        pytest.param("models: !!int ''\n", id="tagged-empty-integer"),
        pytest.param("models: !!float 1e\n", id="tagged-float"),
        pytest.param("models: !!float ''\n", id="tagged-empty-float"),
        pytest.param("models: !!bool perhaps\n", id="tagged-boolean"),
        pytest.param("models: !!timestamp soon\n", id="tagged-time"),
        pytest.param("models: !!binary '*'\n", id="tagged-bytes"),
        pytest.param("models: !!omap text\n", id="tagged-ordered-mapping"),
        pytest.param("models: !!pairs text\n", id="tagged-pairs"),
        pytest.param("models: !!set text\n", id="tagged-set"),
        pytest.param("models: !!str {a: b}\n", id="tagged-text"),
        pytest.param('models: "\\U00110000"\n', id="character-beyond-unicode"),
        pytest.param("models: " + "[" * 20_000, id="20000-lists-deep"),
        pytest.param("models: " + "{a: " * 5_000, id="5000-mappings-deep"),
        pytest.param("? &a [*a]\n: b\n", id="key-that-holds-itself"),
        pytest.param("models:\n- ? &a {b: *a}\n  : 1\n", id="mapping-key-that-holds-itself"),
        pytest.param("models: &a\n  models: *a\n", id="mapping-that-holds-itself"),
        pytest.param("models: &a [*a]\n", id="list-that-holds-itself"),
        pytest.param("models: [{<<: &a {<<: *a}}]\n", id="merge-with-itself"),
        pytest.param("\0", id="null-character"),
        pytest.param("models: \x07\n", id="bell"),
        pytest.param("models: [\ufffe]\n", id="no-character"),
    ],
)
def test_what_a_reader_stumbles_over_is_one_error(run: Run, tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    assert len(error(run, path)) < 400


def test_aliases_that_multiply_do_not_fill_the_memory(run: Run, tmp_path: Path) -> None:
    levels = range(1, 40)
    lines = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in levels]
    path = tmp_path / "own.yaml"
    path.write_text("\n".join(["a0: &a0 [x]", *lines, "models: *a39", ""]))
    assert error(run, path) == " needs one key, models, with a list of entries"


def test_merges_that_multiply_do_not_take_for_ever(tmp_path: Path) -> None:
    levels = range(1, 12)
    lines = [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in levels]
    path = tmp_path / "own.yaml"
    path.write_text("\n".join(["a0: &a0 {k: v}", *lines, "models: []", ""]))
    # Refused at once, or the limits end it: seconds of work and kilobytes of memory.
    limited = ["sh", "-c", 'ulimit -t 10; ulimit -v 2000000; exec "$@"', "sh", sys.executable]
    finished = subprocess.run(
        [*limited, "-m", "kubectl_llmfit", "render", MODEL, "--catalog", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env=environment(),
    )
    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr.startswith(f"error: {path}")
    assert finished.stderr.endswith(" (bad-catalog)\n")


def test_an_anchor_may_be_used_again_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "models:\n"
        "- &a {name: a/one, parameters: 5, quantization: F16}\n"
        "- &a {name: a/two, parameters: 5, quantization: F16}\n"
    )
    finished = whole_process("models", "info", "a/two", "-o", "name", "--catalog", str(path))
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, b"a/two\n", b"")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b"models: \xff\n", 8, id="byte-that-starts-nothing"),
        pytest.param(b"\xff\xfem\0o\0d\0", 0, id="utf-16"),
        pytest.param(b"models: gr\xf6\xdfe\n", 10, id="latin-1"),
        pytest.param(b"\x1f\x8b\x08\x00", 1, id="gzip"),
        pytest.param(b"models: \xed\xa0\x80\n", 8, id="surrogate"),
    ],
)
def test_what_is_not_utf_8_is_named_with_the_byte(
    run: Run, tmp_path: Path, content: bytes, place: int
) -> None:
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    assert error(run, path) == f" is not UTF-8 text (byte {place})"


def test_a_file_that_is_too_large_is_not_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    with path.open("wb") as file:
        file.truncate(10**12)
    assert error(run, path) == " is larger than 1000000 bytes"


def test_an_endless_file_ends(run: Run) -> None:
    assert error(run, "/dev/zero") == " is larger than 1000000 bytes"


def test_what_cannot_be_read_says_why(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = tmp_path / "file"
    file.write_text("models: []\n")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    long = tmp_path / ("x" * 300)
    assert error(run, folder) == " cannot be read: Is a directory"
    assert error(run, file / "below") == " cannot be read: Not a directory"
    assert error(run, tmp_path / "none") == " cannot be read: No such file or directory"
    assert error(run, loop) == " cannot be read: Too many levels of symbolic links"
    assert error(run, long) == " cannot be read: File name too long"


def test_an_empty_path_is_no_file(run: Run) -> None:
    finished = run("render", MODEL, "--catalog", "")
    assert "cannot be read: No such file or directory" in finished.error()


def test_a_path_with_control_characters_is_shown_on_one_line(run: Run) -> None:
    line = run("render", MODEL, "--catalog", "a\nb\x1b[2J\udc80").error()
    assert "a\\nb\\x1b[2J\\udc80 cannot be read" in line


def test_a_file_that_is_a_pipe_is_read(run: Run) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"models:\n- {name: a/piped, parameters: 5, quantization: F16}\n")
    os.close(writer)
    try:
        finished = run("models", "info", "a/piped", "-o", "name", "--catalog", f"/dev/fd/{reader}")
    finally:
        os.close(reader)
    assert finished.stdout() == "a/piped\n"
