"""The default formula against sums done by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit import (
    WEIGHTS_HEADROOM,
    ClaimTarget,
    FitBounds,
    Model,
    Refused,
    estimate_disk_gb,
    fit_bounds,
    render_json,
)
from tests.unit.samples import seven_billion


@pytest.mark.parametrize(
    ("model", "target", "expected"),
    [
        pytest.param(
            seven_billion(),
            ClaimTarget(),
            # 7 x 0.58 = 4.06; max(6, 4.06) = 6; 20 x 4.06 x 100 / 55 = 147.6
            FitBounds(6, 148, 4.06, "Q4_K_M"),
            id="documented-example",
        ),
        pytest.param(
            seven_billion(),
            ClaimTarget(quant="Q8_0"),
            # 7 x 1.05 = 7.35; x 1.2 = 8.82; 20 x 7.35 x 100 / 55 = 267.3
            FitBounds(9, 268, 7.35, "Q8_0"),
            id="documented-example-in-8-bit",
        ),
        pytest.param(
            seven_billion(),
            ClaimTarget(quant="q4_k_m"),
            FitBounds(6, 148, 4.06, "Q4_K_M"),
            id="own-quantization-in-small-letters-keeps-the-floor",
        ),
        pytest.param(
            seven_billion(quantization="F16", min_vram_gb=15.5),
            ClaimTarget(quant="fp16"),
            # 7 x 2 = 14; 20 x 14 x 100 / 55 = 509.1
            FitBounds(16, 510, 14.0, "F16"),
            id="own-quantization-by-its-alias-keeps-the-floor",
        ),
        pytest.param(
            seven_billion(),
            ClaimTarget(quant="Q4_0"),
            # as large as its own, but another one: 4.06 x 1.2 = 4.872
            FitBounds(5, 148, 4.06, "Q4_0"),
            id="another-quantization-of-the-same-size-drops-the-floor",
        ),
        pytest.param(
            seven_billion(min_vram_gb=None, min_ram_gb=8.0),
            ClaimTarget(),
            FitBounds(8, 148, 4.06, "Q4_K_M"),
            id="ram-floor-where-there-is-no-vram-floor",
        ),
        pytest.param(
            seven_billion(min_ram_gb=8.0),
            ClaimTarget(),
            FitBounds(6, 148, 4.06, "Q4_K_M"),
            id="vram-floor-before-the-ram-floor",
        ),
        pytest.param(
            seven_billion(min_vram_gb=3.0),
            ClaimTarget(),
            FitBounds(5, 148, 4.06, "Q4_K_M"),
            id="weights-where-the-floor-is-below-them",
        ),
        pytest.param(
            seven_billion(min_vram_gb=None),
            ClaimTarget(),
            FitBounds(5, 148, 4.06, "Q4_K_M"),
            id="weights-where-there-is-no-floor",
        ),
        pytest.param(
            seven_billion(min_vram_gb=6.01),
            ClaimTarget(),
            FitBounds(7, 148, 4.06, "Q4_K_M"),
            id="a-hundredth-above-a-whole-gi-rounds-up",
        ),
        pytest.param(
            Model("own/m", 11_000_000_000, "mlx-8bit"),
            ClaimTarget(),
            # 20 x 11 x 100 / 55 = 400
            FitBounds(11, 400, 11.0, "mlx-8bit"),
            id="whole-numbers-stay",
        ),
        pytest.param(
            Model("own/m", 11_000_000_000, "mlx-8bit"),
            ClaimTarget(min_tps=0.001, efficiency_pct=100),
            # 0.001 x 11 = 0.011
            FitBounds(11, 1, 11.0, "mlx-8bit"),
            id="slowest",
        ),
        pytest.param(
            Model("own/m", 11_000_000_000, "mlx-8bit"),
            ClaimTarget(min_tps=1_000_000, efficiency_pct=1),
            FitBounds(11, 1_100_000_000, 11.0, "mlx-8bit"),
            id="fastest-at-the-lowest-efficiency",
        ),
        pytest.param(
            Model("own/m", 1, "Q4_K_M"),
            ClaimTarget(),
            FitBounds(1, 1, 5.8e-10, "Q4_K_M"),
            id="one-parameter",
        ),
    ],
)
def test_bounds_are_those_of_the_sum(
    model: Model, target: ClaimTarget, expected: FitBounds
) -> None:
    bounds = fit_bounds(model, target)
    assert (bounds.memory_gi, bounds.min_bandwidth_gbs, bounds.quant) == (
        expected.memory_gi,
        expected.min_bandwidth_gbs,
        expected.quant,
    )
    assert math.isclose(bounds.weights_gb, expected.weights_gb, rel_tol=1e-12)


def test_headroom_is_the_source_projects() -> None:
    assert WEIGHTS_HEADROOM == 1.2


@pytest.mark.parametrize(
    ("quant", "expected"),
    [
        pytest.param(None, 4.06, id="own"),
        pytest.param("BF16", 14.0, id="two-bytes"),
        pytest.param("bfloat16", 14.0, id="alias"),
        pytest.param("AWQ-4BIT", 3.5, id="half-a-byte-without-case"),
    ],
)
def test_disk_size_is_parameters_times_bytes(quant: str | None, expected: float) -> None:
    assert math.isclose(estimate_disk_gb(seven_billion(), quant), expected, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        pytest.param(25_000_000, 0.1, id="0.05-up-to-0.1"),
        pytest.param(125_000_000, 0.3, id="0.25-up-to-0.3-and-not-to-even"),
        pytest.param(625_000_000, 1.3, id="1.25-up-to-1.3-and-not-to-even"),
        pytest.param(624_999_999, 1.2, id="just-below-1.25-down"),
        pytest.param(24_999_999, 0.0, id="just-below-0.05-down"),
        pytest.param(7_000_000_000, 14.0, id="whole"),
    ],
)
def test_summary_rounds_weights_half_away_from_zero(parameters: int, expected: float) -> None:
    summary = json.loads(render_json(Model("own/m", parameters, "F16")))
    assert summary["weightsGb"] == expected


@pytest.mark.parametrize(
    "min_tps",
    [
        pytest.param(0.0, id="zero"),
        pytest.param(-0.0, id="minus-zero"),
        pytest.param(-20.0, id="negative"),
        pytest.param(math.nan, id="not-a-number"),
        pytest.param(math.inf, id="infinite"),
        pytest.param(1_000_000.5, id="beyond-the-greatest"),
    ],
)
def test_a_speed_that_is_none_is_refused(min_tps: float) -> None:
    with pytest.raises(Refused) as refused:
        fit_bounds(seven_billion(), ClaimTarget(min_tps=min_tps))
    assert [problem.reason.token for problem in refused.value.problems] == ["invalid-value"]
    assert str(refused.value).startswith("min_tps: ")


@pytest.mark.parametrize("efficiency_pct", [0, 101, -1, 10**6])
def test_an_efficiency_outside_1_to_100_is_refused(efficiency_pct: int) -> None:
    with pytest.raises(Refused) as refused:
        fit_bounds(seven_billion(), ClaimTarget(efficiency_pct=efficiency_pct))
    assert [problem.reason.token for problem in refused.value.problems] == ["invalid-value"]
    assert str(refused.value).startswith("efficiency_pct: ")


def test_everything_wrong_with_a_target_is_said_at_once() -> None:
    with pytest.raises(Refused) as refused:
        fit_bounds(seven_billion(), ClaimTarget(min_tps=0, efficiency_pct=0, quant="Q99"))
    assert [problem.reason.token for problem in refused.value.problems] == [
        "invalid-value",
        "invalid-value",
        "unknown-quantization",
    ]


def test_a_models_own_unknown_quantization_is_refused_in_its_name() -> None:
    with pytest.raises(
        Refused, match=r'^model Test Model 7B: .*"AutoRound-2bit".*--quant'
    ) as refused:
        fit_bounds(seven_billion(quantization="AutoRound-2bit"))
    assert [problem.reason.token for problem in refused.value.problems] == ["unknown-quantization"]


def test_an_override_sizes_a_model_whose_own_quantization_is_unknown() -> None:
    bounds = fit_bounds(seven_billion(quantization="AutoRound-2bit"), ClaimTarget(quant="F16"))
    # 14 x 1.2 = 16.8
    assert (bounds.memory_gi, bounds.quant) == (17, "F16")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"parameters": 0}, id="no-parameters"),
        pytest.param({"parameters": -7}, id="negative-parameters"),
        pytest.param({"parameters": 10**25}, id="more-bytes-than-64-bits-count"),
        pytest.param({"parameters": 10**400}, id="more-than-a-float-holds"),
        pytest.param({"min_vram_gb": math.inf}, id="infinite-floor"),
        pytest.param({"min_vram_gb": math.nan}, id="floor-that-is-no-number"),
    ],
)
def test_a_model_without_a_usable_size_is_refused(changes: dict[str, float]) -> None:
    with pytest.raises(Refused, match="Test Model 7B") as refused:
        fit_bounds(seven_billion(**changes))
    assert [problem.reason.token for problem in refused.value.problems] == ["unsized-model"]


@given(
    parameters=st.integers(1, 10**13),
    min_tps=st.floats(0.001, 1_000_000),
    efficiency_pct=st.integers(1, 100),
    floor=st.none() | st.floats(0.1, 10_000),
)
def test_the_floors_are_the_least_whole_numbers_that_are_enough(
    parameters: int, min_tps: float, efficiency_pct: int, floor: float | None
) -> None:
    model = Model("own/m", parameters, "F16", min_vram_gb=floor)
    bounds = fit_bounds(model, ClaimTarget(min_tps=min_tps, efficiency_pct=efficiency_pct))
    weights = Fraction(parameters * 2, 10**9)
    memory = max(weights, Fraction(floor or 0))
    bandwidth = Fraction(min_tps) * weights * 100 / efficiency_pct
    # The formula counts in floats, so an exact sum may differ by their rounding.
    for least, exact in ((bounds.memory_gi, memory), (bounds.min_bandwidth_gbs, bandwidth)):
        slack = exact * Fraction(1, 10**14)
        assert least >= exact - slack
        assert least - 1 < exact + slack
