"""Finding a model: the user's own entries first, then the shipped catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_llmfit.catalog.shipped import Release, ShippedCatalog
from kubectl_llmfit.catalog.userfiles import user_file
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Refused, quoted, refuse

CONFIG_FILE = "models.yaml"
_LISTED = 5
_SELECTOR_MAX = 500


class Catalog:
    """The models by name. ``own`` entries win over shipped ones of the same name."""

    def __init__(self, own: Iterable[Model] = (), shipped: ShippedCatalog | None = None) -> None:
        self._own = {model.name.lower(): model for model in own}
        self._shipped = shipped or ShippedCatalog()

    @classmethod
    def open(cls, files: Sequence[str] = ()) -> Catalog:
        """The shipped catalog under the user's config file under ``files``, the last winning.

        Raises:
            Refused: ``bad-catalog``, every file, entry and field that is wrong.
        """
        config = user_file(CONFIG_FILE)
        paths = [*([config] if config is not None else []), *files]
        if not paths:
            return cls()
        # YAML is read only where there is some: its library is slow to import.
        from kubectl_llmfit.catalog.user import read_models

        return cls(read_models(paths))

    @property
    def release(self) -> Release:
        """What the shipped part was built from."""
        return self._shipped.release

    def resolve(self, selector: str) -> Model:
        """The model that ``selector`` names: its exact name, else a unique part of one.

        Case does not count, nor does white space around it; as in llmfit.

        Raises:
            Refused: ``unknown-model`` with near names, or ``ambiguous-model`` with the best few.
        """
        wanted = selector.strip()
        if not wanted:
            raise refuse(
                reasons.UNKNOWN_MODEL, "MODEL is empty; give a model's name or a part of it"
            )
        if len(wanted) > _SELECTOR_MAX:
            raise refuse(
                reasons.UNKNOWN_MODEL,
                f"no model matches {quoted(wanted)}: it has {len(wanted)} characters",
            )
        exact = self.exact(wanted)
        if exact is not None:
            return exact
        matches = list(self._containing((wanted,)))
        if len(matches) == 1:
            return matches[0]
        if not matches:
            raise self._unknown(wanted)
        raise _ambiguous(wanted, matches)

    def exact(self, name: str) -> Model | None:
        """The model called ``name``, without case; ``None`` if there is none."""
        return self._own.get(name.lower()) or self._shipped.exact(name)

    def search(self, words: Sequence[str]) -> list[Model]:
        """Models whose names hold every one of ``words``, without case; the best first."""
        wanted = tuple(word for text in words for word in text.split())
        return sorted(self._containing(wanted), key=lambda model: _rank(model.name, wanted))

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Names that start with ``prefix``, without case: the user's own first."""
        key = prefix.lower()
        yield from (model.name for own, model in self._own.items() if own.startswith(key))
        yield from (
            name for name in self._shipped.starting_with(prefix) if name.lower() not in self._own
        )

    def _containing(self, words: tuple[str, ...]) -> Iterator[Model]:
        keys = [word.lower() for word in words]
        for name, model in self._own.items():
            if all(key in name for key in keys):
                yield model
        for model in self._shipped.containing(words):
            if model.name.lower() not in self._own:
                yield model

    def _unknown(self, wanted: str) -> Refused:
        names = [*(model.name for model in self._own.values()), *self._shipped.names()]
        near = _near(wanted, names)
        advice = (
            f"near it: {', '.join(near)}"
            if near
            else "look for it with `kubectl llmfit models search`, or describe it with --catalog"
        )
        return refuse(reasons.UNKNOWN_MODEL, f"no model matches {quoted(wanted)}; {advice}")


def _ambiguous(wanted: str, matches: list[Model]) -> Refused:
    names = sorted((model.name for model in matches), key=lambda name: _rank(name, (wanted,)))
    more = len(names) - _LISTED
    rest = f" and {more} more" if more > 0 else ""
    return refuse(
        reasons.AMBIGUOUS_MODEL,
        f"{quoted(wanted)} is part of {len(names)} models' names: "
        f"{', '.join(names[:_LISTED])}{rest}; give the whole name",
    )


def _rank(name: str, words: tuple[str, ...]) -> tuple[int, int, str]:
    """Sorts the likeliest first: the whole repository name, its start, any place; then short."""
    key = name.lower()
    repository = key.rpartition("/")[2]
    first = words[0].lower() if words else ""
    if first in (key, repository):
        kind = 0
    elif repository.startswith(first) or key.startswith(first):
        kind = 1
    else:
        kind = 2
    return kind, len(name), key


def _near(wanted: str, names: Sequence[str]) -> list[str]:
    """Up to ``_LISTED`` names that look like ``wanted``."""
    # Imported here because difflib costs more than a whole render, and errors are rare.
    from difflib import SequenceMatcher

    key = wanted.lower()[:100]
    pieces = {key[i : i + 3] for i in range(max(1, len(key) - 2))}

    def shared(name: str) -> int:
        lowered = name.lower()
        return sum(piece in lowered for piece in pieces)

    # Shared trigrams choose the candidates, since comparing all names by edits takes seconds.
    scored = sorted(((shared(name), name) for name in names), key=lambda pair: (-pair[0], pair[1]))
    candidates = [name for score, name in scored[:60] if score * 3 >= len(pieces)]

    def likeness(name: str) -> float:
        lowered = name.lower()
        repository = lowered.rpartition("/")[2]
        return max(SequenceMatcher(None, key, text).ratio() for text in (lowered, repository))

    return sorted(candidates, key=lambda name: (-likeness(name), name))[:_LISTED]
