"""What -f names: files, folders, patterns and standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kubectl_llmfit.core.reasons import UNREADABLE_FILE
from kubectl_llmfit.files import sources
from kubectl_llmfit.files.sources import read_all


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with manifests, other files and a folder, as the working directory."""
    for name in ("d/b.yml", "d/a.yaml", "d/c.json", "d/d.txt", "d/.e.yaml", "d/sub/f.yaml"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text("kind: A\n" if file.suffix != ".json" else '{"kind": "A"}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "recursive", "found"),
    [
        pytest.param(["d/d.txt"], False, ["d/d.txt"], id="any-file"),
        pytest.param(["d"], False, ["d/.e.yaml", "d/a.yaml", "d/b.yml", "d/c.json"], id="folder"),
        pytest.param(["d/sub", "d/b.yml"], True, ["d/sub/f.yaml", "d/b.yml"], id="order"),
        pytest.param(["d/?.yaml"], False, ["d/a.yaml"], id="pattern"),
        pytest.param(["d/a.yaml", "./d/a.yaml"], False, ["d/a.yaml"], id="twice"),
    ],
)
def test_names_stand_for_files(
    folder: Path, names: Sequence[str], recursive: bool, found: Sequence[str]
) -> None:
    read, refused = read_all(names, recursive)
    assert refused is None
    assert [each.path for each in read] == found
    assert [each.manifest.name for each in read] == found


def test_a_folder_is_walked_only_when_asked(folder: Path) -> None:
    assert len(read_all(["d"], recursive=True)[0]) == 5
    assert len(read_all(["d"], recursive=False)[0]) == 4


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        pytest.param("none.yaml", "none.yaml cannot be read: No such file", id="missing"),
        pytest.param("no*.yaml", "no file matches no*.yaml", id="pattern"),
        pytest.param("https://a/b.yaml", "is a URL; download it", id="url"),
        pytest.param("empty", "empty holds no file that ends with .json, .yaml, .yml;", id="empty"),
        pytest.param("a\0b", "a\\x00b cannot be read: ", id="null-byte"),
        pytest.param("latin.yaml", "latin.yaml, line 2: the file is not UTF-8", id="latin-1"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_read(
    folder: Path, name: str, sentence: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "latin.yaml").write_bytes(b"a: 1\nb: gr\xf6\xdfe\n")
    read, refused = read_all([name, "d/a.yaml"], recursive=False)
    assert [each.path for each in read] == ["d/a.yaml"]
    assert refused is not None
    (problem,) = refused.problems
    assert problem.reason is UNREADABLE_FILE
    assert sentence in str(problem)


def test_a_file_that_is_too_large_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_BYTES", 5)
    _, refused = read_all(["d/a.yaml"], recursive=False)
    assert "is larger than 5 bytes" in str(refused)


def test_standard_input_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\ufeffkind: Größe\r\n"
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    (source,), refused = read_all(["-", "-"], recursive=False)
    assert refused is None
    assert source.path is None
    assert source.manifest.name == "standard input"
    assert source.manifest.text == text
