"""Names that Kubernetes accepts: claim names from model names, and checks of users' own.

Source of the rules: Kubernetes documentation, "Object Names and IDs" and "Labels and Selectors"
(RFC 1123 subdomains and labels, qualified names).
"""

from __future__ import annotations

import re

from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.model import Model
from kubectl_llmfit.core.reasons import Problem, quoted, refuse

CLAIM_NAME_STEM_MAX = 48
CLAIM_NAME_SUFFIX = "-fit"
SUBDOMAIN_MAX = 253
LABEL_MAX = 63

LABEL_PATTERN = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
SUBDOMAIN_PATTERN = rf"{LABEL_PATTERN}(?:\.{LABEL_PATTERN})*"
_SUBDOMAIN_RE = re.compile(SUBDOMAIN_PATTERN)
_LABEL_RE = re.compile(LABEL_PATTERN)
_QUALIFIED_RE = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")

_SUBDOMAIN_RULE = (
    "use at most 253 lower-case letters, digits, '-' and '.', with a letter or digit at both ends "
    "of every part"
)
_LABEL_RULE = (
    "use at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"
)
_QUALIFIED_RULE = (
    "use at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
)


def claim_name(model: Model) -> str:
    """The object name derived from ``model``: a DNS label of at most 52 characters.

    Lower case; every run of other characters becomes one dash; at most 48 characters; no dash at
    the ends; then ``-fit``. Source: llmfit, whose names programs already know.

    Raises:
        Refused: ``invalid-name``: the model's name has no letter or digit of ASCII to make one of.
    """
    stem = re.sub(r"[^a-z0-9]+", "-", model.name.lower()).strip("-")
    if not stem:
        raise refuse(
            reasons.INVALID_NAME,
            f"no name can be made of model {quoted(model.name)}; give one with --name",
        )
    return stem[:CLAIM_NAME_STEM_MAX].strip("-") + CLAIM_NAME_SUFFIX


def subdomain_problems(value: str, origin: str) -> list[Problem]:
    """Why ``value`` is no DNS subdomain (claim, template and device class names); else empty."""
    if len(value) <= SUBDOMAIN_MAX and _SUBDOMAIN_RE.fullmatch(value):
        return []
    return [_invalid(origin, value, "DNS subdomain", _SUBDOMAIN_RULE)]


def label_problems(value: str, origin: str) -> list[Problem]:
    """Why ``value`` is no DNS label (namespaces); else empty."""
    if len(value) <= LABEL_MAX and _LABEL_RE.fullmatch(value):
        return []
    return [_invalid(origin, value, "DNS label", _LABEL_RULE)]


def label_key_problems(key: str, origin: str) -> list[Problem]:
    """Why ``key`` is no label key (``[DNS subdomain/]name``); else empty."""
    prefix, slash, name = key.rpartition("/")
    problems = subdomain_problems(prefix, f"{origin}: prefix of {quoted(key)}") if slash else []
    if not _is_qualified(name):
        problems.append(_invalid(origin, key, "label key", _QUALIFIED_RULE))
    return problems


def label_value_problems(value: str, origin: str) -> list[Problem]:
    """Why ``value`` is no label value (empty is one); else empty."""
    if value == "" or _is_qualified(value):
        return []
    return [_invalid(origin, value, "label value", _QUALIFIED_RULE)]


def _is_qualified(value: str) -> bool:
    return len(value) <= LABEL_MAX and _QUALIFIED_RE.fullmatch(value) is not None


def _invalid(origin: str, value: str, what: str, rule: str) -> Problem:
    return Problem(reasons.INVALID_NAME, f"{origin}: {quoted(value)} is no {what}; {rule}")
