"""docs/webhook-templates.md says the bounds that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import webhook.state
from kubectl_llmfit.core.rewrite.annotated import FIELDS
from webhook.templates import keeper, known, remake
from webhook.templates.sweep import SweepTiming

DOC = Path(__file__).parents[2].joinpath("docs/webhook-templates.md").read_text()


def section(heading: str) -> str:
    return DOC.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_bounds() -> None:
    rows = re.findall(r"^\| (.+?) \| ([0-9, ]+) \|$", section("Bounds"), re.MULTILINE)
    stated = {what: [float(value) for value in values.split(", ")] for what, values in rows}
    timing = SweepTiming()
    assert stated == {
        "owners written to a template": [known.OWNERS_MAX],
        "bytes of a spec that are kept": [known.SPEC_MAX_BYTES],
        "seconds for a template in a review": [keeper.ENSURE_SECONDS],
        "seconds without owners and pods until a template is swept": [timing.unused_seconds],
        "seconds between two sweeps": [timing.every_seconds],
        "seconds after a deletion at which pods are looked at": list(remake.LOOKS_SECONDS),
        "seconds that a deleted template is remembered": [remake.REMEMBERED_SECONDS],
        "deleted templates remembered": [remake.REMEMBERED_MAX],
        "llmfit annotations read of a namespace": [webhook.state.ANNOTATIONS_MAX],
    }


def test_every_annotation_that_pins_something_is_named() -> None:
    assert set(re.findall(r"`(llmfit\.ai/[a-z-]+)`", section("An upgrade of the catalog"))) == set(
        FIELDS
    )
