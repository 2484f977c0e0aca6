"""What every engine's module offers: how it is recognised, and how its facts are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubectl_llmfit.core.engines.environment import Environment
from kubectl_llmfit.core.engines.facts import EngineFacts
from kubectl_llmfit.core.engines.fields import Word
from kubectl_llmfit.core.engines.image import Image


@dataclass(frozen=True)
class Server:
    """A server that a container starts.

    Attributes:
        container: the container's name.
        recognised: what it was recognised by.
        arguments: the words behind the program's own.
        environment: what it sees.
    """

    container: str
    recognised: str
    arguments: Sequence[Word]
    environment: Environment


@dataclass(frozen=True)
class Engine:
    """An inference engine.

    Attributes:
        name: its name, as its project spells it.
        arguments: a command line → the server's arguments; ``None`` when it starts no server.
        entrypoint: an image and its arguments → the same, for the image's own entrypoint.
        read: a server → its facts.
    """

    name: str
    arguments: Callable[[Sequence[Word]], Sequence[Word] | None]
    entrypoint: Callable[[Image, Sequence[Word]], Sequence[Word] | None]
    read: Callable[[Server], EngineFacts]


def never_by_image(_image: Image, _arguments: Sequence[Word]) -> None:
    """For engines whose images start nothing by themselves."""
