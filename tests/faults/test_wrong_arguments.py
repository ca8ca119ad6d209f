"""Does each method of arrays and tiles refuse an argument of a wrong type by name, with nothing claimed?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from memtile import Array, Buffer, MemoryTile
from memtile.errors import DesignError, MemtileError

WRONG: dict[str, Any] = {
    "text": "x",
    "number": 1.5,
    "NumPy number": np.float64(2.5),
    "list": [[1], ["a"]],
    "mapping": {1: 2},
    "array": np.arange(5),
    "bytes": b"ab",
    "class": int,
    "object": object(),
}


def full(array: Array, name: str) -> Buffer:
    """A buffer of the memory tile."""
    tile = array.memory_tile(0)
    return {each.name: each for each in tile.buffers}.get(name) or tile.buffer(name, 16)


Call = Callable[[Array, Any], object]
CALLS: dict[str, tuple[Call, frozenset[str]]] = {
    name: (call, frozenset(fine.split(", ")))
    for name, call, fine in (
        ("array.device", lambda _, v: Array(v), ""),
        ("array.columns", lambda _, v: Array("npu1", v), ""),
        ("array.timing", lambda _, v: Array("npu1", 1, v), ""),
        ("tile.column", lambda a, v: a.tile(v, 1), ""),
        ("compute_tile.row", lambda a, v: a.compute_tile(0, v), ""),
        ("memory_tile.interleaved", lambda a, v: a.memory_tile(0, interleaved=v), ""),
        ("external.name", lambda a, v: a.external(v, np.zeros(4, np.int32)), "text"),
        ("external.array", lambda a, v: a.external("e", v), "array"),
        ("external.address", lambda a, v: a.external("e", np.zeros(4, np.int32), v), ""),
        ("connect", lambda a, v: a.connect(v, a.compute_tile(0, 2).s2mm[0]), ""),
        ("circuit.row", lambda a, v: a.circuit(0, v, "DMA0", "DMA0"), ""),
        ("circuit.slave", lambda a, v: a.circuit(0, 1, v, "DMA0"), ""),
        ("circuit.masters", lambda a, v: a.circuit(0, 1, "DMA0", v), ""),
        ("fifo.name", lambda a, v: fifo(a, name=v), "text"),
        ("fifo.producer", lambda a, v: fifo(a, producer=v), ""),
        ("fifo.consumers", lambda a, v: fifo(a, consumers=v), ""),
        ("fifo.depth", lambda a, v: fifo(a, depth=v), ""),
        ("fifo.shape", lambda a, v: fifo(a, shape=v), ""),
        ("fifo.dtype", lambda a, v: fifo(a, dtype=v), "class, NumPy number"),
        ("fifo.repeat", lambda a, v: fifo(a, repeat=v), ""),
        ("fifo.bank", lambda a, v: fifo(a, bank=v), ""),
        ("fifo.at", lambda a, v: fifo(a, at=v), ""),
        ("bus.name", lambda a, v: a.packet_bus(v, route(a)), "text"),
        ("bus.routes", lambda a, v: a.packet_bus("p", v), ""),
        ("bus.keep_headers", lambda a, v: a.packet_bus("p", route(a), keep_headers=v), ""),
        ("bus.ids", lambda a, v: a.packet_bus("p", route(a), ids=v), ""),
        ("bus.order", lambda a, v: a.packet_bus("p", route(a), order=v), ""),
        ("poll.mask", lambda a, v: a.poll(1 << 20, v, 0, 10), ""),
        ("poll.value", lambda a, v: a.poll(1 << 20, 0, v, 10), ""),
        ("poll.max_cycles", lambda a, v: a.poll(1 << 20, 1, 2, v), ""),
        ("save", lambda a, v: a.save(v), "text"),
        ("load", lambda _, v: Array.load(v), ""),
        ("coredump.path", lambda a, v: a.coredump(v), "text"),
        ("coredump.elf", lambda a, v: a.coredump("core", elf=v), ""),
        ("diff", lambda a, v: a.diff(v), ""),
        ("expect_array.name", lambda a, v: a.expect_array(v, np.zeros(4), np.zeros(4)), "text"),
        ("expect_array.array", lambda a, v: a.expect_array("c", v, np.zeros(4)), ""),
        ("expect_array.data", lambda a, v: a.expect_array("c", np.zeros(4), v), ""),
        ("start_in_order", lambda a, v: a.start_in_order(v), ""),
        ("start_in_order.job", lambda a, v: a.start_in_order([(a.memory_tile(0).mm2s[0], v, 1)]), ""),
        ("buffer.name", lambda a, v: a.memory_tile(0).buffer(v, 16), "text"),
        ("buffer.shape", lambda a, v: a.memory_tile(0).buffer("n", v), ""),
        ("buffer.at", lambda a, v: a.memory_tile(0).buffer("n", 16, at=v), ""),
        ("buffer.bank", lambda a, v: a.memory_tile(0).buffer("n", 16, bank=v), ""),
        ("buffer.data", lambda a, v: a.memory_tile(0).buffer("n", 16, data=v), ""),
        ("upset.buffer", lambda a, v: a.memory_tile(0).upset(v, 3, 1), ""),
        ("upset.cycle", lambda a, v: a.memory_tile(0).upset(full(a, "b"), v, 1), ""),
        ("upset.bits", lambda a, v: a.memory_tile(0).upset(full(a, "b"), 3, v), ""),
        ("upset.word", lambda a, v: a.memory_tile(0).upset(full(a, "b"), 3, 1, word=v), ""),
        ("store", lambda a, v: a.memory_tile(0).store(v, np.zeros(4)), ""),
        ("load of a tile", lambda a, v: a.memory_tile(0).load(v), ""),
        ("expect", lambda a, v: a.memory_tile(0).expect(v, np.zeros(4)), ""),
        ("lock.initial", lambda a, v: a.memory_tile(0).lock(v), ""),
        ("lock.name", lambda a, v: a.memory_tile(0).lock(0, v), "text"),
        ("lock.id", lambda a, v: a.memory_tile(0).lock(0, id=v), ""),
        ("lock_value", lambda a, v: a.memory_tile(0).lock_value(v), ""),
        ("read.buffer", lambda a, v: a.memory_tile(0).read(v), ""),
        ("read.tiling", lambda a, v: a.memory_tile(0).read(full(a, "b"), v), ""),
        ("seen", lambda a, v: a.memory_tile(0).seen(v), ""),
        ("free_channel.receives", lambda a, v: a.memory_tile(0).free_channel(receives=v), ""),
        ("start.repeat", lambda a, v: start(a, repeat=v), ""),
        ("start_out_of_order.packets", lambda a, v: out_of_order(a, v), ""),
        ("write_bd.number", lambda a, v: a.memory_tile(0).write_bd(v, descriptor(a)), ""),
        ("write_bd.descriptor", lambda a, v: a.memory_tile(0).write_bd(0, v), ""),
        ("register", lambda a, v: a.memory_tile(0).register(v), ""),
        ("post_mask", lambda a, v: a.memory_tile(0).post_mask(0, v, 0), ""),
        ("interleave", lambda a, v: a.memory_tile(0).interleave(v), ""),
        ("reserve.stack", lambda a, v: a.compute_tile(0, 2).reserve(stack=v), ""),
        ("reserve.heap_at", lambda a, v: a.compute_tile(0, 2).reserve(heap_at=v), ""),
        ("run_kernel.endless", lambda a, v: a.compute_tile(0, 2).run_kernel(idle, endless=v), ""),
        ("cascade_to", lambda a, v: a.compute_tile(0, 2).cascade_to(v), ""),
    )
}


def fifo(array: Array, **changes: Any) -> object:
    values = {"name": "f", "producer": array.memory_tile(0), "consumers": [array.compute_tile(0, 2)]}
    return array.object_fifo(**{**values, "shape": 16, **changes})


def route(array: Array) -> Any:
    return array.memory_tile(0).mm2s[0], [array.compute_tile(0, 2).s2mm[0]]


def descriptor(array: Array) -> Any:
    return array.memory_tile(0).read(full(array, "b")).descriptors[0]


def start(array: Array, **given: Any) -> object:
    tile = array.memory_tile(0)
    return tile.mm2s[0].start(tile.read(full(array, "b")), **given)


def out_of_order(array: Array, packets: Any) -> object:
    tile = array.memory_tile(0)
    return tile.s2mm[0].start_out_of_order(tile.write(full(array, "b")), packets=packets)


def idle(core: Any) -> Any:
    yield core.cycles(1)


def claimed(array: Array) -> list[object]:
    tiles = [array.tile(0, row) for row in range(3)]
    channels = [[c.claimed for c in (*tile.s2mm, *tile.mm2s)] for tile in tiles]
    pools = [tile.bd_pool.saved() for tile in tiles]
    made = [array.fifos, array.buses, list(array.circuits.waiting)]
    return [[repr(tile) for tile in tiles], channels, pools, *made]


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_argument_is_refused_and_nothing_claimed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, fine = CALLS[name]
    for kind, value in WRONG.items():
        if kind in fine:
            continue
        array = Array("npu1", columns=1)
        full(array, "b")
        before = claimed(array)
        with pytest.raises(MemtileError) as caught:
            call(array, value)
        assert str(caught.value).replace("\n", "").isprintable(), kind
        assert claimed(array) == before, kind


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(DesignError) as caught:
        call()
    return str(caught.value)


def test_a_buffer_is_no_array_to_compare() -> None:
    array = Array("npu1", columns=1)
    outside = array.external("c", np.zeros(16, np.int32))
    assert refused(lambda: array.expect_array("c", outside, np.zeros(16))) == (  # type: ignore[arg-type]
        "expect_array: array is Buffer(c: 16 int32, 64 bytes at 0x1000); it must be a NumPy array in "
        "external memory (types of the Python interface). Give the array that array.external was given."
    )
    inside = array.memory_tile(0).buffer("b", 16)
    assert refused(lambda: array.expect_array("c", inside, np.zeros(16))).endswith(  # type: ignore[arg-type]
        "Compare the buffer of a tile with tile.expect(b, data)."
    )
    assert array.compared == []


def test_all_wrong_arguments_are_named_at_once() -> None:
    tile = MemoryTile()
    wrong: Any = np.zeros((2, 3))
    assert refused(lambda: tile.upset(tile.buffer("b", 4), "x" * 99, wrong, word=None)).split("\n") == [  # type: ignore[arg-type]
        f"memory tile, upset: cycle is '{'x' * 68}...; it must be a whole number "
        "(types of the Python interface).",
        "memory tile, upset: bits is an array of float64, shape (2, 3); it must be a whole number "
        "(types of the Python interface).",
        "memory tile, upset: word is None; it must be a whole number (types of the Python interface).",
    ]


def test_whole_numbers_of_numpy_and_names_of_none_are_taken() -> None:
    array = Array("npu1", np.int32(1))  # type: ignore[arg-type]
    tile = array.memory_tile(np.int64(0), np.uint8(1), interleaved=np.bool_(False))  # type: ignore[arg-type]
    buffer = tile.buffer("b", np.array([2, 8]), at=np.int32(64))  # type: ignore[arg-type]
    assert (tile.place, buffer.shape, buffer.offset) == ((0, 1), (2, 8), 64)
    assert tile.lock(np.int8(3), id=np.int32(5)).id == 5  # type: ignore[arg-type]
    tile.post_mask(np.int64(tile.kind.lock_value_base), np.int32(3), np.int32(1))  # type: ignore[arg-type]
    assert tile.owns(buffer)
    assert not tile.owns(None)  # type: ignore[arg-type]
    made = fifo(array, depth=(np.int32(2), 3), repeat=1, bank={array.compute_tile(0, 2): np.int32(1)})
    assert made.depths == (2, 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "dtype",
    ["O", "S4", "U4", "M8[s]", "m8[s]", [("n", "i4"), ("a", "U1")], [("a", [("b", "S2", (2,))])], "V"],
    ids=str,
)
def test_an_array_whose_bytes_are_no_numbers_is_not_external_memory(dtype: Any) -> None:
    array = Array("npu1", columns=1)
    given = np.zeros(4, np.dtype(dtype) if dtype != "V" else np.dtypes.StringDType())
    assert refused(lambda: array.external("e", given)) == (
        f"external buffer e: the elements of the array are {given.dtype}; they must be numbers, or records "
        "of numbers (AM025 DMA_BDn_1 and DMA_BDn_2 of the interface tile)."
    )
    assert not array.engine.external.buffers
    numbers = [np.dtype([("a", "i4", (2,)), ("b", ml_dtypes.bfloat16, (2,))]), np.complex64, np.bool_, "V4"]
    for n, kind in enumerate(numbers):
        assert array.external(f"{n}", np.zeros(4, kind)).nbytes == np.zeros(4, kind).nbytes  # type: ignore[call-overload]


def test_a_channel_starts_no_part_of_a_run_and_loses_nothing() -> None:
    array = Array("npu1", columns=1)
    tile = array.memory_tile(0)
    before = claimed(array)
    for value in (2.5, "2", None, np.float64(2)):
        assert refused(lambda value=value: start(array, repeat=value)) == (  # type: ignore[misc]
            f"memory tile (0,1), MM2S 0: repeat is {value!r}; it must be a whole number "
            "(types of the Python interface)."
        )
        assert [claimed(array)[n] for n in (1, 2)] == [before[n] for n in (1, 2)]
    start(array, repeat=np.int8(100))
    assert tile.mm2s[0].claimed


TRUTHS = [True, 1, np.int32(1), np.bool_(True), np.array(True), np.array(1)]


@pytest.mark.parametrize("on", TRUTHS, ids=repr)
def test_what_is_0_or_1_says_yes_or_no(on: Any) -> None:
    array = Array("npu1", columns=1)
    for value in (on, on ^ 1):
        shared = array.memory_tile(0, interleaved=value)
        assert shared.register("Memory_Control")["Memory_Interleaving"] == value
        assert shared.free_channel(receives=value).receives is bool(value)
    array.compute_tile(0, 2).run_kernel(idle, endless=on)
    array.compute_tile(0, 3).run_kernel(idle, endless=on ^ 1)
    assert [each.declared for each in array.engine.cores.running.values()] == [True, False]
    bus = array.packet_bus("p", route(array), keep_headers=on)
    array.route()
    assert bus._keep is True
    for value in (2, -1, 1.0, np.float64(1), np.array([True]), np.str_("1"), "True", None):
        assert refused(lambda value=value: array.memory_tile(0).interleave(value)).startswith(  # type: ignore[misc]
            "memory tile (0,1), interleave: on is "
        )


ROWS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "generator": lambda row: (each for each in row),
    "set": set,
    "keys": lambda row: dict.fromkeys(row).keys(),
    "map": lambda row: map(row.__getitem__, range(len(row))),
    "array": lambda row: np.array(row, None if isinstance(row[0], int) else object),
}


@pytest.mark.parametrize("made", ROWS.values(), ids=ROWS)
def test_anything_that_has_values_one_after_the_other_is_a_row(made: Callable[[Any], Any]) -> None:
    array = Array("npu1", columns=1)
    shared, cores = array.memory_tile(0), [array.compute_tile(0, row) for row in (2, 3)]
    first = array.object_fifo("f", array.interface_tile(0), shared, depth=made((1, 2)), shape=made((2, 3)))
    assert (first.depths, first.shape) == ((1, 2), (2, 3))
    second = first.forward("g", cores, depth=made((3, 4)))
    assert second.depths == (2, 3, 4)
    ends = [core.s2mm[1] for core in cores]
    bus = array.packet_bus(
        *("p", (shared.mm2s[4], made(ends[:1])), (shared.mm2s[4], made(ends[1:]))),
        keep_headers=made(ends[:1]),
        ids=made((5, 6)),
        order=(made((number, count)) for number, count in ((5, 6), (6, 7))),  # type: ignore[arg-type]
    )
    array.route()
    assert [(each.id, each.targets) for each in bus.streams] == [(5, (ends[0],)), (6, (ends[1],))]
    assert list(bus._order) == [(5, 6), (6, 7)]
    assert bus._keep == (ends[0],)


def test_ends_whose_headers_are_kept_are_ends() -> None:
    array = Array("npu1", columns=1)
    wrong: Any
    for wrong in ([True], np.array([True]), {1}, [None], "", {array.memory_tile(0).mm2s[0]: 1}):
        with pytest.raises(DesignError, match=r"^packet bus 'p': keep_headers is "):
            array.packet_bus("p", route(array), keep_headers=wrong)
    assert not array.buses


def test_the_number_of_a_descriptor_is_one_of_numpy_but_no_truth_value() -> None:
    array = Array("npu1", columns=1)
    tile, step = array.memory_tile(0), descriptor(array)
    tile.write_bd(np.uint8(9), step)  # type: ignore[arg-type]
    base, words = tile.kind.bd_base, tile.kind.bd_stride // 4
    tile.write_bd(8, step)
    assert (
        tile.door.block_read32(base + 9 * tile.kind.bd_stride, words)
        == tile.door.block_read32(base + 8 * tile.kind.bd_stride, words)
    ).all()
    assert refused(lambda: tile.write_bd(True, step)) == (
        "memory tile (0,1), write_bd: number is True; it must be a whole number "
        "(types of the Python interface)."
    )
