"""A short soak; ``./dev soak`` is the long one."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.webhook.mutations import tampered
from tests.webhook.soak import run
from tests.webhook.wire import requests

MUTATED, GOOD = 1500, 3000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_hostile_reviews_leave_no_trace(tmp_path: Path) -> None:
    """No 5xx of its own making, no crash, memory within the bounds of ``soak``."""
    soak = run(tmp_path, mutated=MUTATED, good=GOOD)
    assert soak.findings == []
    warm_up, mutated, good = soak.phases
    assert warm_up.answers + good.answers == {("good", "200", ""): 200 + GOOD}
    assert mutated.answers.total() == MUTATED
    # Most of them got as far as to an answer, and of either kind.
    statuses = Counter[str]()
    for (_, status, _), count in mutated.answers.items():
        statuses[status] += count
    assert statuses["200"] > MUTATED / 10
    assert statuses["400"] > MUTATED / 10
    assert {"408", "413", "415", "404", "client left", "cut off"} <= set(statuses)


def test_the_same_for_the_same_seed() -> None:
    assert list(requests(1, 50)) == list(requests(1, 50))
    assert list(requests(1, 50)) != list(requests(2, 50))


def test_some_are_json_still_and_some_are_not() -> None:
    rng = random.Random(1)
    readable = 0
    for _ in range(300):
        try:
            json.loads(tampered(rng))
        except (ValueError, RecursionError):
            continue
        readable += 1
    assert 100 < readable < 290
