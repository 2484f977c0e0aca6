"""Bad input: one clear line on stderr for each mistake, exit code 1, nothing on stdout."""

from __future__ import annotations

import pytest

from tests.unit.commandline import MODEL, Run

FORMS = {
    "yaml": ("-o", "yaml"),
    "json": ("-o", "json"),
    "name": ("-o", "name"),
    "summary": ("--json",),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("arguments", "token", "words"),
    [
        pytest.param(("no-such-model",), "unknown-model", ('"no-such-model"',), id="unknown-model"),
        pytest.param(("",), "unknown-model", ("MODEL is empty",), id="empty-model"),
        pytest.param(
            ("qwen2.5",), "ambiguous-model", ("and ", " more", "whole name"), id="ambiguous-model"
        ),
        pytest.param(
            ("a\x1b[2J\nb",), "unknown-model", ("a\\x1b[2J\\nb",), id="control-characters-in-model"
        ),
        pytest.param(
            (MODEL, "--quant", "Q4_K_X"),
            "unknown-quantization",
            ("--quant: ", '"Q4_K_X"', "Q4_K_M"),
            id="unknown-quantization",
        ),
        pytest.param(
            (MODEL, "--quant", ""), "unknown-quantization", ("--quant: ",), id="empty-quantization"
        ),
        pytest.param((MODEL, "--min-tps", "0"), "invalid-value", ("--min-tps: 0",), id="speed-0"),
        pytest.param(
            (MODEL, "--min-tps", "-1"), "invalid-value", ("--min-tps: -1",), id="negative-speed"
        ),
        pytest.param(
            (MODEL, "--min-tps", "NaN"), "invalid-value", ("--min-tps: ", "NaN"), id="speed-nan"
        ),
        pytest.param(
            (MODEL, "--min-tps", "inf"), "invalid-value", ("--min-tps: ", "inf"), id="speed-inf"
        ),
        pytest.param(
            (MODEL, "--min-tps", "1e300"),
            "invalid-value",
            ("--min-tps: 1e+300", "1000000"),
            id="huge-speed",
        ),
        pytest.param(
            (MODEL, "--min-tps", ""), "invalid-value", ("--min-tps: ", '""'), id="empty-speed"
        ),
        pytest.param(
            (MODEL, "--efficiency", "0"), "invalid-value", ("from 1 to 100",), id="efficiency-0"
        ),
        pytest.param(
            (MODEL, "--efficiency", "101"), "invalid-value", ("from 1 to 100",), id="efficiency-101"
        ),
        pytest.param(
            (MODEL, "--efficiency", "5.5"),
            "invalid-value",
            ("--efficiency: ", '"5.5"', "from 1 to 100"),
            id="fraction-of-a-percent",
        ),
        pytest.param(
            (MODEL, "--name", "Bad_Name!"),
            "invalid-name",
            ("--name: ", '"Bad_Name!"', "DNS subdomain"),
            id="name-that-is-none",
        ),
        pytest.param(
            (MODEL, "--name", "a" * 254), "invalid-name", ("at most 253",), id="name-too-long"
        ),
        pytest.param(
            (MODEL, "--device-class", "Bad Class"),
            "invalid-name",
            ("--device-class: ", '"Bad Class"'),
            id="class-that-is-none",
        ),
        pytest.param(
            (MODEL, "-n", "Bad.Namespace"),
            "invalid-name",
            ("--namespace: ", "DNS label"),
            id="namespace-that-is-none",
        ),
        pytest.param(
            (MODEL, "--labels", "app"),
            "invalid-value",
            ("--labels: ", '"app"', "key=value"),
            id="label-without-a-value",
        ),
        pytest.param(
            (MODEL, "--labels", "app=a b"),
            "invalid-name",
            ("--labels: ", '"a b"'),
            id="label-value-that-is-none",
        ),
        pytest.param(
            (MODEL, "--api-version", "resource.k8s.io/v2"),
            "invalid-value",
            ("--api-version: ", "resource.k8s.io/v1, ", "resource.k8s.io/v1beta1"),
            id="api-version-that-does-not-exist",
        ),
        pytest.param(
            (MODEL, "--api-version", "v1"),
            "invalid-value",
            ("--api-version: ", '"v1"'),
            id="api-version-without-its-group",
        ),
        pytest.param(
            (MODEL, "--catalog", "/nonexistent/models.yaml"),
            "bad-catalog",
            ("/nonexistent/models.yaml", "No such file or directory"),
            id="catalog-that-is-not-there",
        ),
        pytest.param(
            ("klee100/Qwen3.8-Flash-Next-AutoRound-3bpw-MTP",),
            "unknown-quantization",
            ("klee100/Qwen3.8-Flash-Next-AutoRound-3bpw-MTP", '"AutoRound-2bit"', "--quant"),
            id="model-whose-quantization-has-no-size",
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_and_where(
    run: Run, arguments: tuple[str, ...], token: str, words: tuple[str, ...], form: str
) -> None:
    error = run("render", *arguments, *FORMS[form]).error()
    assert error.startswith("error: ")
    assert error.endswith(f" ({token})")
    assert error.isprintable()
    for word in words:
        assert word in error


def test_every_wrong_flag_is_said_at_once(run: Run) -> None:
    flags = ("--min-tps", "0", "--efficiency", "0", "--quant", "Q99", "--name", "_", "-n", "_")
    more = ("--labels", "a", "--api-version", "v9", "-o", "xml")
    lines = run("render", MODEL, *flags, *more).errors()
    assert len(lines) == 8
    for flag in ("--min-tps", "--efficiency", "--quant", "--name", "--namespace", "--labels"):
        assert sum(line.startswith(f"error: {flag}: ") for line in lines) == 1, flag
    for flag in ("--api-version", "--output"):
        assert sum(line.startswith(f"error: {flag}: ") for line in lines) == 1, flag


def test_every_unknown_model_is_said_at_once(run: Run) -> None:
    lines = run("render", "no-such-model", MODEL, "qwen2.5").errors()
    assert [line.rpartition(" (")[2] for line in lines] == ["unknown-model)", "ambiguous-model)"]


def test_every_model_that_cannot_be_sized_is_said_at_once(run: Run) -> None:
    models = (
        "klee100/Qwen3.8-Flash-Next-AutoRound-3bpw-MTP",
        MODEL,
        "lilmeaty/SmolLM2-135M-Instruct-GPTQ",
    )
    lines = run("render", *models).errors()
    assert [line.rpartition(" (")[2] for line in lines] == ["unknown-quantization)"] * 2
    assert models[0] in lines[0]
    assert models[2] in lines[1]


@pytest.mark.parametrize("output", ["xml", "YAML", "", "wide", "jsonpath={.a}"])
def test_an_output_form_that_is_none_is_named_with_those_there_are(run: Run, output: str) -> None:
    error = run("render", MODEL, "-o", output).error()
    assert error == f'error: --output: "{output}" is not one of yaml, json, name (invalid-value)'


@pytest.mark.parametrize(
    ("arguments", "message", "path"),
    [
        pytest.param(("render",), "MODEL is missing; name", "kubectl llmfit render", id="no-model"),
        pytest.param(
            ("render", MODEL, "--json", "-o", "json"),
            "--json and --output exclude each other",
            "kubectl llmfit render",
            id="two-forms",
        ),
        pytest.param(
            ("render", MODEL, "--jsn"), "--jsn", "kubectl llmfit render", id="unknown-flag"
        ),
        pytest.param(("render", MODEL, "-x"), "-x", "kubectl llmfit render", id="unknown-letter"),
        pytest.param(
            ("render", MODEL, "--quant"),
            "--quant",
            "kubectl llmfit render",
            id="flag-without-value",
        ),
        pytest.param(
            ("render", MODEL, "--template=yes"),
            "--template",
            "kubectl llmfit render",
            id="value-for-a-switch",
        ),
        pytest.param(
            ("nope",),
            'unknown command "nope" for "kubectl llmfit"',
            "kubectl llmfit",
            id="unknown-command",
        ),
        pytest.param(
            ("models", "nope"),
            'unknown command "nope" for "kubectl llmfit models"',
            "kubectl llmfit models",
            id="unknown-command-of-a-group",
        ),
        pytest.param(
            ("models", "search"), "WORD is missing", "kubectl llmfit models search", id="no-word"
        ),
        pytest.param(
            ("models", "info"),
            "MODEL is missing",
            "kubectl llmfit models info",
            id="no-model-to-show",
        ),
        pytest.param(("version", "x"), "x", "kubectl llmfit version", id="argument-too-many"),
        pytest.param(("--nope",), "--nope", "kubectl llmfit", id="unknown-flag-of-the-program"),
    ],
)
def test_a_wrong_command_line_points_at_the_help(
    run: Run, arguments: tuple[str, ...], message: str, path: str
) -> None:
    error, pointer = run(*arguments).errors()
    assert error.startswith("error: ")
    assert error.endswith(" (bad-usage)")
    assert message in error
    assert pointer == f"See '{path} --help' for usage."


@pytest.mark.parametrize("limit", ["-1", "1.5", "ten", "", "1e3", "٣", "9" * 30])
def test_a_limit_that_is_no_count_is_refused(run: Run, limit: str) -> None:
    error = run("models", "search", "qwen", "--limit", limit).error()
    assert error.startswith("error: --limit: ")
    assert error.endswith(" (invalid-value)")


@pytest.mark.parametrize(
    ("command", "forms"),
    [
        pytest.param(("models", "search", "qwen"), "wide, json, yaml, name", id="search"),
        pytest.param(("models", "info", MODEL), "wide, json, yaml, name", id="info"),
        pytest.param(("version",), "json, yaml", id="version"),
    ],
)
def test_each_command_names_its_own_output_forms(
    run: Run, command: tuple[str, ...], forms: str
) -> None:
    error = run(*command, "-o", "xml").error()
    assert error == f'error: --output: "xml" is not one of {forms} (invalid-value)'
