"""Whether the webhook works, as a user of the API server can tell."""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kubectl_llmfit.cluster.api import Api, Object
from kubectl_llmfit.cluster.kubectl import ApiError
from kubectl_llmfit.core.rewrite.annotated import INJECT, MODEL
from kubectl_llmfit.installing.manifests import NAME, NAMESPACE
from kubectl_llmfit.installing.observing import (
    CONFIGURATION_PATH,
    LEASE_PATH,
    ca_bundle,
    rollout,
    waiting_because,
)

OK, FAILED, UNKNOWN = "ok", "failed", "unknown"
TEMPLATE_PREFIX = f"{NAME}-"
_SAID_BY_WEBHOOK = "llmfit: "
_BY_WEBHOOK = 'admission webhook "pods.llmfit.ai" denied the request'
_TRIED_MODEL = "Qwen/Qwen2.5-7B-Instruct"
_BEGIN = "-----BEGIN CERTIFICATE-----"

# Small, and allowed by the strictest pod security level, so that only the webhook has a say.
_POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "llmfit-status-", "annotations": {MODEL: _TRIED_MODEL}},
    "spec": {
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "server",
                "image": "registry.k8s.io/pause:3.10",
                "resources": {
                    "requests": {"cpu": "1m", "memory": "1Mi"},
                    "limits": {"cpu": "1m", "memory": "1Mi", "nvidia.com/gpu": "1"},
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: its name, ``ok``, ``failed`` or ``unknown``, and the facts."""

    name: str
    state: str
    detail: str


def status(api: Api, warnings: Callable[[], list[str]]) -> list[Check]:
    """Looks at the configuration, its caBundle, the replicas and the Lease, and tries a pod.

    The pod is a dry run through the API server, which checks the certificate that is really served
    against caBundle. ``warnings`` gives what kubectl has warned of since it was last called.

    Raises:
        Refused: the cluster could not be asked at all.
    """
    configuration: Object | Check | None
    configuration = _tried("configuration", lambda: api.find(CONFIGURATION_PATH))
    if isinstance(configuration, Check):
        checks = [configuration]
    else:
        checks = [_configuration(configuration), _ca_bundle(configuration)]
    checks.append(_checked("replicas", lambda: _replicas(api)))
    checks.append(_checked("leader", lambda: _leader(api)))
    warnings()
    seen = None if isinstance(configuration, Check) else configuration
    checks.append(_dry_run(api, seen, warnings))
    return checks


def works(checks: list[Check]) -> bool:
    """Whether nothing failed; what could not be looked at does not count."""
    return all(check.state != FAILED for check in checks)


def _tried(name: str, ask: Callable[[], Any]) -> Any:
    """What ``ask`` gives; a check of unknown state where the user may not see it."""
    try:
        return ask()
    except ApiError as error:
        if error.status != "Forbidden":
            raise
        return Check(name, UNKNOWN, error.problems[0].sentence)


def _checked(name: str, look: Callable[[], Check]) -> Check:
    found: Check = _tried(name, look)
    return found


def _configuration(found: Object | None) -> Check:
    if found is None:
        sentence = "there is none, so no pod is sent to the webhook; install it"
        return Check("configuration", FAILED, sentence)
    only = f", only namespaces labelled {INJECT}=enabled" if _is_opt_in(found) else ""
    policy = f"failurePolicy {_webhook(found).get('failurePolicy')}{only}"
    return Check("configuration", OK, f"mutatingwebhookconfiguration/{NAME}, {policy}")


def _ca_bundle(found: Object | None) -> Check:
    if found is None:
        return Check("caBundle", FAILED, "there is no configuration to hold one")
    text = ca_bundle(found)
    if not text:
        return Check("caBundle", FAILED, "empty: nothing has filled it in, so every call fails")
    try:
        pem = base64.b64decode(text, validate=True).decode("ascii")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=pem)
    except (binascii.Error, ValueError, ssl.SSLError) as error:
        return Check("caBundle", FAILED, f"no certificates in PEM: {error}")
    ends = [
        datetime.fromtimestamp(ssl.cert_time_to_seconds(str(each["notAfter"])), UTC)
        for each in context.get_ca_certs()
    ]
    count = pem.count(_BEGIN)
    certificates = "1 certificate" if count == 1 else f"{count} certificates"
    if not ends:
        return Check("caBundle", OK, certificates)
    last = max(ends)
    if last <= datetime.now(UTC):
        return Check("caBundle", FAILED, f"{certificates}, the last expired {last:%Y-%m-%d}")
    return Check("caBundle", OK, f"{certificates}, the last good until {last:%Y-%m-%d}")


def _replicas(api: Api) -> Check:
    try:
        state = rollout(api)
    except ApiError as error:
        if error.status != "NotFound":
            raise
        return Check("replicas", FAILED, f"there is no deployment/{NAME} in {NAMESPACE}")
    if state.available:
        return Check("replicas", OK, f"{state}{'' if state.done else waiting_because(api)}")
    return Check("replicas", FAILED, f"{state}{waiting_because(api)}")


def _leader(api: Api) -> Check:
    """The replica that renews certificates and sweeps; reviews are answered without one."""
    lease = api.find(LEASE_PATH)
    spec = (lease or {}).get("spec", {})
    holder = spec.get("holderIdentity")
    if not holder:
        return Check("leader", UNKNOWN, f"no replica holds the Lease {NAMESPACE}/{NAME}")
    renewed = datetime.fromisoformat(spec["renewTime"])
    age = max(0, round((datetime.now(UTC) - renewed).total_seconds()))
    lasts = spec.get("leaseDurationSeconds", 0)
    if age > lasts:
        sentence = f"{holder} renewed its Lease {age} s ago, which lasts {lasts} s"
        return Check("leader", UNKNOWN, f"{sentence}; or the clocks differ")
    return Check("leader", OK, f"{holder}, renewed {age} s ago")


def _dry_run(api: Api, configuration: Object | None, warnings: Callable[[], list[str]]) -> Check:
    """A pod that names a model, created on the server and not stored."""
    try:
        made = api.create(_POD, dry_run=True)
    except ApiError as error:
        said = error.problems[0].sentence
        if _BY_WEBHOOK in said:
            # The webhook was asked and has answered: that is what is tested here.
            return Check("dry run", OK, said)
        state = UNKNOWN if error.status == "Forbidden" and "pods.llmfit.ai" not in said else FAILED
        return Check("dry run", state, said)
    said = "; ".join(warnings())
    named = [
        claim["resourceClaimTemplateName"]
        for claim in made["spec"].get("resourceClaims") or ()
        if str(claim.get("resourceClaimTemplateName", "")).startswith(TEMPLATE_PREFIX)
    ]
    if named:
        detail = f"a pod for {_TRIED_MODEL} would get a claim from {named[0]}"
        return Check("dry run", OK, f"{detail}; {said}" if said else detail)
    if _SAID_BY_WEBHOOK in said:
        return Check("dry run", OK, f"the webhook answered: {said}")
    return Check("dry run", FAILED, f"an annotated pod stays as it is{_why(configuration)}")


def _why(configuration: Object | None) -> str:
    """What may have kept the API server from calling the webhook; empty where nobody can tell."""
    if configuration is None:
        return ""
    if _is_opt_in(configuration):
        return f": is its namespace labelled {INJECT}=enabled? -n names another one"
    if _webhook(configuration).get("failurePolicy") == "Ignore":
        return ": failurePolicy Ignore hides why the webhook could not be called"
    return ""


def _is_opt_in(configuration: Object) -> bool:
    selector = _webhook(configuration).get("namespaceSelector", {})
    return any(each.get("key") == INJECT for each in selector.get("matchExpressions", ()))


def _webhook(configuration: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (configuration.get("webhooks") or [{}])[0]
    return found
