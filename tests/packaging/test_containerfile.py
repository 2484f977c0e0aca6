"""The image of the webhook: its Containerfile read, and its build stage run without an engine.

No container engine is at hand, so the base image itself is not part of these tests.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kubectl_llmfit.installing.manifests import objects
from tests.packaging import containerfile
from tests.packaging.building import ROOT
from tests.packaging.containerfile import Containerfile, Stage
from tests.packaging.processes import BASE_PYTHON, environment, inherited, run, succeed

# Folders of the image by their place below the test's own folder.
PLACES = {"/src": "src", "/opt/llmfit": "opt/llmfit", "/tmp/pip": "pip"}


@pytest.fixture(scope="module")
def file() -> Containerfile:
    return containerfile.read(ROOT / "Containerfile")


@pytest.fixture(scope="module")
def build(file: Containerfile) -> Stage:
    return file.stages[0]


@pytest.fixture(scope="module")
def image(file: Containerfile) -> Stage:
    return file.stages[-1]


@pytest.fixture(scope="module")
def built(build: Stage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the build stage makes, by its own commands, in another place."""
    root = tmp_path_factory.mktemp("image")
    folder = root / "src"
    for each in build.instructions:
        match each.word:
            case "WORKDIR":
                folder = Path(moved(each.text, root))
                folder.mkdir(parents=True)
            case "COPY":
                *sources, target = each.words
                for source in sources:
                    copy(ROOT / source, target, root, folder)
            case "RUN":
                words = shlex.split(moved(each.text, root))
                program = str(BASE_PYTHON) if words[0] == "python" else words[0]
                succeed([program, *words[1:]], inherited(), folder)
            case other:
                raise AssertionError(f"{other} in the build stage")
    return root


def moved(text: str, root: Path) -> str:
    """``text`` with the image's folders below ``root``."""
    for place, under in PLACES.items():
        text = re.sub(rf"(?<![\w/.]){place}\b", str(root / under), text)
    return text


def copy(source: Path, target: str, root: Path, folder: Path) -> None:
    destination = folder / moved(target, root)
    if source.is_dir():
        shutil.copytree(source, destination, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, destination)


def test_stages(file: Containerfile) -> None:
    assert [each.base for each in file.stages] == ["${BASE}", "${BASE}"]
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+-slim", file.arguments["BASE"])


def test_what_is_installed_is_pinned(build: Stage) -> None:
    installs = [text for text in build.texts("RUN") if " install " in text]
    assert len(installs) == 3
    assert all("--constraint constraints.txt" in text for text in installs)
    assert "--build-constraint constraints.txt" in installs[-1]


def test_build_tools_stay_behind(image: Stage) -> None:
    (copied,) = image.all("COPY")
    assert copied == ["--from=build", "/opt/llmfit", "/opt/llmfit"]
    (command,) = image.texts("RUN")
    assert command.startswith("python -m pip uninstall --yes ")
    assert "ensurepip" in command


def test_user_is_the_one_of_the_manifests(image: Stage) -> None:
    """A number, so that a kubelet can tell that it is not root."""
    security = pod_spec()["securityContext"]
    assert image.texts("USER") == [f"{security['runAsUser']}:{security['runAsGroup']}"]
    assert security["runAsUser"] != 0


def test_ports_are_those_of_the_manifests(image: Stage) -> None:
    (container,) = pod_spec()["containers"]
    ports = [str(each["containerPort"]) for each in container["ports"]]
    assert image.all("EXPOSE") == [ports]
    assert not {"command", "workingDir"} & set(container)


def test_everything_copied_goes_into_the_build_s_context(build: Stage) -> None:
    """.containerignore leaves everything out but what is named."""
    ignored = (ROOT / ".containerignore").read_text("utf-8").split("\n")
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert {source for words in build.all("COPY") for source in words[:-1]} == let_in


def test_build_stage_gives_a_service_that_starts(image: Stage, built: Path) -> None:
    """By the image's own entry point, in its working folder, with nothing else in its reach."""
    (folder,), (entry,) = image.texts("WORKDIR"), image.all("ENTRYPOINT")
    command = [moved(word, built) for word in entry]
    finished = run([*command, "--help"], environment([], None), Path(moved(folder, built)))
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "--tls-port" in finished.stdout


def test_nothing_that_installs_is_left(built: Path) -> None:
    names = {path.name for path in (built / "opt/llmfit").rglob("*")}
    assert not {"pip", "setuptools", "wheel", "hatchling"} & names
    programs = {path.name for path in (built / "opt/llmfit/bin").iterdir()}
    assert not {name for name in programs if name.startswith("pip")}


def test_compiled_ahead_of_a_read_only_file_system(built: Path) -> None:
    """Every module has its byte code, so that a start compiles nothing."""
    app = built / "opt/llmfit/app/webhook"
    modules = sorted(path for path in app.rglob("*.py"))
    assert modules
    for module in modules:
        assert list((module.parent / "__pycache__").glob(f"{module.stem}.*.pyc")), module


def test_installed_versions_are_the_pinned_ones(built: Path) -> None:
    constraints = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    )
    program = (
        "from importlib.metadata import distributions\n"
        "for each in distributions(): print(each.name, each.version)"
    )
    python = built / "opt/llmfit/bin/python"
    listed = subprocess.run(
        [python, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    installed = dict(line.split() for line in listed.stdout.splitlines())
    pinned = {name.lower().replace("_", "-"): version for name, version in constraints.items()}
    others = {name for name in installed if name.lower().replace("_", "-") not in pinned}
    assert others == {"kubectl-llmfit"}
    for name, version in installed.items():
        assert name in others or pinned[name.lower().replace("_", "-")] == version


def pod_spec() -> Any:
    (deployment,) = (each for each in objects() if each["kind"] == "Deployment")
    return deployment["spec"]["template"]["spec"]
