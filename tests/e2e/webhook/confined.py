"""The webhook's process confined as the shipped Deployment says, by the kernel itself.

No container runtime is here. What one would do with the securityContext is done by ``unshare``, by
mounts in a namespace of the process's own, and by ``setpriv``.
"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from kubectl_llmfit.installing.manifests import NAME, NAMESPACE, objects
from tests.e2e.webhook.pods import ROOT, Replica
from tests.packaging import containerfile

PROGRAMS = ("unshare", "setpriv", "mount")
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True)
class Confinement:
    """What the securityContexts of the shipped Deployment say."""

    uid: int
    gid: int
    drops: tuple[str, ...]
    is_read_only: bool
    may_gain: bool
    writable: tuple[str, ...]


def shipped() -> Confinement:
    """As it stands in the manifests."""
    (deployment,) = (each for each in objects() if each["kind"] == "Deployment")
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    of_pod, of_container = spec["securityContext"], container["securityContext"]
    return Confinement(
        uid=of_pod["runAsUser"],
        gid=of_pod["runAsGroup"],
        drops=tuple(of_container["capabilities"]["drop"]),
        is_read_only=of_container["readOnlyRootFilesystem"],
        may_gain=of_container["allowPrivilegeEscalation"],
        writable=tuple(
            each["mountPath"]
            for each in container.get("volumeMounts", [])
            if not each.get("readOnly")
        ),
    )


class Confined(Replica):
    """The webhook's process as its container would hold it.

    Its environment and its service account's files are those of a pod as well.
    """

    def command(self) -> list[str]:
        confined = shipped()
        token = self.cluster.api.service_account_token(NAMESPACE, NAME)
        given = {"token": token, "namespace": NAMESPACE, "ca.crt": self.cluster.ca_file.read_text()}
        lines = ["set -eu", "umask 022", *_made_reachable()]
        lines += [f"mkdir -p {_ACCOUNT}", f"mount -t tmpfs -o mode=755 none {_ACCOUNT}"]
        for name, text in given.items():
            lines.append(f"printf %s {shlex.quote(text)} >{_ACCOUNT}/{name}")
        lines.append(f"chown {confined.uid}:{confined.gid} {_ACCOUNT}/*")
        lines.append(f"chmod 400 {_ACCOUNT}/*")
        if confined.is_read_only:
            lines.append(_READ_ONLY)
        lines.append("cd /")
        lines.append(f"exec {shlex.join(self._within(confined))}")
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join(lines)]

    def environment(self) -> dict[str, str]:
        return {}

    def _within(self, confined: Confinement) -> list[str]:
        """The process itself, with nothing of the tests' environment."""
        names = ",".join("-all" if each == "ALL" else f"-{each.lower()}" for each in confined.drops)
        rights = [f"--bounding-set={names}", f"--inh-caps={names}"]
        if not confined.may_gain:
            rights.append("--no-new-privs")
        host, _, port = self.cluster.url.removeprefix("https://").rpartition(":")
        variables = [f"KUBERNETES_SERVICE_HOST={host}", f"KUBERNETES_SERVICE_PORT={port}"]
        # It is no part of what is installed, so Python has to be told where it is.
        variables.append(f"PYTHONPATH={ROOT}")
        return [
            "setpriv", f"--reuid={confined.uid}", f"--regid={confined.gid}", "--clear-groups",
            *rights, "env", "-i", *_image_variables(), *variables, *super().command(),
        ]  # fmt: skip


# Every mount, not only that of the root: no file system but the container's is there in a pod.
_READ_ONLY = """\
while read -r _ point _; do printf '%b\\n' "$point"; done </proc/self/mounts | while read -r point
do
    # One that another mount hides can't be named, and can't be written to either.
    mount -o remount,bind,ro "$point" 2>/dev/null || true
done"""


def _image_variables() -> list[str]:
    """``NAME=VALUE`` of each variable that the image sets."""
    image = containerfile.read(ROOT / "Containerfile").stages[-1]
    return [variable for words in image.all("ENV") for variable in words]


def _made_reachable() -> list[str]:
    """Commands after which the interpreter and the repository can be read by anyone.

    A folder above them that only its owner may enter, say /root, is replaced by one that holds
    nothing but them, in the process's own mount namespace.
    """
    needed = {Path(sys.prefix), Path(sys.base_prefix), ROOT}
    closed = {above for each in needed if (above := _closed_above(each))}
    lines = []
    for above in sorted(closed):
        inside = sorted(each for each in needed if each.is_relative_to(above))
        lines.append("held=$(mktemp -d)")
        lines.append(f"mount --rbind {shlex.quote(str(above))} $held")
        lines.append(f"mount -t tmpfs -o mode=755 none {shlex.quote(str(above))}")
        for each in inside:
            if any(each != other and each.is_relative_to(other) for other in inside):
                continue
            path, rest = shlex.quote(str(each)), shlex.quote(str(each.relative_to(above)))
            lines += [f"mkdir -p {path}", f"mount --rbind $held/{rest} {path}"]
        lines += ["umount -l $held", "rmdir $held"]
    return lines


def _closed_above(path: Path) -> Path | None:
    """The topmost folder on the way to ``path`` that not everyone may enter."""
    for each in (*reversed(path.parents), path):
        if not each.stat().st_mode & 0o001:
            return each
    return None
