"""Small CRDs of the operators that some overlays are written for, with the fields that these use.

Fields, types and what is required are those of the operators' own CRDs:
- monitoring.coreos.com/v1: prometheus-operator, Documentation/api-reference/api.md
- cert-manager.io/v1: cert-manager, deploy/crds

A field that is not here is refused under strict validation, so that a misspelt one shows.
"""

from __future__ import annotations

from typing import Any

from tests.controlplane.client import ApiClient, Object
from tests.controlplane.waiting import wait_for

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
LABELS: Schema = {"type": "object", "additionalProperties": TEXT}
# Go durations, as both operators check them.
DURATION: Schema = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"}


def record(required: tuple[str, ...] = (), **fields: Schema) -> Schema:
    """An object with these fields and no others."""
    made: Schema = {"type": "object", "properties": fields}
    return made | {"required": list(required)} if required else made


RULE = record(
    ("expr",),
    alert=TEXT,
    expr={"x-kubernetes-int-or-string": True},
    **{"for": DURATION},
    labels=LABELS,
    annotations=LABELS,
)
GROUP = record(("name",), name=TEXT, rules={"type": "array", "items": RULE})
ENDPOINT = record(port=TEXT, path=TEXT, interval=DURATION)
KEY = record(
    algorithm={"type": "string", "enum": ["RSA", "ECDSA", "Ed25519"]},
    size={"type": "integer"},
    rotationPolicy={"type": "string", "enum": ["Never", "Always"]},
)
USAGES = ["signing", "digital signature", "key encipherment", "server auth", "client auth"]

SPECS: dict[tuple[str, str], Schema] = {
    ("monitoring.coreos.com", "ServiceMonitor"): record(
        ("endpoints", "selector"),
        selector=record(matchLabels=LABELS),
        endpoints={"type": "array", "items": ENDPOINT},
    ),
    ("monitoring.coreos.com", "PrometheusRule"): record(groups={"type": "array", "items": GROUP}),
    ("cert-manager.io", "Issuer"): record(
        selfSigned=record(), ca=record(("secretName",), secretName=TEXT)
    ),
    ("cert-manager.io", "Certificate"): record(
        ("issuerRef", "secretName"),
        isCA={"type": "boolean"},
        commonName=TEXT,
        secretName=TEXT,
        dnsNames=TEXTS,
        duration=DURATION,
        renewBefore=DURATION,
        privateKey=KEY,
        usages={"type": "array", "items": {"type": "string", "enum": USAGES}},
        issuerRef=record(("name",), name=TEXT, kind=TEXT, group=TEXT),
    ),
}


def definitions() -> list[Object]:
    """The CustomResourceDefinitions."""
    return [_definition(group, kind, spec) for (group, kind), spec in SPECS.items()]


def install(api: ApiClient) -> None:
    """Creates the CRDs and waits until the server has them."""
    for each in definitions():
        api.create(each)
    wait_for(
        lambda: all(_is_established(api, each) for each in definitions()),
        what="the CRDs to be served",
    )


def remove(api: ApiClient) -> None:
    """Takes the CRDs away again."""
    for each in definitions():
        api.delete(each)


def _is_established(api: ApiClient, made: Object) -> bool:
    found = api.get(made["apiVersion"], made["kind"], made["metadata"]["name"])
    conditions = found.get("status", {}).get("conditions", [])
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _definition(group: str, kind: str, spec: Schema) -> Object:
    singular = kind.lower()
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": record(("spec",), spec=spec)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "singular": singular, "plural": f"{singular}s"},
            "versions": [version],
        },
    }
