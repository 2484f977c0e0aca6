"""`render`: every output form, one model and several, and the flags of the object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_llmfit import __version__
from tests.unit.commandline import MODEL, Run
from tests.unit.samples import catalog_file

NAME = "qwen-qwen2-5-7b-instruct-fit"
OTHER = "Qwen/Qwen2.5-14B"
OTHER_NAME = "qwen-qwen2-5-14b-fit"

# 7.615616512 x 0.58 = 4.417; max(3.9, 4.417) rounds up to 5; 20 x 4.417 x 100 / 55 = 160.6
SUMMARY = {
    "claimName": NAME,
    "deviceClass": "llmfit.ai",
    "efficiencyPct": 55,
    "memoryGi": 5,
    "minBandwidthGBs": 161,
    "minTps": 20.0,
    "model": MODEL,
    "quant": "Q4_K_M",
    "resolverVersion": __version__,
    "weightsGb": 4.4,
}


def request_of(document: dict[str, Any]) -> dict[str, Any]:
    spec = document["spec"]
    (request,) = spec.get("spec", spec)["devices"]["requests"]
    exactly: dict[str, Any] = request.get("exactly", request)
    return exactly


def test_yaml_is_the_default_and_json_holds_the_same_object(run: Run) -> None:
    default = run("render", MODEL).stdout()
    assert run("render", MODEL, "-o", "yaml").stdout() == default
    assert yaml.safe_load(default) == json.loads(run("render", MODEL, "-o", "json").stdout())


def test_the_numbers_are_those_of_the_sum(run: Run) -> None:
    (selector,) = request_of(json.loads(run("render", MODEL, "-o", "json").stdout()))["selectors"]
    assert "compareTo(quantity('5Gi')) >= 0" in selector["cel"]["expression"]
    assert "memoryBandwidthGBs >= 161" in selector["cel"]["expression"]


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        pytest.param((), f"resourceclaim.resource.k8s.io/{NAME}", id="claim"),
        pytest.param(
            ("--template",), f"resourceclaimtemplate.resource.k8s.io/{NAME}", id="template"
        ),
        pytest.param(("--name", "a.b"), "resourceclaim.resource.k8s.io/a.b", id="given-name"),
    ],
)
def test_the_name_form_is_kubectls(run: Run, flags: tuple[str, ...], line: str) -> None:
    assert run("render", MODEL, "-o", "name", *flags).stdout() == f"{line}\n"


def test_what_help_describes_as_empty_is_not_given(run: Run) -> None:
    text = run("render", "--help").stdout().partition("Options:\n")[2]
    described = {
        block.split("--")[1].partition("=")[0]: block
        for block in text.split("\n\n")
        if "--" in block
    }
    may_be_empty = [flag for flag, block in described.items() if "If empty" in block]
    assert {"name", "namespace"} <= set(may_be_empty)
    expected = run("render", MODEL, "-o", "json").stdout()
    refused = {
        flag: run("render", MODEL, "-o", "json", f"--{flag}=").err
        for flag in may_be_empty
        if run("render", MODEL, "-o", "json", f"--{flag}=").out != expected
    }
    assert refused == {}


def test_the_summary_has_llmfits_keys_in_llmfits_order(run: Run) -> None:
    summary = json.loads(run("render", MODEL, "--json").stdout())
    assert summary == SUMMARY
    assert list(summary) == list(SUMMARY)


def test_the_summary_says_what_was_asked_for(run: Run) -> None:
    flags = ("--quant", "q8_0", "--min-tps", "7.5", "--efficiency", "100", "--name", "mine")
    summary = json.loads(run("render", MODEL, "--json", "--template", *flags).stdout())
    # 7.615616512 x 1.05 = 7.996; x 1.2 = 9.6; 7.5 x 7.996 = 59.97
    assert summary == {
        **SUMMARY,
        "claimName": "mine",
        "efficiencyPct": 100,
        "memoryGi": 10,
        "minBandwidthGBs": 60,
        "minTps": 7.5,
        "quant": "Q8_0",
        "weightsGb": 8.0,
    }


def test_several_models_are_documents_of_one_stream(run: Run) -> None:
    text = run("render", MODEL, OTHER).stdout()
    assert text == run("render", MODEL).stdout() + "---\n" + run("render", OTHER).stdout()
    documents = list(yaml.safe_load_all(text))
    assert [document["metadata"]["name"] for document in documents] == [NAME, OTHER_NAME]


def test_several_models_in_json_are_kubectls_list(run: Run) -> None:
    each = [json.loads(run("render", name, "-o", "json").stdout()) for name in (MODEL, OTHER)]
    assert json.loads(run("render", MODEL, OTHER, "-o", "json").stdout()) == {
        "apiVersion": "v1",
        "kind": "List",
        "items": each,
    }


def test_several_models_in_the_summary_are_a_list(run: Run) -> None:
    each = [json.loads(run("render", name, "--json").stdout()) for name in (MODEL, OTHER)]
    assert json.loads(run("render", MODEL, OTHER, "--json").stdout()) == each


def test_several_models_names_are_a_line_each(run: Run) -> None:
    assert run("render", MODEL, OTHER, "-o", "name").stdout() == (
        f"resourceclaim.resource.k8s.io/{NAME}\nresourceclaim.resource.k8s.io/{OTHER_NAME}\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((MODEL, MODEL), id="one-model-twice"),
        pytest.param((MODEL, MODEL.upper()), id="one-model-in-two-spellings"),
        pytest.param((MODEL, OTHER, "--name", "mine"), id="given-name"),
    ],
)
@pytest.mark.parametrize("form", [("-o", "yaml"), ("-o", "json"), ("-o", "name"), ("--json",)])
def test_two_models_of_one_name_are_an_error(
    run: Run, arguments: tuple[str, ...], form: tuple[str, ...]
) -> None:
    error = run("render", *arguments, *form).error()
    assert "would both be called" in error
    assert "--name" in error
    assert error.endswith("(duplicate-name)")


def test_models_whose_names_are_cut_alike_are_an_error(run: Run, tmp_path: Path) -> None:
    stem = "a" * 48
    path = catalog_file(
        tmp_path / "own.yaml",
        *(f"name: {stem}{end}, parameters: 7000000000, quantization: F16" for end in ("b", "c")),
    )
    error = run("render", f"{stem}b", f"{stem}c", "--catalog", path).error()
    assert f"would both be called {stem}-fit" in error


@pytest.mark.parametrize(
    ("flags", "metadata"),
    [
        pytest.param((), {"name": NAME}, id="name-alone"),
        pytest.param(("-n", "llm"), {"name": NAME, "namespace": "llm"}, id="namespace"),
        pytest.param(("--namespace", ""), {"name": NAME}, id="empty-namespace"),
        pytest.param(("--labels", ""), {"name": NAME}, id="empty-labels"),
        pytest.param(
            ("--labels", "app=chat,x.io/y="),
            {"name": NAME, "labels": {"app": "chat", "x.io/y": ""}},
            id="labels",
        ),
        pytest.param(
            ("--labels", "a=yes,b=1e3,c=null", "-n", "1"),
            {"name": NAME, "namespace": "1", "labels": {"a": "yes", "b": "1e3", "c": "null"}},
            id="texts-that-look-like-other-things",
        ),
    ],
)
def test_metadata_is_what_the_flags_say(
    run: Run, flags: tuple[str, ...], metadata: dict[str, Any]
) -> None:
    for form in ("yaml", "json"):
        text = run("render", MODEL, "-o", form, *flags).stdout()
        assert yaml.safe_load(text)["metadata"] == metadata


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize("template", [(), ("--template",)], ids=["claim", "template"])
def test_the_api_version_is_the_one_asked_for(
    run: Run, version: str, template: tuple[str, ...]
) -> None:
    flags = ("--api-version", f"resource.k8s.io/{version}", *template)
    document = yaml.safe_load(run("render", MODEL, *flags).stdout())
    assert document["apiVersion"] == f"resource.k8s.io/{version}"
    request = request_of(document)
    assert (request["allocationMode"], request["count"]) == ("ExactCount", 1)


@pytest.mark.parametrize("device_class", ["gpu.llmfit.ai", "npu.llmfit.ai", "cpu.llmfit.ai"])
def test_a_class_of_llmfits_driver_needs_no_warning(run: Run, device_class: str) -> None:
    document = yaml.safe_load(run("render", MODEL, "--device-class", device_class).stdout())
    assert request_of(document)["deviceClassName"] == device_class


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--min-tps=40", MODEL), id="flag-with-an-equals-sign-before-the-model"),
        pytest.param(("--min-tps", "40", MODEL), id="flag-before-the-model"),
        pytest.param((MODEL, "--min-tps", "40"), id="flag-behind-the-model"),
        pytest.param(("--min-tps", "40", "--", MODEL), id="two-dashes"),
        pytest.param(("--min-tps", "1", MODEL, "--min-tps", "40"), id="the-last-of-a-flag"),
    ],
)
def test_flags_stand_where_kubectl_takes_them(run: Run, arguments: tuple[str, ...]) -> None:
    summary = json.loads(run("render", "--json", *arguments).stdout())
    # 40 x 4.417 x 100 / 55 = 321.2
    assert (summary["minTps"], summary["minBandwidthGBs"]) == (40.0, 322)


def test_a_model_that_starts_with_a_dash_stands_behind_two(run: Run, tmp_path: Path) -> None:
    path = catalog_file(tmp_path / "own.yaml", "name: -own, parameters: 5, quantization: F16")
    finished = run("render", "-o", "name", "--catalog", path, "--", "-own")
    assert finished.stdout() == "resourceclaim.resource.k8s.io/own-fit\n"
