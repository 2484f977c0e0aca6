"""The roles of the manifests hold what the document of each part asks for, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from kubectl_llmfit.installing.manifests import NAMESPACE, objects
from tests.docs.blocks import ROOT, parse
from tests.e2e.webhook.parts import documented_rules

Right = tuple[str, str, str, str]
"""API group, resource, name (empty for any) and verb."""


def rights(rules: Iterable[dict[str, list[str]]]) -> set[Right]:
    return {
        (group, resource, name, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    }


def of_role(kind: str, name: str) -> set[Right]:
    (role,) = (
        each for each in objects() if (each["kind"], each["metadata"]["name"]) == (kind, name)
    )
    return rights(role["rules"])


def of_certificates(lead: str) -> set[Right]:
    """The rules below a comment of the block in the document on certificates."""
    name = "docs/webhook-certificates.md"
    (block,) = (
        each.text
        for each in parse((ROOT / name).read_text("utf-8"), name)
        if each.language == "yaml" and "apiGroups" in each.text
    )
    part = block.partition(f"# {lead}\n")[2].partition("# ")[0]
    rules: list[dict[str, Any]] = yaml.safe_load(part)
    return rights(rules)


def test_cluster_wide() -> None:
    assert of_role("ClusterRole", "llmfit-webhook") == rights(documented_rules())


def test_certificates_cluster_wide() -> None:
    assert of_role("ClusterRole", "llmfit-webhook-certificates") == of_certificates("ClusterRole")


def test_own_namespace() -> None:
    """The Lease is needed with certificates from elsewhere too."""
    leases, secrets = (of_role("Role", f"llmfit-webhook{end}") for end in ("", "-certificates"))
    assert leases | secrets == of_certificates(f"Role in {NAMESPACE}")
    assert {resource for _, resource, _, _ in leases} == {"leases"}


def test_no_role_gives_everything() -> None:
    for each in objects():
        for group, resource, _, verb in rights(each.get("rules", ())):
            assert "*" not in {group, resource, verb}
