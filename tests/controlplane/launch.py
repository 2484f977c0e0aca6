"""Start the four servers in order, each when what it needs is there."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from tests.controlplane import servers
from tests.controlplane.client import ApiClient, ApiError
from tests.controlplane.credentials import Credentials, kubeconfig, make_credentials
from tests.controlplane.processes import ProcessGroup, ServerFailedError

ATTEMPTS = 3


@dataclass(frozen=True)
class Launched:
    """What a start has made: secrets, the administrator's client, seconds until ready."""

    credentials: Credentials
    api: ApiClient
    ready_after: dict[str, float]


@dataclass(frozen=True)
class Launcher:
    """Starts one control plane; its programs lie in ``bin`` of the group's folder.

    ``extra_flags`` are added to a server's command line, by the server's name.
    """

    version: str
    group: ProcessGroup
    extra_flags: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def launch(self) -> Launched:
        """Start everything and wait until it serves and hands out accounts."""
        made = make_credentials(self.group.folder / "credentials")
        begin = time.monotonic()
        api = self._start_api_server(made)
        ready_after = {"kube-apiserver": time.monotonic() - begin}
        admin = self.group.folder / "kubeconfig"
        scheduler = self.group.folder / "scheduler.kubeconfig"
        write_kubeconfig(admin, api.url, made.ca_file, made.admin_token)
        write_kubeconfig(scheduler, api.url, made.ca_file, made.scheduler_token)
        self._run(servers.kube_controller_manager(admin, made))
        self._run(servers.kube_scheduler(scheduler))
        self.group.wait_ready(
            "kube-controller-manager",
            # The first thing that a new namespace needs before it can have pods.
            lambda: api.find("v1", "ServiceAccount", "default", "default"),
            "a ServiceAccount for the default namespace",
        )
        ready_after["all"] = time.monotonic() - begin
        return Launched(made, api, ready_after)

    def _start_api_server(self, made: Credentials) -> ApiClient:
        for attempt in range(1, ATTEMPTS + 1):
            etcd_port, port = servers.free_port(), servers.free_port()
            api = ApiClient(f"https://127.0.0.1:{port}", made.ca_file, made.admin_token)
            try:
                self._run(servers.etcd(self.group.folder, etcd_port))
                self._run(servers.kube_apiserver(self.version, made, port, etcd_port))
                self.group.wait_ready("kube-apiserver", partial(is_ready, api), "/readyz")
            except ServerFailedError as error:
                # Someone else took a port in the moment between choosing and using it.
                if attempt == ATTEMPTS or "address already in use" not in str(error):
                    raise
                for name in list(self.group.pids):
                    self.group.stop(name)
            else:
                break
        return api

    def _run(self, command: list[str]) -> None:
        name, *flags = command
        program = self.group.folder / "bin" / name
        self.group.start(name, [program, *flags, *self.extra_flags.get(name, ())])


def write_kubeconfig(path: Path, url: str, ca_file: Path, token: str) -> Path:
    """Write a kubeconfig that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(kubeconfig(url, ca_file, token))
    return path


def is_ready(api: ApiClient) -> bool:
    """Whether the API server says so."""
    try:
        return bool(api.request("GET", "/readyz") == "ok")
    except (httpx.HTTPError, ApiError):
        return False
