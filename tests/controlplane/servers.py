"""The command lines of the four servers.

Everything listens on loopback only. Feature gates stay at their defaults; the served
API versions are the exception: resource.k8s.io/v1beta1 and v1beta2 are asked for, since
the plugin writes them, and are off by default where v1 is served.
"""

import socket
from pathlib import Path

from tests.controlplane.credentials import Credentials
from tests.controlplane.versions import minor

# The last minor release that still serves a version; asking for one that is gone ends
# the API server with "unknown api groups/versions".
LAST_SERVED = {"v1beta1": 37, "v1beta2": 38}
SERVICE_NETWORK = "10.0.0.0/24"


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def served_versions(version: str) -> list[str]:
    """The resource.k8s.io versions that ``kube_apiserver`` serves, newest first."""
    betas = [beta for beta, last in LAST_SERVED.items() if minor(version) <= last]
    return ["v1", *sorted(betas, reverse=True)]


def etcd(folder: Path, port: int) -> list[str]:
    """etcd with a new, throw-away store."""
    url = f"http://127.0.0.1:{port}"
    return [
        "etcd",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        "--listen-peer-urls=http://127.0.0.1:0",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def kube_apiserver(version: str, made: Credentials, port: int, etcd_port: int) -> list[str]:
    """The API server: RBAC, a token file, service accounts with real tokens."""
    betas = served_versions(version)[1:]
    return [
        "kube-apiserver",
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--external-hostname=127.0.0.1",
        f"--secure-port={port}",
        # Else the address of the `kubernetes` Service would have to be no loopback one.
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        f"--tls-cert-file={made.server_cert}",
        f"--tls-private-key-file={made.server_key}",
        f"--service-account-issuer=https://127.0.0.1:{port}",
        f"--service-account-key-file={made.service_account_key}",
        f"--service-account-signing-key-file={made.service_account_key}",
        f"--token-auth-file={made.token_file}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--runtime-config=" + ",".join(f"resource.k8s.io/{beta}=true" for beta in betas),
        # A namespace's annotation holds its pods on the nodes of one test (fixtures.py).
        "--enable-admission-plugins=PodNodeSelector",
        # It taints each new Node until a kubelet has reported; there is no kubelet.
        "--disable-admission-plugins=TaintNodesByCondition",
    ]


def kube_controller_manager(kubeconfig: Path, made: Credentials) -> list[str]:
    """The controllers: claims from templates, garbage collection, workloads, …"""
    return [
        "kube-controller-manager",
        f"--kubeconfig={kubeconfig}",
        # It would taint a Node whose kubelet has never reported, after 40 seconds.
        "--controllers=*,-node-lifecycle-controller",
        f"--service-account-private-key-file={made.service_account_key}",
        f"--root-ca-file={made.ca_file}",
        "--leader-elect=false",
        "--secure-port=0",
        # A claim's template controller and namespace deletion wait for nothing here.
        "--kube-api-qps=1000",
        "--kube-api-burst=1000",
    ]


def kube_scheduler(kubeconfig: Path) -> list[str]:
    """The stock scheduler."""
    return [
        "kube-scheduler",
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--v=3",  # says why a pod does not fit
    ]
