"""Starts programs and measures each: run as a script, so that it stays as small as it can.

A child's peak memory counts from the moment of its start, when it still shares the memory of the
process that starts it; so that process must be smaller than all that it measures. This one is a
Python without site packages that imports nothing but what start-up has loaded already.

Reads a command a line, words separated by the unit separator; writes seconds, peak bytes and
exit code a line. The first line that it writes is its own peak in bytes and 0 twice.
"""

import os
import sys
import time

SEPARATOR = "\x1f"
_QUIET = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
# The unit of ru_maxrss.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


def measure(words: list[str]) -> str:
    """The line to write for one command."""
    start = time.perf_counter()
    process = os.posix_spawn(words[0], words, os.environ, file_actions=_QUIET)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    return f"{seconds} {usage.ru_maxrss * _PEAK_UNIT} {os.waitstatus_to_exitcode(status)}\n"


if __name__ == "__main__":
    # A child that does nothing shows what this process adds to every figure.
    sys.stdout.write(measure(["/bin/sh", "-c", ":"]))
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(measure(line.rstrip("\n").split(SEPARATOR)))
        sys.stdout.flush()
