"""The plugin as krew installs it, called through a real kubectl."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packaging import building
from tests.packaging.building import KrewRelease
from tests.packaging.conftest import MODEL
from tests.packaging.processes import SYSTEM_FOLDERS, Finished, Word, environment, run, succeed


@dataclass(frozen=True)
class Plugin:
    """The plugin in a krew root of its own, installed by krew where there is one."""

    root: Path
    env: dict[str, str]
    krew: Path | None

    @property
    def bin(self) -> Path:
        """The folder that krew asks its users to put on PATH."""
        return self.root / "bin"

    def install(self, release: KrewRelease) -> None:
        """By krew; else as krew would do it: unpacked, with one link on PATH."""
        if self.krew is None:
            building.unpack(release.archive, self.root)
            return
        files = [f"--manifest={release.manifest}", f"--archive={release.archive}"]
        succeed([self.krew, "install", *files], self.env)

    def uninstall(self) -> None:
        """By krew, which wants to see an index, even an empty one that leads nowhere."""
        assert self.krew is not None
        index = self.root / "index" / "default"
        succeed(["git", "init", "--quiet", index], self.env)
        succeed(["git", "-C", index, "remote", "add", "origin", self.root.as_uri()], self.env)
        succeed([self.krew, "uninstall", "llmfit"], self.env)
        shutil.rmtree(index)

    def left(self) -> set[str]:
        """Every file and link below the root."""
        return {
            path.relative_to(self.root).as_posix()
            for path in self.root.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }

    def kubectl(self, *arguments: str) -> str:
        """Standard output of a kubectl command that has to succeed."""
        return succeed(["kubectl", *arguments], self.env)

    def run_kubectl(self, *arguments: str) -> Finished:
        """A finished kubectl command."""
        return run(["kubectl", *arguments], self.env)


@pytest.fixture
def plugin(
    tmp_path: Path,
    home: Path,
    python_folder: Path,
    kubectl_folder: Path,
    krew_programs: Path | None,
    krew_release: KrewRelease,
) -> Plugin:
    root = tmp_path / "krew-root"
    folders: list[Word] = [root / "bin", python_folder, kubectl_folder, *SYSTEM_FOLDERS]
    env = environment(folders, home, KREW_ROOT=str(root), KREW_NO_UPGRADE_CHECK="1")
    installed = Plugin(root, env, krew_programs / "krew" if krew_programs else None)
    installed.install(krew_release)
    return installed


def test_one_link_is_on_path(plugin: Plugin) -> None:
    assert [path.name for path in plugin.bin.iterdir()] == ["kubectl-llmfit"]
    assert (plugin.bin / "kubectl-llmfit").is_symlink()


def test_kubectl_renders_through_it(plugin: Plugin, claim: str) -> None:
    assert plugin.kubectl("llmfit", "render", MODEL) == claim


def test_kubectl_lists_it(plugin: Plugin) -> None:
    assert str(plugin.bin / "kubectl-llmfit") in plugin.kubectl("plugin", "list")


def test_an_error_is_the_plugin_s(plugin: Plugin) -> None:
    finished = plugin.run_kubectl("llmfit", "render", "no/such-model-anywhere")
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr.startswith("error: no model matches")


def test_licence_is_installed(plugin: Plugin) -> None:
    launcher = (plugin.bin / "kubectl-llmfit").resolve()
    assert "Apache License" in (launcher.parent / "LICENSE").read_text()


def test_kubectl_completes_models_through_it(plugin: Plugin) -> None:
    plugin.kubectl("llmfit", "completion", "install")
    answer = plugin.kubectl("__complete", "llmfit", "render", "Qwen/Qwen2.5-7B-I").splitlines()
    assert MODEL in answer
    assert all(line.startswith("Qwen/Qwen2.5-7B-I") for line in answer[:-1])
    assert answer[-1] == ":4"


def test_kubectl_completes_commands_and_flags_through_it(plugin: Plugin) -> None:
    plugin.kubectl("llmfit", "completion", "install")
    commands = plugin.kubectl("__complete", "llmfit", "").splitlines()
    assert {"render", "models", "version"} <= {line.partition("\t")[0] for line in commands}
    flags = plugin.kubectl("__complete", "llmfit", "render", "--min").splitlines()
    assert [line.partition("\t")[0] for line in flags] == ["--min-tps", ":4"]


def test_completion_is_taken_away_again(plugin: Plugin) -> None:
    before = plugin.left()
    plugin.kubectl("llmfit", "completion", "install")
    assert (plugin.bin / "kubectl_complete-llmfit").is_file()
    plugin.kubectl("llmfit", "completion", "uninstall")
    assert {path for path in plugin.left() - before if "__pycache__" not in path} == set()


def test_uninstalling_leaves_nothing(plugin: Plugin, home: Path) -> None:
    if plugin.krew is None:
        pytest.skip("there is no `go` on PATH to build krew")
    plugin.kubectl("llmfit", "render", MODEL)
    plugin.kubectl("llmfit", "completion", "install")
    plugin.kubectl("llmfit", "completion", "uninstall")
    plugin.uninstall()
    assert plugin.left() == set()
    assert [path for path in home.rglob("*") if ".kube" not in path.parts] == []
