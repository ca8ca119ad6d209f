"""Does every array that does not fit a program get its clear error, with all problems at once?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memtile import Array
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import DmaAddress
from memtile.errors import DesignError, InputFileError, MemtileError
from memtile.io.program.device_detection import device_of
from memtile.io.program.program_formats import StoredProgram
from memtile.runs.array_names import Given, Wanted
from memtile.runs.operations import ArrayShape, Other, Write, address_of
from memtile.runs.session import run_program
from support.formats.programs import Program

S2MM, MM2S = 0, 1
READS, WRITES = 0x1_0000_0000, 0x2_0000_0000
WORDS = np.arange(16, dtype=np.int32)
READ = "0x100000000, 64 bytes, read by interface(2,0) MM2S 0, BD 0"
WRITTEN = "0x200000000, 64 bytes, written by interface(2,0) S2MM 1, BD 1"
LARGEST = "bytes, allowed are 1..268435456 bytes"


def program() -> Program:
    """Reads 64 bytes and writes 64 bytes of external memory."""
    made = Program()
    made.bd(2, 0, Descriptor("interface", 16, DmaAddress(READS // 4)))
    made.bd(2, 1, Descriptor("interface", 16, DmaAddress(WRITES // 4)))
    made.push(2, 0, S2MM, 1, 1)
    made.push(2, 0, MM2S, 0, 0)
    return made


def problems(given: list[Given] | None = None, wanted: list[Wanted] | None = None) -> list[str]:
    array = Array()
    with pytest.raises(InputFileError) as caught:
        run_program(program().operations, array, given or [], wanted or [])
    assert array.engine.now == 0
    assert array.door.read32(2 << 25 | 0x1D000) == 0  # nothing is done
    return str(caught.value).splitlines()


NEEDED = (
    "memtile run: the program needs an array for buffer 0x100000000, 64 bytes, read by "
    "interface(2,0) MM2S 0, BD 0"
)


def test_a_missing_array() -> None:
    zeros = "or --pad-arguments for zeros."
    assert problems() == [f"{NEEDED} (the program). Give --in NAME=FILE.npy, {zeros}"]
    done = run_program(program().operations, Array(), [], [], pad_arguments=True)
    assert "0x100000000: no array was given; 64 bytes of zeros" in done.notes
    assert problems(wanted=[Wanted("0")]) == [f"{NEEDED} (the program). Give --in 0=FILE.npy, {zeros}"]


def test_unknown_names_are_told_with_what_there_is() -> None:
    given = [Given("a", WORDS), Given("b", WORDS), Given("7", WORDS)]
    wanted = [Wanted("out"), Wanted("more"), Wanted("0x300000000")]
    assert problems(given, wanted) == [
        f"array 7: no input is called '7'; the inputs are {READ} (the program).",
        f"array 0x300000000: no output is called '0x300000000'; the outputs are {WRITTEN} (the program).",
        f"array b: no input is called 'b'; the inputs are {READ} (the program).",
        f"array more: no output is called 'more'; the outputs are {WRITTEN} (the program).",
    ]


def test_names_that_are_none() -> None:
    given = [Given("memory(0,0)+0x0", WORDS), Given("memory(0,1) S2MM 6", WORDS), Given("x(", WORDS)]
    wanted = [Wanted("compute(4,2)+0x0", shape=(1,)), Wanted("memory(0,1)+0x0")]
    assert problems([*given, Given("x", WORDS)], wanted) == [
        "array memory(0,0)+0x0: the tile at column 0, row 0 is not of kind memory, but of kind "
        "interface (names of arrays).",
        "array memory(0,1) S2MM 6: channel is 6, allowed are 0..5 (names of arrays).",
        "array x(: name is 'x('; it must be an argument (0), an external address (0x100000000), a tile "
        "memory (memory(0,1)+0x0), a stream (memory(0,1) MM2S 0), or a name of your own without "
        "brackets (names of arrays).",
        "array compute(4,2)+0x0: there is no tile at column 4, row 2; the array has columns 0..3, rows "
        "0..5 (names of arrays).",
        "array memory(0,1)+0x0: the shape is missing (the program). Say how much: "
        "memory(0,1)+0x0:int32:16x8.",
    ]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (
            WORDS[:15],
            f"array x: size is 60 bytes; the buffer needs at least 64: {READ} (the program). Give "
            "--pad-arguments (run_program(pad_arguments=True)) to fill it up with zeros.",
        ),
        (
            np.zeros(67, np.int8),
            "array x: size is 67 bytes; it must be whole 32-bit words, at least one (the program).",
        ),
        pytest.param(
            np.array([None] * 8),
            "array x: the elements are object; they must be numbers, or records of numbers (the program).",
            id="objects",
        ),
        (WORDS[:0], "array x: size is 0 bytes; it must be whole 32-bit words, at least one (the program)."),
    ],
)
def test_an_array_of_a_wrong_size(array: np.ndarray, message: str) -> None:
    assert problems([Given("x", array)]) == [message]


def test_a_larger_array_is_no_mistake() -> None:
    done = run_program(program().operations, Array(), [Given("x", np.zeros(1000, np.int8))])
    assert done.buffers[0].words.nbytes == 1000


@pytest.mark.parametrize(
    ("want", "message"),
    [
        (Wanted("y", np.dtype(np.int32), (15,)), f"the shape takes 60 bytes; the buffer has 64: {WRITTEN}"),
        (Wanted("y", np.dtype("c16"), (1 << 25,)), f"size is {1 << 29} {LARGEST}"),
        (
            Wanted("memory(0,1)+0x7fffc", shape=(2,)),
            "the array covers bytes 0x7fffc..0x80003; they must be whole words in 0x0..0x7ffff",
        ),
        (
            Wanted("memory(0,1)+2", shape=(2,)),
            "the array covers bytes 0x2..0x9; they must be whole words in 0x0..0x7ffff",
        ),
        (Wanted("memory(0,1) S2MM 0"), "an S2MM stream enters the tile; --out needs an MM2S stream"),
    ],
)
def test_an_output_that_cannot_be(want: Wanted, message: str) -> None:
    assert problems([Given("x", WORDS)], [want]) == [f"array {want.name}: {message} (the program)."]


def test_a_type_that_does_not_divide_the_buffer() -> None:
    made = program()
    made.bd(2, 1, Descriptor("interface", 15, DmaAddress(WRITES // 4)))
    made.push(2, 0, S2MM, 0, 1)
    made.operations = [op for op in made.operations if op != program().operations[2]]
    with pytest.raises(
        InputFileError, match="array y: size is 60 bytes; it must be a multiple of 8 bytes, as int64 needs"
    ):
        run_program(made.operations, Array(), [Given("x", WORDS.view(np.int64))], [Wanted("y")])


def test_inputs_that_go_nowhere() -> None:
    given = [Given("x", WORDS), Given("memory(0,1) MM2S 0", WORDS), Given("memory(0,1)+0x7ffe0", WORDS)]
    assert problems([*given, Given("x", WORDS)]) == [
        "array x: the array is given 2 times with --in; it must be given once (the program).",
        (
            "array memory(0,1) MM2S 0: an MM2S stream leaves the tile; --in needs an S2MM stream (the "
            "program)."
        ),
        "array memory(0,1)+0x7ffe0: the array covers bytes 0x7ffe0..0x8001f; they must be whole words "
        "in 0x0..0x7ffff (the program).",
    ]


def test_two_names_for_one_buffer() -> None:
    given = [Given("0", WORDS), Given("0x100000000", WORDS)]
    assert problems(given, [Wanted("y"), Wanted("0x200000000")]) == [
        "array 0x100000000: the buffer 0x100000000 is that of array 0 already (the program).",
        f"array y: no output is called 'y'; the outputs are {WRITTEN} (the program).",
    ]


def test_an_argument_that_no_task_uses() -> None:
    """Something else may start what it is patched into, and nobody knows its size."""
    made = Program()
    made.bd(2, 0, Descriptor("interface", 4, DmaAddress(0)))
    made.patch(2, 0, 3)
    assert run_program(made.operations, Array()).result.good
    assert run_program(made.operations, Array(), [Given("3", WORDS)]).buffers[0].words.nbytes == 64
    sized = run_program(made.operations, Array(), (), [Wanted("3", np.dtype(np.int8), (8,))])
    assert sized.arrays["3"].tolist() == [0] * 8
    with pytest.raises(InputFileError) as caught:
        run_program(made.operations, Array(), (), [Wanted("3")])
    assert str(caught.value) == (
        "array 3: size is 0 bytes, allowed are 1..268435456 bytes (the program). Say how much: 3:int32:16x8."
    )


def test_arrays_that_overlap() -> None:
    given = [Given("0x100000000", WORDS), Given("0x100000020", WORDS)]
    with pytest.raises(
        DesignError,
        match=r"bytes 0x100000020\.\.0x10000005f overlap 0x100000000, which has 0x100000000\.\.0x10000003f",
    ):
        run_program(program().operations, Array(), given)


def test_a_part_of_a_buffer_by_address_leaves_the_rest_missing() -> None:
    made = Program()
    for bd in (0, 1):  # two descriptors read one piece each of what could be one buffer
        made.bd(2, bd, Descriptor("interface", 8, DmaAddress(READS // 4 + 8 * bd)))
        made.push(2, 0, MM2S, 0, bd)
    whole = run_program(made.operations, Array(), [Given("x", WORDS)])
    assert [(b.name, b.region.needed) for b in whole.buffers] == [("x", 64)]
    with pytest.raises(
        InputFileError,
        match=r"^memtile run: the program needs an array for buffer 0x100000020, 32 bytes, read",
    ):
        run_program(made.operations, Array(), [Given("0x100000000", WORDS[:8])])
    apart = [Given("0x100000020", WORDS[:8]), Given("0x100000000", WORDS[8:])]
    assert len(run_program(made.operations, Array(), apart).buffers) == 2


def test_what_nobody_answers_is_a_decode_error_with_its_address() -> None:
    """A buffer too large to be made up is not there."""
    made = program()
    made.bd(2, 1, Descriptor("interface", 1 << 28, DmaAddress(WRITES // 4)))
    made.up(2, 0, 0)
    made.circuit(2, 1, "SOUTH0", "SOUTH0")
    made.down(2, 1, 0)
    made.push(2, 0, S2MM, 1, 1)
    done = run_program(made.operations, Array(), [Given("x", WORDS)])
    assert done.result.status == "halted"
    assert "halted by AXI_MM_Decode_Error at byte 0x200000000 of external memory" in done.result.waiting[0]


def test_problems_of_program_and_arrays_come_together() -> None:
    made = program()
    made.add(Other("LOADPDI", bytes(16), place="f, byte 0x0040"))
    made.patch(2, 0, 0, 2)
    made.add(Other("DDR_PATCH", bytes(8), (), place="f, byte 0x0050"))
    made.wait_token(3, 5, 1, 2)
    made.wait_token(3, 1, 2, 0)
    made.wait_token(0, 0, 1, 3, columns=255, rows=255)
    with pytest.raises(InputFileError) as caught:
        run_program(made.operations, Array(), [Given("x", WORDS[:3])])
    assert [line.partition(" (")[0] for line in str(caught.value).splitlines()] == [
        "f, byte 0x0040: the program loads PDI 0, which is not in the files",
        "program: argument offset is 2 bytes; it must be a multiple of 4",
        "f, byte 0x0050: the DDR_PATCH has 8 bytes, which is no known size",
        "program: the TOKEN_WAIT names channel 2 of the tile at column 3, row 5, which has 2 channels",
        "program: the TOKEN_WAIT says direction 2, row 1, column 3, rows 1, columns 1, channel 0; it must "
        "say 1 or more columns and rows, and direction 0 or 1",
        "program: the TOKEN_WAIT names channel 3 of the tile at column 0, row 0, which has 2 channels; of "
        "65020 more tiles too",
        (
            "array x: size is 12 bytes; the buffer needs at least 64: 0x100000000, 64 bytes, read by "
            "interface(2,0) MM2S 0, BD 0"
        ),
    ]


def test_a_wait_for_more_tiles_than_anybody_could_count_is_refused_at_once() -> None:
    details = (("column", 0), ("row", 0), ("columns", 1), ("rows", 1 << 60), ("direction", 0), ("channel", 0))
    with pytest.raises(InputFileError) as caught:
        run_program([Other("TOKEN_WAIT", bytes(16), details, place="f")], Array())
    assert str(caught.value).startswith(
        "f: the TOKEN_WAIT names channel 0 of the tile at column 0, row 6, which has no channels; of "
        f"{(1 << 60) - 7} more tiles too ("
    )


@pytest.mark.parametrize("register", [0x1D000, 0x1D008, 0x1D204, 0x1D204 + 4, 0xA0004 | 1 << 20])
def test_a_patch_of_anything_but_an_address(register: int) -> None:
    details = (("address", register), ("argument", 0), ("offset", 0))
    with pytest.raises(InputFileError) as caught:
        run_program([Other("DDR_PATCH", bytes(24), details, place="f")], Array())
    assert str(caught.value) == (
        f"f: the patch is for {register:#010x}; it must be for the lower half of Base_Address in a "
        "descriptor of an interface tile (mlir-aie pointer patches)."
    )


def message(call: Callable[[], object]) -> str:
    with pytest.raises(MemtileError) as caught:
        call()
    return str(caught.value)


def read(columns: int, rows: int, memory_rows: int, generation: int) -> StoredProgram:
    return StoredProgram("f", "txn", "", (), ArrayShape(columns, rows, memory_rows), generation)


def test_the_device_follows_from_the_header_or_is_named() -> None:
    cases = [
        ((4, 6, 1, 2), "npu1"),
        ((2, 6, 1, 3), "npu1"),
        ((4, 11, 2, 2), "xcve2802"),
        ((9, 4, 1, 2), "xcve2302"),
    ]
    for (columns, *rest), name in cases:
        device, shape = device_of([read(columns, *rest)])
        assert (device.name, shape.columns) == (name, columns)
    dump = StoredProgram("d", "dump", "", ())
    assert device_of([dump])[0].name == "npu1"
    assert device_of([dump, read(4, 11, 2, 2)])[0].name == "xcve2802"
    device, shape = device_of([read(8, 6, 1, 4)], "xcve2302")
    assert (device.name, shape.columns) == ("xcve2302", 17)
    assert device_of([read(2, 4, 1, 4)], "xcve2302")[1].columns == 2


@pytest.mark.parametrize(
    ("header", "name", "columns"),
    [
        ((5, 6, 1, 2), "npu1", 4),  # older builds: the physical columns of Phoenix
        ((5, 6, 1, 3), "npu1", 4),
        ((8, 6, 1, 4), "npu2", 8),
        ((5, 6, 1, 4), "npu2", 5),
        ((1, 6, 1, 4), "npu2", 1),
        ((4, 6, 1, 8), "npu2", 4),  # the driver's numbers of the steppings of Strix
        ((4, 6, 1, 9), "npu2", 4),
        ((8, 6, 1, 3), "npu2", 8),  # older builds of npu2
        ((6, 6, 1, 3), "npu2", 6),
        ((8, 6, 1, 2), "npu2", 8),
        ((7, 6, 1, 0), "npu2", 7),  # a number that says nothing
        ((36, 7, 2, 5), "xc2ve3858", 36),
    ],
)
def test_headers_of_npus(header: tuple[int, int, int, int], name: str, columns: int) -> None:
    """DEV-AIE2P-4."""
    device, shape = device_of([read(*header)])
    assert (device.name, shape.columns) == (name, columns)
    assert shape == ArrayShape.of(device, columns)
    assert shape.generation == device.generation


def test_a_header_of_five_columns_leaves_the_part_to_the_other_files() -> None:
    device, shape = device_of([read(5, 6, 1, 3), read(1, 6, 1, 3), read(5, 6, 1, 3)])
    assert (device.name, shape.columns) == ("npu1", 1)
    assert device_of([read(5, 6, 1, 3)], "npu1")[1].columns == 4
    assert device_of([read(5, 6, 1, 3)], "npu2")[1].columns == 5
    assert message(lambda: device_of([read(5, 6, 1, 3), read(8, 6, 1, 4)])).startswith(
        "f, f: the files are for different arrays: 5 x 6 tiles with 1 memory tile row and 8 x 6"
    )
    assert message(lambda: device_of([read(4, 6, 1, 3), read(4, 6, 1, 4)])) == (
        "f, f: the files are for different arrays: npu1 and npu2 (transaction headers). Name a --device."
    )


def test_a_header_that_fits_several_devices_asks_for_one() -> None:
    assert message(lambda: device_of([read(4, 6, 1, 0)])) == (
        "f: the array has 4 x 6 tiles with 1 memory tile row, generation 0 (unknown), which fits npu1 and "
        "npu2 (transaction headers). Name a --device, such as npu1."
    )
    assert device_of([read(4, 6, 1, 0)], "npu2")[0].name == "npu2"


def test_files_without_header_are_for_npu1_unless_they_write_beyond_it() -> None:
    inside, beyond = (
        StoredProgram(
            "f.bin", "cdo", "", (Write(address_of(column, 1, 0xA0000), 1, place=f"f.bin, {column}"),)
        )
        for column in (3, 4)
    )
    assert device_of([inside])[0].name == "npu1"
    assert message(lambda: device_of([inside, beyond])) == (
        "f.bin, 4: the file does not say its device and writes to tile (4,1), which npu1 has not "
        "(transaction headers). Name a --device; xcve2802, xcve2302, npu2, xc2ve3858 have that tile."
    )
    assert device_of([beyond], "npu2")[0].name == "npu2"
    assert device_of([beyond, read(8, 6, 1, 4)])[0].name == "npu2"


def test_a_header_that_fits_no_device() -> None:
    known = (
        "which fits no known device: xcve2802 with 38 x 11 tiles with 2 memory tile rows, xcve2302 with "
        "17 x 4 tiles with 1 memory tile row, npu1 with 4 x 6 tiles with 1 memory tile row, npu2 with 8 x 6 "
        "tiles with 1 memory tile row, xc2ve3858 with 36 x 7 tiles with 2 memory tile rows (transaction "
        "headers). Name a --device to run it on."
    )
    assert message(lambda: device_of([read(9, 6, 1, 4)])) == (
        f"f: the array has 9 x 6 tiles with 1 memory tile row, generation 4 (NPU2), {known}"
    )
    for shape in ((9, 6, 1, 2), (4, 6, 1, 1), (4, 6, 2, 3), (0, 6, 1, 2), (4, 6, 1, 5), (4, 11, 2, 4)):
        assert message(lambda shape=shape: device_of([read(*shape)])).endswith(known)
    both = [read(4, 6, 1, 2), read(4, 11, 2, 2)]
    assert message(lambda: device_of(both)).startswith(
        "f, f: the files are for different arrays: 4 x 6 tiles with 1 memory tile row and 4 x 11"
    )
    assert device_of(both, "npu1")[0].name == "npu1"
    assert "Did you mean npu1?" in message(lambda: device_of(both, "npu11"))


def test_a_named_device_of_another_generation_is_taken() -> None:
    device, shape = device_of([read(2, 6, 1, 3)], "xc2ve3858")
    assert (device.name, shape.generation, shape.columns) == ("xc2ve3858", "AIE-ML v2", 36)
