"""Do kernels of graphs get what their ports say, and do they compute what NumPy does?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile import Array
from memtile.adf.description import ConstructorArgument, Table
from memtile.adf.kernel_calls import KernelCode, KernelOptions, LockUse, StreamPort, Value
from memtile.arch.ports import PORTS
from memtile.arch.registers import packed
from memtile.arch.switch_registers import MASTER_CONFIG, SLAVE_CONFIG, SLAVE_CONFIG_OFFSET
from memtile.model.state.tile_columns import Placed
from memtile.sim.kernels.kernel_core import Core
from memtile.sim.loop.engine import Engine
from support.adf.kernel_graphs import SOURCE, Declared, Memory, described, kernel_of, port, run_calls
from support.designs.cpp_designs import FOUND
from support.designs.severe import severe

pytestmark = needs("c++", FOUND)
SWITCH = PORTS["compute"]
CASCADE, FROM_WEST, TO_EAST = 0x36060, 1, 2  # AM025, module core
LIST = ConstructorArgument("std::vector<int, std::allocator<int> >", ("1", "10", "100"), is_list=True)
KERNELS = {
    "scale": Declared("scale", "buffer >buffer parameter"),
    "pair": Declared("scale_pair", "buffer >buffer parameter parameter parameter"),
    "by5": Declared("stride<5, 8>", "buffer >buffer"),
    "by7": Declared("stride<-7, 4>", "buffer >buffer"),
    "over32": Declared("over", "buffer >buffer", ("adf::input_buffer<int>&", "adf::output_buffer<int>&")),
    "over16": Declared("over", "buffer >buffer", ("adf::input_buffer<short>&", "adf::output_buffer<short>&")),
    "dot": Declared("dot", "array >array >parameter"),
    "fir": Declared(
        "Fir<short>::filter",
        "buffer >buffer",
        more={"object_type": "Fir<short>", "arguments": (LIST, ConstructorArgument("int", ("5",)))},
    ),
    "fir2": Declared(
        "Fir<int>::filter",
        "buffer >buffer",
        more={"object_type": "Fir<int>", "arguments": (LIST, ConstructorArgument("int", ("0",)))},
    ),
    "counter": Declared(
        "Counter::next", ">buffer", more={"object_type": "Counter", "initialization": "init"}
    ),
    "smooth": Declared("smooth", "buffer >buffer"),
    "turn": Declared("rotate", "buffer >buffer"),
    "pairs": Declared("pairs", "async >async parameter"),
    "reverse": Declared("window_reverse", "window >window"),
    "vectors": Declared("window_vectors", "window >window"),
    "wait": Declared("window_async", "window >window"),
    "halves": Declared("halves", "stream >buffer"),
    "words": Declared("words", "buffer >stream"),
    "packet": Declared("send_packet", "buffer >packet parameter"),
    "shifted": Declared("shifted_streams", "stream >stream"),
    "narrow": Declared("narrow", "buffer array >stream"),
    "widen": Declared("widen", "stream >buffer parameter"),
    "put": Declared("put_sums", "buffer >cascade"),
    "get": Declared("get_sums", "cascade >buffer"),
    "look": Declared("look_up", "buffer >buffer", more={"tables": (0, 1)}),
}
NUMBER = {name: number for number, name in enumerate(KERNELS)}
TABLES = (
    Table(0, "gr.s", "squares", "int32", 4, np.array([0, 1, 4, 9], np.int32).tobytes().hex()),
    Table(1, "gr.c", "tables::cubes", "int16", 2, np.array([1, -8], np.int16).tobytes().hex()),
)


@pytest.fixture(scope="session")
def code() -> KernelCode:
    """The kernels, compiled once."""
    return KernelCode(described(KERNELS, tables=TABLES), KernelOptions(root=SOURCE.parent))


def alone(body: Any) -> None:
    """Run one core to its end; the body gets the core and its memory."""
    chain([body])


def chain(bodies: Sequence[Any]) -> None:
    """Run cores side by side; stream and cascade of each go to the next one, in the east."""
    engine = Engine([Placed("compute", column=c, row=3) for c in range(len(bodies))], switched=True)
    ended = list[int]()
    for tile, body in enumerate(bodies):
        door, cascade = engine.door(tile), 0
        if tile + 1 < len(bodies):
            connected(door, "CORE0", "EAST0")
            cascade |= TO_EAST
        if tile:
            connected(door, "WEST0", "CORE0")
            cascade |= FROM_WEST
        door.write32(CASCADE, cascade)
        engine.attach_kernel(tile, kernel_of(body, partial(ended.append, tile)))
    engine.run(1000)
    assert sorted(ended) == [*range(len(bodies))]


def connected(door: Any, slave: str, master: str) -> None:
    """Connect two ports of a stream switch."""
    at = SWITCH.slave(slave)
    door.write32(SWITCH.base + SLAVE_CONFIG_OFFSET + 4 * at, packed(SLAVE_CONFIG, Slave_Enable=1))
    word = packed(MASTER_CONFIG, Master_Enable=1, Configuration=at)
    door.write32(SWITCH.base + 4 * SWITCH.master(master), word)


def pair(first: Any, second: Any) -> None:
    """Run two cores; the stream and the cascade of the first go to the second."""
    chain([first, second])


def called(code: KernelCode, name: str, *calls: Any) -> list[Any]:
    """The last array of each call of a kernel; each is a function from the memory to its port values."""
    found = list[Any]()

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        caller = code.caller(NUMBER[name], core)
        for make in calls:
            values = make(memory)
            yield from caller(values)
            found.append([np.array(each.buffers[0]) for each in values if hasattr(each, "buffers")])

    alone(body)
    assert len(found) == len(calls)
    return found


def test_a_kernel_gets_buffers_and_a_number(code: KernelCode) -> None:
    given = np.arange(-4, 4)
    (done,) = called(code, "scale", lambda m: [port(m(given, np.int16)), port(m(8)), Value.of(np.int16(-3))])
    np.testing.assert_array_equal(done[1], -3 * given)


def test_numbers_have_the_type_of_their_parameter(code: KernelCode) -> None:
    """A structure by value, a reference to const, a bool."""
    given = np.array([[1, 2], [-3, 4]], np.int16)
    numbers = [Value.of(np.array([2, -1], np.int16)), Value.of(np.float32(-0.5)), Value.of(np.bool_(True))]
    (done,) = called(
        code, "pair", lambda m: [port(m(given, np.int16)), port(m(given * 0, np.int16)), *numbers]
    )
    product = (given[:, 0] + 1j * given[:, 1]) * (2 - 1j)
    np.testing.assert_array_equal(done[1].reshape(2, 2), np.stack([product.imag - 2, product.real], 1))


def test_templates_are_instantiated_with_their_arguments(code: KernelCode) -> None:
    given = np.arange(32)
    for name, step in (("by5", 5), ("by7", -7)):
        (done,) = called(code, name, lambda m: [port(m(given)), port(m(32))])
        np.testing.assert_array_equal(done[1], given + step)


def test_of_two_functions_of_one_name_the_parameters_say_which(code: KernelCode) -> None:
    for name, dtype, wanted in (("over32", np.int32, 14), ("over16", np.int16, 21)):
        (done,) = called(code, name, lambda m, t=dtype: [port(m([7], t)), port(m(1, t))])
        assert done[1][0] == wanted


def test_arrays_and_what_a_kernel_gives_back(code: KernelCode) -> None:
    kept = list[Any]()

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        weights, totals, calls = memory([1, 2, 3, 4]), memory(4), memory(1)
        values = [port(weights), port(totals), port(calls)]
        yield from run_calls(code, NUMBER["dot"], core, [values] * 3)
        kept.extend([np.array(totals), int(calls[0])])

    alone(body)
    np.testing.assert_array_equal(kept[0], [3, 6, 9, 12])
    assert kept[1] == 3


def test_objects_have_their_arguments_and_keep_their_state(code: KernelCode) -> None:
    """Kernels of one core and source share its globals: DEV-ADF-40."""
    found = list[list[int]]()

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        first, second = code.caller(NUMBER["fir"], core), code.caller(NUMBER["fir2"], core)
        for call, dtype in ((second, np.int32), (first, np.int16), (first, np.int16), (second, np.int32)):
            out = memory(3)
            yield from call([port(memory([1, 2, 3], dtype)), port(out)])
            found.append(out.tolist())

    wanted = [[321, 1, 1], [326, 2, 2], [647, 2, 3], [642, 1, 4]]
    alone(body)
    assert found == wanted
    alone(body)  # another core, or run, begins anew
    assert found == 2 * wanted


def test_an_initialization_function_runs_once(code: KernelCode) -> None:
    done = called(code, "counter", *[lambda m: [port(m(1))]] * 2)
    assert [int(each[0][0]) for each in done] == [41, 42]


def test_a_margin_comes_before_its_block(code: KernelCode) -> None:
    given = np.array([10, 20, 1, 2, 3, 4])
    (done,) = called(code, "smooth", lambda m: [port(m(given)), port(m(6))])
    np.testing.assert_array_equal(done[1], [31, 23, 6, 9, 0, 0])


def test_circular_iterators_go_round_margin_and_block(code: KernelCode) -> None:
    """DEV-ADF-41."""
    (done,) = called(code, "turn", lambda m: [port(m(np.arange(8))), port(m(5))])
    assert done[1].tolist() == [4, 5, 6, 7, 0]


def test_windows_have_a_place_that_goes_round(code: KernelCode) -> None:
    (done,) = called(code, "reverse", lambda m: [port(m(np.arange(6))), port(m(6))])
    assert done[1].tolist() == [5, 4, 3, 2, 1, 0]
    (done,) = called(code, "vectors", lambda m: [port(m(np.arange(8))), port(m(8))])
    assert done[1].tolist() == [-4, -5, -6, -7, 0, -1, -2, -3]


def test_a_table_that_the_source_only_declares(code: KernelCode) -> None:
    (done,) = called(code, "look", lambda m: [port(m([3, 2, 1])), port(m(3))])
    assert done[1].tolist() == [9 + 1, 4 - 8, 1 + 1]


# streams, packets, cascades -------------------------------------------------------------------------------


def takes_words(count: int, got: list[Any]) -> Any:
    """A core that takes words from its stream, and whether the last one had TLAST."""

    def body(core: Any, _memory: Memory) -> Iterator[Any]:
        words = yield core.get_stream(count)
        got.extend([words.tolist(), core.last])

    return body


def calls_kernel(code: KernelCode, name: str, make: Any, found: list[Any] | None = None) -> Any:
    """A core that calls a kernel once."""

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        values = make(memory)
        yield from code.caller(NUMBER[name], core)(values)
        if found is not None:
            found.extend(each.buffers[0].tolist() for each in values if hasattr(each, "buffers"))

    return body


def test_a_kernel_writes_a_stream_and_another_reads_it_to_its_end(code: KernelCode) -> None:
    found = list[Any]()
    pair(
        calls_kernel(code, "words", lambda m: [port(m(np.arange(8) - 3)), StreamPort()]),
        calls_kernel(code, "halves", lambda m: [StreamPort(), port(m(9))], found),
    )
    assert found == [[-3, -2, -1, 0, 1, 2, 3, 4, 0]]


def test_a_packet_begins_with_its_header(code: KernelCode) -> None:
    """UG1603, Packet Processing: id 4..0, type 14..12, row 20..16, column 27..21, odd parity in bit 31."""
    here = 5 << 12 | 3 << 16 | 1 << 21
    for ids, header in (((9, 22), here | 22 | 1 << 31), ((9, 23), here | 23)):
        got = list[Any]()
        make = partial(_packet, ids)
        chain([lambda *_: iter(()), calls_kernel(code, "packet", make), takes_words(3, got)])
        assert got == [[np.uint32(header).astype(np.int32), 7, 8], True]


def _packet(ids: tuple[int, ...], memory: Memory) -> list[Any]:
    return [port(memory([7, 8])), StreamPort(packet_ids=ids), Value(1)]


def test_streams_as_objects_of_input_and_output(code: KernelCode) -> None:
    """AIE API: operators of streams, and tlast."""
    got = list[Any]()
    words = np.arange(5, dtype=np.int32) + 70

    def first(core: Any, _memory: Memory) -> Iterator[Any]:
        yield core.put_stream(words, last=True)

    engine_of = partial(calls_kernel, code, "shifted", lambda _: [StreamPort(), StreamPort()])
    chain([first, engine_of(), takes_words(5, got)])
    assert got == [words.tolist(), True]


def test_a_number_of_less_than_a_word_has_one(code: KernelCode) -> None:
    """DEV-ADF-46."""
    got, found = list[Any](), list[Any]()
    bf16 = 0x3FC0  # 1.5
    sender = calls_kernel(
        code, "narrow", lambda m: [port(m([bf16], np.uint16)), port(m([-5, 7], np.int8)), StreamPort()]
    )
    pair(sender, takes_words(3, got))
    assert got == [[bf16, -5, 7], True]
    pair(
        sender, calls_kernel(code, "widen", lambda m: [StreamPort(), port(m(3, np.float32)), Value(3)], found)
    )
    assert found == [[1.5, -5, 7]]


def test_a_cascade_carries_an_accumulator(code: KernelCode) -> None:
    found = list[Any]()
    given = np.arange(16) - 5
    pair(
        calls_kernel(code, "put", lambda m: [port(m(given)), StreamPort()]),
        calls_kernel(code, "get", lambda m: [StreamPort(), port(m(16))], found),
    )
    assert found == [given.tolist()]


# asynchronous buffers -------------------------------------------------------------------------------------

FREE, FULL = 0, 1


def locks(take: int, give: int) -> tuple[LockUse, LockUse]:
    return LockUse(take, -1), LockUse(give, 1)


def test_asynchronous_buffers_take_turns_over_calls(code: KernelCode) -> None:
    """Three blocks in two buffers; which is next stays from call to call."""
    out, waits = list[Any](), list[int]()

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        buffers, results = [memory(3), memory(3)], memory(4)
        caller = code.caller(NUMBER["pairs"], core)
        inputs = port(*buffers, locks=(locks(FULL, FREE),) * 2)
        output = port(results, locks=((*locks(2, 3), LockUse(4, 1)),))
        yield core.release(2, 5)
        turn = 0
        for count in (1, 2):
            for _ in range(count):
                buffers[turn % 2][...] = [turn * 10, 99, turn]
                yield core.release(FULL, 1)
                turn += 1
            yield from caller([inputs, output, Value(count)])
            out.append(results.tolist()[:count])
            yield core.acquire(FREE, -count)
        waits.append(core.now)
        for lock in (3, 4):
            yield core.acquire(lock, -2)  # the kernel has released its output twice, to two readers

    alone(body)
    assert out == [[0], [11, 22]]
    assert waits


def test_an_asynchronous_buffer_waits_in_simulated_time(code: KernelCode) -> None:
    found = list[int]()

    def first(core: Any, memory: Memory) -> Iterator[Any]:
        buffer = memory([5, 6])
        input_ = port(buffer, locks=(locks(FULL, FREE),))
        out = port(memory(1), locks=(locks(FREE + 2, FULL + 2),))
        yield core.release(FREE + 2, 1)
        yield from code.caller(NUMBER["pairs"], core)([input_, out, Value(1)])
        found.extend([int(out.buffers[0][0]), core.now])

    def second(core: Any, _memory: Memory) -> Iterator[Any]:
        yield core.cycles(100)
        yield core.release(FULL, 1, tile=(0, 3))

    pair(first, second)
    assert found[0] == 11
    assert found[1] > 100


def test_a_window_of_an_asynchronous_port(code: KernelCode) -> None:
    def body(core: Any, memory: Memory) -> Iterator[Any]:
        caller, out = code.caller(NUMBER["wait"], core), memory(1)
        windows = port(memory([5]), memory([6]), locks=(locks(FULL, FREE),) * 2)
        yield core.release(FULL, 2)
        for wanted in (5, 6):
            yield from caller([windows, port(out)])
            assert out[0] == wanted

    alone(body)


@pytest.mark.parametrize("right", [True, False])
def test_a_check_for_races_sees_what_lies_between_acquire_and_release(code: KernelCode, right: bool) -> None:
    """The DMA fills one buffer while the kernel has the other, and both after the last release.

    A kernel that takes another lock is found.
    """
    array = Array("npu1", columns=1)
    memory, worker = array.memory_tile(0), array.compute_tile(0, 2)
    source = memory.buffer("source", 48, np.int32, data=np.arange(48, dtype=np.int32))
    blocks = [worker.buffer(name, 8, np.int32) for name in ("ping", "pong")]
    out = worker.buffer("out", 4, np.int32)
    empty, full, other = worker.lock(2, "empty"), worker.lock(0, "full"), worker.lock(60, "other")
    array.connect(memory.mm2s[0], worker.s2mm[0])
    memory.mm2s[0].start(memory.read(source))
    worker.s2mm[0].start(
        *(worker.write(block).guarded(empty.acquire(), full.release()) for block in blocks), repeat=3
    )
    found = list[Any]()

    def kernel(core: Core) -> Iterator[Any]:
        given = port(*map(core.view, blocks), locks=((LockUse(full, -1), LockUse(empty, 1)),) * 2)
        if not right:
            given = port(*given.buffers, locks=((LockUse(other, -1), LockUse(empty, 1)),) * 2)
            yield core.cycles(60)
        result = port(core.view(out), locks=((LockUse(other, -1), LockUse(other, 1)),))
        yield from code.caller(NUMBER["pairs"], core)([given, result, Value(4)])
        yield core.cycles(60)
        found.extend(np.array(core.view(out)).tolist())

    worker.run_kernel(kernel)
    findings = severe(array.run(check=True).findings)
    assert bool(findings) != right
    if right:
        assert found == [7, 23, 39, 55]
