"""Are accesses of a client to external memory over the socket ordered as those of a host are?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array
from memtile.hosts.address_space import AddressSpace
from memtile.hosts.external_memory import MemoryRequest, ServedMemory
from memtile.runs.live_run import LiveHost, LiveRun
from memtile.runs.options import RunOptions
from memtile.runs.program import Program
from memtile.runs.session import Session
from support.designs.severe import severe

PLACE = 0x1_0000_0000
BASE = 0x200_0000_0000
BD_0, QUEUE_S2MM_0, STATUS_S2MM_0 = 0x1D000, 0x1D204, 0x1D220


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("writes", [True, False])
def test_a_client_that_does_not_wait_for_external_words_is_found(waits: bool, writes: bool) -> None:
    array = Array("npu1", 1)
    served = ServedMemory([MemoryRequest(PLACE, 1 << 12, None)], np.zeros(1 << 10, np.uint32))
    space = AddressSpace(array, 0, served)
    memory, interface = array.memory_tile(0), array.interface_tile(0)
    block = memory.buffer("block", 32, data=np.arange(32))
    array.connect(memory.mm2s[0], interface.s2mm[0])
    array.route()
    found = list[str]()

    def act(run: LiveRun) -> None:
        for n, word in enumerate([32, 0, PLACE >> 32, 0, 0, 0, 0, 1 << 25]):
            space.write32(BASE + BD_0 + 4 * n, word)
        space.write32(BASE + QUEUE_S2MM_0, 0)
        memory.mm2s[0].start(memory.read(block))
        array.engine.wait(1000)
        if waits:
            space.read32(BASE + STATUS_S2MM_0)
        if writes:
            space.write32(PLACE, 7)
        else:
            space.read32(PLACE)
        found.extend(finding.code for finding in run.result().findings)

    left = Session(array).run(Program(live=LiveHost(act, 1000)), RunOptions(check=True))
    assert found == ([] if waits else ["MT0202" if writes else "MT0201"])
    assert [finding.code for finding in left.result.findings] == found


def test_an_array_that_moves_is_interrupted_and_one_that_stands_is_stuck() -> None:
    array = Array("npu1", 1)
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    block, target = memory.buffer("block", 4096, data=np.arange(4096)), compute.buffer("target", 4097)
    array.connect(memory.mm2s[0], compute.s2mm[0])
    array.route()

    def act(run: LiveRun) -> None:
        memory.mm2s[0].start(memory.read(block))
        compute.s2mm[0].start(compute.write(target))
        assert (run.result().status, severe(run.result().findings)) == ("interrupted", ())
        array.engine.wait(4500)
        assert run.result().status == "stuck"

    left = Session(array).run(Program(live=LiveHost(act, 500)), RunOptions()).result
    assert (left.status, [finding.code for finding in severe(left.findings)]) == ("stuck", ["MT0324"])
