"""Users' YAML files of facts: read whole, checked field by field, every mistake reported at once.

Model files and board files have the same form: one key with a list of entries, each entry a
mapping of known fields. What differs is stated as a ``Form``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from kubectl_llmfit.core.reasons import Problem, Reason, Refused, printable, quoted

MAX_FILE_BYTES = 1_000_000
"""Room for some thousand entries; a file full of small nodes takes 20 s to read at this size."""
MAX_COUNT = 10**16
"""Above any model's parameter count; keeps every later sum finite."""
MAX_NUMBER = 10.0**7
_TEXT_MAX = 200

Record = TypeVar("Record")


class Kind(Enum):
    """What a field's value is."""

    TEXT = "text"
    TEXTS = "texts"
    COUNT = "count"
    NUMBER = "number"


@dataclass(frozen=True)
class Field:
    """A field of an entry: its name in the file, the record's attribute, the kind of value."""

    label: str
    attribute: str
    kind: Kind
    required: bool = False


@dataclass(frozen=True)
class Form(Generic[Record]):
    """The form of a kind of file: its key, its fields, and how an entry becomes a record.

    ``build`` gets the read values by attribute and may refuse them; ``identity`` tells which
    entries are about the same thing.
    """

    key: str
    reason: Reason
    fields: tuple[Field, ...]
    build: Callable[[dict[str, Any]], Record]
    identity: Callable[[Record], str]


def read_files(form: Form[Record], paths: Sequence[str]) -> list[Record]:
    """The records of ``paths``; an entry of a later file replaces one about the same thing.

    Raises:
        Refused: one problem for each file, entry and field that is wrong.
    """
    problems: list[Problem] = []
    records: dict[str, Record] = {}
    for path in paths:
        try:
            read = parse(form, _read_text(form.reason, path), path)
        except Refused as refused:
            problems += refused.problems
        else:
            records.update({form.identity(record): record for record in read})
    if problems:
        raise Refused(problems)
    return list(records.values())


def parse(form: Form[Record], text: str, path: str) -> list[Record]:
    """The records that ``text`` describes; ``path`` names it in errors.

    Raises:
        Refused: everything that is wrong with it.
    """
    entries = _entries(form, text, path)
    problems: list[Problem] = []
    records: dict[str, Record] = {}
    for index, entry in enumerate(entries):
        where = f"{path}: {form.key}[{index}]"
        try:
            record = _record(form, entry, where)
        except Refused as refused:
            problems += refused.problems
            continue
        identity = form.identity(record)
        if identity in records:
            problems.append(Problem(form.reason, f"{where}: {quoted(identity)} is there twice"))
        records[identity] = record
    if problems:
        raise Refused(problems)
    return list(records.values())


def _read_text(reason: Reason, path: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Refused((Problem(reason, f"{path} cannot be read: {why}"),)) from None
    if len(content) > MAX_FILE_BYTES:
        sentence = f"{path} is larger than {MAX_FILE_BYTES} bytes"
        raise Refused((Problem(reason, sentence),))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        sentence = f"{path} is not UTF-8 text (byte {error.start})"
        raise Refused((Problem(reason, sentence),)) from None


def _entries(form: Form[Record], text: str, path: str) -> list[Any]:
    # Imported here because its library is slow to import, and most runs have no file to read.
    from kubectl_llmfit.catalog.safeyaml import UnreadableError, load

    try:
        document = load(text)
    except UnreadableError as error:
        place = f": {error.place}" if error.place else ""
        sentence = f"{path}{place} is not YAML: {error}"
        raise Refused((Problem(form.reason, sentence),)) from None
    entries = document.get(form.key) if isinstance(document, dict) else None
    if not isinstance(entries, list) or set(document) != {form.key}:
        sentence = f"{path} needs one key, {form.key}, with a list of entries"
        raise Refused((Problem(form.reason, sentence),))
    return entries


def _record(form: Form[Record], entry: Any, where: str) -> Record:
    if not isinstance(entry, dict):
        raise Refused((Problem(form.reason, f"{where} is not a mapping of fields"),))
    name = entry.get("name")
    if isinstance(name, str):
        where = f"{where} ({printable(name[:_TEXT_MAX])})"
    by_label = {field.label: field for field in form.fields}
    sentences: list[str] = []
    values: dict[str, Any] = {}
    for label, value in entry.items():
        field = by_label.get(label) if isinstance(label, str) else None
        if field is None:
            names = ", ".join(by_label)
            sentences.append(f"{quoted(_written(label))} is no field; the fields are {names}")
        elif value is not None:
            wrong = _wrong(value, field.kind)
            if wrong:
                sentences.append(f"{label} {wrong}, not {quoted(_shown(value), 40)}")
            else:
                values[field.attribute] = _converted(value, field.kind)
    sentences += [
        f"{field.label} is missing"
        for field in form.fields
        if field.required and entry.get(field.label) is None
    ]
    if sentences:
        raise Refused(Problem(form.reason, f"{where}: {sentence}") for sentence in sentences)
    try:
        return form.build(values)
    except ValueError as error:
        raise Refused((Problem(form.reason, f"{where}: {error}"),)) from None


def _wrong(value: Any, kind: Kind) -> str:
    """What ``value`` must be and is not; empty when it is."""
    if kind is Kind.TEXT:
        return "" if _is_text(value) else f"must be text of 1 to {_TEXT_MAX} printable characters"
    if kind is Kind.TEXTS:
        is_list = isinstance(value, list) and 0 < len(value) <= 64 and all(map(_is_text, value))
        return "" if is_list else "must be a list of texts"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        is_number = False
    elif kind is Kind.COUNT:
        is_number = isinstance(value, int) and 0 < value <= MAX_COUNT
    else:
        is_number = 0 < value <= MAX_NUMBER
    wanted = "a whole number above 0" if kind is Kind.COUNT else "a number above 0"
    return "" if is_number else f"must be {wanted}"


def _is_text(value: Any) -> bool:
    return (
        isinstance(value, str)
        and value.isprintable()
        and value.strip() == value
        and 0 < len(value) <= _TEXT_MAX
    )


def _converted(value: Any, kind: Kind) -> Any:
    if kind is Kind.NUMBER:
        return float(value)
    return tuple(value) if kind is Kind.TEXTS else value


def _shown(value: Any) -> str:
    is_scalar = isinstance(value, (str, bool, int, float))
    return _written(value) if is_scalar else type(value).__name__


def _written(value: Any) -> str:
    try:
        return str(value)
    except ValueError:
        # Python refuses to write out whole numbers of thousands of digits.
        return "a number of thousands of digits"
