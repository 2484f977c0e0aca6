"""Objects taken out of a manifest's text with what was put there for them: comments, separators."""

from __future__ import annotations

from collections.abc import Collection

from kubectl_llmfit.core.claims.header import GENERATED
from kubectl_llmfit.core.reasons import UNSAFE_EDIT, refuse
from kubectl_llmfit.files import documents, nodes, styles
from kubectl_llmfit.files.documents import Document, Located, Manifest, item_of
from kubectl_llmfit.files.editing import spliced
from kubectl_llmfit.files.flow_splicing import Edit
from kubectl_llmfit.files.splicing import Splicer, same

_MARK = f"# {GENERATED} "


def without(manifest: Manifest, objects: Collection[Located]) -> str:
    """``manifest``'s text without ``objects``, some but not all that are in it.

    Of a stream a whole document goes with the separator behind it, of a List an item. Comments
    right above a generated object go with it, others stay.

    Raises:
        Refused: ``unsafe-edit``: the result would not be exact.
    """
    edits: list[Edit] = []
    for index, document in enumerate(manifest.documents):
        own = document.content[0]
        going = [each for each in own if each in objects]
        if going and len(going) == len(own):
            edits.append(_document(manifest, index))
        elif going:
            edits += _items(document, going)
    text = spliced(manifest.text, edits)
    staying = [each.value for each in manifest.objects if each not in objects]
    if not same([each.value for each in documents.parse(text, manifest.name).objects], staying):
        where = ", ".join(each.where for each in objects)
        sentence = f"{where}: it cannot be taken out without touching anything else; do it by hand"
        raise refuse(UNSAFE_EDIT, sentence)
    return text


def _document(manifest: Manifest, index: int) -> Edit:
    document = manifest.documents[index]
    root = document.tree.root
    start = document.start
    if document.json and root is not None:
        start += root.start
    else:
        # Comments above the generated ones are about the file.
        start += max(document.tree.text.find(_MARK), 0)
    if index + 1 < len(manifest.documents):
        following = manifest.documents[index + 1]
        lead = following.tree.root
        skipped = lead.start if following.json and lead is not None else 0
        return (start, following.start + skipped, "")
    before = manifest.documents[index - 1].end if index else start
    return (before, document.end, "")


def _items(document: Document, going: list[Located]) -> list[Edit]:
    text = document.tree.text
    splicer = Splicer(document.tree, styles.of(document.tree, document.json))
    edits: list[Edit] = []
    for located in going:
        listed, entry = item_of(document, located)
        splicer.remove_items(listed, [entry])
        end = nodes.line_start(text, entry.start)
        start = _generated_comments(text, end)
        edits.append((start, end, ""))
    edits += splicer.edits
    return [(document.start + start, document.start + end, new) for start, end, new in edits]


def _generated_comments(text: str, end: int) -> int:
    """Where the generated comments right above ``end`` start; ``end`` where there are none."""
    start = end
    while start:
        above = nodes.line_start(text, start - 1)
        line = text[above:start].lstrip(" ")
        if not line.startswith("#"):
            break
        start = above
        if line.startswith(_MARK):
            return start
    return end
