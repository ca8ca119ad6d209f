"""Set-ups of measured cases that a host begins: interface tiles, transactions, queues, broadcasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from memtile import Array, Timing
from memtile.arch.register_map import event_modules, register_named
from memtile.arch.tiles import INTERFACE, MEMORY, MM2S, S2MM
from memtile.arch.timing import chosen_timing
from memtile.bd.codec import encode
from memtile.bd.descriptor import Acquire, Descriptor, Dim, Release
from memtile.bd.windows import OWN, DmaAddress
from memtile.runs.array_names import Given, Wanted
from memtile.runs.operations import BlockWrite, MaskWrite, Operation, Write, address_of
from memtile.runs.program import Run
from memtile.runs.session import run_program
from memtile.sim.doors.event_panel import EventUnit
from support.designs.interface_bench import Column
from support.formats.programs import Program

Measured = dict[str, float]
TILE = address_of(0, 1)
SCRATCH = TILE + 0x100
BDS = 16  # of an interface tile
PHOENIX = Timing.of_board("phoenix")  # external memory as fitted to cases that calibrate
WARM = {"external_first_read": 0, "external_first_write": 0}  # where runs are far longer on silicon
DIRECTIONS = {"MM2S": MM2S, "S2MM": S2MM}


def by_firmware(operations: list[Operation]) -> list[Operation]:
    return [replace(operation, firmware=True) for operation in operations]


def marked(between: list[Operation], event: int) -> list[Operation]:
    """Operations between two user events of the memory tile."""
    generate = TILE + register_named("memory_tile", "Event_Generate").offset
    return [Write(generate, event), *between, Write(generate, event + 1), Write(SCRATCH, 0)]


def operation(kind: str, count: int = 16) -> Measured:
    """Cycles that each of ``count`` equal operations of a transaction adds between two of its events."""
    made: dict[str, Operation] = {
        "write": Write(SCRATCH, 1),
        "block of 8": BlockWrite(SCRATCH, tuple(range(8))),
        "masked write": MaskWrite(SCRATCH, 1, 1),
    }
    took = []
    for number in (0, count):
        array = Array("npu1", 1)
        unit = EventUnit(array.memory_tile(0).own_door)
        unit.count(0, "USER_EVENT_0", "USER_EVENT_1")
        run_program(by_firmware(marked([made[kind]] * number, unit.number("USER_EVENT_0"))), array)
        took.append(unit.counted(0))
    return {"cycles": (took[1] - took[0]) / count}


def loop_back(count: int, words: int) -> list[Operation]:
    """A memory tile with one buffer and its two locks, between the two directions of the interface tile."""
    program = Program()
    program.route_tokens(0)
    program.up(0, 0, 0)
    program.down(0, 0, 0)
    program.circuit(0, 1, "SOUTH0", "DMA0")
    program.circuit(0, 1, "DMA0", "SOUTH0")
    free, full = OWN.lock(0), OWN.lock(1)
    program.add(Write(TILE + MEMORY.lock_value_base, count))
    for bd, take, give in ((0, free, full), (1, full, free)):
        guards: dict[str, Any] = {"acquire": Acquire(take, -1, True), "release": Release(give, 1)}
        program.bd(0, bd, Descriptor("memory", words, OWN.address(0), next=bd, **guards))
    program.push(0, 1, S2MM, 0, 0)
    program.push(0, 1, MM2S, 0, 1)
    return program.operations


def transfers(count: int, words: int) -> list[Operation]:
    """``count`` tasks in, each with a token, a wait for one, as many out, a wait; ids as mlir-aie's."""
    program = Program()
    for direction, argument, first in ((MM2S, 0, count), (S2MM, 1, 0)):
        for n in range(count):
            bd = (first + n) % BDS
            program.bd(0, bd, Descriptor("interface", words, DmaAddress(0)))
            program.patch(0, bd, argument, 4 * words * n)
            program.push(0, 0, direction, 0, bd, token=True)
        program.wait_token(0, 0, direction, 0)
    return by_firmware(program.operations)


def numbered(count: int, words: int, address: int) -> list[Operation]:
    """The same with descriptors 0 to ``count`` - 1 in and the next ``count`` out, as mlir-aie writes them.

    Its pass makes writes of all of them, and their tasks have the lower four bits of the number. Of those
    that the tile does not have, number 16 is where the registers of the channels are; beyond are status
    registers, and places without any, of which nothing comes.

    Args:
        count: tasks each way.
        words: of a task.
        address: of the output at the host, which firmware adds to the descriptors.
    """
    program = Program()
    for direction, argument, first in ((MM2S, 0, 0), (S2MM, 1, count)):
        for n in range(count):
            bd, offset = first + n, 4 * words * n
            descriptor = Descriptor("interface", words, DmaAddress(0))
            if bd < BDS:
                program.bd(0, bd, descriptor)
                program.patch(0, bd, argument, offset)
            elif bd == BDS:
                place = register_named("noc", "DMA_S2MM_0_Ctrl").offset
                program.add(BlockWrite(place, tuple(encode(descriptor, 0))))
                halves = divmod(address + offset, 1 << 32)
                program.add(Write(place + 4, halves[1]))
                program.add(Write(place + 8, halves[0]))
            program.push(0, 0, direction, 0, bd % BDS, token=True)
        program.wait_token(0, 0, direction, 0)
    return by_firmware(program.operations)


def numbered_beyond(count: int, words: int = 64, address: int = 0x400_1280_5000) -> Measured:
    """Whether ``count`` tasks each way come to their end with the descriptors of :func:`numbered`."""
    array = Array("npu1", 1, PHOENIX)
    setup = loop_back(count, words)
    given = [Given("arg0", np.arange(count * words, dtype=np.uint32))]
    wanted = [Wanted("arg1", np.dtype(np.uint32), (count * words,))] if count < BDS else []
    operations = numbered(count, words, address)
    done = run_program([*setup, *operations], array, given, wanted, launch=len(setup))
    ended = array.engine.state.channels.tasks_done[: 2 * INTERFACE.channels : INTERFACE.channels]
    return {"completed": float(done.stopped == ""), "out": float(ended[S2MM]), "in": float(ended[MM2S])}


def run_chain(count: int, words: int, direction: str, stop: str) -> tuple[Run, int, int]:
    """The tasks with two counters: from START_TASK on, and from ``stop`` (or the last end) on."""
    array = Array("npu1", 1, PHOENIX)
    unit = EventUnit(array.interface_tile(0).own_door, "pl")
    begin, end = (f"DMA_{direction}_0_{name}" for name in ("START_TASK", "FINISHED_TASK"))
    unit.count(0, begin, end if stop == "end" else "USER_EVENT_0")
    unit.count(1, end, "USER_EVENT_0", reset=end)
    setup = loop_back(count, words)
    generate = address_of(0, 0) + register_named("pl", "Event_Generate").offset
    last: list[Operation] = [Write(generate, unit.number("USER_EVENT_0")), Write(address_of(0, 1) + 0x200, 0)]
    given = [Given("arg0", np.arange(count * words, dtype=np.uint32))]
    done = run_program(
        [*setup, *transfers(count, words), *by_firmware(last)],
        array,
        given,
        [Wanted("arg1", np.dtype(np.uint32), (count * words,))],
        launch=len(setup),
    )
    return done, unit.counted(0), unit.counted(1)


def chain(count: int, words: int, direction: str) -> Measured:
    """``count`` tasks of ``words`` words one after another: each, and the gaps between them.

    What a shorter chain does a longer one does too, so that each task is the difference of two chains.
    """
    spans, busy, completed = [], [], True
    for length in range(1, count + 1):
        done, whole, after = run_chain(length, words, direction, "last")
        completed = completed and done.stopped == ""
        spans.append(whole - after)
        busy.append(run_chain(length, words, direction, "end")[1])
    tasks = np.diff([0, *busy])
    gaps = np.diff(spans) - tasks[1:]
    found = {"span": spans[-1], "completed": float(completed)}
    found |= {f"task_{n}": float(each) for n, each in enumerate(tasks)}
    found |= {f"gap_{n}": float(each) for n, each in enumerate(gaps)}
    if count > 1:
        found |= {"gap": float(np.mean(gaps)), "gap_median": float(np.median(gaps))}
        found["warm"] = float(np.mean(tasks[1:]))
    if count > 2:
        found["gap_steady"] = float(np.mean(gaps[1:]))
    return found


def single(words: int, direction: str) -> Measured:
    """One task of ``words`` words, from START_TASK to FINISHED_TASK."""
    return {"duration": chain(1, words, direction)["task_0"]}


def rate(words: tuple[int, int], direction: str) -> Measured:
    """Cycles a word between two lengths of a task."""
    first, second = (single(n, direction)["duration"] for n in words)
    return {"cycles_a_word": (second - first) / (words[1] - words[0])}


def two_channels(first: str, words: int = 64) -> Measured:
    """A transaction that pushes a task to one channel of an interface tile and then one to the other."""
    array = Array("npu1", 1, PHOENIX)
    unit = EventUnit(array.interface_tile(0).own_door, "pl")
    second = "S2MM" if first == "MM2S" else "MM2S"
    unit.count(0, *(f"DMA_{each}_0_START_TASK" for each in (first, second)))
    setup, program = loop_back(1, words), Program()
    for bd, name in enumerate((first, second)):
        program.bd(0, bd, Descriptor("interface", words, DmaAddress(0)))
        program.patch(0, bd, DIRECTIONS[name] == S2MM, 0)
    for bd, name in enumerate((first, second)):
        program.push(0, 0, DIRECTIONS[name], 0, bd, token=True)
    program.wait_token(0, 0, S2MM, 0)
    run_program(
        [*setup, *by_firmware(program.operations)],
        array,
        [Given("arg0", np.arange(words, dtype=np.uint32))],
        [Wanted("arg1", np.dtype(np.uint32), (words,))],
        launch=len(setup),
    )
    return {"gap": unit.counted(0)}


def absorbed(buffers: int, words: int = 64) -> Measured:
    """Tasks that an interface tile's MM2S takes without a loss into buffers that nobody reads."""
    column = Column()
    column.up()
    for bd in range(buffers):
        following = (bd + 1) % buffers
        acquire = Acquire(OWN.lock(0), -1, True)
        column.put(
            1, bd, Descriptor("memory", words, OWN.address(bd * words), next=following, acquire=acquire)
        )
    column.doors[1].write32(MEMORY.lock_value_base, buffers)
    column.issue(1, S2MM, 0, 0)
    buffer = column.engine.external.add("in", np.zeros(words, np.uint32))
    column.put(0, 0, Descriptor("interface", words, buffer.at()))
    for pushed in range(20):
        column.issue(0, MM2S, 0, 0)
        column.engine.run(column.engine.now + PHOENIX.firmware_push)
        if column.status(MM2S, 0, "Task_Queue_Overflow"):
            return {"tasks": pushed}
    return {"tasks": 20}


def free_running(place: int) -> Measured:
    """A drain and a fill of a memory tile, each a descriptor of 256 words that follows itself for ever.

    The host asks for 16 transfers of the drain, and then gives as many of the fill: how long both are at work
    together is the time of firmware and of the first read.

    Args:
        place: first word of the fill, -1 = no fill.
    """
    array = Array("npu1", 1, PHOENIX)
    unit = EventUnit(array.memory_tile(0).own_door)
    unit.count(0, "CONFLICT_DM_BANK_0", "CONFLICT_DM_BANK_0")
    setup = Program()
    setup.route_tokens(0)
    setup.up(0, 0, 0)
    setup.down(0, 0, 0)
    setup.circuit(0, 1, "SOUTH0", "DMA0")
    setup.circuit(0, 1, "DMA0", "SOUTH0")
    words, dims = 16 * 256, (Dim(1, 4), Dim(64, 0))
    for bd, direction, at in ((0, MM2S, 0), (1, S2MM, place)):
        if at >= 0:
            setup.add(Write(TILE + MEMORY.lock_value_base + bd * MEMORY.lock_value_stride, 1))
            guards: dict[str, Any] = {"acquire": Acquire(OWN.lock(bd), -1, True)}
            guards["release"] = Release(OWN.lock(bd), 1)
            setup.bd(0, bd, Descriptor("memory", 256, OWN.address(at), dims=dims, next=bd, **guards))
            setup.push(0, 1, direction, 0, bd)
    host = Program()
    for bd, direction in enumerate((S2MM, MM2S)[: 1 + (place >= 0)]):
        host.bd(0, bd, Descriptor("interface", words, DmaAddress(0)))
        host.patch(0, bd, 1 - bd, 0)
        host.push(0, 0, direction, 0, bd, token=direction == S2MM)
    host.wait_token(0, 0, S2MM, 0)
    given = [Given("arg0", np.arange(words, dtype=np.uint32))] if place >= 0 else []
    wanted = [Wanted("arg1", np.dtype(np.uint32), (words,))]
    operations = [*setup.operations, *by_firmware(host.operations)]
    run_program(operations, array, given, wanted, launch=len(setup.operations))
    return {"conflicts": unit.counted(0)}


def rate_of_channels(columns: int, channels: int, words: int) -> Measured:
    """External memory through memory tiles and back: bytes a cycle each way, of all channels together."""
    with chosen_timing(WARM):
        array = Array("npu1", columns, PHOENIX)
        for c in range(columns):
            door, tile = array.interface_tile(c), array.memory_tile(c)
            for n in range(channels):
                come = array.external(f"in {c} {n}", np.arange(words, dtype=np.int32))
                go = array.external(f"out {c} {n}", np.zeros(words, np.int32))
                fifo = array.object_fifo(f"come {c} {n}", door, tile, shape=1024)
                back = fifo.forward(f"go {c} {n}", door)
                fifo.producer.channel.start(door.read(come))
                back.consumers[0].channel.start(door.write(go))
        result = array.run()
        return {"bytes_a_cycle": 4 * words * columns * channels / result.cycles}


def broadcast(columns: int, rows: int, module: str) -> Measured:
    """Cycles from a user event of a core to its broadcast in a module ``columns`` and ``rows`` away."""
    array = Array("npu1", columns=4)
    source = EventUnit(array.tile(0, 2).door, "core")
    tile = array.tile(columns, 2 + rows)
    modules = [name for name, _ in event_modules(tile.kind.name)]
    assert module in modules
    heard = EventUnit(tile.door, module)  # type: ignore[arg-type]
    source.write("Event_Broadcast0", Event="USER_EVENT_0")
    source.generate("USER_EVENT_0")
    for cycle in range(60):
        array.engine.run(array.engine.now + 1)
        if heard.status("BROADCAST_0"):
            return {"cycles": cycle}
    raise AssertionError("the broadcast did not come")


SETUPS = {
    each.__name__: each
    for each in (
        operation,
        chain,
        single,
        rate,
        two_channels,
        numbered_beyond,
        absorbed,
        free_running,
        rate_of_channels,
        broadcast,
    )
}
