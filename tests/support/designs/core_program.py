"""A program with a core, in the three files of a build: what comes in goes out with 1 added."""

from __future__ import annotations

from pathlib import Path

from memtile import Array
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import DmaAddress
from memtile.programs import Header, MaskWrite, Operation, Transaction, address_of, record, transaction_bytes
from support.formats.programs import Program, cdo_of

OBJECT, OBJECTS = 16, 4
WORDS = OBJECT * OBJECTS
S2MM, MM2S = 0, 1
HEADER = Header((1, 0), 3, 6, 1, 1)
CONTROL = address_of(0, 2, 0x32000)

KERNEL = """
def {name}(core):
    number = 0
    while True:
        yield core.acquire(1)
        yield core.acquire(2)
        come = core.buffer(({inputs})[number % 2], 16)
        go = core.buffer(({outputs})[number % 2], 16)
        core.write(go, core.read(come) + 1)
        yield core.cycles(16)
        yield core.release(0)
        yield core.release(3)
        number += 1
"""


def setup() -> tuple[list[Operation], str]:
    """What initialises the array, and the kernel of core (0, 2) as Python text with a ``{name}``."""
    array = Array("npu1", columns=1)
    recording = record(array)
    io, tile = array.interface_tile(0), array.compute_tile(0, 2)
    come = array.object_fifo("come", io, tile, shape=OBJECT).consumers[0]
    go = array.object_fifo("go", tile, io, shape=OBJECT).producer
    array.route()
    tokens = Program()
    tokens.route_tokens(0)
    assert [lock.id for lock in (come.free, come.full, go.free, go.full)] == [0, 1, 2, 3]
    places = [", ".join(str(end.buffer(n).offset) for n in range(2)) for end in (come, go)]
    kernel = KERNEL.format(name="{name}", inputs=places[0], outputs=places[1])
    return [*recording.operations, *tokens.operations], kernel


def instructions(words: int = WORDS) -> list[Operation]:
    """Argument 0 in, argument 2 out, and a wait for the token of what comes out."""
    program = Program()
    for bd, argument in ((0, 0), (1, 2)):
        program.bd(0, bd, Descriptor("interface", words, DmaAddress(0)))
        program.patch(0, bd, argument)
    program.push(0, 0, S2MM, 0, 1, token=True)
    program.push(0, 0, MM2S, 0, 0)
    program.wait_token(0, 0, S2MM, 0)
    return program.operations


def operations() -> list[Operation]:
    """All of it, in order."""
    return [*setup()[0], MaskWrite(CONTROL, 1, 1), *instructions()]


def write_files(folder: Path, name: str = "core_0_2") -> dict[str, Path]:
    """The files of a build, and ``kernels.py`` with the kernel called ``name``."""
    initial, kernel = setup()
    made = {
        "init": (folder / "aie_cdo_init.bin", cdo_of(initial)),
        "enable": (folder / "aie_cdo_enable.bin", cdo_of([MaskWrite(CONTROL, 1, 1)])),
        "insts": (
            folder / "insts.bin",
            transaction_bytes(Transaction(HEADER, tuple(instructions()))),
        ),
        "kernels": (folder / "kernels.py", kernel.format(name=name).encode()),
    }
    for path, data in made.values():
        path.write_bytes(data)
    return {key: path for key, (path, _) in made.items()}
