"""Writing operations into a manifest's text: only the bytes that change are changed.

The result is read again and compared before anyone sees it; what differs is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kubectl_llmfit.core.reasons import SHARED_YAML, UNSAFE_EDIT, Problem, Refused
from kubectl_llmfit.core.rewrite.operations import Operation, applied
from kubectl_llmfit.files import documents, inserting, styles
from kubectl_llmfit.files.documents import Document, Located, Manifest
from kubectl_llmfit.files.flow_splicing import Edit
from kubectl_llmfit.files.splicing import Shared, Splicer, keeps_something, same

Operations = Mapping[Located, Sequence[Operation]]
_UNSAFE = "cannot be edited without touching anything else; change it by hand"


def edited(
    manifest: Manifest, operations: Operations, before: Mapping[Located, str] | None = None
) -> str:
    """``manifest``'s text after ``operations``, with each text of ``before`` put in front.

    ``before`` holds one generated YAML document for an object. In a YAML stream it becomes a
    document of its own, in a List an item, in a file of JSON another value or, next to a single
    one, an item of a List around both.

    Raises:
        Refused: an object is used through an alias, or the result would not be exact.
        Conflict: an operation does not fit the object.
    """
    insertions = before or {}
    text = manifest.text
    pieces: list[str] = []
    position = 0
    problems: list[Problem] = []
    for document in manifest.documents:
        own = {each: operations.get(each, ()) for each in document.content[0]}
        texts = {each: insertions[each] for each in own if each in insertions}
        pieces.append(text[position : document.start])
        position = document.end
        try:
            pieces.append(_edited(manifest, document, own, texts))
        except Refused as refused:
            problems += refused.problems
    if problems:
        raise Refused(problems)
    return "".join((*pieces, text[position:]))


def _edited(
    manifest: Manifest, document: Document, operations: Operations, texts: Mapping[Located, str]
) -> str:
    if not texts and not any(operations.values()):
        return document.tree.text
    style = styles.of(document.tree, document.json)
    splicer = Splicer(document.tree, style)
    wanted: dict[Located, dict[str, Any]] = {}
    for located, own in operations.items():
        wanted[located] = applied(located.value, own)
        if not keeps_something(located.node, wanted[located]):
            raise _unsafe(document)
        try:
            splicer.change(located.node, wanted[located])
        except Shared as shared:
            where = document.where(document.line(shared.position))
            sentence = f"{where}: {shared.sentence}; write it out where it is used"
            raise Refused((Problem(SHARED_YAML, sentence),)) from None
    inner = {each: text for each, text in texts.items() if each.path}
    edits = splicer.edits + inserting.items(document, inner, style)
    result = spliced(document.tree.text, edits)
    expected: list[Any] = []
    for located, value in wanted.items():
        if located in inner:
            expected.append(inserting.value(inner[located]))
        expected.append(value)
    _check(document, result, expected)
    for located, text in texts.items():
        if not located.path:
            result = inserting.before(manifest, document, result, text)
    return result


def spliced(text: str, edits: Sequence[Edit]) -> str:
    """``text`` after ``edits`` (start, end, new text), of which removals may overlap."""
    pieces: list[str] = []
    position = 0
    # Sorting keeps insertions at one place in the order in which they were made.
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < position:
            # Removals may overlap; what both take is only what separates two entries.
            position = max(position, end)
            continue
        pieces += (text[position:start], new)
        position = end
    return "".join((*pieces, text[position:]))


def _check(document: Document, text: str, expected: Sequence[Any]) -> None:
    """Refuses ``text`` unless it is one document with exactly the objects ``expected``."""
    again = documents.parse(text, document.name)
    found = [each.value for each in again.objects]
    others = len(again.problems) != len(document.content[1])
    if others or len(again.documents) != 1 or not same(found, list(expected)):
        raise _unsafe(document)


def _unsafe(document: Document) -> Refused:
    root = document.tree.root
    where = document.where(document.line(0 if root is None else root.start))
    return Refused((Problem(UNSAFE_EDIT, f"{where}: the document {_UNSAFE}"),))
