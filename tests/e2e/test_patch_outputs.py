"""``patch`` with -o, --diff and --show-sources, held against what kubectl itself says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from kubectl_llmfit.core.rewrite.undo import UNDO
from tests.controlplane.client import Object
from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.e2e.plugin import in_cluster
from tests.e2e.plugin import llmfit as run
from tests.e2e.test_patch_files import DEPLOYMENT, MODEL, patched

# No controller writes to a suspended CronJob, so that it stays as the patch left it.
CRON_JOB = f"""\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: nightly
spec:
  schedule: 0 0 1 1 *
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: vllm
            image: none.invalid/vllm
            command: [vllm, serve, {MODEL}]
            resources:
              limits:
                nvidia.com/gpu: "1"
"""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Patch = Callable[..., Done]


@pytest.fixture
def patch(cluster: Cluster, sandbox: Sandbox) -> Patch:
    """``kubectl llmfit patch`` in the test's namespace."""

    def call(*arguments: str, **environment: str) -> Done:
        inside = in_cluster(cluster) | environment
        done = run("patch", *arguments, "-n", sandbox.namespace, environment=inside)
        return Done(done.returncode, done.stdout, done.stderr)

    return call


def got(sandbox: Sandbox, name: str = "cronjob/nightly") -> Object:
    """The object as ``kubectl get -o yaml`` prints it."""
    found: Object = yaml.safe_load(sandbox.kubectl("get", name, "-o", "yaml").stdout)
    return found


def templates(sandbox: Sandbox) -> list[Object]:
    return sandbox.api.list("resource.k8s.io/v1", "ResourceClaimTemplate", sandbox.namespace)


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_object_is_what_kubectl_gets_afterwards(
    sandbox: Sandbox, patch: Patch, output: str
) -> None:
    """Down to the annotation in which kubectl apply keeps a text of several lines."""
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    before = got(sandbox)
    done = patch("cronjob/nightly", "-o", output)
    assert done.code == 0, done.err
    printed = yaml.safe_load(done.out) if output == "yaml" else json.loads(done.out)
    assert printed == got(sandbox) != before
    assert LAST_APPLIED in printed["metadata"]["annotations"]
    assert done.err.endswith("\ncronjob.batch/nightly patched\n")


def test_names(sandbox: Sandbox, patch: Patch) -> None:
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    done = patch("cronjob/nightly", "-o", "name", "--dry-run=server")
    assert (done.code, done.out) == (0, "cronjob.batch/nightly\n")
    assert done.err.endswith("\ncronjob.batch/nightly patched (server dry run)\n")


@pytest.mark.parametrize("dry_run", ["client", "server"])
def test_object_of_a_dry_run(sandbox: Sandbox, patch: Patch, dry_run: str) -> None:
    """What the patch would leave, and nothing of it is done."""
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    before = got(sandbox)
    done = patch("cronjob/nightly", "-o", "json", f"--dry-run={dry_run}")
    assert done.code == 0, done.err
    assert (got(sandbox), templates(sandbox)) == (before, [])
    patch("cronjob/nightly")
    printed, after = json.loads(done.out), got(sandbox)
    assert printed["spec"] == after["spec"] != before["spec"]
    assert printed["metadata"]["uid"] == after["metadata"]["uid"]


def test_several_objects(sandbox: Sandbox, patch: Patch) -> None:
    """One that is skipped is printed as it is, one that fails is not printed."""
    for name, text in (
        ("a", CRON_JOB),
        ("b", CRON_JOB.replace("nvidia.com/gpu", "cpu")),
        ("c", CRON_JOB.replace(MODEL, "/models/own")),
    ):
        sandbox.kubectl("apply", "-f", "-", input=text.replace("nightly", name))
    done = patch("cronjob", "a", "b", "c", "-o", "json")
    assert done.code == 1
    listed = json.loads(done.out)
    assert (listed["apiVersion"], listed["kind"]) == ("v1", "List")
    assert listed["items"] == [got(sandbox, "cronjob/a"), got(sandbox, "cronjob/b")]
    assert "(no-legacy-devices)\n" in done.err
    assert "error: cronjob.batch/c: " in done.err
    assert patch("cronjob/c", "-o", "json").out == ""
    again = patch("cronjob", "a", "b", "-o", "yaml")
    assert list(yaml.safe_load_all(again.out)) == listed["items"]


@pytest.mark.parametrize(
    ("flags", "suffix"),
    [
        pytest.param((), "", id="patch"),
        pytest.param(("--dry-run=client",), " (dry run)", id="client"),
        pytest.param(("--dry-run=server",), " (server dry run)", id="server"),
    ],
)
def test_no_change_is_said_as_kubectl_says_it(
    sandbox: Sandbox, patch: Patch, flags: tuple[str, ...], suffix: str
) -> None:
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    patch("cronjob/nightly")
    done = patch("cronjob/nightly", *flags)
    # kubectl patch itself loses the dry run's suffix, which its other commands have.
    by_kubectl = sandbox.kubectl("patch", "cronjob/nightly", "--patch={}").stdout
    assert done.out == by_kubectl.replace("\n", f"{suffix}\n")
    assert (done.code, done.err) == (0, "")


def test_sources_of_a_workload(sandbox: Sandbox, patch: Patch) -> None:
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    done = patch("cronjob/nightly", "--show-sources", "--min-tps=5")
    assert done.out == "cronjob.batch/nightly patched\n"
    start = "cronjob.batch/nightly: "
    lines = [line for line in done.err.splitlines() if line.startswith(start)]
    assert lines[0] == f"{start}model:         {MODEL}, from container vllm, command[2]"
    assert f"{start}min-tps:       5, from --min-tps" in lines


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """An environment in which the diff program keeps both folders below a name."""
    program = tmp_path / "keep"
    program.write_text(
        '#!/bin/sh\ncp -r "$1" "$KEPT/live"\ncp -r "$2" "$KEPT/merged"\n'
        'diff -q "$1" "$2" >/dev/null\n'
    )
    program.chmod(0o755)

    def environment(name: str) -> dict[str, str]:
        (tmp_path / name).mkdir()
        return {"KUBECTL_EXTERNAL_DIFF": str(program), "KEPT": str(tmp_path / name)}

    return environment


def states(folder: Path) -> dict[str, Object]:
    """What is in the files of one folder, without what is another one in every dry run."""
    found: dict[str, Object] = {}
    for path in folder.iterdir():
        item = yaml.safe_load(path.read_text())
        if item is None:
            found[path.name] = {}
            continue
        if path.name.startswith("resource.k8s.io") and folder.name == "merged":
            del item["metadata"]["uid"], item["metadata"]["creationTimestamp"]
        # kubectl diff speaks of kubectl apply, which keeps the new file in an annotation; and the
        # record of a patch of the file knows nothing of the annotations in the cluster.
        annotations = item["metadata"].pop("annotations", {})
        others = {key: annotations[key] for key in annotations if key not in (LAST_APPLIED, UNDO)}
        found[path.name] = {**item, "annotations": others}
    return found


def test_difference_is_that_of_kubectl_diff(
    sandbox: Sandbox,
    patch: Patch,
    tmp_path: Path,
    kept: Callable[[str], dict[str, str]],
) -> None:
    """For the same change: the same files with the same objects, and the same exit codes."""
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    before = got(sandbox)
    new = patched(CRON_JOB)
    done = patch("cronjob/nightly", "--diff", **kept("ours"))
    by_kubectl = sandbox.kubectl(
        "diff", "-f", "-", input=new, check=False, environment=kept("theirs")
    )
    assert (done.code, by_kubectl.returncode) == (1, 1), done.err + by_kubectl.stderr
    for folder in ("live", "merged"):
        ours, theirs = states(tmp_path / "ours" / folder), states(tmp_path / "theirs" / folder)
        assert ours == theirs
    names = sorted(path.name for path in (tmp_path / "ours" / "merged").iterdir())
    assert names[0] == f"batch.v1.CronJob.{sandbox.namespace}.nightly"
    assert names[1].startswith(f"resource.k8s.io.v1.ResourceClaimTemplate.{sandbox.namespace}.")
    assert (got(sandbox), templates(sandbox)) == (before, [])

    sandbox.kubectl("apply", "-f", "-", input=new)
    assert patch("cronjob/nightly", "--diff").code == 0
    assert sandbox.kubectl("diff", "-f", "-", input=new, check=False).returncode == 0


def test_difference_by_the_default_program(sandbox: Sandbox, patch: Patch) -> None:
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    done = patch("cronjob/nightly", "--diff", "--show-sources")
    assert done.code == 1
    assert re.search(r'(?m)^- +nvidia\.com/gpu: "1"$', done.out)
    assert re.search(r"(?m)^\+ +resourceClaimTemplateName: llmfit-[0-9a-f]{12}$", done.out)
    assert "managedFields" not in done.out
    assert "patched" not in done.err
    assert "cronjob.batch/nightly: model: " in done.err
    assert "(last-applied-remembers-limits)" in done.err


def test_template_that_is_there_already_is_no_difference(
    sandbox: Sandbox,
    patch: Patch,
    tmp_path: Path,
    kept: Callable[[str], dict[str, str]],
) -> None:
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB.replace("nightly", "other"))
    patch("cronjob/other")
    (template,) = templates(sandbox)
    assert patch("cronjob/nightly", "--diff", **kept("ours")).code == 1
    (name,) = (each.name for each in (tmp_path / "ours" / "live").glob("resource.k8s.io*"))
    assert name.endswith(template["metadata"]["name"])
    live, merged = ((tmp_path / "ours" / each / name).read_text() for each in ("live", "merged"))
    assert live == merged


def test_failures_with_diff(cluster: Cluster, sandbox: Sandbox, patch: Patch) -> None:
    """A refusal, a missing workload, a forbidden user, a broken program: 1 would be no failure."""
    sandbox.kubectl("apply", "-f", "-", input=CRON_JOB)
    sandbox.kubectl("apply", "-f", "-", input=DEPLOYMENT.replace(MODEL, "/models/own"))
    both = patch("cronjob/nightly", "deployment/vllm", "--diff")
    assert both.code == 2
    assert 'nvidia.com/gpu: "1"' in both.out
    assert "(model-not-said)" in both.err
    assert patch("cronjob/none", "--diff").code == 2
    broken = patch("cronjob/nightly", "--diff", KUBECTL_EXTERNAL_DIFF="false --")
    assert (broken.code, broken.out) == (1, "")
    missing = patch("cronjob/nightly", "--diff", KUBECTL_EXTERNAL_DIFF="no-such-program")
    assert missing.code == 2
    assert missing.err.endswith("(diff-failed)\n")
    kubeconfig = cluster.kubeconfig_for(sandbox.namespace, "default")
    flags = ("cronjob/nightly", "--diff")
    forbidden = run("patch", *flags, environment=in_cluster(cluster, kubeconfig))
    assert (forbidden.returncode, forbidden.stdout) == (2, "")
    assert forbidden.stderr.endswith("(cluster-forbidden)\n")
