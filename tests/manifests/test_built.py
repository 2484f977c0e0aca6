"""The manifests that the plugin ships are what kubectl builds of the repository's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_llmfit.installing.manifests import CONFIGURATION, OVERLAYS, objects
from kubectl_llmfit.version import __version__
from tests.controlplane.build import GoMissingError
from tests.manifests.building import BUILT, NAMES, kustomize, pinned_kubectl, source, together
from tests.unit.commandline import Run

PAIRS = [*itertools.combinations(OVERLAYS, 2), OVERLAYS, OVERLAYS[::-1]]


@pytest.fixture(scope="module")
def kubectl() -> Iterator[Path]:
    try:
        with pinned_kubectl() as found:
            yield found
    except GoMissingError as error:
        pytest.skip(str(error))


def by_name(items: Sequence[Any]) -> dict[tuple[str, str], Any]:
    found = {(each["kind"], each["metadata"]["name"]): each for each in items}
    assert len(found) == len(items)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_shipped_text_is_kubectl_s(name: str, kubectl: Path) -> None:
    shipped = (BUILT / f"{name}.yaml").read_text("utf-8")
    assert shipped == kustomize(kubectl, source(name)), "out of date: run ./dev manifests"


def test_nothing_else_is_shipped() -> None:
    assert sorted(path.name for path in BUILT.iterdir()) == sorted(f"{each}.yaml" for each in NAMES)
    assert sorted(path.name for path in source("x").parent.iterdir()) == sorted(OVERLAYS)


@pytest.mark.parametrize("overlays", PAIRS, ids="+".join)
def test_overlays_together_are_kustomize_s_components(
    overlays: tuple[str, ...], kubectl: Path
) -> None:
    built = list(yaml.safe_load_all(together(kubectl, overlays)))
    assert by_name(objects(overlays)) == by_name(built)


@pytest.mark.parametrize("overlay", [None, *OVERLAYS], ids=str)
def test_install_prints_what_kubectl_builds(overlay: str | None, kubectl: Path, run: Run) -> None:
    built = list(yaml.safe_load_all(kustomize(kubectl, source(overlay or "base"))))
    flags = ["--overlay", overlay] if overlay else []
    as_yaml = run("webhook", "install", "--dry-run=client", "-o", "yaml", *flags)
    assert by_name(list(yaml.safe_load_all(as_yaml.stdout()))) == by_name(built)
    as_json = run("webhook", "install", "--dry-run=client", "-o", "json", *flags)
    assert by_name(json.loads(as_json.stdout())["items"]) == by_name(built)


@pytest.mark.parametrize("overlays", [(), *((each,) for each in OVERLAYS), OVERLAYS], ids="+".join)
def test_order_of_making(overlays: tuple[str, ...]) -> None:
    """The namespace before what is in it; the configuration when all else is there."""
    kinds = [each["kind"] for each in objects(overlays)]
    assert kinds[0] == "Namespace"
    assert kinds[-1] == CONFIGURATION
    assert kinds.count(CONFIGURATION) == 1


def test_image_is_of_this_version() -> None:
    (deployment,) = (each for each in objects() if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"].rpartition(":")[2] == __version__


def test_image_and_replicas_of_the_user() -> None:
    made = objects(image="registry.example/webhook@sha256:0", replicas=5)
    (deployment,) = (each for each in made if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert (container["image"], deployment["spec"]["replicas"]) == (
        "registry.example/webhook@sha256:0",
        5,
    )
