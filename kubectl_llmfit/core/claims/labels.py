"""Labels as kubectl's flags take them: ``key=value`` pairs with commas between them."""

from __future__ import annotations

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.claims.names import label_key_problems, label_value_problems
from kubectl_llmfit.core.reasons import Problem, Refused, quoted


def parse_labels(text: str, origin: str) -> dict[str, str]:
    """The labels of ``text``; of a repeated key the last value counts. Empty text has none.

    Raises:
        Refused: ``invalid-value`` or ``invalid-name`` for every pair that is wrong.
    """
    labels: dict[str, str] = {}
    problems: list[Problem] = []
    for pair in text.split(",") if text else []:
        key, equals, value = pair.partition("=")
        if not equals:
            sentence = f"{origin}: {quoted(pair)} is not key=value"
            problems.append(Problem(reasons.INVALID_VALUE, sentence))
            continue
        problems += label_key_problems(key, origin)
        problems += label_value_problems(value, origin)
        labels[key] = value
    if problems:
        raise Refused(problems)
    return labels
