"""Merging what was asked for: who wins, where it came from, and every mistake at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_llmfit import ClaimTarget, Problem, Refused
from kubectl_llmfit.core.request import Sourced, merge


def stated(origin: str, **fields: str) -> dict[str, Sourced[str]]:
    return {field: Sourced(text, origin) for field, text in fields.items()}


def mistakes(**fields: str) -> list[tuple[str, str]]:
    """Reason and first words of everything wrong with ``fields``."""
    with pytest.raises(Refused) as refused:
        merge({field: Sourced(text, f"--{field}") for field, text in fields.items()})
    return [
        (problem.reason.token, problem.sentence.partition(":")[0])
        for problem in refused.value.problems
    ]


def test_defaults_are_the_source_projects_and_say_so() -> None:
    request = merge()
    assert request.min_tps == Sourced(20.0, "default")
    assert request.efficiency_pct == Sourced(55, "default")
    assert request.quant is None
    assert request.name is None
    target = request.target()
    assert (target.device_class, target.template) == ("llmfit.ai", False)


def test_the_first_layer_that_names_a_field_wins_field_by_field() -> None:
    request = merge(
        stated("--flag", min_tps="40"),
        stated("annotation", min_tps="30", efficiency_pct="70"),
        stated("namespace", efficiency_pct="80", name="shared"),
    )
    assert request.min_tps == Sourced(40.0, "--flag")
    assert request.efficiency_pct == Sourced(70, "annotation")
    assert request.name == Sourced("shared", "namespace")


def test_a_layer_that_loses_is_not_read() -> None:
    request = merge(stated("--min-tps", min_tps="40"), stated("annotation", min_tps="fast"))
    assert request.min_tps == Sourced(40.0, "--min-tps")


def test_a_quantization_gets_its_canonical_name() -> None:
    assert merge(stated("--quant", quant=" fp16 ")).quant == Sourced("F16", "--quant")


def test_the_target_carries_the_values() -> None:
    layer = stated("f", min_tps="7.5", efficiency_pct="33", quant="q8_0", name="mine")
    target = merge({**layer, "device_class": Sourced("gpu.llmfit.ai", "f")}).target(template=True)
    assert (target.min_tps, target.efficiency_pct) == (7.5, 33)
    assert (target.quant, target.name) == ("Q8_0", "mine")
    assert (target.device_class, target.template) == ("gpu.llmfit.ai", True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("20", 20.0, id="whole"),
        pytest.param(" 20 ", 20.0, id="spaces-around"),
        pytest.param("+20", 20.0, id="plus"),
        pytest.param("020", 20.0, id="zero-in-front"),
        pytest.param("0.5", 0.5, id="fraction"),
        pytest.param(".5", 0.5, id="fraction-without-a-zero"),
        pytest.param("5.", 5.0, id="point-at-the-end"),
        pytest.param("1e3", 1000.0, id="exponent"),
        pytest.param("1E-3", 0.001, id="negative-exponent"),
        pytest.param("1000000", 1_000_000.0, id="greatest"),
        pytest.param("5e-324", 5e-324, id="least-float"),
    ],
)
def test_a_speed_is_read(text: str, value: float) -> None:
    assert merge(stated("f", min_tps=text)).min_tps.value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "0",
        "-0",
        "0.0",
        "1e-400",
        "-1",
        "1000000.1",
        "1e400",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "1_0",
        "\u0663",
        "\uff12\uff10",
        "20 tok/s",
        "2 0",
        "0x14",
        "1e",
        ".",
        "--5",
        "½",
        "9" * 5000,
        "20\n30",
        "1,5",
        "\x00",
    ],
    ids=ascii,
)
def test_what_is_no_speed_is_refused(text: str) -> None:
    assert mistakes(min_tps=text) == [("invalid-value", "--min_tps")]


@pytest.mark.parametrize("text", ["1", "100", " 55 ", "+55", "055"])
def test_an_efficiency_is_read(text: str) -> None:
    assert merge(stated("f", efficiency_pct=text)).efficiency_pct.value == int(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-0",
        "101",
        "-5",
        "55.0",
        "5e1",
        "55%",
        "1_0",
        "\u0665\u0665",
        "nan",
        "9" * 5000,
        "0x37",
    ],
    ids=ascii,
)
def test_what_is_no_efficiency_is_refused(text: str) -> None:
    assert mistakes(efficiency_pct=text) == [("invalid-value", "--efficiency_pct")]


def test_everything_wrong_is_said_at_once_by_its_origin() -> None:
    found = mistakes(
        min_tps="fast", efficiency_pct="0", device_class="Bad Class", quant="Q99", name="Bad_Name"
    )
    assert sorted(found) == [
        ("invalid-name", "--device_class"),
        ("invalid-name", "--name"),
        ("invalid-value", "--efficiency_pct"),
        ("invalid-value", "--min_tps"),
        ("unknown-quantization", "--quant"),
    ]


@given(
    st.dictionaries(
        st.sampled_from(("min_tps", "efficiency_pct", "device_class", "quant", "name")),
        st.text(max_size=12) | st.text("0123456789.+-eE_ ", max_size=12),
    )
)
def test_any_text_is_read_or_refused_in_one_printable_line_a_field(fields: dict[str, str]) -> None:
    problems: tuple[Problem, ...] = ()
    target = ClaimTarget()
    try:
        target = merge(stated("origin", **fields)).target()
    except Refused as refused:
        problems = refused.problems
    assert len(problems) <= len(fields)
    assert all(str(problem).isprintable() for problem in problems)
    assert 0 < target.min_tps <= 1_000_000
    assert 1 <= target.efficiency_pct <= 100
