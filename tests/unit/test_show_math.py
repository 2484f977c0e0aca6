"""The printed sum can be done again: every equation in it holds, digit for digit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.unit.commandline import Run

EQUATION = re.compile(r"(?:^|  )([0-9max(][0-9.e+, x/max()]*) = ([0-9.e+]+) (?:GB|GB/s)(?:  |$)")
ROUNDED = re.compile(r"([0-9.e+]+)(?: / ([0-9]+))?, rounded up = ([0-9]+)(?:Gi| GB/s) a device")

CASES = [
    pytest.param(("Qwen/Qwen2.5-7B-Instruct",), id="own-quantization"),
    pytest.param(("Qwen/Qwen2.5-7B-Instruct", "--quant", "Q8_0", "--min-tps", "33.3"), id="other"),
    pytest.param(
        ("Qwen/Qwen2.5-72B-Instruct", "--driver", "gpu.nvidia.com", "--count", "4"), id="four"
    ),
    pytest.param(
        (
            "Qwen/Qwen2.5-72B-Instruct", "--driver", "gpu.amd.com",
            "--tensor-parallel", "2", "--pipeline-parallel", "3", "--efficiency", "71",
        ),
        id="tensor-and-pipeline",
    ),
    pytest.param(("mistralai/Mixtral-8x7B-Instruct-v0.1",), id="moe"),
]  # fmt: skip


def calculate(expression: str) -> float:
    """A pocket calculator: x is times, max takes the larger."""
    return float(eval(expression.replace("x", "*").replace("ma*", "max"), {"max": max}))


@pytest.mark.parametrize("arguments", CASES)
def test_every_equation_holds(run: Run, arguments: tuple[str, ...]) -> None:
    done = run("render", *arguments, "--show-math")
    assert done.code == 0
    equations = [found for line in done.out.splitlines() for found in EQUATION.findall(line)]
    assert len(equations) >= 3
    for left, right in equations:
        assert calculate(left) == pytest.approx(float(right), rel=1e-12), f"{left} = {right}"


@pytest.mark.parametrize("arguments", CASES)
def test_floors_are_the_next_whole_number_and_stand_in_the_selector(
    run: Run, arguments: tuple[str, ...]
) -> None:
    done = run("render", *arguments, "--show-math")
    (memory, bandwidth) = ROUNDED.findall(done.out)
    for value, parts, floor in (memory, bandwidth):
        share = float(value) / int(parts or 1)
        assert int(floor) - 1 < share <= int(floor)
    expression = selector(done.out)
    assert f"quantity('{memory[2]}Gi')" in expression
    if ".memoryBandwidthGBs >= " in expression:
        assert f".memoryBandwidthGBs >= {bandwidth[2]} " in expression


def selector(text: str) -> str:
    (request,) = yaml.safe_load(text)["spec"]["devices"]["requests"]
    (only,) = request["exactly"]["selectors"]
    expression: str = only["cel"]["expression"]
    return expression


def test_boards_are_listed_with_their_sources(run: Run) -> None:
    done = run("render", "Qwen/Qwen2.5-7B", "--driver", "gpu.intel.com", "--show-math")
    assert re.search(r"^#   B60 +456 GB/s +https://", done.out, re.MULTILINE)
    assert "'B60'" in selector(done.out)


def test_origins_and_assumptions(run: Run) -> None:
    plain = run("render", "Qwen/Qwen2.5-7B", "--show-math").out
    assert re.search(r"^#   speed +20\.0 tok/s +default$", plain, re.MULTILINE)
    assert "#   - 20 tok/s of one stream (--min-tps)\n" in plain
    stated = run("render", "Qwen/Qwen2.5-7B", "--show-math", "--min-tps", "20").out
    assert re.search(r"^#   speed +20\.0 tok/s +--min-tps$", stated, re.MULTILINE)
    assert "of one stream" not in stated


def test_moe_says_that_the_floor_is_high(run: Run) -> None:
    out = run("render", "mistralai/Mixtral-8x7B-Instruct-v0.1", "--show-math").out
    assert "every token reads all experts" in out


def test_object_is_the_same_with_and_without(run: Run) -> None:
    arguments = ("render", "Qwen/Qwen2.5-7B", "--driver", "gpu.nvidia.com")
    assert yaml.safe_load(run(*arguments, "--show-math").out) == yaml.safe_load(run(*arguments).out)


@pytest.mark.parametrize("flags", [("--json",), ("-o", "json"), ("-o", "name")])
def test_goes_with_yaml_only(run: Run, flags: tuple[str, ...]) -> None:
    done = run("render", "Qwen/Qwen2.5-7B", "--show-math", *flags)
    assert (done.code, done.out) == (1, "")
    assert "--show-math goes with YAML output only" in done.err


def test_own_board_is_matched(run: Run, tmp_path: Path) -> None:
    """The board's quote and bracket stay inside its literal."""
    file = tmp_path / "boards.yaml"
    file.write_text(
        'boards:\n- {driver: gpu.nvidia.com, name: "X\'] || true", bandwidthGBs: 9000, '
        "memoryGi: 500}\n"
    )
    flags = ("--driver", "gpu.nvidia.com", "--min-tps", "1100", "--boards", str(file))
    done = run("render", "Qwen/Qwen2.5-7B", *flags)
    assert done.code == 0
    assert selector(done.out).endswith(r".productName in ['X\'] || true']")
