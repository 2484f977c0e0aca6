"""Mistakes in a user's catalog file: each is named with file, entry and field, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.commandline import MODEL, Run
from tests.unit.samples import catalog_file

GOOD = "name: acme/good, parameters: 7000000000, quantization: BF16"


def errors(run: Run, *paths: str) -> list[str]:
    """The errors of a render with these files, without what every one of them has."""
    flags = [part for path in paths for part in ("--catalog", path)]
    lines = run("render", MODEL, *flags).errors()
    assert all(line.startswith("error: ") and line.endswith(" (bad-catalog)") for line in lines)
    return [line.removeprefix("error: ").removesuffix(" (bad-catalog)") for line in lines]


def entry(field: str, value: str) -> str:
    """A good entry but for one field."""
    fields = {"name": "acme/m", "parameters": "7000000000", "quantization": "BF16", field: value}
    return ", ".join(f"{key}: {text}" for key, text in fields.items())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("parameters", "0", id="zero-count"),
        pytest.param("parameters", "-5", id="negative-count"),
        pytest.param("parameters", "7.5", id="fraction-for-a-count"),
        pytest.param("parameters", "7e9", id="float-for-a-count"),
        pytest.param("parameters", "7B", id="text-for-a-count"),
        pytest.param("parameters", '"7"', id="quoted-count"),
        pytest.param("parameters", "true", id="boolean-for-a-count"),
        pytest.param("parameters", "10000000000000001", id="count-beyond-the-greatest"),
        pytest.param("parameters", "9" * 400, id="count-of-400-digits"),
        pytest.param("parameters", "0x" + "f" * 5000, id="count-of-5000-hexadecimal-digits"),
        pytest.param("parameters", ".nan", id="no-number-for-a-count"),
        pytest.param("parameters", "[7]", id="list-for-a-count"),
        pytest.param("layers", "2001-01-01", id="date-for-a-count"),
        pytest.param("minVramGb", "0", id="zero-gigabytes"),
        pytest.param("minVramGb", "-1.5", id="negative-gigabytes"),
        pytest.param("minVramGb", ".inf", id="infinite-gigabytes"),
        pytest.param("minVramGb", ".nan", id="no-number-for-gigabytes"),
        pytest.param("minVramGb", "1e8", id="gigabytes-beyond-the-greatest"),
        pytest.param("minVramGb", "9" * 400, id="gigabytes-of-400-digits"),
        pytest.param("minVramGb", "0x" + "f" * 5000, id="gigabytes-of-5000-hexadecimal-digits"),
        pytest.param("minVramGb", "16Gi", id="unit-on-gigabytes"),
        pytest.param("minRamGb", "no", id="text-for-gigabytes"),
        pytest.param("minRamGb", "false", id="boolean-for-gigabytes"),
        pytest.param("quantization", "8", id="number-for-a-text"),
        pytest.param("quantization", '""', id="empty-text"),
        pytest.param("architecture", '" a"', id="space-in-front"),
        pytest.param("architecture", '"a "', id="space-behind"),
        pytest.param("architecture", "x" * 201, id="long-text"),
        pytest.param("format", '"a\\nb"', id="newline-in-a-text"),
        pytest.param("format", '"\\e[2J"', id="terminal-escape-in-a-text"),
        pytest.param("format", "{a: b}", id="mapping-for-a-text"),
    ],
)
def test_a_field_with_a_wrong_value_is_named(
    run: Run, tmp_path: Path, field: str, value: str
) -> None:
    path = catalog_file(tmp_path / "own.yaml", GOOD, entry(field, value))
    (error,) = errors(run, path)
    assert error.startswith(f"{path}: models[1] (acme/m): {field} must be ")
    assert len(error) < len(path) + 200


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("5", id="number"),
        pytest.param('""', id="empty"),
        pytest.param('"a\\tb"', id="tab"),
        pytest.param('"a\\u202eb"', id="right-to-left-override"),
        pytest.param('" a"', id="space-in-front"),
        pytest.param("[a]", id="list"),
    ],
)
def test_a_name_that_is_none_is_named(run: Run, tmp_path: Path, value: str) -> None:
    path = catalog_file(tmp_path / "own.yaml", entry("name", value))
    (error,) = errors(run, path)
    assert error.startswith(f"{path}: models[0]")
    assert ": name must be text" in error


@pytest.mark.parametrize("missing", ["name", "parameters", "quantization"])
@pytest.mark.parametrize("null", [False, True], ids=["left-out", "null"])
def test_a_needed_field_that_is_missing_is_named(
    run: Run, tmp_path: Path, missing: str, null: bool
) -> None:
    fields = {"name": "acme/m", "parameters": "7", "quantization": "F16", missing: "null"}
    kept = [f"{key}: {text}" for key, text in fields.items() if null or key != missing]
    path = catalog_file(tmp_path / "own.yaml", ", ".join(kept))
    (error,) = errors(run, path)
    where = f"{path}: models[0]" + ("" if missing == "name" else " (acme/m)")
    assert error == f"{where}: {missing} is missing"


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        pytest.param("Parameters", "Parameters", id="capital"),
        pytest.param("min_vram_gb", "min_vram_gb", id="snake-case"),
        pytest.param("5", "5", id="number"),
        pytest.param("true", "True", id="boolean"),
        pytest.param("null", "None", id="null"),
        pytest.param("? [a, b]", "('a', 'b')", id="list"),
        pytest.param('"a\\nb"', "a\\nb", id="newline"),
        pytest.param("? 0x" + "f" * 5000, "", id="5000-hexadecimal-digits"),
    ],
)
def test_a_key_that_is_no_field_is_named(run: Run, tmp_path: Path, key: str, shown: str) -> None:
    path = catalog_file(tmp_path / "own.yaml", f"{GOOD}, {key}: 1")
    (error,) = errors(run, path)
    assert error.startswith(f'{path}: models[0] (acme/good): "{shown}')
    assert "the fields are name, parameters, quantization, " in error


@pytest.mark.parametrize("item", ["5", "text", "null", "[a]", "2001-01-01", "true"])
def test_an_entry_that_is_no_mapping_is_named(run: Run, tmp_path: Path, item: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"models:\n- {{{GOOD}}}\n- {item}\n")
    (error,) = errors(run, str(path))
    assert error.startswith(f"{path}: models[1] is not a mapping")


def test_two_entries_of_one_name_are_named(run: Run, tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "own.yaml", GOOD, GOOD.replace("acme/good", "ACME/Good"))
    (error,) = errors(run, path)
    assert error.startswith(f"{path}: models[1]")
    assert error.endswith("is there twice")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("# a comment\n", id="comment-alone"),
        pytest.param("- a\n", id="list"),
        pytest.param("text\n", id="text"),
        pytest.param("5\n", id="number"),
        pytest.param("Models: []\n", id="capital"),
        pytest.param("models:\n", id="null"),
        pytest.param("models: {}\n", id="mapping"),
        pytest.param("models: text\n", id="text-under-the-key"),
        pytest.param("models: []\nmore: 1\n", id="a-key-too-many"),
        pytest.param("1: []\n", id="number-for-a-key"),
    ],
)
def test_a_document_of_another_form_is_told_the_right_one(
    run: Run, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    assert errors(run, str(path)) == [f"{path} needs one key, models, with a list of entries"]


def test_every_mistake_of_every_file_is_said_at_once(run: Run, tmp_path: Path) -> None:
    first = catalog_file(
        tmp_path / "first.yaml",
        "name: acme/a, parameters: 0, quantization: 5, wrong: 1",
        GOOD,
        "parameters: 7, quantization: F16",
    )
    second = tmp_path / "second.yaml"
    second.write_text("models: {}\n")
    missing = str(tmp_path / "missing.yaml")
    good = catalog_file(tmp_path / "good.yaml", GOOD)
    lines = errors(run, first, good, str(second), missing)
    assert len(lines) == 6
    expected = (
        f"{first}: models[0] (acme/a): parameters must be",
        f"{first}: models[0] (acme/a): quantization must be",
        f'{first}: models[0] (acme/a): "wrong" is no field',
        f"{first}: models[2]: name is missing",
        f"{second} needs one key",
        f"{missing} cannot be read: No such file or directory",
    )
    for start in expected:
        assert sum(line.startswith(start) for line in lines) == 1, start


def test_nothing_of_a_wrong_file_is_used(run: Run, tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "own.yaml", GOOD, "name: acme/bad")
    finished = run("render", "acme/good", "--catalog", path)
    assert all(line.endswith("(bad-catalog)") for line in finished.errors())
