"""Parameters to answers, by the functions that the command line uses too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubectl_llmfit.catalog import Catalog
from kubectl_llmfit.catalog.found import facts_and_claim
from kubectl_llmfit.core.boards import Board
from kubectl_llmfit.core.claims.labels import parse_labels
from kubectl_llmfit.core.claims.render import ObjectOptions, render_object, summary
from kubectl_llmfit.core.claims.sized import copies_warning, size_claim
from kubectl_llmfit.core.request import merge
from webhook.endpoint.parameters import ClaimParameters, ModelsParameters


@dataclass(frozen=True)
class Answer:
    """JSON data, and a sentence for the user where the answer needs one beside it."""

    data: dict[str, Any]
    warning: str | None = None


class Answers:
    """What the endpoint knows: models and boards, read once."""

    def __init__(self, catalog: Catalog, boards: tuple[Board, ...]) -> None:
        self._catalog = catalog
        self._boards = boards

    def claim(self, asked: ClaimParameters) -> Answer:
        """The claim's summary, or its object.

        Raises:
            Refused: the model is not known, or no claim can be made of the parameters.
        """
        request = merge(asked.layer())
        target = request.target(template=asked.template)
        model = self._catalog.resolve(asked.model)
        placement = request.placement(self._boards)
        sized = size_claim(model, target, placement)
        if asked.output == "summary":
            data = summary(sized)
        else:
            labels = parse_labels(asked.labels or "", "labels")
            options = ObjectOptions(asked.namespace, labels, asked.api_version)
            data = render_object(sized, options)
        return Answer(data, copies_warning(placement))

    def models(self, asked: ModelsParameters) -> Answer:
        """The models whose names hold every word, each with the claim that it gets by default."""
        found = self._catalog.search((asked.q,))
        shown = [facts_and_claim(model) for model in found[: asked.limit]]
        return Answer({"total": len(found), "models": shown})
