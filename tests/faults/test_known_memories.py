"""Does a check find what descriptors read that nothing writes, and the one that is at another buffer?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from memtile import Array, Host, HostAction, MemoryTile, check_design, view
from memtile.explain.findings import Finding, Severity


def split(
    *,
    stores: int = 16,
    reads: str = "given",
    makes: str = "other",
    data: bool = False,
    beside: bool = False,
    takes: int = 0,
    gives: tuple[int, int] = (1, 1),
) -> Callable[[], MemoryTile]:
    """What comes in one part goes out in two, what comes in two parts goes out in one.

    Args:
        stores: words of the first that are written.
        reads: buffer whose first half goes out by the first channel.
        makes: buffer whose first half comes by the second channel.
        data: the first has contents at the start.
        beside: another channel reads what the first one leaves out.
        takes: first word of the second that goes out.
        gives: how often each half of the second releases its lock.
    """

    def made() -> MemoryTile:
        tile = MemoryTile()
        given = tile.buffer("given", 16, data=np.zeros(16, np.int32) if data else None)
        buffers = {"given": given, "other": tile.buffer("other", 16)}
        locks = [
            (tile.lock(value, f"{name} free"), tile.lock(name=f"{name} full"))
            for name, value in (("a", 2), ("b", 2))
        ]
        (free, full), (room, done) = locks
        writes = tile.write(given, view(16)[:stores]).guarded(free.acquire(2), full.release(2))
        tile.s2mm[0].start(writes, loop=True)
        halves = (slice(0, 8), slice(8, 16))
        for n, half in enumerate(halves):
            name = reads if n == 0 else "given"
            sends = tile.read(buffers[name], view(16)[half]).guarded(full.acquire(), free.release())
            tile.mm2s[n].start(sends, loop=True)
            name = makes if n == 0 else "other"
            comes = tile.write(buffers[name], view(16)[half]).guarded(
                room.acquire(), done.release(gives[n]) if gives[n] else None
            )
            tile.s2mm[n + 1].start(comes, loop=True)
        sends = tile.read(buffers["other"], view(16)[takes:]).guarded(done.acquire(2), room.release(2))
        tile.mm2s[2].start(sends, loop=True)
        if beside:
            tile.mm2s[3].start(tile.read(given).guarded(full.acquire(), free.release()), loop=True)
        return tile

    return made


def found(design: Callable[[], MemoryTile]) -> list[Finding]:
    """All that a check says but that nobody feeds or takes the streams."""
    return [each for each in check_design(design).findings if each.code != "MT0109"]


def text(finding: Finding) -> str:
    return re.sub(r" \(line \d+\)", "", finding.message)


def test_all_that_is_read_is_written() -> None:
    assert not found(split())


def test_words_that_nothing_writes_are_named_with_the_one_that_writes_too_few() -> None:
    (said,) = found(split(stores=12))
    assert (said.code, said.severity) == ("MT0136", Severity.WARNING)
    assert text(said) == (
        "S2MM 0, BD 0, writes 12 of the 16 words of buffer 'given', and MM2S 1, BD 25, reads words 12 to 15 "
        "of buffer 'given', which nothing ever writes."
    )
    assert said.fix == "Let BD 0 of S2MM 0 write them too, or do not read them."
    assert not found(split(stores=12, data=True))


def test_a_descriptor_that_reads_another_buffer_than_its_lock_guards_is_named() -> None:
    (said,) = found(split(reads="other"))
    assert (said.code, said.severity) == ("MT0137", Severity.ERROR)
    assert text(said) == (
        "MM2S 0, BD 1, reads buffer 'other', but waits by lock 1 'a full' for S2MM 0, BD 0, which writes "
        "buffer 'given', and nothing reads words 0 to 7 of buffer 'given'."
    )
    assert said.fix == "Let BD 1 of MM2S 0 use buffer 'given', or use another lock."


def test_one_that_may_have_another_lock_on_purpose_is_not_named() -> None:
    for design in (split(reads="other", beside=True), split(reads="other", takes=8)):
        assert all(each.code != "MT0137" for each in found(design))


def test_a_descriptor_that_writes_another_buffer_than_its_lock_guards_is_named() -> None:
    (said,) = found(split(makes="given"))
    assert (said.code, said.severity) == ("MT0137", Severity.ERROR)
    assert "writes buffer 'given', but hands its words by lock 3 'b full' to MM2S 2" in said.message


def test_a_writer_that_releases_nothing_may_be_waited_for_by_the_host() -> None:
    """It ends before the other one, of another lock, is started, which releases for both."""

    def parts() -> Array:
        array = Array("npu1", columns=1)
        door, shared = array.interface_tile(0), array.memory_tile(0)
        box, full = shared.buffer("box", 32), shared.lock(0, "full")
        free = [shared.lock(1, name) for name in ("a", "b")]
        halves = view(32)[:16], view(32)[16:]
        given = [array.external(name, np.arange(16, dtype=np.int32)) for name in ("x", "y")]
        back = array.external("z", np.zeros(32, np.int32))
        for n in range(2):
            array.connect(door.mm2s[n], shared.s2mm[n])
        array.connect(shared.mm2s[0], door.s2mm[0])

        @array.host
        def sequence(host: Host) -> Iterator[HostAction]:
            for n in range(2):
                release = full.release(2) if n else None
                write = host.start(
                    shared.s2mm[n], shared.write(box, halves[n]).guarded(free[n].acquire(1), release)
                )
                yield write
                yield host.start(door.mm2s[n], door.read(given[n]))
                yield host.wait(write)
            yield host.start(shared.mm2s[0], shared.read(box).guarded(full.acquire(2), None))
            last = host.start(door.s2mm[0], door.write(back))
            yield last
            yield host.wait(last)

        return array

    assert not [each for each in check_design(parts).findings if each.code == "MT0105"]


def test_of_two_writers_the_one_that_releases_nothing_is_named_with_the_one_that_does_for_both() -> None:
    (said,) = found(split(gives=(2, 0)))
    assert (said.code, said.severity) == ("MT0105", Severity.ERROR)
    assert text(said).replace(" of tile (0, 1)", "") == (
        "S2MM 2, BD 2, writes words that MM2S 2, BD 3, reads, and releases no lock; S2MM 1, BD 24, releases "
        "lock 3 'b full' by 2, and the reader waits for no more."
    )
    assert said.fix.startswith("Let each of the writers release lock 3 'b full'")
