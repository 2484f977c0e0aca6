"""Kustomizations, built by the user's own kubectl as its ``-k`` builds them."""

from __future__ import annotations

import re

from kubectl_llmfit.cluster.kubectl import Kubectl
from kubectl_llmfit.core import reasons
from kubectl_llmfit.core.reasons import printable, refuse

# kubectl as a library, in a program of others, logs the error instead of printing it.
_LOGGED_RE = re.compile(r'^E\d{4} .* err="((?:[^"\\]|\\.)*)"')
_ESCAPE_RE = re.compile(r'\\(["\\])')


def build(kubectl: Kubectl, folder: str) -> str:
    """The manifests that the kustomization in ``folder`` stands for.

    Raises:
        Refused: ``kustomize-failed`` with kustomize's own sentence, or ``no-kubectl``.
    """
    done = kubectl.ended(["kustomize", "--", folder])
    if done.returncode:
        sentence = f"{printable(folder)}: kustomize cannot build it: {_said(done.stderr)}"
        raise refuse(reasons.KUSTOMIZE_FAILED, sentence)
    for line in done.stderr.splitlines():
        kubectl.warn(line)
    return done.stdout


def _said(output: str) -> str:
    logged = _LOGGED_RE.search(output)
    text = output if logged is None else _ESCAPE_RE.sub(r"\1", logged.group(1))
    return " ".join(text.split()).removeprefix("error: ").rstrip(".") or "it does not say why"
