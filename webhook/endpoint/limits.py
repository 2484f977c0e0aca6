"""What one client may cost: every bound of the endpoint in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of one process.

    Attributes:
        body_bytes: longest body of a POST; a longer one is answered with 413.
        target_bytes: longest path with query; a longer one is answered with 414.
        in_flight: requests that are read or answered at one time; more are answered with 503.
        workers: threads that look models up, so that a slow search holds up nothing else.
        read_seconds: for the body to arrive; a slower client is answered with 408. As long again
            for the rest of a body that was refused.
        answer_seconds: for an answer, the wait for a thread included; then it is a 503.
        idle_seconds: a connection without a whole request for this long is closed.
        drain_seconds: for requests at hand when the process is told to end.
    """

    body_bytes: int = 16_384
    target_bytes: int = 4_096
    in_flight: int = 64
    workers: int = 2
    read_seconds: float = 5.0
    answer_seconds: float = 5.0
    idle_seconds: float = 15.0
    drain_seconds: float = 10.0
