"""Registers of the core itself, in module ``core``: register file, control and debug unit (AM025).

A kernel in Python has no instructions, so the register file, the program counter among it, and whatever is
about program memory keep what software writes and nothing more (DEV-REG-9). Rows graded ``driver`` are in
the driver's register header only (DEV-REG-5, DEV-REG-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.grades import Grade
from memtile.arch.registers import WORD_BITS, Access, Acts, DebugControl, Register, array, fields, reserved

VECTOR_REGISTER_BITS = 128  # of one part of a vector register or accumulator
_VECTOR_BYTES = VECTOR_REGISTER_BITS // 8
STRIDE = 0x10  # between two registers of the file, also where they are narrower
VECTOR, WORD = f"Register_Value {VECTOR_REGISTER_BITS - 1}:0", "Register_Value 31:0"
POINTER, SHIFT = "Register_Value 19:0", "Register_Value 5:0"
_QUARTERS, _ACCUMULATORS = ("LL", "LH", "HL", "HH"), 9
_HALVES, _VECTORS = ("L", "H"), 12
_MODIFIERS = ("M", "DN", "DJ", "DC", "P")  # of address generators: eight each
MODE = """
    Float_to_Bfloat_Huge_Mask 27, Float_to_Bfloat_Tiny_Mask 26, Float_to_Bfloat_Invalid_Mask 25,
    Float_to_Bfloat_Infinity_Mask 24, Float_to_Bfloat_Zero_Mask 23, Bfloat_to_Int_Huge_Mask 22,
    Bfloat_to_Int_Tiny_Mask 21, Bfloat_to_Int_Invalid_Mask 20, Bfloat_to_Int_Zero_Mask 18, SRS_Sign 17,
    UPS_Sign 16, Pack_Sign 15, Unpack_Sign 14, Vadd_Sign 13, SCD_Enable 12, MCD_Enable 11,
    Float_MAC_Huge_Mask 10, Float_MAC_Tiny_Mask 9, Float_MAC_Invalid_Mask 8, Float_MAC_Infinity_Mask 7,
    Float_MAC_Zero_Mask 6, Round_Mode 5:2, Saturation_Mode 1:0"""
FLAGS = """
    Sparse_Overflow 22, Float_to_Bfloat_Huge_Flag 21, Float_to_Bfloat_Tiny_Flag 20,
    Float_to_Bfloat_Invalid_Flag 19, Float_to_Bfloat_Infinity_Flag 18, Float_to_Bfloat_Zero_Flag 17,
    Bfloat_to_Int_Huge_Flag 16, Bfloat_to_Int_Tiny_Flag 15, Bfloat_to_Int_Invalid_Flag 14,
    Bfloat_to_Int_Zero_Flag 12, Float_MAC_Huge_Flag 11, Float_MAC_Tiny_Flag 10, Float_MAC_Invalid_Flag 9,
    Float_MAC_Infinity_Flag 8, Float_MAC_Zero_Flag 7, Compression_Underflow 6, UPS_Overflow 5,
    SRS_Overflow 4, MS0_Success 3, SS0_Tlast 2, SS0_Success 1, Carry 0"""
_STATUS = """
    Core_Processor_Bus_Stall 21, Core_Done 20, Error_Halt 19, ECC_Scrubbing_Stall 18, ECC_Error_Stall 17,
    Debug_Halt 16, Cascade_Stall_MCD 15, Cascade_Stall_SCD 14, Stream_Stall_MS0 12, Stream_Stall_SS0 10,
    Lock_Stall_E 9, Lock_Stall_N 8, Lock_Stall_W 7, Lock_Stall_S 6,
    Memory_Stall_E 5, Memory_Stall_N 4, Memory_Stall_W 3, Memory_Stall_S 2, Reset 1, Enable 0"""
_ENABLING = """
    Disable_Event_occurred 15 wtc, Disable_Event 14:8, Enable_Event_occurred 7 wtc, Enable_Event 6:0"""
_HALTING = """
    Debug_Halt_Core_Event1 30:24, Debug_Halt_Core_Event0 22:16, Debug_SingleStep_Core_Event 14:8,
    Debug_Resume_Core_Event 6:0"""
_STALLS = "Stream_Stall_Halt 3, Lock_Stall_Halt 2, Memory_Stall_Halt 1, PC_Event_Halt 0"
_HALTED = """
    Debug_Event1_Halted 6, Debug_Event0_Halted 5, Stream_stall_Halted 4, Lock_Stall_Halted 3,
    Memory_Stall_Halted 2, PC_Event_halted 1, Debug_halted 0"""
_BUS = "SLVERR_On_Access 2 wtc, Enable 0"
_ECC_CONTROL = "UNSTALL_CORE 1, STALL_CORE_CONTROL 0"
_ECC_ADDRESS = "CLEAR_FAILING_ADDRESS 15, ACCESS_TYPE 14, ECC_ERROR_DETECTION_ADDRESS 13:0"
_RESETS = "CORE_MODULE_RESET 2, MEMORY_MODULE_RESET 1, STREAM_SWITCH_RESET 0"


def register_file() -> Iterator[Register]:
    """Accumulators, vectors, scalars, address registers and the special ones, in address order."""
    yield from _accumulators()
    yield from reserved(0, 0x30480, 56, _VECTOR_BYTES)
    yield from vectors()
    yield from reserved(56, 0x30B00, 16, _VECTOR_BYTES)
    yield from kept("Core_R{}", 0x30C00, WORD, 32)
    yield from modifiers(0x30E00)
    yield from kept("Core_S{}", 0x31080, SHIFT, 4)
    yield from kept("Core_Q{}", 0x310C0, VECTOR, 4)  # reserved in the driver's header (DEV-REG-11)
    yield from _special()
    yield from kept("CORE_Q{}", 0x31200, VECTOR, 4, Grade.DRIVER)  # the header's Q registers, likewise


def control_registers() -> Iterator[Register]:
    """Enable, reset, debug, error halt and processor bus, each word of them in address order."""
    events, control = Acts.EVENT_SETUP, Acts.DEBUG_CONTROL
    yield Register(
        "Core_Control", 0x32000, fields("Reset 1, Enable 0"), 2, acts=control, argument=DebugControl.CORE
    )
    yield Register("Core_Status", 0x32004, fields(_STATUS, Access.RO), 2, acts=Acts.CORE_STATUS)
    yield Register("Enable_Events", 0x32008, fields(_ENABLING), acts=events)
    yield Register("Reset_Event", 0x3200C, fields("Reset_Event 6:0"), acts=events)
    halt = fields("Single_Step_Count 5:2, Debug_Halt_Bit 0")
    yield Register("Debug_Control0", 0x32010, halt, acts=control, argument=DebugControl.HALT_BIT)
    yield Register("Debug_Control1", 0x32014, fields(_HALTING), acts=events)
    stalls, error = DebugControl.STALLS, DebugControl.ERROR
    yield Register("Debug_Control2", 0x32018, fields(_STALLS), acts=control, argument=stalls)
    yield Register("Debug_Status", 0x3201C, fields(_HALTED, Access.RO), acts=Acts.DEBUG_STATUS)
    pc_event = Register("PC_Event{}", 0x32020, fields("Valid 31, PC_Address 13:0"), acts=Acts.KEEPS)
    yield from array(pc_event, 4)
    yield Register("Error_Halt_Control", 0x32030, fields("Error_Halt 0 wtc"), acts=control, argument=error)
    yield Register("Error_Halt_Event", 0x32034, fields("Error_Halt_Core_Event 6:0"), acts=events)
    yield Register("Core_Processor_Bus", 0x32038, fields(_BUS), acts=Acts.KEEPS)
    cascade = fields("Output 1, Input 0")
    yield Register("Accumulator_Control", 0x36060, cascade, acts=Acts.CASCADE)


def program_registers() -> Iterator[Register]:
    """Registers of program memory; ``Core_`` tells them from those of data memory (DEV-REG-4, DEV-REG-12)."""
    zeroisation = fields("Memory_Zeroisation 0 wo")
    yield _only_in_header("PROGRAM_MEMORY_ERROR_INJECTION", 0x24000, "A 127:0")
    yield _only_in_header("Core_ECC_Control", 0x32100, _ECC_CONTROL)
    yield _only_in_header("Core_ECC_Scrubbing_Event", 0x32110, "SCRUBBING_EVENT_NUMBER 6:0")
    yield _only_in_header("Core_ECC_Failing_Address", 0x32120, _ECC_ADDRESS)
    yield Register("Core_Memory_Control", 0x36070, zeroisation, acts=Acts.PROGRAM_CONTROL)


def spare_registers() -> Iterator[Register]:
    """Registers of the tile in module ``core`` that are in the driver's header only."""
    yield _only_in_header("CSSD_TRIGGER", 0x36040, "TRIGGER 0")
    yield _only_in_header("SPARE_REG", 0x36050, "SPARE_REG 15:0")
    yield _only_in_header("MODULE_RESET_CONTROL", 0x60010, _RESETS)


def _only_in_header(name: str, offset: int, layout: str) -> Register:
    parts = fields(layout)
    bits = max(WORD_BITS, parts[0].msb + 1)
    return Register(name, offset, parts, width=bits, span=bits // 8, grade=Grade.DRIVER, acts=Acts.KEEPS)


def kept(name: str, base: int, layout: str, count: int, grade: Grade = Grade.MANUAL) -> Iterator[Register]:
    """``count`` registers of the file with one field; wide ones answer to all of their words."""
    field, *_ = parts = fields(layout)
    bits = max(WORD_BITS, field.msb + 1)
    first = Register(name, base, parts, width=bits, span=bits // 8, grade=grade, acts=Acts.KEEPS)
    yield from array(first, count, STRIDE)


def _accumulators() -> Iterator[Register]:
    for n in range(_ACCUMULATORS):
        for k, quarter in enumerate(_QUARTERS):
            base = 0x30000 + (len(_QUARTERS) * n + k) * 2 * STRIDE
            yield from _halves(f"Core_AM{quarter}{n}", base)


def modifiers(base: int) -> Iterator[Register]:
    """Registers of the address generators, eight of each kind, from byte ``base`` on."""
    for n, name in enumerate(_MODIFIERS):
        yield from kept(f"Core_{name}{{}}", base + n * 8 * STRIDE, POINTER, 8)


def vectors() -> Iterator[Register]:
    """Vector registers of 512 bits, a half of each in two parts."""
    for n in range(_VECTORS):
        for k, half in enumerate(_HALVES):
            base = 0x30800 + (len(_HALVES) * n + k) * 2 * STRIDE
            yield from _halves(f"Core_W{half}{n}", base)


def _halves(name: str, base: int) -> Iterator[Register]:
    for part in (1, 2):
        yield from kept(f"{name}_Part{part}", base + (part - 1) * STRIDE, VECTOR, 1)


def _special() -> Iterator[Register]:
    read_only = fields(POINTER, Access.RO)
    rows = (
        ("PC", fields(POINTER), 0),
        ("FC", read_only, 0),
        ("SP", fields(POINTER), 0),
        ("LR", fields(POINTER), 0),
        ("LS", fields(POINTER), 0),
        ("LE", fields(POINTER), 0xFFFFF),
        ("LC", fields(WORD), 0),
        ("CR", fields(MODE), 0x1800),
        ("SR", fields(FLAGS), 0),
        ("DP", fields(POINTER), 0),
    )
    for n, (name, layout, reset) in enumerate(rows):
        yield Register(f"Core_{name}", 0x31100 + n * STRIDE, layout, reset, acts=Acts.KEEPS)
