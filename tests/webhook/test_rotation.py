"""Rotation in a model world: whatever fails when, trust and what is served never disagree."""

from __future__ import annotations

import base64

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.webhook.certificate_world import (
    SETTLE_SECONDS,
    START,
    ModelReplica,
    World,
    agreed,
    certificates,
    material,
)
from webhook.certificates.material import RETIRED_MAX


def founded() -> tuple[World, list[ModelReplica]]:
    """A world in which all is well and two replicas serve the first chain."""
    world = World()
    replicas = [ModelReplica(world), ModelReplica(world)]
    replicas[0].leads = True
    for _ in range(2):
        for each in replicas:
            each.look()
    # The time before is of no interest: nothing was served, and nothing trusted.
    world.bundles = [(world.now, world.bundles[-1][1])]
    return world, replicas


def due_for_a_new_ca() -> tuple[World, list[ModelReplica]]:
    """The same after two thirds of the CA's life, 600 s; serving certificates came and went."""
    world, replicas = founded()
    for second in range(20, 400, 20):
        world.now = float(second)
        for each in replicas:
            each.look()
            assert agreed(world, each)
    world.now = 401
    return world, replicas


def test_the_first_start_waits_for_nothing() -> None:
    world, replicas = founded()
    assert world.now == 0
    assert all(each.served is not None for each in replicas)
    assert certificates(world.bundles[-1][1]) == material(world).trusted


def test_a_new_ca_is_trusted_first_then_served_and_the_old_one_goes_last() -> None:
    world, (leader, follower) = due_for_a_new_ca()
    first = material(world).authority.certificate
    last = material(world).serving.certificate
    leader.look()
    new, old = certificates(world.bundles[-1][1])
    assert old == first
    world.now += SETTLE_SECONDS - 0.1
    leader.look()
    assert material(world).authority.certificate == first
    world.now += 0.1
    leader.look()
    assert material(world).authority.certificate == new
    follower.look()
    assert follower.served == material(world).serving.certificate != last

    until = (last.not_valid_after_utc - START).total_seconds()
    while world.now < until:
        leader.look()
        assert first in certificates(world.bundles[-1][1])
        world.now += 1
    world.now = until + 2
    leader.look()
    leader.look()
    assert certificates(world.bundles[-1][1]) == (new,)


def test_a_leader_that_ends_before_the_new_ca_is_served_leaves_nothing() -> None:
    world, (leader, other) = due_for_a_new_ca()
    leader.look()
    assert len(certificates(world.bundles[-1][1])) == 2
    leader.leads, other.leads = False, True
    other.look()
    new, _ = certificates(world.bundles[-1][1])
    assert material(world).authority.certificate != new
    world.now += SETTLE_SECONDS
    other.look()
    assert material(world).authority.certificate == new


def test_trust_that_is_taken_back_while_it_settles_starts_anew() -> None:
    world, (leader, _) = due_for_a_new_ca()
    before = world.bundles[-1]
    leader.look()
    world.now += 3
    world.bundles.append((world.now, before[1]))  # as by `kubectl replace`
    leader.look()
    world.now += 3
    leader.look()
    assert len(certificates(world.bundles[-1][1])) == 2
    first = certificates(before[1])
    assert material(world).trusted == first
    world.now += 2
    leader.look()
    assert material(world).trusted != first


def test_deleting_the_secret_again_and_again_keeps_the_bundle_bounded() -> None:
    world, (leader, _) = founded()
    for _ in range(RETIRED_MAX + 5):
        world.secret = None
        for _ in range(3):
            leader.look()
            world.now += SETTLE_SECONDS
    assert len(material(world).trusted) <= RETIRED_MAX + 1


def test_two_that_both_think_they_lead_end_with_one_ca() -> None:
    world = World()
    both = [ModelReplica(world), ModelReplica(world)]
    for each in both:
        each.leads = True
    for _ in range(4):
        for each in both:
            each.look()
        world.now += SETTLE_SECONDS
    assert both[0].served == both[1].served == material(world).serving.certificate
    assert certificates(world.bundles[-1][1]) == material(world).trusted


@pytest.mark.parametrize("calls", range(12))
def test_a_rotation_cut_off_after_any_call_is_finished_by_the_next_leader(calls: int) -> None:
    world, (leader, other) = due_for_a_new_ca()
    first = material(world).authority.certificate
    world.calls_left = calls
    for _ in range(3):
        leader.look()
        world.now += SETTLE_SECONDS
    world.calls_left = None
    leader.leads, other.leads = False, True
    for _ in range(4):
        assert agreed(world, other)
        other.look()
        world.now += SETTLE_SECONDS
    assert material(world).authority.certificate != first
    assert certificates(world.bundles[-1][1]) == material(world).trusted


class Anything(RuleBasedStateMachine):
    """Any order of events; after each second every replica's chain is one that is trusted.

    Trouble ends after 25 seconds: a certificate is renewed 60 seconds before its end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.world, self.replicas = founded()
        self.cut_off = -1
        self.trouble_seconds = 0

    @rule(seconds=st.integers(1, 40))
    def time_passes(self, seconds: int) -> None:
        self.cut_off = -1
        self._pass(seconds)

    @rule(which=st.integers(0, 1))
    def another_leads(self, which: int) -> None:
        for index, each in enumerate(self.replicas):
            each.leads = index == which
        self._pass(3)

    @rule(seconds=st.integers(1, 15))
    def nobody_leads(self, seconds: int) -> None:
        for each in self.replicas:
            each.leads = False
        self._pass(seconds)

    @rule(calls=st.integers(0, 8))
    def the_api_server_fails_after_some_calls(self, calls: int) -> None:
        self.world.calls_left = calls
        self._pass(3)
        self.world.calls_left = None

    @rule(which=st.integers(0, 1))
    def a_replica_starts_anew(self, which: int) -> None:
        self.replicas[which] = ModelReplica(self.world)
        self._pass(3)

    @rule(which=st.integers(0, 1))
    def a_replica_sees_nothing_new_for_a_while(self, which: int) -> None:
        self.cut_off = which
        self._pass(3)

    @rule()
    def the_secret_is_deleted(self) -> None:
        self.world.secret = None
        self._pass(3)

    @precondition(lambda self: self.world.secret is not None)
    @rule()
    def the_secret_is_broken(self) -> None:
        secret = self.world.secret
        assert secret is not None
        broken = {**secret["data"], "tls.crt": base64.b64encode(b"x").decode()}
        self.world.put({**secret, "data": broken})
        self._pass(3)

    def teardown(self) -> None:
        """With a leader and some time all is well again."""
        self.another_leads(0)
        self.time_passes(20)
        for each in self.replicas * 2:
            each.look()
        shared = material(self.world)
        assert {each.served for each in self.replicas} == {shared.serving.certificate}
        # It may be that another CA is on its way just now.
        more = set(certificates(self.world.bundles[-1][1])) - set(shared.trusted)
        assert len(more) <= 1
        assert len(shared.trusted) <= RETIRED_MAX + 1

    def _pass(self, seconds: int) -> None:
        for _ in range(seconds):
            self.world.now += 1
            leads = any(each.leads for each in self.replicas)
            fine = leads and self.cut_off < 0 and self.world.calls_left is None
            self.trouble_seconds = 0 if fine else self.trouble_seconds + 1
            if self.trouble_seconds > 25:
                self.cut_off, self.world.calls_left = -1, None
                self.replicas[0].leads = not self.replicas[1].leads
            for index, each in enumerate(self.replicas):
                if index != self.cut_off:
                    each.look()
                assert agreed(self.world, each), self.world.now


Anything.TestCase.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
test_whatever_happens_every_api_server_takes_what_is_served = Anything.TestCase
