"""Users' own models: the form of their YAML files."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.catalog.entries import Field, Form, read_files
from kubectl_llmfit.catalog.facts import FACTS
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.model import Model

_REQUIRED = ("name", "parameters", "quantization")

FORM: Form[Model] = Form(
    key="models",
    reason=reasons.BAD_CATALOG,
    fields=tuple(
        Field(fact.label, fact.attribute, fact.kind, required=fact.label in _REQUIRED)
        for fact in FACTS
    ),
    build=lambda values: Model(**values),
    identity=lambda model: model.name.lower(),
)


def read_models(paths: Sequence[str]) -> list[Model]:
    """The models of ``paths``; an entry of a later file replaces one of the same name.

    Raises:
        Refused: ``bad-catalog``, one problem for each file, entry and field that is wrong.
    """
    return read_files(FORM, paths)
