"""Wait for a condition by asking again, with a deadline; never a fixed pause."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.1

Value = TypeVar("Value")


class WaitTimeoutError(AssertionError):
    """The condition did not become true in time."""


def wait_for(
    condition: Callable[[], Value],
    timeout: float = 20.0,
    what: str | Callable[[], str] = "",
) -> Value:
    """Call ``condition`` until its value is true, and return that value.

    An AssertionError out of ``condition`` counts as not yet; the last one is shown when
    time is up. ``what`` says what was waited for; a function is called only then, so it
    can look at the state that was reached.
    """
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE
    last: AssertionError | None = None
    while True:
        try:
            if value := condition():
                return value
            last = None
        except AssertionError as error:
            last = error
        if time.monotonic() >= deadline:
            text = what() if callable(what) else what
            message = f"not within {timeout:g} s: {text or condition!r}"
            raise WaitTimeoutError(message) from last
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)


async def eventually(
    condition: Callable[[], Value], timeout: float = 20.0, what: str | Callable[[], str] = ""
) -> Value:
    """``wait_for`` in a coroutine: the event loop goes on between two questions."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() >= deadline:
            text = what() if callable(what) else what
            raise WaitTimeoutError(f"not within {timeout:g} s: {text or condition!r}")
        await asyncio.sleep(FIRST_PAUSE)
    return value
