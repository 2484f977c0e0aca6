"""Whole processes measured in turn, and their figures pair by pair."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import IO

from tests.bench.spawner import SEPARATOR

ROUND = "{round}"
"""In a word of a command: the number of the round."""

_SPAWNER = Path(__file__).with_name("spawner.py")


@dataclass(frozen=True)
class Sample:
    """One run of a program, from its start to its end."""

    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class Series:
    """The runs of one program, in the order of the rounds."""

    samples: tuple[Sample, ...]

    @property
    def seconds(self) -> float:
        """The median."""
        return median(sample.seconds for sample in self.samples)

    @property
    def peak_bytes(self) -> float:
        """The median."""
        return median(sample.peak_bytes for sample in self.samples)

    def seconds_ratio(self, other: Series) -> float:
        """The median of this series' time over the other's in the same round."""
        return median(a.seconds / b.seconds for a, b in self._pairs(other))

    def peak_ratio(self, other: Series) -> float:
        """The median of this series' peak memory over the other's in the same round."""
        return median(a.peak_bytes / b.peak_bytes for a, b in self._pairs(other))

    def _pairs(self, other: Series) -> Iterator[tuple[Sample, Sample]]:
        return zip(self.samples, other.samples, strict=True)


class Spawner:
    """The small process that starts and measures the others."""

    def __init__(self, to: IO[str], answers: IO[str]) -> None:
        self._to = to
        self._answers = answers
        self.floor_bytes = self._sample("what does nothing").peak_bytes
        """What every figure of peak memory has at least: the spawner's own."""

    def run(self, command: Sequence[str]) -> Sample:
        """Runs ``command``, whose first word is a path, and measures it.

        Raises:
            RuntimeError: it failed.
        """
        self._to.write(SEPARATOR.join(command) + "\n")
        self._to.flush()
        return self._sample(" ".join(command[:3]))

    def _sample(self, name: str) -> Sample:
        seconds, peak, code = self._answers.readline().split()
        if code != "0":
            raise RuntimeError(f"{name}: exit code {code}")
        return Sample(float(seconds), int(peak))


@contextmanager
def spawner(env: Mapping[str, str]) -> Iterator[Spawner]:
    """A spawner whose children have the environment ``env``."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SPAWNER)],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Spawner(process.stdin, process.stdout)
        process.stdin.close()


def in_turn(
    spawn: Spawner, commands: Mapping[str, Sequence[str]], rounds: int
) -> dict[str, Series]:
    """Every command once a round, forwards and backwards in turn, after a round that is dropped.

    What else the machine does meanwhile then meets all of them alike. ``{round}`` in a word of a
    command is the round's number, from 0, which is dropped.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        names = list(commands) if number % 2 else list(commands)[::-1]
        for name in names:
            sample = spawn.run([word.replace(ROUND, str(number)) for word in commands[name]])
            if number:
                samples[name].append(sample)
    return {name: Series(tuple(taken)) for name, taken in samples.items()}
