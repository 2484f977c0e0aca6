"""``patch -f``: what is printed where, what is written, and what is refused whole."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import yaml

from tests.unit.commandline import MODEL, Run

DEPLOYMENT = f"""\
# Kept.
apiVersion: apps/v1
kind: Deployment
metadata: {{name: vllm, namespace: llm}}
spec:
  template:
    spec:
      containers:
        - name: vllm   # indented by two
          command: ["vllm", "serve", "{MODEL}"]
          resources:
            limits:
              nvidia.com/gpu: "1"
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "d.yaml"
    path.write_text(f"{SERVICE}---\n{DEPLOYMENT}")
    return path


def test_prints_the_stream_with_a_template_before_the_workload(run: Run, file: Path) -> None:
    done = run("patch", "-f", str(file))
    assert done.code == 0
    service, template, deployment = yaml.safe_load_all(done.out)
    assert service == yaml.safe_load(SERVICE)
    assert (template["kind"], template["metadata"]["namespace"]) == ("ResourceClaimTemplate", "llm")
    spec = deployment["spec"]["template"]["spec"]
    assert spec["resourceClaims"] == [
        {"name": "llmfit", "resourceClaimTemplateName": template["metadata"]["name"]}
    ]
    assert spec["containers"][0]["resources"] == {"claims": [{"name": "llmfit"}]}
    assert "# Kept.\n" in done.out
    assert "        - name: vllm   # indented by two\n" in done.out
    assert done.out.startswith(SERVICE)
    assert file.read_text() == f"{SERVICE}---\n{DEPLOYMENT}"


def test_says_what_was_done_on_standard_error(run: Run, file: Path) -> None:
    lines = run("patch", "-f", str(file)).err.splitlines()
    assert lines[-1] == "deployment.apps/vllm patched"
    assert all(line.startswith("Warning: deployment.apps/vllm: ") for line in lines[:-1])


def test_comments_say_who_said_what(run: Run, file: Path) -> None:
    out = run("patch", "-f", str(file)).out
    assert f"# model:         {MODEL}, from container vllm, command[2]\n" in out
    assert "# min-tps:       20, from default\n" in out


def test_changes_the_file_and_keeps_the_old_one(run: Run, file: Path) -> None:
    before = file.read_text()
    printed = run("patch", "-f", str(file)).out
    done = run("patch", "-f", str(file), "-i", "--backup", ".orig")
    assert (done.code, done.out) == (0, "")
    assert file.read_text() == printed
    assert file.with_name("d.yaml.orig").read_text() == before
    again = run("patch", "-f", str(file), "-i")
    assert again.err == "deployment.apps/vllm patched (no change)\n"
    assert file.read_text() == printed


def test_template_of_two_workloads_is_written_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(f"{DEPLOYMENT}---\n{DEPLOYMENT.replace('name: vllm,', 'name: other,')}")
    kinds = [each["kind"] for each in yaml.safe_load_all(run("patch", "-f", str(path)).out)]
    assert kinds == ["ResourceClaimTemplate", "Deployment", "Deployment"]


def test_refusal_leaves_everything_as_it_was(run: Run, tmp_path: Path, file: Path) -> None:
    """One workload that can't be changed: no file of the call is, and every reason is listed."""
    broken = tmp_path / "e.yaml"
    broken.write_text(DEPLOYMENT.replace('"1"', '"0.5"') + "---\nkind: [\n")
    before = file.read_text()
    errors = run("patch", "-f", str(file), "-f", str(broken), "-i").errors()
    assert [line.rpartition(" ")[2] for line in errors] == ["(not-a-manifest)", "(bad-quantity)"]
    assert all(line.startswith(f"error: {broken}, document ") for line in errors)
    assert file.read_text() == before


def test_config_map_of_the_same_file_is_read(run: Run, tmp_path: Path) -> None:
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{model: {MODEL}}}\n"
    workload = DEPLOYMENT.replace(f'"{MODEL}"', '"$(MODEL)"').replace(
        "          resources:",
        "          env:\n          - name: MODEL\n            valueFrom:\n"
        "              configMapKeyRef: {name: c, key: model}\n          resources:",
    )
    path = tmp_path / "c.yaml"
    path.write_text(f"{config}---\n{workload}")
    assert "ConfigMap c, key model" in run("patch", "-f", str(path)).out
    path.write_text(workload)
    assert "(model-not-said)" in run("patch", "-f", str(path)).error()


def test_decisions_for_a_program(run: Run, file: Path) -> None:
    done = run("patch", "-f", str(file), "--json")
    (decision,) = json.loads(done.out)
    assert decision["object"] == "deployment.apps/vllm"
    assert decision["where"] == f"{file}, document 2, line 7"
    assert decision["sources"]["model"] == {
        "value": MODEL,
        "origin": "container vllm, command[2]",
    }
    assert [each["path"] for each in decision["operations"]] == [
        "/spec/template/spec/containers/0/resources/limits",
        "/spec/template/spec/containers/0/resources/claims",
        "/spec/template/spec/resourceClaims",
        "/spec/template/spec/tolerations",
    ]
    assert decision["operations"][0]["old"] == {"nvidia.com/gpu": "1"}
    assert "new" not in decision["operations"][0]


UNKNOWN = f"""\
apiVersion: serving.example.com/v1
kind: Server
metadata: {{name: s}}
spec:
  worker:
    spec:
      containers:
      - name: main
        command: [vllm, serve, {MODEL}]
        resources: {{limits: {{nvidia.com/gpu: 1}}}}
"""


def test_kind_that_is_not_known(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(UNKNOWN)
    done = run("patch", "-f", str(path))
    assert (done.code, done.out) == (0, UNKNOWN)
    assert done.err.startswith("server.serving.example.com/s skipped: ")
    assert done.err.endswith("(unknown-kind)\n")
    told = run("patch", "-f", str(path), "--template-path", "spec.worker")
    assert "server.serving.example.com/s patched\n" in told.err
    (container,) = list(yaml.safe_load_all(told.out))[1]["spec"]["worker"]["spec"]["containers"]
    assert container["resources"] == {"claims": [{"name": "llmfit"}]}


@pytest.mark.parametrize("command", ["patch", "restore"])
@pytest.mark.parametrize("words", [("-",), ("-f", "-")], ids=" ".join)
def test_standard_input(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DEPLOYMENT.encode())))
    done = run(command, *words)
    assert done.code == 0, done.err
    assert ("ResourceClaimTemplate" in done.out) == (command == "patch")
    assert "deployment.apps/vllm" in done.err


WRONG = [
    pytest.param((), "name workloads as TYPE/NAME, or files with -f", id="nothing"),
    pytest.param(("-f", "x", "--backup", ".b"), "--backup goes with --in-place", id="backup"),
    pytest.param(
        ("-f", "x", "-i", "--dry-run"),
        "--dry-run goes with TYPE/NAME only",
        id="dry-run-that-would-write",
    ),
    pytest.param(
        ("-f", "x", "--all", "--force"), "--all, --force go with TYPE/NAME only", id="live-flags"
    ),
    pytest.param(
        ("deployment/x", "-i", "-R"), "--recursive, --in-place go with -f only", id="file"
    ),
    pytest.param(("deploy/a", "-f", "x"), "or files with -f", id="both"),
    pytest.param(("deploy/a", "-k", "x"), "or files with -f or -k", id="kustomize-and-live"),
    pytest.param(("-f", "x", "-k", "y"), "-f and -k exclude each other", id="file-and-kustomize"),
    pytest.param(("-k", "x", "-i"), "--in-place goes with -f only", id="kustomize-in-place"),
    pytest.param(("-k", "x", "-R"), "--recursive goes with -f only", id="kustomize-recursive"),
    pytest.param(("-k", "x", "--force"), "--force goes with TYPE/NAME only", id="kustomize-force"),
    pytest.param(
        ("-f", "x", "-o", "yaml", "--json"),
        "--json and --output exclude each other",
        id="two-outputs",
    ),
    pytest.param(
        ("-f", "x", "-o", "yaml", "-i"), "--output and --in-place exclude", id="output-in-place"
    ),
    pytest.param(("-f", "x", "--json", "-i"), "--json and --in-place exclude", id="json-in-place"),
    pytest.param(
        ("-f", "x", "--json", "--show-sources"),
        "--json and --show-sources exclude each other",
        id="sources-that-json-has",
    ),
    pytest.param(("-f", "x", "-o", "wide"), "is not one of yaml, json, name", id="output"),
    pytest.param(("deploy",), "name workloads of deploy", id="type-alone"),
    pytest.param(("deploy/a", "b"), "name every workload as TYPE/NAME", id="mixed"),
    pytest.param(("deploy/a", "-l", "x=y"), "go with a TYPE, not with names", id="selector"),
    pytest.param(("deploy/a", "--dry-run=maybe"), "none, client, server", id="dry-run"),
    pytest.param(("-f", "no-such-file"), "(unreadable-file)", id="missing-file"),
    pytest.param(("-f", "x", "--api-version", "v9"), "--api-version", id="api-version"),
]


# A failure of a command with --diff is no difference: its exit code is larger than 1.
WRONG_DIFF = [
    pytest.param(("-f", "x", "-i"), "--diff and --in-place exclude each other", id="in-place"),
    pytest.param(
        ("-f", "x", "-i", "-o", "name", "--json"),
        "--json, --output, --diff and --in-place exclude each other",
        id="everything",
    ),
    pytest.param(("deploy/a", "--dry-run"), "--diff and --dry-run exclude", id="dry-run"),
    pytest.param(("-f", "no-such-file"), "(unreadable-file)", id="refusal"),
    pytest.param(("--no-such-flag",), "no such option", id="unknown-flag"),
    pytest.param((), "name workloads as TYPE/NAME", id="nothing"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG_DIFF)
def test_failure_with_diff(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run("patch", "--diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_command_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run("patch", *arguments)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
