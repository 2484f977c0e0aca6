"""The full run: every model of the catalog against the oracle.

    python -m tests.parity [--jobs N] [--every N]

Each model is compared twice: the summary at the defaults, and the object with options that rotate
through every flag. Prints each difference, then one line of counts; exit code 1 if any differs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

from kubectl_llmfit.catalog.shipped import ShippedCatalog
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.sizing import quantization
from tests.parity.compare import claim_differences, summary_differences
from tests.parity.oracle import Options

SPEEDS = ("0.001", "1", "7.3", "20", "33.333", "150", "12345.678", "1000000")
EFFICIENCIES = ("1", "7", "33", "55", "99", "100")
QUANTS = (None, *(q.name for q in quantization.TABLE if q.source == quantization.LLMFIT))


def rotating_options() -> itertools.cycle[Options]:
    """Sets of options in a fixed order in which every value meets many others."""
    longest = len(QUANTS) * 2
    return itertools.cycle(
        Options(
            quant=QUANTS[index % len(QUANTS)],
            min_tps=SPEEDS[index % len(SPEEDS)],
            efficiency=EFFICIENCIES[(index // 2) % len(EFFICIENCIES)],
            template=index % 3 == 0,
            device_class="gpu.llmfit.ai" if index % 5 == 0 else None,
            name="chosen-name" if index % 7 == 0 else None,
        )
        for index in range(longest * 12)
    )


def compared(model: Model, options: Options) -> list[str]:
    """Every difference for one model; ``options`` for the object, the defaults for the summary."""
    try:
        differences = summary_differences(model, Options())
        differences += claim_differences(model, options)
    except Exception as error:  # noqa: BLE001 - one model's failure must not end the run
        differences = [f"{type(error).__name__}: {error}"]
    return [f"{model.name} {' '.join(options.flags())}: {each}" for each in differences]


def main() -> int:
    """Runs it all and says what differed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="processes of the oracle at a time")
    parser.add_argument("--every", type=int, default=1, help="compare every Nth model only")
    arguments = parser.parse_args()
    models = list(ShippedCatalog().models())[:: arguments.every]
    sized = [model for model in models if quantization.find(model.quantization)]
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(compared, sized, rotating_options())
        for done, differences in enumerate(results, start=1):
            failed += bool(differences)
            for difference in differences:
                print(f"DIFFERS {difference}", flush=True)
            if done % 1000 == 0:
                print(f"{done} of {len(sized)} models compared, {failed} differ", flush=True)
    print(
        f"{len(sized)} models compared, {failed} differ; {len(models) - len(sized)} models left "
        "out, whose own quantization has no known size"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
