"""Where we differ from the oracle on purpose: one test each, which runs both.

docs/differences.md lists the same ids.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml

from kubectl_llmfit import __version__
from tests.parity import oracle
from tests.parity.oracle import Options
from tests.unit.commandline import MODEL, Run

DIFFERENCES = (
    "allocation-mode",
    "unknown-class-guessed",
    "name-unchecked",
    "device-class-unchecked",
    "quant-guessed",
    "quant-case",
    "own-quant-unknown",
    "min-tps-unbounded",
    "resolver-version",
)


def test_every_difference_has_its_test() -> None:
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {each.replace("-", "_") for each in DIFFERENCES} <= tests
    assert len(set(DIFFERENCES)) == len(DIFFERENCES)


def theirs(options: Options, model: str = MODEL) -> dict[str, Any]:
    return oracle.summary(model, options)


def ours(run: Run, options: Options, model: str = MODEL) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(run("render", model, "--json", *options.flags()).stdout())
    return summary


def refusal(run: Run, options: Options, model: str = MODEL) -> str:
    """Our reason, as the last word of the only error."""
    return run("render", model, *options.flags()).error().rpartition(" ")[2]


def exactly(document: dict[str, Any]) -> dict[str, Any]:
    (request,) = document["spec"]["devices"]["requests"]
    inner: dict[str, Any] = request["exactly"]
    return inner


def test_allocation_mode(run: Run) -> None:
    their_request = exactly(oracle.claim(MODEL, Options()).document)
    our_request = exactly(yaml.safe_load(run("render", MODEL).stdout()))
    assert their_request.keys() == {"deviceClassName", "selectors"}
    assert our_request == {**their_request, "allocationMode": "ExactCount", "count": 1}


def test_unknown_class_guessed(run: Run) -> None:
    options = Options(device_class="accelerators.example.com")
    guessed = exactly(oracle.claim(MODEL, options).document)
    assert "device.capacity['llmfit.ai']" in guessed["selectors"][0]["cel"]["expression"]
    assert refusal(run, options) == "(unknown-device-class)"
    flags = (*options.flags(), "--driver", "gpu.nvidia.com")
    said = exactly(yaml.safe_load(run("render", MODEL, *flags).stdout()))
    assert said["deviceClassName"] == "accelerators.example.com"
    assert "device.capacity['gpu.nvidia.com']" in said["selectors"][0]["cel"]["expression"]


def test_a_class_of_another_driver_gets_that_drivers_selector(run: Run) -> None:
    options = Options(device_class="gpu.nvidia.com")
    guessed = exactly(oracle.claim(MODEL, options).document)
    ours_for_it = exactly(yaml.safe_load(run("render", MODEL, *options.flags()).stdout()))
    assert "llmfit.ai" in guessed["selectors"][0]["cel"]["expression"]
    assert "llmfit.ai" not in ours_for_it["selectors"][0]["cel"]["expression"]


@pytest.mark.parametrize("name", ["Bad_Name!", "a" * 254, "a-", "a..b"])
def test_name_unchecked(run: Run, name: str) -> None:
    options = Options(name=name)
    assert theirs(options)["claimName"] == name
    assert refusal(run, options) == "(invalid-name)"


@pytest.mark.parametrize("device_class", ["Bad Class", "GPU.llmfit.ai"])
def test_device_class_unchecked(run: Run, device_class: str) -> None:
    options = Options(device_class=device_class)
    assert theirs(options)["deviceClass"] == device_class
    assert refusal(run, options) == "(invalid-name)"


@pytest.mark.parametrize("quant", ["nonsense", "Q4_K_X", "GPTQ-Int2"])
def test_quant_guessed(run: Run, quant: str) -> None:
    # 7.615616512 x 0.58 = 4.417, whatever the name
    assert theirs(Options(quant=quant))["weightsGb"] == 4.4
    assert refusal(run, Options(quant=quant)) == "(unknown-quantization)"


@pytest.mark.parametrize(
    ("quant", "weights"),
    [
        # 7.615616512 x 1, x 0.5625, x 4.4597 / 8, x 2, x 2
        pytest.param("FP8", 7.6, id="FP8"),
        pytest.param("NVFP4", 4.3, id="NVFP4"),
        pytest.param("IQ4_XS", 4.2, id="IQ4_XS"),
        pytest.param("fp16", 15.2, id="fp16"),
        pytest.param("bfloat16", 15.2, id="bfloat16"),
    ],
)
def test_quant_guessed_where_the_size_is_known(run: Run, quant: str, weights: float) -> None:
    assert theirs(Options(quant=quant))["weightsGb"] == 4.4
    assert ours(run, Options(quant=quant))["weightsGb"] == weights


def test_quant_case(run: Run) -> None:
    own = ours(run, Options())
    assert own["memoryGi"] == 5
    # 4.417 x 1.2 = 5.3: taken for a change of the quantization
    assert theirs(Options(quant="q4_k_m"))["memoryGi"] == 6
    assert ours(run, Options(quant="q4_k_m")) == own
    # 7.615616512 x 1.05 = 8.0, but taken for an unknown name
    assert theirs(Options(quant="q8_0"))["weightsGb"] == 4.4
    assert ours(run, Options(quant="q8_0"))["weightsGb"] == 8.0


@pytest.mark.parametrize(
    ("model", "quant"),
    [
        pytest.param(
            "klee100/Qwen3.8-Flash-Next-AutoRound-3bpw-MTP", "AutoRound-2bit", id="AutoRound-2bit"
        ),
        pytest.param(
            "Minachist/Qwen3.8-Flash-Next-INT4-Mixed-AutoRound",
            "AutoRound-6bit",
            id="AutoRound-6bit",
        ),
        pytest.param("lilmeaty/SmolLM2-135M-Instruct-GPTQ", "GPTQ-Int2", id="GPTQ-Int2"),
    ],
)
def test_own_quant_unknown(run: Run, model: str, quant: str) -> None:
    guessed = theirs(Options(), model)
    assert guessed["quant"] == quant
    assert guessed["weightsGb"] == theirs(Options(quant="Q4_K_M"), model)["weightsGb"]
    assert refusal(run, Options(), model) == "(unknown-quantization)"
    override = Options(quant="Q4_K_M")
    assert ours(run, override, model)["weightsGb"] == guessed["weightsGb"]


@pytest.mark.parametrize("min_tps", ["NaN", "inf", "1e300", "1000001"])
def test_min_tps_unbounded(run: Run, min_tps: str) -> None:
    options = Options(min_tps=min_tps)
    bandwidth = theirs(options)["minBandwidthGBs"]
    if math.isnan(float(min_tps)):
        assert bandwidth == 0
    else:
        assert bandwidth > 8_000_000
    assert refusal(run, options) == "(invalid-value)"


def test_resolver_version(run: Run) -> None:
    their_summary = theirs(Options())
    our_summary = ours(run, Options())
    assert their_summary["resolverVersion"] == oracle.VERSION
    assert our_summary == {**their_summary, "resolverVersion": __version__}
    assert list(our_summary) == list(their_summary)
