"""The plain port: probes and metrics."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.webhook.hosting import Hosted
from tests.webhook.pods import pod, review
from webhook.observed.logs import fields


def test_live_and_ready(webhook: Hosted) -> None:
    assert webhook.page("/livez").text == "ok\n"
    assert webhook.page("/readyz").text == "[+] serving\n"


def test_ready_when_every_check_holds(webhook: Hosted) -> None:
    state = {"caches": False}
    webhook.readiness.add("caches", lambda: state["caches"])
    answered = webhook.page("/readyz")
    assert (answered.status_code, answered.text) == (503, "[-] caches\n[+] serving\n")
    state["caches"] = True
    answered = webhook.page("/readyz")
    assert (answered.status_code, answered.text) == (200, "[+] caches\n[+] serving\n")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/mutate", 404), ("POST", "/livez", 405), ("HEAD", "/livez", 200)],
)
def test_nothing_else_is_there(webhook: Hosted, method: str, path: str, status: int) -> None:
    url = f"http://127.0.0.1:{webhook.plain.port}{path}"
    assert httpx.request(method, url, trust_env=False).status_code == status


def samples(webhook: Hosted) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    page = webhook.page("/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=")
    return {
        (each.name, tuple(sorted(each.labels.items()))): each.value
        for family in text_string_to_metric_families(page.text)
        for each in family.samples
    }


def test_reviews_are_counted_and_timed(webhook: Hosted) -> None:
    before = samples(webhook)
    webhook.ask(review(pod()))
    webhook.ask(review(pod(min_tps="fast")))
    webhook.send({})
    after = samples(webhook)

    def grown(name: str, **labels: str) -> float:
        key = (name, tuple(sorted(labels.items())))
        return after[key] - before.get(key, 0.0)

    name = "llmfit_webhook_reviews_total"
    assert grown(name, decision="inject", reason="") == 1
    assert grown(name, decision="deny", reason="invalid-value") == 1
    assert grown(name, decision="reject", reason="bad-review") == 1
    assert grown("llmfit_webhook_review_duration_seconds_count") == 3
    assert after["llmfit_webhook_reviews_in_flight", ()] == 0
    assert after["process_resident_memory_bytes", ()] > 0


def test_no_label_has_a_users_value(webhook: Hosted) -> None:
    webhook.ask(review(pod("acme/secret-project"), namespace="secret-team"))
    assert "secret" not in webhook.page("/metrics").text


def test_sentence_of_the_api_server_is_logged_whole() -> None:
    """Which right is missing stands behind the names of object, ServiceAccount and namespace."""
    names = 'resourceclaimtemplates "a" is forbidden: User "system:serviceaccount:b:c" '.ljust(300)
    sentence = f'{names}cannot patch resource "resourceclaimtemplates"'
    said = fields(explanation=sentence, name="x" * 300)["fields"]
    assert said == {"explanation": sentence, "name": "x" * 197 + "..."}
