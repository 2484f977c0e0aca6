"""What the manifests say of the service is what the service says of itself."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kubectl_llmfit.installing.manifests import OVERLAYS, objects
from tests.controlplane.client import Object
from webhook.observed.metrics import Metrics
from webhook.reviews.answer import Outcome
from webhook.settings import Settings, read_settings, variable

DEFAULTS = read_settings([])
SETTINGS = {variable(name) for name in Settings.model_fields}
# Metrics of the API server, and those that the client library adds to each process.
OTHERS = ("apiserver_admission_webhook_", "process_")


def of_kind(kind: str, *overlays: str) -> Object:
    (found,) = (each for each in objects(overlays) if each["kind"] == kind)
    return found


def pod_spec(*overlays: str) -> Any:
    return of_kind("Deployment", *overlays)["spec"]["template"]["spec"]


@pytest.mark.parametrize("overlays", [(), *((each,) for each in OVERLAYS)], ids="+".join)
def test_variables_are_settings(overlays: tuple[str, ...]) -> None:
    (container,) = pod_spec(*overlays)["containers"]
    assert {each["name"] for each in container.get("env", ())} <= SETTINGS


def test_cert_manager_s_files_are_where_they_are_mounted() -> None:
    spec = pod_spec("cert-manager")
    (container,) = spec["containers"]
    (mount,) = container["volumeMounts"]
    given = {each["name"]: each["value"] for each in container["env"]}
    assert given == {
        variable("tls_cert_file"): f"{mount['mountPath']}/tls.crt",
        variable("tls_key_file"): f"{mount['mountPath']}/tls.key",
    }
    (volume,) = spec["volumes"]
    certificates = [each for each in objects(["cert-manager"]) if each["kind"] == "Certificate"]
    secrets = {each["metadata"]["name"]: each["spec"]["secretName"] for each in certificates}
    assert volume["secret"]["secretName"] == secrets["llmfit-webhook"]


def test_certificate_is_for_the_name_that_is_called() -> None:
    (certificate,) = (
        each
        for each in objects(["cert-manager"])
        if (each["kind"], each["metadata"]["name"]) == ("Certificate", "llmfit-webhook")
    )
    (webhook,) = of_kind("MutatingWebhookConfiguration")["webhooks"]
    service = webhook["clientConfig"]["service"]
    assert f"{service['name']}.{service['namespace']}.svc" in certificate["spec"]["dnsNames"]


def test_ports() -> None:
    (container,) = pod_spec()["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"https": DEFAULTS.tls_port, "plain": DEFAULTS.plain_port}
    policy = of_kind("NetworkPolicy", "network-policy")["spec"]["ingress"]
    assert [each["ports"][0]["port"] for each in policy] == list(ports.values())


def test_time_to_end_is_enough_to_drain() -> None:
    needed = DEFAULTS.drain_seconds + DEFAULTS.shutdown_seconds
    assert pod_spec()["terminationGracePeriodSeconds"] >= needed + 5


def test_webhook_gives_up_before_the_api_server_does() -> None:
    (webhook,) = of_kind("MutatingWebhookConfiguration")["webhooks"]
    assert DEFAULTS.deadline_seconds < webhook["timeoutSeconds"]


def test_metrics_that_are_named_are_there() -> None:
    """Each name in an alert or a panel is one of the service's, or of whom it is said to be."""
    rules = json.dumps(of_kind("PrometheusRule", "monitoring")["spec"])
    panels = dashboard()["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    named = set(re.findall(r"\b(?:llmfit|process|apiserver)_[a-z_]+", " ".join([rules, *queries])))
    page = Metrics().page().decode()
    samples = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
    known = {name for each in samples for name in (each, f"{each}_bucket")}
    assert {name for name in named if not name.startswith(OTHERS)} <= known
    assert any(name.startswith("llmfit_webhook_") for name in named)


def dashboard() -> Any:
    (config_map,) = (
        each
        for each in objects(["monitoring"])
        if each["kind"] == "ConfigMap" and each["metadata"]["labels"].get("grafana_dashboard")
    )
    (text,) = config_map["data"].values()
    return json.loads(text)


def test_dashboard_s_panels_do_not_overlap() -> None:
    """Grafana's grid is 24 wide."""
    cells: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in dashboard()["panels"]]
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        own = {
            (place["x"] + dx, place["y"] + dy)
            for dx in range(place["w"])
            for dy in range(place["h"])
        }
        assert not own & cells
        cells |= own
    assert max(x for x, _ in cells) < 24
    assert len(set(ids)) == len(ids)


def test_decisions_of_the_alerts_are_the_service_s() -> None:
    rules = json.dumps(of_kind("PrometheusRule", "monitoring")["spec"])
    decisions = set(re.findall(r'decision=\\"([a-z]+)\\"', rules))
    assert decisions
    assert decisions <= {each.value for each in Outcome}
