"""The launcher of the krew archive: too old a Python, and the search for a newer one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.packaging import pythons
from tests.packaging.building import ROOT, Installation
from tests.packaging.conftest import MODEL
from tests.packaging.processes import BASE_PYTHON, Finished, environment, run, succeed

LAUNCHER = ROOT / "krew" / "launcher"
SENTENCE = (
    "error: kubectl-llmfit needs Python 3.11 or newer, but python3 is {}.{} here and PATH has no "
    "newer one; install one\n"
)
OLD = (3, 10)
# What Python 2.7 can read: its statements and expressions, as today's parser names them.
READABLE = {
    *("Module", "Import", "ImportFrom", "alias", "Expr", "Assign", "AugAssign", "Return"),
    *("FunctionDef", "arguments", "arg", "If", "For", "While", "With", "withitem", "Continue"),
    *("Break", "Pass", "Try", "ExceptHandler", "Raise", "Call", "keyword", "Attribute", "Name"),
    *("Load", "Store", "Subscript", "Slice", "Index", "Constant", "Tuple", "List", "Dict"),
    *("Compare", "Lt", "LtE", "Gt", "GtE", "Eq", "NotEq", "In", "NotIn", "Is", "IsNot"),
    *("BoolOp", "And", "Or", "UnaryOp", "Not", "USub", "BinOp", "Add", "Sub", "Mod", "Mult"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The only folder of PATH."""
    made = tmp_path / "path"
    made.mkdir()
    return made


def _launch(plugin: Installation, folder: Path, home: Path, *arguments: str) -> Finished:
    env = environment([folder], home)
    return run([plugin.bin / "kubectl-llmfit", *arguments], env)


def _refuses(finished: Finished, version: tuple[int, int]) -> bool:
    answer = (finished.returncode, finished.stdout, finished.stderr)
    return answer == (1, "", SENTENCE.format(*version))


def test_old_python_is_told_in_one_sentence(
    unpacked: Installation, folder: Path, home: Path
) -> None:
    pythons.stand_in(folder / "python3", OLD)
    finished = _launch(unpacked, folder, home, "render", MODEL)
    assert _refuses(finished, OLD), finished


def test_every_old_python_here_can_say_so(unpacked: Installation, folder: Path, home: Path) -> None:
    """On Python 2.7 too, the launcher is read and run to its sentence."""
    stand_in = pythons.stand_in(folder / "old", OLD)
    old = {python.path: python.version for python in pythons.found()}
    old = {path: version for path, version in old.items() if version < pythons.NEEDED}
    env = environment(["/nonexistent"], home)
    launcher = unpacked.files / "kubectl-llmfit"
    for path, version in {stand_in: OLD, **old}.items():
        finished = run([path, launcher, "version"], env)
        assert _refuses(finished, version), (path, finished)


@pytest.mark.parametrize("name", ["python3.14", "python3.13", "python3.12", "python3.11"])
def test_newer_python_takes_over(
    name: str, unpacked: Installation, folder: Path, home: Path, claim: str
) -> None:
    pythons.stand_in(folder / "python3", OLD)
    (folder / name).symlink_to(BASE_PYTHON)
    finished = _launch(unpacked, folder, home, "render", MODEL)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, claim, "")


def test_newer_python_gets_the_arguments_as_they_are(
    unpacked: Installation, folder: Path, home: Path
) -> None:
    pythons.stand_in(folder / "python3", OLD)
    (folder / "python3.12").symlink_to(BASE_PYTHON)
    finished = _launch(unpacked, folder, home, "render", "a b'c\"d $x *")
    assert finished.stderr.startswith("error: no model matches \"a b'c")
    assert "$x *" in finished.stderr


def test_names_that_start_no_newer_python_are_passed_over(
    unpacked: Installation, folder: Path, home: Path, claim: str
) -> None:
    """A version manager's stub, an old Python under a new name, a file that cannot be run."""
    pythons.stand_in(folder / "python3", OLD)
    (folder / "python3.14").write_text("#!/bin/sh\necho no such version >&2\nexit 127\n")
    (folder / "python3.14").chmod(0o755)
    pythons.stand_in(folder / "python3.13", OLD)
    (folder / "python3.12").write_text("nothing to run")
    finished = _launch(unpacked, folder, home, "render", MODEL)
    assert _refuses(finished, OLD), finished
    (folder / "python3.11").symlink_to(BASE_PYTHON)
    assert _launch(unpacked, folder, home, "render", MODEL).stdout == claim


def test_launcher_is_readable_by_any_python() -> None:
    source = LAUNCHER.read_bytes()
    assert source.isascii()
    nodes = list(ast.walk(ast.parse(source)))
    assert {type(node).__name__ for node in nodes} <= READABLE
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    arguments = [node for node in nodes if isinstance(node, ast.arg)]
    assert not [each for each in functions if each.returns or each.args.kwonlyargs]
    assert not [each for each in arguments if each.annotation]


def test_nothing_of_the_archive_is_read_before_the_version(
    unpacked: Installation, folder: Path, home: Path
) -> None:
    """The sentence comes also where no newer file of the archive could be read."""
    succeed(["rm", "-r", unpacked.files / "lib"], environment(["/usr/bin", "/bin"], home))
    pythons.stand_in(folder / "python3", OLD)
    assert _refuses(_launch(unpacked, folder, home, "version"), OLD)
