"""The webhook at the pace of a test: ``python -m tests.e2e.webhook_hurried FLAGS``.

As ``python -m webhook`` is, but that half an hour of the sweeper and a month of a certificate take
seconds.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from functools import partial
from typing import Any
from unittest import mock

from webhook import assembly
from webhook.__main__ import main
from webhook.certificates.authority import Lifetimes
from webhook.certificates.own import OwnSettings
from webhook.kube.lease import Leadership, Timing
from webhook.templates.sweep import Sweeper, SweepTiming

_LIFETIMES = Lifetimes(
    authority=timedelta(seconds=60),
    serving=timedelta(seconds=20),
    renew_at=0.2,
    backdate=timedelta(seconds=3),
)

HURRIED: dict[str, Any] = {
    "Leadership": partial(Leadership, timing=Timing(3, 2, 0.4)),
    "Sweeper": partial(Sweeper, timing=SweepTiming(unused_seconds=0.3, every_seconds=0.2)),
    "OwnSettings": partial(OwnSettings, lifetimes=_LIFETIMES, poll_seconds=0.3, settle_seconds=0.5),
}

if __name__ == "__main__":
    with mock.patch.multiple(assembly, **HURRIED):
        sys.exit(main(sys.argv[1:]))
