"""The webhook's reference: settings, metrics, decisions; made from its code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webhook.observed.metrics import Metrics
from webhook.reviews.answer import Outcome
from webhook.settings import Settings, flag, variable

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

LEAD = """# Webhook reference

[webhook.md](webhook.md) says what the webhook does; [reasons.md](reasons.md) lists the tokens.

## Settings

A flag wins over its environment variable, that over the file that `--config` names, that over the
default. `python -m webhook --help` prints the same. In the file a setting has the name of its flag
without the dashes in front (`tls-port: 8443`). A setting that can't be used ends the process with
exit code 2 and one line for each; a port that can't be had is exit code 1.

"""

METRICS = """
## Metrics

`/metrics` of the plain port, beside those of the process itself (`process_*`, `python_*`). No label
holds a value that a user has written.

"""

DECISIONS = """
## Decisions

The label `decision` of the metrics, the field `decision` of the log, and the audit annotation
`pods.llmfit.ai/decision`; `reason` beside it holds the token.

"""


def setting_rows() -> Iterator[tuple[str, str, str, str]]:
    """Flag, variable, default and meaning of each setting."""
    for name, info in Settings.model_fields.items():
        default = info.get_default(call_default_factory=True)
        shown = f"`{default}`" if default not in (None, "", []) else ""
        said = " ".join((info.description or "").split())
        yield f"`{flag(name)}`", f"`{variable(name)}`", shown, said


def metric_rows() -> Iterator[tuple[str, str, str, str]]:
    """Name, type, labels and meaning of each metric of the webhook's own."""
    metrics = Metrics()
    metrics.reviewed(Outcome.SKIP, "", 0.001)
    metrics.catalog.info({"source": "", "models": ""})
    metrics.build.info({"version": ""})
    for family in metrics.registry.collect():
        if family.name.startswith("llmfit_"):
            yield f"`{_scraped(family)}`", family.type, _labels(family), family.documentation


def decision_rows() -> Iterator[tuple[str, str]]:
    """Name and meaning of each decision."""
    return ((f"`{each}`", each.meaning) for each in Outcome)


def _scraped(family: Metric) -> str:
    suffix = {"counter": "_total", "info": "_info"}.get(family.type, "")
    return family.name + suffix


def _labels(family: Metric) -> str:
    names: dict[str, Any] = {name: None for each in family.samples for name in each.labels}
    return ", ".join(f"`{name}`" for name in names if name != "le")
