"""How far is the model from what was measured on a Phoenix NPU? Measured against modelled, case by case."""

from __future__ import annotations

import numpy as np
import pytest

from memtile.arch.register_map import register_named
from memtile.arch.tiles import TileName
from memtile.arch.timing import Timing
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Iteration
from memtile.bd.windows import OWN, DmaAddress, DmaLock
from memtile.model.state.causes import Cause
from memtile.testing.rig import Rig

START = {"memory": OWN.address(0), "compute": DmaAddress(0)}
TAKE = {
    "memory": Acquire(OWN.lock(0), -1, True),
    "compute": Acquire(DmaLock(0), -1, True),
}


def spans(name: TileName, stride: int, transfers: int, timing: Timing | None = None) -> list[int]:
    """SL->FB: falling edge of STALLED_LOCK to rising edge of FINISHED_BD, of 256 words, per transfer."""
    rig = Rig(name, timing=timing)
    m = rig.mm2s()
    dims = () if stride == 1 else (Dim(stride, 0),)
    rig.write_bd(0, Descriptor(name, 256, START[name], dims=dims, next=0, acquire=TAKE[name]))
    rig.catch(m)
    rig.issue(m, 0)
    found = []
    for _ in range(transfers):
        rig.step(300)
        rig.set_lock(0, 1)
        falling = rig.now
        assert rig.timeline(m, falling - 1) == "L"
        rig.step(300)
        assert not rig.timeline(m, falling).startswith("L")
        found.append(rig.finished_bd(m) - falling)
    return found


@pytest.mark.parametrize(
    ("stride_bytes", "measured"), [(4, 251), (16, 258), (64, 258), (256, 258)], ids=lambda value: str(value)
)
def test_gt3_span_of_a_memory_tile_transfer(stride_bytes: int, measured: int) -> None:
    assert spans("memory", stride_bytes // 4, 3) == [measured] * 3


def test_gt1_span_of_a_compute_tile_transfer() -> None:
    assert spans("compute", 1, 3) == [244] * 3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "measured", "depth"), [("memory", 251, 8), ("compute", 244, 15)])
def test_only_one_egress_depth_gives_the_measured_span(name: TileName, measured: int, depth: int) -> None:
    """DEV-EGRESS-1: the depth is inferred from the span, so no other depth may give it."""
    constant = f"{name}_egress_words"
    found = [d for d in range(4, 33) if spans(name, 1, 1, Timing(**{constant: d})) == [measured]]
    assert found == [depth]


@pytest.mark.parametrize("name", ["memory", "compute"])
@pytest.mark.parametrize("window", [40, 118, 119])
def test_gt6_back_pressure_of_a_lock_blocked_s2mm(name: TileName, window: int) -> None:
    """Measured on the compute tile: [lock_stall_start + 15, lock_stall_end + 1), 39 of 39 windows."""
    rig = Rig(name)
    s = rig.s2mm()
    rig.write_bd(0, Descriptor(name, 64, START[name], next=0, acquire=TAKE[name]))
    rig.set_lock(0, 1)
    rig.issue(s, 0)
    rig.step(10)
    assert rig.timeline(s).endswith("s")  # the ingress buffer is empty when the words come
    rig.feed(s, 1000)
    rig.step_until(lambda: rig.timeline(s).endswith("#L"))
    start = rig.now - 1
    rig.step(window - 1)
    rig.set_lock(0, 1)
    end = rig.now
    rig.step(30)
    assert rig.timeline(s, start, end) == "L" * window
    refused = [cycle for cycle in range(start - 5, rig.now) if cycle not in rig.entered(s)]
    assert refused[: window + 1 - 15] == list(range(start + 15, end + 1))
    assert end + 1 in rig.entered(s)


def test_gt6_no_back_pressure_when_the_stream_had_dried_up() -> None:
    rig = Rig("compute")
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("compute", 8, START["compute"], next=0, acquire=TAKE["compute"]))
    rig.set_lock(0, 1)
    rig.feed(s, 8)
    rig.issue(s, 0)
    rig.step(60)
    rig.feed(s, 15)
    rig.step(60)
    assert rig.entered(s) == [*range(8), *range(60, 75)]


def test_gt15_pushing_bd_24_on_an_even_channel_is_an_error_of_the_channel() -> None:
    """Measured: exactly one DMA_S2MM_ERROR, none in the control run. The bit is our choice (DEV-BD-1)."""
    rig = Rig()
    wrong, control = rig.s2mm(2), rig.s2mm(3)
    rig.write_bd(24, Descriptor("memory", 4, START["memory"]))
    for ch in (wrong, control):
        rig.feed(ch, 4)
        rig.issue(ch, 24)
    rig.step(20)
    assert rig.status(wrong, "Error_BD_Unavailable") == 1
    assert rig.status(control, "Error_BD_Unavailable") == 0
    assert rig.spent(wrong).get(Cause.MOVING, 0) == 0
    assert rig.spent(control)[Cause.MOVING] == 4


def test_gt19_one_iteration_per_execution() -> None:
    """Measured on an interface tile: two iterations, inner 32 of 64, exactly 32 elements written."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("memory", 32, START["memory"], iteration=Iteration(16, 2)))
    rig.feed(s, 64)
    rig.issue(s, 0)
    rig.step(100)
    assert rig.memory(0, 64).tolist() == [*range(1, 33), *[0] * 32]


@pytest.mark.parametrize("name", ["memory", "compute"])
@pytest.mark.parametrize("direction", ["s2mm", "mm2s"])
def test_chained_bds_cost_exactly_one_dead_stream_cycle(name: TileName, direction: str) -> None:
    """Measured: receive and send side, period words + 1 while locks are free."""
    rig = Rig(name)
    ch = rig.s2mm() if direction == "s2mm" else rig.mm2s()
    rig.feed(rig.s2mm(), 100)
    rig.catch(rig.mm2s())
    rig.write_bd(0, Descriptor(name, 16, START[name], next=0))
    rig.issue(ch, 0)
    rig.step(60)
    steady = rig.timeline(ch).lstrip("t-")
    assert steady.startswith(("#" * 16 + "-") * 3)


def test_without_gaps_the_buffer_stays_full_after_a_stall() -> None:
    """DEV-INGRESS-1: it drains as fast as it fills, so the next stall pushes back at once."""
    rig = Rig()
    s = rig.s2mm()
    rig.write_bd(0, Descriptor("memory", 64, START["memory"], next=0, acquire=TAKE["memory"]))
    rig.feed(s, 1000)
    rig.issue(s, 0)
    rig.step(40)
    rig.set_lock(0, 1)
    rig.step_until(lambda: rig.timeline(s).endswith("#L"))
    start = rig.now - 1
    rig.step(10)
    assert rig.entered(s)[-1] == start - 1
    assert rig.held(s)[start:] == [16] * 11


@pytest.mark.parametrize("words", [16, 256])
@pytest.mark.parametrize("direction", ["S2MM", "MM2S"])
def test_gt_16_eight_tokens_that_nobody_waits_for(direction: str, words: int) -> None:
    """Eight token-issuing tasks of the interface tile: all finish, none stalls on its token, none is lost."""
    rig = Rig("interface")
    buffer = rig.engine.external.add("buffer", np.zeros(words, np.uint32))
    ch = rig.s2mm() if direction == "S2MM" else rig.mm2s()
    if direction == "S2MM":
        rig.feed(ch, 8 * words)
    else:
        rig.catch(ch)
    rig.write_bd(0, Descriptor("interface", words, buffer.at()))
    token = register_named("noc", "DMA_S2MM_0_Task_Queue").field("Enable_Token_Issue").mask
    for _ in range(8 // rig.kind.queue_depth):
        for _ in range(rig.kind.queue_depth):
            rig.issue(ch, token)
        rig.engine.run(rig.now + 100_000)
    assert rig.engine.state.channels.tasks_done[ch] == 8
    assert len(rig.engine.tokens(0)) == 8
    assert Cause.TOKEN_BLOCKED not in rig.spent(ch)
    assert rig.status(ch, "Task_Queue_Overflow") == 0
