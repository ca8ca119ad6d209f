"""Compiled designs: what a design is run from, in memory and in a file.

mlir-aie compiles a design into an xclbin and a file of instructions. memtile writes the module's text and the
sources of its kernels at the path of the xclbin, as JSON, and the digest of that file at the path of the
instructions. XRT refuses both; only :class:`memtile.iron.utils.npukernel.NPUKernel` reads them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from memtile.errors import InputFileError
from memtile.input_files import read_bytes
from memtile.io.json_text import parse_json
from memtile.iron.kernel import ExternalFunction
from memtile.iron.ops.operations import Module, top_of
from memtile.iron.ops.printing import text_with_places
from memtile.output_files import write_output
from memtile.system import system

_FORMAT = "memtile compiled design 2"
_INSTRUCTIONS = "memtile instructions 1"
_NO_CONFIG: Mapping[str, Any] = {}
_AIECC = re.compile(
    r"--(?:alloc-scheme=[\w-]+|cores-per-col=[1-9]\d?|dynamic-objFifos(?:=\w+)?|packet-sw-objFifos(?:=\w+)?"
    r"|placer=sequential_placer)"
)
"""Options of aiecc that memtile follows. ``dynamic-objFifos`` changes how cores index objects, not which."""


def check_aiecc_flags(flags: Sequence[str]) -> None:
    """Refuse options of aiecc that would change the design in a way that memtile does not follow.

    Raises:
        ValueError: with all of them.
    """
    joined = re.sub(r"(--cores-per-col) (?=[0-9])", r"\1=", " ".join(flags)).split()
    unknown = [each for each in joined if not _AIECC.fullmatch(each)]
    if unknown:
        raise ValueError(
            f"aiecc_flags {', '.join(unknown)}: memtile has no such option of aiecc, and the design could "
            f"differ. It has --alloc-scheme, --cores-per-col, --dynamic-objFifos, --packet-sw-objFifos and "
            f"--placer=sequential_placer."
        )


@dataclass(frozen=True)
class KernelSource:
    """A kernel in C++.

    Attributes:
        name: of the function in the design.
        function: its name in C++.
        file: that has it; None = ``text`` has it.
        text: its source; None = in a file.
        digest: of the source when the design was compiled; empty = the file was not there.
        include: folders of headers.
        flags: options of the compiler.
    """

    name: str
    function: str
    file: str | None
    text: str | None
    digest: str
    include: tuple[str, ...]
    flags: tuple[str, ...]

    @classmethod
    def of(cls, kernel: ExternalFunction) -> KernelSource:
        """The source of an ``ExternalFunction``."""
        file = None if kernel._source_string is not None else str(Path(str(kernel._source_file)).resolve())
        options = tuple(map(str, kernel._include_dirs)), tuple(map(str, kernel._compile_flags))
        return cls(
            kernel.name, kernel._original_name, file, kernel._source_string, _digest_of(kernel), *options
        )


def _digest_of(kernel: ExternalFunction) -> str:
    if kernel._source_string is not None:
        return hashlib.sha256(kernel._source_string.encode()).hexdigest()
    path = Path(str(kernel._source_file))
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


@dataclass(frozen=True, repr=False)
class CompiledDesign:
    """A module's text with the kernels that its cores call.

    Attributes:
        name: of the text, for messages: the program's file; sources that it links lie beside that.
        text: MLIR.
        kernels: C++ sources of ``ExternalFunction`` s.
        aiecc_flags: options of mlir-aie's compiler.
        places: of the program, ``program.py:57``, for each line of the text.
    """

    name: str
    text: str
    kernels: tuple[KernelSource, ...]
    aiecc_flags: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @classmethod
    def of(cls, module: Module, program: str, config: Mapping[str, Any] = _NO_CONFIG) -> CompiledDesign:
        """A module that was just built, with those kernels alone that it declares.

        Args:
            module: of the design.
            program: file of the program.
            config: options of ``iron.jit``: ``aiecc_flags``, ``compile_flags``, ``include_paths``.

        Raises:
            ValueError: two kernels of the same name with different sources, or an unknown option of aiecc.
        """
        flags = tuple(map(str, config.get("aiecc_flags") or ()))
        check_aiecc_flags(flags)
        own = [each for each in ExternalFunction._instances if _declares(module, each)]
        found: dict[str, KernelSource] = {}
        for source in map(KernelSource.of, sorted(own, key=lambda each: each.name)):
            if found.setdefault(source.name, source) != source:
                raise ValueError(
                    f"two kernels of this design are named {source.name} and have different sources; "
                    f"give one of them symbol_prefix="
                )
        more = [tuple(map(str, config.get(name) or ())) for name in ("include_paths", "compile_flags")]
        kernels = [
            replace(each, include=each.include + more[0], flags=each.flags + more[1])
            for each in found.values()
        ]
        text, places = text_with_places(module.operation)
        return cls(program, f"{text}\n", tuple(kernels), flags, places)

    def __repr__(self) -> str:
        kernels = ", ".join(each.function for each in self.kernels) or "none"
        return f"CompiledDesign({Path(self.name).name}, {len(self.text)} characters, C++ kernels: {kernels})"

    @property
    def build_line(self) -> str:
        """The line that would compile the text, with the options of aiecc that change the machine."""
        return f"// RUN: aiecc {' '.join(self.aiecc_flags)}" if self.aiecc_flags else ""

    def digest(self) -> str:
        """Of everything that it is made of."""
        return hashlib.sha256(self._json().encode()).hexdigest()

    def _json(self) -> str:
        return json.dumps({"format": _FORMAT, **asdict(self)}, indent=1)

    def write(self, design: Path | str, instructions: Path | str | None = None) -> None:
        """Write it where mlir-aie writes an xclbin (or a full ELF) and its instructions.

        Raises:
            OSError: a file cannot be written.
        """
        for path in (design, instructions):
            if path is not None:
                system().make_folder(Path(path).resolve().parent)
        write_output(design, self._json())
        if instructions is not None:
            write_output(instructions, json.dumps({"format": _INSTRUCTIONS, "design": self.digest()}))


def _declares(module: Module, kernel: ExternalFunction) -> bool:
    return kernel._op is not None and top_of(kernel._op.block) is module.operation


def read_compiled(design: Path | str, instructions: Path | str | None = None) -> CompiledDesign:
    """The design of a file that :meth:`CompiledDesign.write` wrote.

    Args:
        design: the file.
        instructions: file of the instructions; it must have been written with the design.

    Raises:
        InputFileError: a file is missing, is of another program, or the two do not belong together.
    """
    made = _read(design, _FORMAT)
    try:
        found = msgspec.convert(made, CompiledDesign)
    except msgspec.ValidationError as error:
        raise InputFileError(f"{design}: {error}. Compile the design again.") from None
    if instructions is not None and _read(instructions, _INSTRUCTIONS).get("design") != found.digest():
        raise InputFileError(
            f"{instructions}: these instructions were not compiled with {design}. Compile the design "
            f"again: memtile runs a design with its own instructions."
        )
    return found


def _read(path: Path | str, format: str) -> dict[str, Any]:
    data = read_bytes(path, "text_bytes")
    if not data.lstrip().startswith(b"{"):
        raise InputFileError(
            f"{path}: this file was not compiled by memtile. Run the program of the design with memtile "
            f"and the same --xclbin-path and --insts-path, or run a build of mlir-aie with `memtile run`."
        )
    try:
        found = parse_json(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise InputFileError(
            f"{path}: byte {error.start} is not UTF-8 text. Compile the design again."
        ) from None
    if not isinstance(found, dict) or found.get("format") != format:
        given = found.get("format") if isinstance(found, dict) else found
        raise InputFileError(f"{path}: the format is {given!r}, not {format!r}. Compile the design again.")
    return found


__all__ = ["CompiledDesign", "KernelSource", "read_compiled"]
