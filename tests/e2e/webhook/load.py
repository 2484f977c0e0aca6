"""A steady load of annotated pods, each looked at: let in with its claim, untouched, or refused."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.controlplane.client import ApiClient, ApiError, Object
from tests.controlplane.sandbox import Sandbox
from tests.controlplane.waiting import wait_for
from tests.webhook.pods import MODEL

TEMPLATES = ("resource.k8s.io/v1", "ResourceClaimTemplate")
LEGACY = "nvidia.com/gpu"
_log = logging.getLogger(__name__)


def gpu_pod(**metadata: Any) -> Object:
    """An annotated pod with a legacy limit. It is for no scheduler unless that is changed."""
    container: Object = {
        "name": "vllm",
        "image": "none.invalid/none",
        "command": ["vllm", "serve", MODEL],
    }
    container["resources"] = {"limits": {LEGACY: "1", "cpu": "1"}}
    annotations = {"llmfit.ai/model": MODEL} | metadata.pop("annotations", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "load-", "annotations": annotations} | metadata,
        "spec": {"schedulerName": "none", "restartPolicy": "Always", "containers": [container]},
    }


def template_of(pod: Object) -> str:
    """The template that a pod claims from, which has no legacy limit any more.

    Raises:
        AssertionError: it is not as the webhook makes it.
    """
    (claim,) = pod["spec"].get("resourceClaims") or [None]
    (container,) = pod["spec"]["containers"]
    assert claim is not None, "no claim"
    assert container["resources"] == {
        "limits": {"cpu": "1"}, "requests": {"cpu": "1"}, "claims": [{"name": "llmfit"}],
    }  # fmt: skip
    name: str = claim["resourceClaimTemplateName"]
    assert re.fullmatch("llmfit-webhook-[0-9a-f]{12}", name)
    return name


def is_untouched(pod: Object) -> bool:
    """Whether a pod has its legacy limit, and no claim."""
    (container,) = pod["spec"]["containers"]
    return "resourceClaims" not in pod["spec"] and LEGACY in container["resources"]["limits"]


def check_all_pods(sandbox: Sandbox) -> int:
    """Each pod of the namespace names a template that is there; how many they are.

    It finds those, too, whose creator has heard of no answer.
    """
    pods = sandbox.api.list("v1", "Pod", sandbox.namespace)
    there = {each["metadata"]["name"] for each in sandbox.api.list(*TEMPLATES, sandbox.namespace)}
    assert {template_of(each) for each in pods} <= there
    return len(pods)


def without_claim(sandbox: Sandbox) -> list[str]:
    """The pods that wait for their claim to be made."""
    pods = sandbox.api.list("v1", "Pod", sandbox.namespace)
    return [
        each["metadata"]["name"]
        for each in pods
        if not all(
            status.get("resourceClaimName")
            for status in each["status"].get("resourceClaimStatuses") or [{}]
        )
    ]


@dataclass(frozen=True)
class Failure:
    """A pod that was not created: when it was asked for and refused (monotonic), and why."""

    asked_at: float
    refused_at: float
    why: str


@dataclass
class Load:
    """Pods created one after the other by several clients: bare ones, and a controller's.

    Every pod that is created is looked at; ``wrong`` are those that are not as they should be,
    ``untouched`` those that are as they were sent.
    """

    sandbox: Sandbox
    clients: int = 2
    pause_seconds: float = 0.04
    many_templates: bool = False
    templates_stay: bool = True
    admitted: int = 0
    failures: list[Failure] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    untouched: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Creates pods for as long as the block takes."""
        stop = threading.Event()
        # The object of a custom controller, say.
        owner = self.sandbox.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-controller"}}
        )
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a-controller"}
        reference |= {"uid": owner["metadata"]["uid"]}
        threads = [
            threading.Thread(target=self._run, args=(stop, number, reference))
            for number in range(self.clients)
        ]
        for each in threads:
            each.start()
        try:
            yield
        finally:
            stop.set()
            for each in threads:
                each.join()
            _log.info("%s: %s", self.sandbox.namespace, self.summary())

    def _run(self, stop: threading.Event, number: int, owner: Object) -> None:
        cluster = self.sandbox.cluster
        api = cluster.api.as_token(cluster.token)
        count = 0
        try:
            while not stop.wait(self.pause_seconds):
                count += 1
                owners = [owner | {"controller": True}] if count % 2 else []
                marks = {}
                if self.many_templates:
                    # Its driver publishes bandwidths, so each speed is another template.
                    speed = self.clients * count + number
                    marks = {"llmfit.ai/driver": "llmfit.ai", "llmfit.ai/min-tps": str(speed)}
                self._create(api, gpu_pod(ownerReferences=owners, annotations=marks))
        finally:
            api.close()

    def _create(self, api: ApiClient, pod: Object) -> None:
        asked_at = time.monotonic()
        try:
            made = api.create(pod, self.sandbox.namespace)
        except (ApiError, httpx.HTTPError) as error:
            self.failures.append(Failure(asked_at, time.monotonic(), repr(error)))
            return
        self.admitted += 1
        if is_untouched(made):
            self.untouched += 1
            return
        try:
            template = template_of(made)
            if self.templates_stay:
                api.get(*TEMPLATES, template, self.sandbox.namespace)
        except (AssertionError, ApiError) as error:
            self.wrong.append(f"{made['metadata']['name']}: {error!r}")
        except httpx.HTTPError:
            # The API server went away between pod and look; ``check_all_pods`` looks again.
            return

    def refused_since(self, moment: float) -> list[Failure]:
        """Failures of pods that were asked for after ``moment``."""
        return [each for each in self.failures if each.asked_at >= moment]

    def wait_admitted(self, more: int, timeout: float = 30) -> None:
        """Returns when ``more`` pods than now have been admitted."""
        goal = self.admitted + more
        wait_for(lambda: self.admitted >= goal, timeout, lambda: f"{goal} pods; {self.summary()}")

    def summary(self) -> str:
        """In one line."""
        why = Counter(each.why[:200] for each in self.failures)
        return (
            f"{self.admitted} admitted, {self.untouched} of them untouched, wrong: {self.wrong}; "
            f"{len(self.failures)} failed: {dict(why)}"
        )


def is_admitted(sandbox: Sandbox) -> bool:
    """Whether a pod would be let in with its claim now."""
    try:
        template_of(sandbox.api.dry_run(gpu_pod(), sandbox.namespace))
    except ApiError:
        return False
    return True
