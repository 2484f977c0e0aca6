"""Cases compared with the oracle side by side, since a call of it takes a tenth of a second."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.sizing import quantization
from tests.parity.compare import claim_differences, summary_differences
from tests.parity.oracle import Options


@dataclass(frozen=True)
class Case:
    """A model by name, and the options that both sides get.

    ``with_object`` compares the object too, which is a second call of the oracle.
    """

    model: str
    options: Options = field(default_factory=Options)
    with_object: bool = True


@cache
def sized_models() -> list[Model]:
    """Every model of the catalog whose own quantization has a known size, by name."""
    return [model for model in ShippedCatalog().models() if quantization.find(model.quantization)]


def compared(cases: Mapping[str, Case]) -> dict[str, list[str]]:
    """Every difference of every case, by the case's name."""
    catalog = ShippedCatalog()

    def differences(case: Case) -> list[str]:
        model = catalog.exact(case.model)
        if model is None:
            return [f"the catalog has no {case.model}"]
        found = summary_differences(model, case.options)
        if case.with_object:
            found += claim_differences(model, case.options)
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(cases, pool.map(differences, cases.values()), strict=True))
