"""Which container of a pod serves a model, and which model that is."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.engines import EngineFacts
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import quoted, refuse
from kubectl_llmfit.core.request import Sourced
from kubectl_llmfit.core.rewrite import annotated
from kubectl_llmfit.core.rewrite.inputs import Knowledge
from kubectl_llmfit.core.rewrite.survey import Container, Survey


def devices_of(container: Container) -> int:
    """How many devices ``container`` asks for."""
    return sum(want.count for want in container.wants)


def model_container(
    found: Survey, engines: Sequence[EngineFacts], named: str | None
) -> Container | None:
    """The container that serves the model; ``None`` where none wants devices.

    Raises:
        Refused: ``ambiguous-container``.
    """
    wanting = [each for each in found.wanting if devices_of(each)]
    if not wanting:
        return None
    if named is not None:
        chosen = [each for each in wanting if each.name == named]
    else:
        serving = {facts.container for facts in engines}
        chosen = [each for each in wanting if each.name in serving] or wanting
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(quoted(each.name) for each in wanting)
    raise refuse(
        reasons.AMBIGUOUS_CONTAINER,
        f"containers {names} ask for devices, and "
        + ("none of them is called so" if named else "nothing tells which serves the model")
        + "; name it with --container",
    )


def facts_of(
    container: Container, engines: Sequence[EngineFacts], elsewhere: Sequence[EngineFacts]
) -> EngineFacts | None:
    """What the engine of ``container`` states, or the only one of all pod templates."""
    own = [facts for facts in engines if facts.container == container.name]
    if own:
        return own[0]
    return elsewhere[0] if len(elsewhere) == 1 else None


def model_of(
    named: Sourced[str] | None,
    facts: EngineFacts | None,
    container: Container,
    knowledge: Knowledge,
) -> tuple[Model, Sourced[str]]:
    """The model and who named it. What a workload says has to be a model's whole name.

    Raises:
        Refused: ``model-not-said``, ``unknown-model``, or what the catalog says of a selector.
    """
    if named is not None:
        return knowledge.resolve(named.value), named
    advice = "name it with --model or the annotation " + annotated.MODEL
    if facts is None:
        raise refuse(
            reasons.MODEL_NOT_SAID,
            f"container {quoted(container.name)} runs no engine that is known here, so its model "
            f"is not; {advice}",
        )
    hidden = next((each for each in facts.unknown if each.what in ("model", "hub_name")), None)
    if facts.model is None or facts.model.value.hub_name is None:
        why = (
            f"{facts.model.origin}: {quoted(facts.model.value.text)} is no model's name"
            if (facts.model is not None)
            else f"container {quoted(container.name)} does not say its model"
        )
        sentence = hidden.sentence if hidden is not None else f"{why}; {advice}"
        raise refuse(reasons.MODEL_NOT_SAID, sentence)
    name = facts.model.value.hub_name
    model = knowledge.exact(name)
    if model is None:
        raise refuse(
            reasons.UNKNOWN_MODEL,
            f"{facts.model.origin}: no model is called {quoted(name)}; {advice}, or describe it "
            "with --catalog",
        )
    return model, Sourced(model.name, facts.model.origin)
