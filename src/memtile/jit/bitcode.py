"""Machine code of linked functions: LLVM's passes over their bitcode, and an object file for a processor.

Bitcode is what Numba makes of Python: it is the same for all processors with 64-bit addresses, and needs
``llvmlite`` alone from here on. So it can be made once and carried to where it runs (``bundled_engine``).
"""

from __future__ import annotations

import struct
import sys
from typing import Any, NamedTuple

from memtile.jit import native
from memtile.jit.settings import OPT_LEVEL

_FOREIGN = ("Py", "_Py", "numba", "NRT_", "Numba")
"""Names that code would only find in Numba or in Python."""


class Processor(NamedTuple):
    """What machine code is for.

    Attributes:
        name: as LLVM has it.
        features: of it, as LLVM writes them; empty = those that the name stands for.
    """

    name: str
    features: str = ""


def fits_here() -> bool:
    """Whether addresses are as in the bitcode: 64 bits, the lowest byte first."""
    return struct.calcsize("P") == 8 and sys.byteorder == "little"


def llvm_version() -> int:
    """Major version of LLVM; it reads bitcode of older ones, and its own."""
    from llvmlite import binding

    return int(binding.llvm_version_info[0])


def this_processor() -> Processor:
    """The one that this process runs on."""
    from llvmlite import binding

    return Processor(binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())


def optimised(content: bytes, processor: Processor) -> bytes | None:
    """Optimise linked bitcode, and leave out names that nothing outside of it looks for.

    That is half of the way to machine code, for any processor: the bitcode of one runs on another, too.

    Args:
        content: the bitcode.
        processor: of this platform, whose costs decide.

    Returns:
        Bitcode again; None if it needs Numba or Python to run.
    """
    machine = native.target_machine(OPT_LEVEL, processor.name, processor.features)
    module = _read(content, machine)
    _inline(module, machine)
    manager, builder = _passes(machine, OPT_LEVEL, loops=True)
    manager.run(module, builder)
    _strip(module, machine)
    module.verify()
    if any(f.is_declaration and f.name.startswith(_FOREIGN) for f in module.functions):
        return None
    return bytes(module.as_bitcode())


def object_file(content: bytes, processor: Processor) -> bytes:
    """Make machine code of optimised bitcode.

    Args:
        content: the bitcode.
        processor: of this platform.
    """
    machine = native.target_machine(OPT_LEVEL, processor.name, processor.features)
    return bytes(machine.emit_object(_read(content, machine)))


def _read(content: bytes, machine: Any) -> Any:
    from llvmlite import binding

    module = binding.parse_bitcode(content)
    module.triple, module.data_layout = binding.get_process_triple(), str(machine.target_data)
    return module


def _inline(module: Any, machine: Any) -> None:
    """Inline what must be, with loops in the form that later passes look for: as Numba begins, too."""
    manager, builder = _passes(machine, 0, loops=False)
    manager.add_loop_rotate_pass()
    manager.add_instruction_combine_pass()
    manager.add_jump_threading_pass()
    manager.run(module, builder)


def _strip(module: Any, machine: Any) -> None:
    manager, builder = _passes(machine, 0, loops=False)
    manager.add_strip_symbols_pass()
    manager.add_strip_dead_prototype_pass()
    manager.run(module, builder)


def _passes(machine: Any, level: int, *, loops: bool) -> tuple[Any, Any]:
    from llvmlite import binding

    options = binding.create_pipeline_tuning_options(level)
    options.loop_vectorization, options.slp_vectorization = loops, False
    builder = binding.create_pass_builder(machine, options)
    return builder.getModulePassManager(), builder
