"""What a container has in it, and which part of it is meant where it has several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtile.errors import InputFileError
from memtile.io.program.transaction_format import Header
from memtile.runs.operations import Operation

_SHOWN = 8  # parts that a message names


@dataclass(frozen=True, slots=True)
class ContainerBuffer:
    """Contents that a container has for a kernel argument.

    Attributes:
        argument: its number.
        data: the bytes, of whole words.
        what: they are, in words.
    """

    argument: int
    data: bytes
    what: str


@dataclass(frozen=True, slots=True)
class Contents:
    """The program in a container.

    Attributes:
        title: what was read, in words.
        operations: in order.
        header: of the transaction in it, which says the array; None without one.
        notes: what was left out and why, a line each.
        buffers: contents that it brings for kernel arguments.
        kernels: names and numbers that chose it, or would have; empty where the container has none.
    """

    title: str
    operations: Sequence[Operation]
    header: Header | None = None
    notes: tuple[str, ...] = ()
    buffers: tuple[ContainerBuffer, ...] = ()
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContainerProgram:
    """One of several programs in a container.

    Attributes:
        names: by which it can be asked for, the plainest one first.
        numbers: kernel ids.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """For messages and titles."""
        ids = ", ".join(f"{number:#x}" for number in self.numbers)
        return f"{self.names[0]}{f' (id {ids})' if ids else ''}"

    @property
    def all_names(self) -> tuple[str, ...]:
        """Names and numbers."""
        return (*self.names, *(f"{number:#x}" for number in self.numbers))

    def called(self, kernel: str) -> bool:
        """Whether ``kernel`` is a name of it, or one of its numbers."""
        return kernel in self.names or _number(kernel) in self.numbers


def chosen(parts: Sequence[ContainerProgram], kernel: str | None, where: str, source: str) -> int:
    """Which part is meant.

    Args:
        parts: at least one.
        kernel: name or number that the user gave; None = there must be one only. Where there is one only, it
            is taken whatever it is called: another file may have the kernel, see :func:`check_kernel`.
        where: the container, for messages.
        source: of its layout.

    Raises:
        InputFileError: none is called so, or several are; asks with their names.
    """
    if len(parts) == 1:
        return 0
    found = [number for number, part in enumerate(parts) if kernel is None or part.called(kernel)]
    if len(found) == 1:
        return found[0]
    listed = parts if not found else [parts[number] for number in found]
    names = ", ".join(part.text for part in listed[:_SHOWN])
    names += f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    says = f"it has {len(parts)} programs: {names}"
    if kernel is not None:
        says = f"{len(found) or 'no'} programs of it are called {kernel!r}: {names}"
        says = says if found else f"no program of it is called {kernel!r}; it has {names}"
    example = next((each for each in listed[0].all_names if each != kernel), listed[0].names[0])
    raise InputFileError.of(
        "kernel",
        repr(kernel) if kernel else "none",
        f"one of {names}",
        says,
        f"Name the one to take, such as --kernel {example}.",
        reason="kernel",
        where=where,
        source=source,
    )


def check_kernel(kernel: str, taken: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Check that one of several files has the kernel that the user named.

    Args:
        kernel: name or number.
        taken: of each file its name, and the names and numbers of what was taken from it.

    Raises:
        InputFileError: none has it.
    """
    wanted = {kernel, _number(kernel)}
    if any(name in wanted or _number(name) in wanted - {None} for _, names in taken for name in names):
        return
    listed = "; ".join(f"{file} has {', '.join(names)}" for file, names in taken if names)
    raise InputFileError.of(
        "kernel",
        repr(kernel),
        listed or "none, for no file is an xclbin or a full ELF",
        f"no program is called {kernel!r}{f': {listed}' if listed else ''}",
        "Leave --kernel out, or give one of these names." if listed else "Leave --kernel out.",
        reason="kernel",
        where=", ".join(file for file, _ in taken),
        source="names in the files",
    )


def _number(kernel: str) -> int | None:
    try:
        return int(kernel, 0)
    except ValueError:
        return None
