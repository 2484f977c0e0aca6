"""Reading one YAML document with the position of every part."""

from __future__ import annotations

from kubectl_llmfit.files import line_reader
from kubectl_llmfit.files.nodes import Tree


def read(text: str) -> Tree:
    """The one document of ``text``.

    Raises:
        Unusable: ``text`` is not YAML, or is nothing that kubectl could read.
    """
    tree = line_reader.read(text)
    if tree is None:
        # Imported here because it is slow, and most manifests never need it.
        from kubectl_llmfit.files import library_reader

        tree = library_reader.read(text)
    return tree
