"""Objects with every flag, compared as a YAML reader sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.commandline import Run

HERE = Path(__file__).parent
CATALOG = ("--catalog", str(HERE / "models.yaml"))
ONE = "Test Model 7B"
MOE = "acme/moe-30b"

# File of parsed/ by the flags that lead to it.
OBJECTS: dict[str, tuple[str, ...]] = {
    "claim": (ONE,),
    "template": (ONE, "--template"),
    "own-quantization-named": (ONE, "--quant", "q4_k_m"),
    "quantization-overridden": (ONE, "--quant", "Q8_0"),
    "faster": (ONE, "--min-tps", "100", "--efficiency", "80"),
    "mixture-of-experts": (MOE,),
    "names": (ONE, "--name", "chat.v1", "-n", "llm", "--labels", "app=chat,x.io/y=1e3"),
    "class": (ONE, "--device-class", "gpu.llmfit.ai"),
    "v1beta2": (ONE, "--api-version", "resource.k8s.io/v1beta2"),
    "v1beta1": (ONE, "--api-version", "resource.k8s.io/v1beta1"),
    "v1beta1-template": (ONE, "--api-version", "resource.k8s.io/v1beta1", "--template"),
    "unsized-with-override": ("größe/模型-2bit", "--quant", "BF16", "--name", "big"),
}


@pytest.mark.parametrize("file", OBJECTS)
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_the_object_is_the_golden_one(run: Run, file: str, form: str) -> None:
    golden = (HERE / "parsed" / f"{file}.yaml").read_text(encoding="utf-8")
    printed = run("render", *OBJECTS[file], "-o", form, *CATALOG).stdout()
    assert yaml.safe_load(printed) == yaml.safe_load(golden)


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in (HERE / "parsed").iterdir()} == set(OBJECTS)
