"""Does every register do what its row says, and does every row that says nothing have a reason?

A register that acts is written or read twice from the same state: as its row says, and as if it only held
its value. The two must differ.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, get_args

import numpy.typing as npt
import pytest

from memtile.arch.events import EVENT_MODULES
from memtile.arch.register_map import TILE_MODULES, register_map
from memtile.arch.registers import Access, Acts, ModuleName, Register
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.model import axi, register_tables
from memtile.model.build.model import build
from memtile.model.cores.debug import BY_ERROR
from memtile.model.dma.channel_registers import ERROR_QUEUE_OVERFLOW
from memtile.model.state.state import State, StateTables
from memtile.model.state.tile_columns import Placed

Columns = list[npt.NDArray[Any]]
TILES = list(TILE_KINDS)
KINDS = pytest.mark.parametrize("kind", TILE_KINDS)
ONES = 0xFFFF_FFFF
VALUES = (ONES, 0x5555_5555, 1, 0)
SINCE = 20  # cycle of the accesses
LONG_AGO = -(1 << 40)  # the timer has been running since then: both halves show something
LEFT_OUT = {"spec", "memory", "flips", "fates", "access_log", "log", "notes"}
"""What is fixed, data memory, and what a run notes of its words: no register access changes it."""


PLAIN = {Acts.HOLDS, Acts.KEEPS}


def branches(module: ModuleType, function: str) -> Counter[Acts]:
    """The behaviours that a function of a module compares with."""
    text = ast.parse(inspect.getsource(module))
    found = next(n for n in ast.walk(text) if isinstance(n, ast.FunctionDef) and n.name == function)
    names = [node for node in ast.walk(found) if isinstance(node, ast.Attribute)]
    return Counter(Acts[node.attr] for node in names if ast.unparse(node.value) == "Acts")


WRITTEN, READ = branches(axi, "act_on_write"), branches(axi, "live_value")


def acting(kind: TileName) -> Iterator[tuple[int, Register]]:
    """(index, register) of those that do more than hold their value."""
    return ((n, r) for n, r in enumerate(register_tables.registers_of(kind)) if r.acts not in PLAIN)


def test_every_behaviour_has_a_branch_and_a_register() -> None:
    rows = {register.acts for kind in TILE_KINDS for register in register_tables.registers_of(kind)}
    assert rows == set(Acts)
    assert set(WRITTEN) | set(READ) == set(Acts) - PLAIN
    twice = {Acts.EVENT_STATUS, Acts.EVENT_SELECTION, Acts.EVENT_GENERATE, Acts.TIMER_CONTROL}
    assert {acts for acts, count in WRITTEN.items() if count > 1} == twice  # before the write and after it
    assert set(READ.values()) == {1}


# what an access does ---------------------------------------------------------------------------------------


class Model(NamedTuple):
    """One tile, and its state to start from."""

    state: State
    columns: Columns
    before: Columns
    words: list[bytes]  # of ``before``


def columns(state: State) -> Iterator[npt.NDArray[Any]]:
    """Everything that an access may change but the data memory."""
    for name in StateTables._fields:
        if name not in LEFT_OUT:
            table = getattr(state, name)
            yield from (getattr(table, n) for n in table._fields) if hasattr(table, "_fields") else [table]


def lively(state: State) -> None:
    """Put something everywhere that registers show or act on."""
    state.clock.now[:] = SINCE
    state.channels.errors[:] = 1 << ERROR_QUEUE_OVERFLOW
    state.channels.moved[:] = 1
    state.counts.held[:] = state.counts.words[:] = 1
    state.locks.value[:] = 3
    state.locks.overflow[:] = state.locks.underflow[:] = 1
    state.arbiters.position[:] = state.arbiters.served[:] = 1
    state.stamps[:] = SINCE - 1
    state.observers.timer_base[:] = LONG_AGO
    state.traces.state[:] = 1
    state.cores.ended[:], state.cores.halted[:], state.cores.reset[:] = 1, 1 | BY_ERROR, 2
    state.program[:] = 7


@cache
def model(kind: TileName) -> Model:
    state = build([Placed(kind)], switched=True)
    lively(state)
    found = list(columns(state))
    return Model(state, found, [each.copy() for each in found], [each.tobytes() for each in found])


Result = tuple[int, dict[int, bytes]]


def outcome(at: Model, access: Callable[[State], int]) -> Result:
    """What an access answers and which columns it changes, to what; the model is then as before."""
    answer = access(at.state)
    left = {}
    for number, (column, words) in enumerate(zip(at.columns, at.words, strict=True)):
        if (now := column.tobytes()) != words:
            left[number] = now
            column[...] = at.before[number]
    return answer, left


def acts(kind: TileName, index: int, access: Callable[[State], int]) -> bool:
    """Whether an access differs from one to a register that only holds its value."""
    at = model(kind)
    row = at.state.spec.register_map.acts[TILES.index(kind)]
    said, row[index] = row[index], Acts.HOLDS
    plain = outcome(at, access)
    row[index] = said
    return outcome(at, access) != plain


def write(register: Register, value: int) -> Callable[[State], int]:
    def access(state: State) -> int:
        if register.acts is Acts.CLEARS:
            axi.set_bits(state, 0, register.argument, ONES)
        return axi.write(state, 0, register.offset, value)

    return access


def read(register: Register) -> Callable[[State], int]:
    request = 4 if register.acts is Acts.LOCK_REQUEST else 0  # release lock 0 by one
    return lambda state: axi.read(state, 0, register.offset + request)


@pytest.mark.slow
@KINDS
def test_every_write_does_what_its_row_says(kind: TileName) -> None:
    found = [(n, r) for n, r in acting(kind) if r.acts in WRITTEN]
    assert found
    idle = [r.name for n, r in found if not any(acts(kind, n, write(r, value)) for value in VALUES)]
    assert idle == []


@KINDS
def test_every_read_shows_what_its_row_says(kind: TileName) -> None:
    found = [(n, r) for n, r in acting(kind) if r.acts in READ]
    assert found
    assert [r.name for n, r in found if not acts(kind, n, read(r))] == []


@KINDS
def test_a_register_that_holds_its_value_would_be_seen(kind: TileName) -> None:
    """The comparison can fail: rows that name a behaviour for the other kind of access alone."""
    found = [(n, r) for n, r in acting(kind) if r.acts not in READ]
    assert found
    assert not any(acts(kind, n, read(r)) for n, r in found)


# which one it is about -------------------------------------------------------------------------------------

NUMBERED = {
    Acts.WRITE_COUNT: r"DMA_S2MM_Current_Write_Count_(\d+)",
    Acts.COUNT_POP: r"DMA_S2MM_FoT_Count_FIFO_Pop_(\d+)",
    Acts.LOCK_VALUE: r"Lock(\d+)_value",
    Acts.MERGE: r"Stream_Switch_Deterministic_Merge_arb(\d)_.*",
}
OF_A_CHANNEL = re.compile(r"DMA_(S2MM|MM2S)_(?:Status_)?(\d)\w*")
HALVES = {"Timer_Low": 0, "Timer_High": 1}


@KINDS
def test_the_argument_is_the_number_in_the_name(kind: TileName) -> None:
    channels = TILE_KINDS[kind].channels
    for _, register in acting(kind):
        if register.acts in NUMBERED:
            found = re.fullmatch(NUMBERED[register.acts], register.name)
            assert found, register.name
            assert register.argument == int(found[1]), register.name
        elif register.acts in (Acts.START_QUEUE, Acts.CHANNEL_CONTROL, Acts.CHANNEL_STATUS):
            found = OF_A_CHANNEL.fullmatch(register.name)
            assert found, register.name
            assert register.argument == int(found[2]) + channels * (found[1] == "MM2S"), register.name
        elif register.acts in (Acts.LOCK_OVERFLOW, Acts.LOCK_UNDERFLOW):
            assert register.fields[-1].name.endswith(f"flow_{register.argument}"), register.name
        elif register.acts is Acts.TIMER:
            assert register.argument == HALVES[register.name]


@KINDS
def test_what_changes_another_register_names_one_of_its_module(kind: TileName) -> None:
    changing = {Acts.SETS, Acts.CLEARS}
    for table in (register_map(module) for module in TILE_MODULES[kind]):
        for register in table.values():
            if register.acts in changing:
                other = table[register.argument]
                assert other.access is Access.RO, register.name
                assert [f.mask for f in other.fields] == [f.mask for f in register.fields]


@KINDS
def test_registers_of_an_event_unit_are_about_the_unit_of_their_module(kind: TileName) -> None:
    units = {"memory": 1, "memory_2p": 1, "memory_v2": 1}  # of a compute tile, whose core module comes first
    found = build([Placed(kind)]).spec.register_map.unit[TILES.index(kind)]
    places = {r.offset: n for n, r in enumerate(register_tables.registers_of(kind))}
    for module in TILE_MODULES[kind]:
        for register in register_map(module).values():
            if register.acts not in PLAIN:
                assert found[places[register.offset]] == units.get(module, 0), (module, register.name)


def test_every_module_that_raises_events_has_an_event_unit() -> None:
    tables = {module: register_map(module).values() for module in get_args(ModuleName)}
    raising = {m for m, rows in tables.items() if any(r.acts is Acts.EVENT_GENERATE for r in rows)}
    assert raising == set(EVENT_MODULES)


# which ones only hold their value --------------------------------------------------------------------------

HARDWARE = re.compile("status|count", re.IGNORECASE)
REASONS = {
    "the unit counts in the register itself": r"Performance_Counter\d",
    "set and cleared by the registers beside it (DEV-REG-10)": (
        r"Event_Broadcast(_[AB])?_Block_\w+_Value|Interrupt_controller_\w+_(mask(_[AB])?|value)"
    ),
    "kernels are no instructions (DEV-REG-9)": "Core_(FC|LC|Processor_Bus)",
    "no memory is repaired at boot": "BISR_CACHE_STATUS",
    "a word with wrong parity sets its bits": "Stream_Switch_Parity_Status",
    "a control packet that is refused sets its bits": r"(Tile_)?Control_Packet_Handler_Status",
    "no interrupt is modelled": r"Interrupt_controller_\w+_status(_[AB])?",
    "the switch is never gated": "Stream_Switch_Adaptive_Clock_Gate_Status",
    "external memory answers at once where nobody looks (DEV-V2-9)": "AXI_MM_Outstanding_Transactions",
}


def silent() -> Iterator[str]:
    """Names of the registers that look as if hardware drove them or a write did something, and do not act."""
    tables = [register_map(module).values() for module in get_args(ModuleName)]
    for register in (r for table in tables for r in table):
        stored = all(field.access is Access.RW or field.reserved for field in register.fields)
        if register.acts in PLAIN and (not stored or HARDWARE.search(register.name)):
            yield register.name


def test_a_register_that_seems_to_act_and_does_not_has_a_reason() -> None:
    found = set(silent())
    explained = {why: {name for name in found if re.fullmatch(form, name)} for why, form in REASONS.items()}
    assert all(explained.values())
    assert found - set.union(*explained.values()) == set()
