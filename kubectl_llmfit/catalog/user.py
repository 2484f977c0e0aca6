"""Users' own models: YAML files, validated field by field, every mistake reported at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from kubectl_llmfit.catalog.facts import FACTS, Kind
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, Refused, printable, quoted

MAX_FILE_BYTES = 4_000_000
MAX_COUNT = 10**16
"""Above any model's parameter count; keeps every later sum finite."""
MAX_GB = 10.0**7
_TEXT_MAX = 200
_REQUIRED = ("name", "parameters", "quantization")
_BY_LABEL = {fact.label: fact for fact in FACTS}


def read_files(paths: Sequence[str]) -> list[Model]:
    """The models of ``paths``; an entry of a later file replaces one of the same name.

    Raises:
        Refused: ``bad-catalog``, one problem for each file, entry and field that is wrong.
    """
    problems: list[Problem] = []
    models: dict[str, Model] = {}
    for path in paths:
        try:
            read = _read_file(path)
        except Refused as refused:
            problems += refused.problems
        else:
            models.update({model.name.lower(): model for model in read})
    if problems:
        raise Refused(problems)
    return list(models.values())


def parse(text: str, path: str) -> list[Model]:
    """The models that ``text`` describes; ``path`` names it in errors.

    Raises:
        Refused: ``bad-catalog``, everything that is wrong with it.
    """
    try:
        document = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        raise Refused((_problem(_place(path, error), _yaml_sentence(error)),)) from None
    except (YAMLError, ValueError, RecursionError) as error:
        sentence = f"is not YAML: {printable(str(error).splitlines()[0] if str(error) else '')}"
        raise Refused((_problem(path, sentence),)) from None
    entries = document.get("models") if isinstance(document, dict) else None
    if not isinstance(entries, list) or set(document) != {"models"}:
        wanted = "needs one key, models, with a list of entries"
        raise Refused((_problem(path, wanted),))
    problems: list[Problem] = []
    models: dict[str, Model] = {}
    for index, entry in enumerate(entries):
        where = f"{path}: models[{index}]"
        model = _entry(entry, where, problems)
        if model is None:
            continue
        if model.name.lower() in models:
            problems.append(_problem(f"{where}.name", f"{quoted(model.name)} is there twice"))
        models[model.name.lower()] = model
    if problems:
        raise Refused(problems)
    return list(models.values())


def _read_file(path: str) -> list[Model]:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused((_problem(path, f"cannot be read: {reason}"),)) from None
    if len(content) > MAX_FILE_BYTES:
        raise Refused((_problem(path, f"is larger than {MAX_FILE_BYTES} bytes"),))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused((_problem(path, f"is not UTF-8 text (byte {error.start})"),)) from None
    return parse(text, path)


def _entry(entry: Any, where: str, problems: list[Problem]) -> Model | None:
    if not isinstance(entry, dict):
        problems.append(_problem(where, "is not a mapping of facts"))
        return None
    before = len(problems)
    name = entry.get("name")
    if isinstance(name, str):
        where = f"{where} ({printable(name[:_TEXT_MAX])})"
    known: dict[str, Any] = {}
    for label, value in entry.items():
        fact = _BY_LABEL.get(label) if isinstance(label, str) else None
        if fact is None:
            names = ", ".join(_BY_LABEL)
            problems.append(
                _problem(f"{where}: {quoted(str(label))}", f"is no field; the fields are {names}")
            )
        elif value is not None:
            known[fact.attribute] = _value(value, fact.kind, f"{where}: {label}", problems)
    problems += [
        _problem(f"{where}: {label}", "is missing")
        for label in _REQUIRED
        if entry.get(label) is None
    ]
    return Model(**known) if len(problems) == before else None


def _value(value: Any, kind: Kind, where: str, problems: list[Problem]) -> Any:
    if kind is Kind.TEXT:
        if (
            isinstance(value, str)
            and value.isprintable()
            and value.strip() == value
            and 0 < len(value) <= _TEXT_MAX
        ):
            return value
        wanted = f"must be text of 1 to {_TEXT_MAX} printable characters"
    elif kind is Kind.COUNT:
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_COUNT:
            return value
        wanted = "must be a whole number above 0"
    else:
        if (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and math.isfinite(value)
            and 0 < value <= MAX_GB
        ):
            return float(value)
        wanted = "must be a number of GB above 0"
    problems.append(_problem(where, f"{wanted}, not {quoted(_shown(value), 40)}"))
    return None


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, (str, bool, int, float)) else type(value).__name__


def _problem(where: str, sentence: str) -> Problem:
    return Problem(reasons.BAD_CATALOG, f"{where} {sentence}")


def _place(path: str, error: MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return path if mark is None else f"{path}: line {mark.line + 1}, column {mark.column + 1}"


def _yaml_sentence(error: MarkedYAMLError) -> str:
    return f"is not YAML: {printable((error.problem or error.context or 'unreadable').strip())}"
