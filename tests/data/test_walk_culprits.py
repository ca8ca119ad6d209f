"""Is the channel named that walks its memory otherwise than was meant, and the walk that it needs?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from memtile import Array, Buffer, End, Lock, MemoryTile, pad, view
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.explain.walk_changes import Part, change_of
from memtile.kernels import Action, Core, Kernel

DATA = np.random.default_rng(1).permutation(999)[:96].astype(np.int32) + 1


def relay(*, first: int = 0, kept: int = 0, there: int = 0) -> Array:
    """64 of 96 words go through a memory tile and back, each channel from its own word on."""
    array, back = Array("npu1", columns=1), np.zeros(96, np.int32)
    door, tile = array.interface_tile(0), array.memory_tile(0)
    block, full = tile.buffer("block", 96), tile.lock(0, "full")
    door.mm2s[0].start(door.read(array.external("data", DATA), view(96)[first:][:64]))
    tile.s2mm[0].start(tile.write(block, view(96)[:64]).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(block, view(96)[kept : kept + 64]).guarded(full.acquire()))
    door.s2mm[0].start(door.write(array.external("back", back), view(96)[there:][:64]))
    array.connect(door.mm2s[0], tile.s2mm[0])
    array.connect(tile.mm2s[0], door.s2mm[0])
    array.expect_array("back", back, np.pad(DATA[:64], (0, 32)))
    return array


def of_tile(expected: np.ndarray, repeat: int = 1, **walk: object) -> MemoryTile:
    """A channel that sends 96 words of a memory tile by a walk, some others of which were meant."""
    tile = MemoryTile()
    at = tile.buffer("block", 96, data=DATA).dma_address
    tile.mm2s[0].start(Descriptor("memory", len(expected) // repeat, at, **walk), repeat=repeat)
    tile.mm2s[0].expect(expected)
    return tile


def test_zeros_are_exchanged_where_a_descriptor_has_them_and_the_next_one_has_none() -> None:
    bds = {
        0: Descriptor("memory", 4, 0, dims=(Dim(1, 3),), pad=(Pad(1, 0),)),
        1: Descriptor("memory", 4, 16),
    }
    memory = np.arange(1, 33)
    words = np.array([1, 2, 3, 0]), memory[16:20]
    change = change_of(bds, [Part(n, memory, 0, words[n], 0) for n in bds], writes=False)
    assert change is not None
    assert change.fix == "Exchange the padding: 0 before and 1 behind."
    assert [bd.pad for bd in change.new] == [(Pad(0, 1),), ()]


def padded(before: int, after: int, meant: int | None = None) -> MemoryTile:
    """Rows with zeros around them, of which the other number was meant before each, or ``meant``."""
    tile = MemoryTile()
    block = tile.buffer("block", (8, 12), data=DATA.reshape(8, 12))
    tile.mm2s[0].start(tile.read(block, pad(view((8, 12)), ((0, 0), (before, after)))))
    first = after if meant is None else meant
    tile.mm2s[0].expect(np.pad(DATA.reshape(8, 12), ((0, 0), (first, before + after - first))))
    return tile


def through_a_core(stride: int, made: Callable[[np.ndarray], np.ndarray] = lambda x: 2 * x + 3) -> Array:
    """Eight rows of eight words go through a core that makes other ones of them, each of its own."""
    array, back = Array("npu1", columns=1), np.zeros(64, np.int32)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=16).consumers[0]
    go = array.object_fifo("go", tile, door, shape=16).producer

    def kernel(core: Core) -> Iterator[Action]:
        for turn in range(4):
            yield core.acquire(come.full)
            yield core.acquire(go.free)
            core.write(go.buffer(turn), made(core.read(come.buffer(turn))))
            yield core.release(come.free)
            yield core.release(go.full)

    tile.run_kernel(kernel)
    rows = view(96)[: 8 * stride].reshape(8, stride)[:, :8]
    door.mm2s[0].start(door.read(array.external("data", DATA), rows))
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, made(DATA.reshape(8, 12)[:, :8].ravel()))
    return array


def blocks(*, put_back: bool) -> Array:
    """A matrix goes through a core in blocks, which the host puts back into their places, or in a row."""
    array, back = Array("npu1", columns=1), np.zeros(64, np.int32)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, tile, shape=16).consumers[0]
    go = array.object_fifo("go", tile, door, shape=16).producer

    def kernel(core: Core) -> Iterator[Action]:
        for turn in range(4):
            yield core.acquire(come.full)
            yield core.acquire(go.free)
            core.write(go.buffer(turn), 2 * core.read(come.buffer(turn)) + 3)
            yield core.release(come.free)
            yield core.release(go.full)

    tile.run_kernel(kernel)
    walk = view(64).reshape(8, 2, 4).transpose(1, 0, 2)
    door.mm2s[0].start(door.read(array.external("data", DATA[:64]), walk))
    door.s2mm[0].start(door.write(array.external("back", back), walk if put_back else view(64)))
    array.expect_array("back", back, 2 * DATA[:64] + 3)
    return array


def joined(first: int) -> Array:
    """Two cores' parts are joined, the first one of them at a word of its own."""
    array, back = Array("npu1", columns=1), np.zeros(32, np.int32)
    tile, door = array.memory_tile(0), array.interface_tile(0)
    rows, full = tile.buffer("rows", 32), tile.lock(0, "full")
    for number, at in enumerate((first, 16 - first)):
        core = array.compute_tile(0, 2 + number)
        array.connect(core.mm2s[0], tile.s2mm[number])
        core.mm2s[0].start(core.read(core.buffer("part", 16, data=DATA[16 * number :][:16])))
        tile.s2mm[number].start(tile.write(rows, view(32)[at : at + 16]).guarded(None, full.release()))
    tile.mm2s[0].start(tile.read(rows).guarded(full.acquire(2)))
    array.connect(tile.mm2s[0], door.s2mm[0])
    door.s2mm[0].start(door.write(array.external("back", back)))
    array.expect_array("back", back, DATA[:32])
    return array


def halves(first: int) -> Array:
    """Two cores double a half of each frame, the first one this one."""
    array, back = Array("npu1", columns=1), np.zeros(96, np.int32)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    cores, rows = [array.compute_tile(0, 2), array.compute_tile(0, 3)], view((2, 16))
    whole = array.object_fifo("whole", door, shared, shape=(2, 16))
    out = array.object_fifo("out", shared, door, shape=(2, 16))
    came = whole.split("half", cores, parts=[rows[first], rows[1 - first]])
    for core, come, go in zip(cores, came, out.gather("back", cores), strict=True):
        core.run_kernel(doubles(come.consumers[0], go.producer))
    whole.producer.channel.start(door.read(array.external("data", DATA)))
    out.consumers[0].channel.start(door.write(array.external("back", back)))
    array.expect_array("back", back, 2 * DATA)
    return array


def columns(*, put_together: bool) -> Array:
    """Two cores double the left and the right half of each frame; each is put back, or as rows."""
    array, back = Array("npu1", columns=1), np.zeros(96, np.int32)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    cores, rows = [array.compute_tile(0, 2), array.compute_tile(0, 3)], view((2, 16))
    halves = [rows[:, :8], rows[:, 8:]]
    whole = array.object_fifo("whole", door, shared, shape=(2, 16))
    out = array.object_fifo("out", shared, door, shape=(2, 16))
    came = whole.split("half", cores, parts=halves)
    gone = out.gather("back", cores, parts=halves if put_together else [rows[:1], rows[1:]])
    for core, come, go in zip(cores, came, gone, strict=True):
        core.run_kernel(doubles(come.consumers[0], go.producer))
    whole.producer.channel.start(door.read(array.external("data", DATA)))
    out.consumers[0].channel.start(door.write(array.external("back", back)))
    array.expect_array("back", back, 2 * DATA)
    return array


def tiled(*, put_back: bool) -> Array:
    """Frames of 4 x 8 go to a core in two tiles of 4 x 4, and come back as tiles or as rows."""
    array, back, rows = Array("npu1", columns=1), np.zeros(96, np.int32), view((4, 8))
    door, shared, core = array.interface_tile(0), array.memory_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", door, shared, shape=(4, 8))
    tiles = come.forward("tiles", core, part=rows.reshape(4, 2, 4).transpose(1, 0, 2).reshape(8, 4))
    done = array.object_fifo("done", core, shared, shape=(8, 4))
    order = view((8, 4)).reshape(2, 4, 4).transpose(1, 0, 2).reshape(8, 4) if put_back else view((8, 4))
    go = done.forward("go", door, part=order)
    core.run_kernel(doubles(tiles.consumers[0], done.producer))
    come.producer.channel.start(door.read(array.external("data", DATA)))
    go.consumers[0].channel.start(door.write(array.external("back", back)))
    array.expect_array("back", back, 2 * DATA)
    return array


def linked(first: int) -> Array:
    """As ``halves``, but each half has a descriptor of its own, as in links of object FIFOs."""
    array, back = Array("npu1", columns=1), np.zeros(32, np.int32)
    door, shared = array.interface_tile(0), array.memory_tile(0)
    cores, kept = [array.compute_tile(0, 2), array.compute_tile(0, 3)], shared.buffer("kept", 32)
    out = array.object_fifo("out", shared, door, shape=(2, 16))
    full = [shared.lock(0, "full0"), shared.lock(0, "full1")]
    halves = [view(32)[:16], view(32)[16:]]
    shared.s2mm[4].start(*(shared.write(kept, halves[n]).guarded(None, full[n].release()) for n in range(2)))
    for n, (core, go) in enumerate(zip(cores, out.gather("back", cores), strict=True)):
        read = shared.read(kept, halves[n ^ first]).guarded(full[n ^ first].acquire())
        shared.mm2s[2 + n].start(read)
        array.connect(shared.mm2s[2 + n], core.s2mm[0])
        came, there = core.buffer("came", 16), core.lock(0, "there")
        core.s2mm[0].start(core.write(came).guarded(None, there.release()))

        def kernel(
            core: Core, came: Buffer = came, there: Lock = there, go: End = go.producer
        ) -> Iterator[Action]:
            yield core.acquire(there)
            yield core.acquire(go.free)
            core.write(go.buffer(0), 2 * core.read(came).reshape(1, 16))
            yield core.release(go.full)

        core.run_kernel(kernel)
    door.mm2s[0].start(door.read(array.external("data", DATA), view(96)[:32]))
    array.connect(door.mm2s[0], shared.s2mm[4])
    out.consumers[0].channel.start(door.write(array.external("back", back)))
    array.expect_array("back", back, 2 * DATA[:32])
    return array


def doubles(come: End, go: End) -> Kernel:
    def kernel(core: Core) -> Iterator[Action]:
        for turn in range(3):
            yield core.acquire(come.full)
            yield core.acquire(go.free)
            core.write(go.buffer(turn), 2 * core.read(come.buffer(turn)).reshape(go.buffer(turn).shape))
            yield core.release(come.free)
            yield core.release(go.full)

    return kernel


@pytest.mark.parametrize(
    ("make", "who", "fix"),
    [
        (lambda: relay(first=20), "interface(0,0) MM2S 0 ", "20 words smaller: it should begin at word 0."),
        (lambda: relay(kept=5), "memory(0,1) MM2S 0 ", "Give it an offset 5 words smaller in its buffer."),
        (lambda: relay(there=32), "interface(0,0) S2MM 0 ", "32 words smaller: it should begin at word 0."),
        (
            lambda: of_tile(DATA.reshape(8, 12).T.copy().ravel(), dims=((1, 12), (12, 0))),
            "MM2S 0 ",
            "Exchange its dimensions: sizes 12, 8 and strides 1, 12.",
        ),
        (
            lambda: of_tile(DATA.reshape(8, 12)[:, :4].copy().ravel(), dims=((1, 4), (8, 0))),
            "MM2S 0 ",
            "Give it the stride 12 instead of 8 (words).",
        ),
        (
            lambda: of_tile(DATA[:64], 4, iteration=(20, 4)),
            "MM2S 0 ",
            "Give its iteration the step 16 instead of 20 (words).",
        ),
        (
            lambda: of_tile(DATA, 3, dims=((1, 4), (12, 8)), iteration=(4, 3)),
            "MM2S 0 ",
            "Exchange its dimensions: sizes 8, 3, 4 and strides 12, 4, 1.",
        ),
        (
            lambda: of_tile(np.tile(DATA[:48], 2), 6, iteration=(16, 4)),
            "MM2S 0 ",
            "Give its iteration 3 steps instead of 4.",
        ),
        (lambda: padded(3, 1), "MM2S 0 ", "Exchange the padding: 1 before and 3 behind."),
        (lambda: padded(2, 0, 1), "MM2S 0 ", "Change the padding: 1 before and 1 behind."),
        (lambda: through_a_core(8), "interface(0,0) MM2S 0 'come'", "rows of 8 words with a stride of 12."),
        (
            lambda: of_tile(DATA.reshape(8, 12).T.copy().ravel(), dims=((8, 12), (1, 0))),
            "MM2S 0 ",
            "Give it sizes 12, 8 and strides 1, 12.",
        ),
        (
            lambda: of_tile(DATA.reshape(8, 12)[:4, :8].copy().ravel(), dims=((1, 4), (12, 8))),
            "MM2S 0 ",
            "Give it sizes 4, 8 and strides 12, 1.",
        ),
        (
            lambda: through_a_core(8, lambda x: np.maximum(x - 300, 0)),
            "interface(0,0) MM2S 0 'come'",
            "rows of 8 words with a stride of 12.",
        ),
        (
            lambda: of_tile(DATA.reshape(8, 12).T.copy().ravel()),
            "MM2S 0 ",
            "Give it sizes 12, 8 and strides 1, 12.",
        ),
        (
            lambda: columns(put_together=False),
            "memory(0,1) S2MM 1 ",
            "Give it sizes 2, 8 and strides 16, 1.",
        ),
        (
            lambda: tiled(put_back=False),
            "memory(0,1) MM2S 1 'go'",
            "Give it sizes 4, 2, 4 and strides 4, 16, 1.",
        ),
        (lambda: joined(16), "memory(0,1) S2MM 0 ", "Exchange their offsets, or the order of the join."),
        (lambda: halves(1), "memory(0,1) MM2S 1 ", "Exchange their offsets, or the order of the split."),
        (lambda: linked(1), "memory(0,1) MM2S 2 ", "Exchange their offsets, or the order of the split."),
    ],
)
def test_the_channel_is_named_with_the_walk_that_it_needs(
    make: Callable[[], Array | MemoryTile], who: str, fix: str
) -> None:
    (finding,) = make().run().findings
    assert finding.sides[0].who.startswith(who.strip())
    assert who in finding.message
    assert fix in finding.fix


@pytest.mark.parametrize(
    "make",
    [
        relay,
        lambda: through_a_core(12),
        lambda: joined(0),
        lambda: columns(put_together=True),
        lambda: tiled(put_back=True),
        lambda: blocks(put_back=True),
    ],
)
def test_designs_with_the_walks_that_are_meant_are_good(make: Callable[[], Array | MemoryTile]) -> None:
    assert make().run().good


def test_of_an_order_without_its_way_back_both_ends_are_named() -> None:
    (finding,) = blocks(put_back=False).run().findings
    assert "BD 1, writes 64 words in a row where it needs" in finding.message
    assert "BD 0, reads with" in finding.message
    assert "The two orders do not fit each other." in finding.message
    assert finding.fix.startswith("Change one of the two. interface(0,0) S2MM 0 'go': give it sizes 2, 8, 4")
    assert "; or interface(0,0) MM2S 0 'come': exchange its dimensions" in finding.fix


def test_an_output_that_is_right_hides_none_that_is_wrong() -> None:
    tile = padded(2, 1)
    (alone,) = tile.run().findings
    tile = padded(2, 1)
    tile.mm2s[1].start(tile.read(tile.buffer("right", 96, data=DATA)))
    tile.mm2s[1].expect(DATA)
    (finding,) = tile.run().findings
    assert (finding.code, finding.fix) == (alone.code, alone.fix)


def test_a_core_that_also_changes_the_order_is_passed_by_nobody() -> None:
    (finding,) = through_a_core(8, lambda x: x[::-1] ** 2 % 97).run().findings
    assert "stride" not in finding.fix


def test_words_that_no_single_walk_explains_blame_no_channel() -> None:
    """Two offsets are off, of which each alone leaves the words wrong."""
    (finding,) = relay(first=8, there=32).run().findings
    assert "smaller" not in finding.fix
