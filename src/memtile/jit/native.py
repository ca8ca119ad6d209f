"""Machine code of compiled functions as object files: written once by Numba, loaded and called without it.

What is compiled takes 64-bit integers and gives one, so nothing of Numba is needed to call it: ``llvmlite``
links the object file, which takes a tenth of the time of importing Numba and of what it does at a first call.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from ctypes import CFUNCTYPE, PYFUNCTYPE, c_int32
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from memtile.errors import MemtileError
from memtile.jit import settings
from memtile.jit.settings import BOUNDS
from memtile.output_files import write_output
from memtile.system import system

_loaded: list[Any] = []  # what the linker made lives as long as the process


class MachineCode(NamedTuple):
    """Machine code of a function.

    Attributes:
        symbol: name of the function in the object file.
        about: what it depends on beside the sources that name the directory.
        content: the object file.
    """

    symbol: str
    about: str
    content: bytes


class Calls(NamedTuple):
    """Two ways to call a function: ``call(place of the result, place of an error, *numbers)``, 0 = well.

    All are ``c_void_p`` or ``c_int64``: to check and convert other things would take as long as the call.

    Attributes:
        free: other threads of the interpreter run meanwhile.
        held: they do not, which is quicker to begin and to end.
    """

    free: Any
    held: Any


@cache
def machine() -> str:
    """The processor that code is for, and the linker that loads it."""
    import llvmlite
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {features} {llvmlite.__version__}"


def _file(directory: Path, name: str) -> Path:
    return directory / f"{name}-{crc32(machine().encode()):08x}.object"


def file_of(code: MachineCode, **more: Any) -> bytes:
    """What is in a file: a line that says what the code is, with ``more`` in it, and the object file."""
    head = {"symbol": code.symbol, "about": code.about, "sha256": sha256(code.content).hexdigest(), **more}
    return json.dumps(head).encode() + b"\n" + code.content


def keep(directory: Path, name: str, code: MachineCode) -> None:
    """Write code to a file; where there is no room for it, it is compiled again by the next process."""
    try:
        write_output(_file(directory, name), file_of(code), durable=False)
    except MemtileError as error:
        print(f"note: compiled code is not cached: {error}", file=sys.stderr)


def kept(directory: Path, name: str, about: str) -> MachineCode | None:
    """The code that is kept, None if there is none, it is damaged, or it depends on something else.

    Its directory counts as used now: those used last stay (``cache.forget_old``).
    """
    try:
        first, _, content = _file(directory, name).read_bytes().partition(b"\n")
        head = json.loads(first)
        found = MachineCode(head["symbol"], head["about"], content)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = head.get("sha256") == sha256(content).hexdigest()
    if not whole or found.about != about:
        return None
    with suppress(OSError):  # a place that is only read has no old directories to forget
        system().mark_used(directory)
    return found


def target_machine(level: int, processor: str, features: str = "") -> Any:
    """LLVM's code generator for a processor of this platform, for code that is loaded into a process.

    Args:
        level: of optimisation, 0 to 3.
        processor: as LLVM calls it.
        features: of it, as LLVM writes them; empty = those that the name stands for.
    """
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    options = {"opt": level, "cpu": processor, "features": features, "codemodel": "jitdefault", "jit": True}
    options["reloc"] = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(**options)


def load(code: MachineCode) -> Calls:
    """Link the code into this process."""
    from llvmlite import binding

    settings.install()
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(""), target_machine(0, binding.get_host_cpu_name())
    )
    engine.add_object_file(binding.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    _loaded.append(engine)
    return calls(engine.get_function_address(code.symbol))


def calls(address: int) -> Calls:
    """The two ways to call the function at an address."""
    free, held = CFUNCTYPE(c_int32)(address), PYFUNCTYPE(c_int32)(address)
    return Calls(settings.raising(free), settings.raising(held)) if BOUNDS else Calls(free, held)
