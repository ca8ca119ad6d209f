"""Bodies for the cores of a compiled program, from MLIR text.

The program of a core in a build is machine code, which nobody runs here. The text that it was made of says
the same: of the devices of the texts at hand, the one is taken that is nearest to the program in its cores,
BDs and locks. A program that loads several PDIs has such a device for each of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtile.importers.bodies.device_finder import Finder, Functions
from memtile.importers.bodies.texts import candidates
from memtile.runs.core_kernels import Kernels, NamedKernels, enabled_by
from memtile.runs.firmware import following, is_loaded, with_program
from memtile.runs.operations import ArrayShape, Operation, Other
from memtile.sim.loop.engine import Engine


@dataclass(frozen=True, slots=True)
class Bodies:
    """What is known of the cores of a program.

    Attributes:
        operations: of the program; loads say which of ``programs`` their cores run.
        kernels: of the cores that the operations enable outside of loads, and the user's.
        programs: kernels that loads bring, by number.
        engine: of an array that has the design of the bodies, for its names; None without one.
        notes: which text gave the bodies, in what it differs from the program, and what it lacks.
    """

    operations: Sequence[Operation]
    kernels: Kernels
    programs: Sequence[Kernels] = ()
    notes: tuple[str, ...] = ()
    engine: Engine | None = None


@dataclass(frozen=True, slots=True)
class _LoadPart:
    """Operations that belong together: those of a load, or those outside of loads."""

    load: Other | None
    operations: Sequence[Operation]


def _outside(parts: Sequence[_LoadPart]) -> list[Operation]:
    """The operations that belong to no load."""
    return [operation for part in parts if part.load is None for operation in part.operations]


def bodies(
    operations: Sequence[Operation],
    shape: ArrayShape,
    device: str,
    texts: Sequence[Path],
    *,
    functions: Functions,
    own: Kernels,
    names: Sequence[str] = (),
    stems: Collection[str] = (),
) -> Bodies:
    """The kernels of the cores that a program enables.

    Args:
        operations: the program, in order.
        shape: of the array that it sees.
        device: that it runs on.
        texts: MLIR files that may have made it, best first.
        functions: that bodies call and texts only declare, by name; then those of the library.
        own: the user's kernels, which come before those of texts.
        names: that the files of the program have for their devices or kernels; a device that is called so is
            taken before others that are as near.
        stems: of the names of the files of the program.
    """
    enabled = [place for place in enabled_by(operations, shape) if place not in own]
    if not enabled or not texts:
        return Bodies(operations, own)
    found, notes = candidates(texts, stems)
    finder = Finder(found, shape, device, functions, names)
    parts = list(_parts(operations))
    base = finder.match(_outside(parts), own)
    done, programs = list(base.before), list[Kernels]()
    for part in parts:
        if part.load is not None:
            loaded = finder.match(part.operations, own)
            done += [with_program(part.load, len(programs), len(loaded.before)), *loaded.before]
            kernels: Kernels = {**loaded.kernels, **own}
            programs.append(NamedKernels(kernels, loaded.engine) if loaded.engine else kernels)
        done += part.operations
    said = tuple(dict.fromkeys((*notes, *finder.notes)))
    return Bodies(done, {**base.kernels, **own}, programs, said, base.engine)


def _parts(operations: Sequence[Operation]) -> Iterator[_LoadPart]:
    """The operations in order, cut where those of a load begin and end."""
    outside, at = list[Operation](), 0
    while at < len(operations):
        operation = operations[at]
        at += 1
        if not (isinstance(operation, Other) and is_loaded(operation) and operation.acts):
            outside.append(operation)
            continue
        yield _LoadPart(None, outside)
        count, outside = following(operation), []
        yield _LoadPart(operation, operations[at : at + count])
        at += count
    yield _LoadPart(None, outside)
