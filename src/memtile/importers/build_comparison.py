"""A design of MLIR text against the files that mlir-aie made of it: every register that both write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtile.arch.register_map import register_at
from memtile.arch.tiles import TILE_KINDS
from memtile.errors import InputFileError, RegisterError
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.configure import Configured
from memtile.importers.mlir.set_circuits import is_routed
from memtile.input_files import read_bytes
from memtile.io.program.program_formats import read_program
from memtile.runs.operations import Operation, Other, locate, words_written

_CONFIGURATION, _INSTRUCTIONS = "*cdo_init*.bin", ("insts.bin", "insts.txt", "*insts*.bin", "*insts*.txt")


@dataclass(frozen=True, slots=True)
class BuildComparison:
    """What a comparison found.

    Attributes:
        registers: words that the configuration of both writes and that can be read back.
        steps: operations of the host sequence that were compared.
        differences: one line for each difference, in the order of the addresses and steps.
    """

    registers: int
    steps: int
    differences: Sequence[str]

    @property
    def text(self) -> str:
        """What agrees or differs, in one line."""
        if not self.differences:
            return f"{self.registers} registers and {self.steps} steps of the host are those of the build"
        many = len(self.differences)
        return f"{many} difference{'s' * (many > 1)} from the build; the first: {self.differences[0]}"


def compare(design: Loaded, build: Path) -> BuildComparison:
    """Compare a design, before it ran, with the CDO and instruction files of a build.

    Args:
        design: configured, not run.
        build: folder with ``aie_cdo_init.bin`` and ``insts.txt``, or below which they are.

    Raises:
        InputFileError: the folder has none of these files, or one that cannot be read.
    """
    configuration, instructions = _found(build, [_CONFIGURATION]), _found(build, _INSTRUCTIONS)
    if configuration is None and instructions is None:
        raise InputFileError(f"{build}: there is no aie_cdo_init.bin and no insts file. Give a build folder.")
    registers, differences = different_registers(design.configured, _operations(configuration))
    steps = _steps(design, _operations(instructions), differences)
    return BuildComparison(registers, steps, differences)


def _found(build: Path, patterns: Sequence[str]) -> Path | None:
    for pattern in patterns:
        files = sorted(build.rglob(pattern))
        if files:
            return files[0]
    return None


def _operations(file: Path | None) -> Sequence[Operation]:
    return [] if file is None else read_program(read_bytes(file), str(file)).operations


def different_registers(
    made: Configured, operations: Iterable[Operation], kinds: tuple[str, ...] = ("",)
) -> tuple[int, list[str]]:
    """Compare what a build's configuration leaves with what a design has.

    Args:
        made: the design, configured, not run.
        operations: of the build's configuration.
        kinds: how the names of the registers begin that are compared.

    Returns:
        How many words were compared, and a line about each that differs.
    """
    final: dict[int, int] = {}
    for operation in operations:
        for word in words_written(operation):
            final[word.address] = final.get(word.address, 0) & ~word.mask | word.value & word.mask
    compared, differences, engine = 0, list[str](), made.array.engine
    routed = is_routed(made.device)
    for address, value in sorted(final.items()):
        column, row, offset = locate(address)
        kind = made.array.device.tile(column, row)
        register = register_at(kind, offset)
        if register is None or not register.name.startswith(kinds):
            continue
        if not _readable(register.name, routed=routed):
            continue
        try:
            ours = engine.door(made.array.tile(column, row).index).read32(offset)  # without time
        except RegisterError:
            continue
        compared += 1
        if ours != value:
            place = f"{TILE_KINDS[kind].title} ({column},{row}) {register.name}"
            differences.append(f"{place} is {ours:#x} here and {value:#x} in the build")
    return compared, differences


def _readable(name: str, *, routed: bool) -> bool:
    """Whether a register shows what was written, and is of what the text says: else the router is ours."""
    if not routed and name.startswith(("Stream_Switch", "Mux_Config", "Demux_Config")):
        return False
    return not name.endswith("Start_Queue") and name != "Core_Control"  # a build enables its cores later


def _steps(design: Loaded, operations: Sequence[Operation], differences: list[str]) -> int:
    if not operations or design.sequence is None:
        return 0
    ours, theirs = design.sequence.steps, operations
    for n, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if _plain(mine) != _plain(other):
            differences.append(f"step {n} of the host is {mine!r} here and {other!r} in the build")
    if len(ours) != len(theirs):
        differences.append(f"the host has {len(ours)} steps here and {len(theirs)} in the build")
    return min(len(ours), len(theirs))


def _plain(operation: Operation) -> object:
    """An operation without what does not change it."""
    if isinstance(operation, Other):
        return operation.name, frozenset(pair for pair in operation.details if pair[0] != "action")
    return operation
