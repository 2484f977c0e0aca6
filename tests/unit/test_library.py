"""The public library: names, documentation, types, and the source project's defaults."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import FunctionType

import pytest
import yaml

import kubectl_llmfit
from kubectl_llmfit import Catalog, ClaimTarget, FitBounds, Model, ObjectOptions
from tests.unit.commandline import MODEL, environment
from tests.unit.samples import seven_billion

PUBLIC = {
    name: getattr(kubectl_llmfit, name) for name in kubectl_llmfit.__all__ if name != "__version__"
}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if isinstance(value, FunctionType)}
CLASSES = {name: value for name, value in PUBLIC.items() if isinstance(value, type)}


FROZEN: dict[str, object] = {
    "ClaimTarget": ClaimTarget(),
    "FitBounds": FitBounds(6, 148, 4.06, "Q4_K_M"),
    "Model": seven_billion(),
    "ObjectOptions": ObjectOptions(),
}


def test_the_library_has_the_functions_that_it_promises() -> None:
    assert {"fit_bounds", "render", "render_json", "claim_name", "estimate_disk_gb"} <= set(
        FUNCTIONS
    )
    assert {"ClaimTarget", "Model", "Catalog", "Refused"} <= set(CLASSES)
    assert "WEIGHTS_HEADROOM" in PUBLIC
    assert sorted(set(kubectl_llmfit.__all__)) == sorted(kubectl_llmfit.__all__)


def test_what_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = kubectl_llmfit.no_such_name  # type: ignore[attr-defined, unused-ignore]


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_everything_public_is_documented(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name])
    assert text is not None
    assert len(text.split()) >= 6


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_is_typed(name: str) -> None:
    signature = inspect.signature(FUNCTIONS[name])
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter


@pytest.mark.parametrize("name", ["fit_bounds", "render", "render_json", "estimate_disk_gb"])
def test_what_can_refuse_says_so(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    assert "Raises:" in text
    assert "Refused" in text


@pytest.mark.parametrize("name", FROZEN)
def test_records_are_frozen(name: str) -> None:
    record = FROZEN[name]
    assert dataclasses.is_dataclass(record)
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)


def test_every_module_says_what_it_is_for() -> None:
    found = pkgutil.walk_packages(kubectl_llmfit.__path__, "kubectl_llmfit.")
    names = [module.name for module in found]
    assert len(names) > 20
    for name in names:
        module = importlib.import_module(name)
        assert module.__doc__, name


def test_types_are_shipped() -> None:
    assert resources.files("kubectl_llmfit").joinpath("py.typed").is_file()


def test_a_targets_defaults_are_the_source_projects() -> None:
    target = ClaimTarget()
    assert dataclasses.asdict(target) == {
        "min_tps": 20.0,
        "efficiency_pct": 55,
        "device_class": "llmfit.ai",
        "template": False,
        "quant": None,
        "name": None,
    }


def test_an_objects_defaults_add_nothing() -> None:
    options = ObjectOptions()
    assert (options.namespace, dict(options.labels), options.api_version) == (
        None,
        {},
        "resource.k8s.io/v1",
    )


def test_the_documented_example_works() -> None:
    model = seven_billion()
    assert kubectl_llmfit.claim_name(model) == "test-model-7b-fit"
    bounds = kubectl_llmfit.fit_bounds(model)
    assert isinstance(bounds, FitBounds)
    assert (bounds.memory_gi, bounds.min_bandwidth_gbs) == (6, 148)
    assert yaml.safe_load(kubectl_llmfit.render(model))["metadata"]["name"] == "test-model-7b-fit"
    assert json.loads(kubectl_llmfit.render_json(model)) == {
        "claimName": "test-model-7b-fit",
        "deviceClass": "llmfit.ai",
        "efficiencyPct": 55,
        "memoryGi": 6,
        "minBandwidthGBs": 148,
        "minTps": 20.0,
        "model": "Test Model 7B",
        "quant": "Q4_K_M",
        "resolverVersion": kubectl_llmfit.__version__,
        "weightsGb": 4.1,
    }


def test_the_catalog_gives_models_to_the_functions() -> None:
    model = Catalog.open().resolve(MODEL)
    assert isinstance(model, Model)
    # 7.615616512 x 0.58 = 4.417
    assert round(kubectl_llmfit.estimate_disk_gb(model), 3) == 4.417


def test_a_program_that_uses_the_library_passes_a_strict_type_check(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from kubectl_llmfit import Catalog, ClaimTarget, FitBounds, Refused, fit_bounds, render\n"
        "\n"
        "\n"
        "def floors(name: str) -> FitBounds:\n"
        "    return fit_bounds(Catalog.open().resolve(name), ClaimTarget(min_tps=40))\n"
        "\n"
        "\n"
        "def text(name: str) -> str:\n"
        "    try:\n"
        "        return render(Catalog.open().resolve(name))\n"
        "    except Refused as refused:\n"
        "        return refused.problems[0].reason.token\n"
    )
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            "--cache-dir",
            str(tmp_path),
            str(program),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(kubectl_llmfit.__path__[0]).parent,
        env=environment(),
    )
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout
