"""The benchmark's own ruler: it measures the child and nothing of the process that asks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pytest

from tests.bench.measure import Sample, Series, Spawner, in_turn, spawner

MIB = 2**20
BIG, SMALL = 64 * MIB, 24 * MIB


def _python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


def _holding(size: int) -> list[str]:
    return _python(f"b'x' * {size}")


@pytest.fixture
def spawn() -> Iterator[Spawner]:
    with spawner({}) as made:
        yield made


def test_peak_memory_is_the_child_s(spawn: Spawner) -> None:
    ballast = bytearray(BIG)  # this process is big; the children's figures do not show it
    bare = spawn.run(_python("pass")).peak_bytes
    held = spawn.run(_holding(BIG)).peak_bytes
    assert len(ballast) == BIG
    assert bare < SMALL
    assert abs(held - bare - BIG) <= 8 * MIB
    assert spawn.run(_python("pass")).peak_bytes < SMALL
    assert spawn.floor_bytes <= bare


def test_time_is_the_child_s(spawn: Spawner) -> None:
    """A child that waits cannot be done sooner; how much later is the machine's affair."""
    assert spawn.run(_python("import time; time.sleep(0.2)")).seconds >= 0.2


def test_failure_is_no_figure(spawn: Spawner) -> None:
    with pytest.raises(RuntimeError, match="exit code 3"):
        spawn.run(_python("raise SystemExit(3)"))


class Recorder(Spawner):
    """Notes what it is told to run; the n-th run takes n seconds."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, command: Sequence[str]) -> Sample:
        self.ran.append(command[0])
        return Sample(float(len(self.ran)), 1)


def test_rounds_alternate_and_the_first_is_dropped() -> None:
    recorder = Recorder()
    series = in_turn(recorder, {"a": ["a"], "b": ["b"]}, 2)
    assert "".join(recorder.ran) == "baabba"
    assert [sample.seconds for sample in series["a"].samples] == [3, 6]
    assert [sample.seconds for sample in series["b"].samples] == [4, 5]


def test_a_round_may_have_a_workload_of_its_own() -> None:
    recorder = Recorder()
    in_turn(recorder, {"a": ["d{round}"]}, 2)
    assert recorder.ran == ["d0", "d1", "d2"]


def test_ratio_is_the_median_of_pairs() -> None:
    ours = Series((Sample(1, 10), Sample(9, 20), Sample(2, 30)))
    theirs = Series((Sample(2, 10), Sample(3, 10), Sample(8, 10)))
    assert ours.seconds_ratio(theirs) == 0.5
    assert ours.peak_ratio(theirs) == 2
    assert (ours.seconds, ours.peak_bytes) == (2, 20)
