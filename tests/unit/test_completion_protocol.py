"""`__complete`: the choices that kubectl asks for, in the protocol that cobra's shells read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kubectl_llmfit import complete
from kubectl_llmfit.catalog.shipped import ShippedCatalog
from kubectl_llmfit.core.sizing import quantization
from tests.unit.commandline import Run
from tests.unit.samples import catalog_file

# cobra's ShellCompDirective: 4 forbids file names, 0 leaves them to the shell.
NO_FILES = ":4"
FILES = ":0"


def choices(run: Run, *words: str, directive: str = NO_FILES) -> list[str]:
    """What is offered for the last of ``words``, without descriptions."""
    lines = run("__complete", *words).stdout().splitlines()
    assert lines[-1] == directive
    return [line.partition("\t")[0] for line in lines[:-1]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(("vers",), ["version"], id="start-of-a-command"),
        pytest.param(("__",), [], id="hidden-command"),
        pytest.param(("models", ""), ["search", "info"], id="commands-of-a-group"),
        pytest.param(("completion", "u"), ["uninstall"], id="start-of-a-groups-command"),
        pytest.param(("render", "--min"), ["--min-tps"], id="start-of-a-flag"),
        pytest.param(("render", "M", "--min"), ["--min-tps"], id="flag-behind-a-model"),
        pytest.param(("render", "-o", ""), ["yaml", "json", "name"], id="forms-of-render"),
        pytest.param(("render", "-o", "j"), ["json"], id="start-of-a-form"),
        pytest.param(("render", "--output=n"), ["name"], id="value-behind-an-equals-sign"),
        pytest.param(
            ("models", "info", "-o", ""), ["wide", "json", "yaml", "name"], id="forms-of-info"
        ),
        pytest.param(("version", "-o", ""), ["json", "yaml"], id="forms-of-version"),
        pytest.param(
            ("render", "--api-version", "resource.k8s.io/v1b"),
            ["resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"],
            id="api-versions",
        ),
        pytest.param(("render", "--quant", "q8"), ["Q8_0"], id="quantization-in-small-letters"),
        pytest.param(("render", "--name", ""), [], id="value-that-is-free"),
        pytest.param(("patch", "-o", ""), ["yaml", "json", "name"], id="forms-of-patch"),
        pytest.param(("patch", "--di"), ["--diff"], id="switch"),
        pytest.param(("patch", "--show"), ["--show-sources"], id="switch-of-patch"),
        pytest.param(
            ("render", "--min-tps", "fast", "-o", "n"), ["name"], id="behind-a-wrong-value"
        ),
        pytest.param(("render", "no-such-model", "-o", "n"), ["name"], id="behind-a-wrong-model"),
        pytest.param(("render", "\x1b[2J"), [], id="control-characters"),
        pytest.param(("nope", ""), [], id="behind-an-unknown-command"),
        pytest.param(("models", "nope", ""), [], id="behind-an-unknown-command-of-a-group"),
    ],
)
def test_the_choices_are_what_can_stand_there(
    run: Run, words: tuple[str, ...], expected: list[str]
) -> None:
    assert choices(run, *words) == expected


def test_nothing_typed_offers_every_command(run: Run) -> None:
    offered = choices(run)
    assert {"render", "models", "completion", "version"} <= set(offered)
    assert "__complete" not in offered
    assert choices(run, "") == offered


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_dashes_offer_every_long_flag(run: Run, dashes: str) -> None:
    offered = choices(run, "render", dashes)
    help_text = run("render", "--help").stdout()
    flags = [word.partition("=")[0] for word in help_text.split() if word.startswith("--")]
    long_flags = {flag for flag in flags if f"{flag}=" in help_text}
    assert {"--min-tps", "--template", "--catalog", "--help"} <= long_flags
    assert long_flags <= set(offered)
    assert all(flag.startswith("-") for flag in offered)


def test_quantizations_are_offered_by_name(run: Run) -> None:
    assert choices(run, "render", "--quant", "") == [entry.name for entry in quantization.TABLE]


@pytest.mark.parametrize("command", [("render",), ("models", "info")], ids=" ".join)
@pytest.mark.parametrize("typed", ["Qwen/Qwen2.5-7B-I", "qwen/qwen2.5-7b-i"])
def test_models_are_offered_by_the_start_of_their_names(
    run: Run, command: tuple[str, ...], typed: str
) -> None:
    names = [
        name for name in ShippedCatalog().names() if name.lower().startswith("qwen/qwen2.5-7b-i")
    ]
    assert len(names) > 1
    assert choices(run, *command, typed) == names
    assert choices(run, *command, "some/other-model", typed) == names


def test_no_more_models_are_offered_than_a_shell_shows(run: Run) -> None:
    assert len(choices(run, "render", "")) == 200


def test_own_models_are_offered_first(run: Run, tmp_path: Path) -> None:
    path = catalog_file(
        tmp_path / "own.yaml", "name: Qwen/Qwen2.5-own, parameters: 5, quantization: F16"
    )
    offered = choices(run, "render", "--catalog", path, "qwen/qwen2.5-")
    assert offered[0] == "Qwen/Qwen2.5-own"
    assert "Qwen/Qwen2.5-7B" in offered


def test_a_broken_catalog_file_leaves_the_shipped_models(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("models: {}\n")
    flags = ("--catalog", str(path))
    typed = "Qwen/Qwen2.5-7B-Instruct-AW"
    assert choices(run, "render", *flags, typed) == ["Qwen/Qwen2.5-7B-Instruct-AWQ"]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("render", "--catalog", ""), id="word-of-its-own"),
        pytest.param(("render", "--catalog", "own"), id="start-of-a-path"),
        pytest.param(("render", "--catalog="), id="equals-sign"),
        pytest.param(("models", "search", "--catalog", ""), id="another-command"),
        pytest.param(("patch", "-f", ""), id="manifest"),
        pytest.param(("patch", "--kustomize", "over"), id="kustomization"),
    ],
)
def test_a_file_is_left_to_the_shell(run: Run, words: tuple[str, ...]) -> None:
    assert choices(run, *words, directive=FILES) == []


@pytest.mark.parametrize(
    "group", [(), ("models",), ("completion",)], ids=lambda words: " ".join(words) or "program"
)
def test_a_command_is_described_as_in_the_groups_help(run: Run, group: tuple[str, ...]) -> None:
    lines = run("__complete", *group, "").stdout().splitlines()[:-1]
    described = dict(line.split("\t") for line in lines)
    help_text = run(*group, "--help").stdout()
    listed = help_text.partition("Available Commands:\n")[2].partition("\n\n")[0]
    assert described == {
        line.split()[0]: line.strip().partition("   ")[2].strip() for line in listed.splitlines()
    }


def test_a_flag_is_described_in_one_sentence(run: Run) -> None:
    lines = run("__complete", "render", "--min").stdout().splitlines()
    assert lines[0] == "--min-tps\tDecode speed to ask for, in tokens a second of one stream"


@pytest.mark.usefixtures("garbage_collection")
def test_the_executable_for_completion_passes_its_words_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-llmfit", "render", "-o", "j"])
    assert complete.main() == 0
    assert capsys.readouterr().out == f"json\n{NO_FILES}\n"
