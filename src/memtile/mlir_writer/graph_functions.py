"""Functions of the text for the kernels of a graph: their names, their objects, and C++ that makes them.

A function has an argument for each port that is not a stream: a buffer, both of an asynchronous port with
the numbers of their locks, a number or memory of a parameter. ``memtile/text_call.h`` has what they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memtile.adf.core_loop import BufferPort, KernelPort, KernelTurns, ParameterPort, StreamLink
from memtile.adf.kernel_sources import KernelSource, kernel_sources, letter_of
from memtile.adf.lookup import Lookup
from memtile.adf.lowering import Lowered
from memtile.arch.tiles import WORD_BYTES
from memtile.mlir_writer.scene import Names

_ASYNCHRONOUS = "a"
_WINDOW = "w"


@dataclass(frozen=True, slots=True)
class Taken:
    """How a function takes a port.

    Attributes:
        letter: what the port is for its kernel, see ``memtile/kernel_call.h``.
        types: shape and elements of each buffer.
        skipped: bytes of the buffer before those of the kernel: the margin of others.
        nbytes: that the kernel sees.
        scalar: it is a number.
        locks: numbers for each buffer of an asynchronous port: lock, how much, locks that are released.
        ids: of packets.
    """

    letter: str
    types: tuple[object, ...] = ()
    skipped: int = 0
    nbytes: int = 0
    scalar: bool = False
    locks: int = 0
    ids: tuple[int, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """Types of the arguments of C++."""
        if self.scalar:
            return ["std::uint32_t"]
        return ["void*"] * len(self.types) + ["std::int32_t"] * (self.locks * len(self.types))


def functions_of(lowered: Lowered) -> dict[int, str]:
    """Names of functions by kernel: one for all kernels that are called in the same way.

    Args:
        lowered: the graph.
    """
    names, known, found = Names(), dict[object, str](), dict[int, str]()
    for kernel in _kernels(lowered):
        said = lowered.lookup.kernels[kernel.kernel]
        taken = ports_of(lowered, kernel)
        has_state = said.object_type or said.initialization or any(each.locks for each in taken)
        key = kernel.kernel if has_state else (said.function, said.parameters, said.source, *taken)
        wanted = f"{said.object_type}_{said.function}" if said.object_type else said.function
        if key not in known:
            known[key] = names.of(wanted)
        found[kernel.kernel] = known[key]
    return found


def objects_of(lowered: Lowered) -> dict[int, tuple[str, ...]]:
    """Object files by kernel, named after its source; look-up tables of the graph have one of their own."""
    stems = _stems(lowered.lookup)
    return {
        kernel.kernel: tuple(
            f"{stem}.o"
            for stem in (
                stems[lowered.lookup.kernels[kernel.kernel].source],
                *_table_stems(lowered, kernel.kernel),
            )
        )
        for kernel in _kernels(lowered)
    }


def _stems(lookup: Lookup) -> dict[str, str]:
    """Names of files by source: no two the same."""
    names, found = Names(), dict[str, str]()
    for kernel in lookup.kernels.values():
        if kernel.source not in found:
            found[kernel.source] = names.of(PurePosixPath(kernel.source).stem)
    return found


def _table_stems(lowered: Lowered, kernel: int) -> Iterator[str]:
    said, stems = lowered.lookup.kernels[kernel], _stems(lowered.lookup)
    mine = {
        table
        for each in lowered.lookup.kernels.values()
        if each.source == said.source
        for table in each.tables
    }
    if any(lowered.lookup.tables[table].data for table in mine):
        yield f"{stems[said.source]}_tables"


def _kernels(lowered: Lowered) -> Iterator[KernelTurns]:
    for core in lowered.cores.values():
        yield from core.kernels


def ports_of(lowered: Lowered, kernel: KernelTurns) -> list[Taken]:
    """How the function of a kernel takes its ports, in their order."""
    numbers = lowered.lookup.kernels[kernel.kernel].ports
    return [
        _taken(lowered, letter_of(lowered.lookup.ports[number]), port)
        for number, port in zip(numbers, kernel.ports, strict=True)
    ]


def _taken(lowered: Lowered, letter: str, port: KernelPort) -> Taken:
    if isinstance(port, StreamLink):
        return Taken(letter, ids=port.packet_ids)
    buffers = port.buffers if isinstance(port, BufferPort) and port.is_async else port.buffers[:1]
    types = tuple((each.shape, each.dtype.str) for each in buffers)
    if isinstance(port, ParameterPort):
        scalar = not (port.is_array or port.writes or port.nbytes > WORD_BYTES)
        return Taken(letter, types, nbytes=port.nbytes, scalar=scalar)
    first = buffers[0]
    assert first.place is not None
    whole = next(
        each
        for each in lowered.array.tile(*first.place).buffers
        if each.offset <= first.offset < each.offset + each.words * WORD_BYTES
    )
    skipped, nbytes = first.offset - whole.offset, first.words * WORD_BYTES
    locks = 2 + len(port.turns[0].releases) if port.is_async and port.turns else 0
    return Taken(letter, types, skipped, nbytes, locks=locks)


# C++ -------------------------------------------------------------------------------------------------------


def function_files(lowered: Lowered, root: Path, include: Sequence[Path]) -> dict[str, str]:
    """C++ that makes the functions of the text from the user's sources, by name of file.

    Args:
        lowered: the graph.
        root: folder that the sources of its kernels are relative to.
        include: folders in which they are looked for next.

    Raises:
        InputFileError: a kernel has no source, or its source is not there.
    """
    stems, found = _stems(lowered.lookup), dict[str, str]()
    names = functions_of(lowered)
    for source in kernel_sources(lowered.lookup.description, root, include):
        stem = stems[lowered.lookup.kernels[next(iter(source.symbols))].source]
        found[f"{stem}.cc"] = _text(lowered, source, names)
        if source.tables:
            found[f"{stem}_tables.cc"] = source.tables
    return found


def _text(lowered: Lowered, source: KernelSource, names: Mapping[int, str]) -> str:
    kernels = {kernel.kernel: kernel for kernel in _kernels(lowered)}
    made = {names[number]: number for number in reversed(list(source.symbols)) if number in kernels}
    lines = ['#include "memtile/text_call.h"', source.text]
    for name, number in made.items():
        lines += _function(name, source.symbols[number], ports_of(lowered, kernels[number]))
    return "\n".join(lines) + "\n"


def _function(name: str, symbol: str, ports: Sequence[Taken]) -> Iterator[str]:
    """A function of the text, line by line."""
    types = [type for port in ports for type in port.arguments]
    yield f'extern "C" void {name}({", ".join(f"{type} a{n}" for n, type in enumerate(types))}) {{'
    given, at = list[str](), 0
    for number, port in enumerate(ports):
        own = [f"a{n}" for n in range(at, at + len(port.arguments))]
        at += len(own)
        given += _given(port, own)
        yield from _port(number, port, own[len(port.types) :])
    yield f"    {symbol}({', '.join(given)});"
    yield "}"


def _given(port: Taken, own: Sequence[str]) -> list[str]:
    """The numbers that the function of ``memtile/kernel_call.h`` has for a port."""
    if not own:
        return []
    if port.scalar:
        return [own[0]]
    places = [f"memtile::place({name}, {port.skipped})" for name in own[: len(port.types)]]
    if port.letter == "v":
        return [f"memtile::bits({own[0]}, {port.nbytes})"]
    if port.letter == "p":
        return places
    pair = [places[0], places[-1]] if port.letter in (_ASYNCHRONOUS, _WINDOW) else places
    return [*pair, str(port.nbytes), *[str(int(port.locks > 0))] * (port.letter == _WINDOW)]


def _port(number: int, port: Taken, locks: Sequence[str]) -> Iterator[str]:
    """What a kernel may ask of a port: to acquire and release buffers, and for ids of packets."""
    if port.locks:
        yield f"    const std::int32_t locks{number}[] = {{{', '.join(locks)}}};"
        yield f"    static memtile::PortOfCall port{number}{{{port.locks}, {len(port.types)}}};"
        yield f"    memtile::has_port({number}, port{number}, locks{number});"
    if port.ids:
        yield f"    static const std::uint32_t ids{number}[] = {{{', '.join(map(str, port.ids))}}};"
        yield f"    memtile::has_ids({number}, ids{number});"
