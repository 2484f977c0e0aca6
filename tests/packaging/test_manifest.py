"""The plugin manifest: krew's own validator, and what it does not check.

Source of the fields: krew's ``pkg/index/types.go``, whose parser drops unknown ones silently.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packaging.building import ROOT, KrewRelease
from tests.packaging.processes import Word, environment, run

PLUGIN_FIELDS = {"apiVersion", "kind", "metadata", "spec"}
SPEC_FIELDS = {"version", "shortDescription", "description", "caveats", "homepage", "platforms"}
PLATFORM_FIELDS = {"uri", "sha256", "selector", "files", "bin"}
# krew's semantic versions start with v.
SEMVER = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
# `kubectl krew search` cuts the description off at 50 characters.
SHORT = 50


@pytest.fixture(scope="module")
def manifest(krew_release: KrewRelease) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(krew_release.manifest.read_text("utf-8"))
    return loaded


def test_krew_s_validator_accepts_it(krew_release: KrewRelease, krew_programs: Path | None) -> None:
    if krew_programs is None:
        pytest.skip("there is no `go` on PATH to build krew's validator")
    validator = krew_programs / "validate-krew-manifest"
    command: list[Word] = [validator, "-skip-install", "-manifest", krew_release.manifest]
    finished = run(command, environment([], None))
    assert finished.returncode == 0, finished.stderr
    assert "structural validation OK" in finished.stderr


def test_is_a_plugin_of_v1alpha2(manifest: dict[str, Any], krew_release: KrewRelease) -> None:
    assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert manifest["kind"] == "Plugin"
    assert manifest["metadata"] == {"name": krew_release.manifest.stem}


def test_has_no_field_that_krew_drops(manifest: dict[str, Any]) -> None:
    assert manifest.keys() == PLUGIN_FIELDS
    assert manifest["spec"].keys() == SPEC_FIELDS
    assert all(platform.keys() <= PLATFORM_FIELDS for platform in manifest["spec"]["platforms"])


def test_short_description_is_one_short_line(manifest: dict[str, Any]) -> None:
    short = manifest["spec"]["shortDescription"]
    assert len(short) <= SHORT
    assert short.isprintable()
    assert not short.endswith(".")
    assert "kubectl" not in short.lower()


def test_texts_fit_a_terminal(manifest: dict[str, Any]) -> None:
    lines = [
        *manifest["spec"]["description"].splitlines(),
        *manifest["spec"]["caveats"].splitlines(),
    ]
    assert max(map(len, lines)) <= 76


def test_caveats_say_how_to_complete(manifest: dict[str, Any]) -> None:
    caveats = manifest["spec"]["caveats"]
    assert "kubectl llmfit completion install" in caveats
    assert "kubectl llmfit completion uninstall" in caveats


def test_version_is_the_source_s(manifest: dict[str, Any]) -> None:
    version = manifest["spec"]["version"]
    assert SEMVER.fullmatch(version)
    source = (ROOT / "kubectl_llmfit" / "version.py").read_text("utf-8")
    assert f'"{version.removeprefix("v")}"' in source


def test_checksum_and_address_are_the_archive_s(
    manifest: dict[str, Any], krew_release: KrewRelease
) -> None:
    (platform,) = manifest["spec"]["platforms"]
    assert platform["sha256"] == hashlib.sha256(krew_release.archive.read_bytes()).hexdigest()
    address = f"/releases/download/{manifest['spec']['version']}/{krew_release.archive.name}"
    assert platform["uri"].startswith("https://")
    assert platform["uri"].endswith(address)


def test_one_archive_serves_linux_and_macos(manifest: dict[str, Any]) -> None:
    (platform,) = manifest["spec"]["platforms"]
    (expression,) = platform["selector"]["matchExpressions"]
    assert expression == {"key": "os", "operator": "In", "values": ["linux", "darwin"]}
    assert platform["bin"] == "kubectl-llmfit"
