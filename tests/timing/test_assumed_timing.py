"""Is it settled for every timing constant of grade ``assumed`` which runs depended on it?"""

from __future__ import annotations

from dataclasses import fields

from memtile.arch.timing import Timing
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.explain.estimate import assumed, assumed_names, is_shown
from memtile.testing.rig import Rig


def test_signs_of_assumed_constants_are_in_the_state() -> None:
    state = Rig().engine.state
    for constant in fields(Timing):
        for sign in constant.metadata["shown_by"]:
            assert not is_shown(state, sign)


def test_a_run_that_did_nothing_depended_on_none() -> None:
    rig = Rig()
    rig.step(10)
    assert assumed(rig.engine, assumed_names(rig.engine)) == []


def test_a_run_names_what_it_depended_on_with_its_value() -> None:
    rig = Rig()
    rig.write_bd(0, Descriptor("memory", 8, OWN.address(0)))
    rig.issue(rig.s2mm(), 0)
    rig.feed(rig.s2mm(), 8)
    rig.step(30)
    assert assumed(rig.engine, assumed_names(rig.engine)) == ["task_start = 4"]
