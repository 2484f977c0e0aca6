"""Owners on a cluster that asks for more rights before it lets one be added."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.controlplane.cluster import Cluster
from tests.controlplane.sandbox import Sandbox
from tests.e2e.webhook.parts import connected, documented_rules, watching, webhook_account
from tests.e2e.webhook.templates import controller, owner_uids, replica_set, template
from webhook.kube.client import ApiError
from webhook.templates.keeper import TemplateKeeper

pytestmark = pytest.mark.anyio

PLUGINS = "--enable-admission-plugins=PodNodeSelector,OwnerReferencesPermissionEnforcement"


@pytest.fixture(scope="module")
def strict_cluster(cluster: Cluster) -> Iterator[Cluster]:
    """A second cluster; ``cluster`` is asked for so that tests are skipped where there is none."""
    flags = {"kube-apiserver": [PLUGINS]}
    with Cluster.start(cluster.version, flags) as started:
        yield started


@pytest.fixture
def strict(strict_cluster: Cluster) -> Iterator[Sandbox]:
    made = Sandbox(strict_cluster, "owner-rights")
    yield made
    made.close()


async def test_the_documented_rights_are_enough(strict: Sandbox) -> None:
    first, second = (controller(replica_set(strict, name)) for name in ("first", "second"))
    with webhook_account(strict) as kubeconfig:
        async with connected(kubeconfig) as client, watching(client) as state:
            keeper = TemplateKeeper(client, state.templates)
            for owner in (first, second):
                await keeper.ensure(template(strict.namespace), owner)
    assert set(owner_uids(strict)) == {first["uid"], second["uid"]}


async def test_without_delete_no_owner_can_be_added(strict: Sandbox) -> None:
    rules = documented_rules()
    for rule in rules:
        rule["verbs"] = [verb for verb in rule["verbs"] if verb != "delete"]
    first, second = (controller(replica_set(strict, name)) for name in ("first", "second"))
    with webhook_account(strict, rules) as kubeconfig:
        async with connected(kubeconfig) as client, watching(client) as state:
            keeper = TemplateKeeper(client, state.templates, seconds=3)
            await keeper.ensure(template(strict.namespace), first)
            with pytest.raises(ApiError, match="an ownerRef on a resource you can't") as caught:
                await keeper.ensure(template(strict.namespace), second)
    assert caught.value.lacks_right
