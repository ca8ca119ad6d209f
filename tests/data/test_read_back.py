"""Is a channel named that reads words of an output which are written over?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from memtile import Array, End, Host, HostAction, view
from memtile.explain.findings import Finding
from memtile.kernels import Action, Core, Kernel

BANDS, ROWS, WORDS = 3, 2, 8
IMAGE = np.random.default_rng(6).integers(1, 999, (BANDS * ROWS + 2, WORDS), dtype=np.int32)


def sums(src: End, dst: End, margin: int) -> Kernel:
    """Each row of a band, and the rows beside it where a band has some."""

    def kernel(core: Core) -> Iterator[Action]:
        for band in range(BANDS):
            yield core.acquire(src.full)
            yield core.acquire(dst.free)
            rows = core.read(src.buffer(band)).reshape(ROWS + 2 * margin, WORDS)
            whole = np.pad(rows, ((1 - margin, 1 - margin), (0, 0)))
            core.write(dst.buffer(band), whole[:-2] + whole[1:-1] + whole[2:])
            yield core.release(src.free)
            yield core.release(dst.full)

    return kernel


def bands(*, in_place: bool, margin: int = 1, add: int = 0) -> list[Finding]:
    """The findings of bands of an image, each with its margin, which are written in place or not."""
    array, result = Array("npu1", columns=1), IMAGE.copy()
    door, core = array.interface_tile(0), array.compute_tile(0, 2)
    outside = array.external("result", result)
    source = outside if in_place else array.external("image", IMAGE)
    src = array.object_fifo("src", door, core, shape=(ROWS + 2 * margin, WORDS), depth=1)
    dst = array.object_fifo("dst", core, door, shape=(ROWS, WORDS), depth=1)
    core.run_kernel(sums(src.consumers[0], dst.producer, margin))
    whole = view(IMAGE.shape)

    def sequence(host: Host) -> Iterator[HostAction]:
        for band in range(BANDS):
            first = band * ROWS + 1
            yield host.start(
                src.producer.channel, door.read(source, whole[first - margin : first + ROWS + margin])
            )
            back = host.start(dst.consumers[0].channel, door.write(outside, whole[first : first + ROWS]))
            yield back
            yield host.wait(back)

    array.host(sequence)
    expected = IMAGE.copy()
    expected[1:-1] = IMAGE[:-2] + IMAGE[1:-1] + IMAGE[2:]
    array.expect_array("result", result, expected + add)
    return [*array.run().findings]


def test_a_window_that_is_read_again_behind_its_writer_is_named() -> None:
    (finding,) = bands(in_place=True)
    assert "interface(0,0) MM2S 0 'src'" in finding.message
    assert "reads words of result that are written too" in finding.message
    assert finding.fix.startswith("Check what makes these words")
    assert "Or read from a copy, or write elsewhere, if words of before are meant" in finding.fix


def test_a_copy_or_a_window_that_is_what_is_written_is_not_named() -> None:
    assert bands(in_place=False) == []
    (wrong,) = bands(in_place=True, margin=0)
    assert "written too" not in wrong.message
    (wrong,) = bands(in_place=False, add=np.arange(WORDS)[None, :] ** 2 + 1)  # type: ignore[arg-type]
    assert "written too" not in wrong.message


def whole(wrong: npt.NDArray[np.int32], above: npt.NDArray[np.int32] | int = 0) -> list[Finding]:
    """The findings of an image that is read as a whole before its inner rows are written over, in order.

    Args:
        wrong: what the core adds.
        above: what is expected to be added to the first row, which is not written.
    """
    array, result = Array("npu1", columns=1), IMAGE.copy()
    door, core = array.interface_tile(0), array.compute_tile(0, 2)
    outside = array.external("result", result)
    src = array.object_fifo("src", door, core, shape=IMAGE.shape, depth=1)
    dst = array.object_fifo("dst", core, door, shape=(len(IMAGE) - 2, WORDS), depth=1)
    full, free = src.consumers[0], dst.producer

    def kernel(core: Core) -> Iterator[Action]:
        yield core.acquire(full.full)
        yield core.acquire(free.free)
        rows = core.read(full.buffer(0)).reshape(IMAGE.shape)
        core.write(free.buffer(0), rows[:-2] + rows[1:-1] + rows[2:] + wrong)
        yield core.release(full.free)
        yield core.release(free.full)

    core.run_kernel(kernel)

    def sequence(host: Host) -> Iterator[HostAction]:
        yield host.start(src.producer.channel, door.read(outside, view(IMAGE.shape)))
        back = host.start(dst.consumers[0].channel, door.write(outside, view(IMAGE.shape)[1:-1]))
        yield back
        yield host.wait(back)

    array.host(sequence)
    expected = IMAGE.copy()
    expected[1:-1] = IMAGE[:-2] + IMAGE[1:-1] + IMAGE[2:]
    expected[0] += above
    array.expect_array("result", result, expected)
    return [*array.run().findings]


SOME = np.arange(WORDS, dtype=np.int32)[None, :] ** 2


def test_words_in_place_whose_order_is_right_are_not_said_to_be_read_again() -> None:
    assert whole(0 * SOME) == []
    for (finding,) in (whole(SOME + 1), whole(0 * SOME, SOME[0] * SOME[0])):
        assert "written too" not in finding.message
        assert finding.fix.startswith("Check what makes these words")


def test_that_words_are_read_again_is_one_of_two_possibilities() -> None:
    (finding,) = whole(SOME * (np.arange(len(IMAGE) - 2, dtype=np.int32)[:, None] == 2))
    assert "it may read old words or new ones" in finding.message
    assert finding.fix.startswith("Check what makes these words")
