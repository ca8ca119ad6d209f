"""Do kernels see and change exactly the bytes they name, in the order that locks give?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from memtile.arch.core import CORE
from memtile.arch.tiles import COMPUTE
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import DmaAddress, DmaLock
from memtile.design.buffers import Buffer
from memtile.errors import RegisterError
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.kernel_core import Core, calls
from memtile.sim.loop.clock import Stop
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.untimed import run_untimed
from memtile.sim.loop.upsets import Upset
from memtile.testing.rig import Rig
from support.designs.core_designs import CROSS, EAST, NORTH, OWN, SOUTH, WEST, Piece, lock_value, set_lock

WORDS = 16
IN_EMPTY, IN_FULL, OUT_EMPTY, OUT_FULL = range(4)


def ping_pong(rig: Rig, blocks: int) -> tuple[int, int]:
    """Two input and two output buffers of a compute tile, filled and drained by its DMA without end."""
    s, m = rig.s2mm(), rig.mm2s()
    for n in range(2):
        rig.write_bd(
            n,
            Descriptor(
                "compute",
                WORDS,
                DmaAddress(0x400 + n * WORDS),
                acquire=Acquire(DmaLock(IN_EMPTY), -1, True),
                release=Release(DmaLock(IN_FULL), 1),
                next=1 - n,
            ),
        )
        rig.write_bd(
            2 + n,
            Descriptor(
                "compute",
                WORDS,
                DmaAddress(0x1400 + n * WORDS),
                acquire=Acquire(DmaLock(OUT_FULL), -1, True),
                release=Release(DmaLock(OUT_EMPTY), 1),
                next=3 - n,
            ),
        )
    rig.set_lock(IN_EMPTY, 2)
    rig.set_lock(OUT_EMPTY, 2)
    rig.issue(s, 0)
    rig.issue(m, 2)
    rig.feed(s, blocks * WORDS)
    rig.catch(m)
    return s, m


def square(core: Core) -> Iterator[Action]:
    """Squares each block, in buffers that take turns."""
    n = 0
    while True:
        source = Buffer("in", COMPUTE, 0x1000 + n * 64, (WORDS,), np.dtype(np.int32))
        target = Buffer("out", COMPUTE, 0x5000 + n * 64, (WORDS,), np.dtype(np.int32))
        yield core.acquire(IN_FULL)
        yield core.acquire(OUT_EMPTY)
        data = core.read(source)
        yield core.access(core.walk(source), store=core.walk(target))
        core.write(target, data**2)
        yield core.release(IN_EMPTY)
        yield core.release(OUT_FULL)
        n = 1 - n


@pytest.mark.feature("F33")
@pytest.mark.parametrize("untimed", [False, True])
def test_a_kernel_between_two_channels_with_ping_pong(untimed: bool) -> None:
    blocks = 7
    rig = Rig("compute")
    _, m = ping_pong(rig, blocks)
    rig.engine.attach_kernel(0, square, endless=True)
    stop = run_untimed(rig.engine) if untimed else rig.engine.run(100_000)
    assert stop is Stop.QUIET
    assert rig.sent(m) == [n * n for n in range(1, blocks * WORDS + 1)]
    assert [rig.lock(n) for n in range(4)] == [1, 0, 2, 0]  # S2MM waits for words with a buffer in hand


@pytest.mark.feature("F33")
def test_the_dma_has_two_channels_each_way_three_dimensions_16_bds_and_16_locks() -> None:
    """All four channels, the last BDs and lock, a transposing three-dimensional walk."""
    rig = Rig("compute")
    block = np.arange(24).reshape(2, 3, 4)
    for ch, bd, first in ((rig.s2mm(0), 12, 0), (rig.s2mm(1), 13, 64)):
        rig.write_bd(bd, Descriptor("compute", 24, DmaAddress(first), release=Release(DmaLock(15), 1)))
        rig.feed(ch, block.ravel() + first)
        rig.issue(ch, bd)
    for ch, bd, first in ((rig.mm2s(0), 14, 0), (rig.mm2s(1), 15, 64)):
        dims = (Dim(4, 3), Dim(1, 4), Dim(12, 0))
        take = Acquire(DmaLock(15), -1, True)
        rig.write_bd(bd, Descriptor("compute", 24, DmaAddress(first), dims=dims, acquire=take))
        rig.catch(ch)
        rig.issue(ch, bd)
    rig.engine.run(200)
    assert rig.lock(15) == 0
    expected = block.transpose(0, 2, 1).ravel()
    assert rig.sent(rig.mm2s(0)) == expected.tolist()
    assert rig.sent(rig.mm2s(1)) == (expected + 64).tolist()


def test_a_plain_function_is_called_between_its_locks() -> None:
    engine = Engine([Placed("compute")])
    piece = Piece("x", 256, (4,))
    seen = []

    def double(core: Core) -> None:
        core.view(piece)[:] += 1
        seen.append(engine.now)

    set_lock(engine, 0, 0, 3)
    engine.attach_kernel(0, calls(double, acquire=[(0, -1)], release=[(1, 2)], cycles=10), endless=True)
    engine.run(1000)
    assert engine.door(0).block_read32(256, 4).tolist() == [3] * 4
    assert [lock_value(engine, 0, n) for n in (0, 1)] == [0, 6]
    period = 2 + 10 + 2
    assert seen == [12, 12 + period, 12 + 2 * period]
    assert "double" in engine.cores.running[0].core.name


def test_a_plain_function_called_a_number_of_times_ends() -> None:
    engine = Engine([Placed("compute")])
    engine.attach_kernel(0, calls(lambda core: core.read(Piece("x", 0)), cycles=5, times=4))
    assert engine.run(1000) is Stop.QUIET
    assert engine.state.core_spent[0, 0] == 20


@pytest.mark.feature("F28")
def test_a_core_reads_and_writes_its_own_south_west_and_north_memory_all_of_it() -> None:
    """256 KB: the first and the last word of each of four memories."""
    engine = Engine(CROSS)
    whole = Piece("all", 0, (0x4000,))

    def kernel(core: Core) -> Iterator[Action]:
        for tile in (OWN, SOUTH, WEST, NORTH):
            core.write(whole, np.full(0x4000, tile + 1), tile=tile)
        yield core.cycles(1)

    engine.attach_kernel(OWN, kernel)
    engine.run(10)
    ends = {t: [engine.door(t).read32(at) for at in (0, 0xFFFC)] for t in range(len(CROSS))}
    assert ends == {OWN: [1, 1], SOUTH: [2, 2], WEST: [3, 3], NORTH: [4, 4], EAST: [0, 0]}
    assert sum(window < 0x80000 for window in CORE.memory_windows.values()) * 0x10000 == 256 * 1024


@pytest.mark.feature("F32")
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "<i2", ">i2", "<f4", "<i8"])
def test_data_is_little_endian(dtype: str, flipped: bool) -> None:
    """Whatever byte order the buffer's type has on the host, bytes in memory ascend with significance.

    In a memory with a flipped cell elsewhere too, where reads look at each word.
    """
    engine = Engine([Placed("compute")])
    if flipped:
        engine.upsets.add([Upset(0, 0, 4096, (3,))])
    piece = Piece("x", 32, (8,), np.dtype(dtype))

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(1)
        core.write(piece, np.arange(1, 9).astype(dtype))
        assert core.read(piece).tolist() == list(range(1, 9))

    engine.attach_kernel(0, kernel)
    engine.run(10)
    little = np.arange(1, 9).astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    words = [int.from_bytes(little[at : at + 4], "little") for at in range(0, len(little), 4)]
    assert [engine.door(0).read32(32 + 4 * n) for n in range(len(words))] == words


def test_what_a_kernel_writes_between_two_actions_is_there_from_the_next_cycle_on() -> None:
    """DEV-CORE-3: at the boundary, not spread over the accesses."""
    engine = Engine([Placed("compute")])
    piece = Piece("x", 0, (1,))

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(4)
        core.write(piece, [7])
        yield core.access(store=core.walk(piece, 32))

    engine.attach_kernel(0, kernel)
    engine.run(4)
    before = engine.door(0).read32(0)
    engine.run(5)
    assert (before, engine.door(0).read32(0)) == (0, 7)


@pytest.mark.feature("F29")
def test_program_memory_is_16_kb_of_plain_storage_of_each_core() -> None:
    engine = Engine(
        [Placed("memory"), Placed("compute", column=0, row=2), Placed("compute", column=1, row=2)]
    )
    words = np.arange(0x1000, dtype=np.uint32) * 3 + 1
    engine.door(2).block_write32(0x20000, words)
    assert engine.door(2).block_read32(0x20000, 0x1000).tolist() == words.tolist()
    assert not engine.door(1).block_read32(0x20000, 0x1000).any()
    assert len(words) * 32 == 1024 * 128
    for offset in (0x1FFFC, 0x24010):  # between them one register of program memory (DEV-REG-5)
        with pytest.raises(RegisterError):
            engine.door(2).write32(offset, 1)
        with pytest.raises(RegisterError):
            engine.door(2).read32(offset)
