"""Does a program of register accesses, run on an array, move what its descriptors say, whatever they are?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array, InputFileError, Status
from memtile.access.walk import PAD, Walk, addresses
from memtile.bd.descriptor import Descriptor, Dim, Iteration, Pad
from memtile.bd.windows import OWN, DmaAddress
from memtile.io.program.device_detection import device_of
from memtile.io.program.program_formats import read_program
from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
from memtile.io.program.transaction_format import Header
from memtile.kernels import Action, Core
from memtile.runs.array_names import Given, Wanted
from memtile.runs.firmware import LOAD, loaded
from memtile.runs.operations import (
    BlockWrite,
    MaskPoll,
    MaskWrite,
    Operation,
    Other,
    Write,
    address_of,
)
from memtile.runs.program import Run
from memtile.runs.session import run_program
from support.formats.programs import Program

FOLDER = Path(__file__).parents[1] / "oracle" / "txn"
S2MM, MM2S = 0, 1
FROM, TO = 0x1_0000_0000, 0x2_0000_0000
NPU = Header((1, 0), 3, 6, 4, 1)


def run_file(name: str, array: np.ndarray, **options: Any) -> Run:
    program = read_program((FOLDER / f"{name}.bin").read_bytes(), name)
    device, shape = device_of([program])
    tiles = Array(device.name, shape.columns)
    return run_program(program.operations, tiles, [Given("x", array)], [Wanted("y")], **options)


def good(done: Run) -> np.ndarray:
    assert done.result.status is Status.FINISHED, done.result.waiting
    assert done.stopped == ""
    return done.arrays["y"]


UNTIMED = pytest.mark.parametrize("untimed", [False, True])


@UNTIMED
def test_the_driver_s_transpose(untimed: bool) -> None:
    matrix = np.random.default_rng(1).integers(-(2**31), 2**31, (8, 16), dtype=np.int32)
    out = good(run_file("scn_transpose_8x16", matrix, untimed=untimed))
    assert out.dtype == np.int32
    np.testing.assert_array_equal(out.reshape(16, 8), matrix.T)


@UNTIMED
def test_the_driver_s_double_buffer(untimed: bool) -> None:
    data = np.random.default_rng(2).integers(0, 2**32, 2048, dtype=np.uint32)
    done = run_file("scn_double_buffer_loopback", data, untimed=untimed)
    np.testing.assert_array_equal(good(done), data)
    used = {use.name: use for use in done.result.channels}
    assert used["memory(2,1) S2MM 0"].bds == 8  # 8 KiB in buffers of 1 KiB
    assert used["interface(2,0) S2MM 0"].words == 2048


@UNTIMED
def test_the_driver_s_zero_padding(untimed: bool) -> None:
    picture = np.random.default_rng(3).integers(1, 2**31, (4, 4), dtype=np.int32)
    out = good(run_file("scn_zero_pad_4x4", picture, untimed=untimed))
    np.testing.assert_array_equal(out.reshape(6, 7), np.pad(picture, ((1, 1), (1, 2))))


@st.composite
def transfers(draw: st.DrawFn) -> dict[str, Any]:
    """A way through any column, channels, wires and descriptors, with a walk of any shape on the way out."""
    wraps = draw(st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 4)))
    words = int(np.prod(wraps))
    order = draw(st.permutations(range(3)))
    steps = [int(np.prod(wraps[:n])) for n in range(3)]
    pads = draw(st.tuples(*[st.tuples(st.integers(0, 2), st.integers(0, 2))] * 3))
    channels = draw(st.tuples(st.integers(0, 5), st.integers(0, 5)))
    numbers = [24 * (channel % 2) + draw(st.integers(0, 11)) for channel in channels]
    numbers[1] += 12
    interface = draw(st.lists(st.integers(0, 15), min_size=2, max_size=2, unique=True))
    return {
        "column": draw(st.integers(0, 3)),
        "to": draw(st.integers(0, 1)),
        "from": draw(st.integers(0, 1)),
        "up": draw(st.integers(0, 5)),
        "down": draw(st.integers(0, 3)),
        "channels": channels,
        "numbers": numbers,
        "interface": interface,
        "words": words,
        "dims": tuple(Dim(steps[n], wraps[n]) for n in order),
        "pad": tuple(Pad(*pad) for pad in pads),
        "runs": draw(st.integers(1, 5)),
        "iteration": draw(st.integers(1, 4)),
        "source": draw(st.integers(0, 2**20)) * 4 + FROM,
        "target": draw(st.integers(0, 2**20)) * 4 + TO,
    }


def outgoing(t: dict[str, Any]) -> Descriptor:
    sides = [dim.wrap + pad.before + pad.after for dim, pad in zip(t["dims"], t["pad"], strict=True)]
    return Descriptor("memory", int(np.prod(sides)), OWN.address(64), t["dims"], t["pad"])


def program_of(t: dict[str, Any]) -> Program:
    """In, ``runs`` times with an iteration over ``iteration`` positions; out as often, one after another."""
    program, column, words, runs = Program(), t["column"], t["words"], t["runs"]
    program.up(column, t["to"], t["up"])
    program.circuit(column, 1, f"SOUTH{t['up']}", f"DMA{t['channels'][0]}")
    program.circuit(column, 1, f"DMA{t['channels'][1]}", f"SOUTH{t['down']}")
    program.down(column, t["from"], t["down"])
    out = outgoing(t)
    each = Iteration(words, t["iteration"])
    program.bd(column, t["numbers"][0], Descriptor("memory", words, OWN.address(64)))
    program.bd(column, t["numbers"][1], out)
    first, second = t["interface"]
    program.bd(column, first, Descriptor("interface", words, DmaAddress(t["source"] // 4), iteration=each))
    after = Iteration(out.length, 64)
    program.bd(
        column, second, Descriptor("interface", out.length, DmaAddress(t["target"] // 4), iteration=after)
    )
    program.push(column, 0, S2MM, t["from"], second, runs)
    for _ in range(runs):
        program.push(column, 1, S2MM, t["channels"][0], t["numbers"][0])
        program.push(column, 0, MM2S, t["to"], first)
        program.wait_done(column, 1, S2MM, t["channels"][0])
        program.push(column, 1, MM2S, t["channels"][1], t["numbers"][1])
        program.wait_done(column, 1, MM2S, t["channels"][1])
    return program


@settings(max_examples=40)
@given(transfers(), st.sampled_from([NPU, Header((0, 1), 2, 6, 4, 1)]))
def test_any_transfer_in_any_column_through_any_channels(t: dict[str, Any], header: Header) -> None:
    data = transaction_bytes(Transaction(header, tuple(program_of(t).operations)))
    positions = min(t["runs"], t["iteration"])
    source = np.arange(1, positions * t["words"] + 1, dtype=np.int32)
    done = run_program(read_transaction(data).operations, Array(), [Given("x", source)], [Wanted("y")])
    pieces = source.reshape(positions, t["words"])
    at = addresses(Walk.of(outgoing(t)))
    word = np.maximum(at - OWN.address(64), 0)
    wanted = [np.where(at == PAD, 0, pieces[n % t["iteration"]][word]) for n in range(t["runs"])]
    np.testing.assert_array_equal(good(done), np.concatenate(wanted))


def vector_add_shaped(fold: int = 0) -> Program:
    """Arguments 0 and 6 in, argument 2 out, as mlir-aie writes them: patches, tokens, no addresses."""
    program = Program()
    for column, argument, offset in ((0, 0, 16), (1, 6, 64 + fold)):
        program.up(column, 0, 0)
        program.circuit(column, 1, "SOUTH0", "DMA0")
        program.circuit(column, 1, "DMA0", "SOUTH0")
        program.down(column, 0, 0)
        program.route_tokens(column)
        for bd in (0, 1):
            program.bd(column, bd, Descriptor("memory", 32, OWN.address(0)))
        program.bd(column, 3, Descriptor("interface", 32, DmaAddress(0)))
        program.patch(column, 3, argument, offset)
        program.bd(column, 4, Descriptor("interface", 32, DmaAddress(0)))
        program.patch(column, 4, 2, 128 * column)
        program.push(column, 0, S2MM, 0, 4, token=True)
        program.push(column, 1, S2MM, 0, 0)
        program.push(column, 0, MM2S, 0, 3)
        program.wait_done(column, 1, S2MM, 0)
        program.push(column, 1, MM2S, 0, 1)
    program.wait_token(0, 0, S2MM, 0, columns=2)
    return program


@pytest.mark.parametrize("fold", [0, 0x80000000])
def test_kernel_arguments_by_number(fold: int) -> None:
    """DEV-TXN-1, DEV-TXN-2: patches set addresses, without the aperture that the compiler added."""
    first, second = np.arange(36, dtype=np.int32), np.arange(100, 148, dtype=np.int32)
    operations = vector_add_shaped(fold).operations
    data = transaction_bytes(Transaction(NPU, tuple(operations)))
    given = [Given("6", second), Given("0", first)]
    done = run_program(read_transaction(data).operations, Array(), given, [Wanted("2")])
    assert done.result.status is Status.FINISHED
    np.testing.assert_array_equal(done.arrays["2"], np.concatenate([first[4:36], second[16:48]]))


@pytest.mark.parametrize("high", [0x8000_0000, 0x1_8000_0000, 0x8000_1234_0000])
def test_kernel_arguments_above_2_gb(high: int) -> None:
    """Arguments come behind a buffer that has an address, so theirs need the upper half of a pointer."""
    program = Program()
    program.up(2, 0, 0)
    program.circuit(2, 1, "SOUTH0", "DMA0")
    program.bd(2, 0, Descriptor("interface", 8, DmaAddress(high // 4)))
    program.bd(2, 0, Descriptor("memory", 8, OWN.address(0)))
    program.push(2, 0, MM2S, 0, 0)
    program.push(2, 1, S2MM, 0, 0)
    operations = [*program.operations, *vector_add_shaped().operations]
    first, second = np.arange(36, dtype=np.int32), np.arange(100, 148, dtype=np.int32)
    given = [Given("0", first), Given("6", second), Given(hex(high), np.arange(8, dtype=np.int32))]
    done = run_program(operations, array := Array(), given, [Wanted("2")])
    assert done.result.status is Status.FINISHED, done.stopped
    np.testing.assert_array_equal(done.arrays["2"], np.concatenate([first[4:36], second[16:48]]))
    assert min(buffer.address for buffer in array.engine.external.buffers.values()) == high


def test_own_names_stand_for_arguments_in_order() -> None:
    first, second = np.arange(36, dtype=np.int32), np.arange(100, 148, dtype=np.int32)
    given = [Given("a", first), Given("b", second)]
    done = run_program(
        vector_add_shaped().operations, Array(), given, [Wanted("c", np.dtype(np.int16), (2, 64))]
    )
    wanted = np.concatenate([first[4:36], second[16:48]]).view(np.int16).reshape(2, 64)
    np.testing.assert_array_equal(done.arrays["c"], wanted)
    assert [buffer.name for buffer in done.buffers] == ["a", "c", "b"]


def test_a_token_that_never_comes_ends_the_program_with_the_reason() -> None:
    program = vector_add_shaped()
    program.wait_token(1, 0, S2MM, 0)
    first, second = np.arange(36, dtype=np.int32), np.arange(100, 148, dtype=np.int32)
    done = run_program(program.operations, Array(), [Given("a", first), Given("b", second)])
    assert done.result.status is Status.STUCK
    assert done.stopped == (
        "program: 1 of 1 tokens never came (mlir-aie token waits). Tasks must ask for tokens, and the "
        "switches must bring them to SOUTH0 in row 0."
    )


@UNTIMED
def test_a_poll_that_never_comes_true_ends_when_nothing_moves(untimed: bool) -> None:
    operations = [Write(0x02100000, 5), MaskPoll(0x02100000, 0xFF, 6), Write(0x02100000, 7)]
    done = run_program(operations, Array(), untimed=untimed)
    assert done.result.status is Status.STUCK
    assert done.stopped.startswith(
        "program: the mask poll waits for 0x6 in the bits 0xff of the word at 0x02100000, which never came"
    )
    assert done.result.cycles < 1000


def test_a_poll_beside_an_endless_task_ends_with_the_cycles() -> None:
    program = Program()
    ring = Descriptor("memory", 64, OWN.address(0), next=0)
    program.bd(1, 0, ring)
    program.bd(1, 1, ring.but(next=1))
    program.circuit(1, 1, "DMA0", "DMA0")
    program.push(1, 1, S2MM, 0, 0)
    program.push(1, 1, MM2S, 0, 1)
    program.wait_done(1, 1, S2MM, 0)
    done = run_program(program.operations, Array(), max_cycles=5000)
    assert (done.result.status, done.result.cycles) == (Status.LIMIT, 5000)
    assert "which never came" in done.stopped


def endless_receiver(*then: Write) -> list[Operation]:
    """A task that is waited for by its token, beside one in the array to which nothing ever comes."""
    program = Program()
    program.route_tokens(1)
    program.bd(1, 0, Descriptor("memory", 64, OWN.address(0)))
    program.push(1, 1, S2MM, 0, 0)
    program.up(1, 0, 0)
    program.circuit(1, 1, "SOUTH0", "DMA3")
    program.bd(1, 24, Descriptor("memory", 8, OWN.address(0x1000)))
    program.bd(1, 2, Descriptor("interface", 8, DmaAddress(FROM // 4)))
    program.push(1, 1, S2MM, 3, 24)
    program.push(1, 0, MM2S, 0, 2, token=True)
    program.wait_token(1, 0, MM2S, 0)
    return [*program.operations, *then]


@UNTIMED
def test_a_program_that_has_met_its_waits_is_finished_whatever_still_waits(untimed: bool) -> None:
    given = [Given("x", np.arange(8, dtype=np.int32))]
    result = run_program(endless_receiver(), Array(), given, untimed=untimed).result
    assert (result.status, result.good, result.waiting) == (Status.FINISHED, True, ())
    assert [line.partition(",")[0] for line in result.resting] == ["memory(1"]
    assert result.resting[0].endswith("BD 0, word 0 of 64: stream starved")


def test_what_is_started_after_the_last_wait_has_to_end_by_itself() -> None:
    again = Write(address_of(1, 1, 0xA0604), 0)
    done = run_program(endless_receiver(again), Array(), [Given("x", np.arange(8, dtype=np.int32))])
    assert (done.result.status, done.result.resting) == (Status.STUCK, ())
    other = Write(address_of(1, 1, 0xC0000), 1)
    done = run_program(endless_receiver(other), Array(), [Given("x", np.arange(8, dtype=np.int32))])
    assert done.result.status is Status.FINISHED


def test_a_poll_is_a_wait_too_and_a_program_without_any_waits_for_all() -> None:
    program = Program()
    program.bd(1, 0, Descriptor("memory", 64, OWN.address(0)))
    program.push(1, 1, S2MM, 0, 0)
    assert run_program(program.operations, Array()).result.status is Status.STUCK
    operations = [*program.operations, MaskPoll(address_of(1, 1, 0xC0000), 0x3F, 0)]
    assert run_program(operations, Array()).result.status is Status.FINISHED


def test_met_waits_do_not_hide_a_halted_channel() -> None:
    program = Program()
    program.push(1, 1, S2MM, 0, 5)  # a descriptor that is not valid
    operations = [*program.operations, MaskPoll(address_of(1, 1, 0xC0000), 0x3F, 0)]
    assert run_program(operations, Array()).result.status is Status.HALTED


def test_the_representation_of_a_result_is_short() -> None:
    data = np.arange(4096, dtype=np.int32)
    done = run_file("scn_transpose_8x16", data)
    assert repr(done) == f"Run({done.result!r}, arrays {{y: int32 (128,)}})"
    stuck = run_program([MaskPoll(address_of(1, 1, 0xC0000), 0x3F, 1)], Array())
    assert repr(stuck).startswith("Run(Result(stuck, ")
    assert ", stopped: program: the mask poll waits" in repr(stuck)


def test_the_kernel_of_a_program_begins_when_its_core_is_enabled() -> None:
    """Before that it sees nothing, and what the program writes first it finds."""
    seen = []

    def kernel(core: Core) -> Iterator[Action]:
        seen.append(
            (int(core.read(core.buffer(0x400, 1))[0]), core.read(core.buffer(0, 1, tile=(0, 3))).item())
        )
        yield core.cycles(5)

    control = address_of(0, 2, 0x32000)
    operations = [
        MaskWrite(control, 2, 2),
        MaskPoll(address_of(0, 2, 0x32004), 2, 2),
        Write(address_of(0, 2, 0x400), 7),
        Write(address_of(0, 3, 0), 9),
        BlockWrite(control, (1,)),
        MaskWrite(control, 1, 1),
    ]
    done = run_program(operations, array := Array(), kernels={(0, 2): kernel})
    assert (seen, done.result.unsimulated) == ([(7, 9)], ())
    later = run_program([], array, kernels={})
    assert later.result.good
    with pytest.raises(InputFileError, match=r"kernel of core \(0, 3\): the program never enables this core"):
        run_program(operations, Array(), kernels={(0, 3): kernel})


def test_a_core_that_an_earlier_program_enabled_gets_its_kernel_at_once() -> None:
    seen = []

    def kernel(core: Core) -> Iterator[Action]:
        yield core.cycles(5)
        seen.append(core.name)

    array = Array()
    run_program([MaskWrite(address_of(0, 2, 0x32000), 1, 1)], array)
    run_program([], array, kernels={(0, 2): kernel})
    assert seen == ["core (0, 2), kernel 'kernel'"]


def test_tile_memories_and_streams() -> None:
    program = Program()
    program.bd(3, 5, Descriptor("memory", 16, OWN.address(8)))
    program.push(3, 1, S2MM, 2, 5)
    program.wait_done(3, 1, S2MM, 2)
    program.bd(3, 6, Descriptor("memory", 24, OWN.address(0)))
    program.push(3, 1, MM2S, 4, 6)
    head, tail = np.arange(8, dtype=np.float32), np.arange(50, 66, dtype=np.float32)
    given = [Given("memory(3,1)+0x0", head), Given("memory(3,1) S2MM 2", tail)]
    wanted = [Wanted("memory(3,1) MM2S 4"), Wanted("memory(3, 1)+32", shape=(4, 4))]
    done = run_program(program.operations, Array(), given, wanted)
    assert done.result.status is Status.FINISHED
    stream, memory = done.arrays.values()
    np.testing.assert_array_equal(stream, np.concatenate([head, tail]))
    np.testing.assert_array_equal(memory, tail.reshape(4, 4))


def test_one_name_in_and_out_is_one_buffer() -> None:
    program = Program()
    program.up(2, 0, 0)
    program.circuit(2, 1, "SOUTH0", "SOUTH0")
    program.down(2, 0, 0)
    program.bd(2, 0, Descriptor("interface", 16, DmaAddress(FROM // 4)))
    program.bd(2, 1, Descriptor("interface", 16, DmaAddress(FROM // 4 + 8)))
    program.push(2, 0, S2MM, 0, 1)
    program.push(2, 0, MM2S, 0, 0)
    data = np.arange(32, dtype=np.int16).reshape(4, 8).repeat(2, axis=0)
    done = run_program(program.operations, Array(), [Given("x", data)], [Wanted("x")])
    out = done.arrays["x"]
    assert (out.dtype, out.shape) == (data.dtype, data.shape)
    np.testing.assert_array_equal(out.ravel()[:16], data.ravel()[:16])
    np.testing.assert_array_equal(out.ravel()[16:48], data.ravel()[:32])
    np.testing.assert_array_equal(out.ravel()[48:], data.ravel()[48:])
    np.testing.assert_array_equal(data[0], np.arange(8))  # the user's array stays as it is
    assert out is not data


def test_the_first_load_of_a_second_program_resets_the_array() -> None:
    """A new array is as after a reset; one that ran is not."""
    array, locks = Array("npu1"), [address_of(0, 2, 0x1F000 + offset) for offset in (0, 16)]
    run_program([Write(locks[0], 5)], array)
    load = loaded(Other(LOAD, b"", (("id", 1),)), 1)
    run_program([load, Write(locks[1], 3)], array)
    door = array.compute_tile(0, 2).door
    assert [door.read32(0x1F000 + offset) for offset in (0, 16)] == [0, 3]
