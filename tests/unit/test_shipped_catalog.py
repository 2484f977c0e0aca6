"""The shipped catalog file: every name is found, and a look-up reads few of its lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_llmfit import Model
from kubectl_llmfit.catalog import shipped
from kubectl_llmfit.catalog.catalog import Catalog
from kubectl_llmfit.catalog.shipped import ShippedCatalog

MODELS = 15_855
"""Entries of `llmfit list --json`, release 1.1.17."""

STYLES: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    str.upper,
    str.swapcase,
    str.title,
    lambda name: f"  {name}\n",
)


@pytest.fixture(scope="module")
def names() -> list[str]:
    """The names as the file has them, read without the code under test."""
    lines = Path(shipped.PATH).read_bytes().decode("ascii").splitlines()[2:]
    return [line.split("\t")[0] for line in lines]


@pytest.fixture
def parsed_lines(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every line that is parsed into a model while the test runs."""
    lines: list[bytes] = []
    parse = shipped._model

    def recording(line: bytes) -> Model:
        lines.append(line)
        return parse(line)

    monkeypatch.setattr(shipped, "_model", recording)
    return lines


@pytest.fixture
def read_lines(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Where every line starts that is read while the test runs."""
    starts: list[int] = []
    read = ShippedCatalog._line

    def recording(catalog: ShippedCatalog, start: int) -> tuple[bytes, int]:
        starts.append(start)
        return read(catalog, start)

    monkeypatch.setattr(ShippedCatalog, "_line", recording)
    return starts


def test_it_holds_every_entry_of_the_release() -> None:
    release = ShippedCatalog().release
    assert (release.source, release.models) == ("llmfit 1.1.17", MODELS)
    assert sum(1 for _ in ShippedCatalog().models()) == MODELS


def test_every_name_is_found_exactly_in_any_case(names: list[str]) -> None:
    assert len(names) == MODELS
    catalog = Catalog()
    for index, name in enumerate(names):
        for style in (STYLES[index % len(STYLES)], STYLES[(index + 1) % len(STYLES)]):
            assert catalog.resolve(style(name)).name == name


def test_names_differ_in_more_than_case_and_are_sorted(names: list[str]) -> None:
    keys = [name.lower() for name in names]
    assert keys == sorted(set(keys))


def test_the_first_and_the_last_line_are_found(names: list[str]) -> None:
    catalog = ShippedCatalog()
    for name in (names[0], names[-1]):
        model = catalog.exact(name)
        assert model is not None
        assert model.name == name


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("0", id="before-the-first"),
        pytest.param("zzzz", id="behind-the-last"),
        pytest.param("~", id="behind-every-letter"),
        pytest.param("Qwen/Qwen2.5-7B-Instruc", id="one-letter-short"),
        pytest.param("Qwen/Qwen2.5-7B-Instruct\t7", id="with-a-tab"),
        pytest.param("模型", id="not-ascii"),
        pytest.param("name", id="head-of-a-column"),
        pytest.param(shipped.FORMAT, id="first-line"),
    ],
)
def test_what_is_not_there_is_not_found_exactly(name: str) -> None:
    assert ShippedCatalog().exact(name) is None


def test_an_exact_look_up_parses_one_line_and_reads_a_few(
    parsed_lines: list[bytes], read_lines: list[int]
) -> None:
    model = Catalog().resolve("Qwen/Qwen2.5-7B-Instruct")
    assert model.parameters == 7_615_616_512
    assert len(parsed_lines) == 1
    # Two lines of head, and a binary search: log2(15,855) is below 14, plus the ends.
    assert len(read_lines) <= 2 + 17 + 1


def test_a_partial_look_up_parses_only_what_matches(parsed_lines: list[bytes]) -> None:
    found = Catalog().search(["qwen2.5-7b-instruct", "gptq"])
    assert 0 < len(found) == len(parsed_lines) < 50
    assert all(b"qwen2.5-7b-instruct" in line.lower() for line in parsed_lines)


def test_names_that_start_alike_are_read_from_their_place_only(
    parsed_lines: list[bytes], read_lines: list[int], names: list[str]
) -> None:
    expected = [name for name in names if name.lower().startswith("qwen/qwen2.5-7b")]
    read_lines.clear()
    assert list(ShippedCatalog().starting_with("QWEN/qwen2.5-7B")) == expected
    assert parsed_lines == []
    assert len(read_lines) <= 2 + 17 + len(expected) + 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("kubectl-llmfit-catalog/2\tllmfit 9\t0\nname\n", id="another-format"),
        pytest.param("kubectl-llmfit-catalog/1\tllmfit 9\t0\nname\n", id="other-columns"),
    ],
)
def test_a_file_of_another_form_is_not_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "models.tsv"
    path.write_text(text)
    with pytest.raises(ValueError, match="is not a catalog of this version"):
        ShippedCatalog(str(path))


def test_the_file_is_small_enough_for_the_wheel() -> None:
    assert Path(shipped.PATH).stat().st_size <= 2_500_000


def test_the_file_holds_facts_and_no_prose() -> None:
    for model in ShippedCatalog().models():
        texts = (model.quantization, model.architecture or "", model.format or "")
        assert all(" " not in text and len(text) <= 60 for text in texts)
