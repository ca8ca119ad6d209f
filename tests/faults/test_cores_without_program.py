"""Does a run say first which cores were enabled and have no program?"""

from __future__ import annotations

from collections.abc import Iterator

from memtile import Array, Status
from memtile.kernels import Action, Core
from memtile.programs import MaskWrite, address_of, run_program

CONTROL = 0x32000
LINE = (
    "core (0, 2) was enabled; its program is not simulated: "
    "give it a kernel (--kernels FILE.py or run_kernel)"
)


def nothing(core: Core) -> Iterator[Action]:
    yield core.cycles(1)


def enabled(*rows: int) -> Array:
    array = Array("npu1", columns=1)
    for row in rows:
        array.door.mask_write32(array.door.address(0, row, CONTROL), 1, 1)
    return array


def test_a_core_that_was_enabled_is_told_before_anything_else() -> None:
    result = enabled(2).run()
    assert (result.status, result.unsimulated) == (Status.FINISHED, (LINE,))
    assert str(result).splitlines()[1].startswith(LINE)
    assert result.as_json()["unsimulated"] == [LINE]


def test_it_stands_before_who_waits() -> None:
    array = enabled(2)
    tile = array.compute_tile(0, 2)
    lock, buffer = tile.lock(0), tile.buffer("b", 8)
    tile.mm2s[0].start(tile.read(buffer).guarded(acquire=lock.acquire()))
    tile.mm2s[0].collect()
    result = array.run()
    text = " ".join(str(result).split())
    assert result.status is Status.STUCK
    assert text.index("was enabled") < text.index("waiting: ")


def test_each_core_has_a_line_and_one_with_a_kernel_has_none() -> None:
    array = enabled(2, 3, 5)
    array.compute_tile(0, 3).run_kernel(nothing)
    assert [line.partition(" was")[0] for line in array.run().unsimulated] == ["core (0, 2)", "core (0, 5)"]


def test_a_core_that_is_only_taken_out_of_reset_is_not_enabled() -> None:
    array = Array("npu1", columns=1)
    array.door.mask_write32(array.door.address(0, 2, CONTROL), 2, 0)
    assert array.run().unsimulated == ()


def test_a_program_from_a_file_tells_it_too() -> None:
    done = run_program([MaskWrite(address_of(0, 2, CONTROL), 1, 1)], Array())
    assert done.result.unsimulated == (LINE,)
