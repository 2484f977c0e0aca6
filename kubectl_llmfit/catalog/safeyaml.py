"""Users' YAML text as plain data: what can be read in bounded time, with the place of a mistake."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode

_MERGE = "tag:yaml.org,2002:merge"


class UnreadableError(Exception):
    """The text can't be read; ``place`` is its line and column, where they are known."""

    def __init__(self, sentence: str, place: str = "") -> None:
        super().__init__(sentence)
        self.place = place


class _Constructor(SafeConstructor):
    """Plain data only. A few lines of merge keys can stand for more than any memory holds."""

    def flatten_mapping(self, node: MappingNode) -> Any:
        """Refuses a merge key instead of copying what it names."""
        for key, _ in node.value:
            if key.tag == _MERGE:
                advice = "merge keys (<<) are not taken; write the fields out"
                raise ConstructorError(None, None, advice, key.start_mark)


def load(text: str) -> Any:
    """The one document of ``text`` as plain data.

    Raises:
        UnreadableError: it is not YAML, more than one document, or has merge keys.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        with warnings.catch_warnings():
            # YAML lets a later anchor take an earlier one's name.
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        raise UnreadableError(str(error.problem or error.context).strip(), place) from None
    except Exception as error:  # noqa: BLE001 - the library raises of any kind for odd scalars
        said = (str(error).splitlines() or [""])[0]
        raise UnreadableError(f"{type(error).__name__}: {said}") from None
