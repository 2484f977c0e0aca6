"""Any command line and any catalog file: a result or clear errors, never a fault of the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.commandline import MODEL, Finished, Run

# The fixture is a function of the command line alone, so every example may use the same one.
fuzzed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

# An argument of a real process holds no NUL.
words = st.text(
    st.characters(exclude_characters="\0", exclude_categories=()), max_size=12
) | st.sampled_from(
    ("", "-", "--", "---", "-h", "--help", "-hx", "=", "--=", "\x1b[2J", "\n", "~", "*")
)
numbers = st.sampled_from(
    ("0", "-0", "1", "100", "101", "nan", "inf", "1e400", "5e-324", "1_0", "٣", " 20 ", "9" * 400)
) | st.text("0123456789+-.eE", max_size=10)
names = st.sampled_from((MODEL, "qwen2.5", "Qwen/Qwen2.5-7B", "AutoRound", "no-such-model", "7b"))
VALUES = {
    "--quant": words | st.sampled_from(("Q8_0", "fp16", "AutoRound-2bit", "Q4_K")),
    "--min-tps": words | numbers,
    "--efficiency": words | numbers,
    "--driver": words | st.sampled_from(("llmfit.ai", "gpu.nvidia.com", "tpu.google.com", "auto")),
    "--device-class": words
    | st.sampled_from(("gpu.llmfit.ai", "gpu.nvidia.com", "mig.nvidia.com", "Bad Class")),
    "--count": words | numbers,
    "--tensor-parallel": words | numbers,
    "--pipeline-parallel": words | numbers,
    "--topology": words | st.sampled_from(("pcie", "numa")),
    "--name": words | st.sampled_from(("mine", "a.b", "Bad_Name", "a" * 254)),
    "--namespace": words | st.sampled_from(("llm", "a.b")),
    "--labels": words | st.text("ab=,/.-_", max_size=10),
    "--api-version": words | st.sampled_from(("resource.k8s.io/v1beta1", "v1")),
    "--output": words | st.sampled_from(("yaml", "json", "name", "wide")),
    "--limit": words | numbers,
    "--catalog": words.filter(lambda text: not text.startswith("/")),
    "--boards": words.filter(lambda text: not text.startswith("/")),
}
SWITCHES = ("--template", "--json", "--show-math", "--no-headers", "--help", "-h", "--nope", "--no")
COMMANDS = (
    ("render",),
    ("models", "search"),
    ("models", "info"),
    ("models",),
    ("boards",),
    ("version",),
    ("completion",),
    ("__complete",),
    ("__complete", "render"),
    ("__complete", "models", "info"),
    (),
)

options = st.sampled_from(sorted(VALUES)).flatmap(
    lambda flag: VALUES[flag].flatmap(
        lambda value: st.sampled_from(((flag, value), (f"{flag}={value}",), (flag,)))
    )
)
pieces = st.one_of(
    options,
    st.sampled_from(SWITCHES).map(lambda switch: (switch,)),
    names.map(lambda name: (name,)),
    words.map(lambda word: (word,)),
)
command_lines = st.tuples(st.sampled_from(COMMANDS), st.lists(pieces, max_size=5)).map(
    lambda drawn: [*drawn[0], *(part for piece in drawn[1] for part in piece)]
)


def check(finished: Finished) -> None:
    """What holds for every end of every command line."""
    assert finished.code in (0, 1)
    assert "Traceback" not in finished.err
    assert "internal-error" not in finished.err
    lines = finished.err.split("\n")[:-1]
    assert all(line.isprintable() for line in lines)
    if finished.code == 1:
        assert finished.out == ""
        assert any(line.startswith("error: ") for line in lines)
    else:
        assert not any(line.startswith("error: ") for line in lines)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths that are drawn lead nowhere, and no cluster is asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECTL", str(tmp_path / "no-kubectl"))


@settings(fuzzed, max_examples=400)
@given(arguments=command_lines)
def test_any_command_line_ends_in_a_result_or_clear_errors(run: Run, arguments: list[str]) -> None:
    check(run(*arguments))


@settings(fuzzed, max_examples=100)
@given(arguments=st.lists(words, max_size=4))
def test_any_words_end_in_a_result_or_clear_errors(run: Run, arguments: list[str]) -> None:
    check(run(*arguments))


@settings(fuzzed, max_examples=200)
@given(
    arguments=st.lists(options, max_size=4).map(
        lambda drawn: [part for piece in drawn for part in piece]
    )
)
def test_any_options_of_render_end_in_a_claim_or_clear_errors(
    run: Run, arguments: list[str]
) -> None:
    finished = run("render", MODEL, *arguments)
    check(finished)
    assert (finished.out != "") == (finished.code == 0)


tokens = st.sampled_from(
    (
        "models:", "- ", "name: ", "parameters: ", "quantization: ", "minVramGb: ", "layers: ",
        "a/b", "F16", "7000000000", "0x1F", "1e3", ".nan", ".inf", "true", "~", "9" * 400,
        "0x" + "f" * 5000, "2001-01-01", "12:30:00", "&a ", "*a", "<<: ", "? ", ": ", "!!int ",
        "!!float ", "!!bool ", "!!str ", "!!binary ", "!!timestamp ", "!!set ", "!!omap ", "!x ",
        "{", "}", "[", "]", ", ", "'", '"', "|", ">", "\n", "\n  ", "\n- ", "# ", "---\n", "...\n",
        "%YAML 1.1\n", "%TAG ! x\n", "\t", "\\", "\x85", "\ufeff", "\u2028",
    )
)  # fmt: skip
texts = st.lists(tokens | st.text(max_size=4), max_size=25).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = ("name", "parameters", "quantization", "minVramGb", "layers", "experts", "format")
entries = st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=6), values, max_size=6)


def check_file(run: Run, content: bytes) -> None:
    """What holds for a render and a look-up with any bytes as the catalog file."""
    path = Path("models.yaml")
    path.write_bytes(content)
    for arguments in (("render", MODEL, "-o", "name"), ("models", "search", "a/b", "-o", "json")):
        finished = run(*arguments, "--catalog", str(path))
        check(finished)
        assert finished.code == 0 or "(bad-catalog)" in finished.err


@settings(fuzzed, max_examples=150)
@given(content=st.binary(max_size=60))
def test_any_bytes_are_a_catalog_file_or_a_clear_error(run: Run, content: bytes) -> None:
    check_file(run, content)


@settings(fuzzed, max_examples=400)
@given(text=texts)
def test_any_yaml_like_text_is_a_catalog_file_or_a_clear_error(run: Run, text: str) -> None:
    check_file(run, text.encode("utf-8", "surrogatepass"))


@settings(fuzzed, max_examples=150)
@given(text=texts)
def test_any_text_for_an_entry_is_one_or_a_clear_error(run: Run, text: str) -> None:
    check_file(run, f"models:\n- {text}\n".encode("utf-8", "surrogatepass"))


@settings(fuzzed, max_examples=100)
@given(found=st.lists(entries, max_size=3))
def test_any_entries_are_models_or_clear_errors(run: Run, found: list[dict[str, object]]) -> None:
    check_file(run, json.dumps({"models": found}).encode())
