"""What a container image's name tells: which server its entrypoint starts."""

from __future__ import annotations

from dataclasses import dataclass

# Words of images that stand beside an engine and are none.
_BESIDE = ("exporter", "router", "proxy", "sidecar", "gateway", "metrics", "benchmark", "operator")


@dataclass(frozen=True)
class Image:
    """An image's ``repository`` path, the last part of that as its ``name``, and its ``tag``."""

    repository: str
    name: str
    tag: str

    @property
    def stands_beside(self) -> bool:
        """Whether the name says that it serves no model itself."""
        return any(word in self.name for word in _BESIDE)


def parse(text: str) -> Image:
    """The image ``text``, in small letters; a digest is dropped."""
    text = text.strip().lower().partition("@")[0]
    folder, slash, last = text.rpartition("/")
    name, _, tag = last.partition(":")
    return Image(f"{folder}{slash}{name}", name, tag)
