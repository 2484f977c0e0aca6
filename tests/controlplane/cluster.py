"""One throw-away Kubernetes control plane on loopback, as its users see it."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.controlplane import servers
from tests.controlplane.binaries import find_programs
from tests.controlplane.client import ApiClient
from tests.controlplane.launch import Launcher, is_ready, write_kubeconfig
from tests.controlplane.processes import ProcessGroup
from tests.controlplane.versions import DEFAULT_VERSION, resolve


class Cluster:
    """A running cluster: etcd, API server, controller manager and scheduler.

    It has no kubelet: a pod ends bound to its node, its claim allocated and reserved.
    ``api`` is a JSON client with the administrator's rights, ``group`` the processes and
    their logs, ``ready_after`` the seconds that the start took.
    """

    def __init__(self, launcher: Launcher) -> None:
        """Start the servers; use ``Cluster.start``."""
        self.version = launcher.version
        self.group = launcher.group
        launched = launcher.launch()
        self.api: ApiClient = launched.api
        self.ready_after = launched.ready_after
        self.url = self.api.url
        self.token = launched.credentials.admin_token
        self.ca_file = launched.credentials.ca_file
        self.folder = self.group.folder
        self.bin = self.folder / "bin"
        self.kubeconfig = self.folder / "kubeconfig"

    @classmethod
    def start(
        cls,
        version: str = DEFAULT_VERSION,
        extra_flags: Mapping[str, Sequence[str]] | None = None,
    ) -> Self:
        """Start a cluster and wait until it is ready.

        ``extra_flags`` are more flags by server, such as
        ``{"kube-apiserver": ["--feature-gates=…"]}``.
        """
        programs = find_programs(resolve(version))
        group = ProcessGroup()
        try:
            programs.link_into(group.folder / "bin")
            return cls(Launcher(programs.version, group, extra_flags or {}))
        except BaseException:
            group.stop_all()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill all servers and remove the cluster's folder. Safe to call twice."""
        self.api.close()
        self.group.stop_all()

    def restart(self, server: str) -> None:
        """Kill a server and start it again; wait until the API server is ready."""
        self.group.stop(server)
        self.group.start_again(server)
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the API server is ready, after it or etcd was stopped and started again."""
        self.group.wait_ready("kube-apiserver", lambda: is_ready(self.api), "/readyz")

    @property
    def served_versions(self) -> list[str]:
        """The versions of resource.k8s.io that the API server is asked to serve."""
        return servers.served_versions(self.version)

    @property
    def environment(self) -> dict[str, str]:
        """Variables for a process that uses this cluster through its own kubectl.

        They also keep kubectl from reading or writing the user's own files.
        """
        return {
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
            "KUBECTL_KUBERC": "false",
        }

    def kubectl(
        self,
        *args: str | Path,
        input: str | None = None,  # noqa: A002 - as subprocess.run names it
        check: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run kubectl as the administrator; with ``check`` a failure is an AssertionError."""
        result = subprocess.run(
            [self.bin / "kubectl", *args],
            input=input,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **self.environment, **(environment or {})},
        )
        if check and result.returncode != 0:
            command = " ".join(str(arg) for arg in args)
            raise AssertionError(f"kubectl {command}: {result.returncode}\n{result.stderr}")
        return result

    def kubeconfig_for(self, namespace: str, service_account: str) -> Path:
        """A new kubeconfig with the identity and rights of a ServiceAccount."""
        token = self.api.service_account_token(namespace, service_account)
        path = self.folder / f"{namespace}.{service_account}.kubeconfig"
        return write_kubeconfig(path, self.url, self.ca_file, token)

    def run(
        self,
        name: str,
        command: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Run one more process, say the webhook under test, for as long as the cluster.

        Its output goes to ``group.log(name)``; ``group.wait_ready`` waits for it, and
        ``group.stop(name)`` ends it sooner. Returns its process id.
        """
        return self.group.start(name, command, {**self.environment, **(environment or {})})
