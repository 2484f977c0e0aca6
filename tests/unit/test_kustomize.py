"""What is said where kustomize fails, by each kind of kubectl."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_llmfit.cluster.kubectl import Kubectl
from kubectl_llmfit.cluster.kustomize import build
from kubectl_llmfit.core.reasons import Refused

CASES = [
    pytest.param("error: no such\nfolder\n", "no such folder", id="kubectl"),
    pytest.param(
        'E1129 20:01:02.541120 4550 run.go:72] "command failed" err="no \\"such\\" folder"\n',
        'no "such" folder',
        id="kubectl-in-another-program",
    ),
    pytest.param(
        "error: dial tcp: connection refused\n",
        "dial tcp: connection refused",
        id="base-that-is-far-away",
    ),
    pytest.param("", "it does not say why", id="nothing-said"),
]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl that fails with what is in a file."""
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/said >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("KUBECTL", str(program))
    return tmp_path / "said"


@pytest.mark.parametrize(("output", "said"), CASES)
def test_its_own_sentence(kubectl: Path, output: str, said: str) -> None:
    kubectl.write_text(output)
    with pytest.raises(Refused) as caught:
        build(Kubectl(), "overlay")
    (problem,) = caught.value.problems
    assert problem.reason.token == "kustomize-failed"
    assert problem.sentence == f"overlay: kustomize cannot build it: {said}"
