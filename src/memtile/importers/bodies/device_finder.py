"""Which device of the texts at hand a part of a program is, and the kernels of its cores.

It says what the ELF files of cores would bring: buffers of compute tiles that are not empty at the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memtile.arch.tiles import WORD_BYTES
from memtile.design.array import Array
from memtile.errors import InputFileError, MemtileError
from memtile.importers.bodies.texts import DeviceCandidate, body_words
from memtile.importers.build_comparison import different_registers
from memtile.importers.kernels.cpp_functions import Given, check_references, compiled, references_in
from memtile.importers.kernels.kernel import kernels
from memtile.importers.kernels.user_functions import functions_for
from memtile.importers.mlir.configure import Configured, configure
from memtile.io.program.register_image import is_program_memory
from memtile.runs.core_kernels import Kernels, Place, enabled_by
from memtile.runs.operations import ArrayShape, BlockWrite, Operation, address_of, locate, words_written
from memtile.sim.kernels.kernel_core import Kernel
from memtile.sim.loop.engine import Engine


def contents(
    made: Configured, operations: Iterable[Operation], shape: ArrayShape
) -> tuple[Sequence[Operation], Sequence[str]]:
    """Writes of the initial contents of buffers in those compute tiles whose ELF file the program lacks.

    Args:
        made: the device in an array of its own, to which nothing was done.
        operations: of the program; those that load program memory have the ELF file's data too.
        shape: of the array.

    Returns:
        The writes, and the names of the buffers.
    """
    loaded = _loaded(operations, shape)
    writes, names = list[Operation](), list[str]()
    for name, described in made.device.buffers.items():
        if described.initial is None or not described.tile:
            continue
        buffer = made.buffers[name]
        place = made.tiles[described.tile].place
        if place is None or place in loaded or place[1] not in shape.compute_rows:
            continue
        first = buffer.offset // WORD_BYTES * WORD_BYTES
        last = buffer.offset + buffer.nbytes
        door = made.array.engine.door(made.tiles[described.tile].index)
        words = tuple(door.read32(offset) for offset in range(first, last, WORD_BYTES))
        writes.append(BlockWrite(address_of(*place, first), words))
        names.append(buffer.name)
    return writes, names


def _loaded(operations: Iterable[Operation], shape: ArrayShape) -> set[tuple[int, int]]:
    """Column and row of each tile whose program memory is written."""
    return set(_program_writes(operations, shape))


def _program_writes(operations: Iterable[Operation], shape: ArrayShape) -> Iterator[tuple[int, int]]:
    for operation in operations:
        word = next(iter(words_written(operation)), None)
        if word is None:
            continue
        column, row, offset = locate(word.address)
        kind = shape.tile(column, row)
        if kind is not None and is_program_memory(kind, offset):
            yield column, row


Functions = Given
NO_FUNCTIONS: Functions = MappingProxyType({})
_COMPARED = ("DMA_BD", "Lock")
_SHOWN = 4  # cores that a line names


@dataclass(frozen=True, slots=True)
class DeviceMatch:
    """What was found for a part of a program.

    Attributes:
        kernels: of its cores.
        before: writes of what the ELF files of the cores would bring, for a part that does not.
        engine: with the names of the design; None where nothing was found that is the program.
    """

    kernels: Kernels
    before: Sequence[Operation] = ()
    engine: Engine | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    """A device beside a part of a program: what each has that the other has not."""

    candidate: DeviceCandidate
    made: Configured
    lacking: Sequence[Place]
    more: Sequence[Place]
    differences: Sequence[str]

    @property
    def distance(self) -> tuple[int, int]:
        return len(self.lacking) + len(self.more), len(self.differences)


class Finder:
    """Finds the devices of the parts of one program.

    Args:
        found: devices of texts, best first.
        shape: of the array that the program sees.
        device: that it runs on.
        functions: that bodies call and texts only declare.
        names: of devices or kernels that the files of the program have.

    Attributes:
        notes: what is to be said about what was taken, a line each.
    """

    def __init__(
        self,
        found: Sequence[DeviceCandidate],
        shape: ArrayShape,
        device: str,
        functions: Functions,
        names: Sequence[str],
    ) -> None:
        self._called = {name for each in names for name in (each, *each.split(":"))}
        self._found = sorted(found, key=lambda each: each.name not in self._called)
        self._shape, self._device, self._functions = shape, device, functions
        self._refused: dict[str, str] = {}
        self.notes: list[str] = []

    def match(self, operations: Sequence[Operation], own: Kernels) -> DeviceMatch:
        """The kernels for those cores that operations enable and that have none of the user's."""
        enabled = enabled_by(operations, self._shape)
        wanted = [place for place in enabled if place not in own]
        if not wanted:
            return DeviceMatch({})
        best = self._nearest(operations, enabled)
        if best is None:
            refused = "; ".join(self._refused.values())
            reason = f": {refused}" if refused else ""
            self.notes.append(f"no text beside the files has {_cores(wanted)}{reason}")
            return DeviceMatch({})
        given = self._kernels(best, wanted)
        before, names = contents(best.made, operations, self._shape)
        self._say(best, given, names)
        return DeviceMatch(given, before, None if best.differences else best.made.array.engine)

    def _nearest(self, operations: Sequence[Operation], enabled: Sequence[Place]) -> _Match | None:
        """The first of the nearest devices; None if none has any of the cores.

        Raises:
            InputFileError: texts that are as near have other bodies, and no name says which one it is.
        """
        best, as_near = None, list[_Match]()
        configuration = [operation for operation in operations if not operation.firmware]
        for each in self._found:
            if best is not None and best.distance == (0, 0) and not self._may_be(best.candidate, each):
                continue
            found = self._match(each, configuration, enabled)
            if found is not None and (best is None or found.distance < best.distance):
                best, as_near = found, []
            elif found is not None and best is not None and found.distance == best.distance:
                as_near.append(found)
        if best is not None:
            _ask(best, [each for each in as_near if self._may_be(best.candidate, each.candidate)])
        return best

    def _may_be(self, best: DeviceCandidate, other: DeviceCandidate) -> bool:
        """Whether names leave it open which of two devices it is: files and devices that say as much."""
        called = best.name in self._called, other.name in self._called
        return called[0] == called[1] and (not best.is_named or best.rank == other.rank)

    def _match(
        self, one: DeviceCandidate, configuration: Sequence[Operation], enabled: Sequence[Place]
    ) -> _Match | None:
        """How near a device is; None if it cannot be configured or has none of the cores."""
        made = self._configured(one)
        there = set() if made is None else _bodies(made)
        if made is None or not there & set(enabled):
            return None
        lacking = [place for place in enabled if place not in there]
        _, differences = different_registers(made, configuration, _COMPARED)
        return _Match(one, made, lacking, sorted(there - set(enabled)), differences)

    def _configured(self, candidate: DeviceCandidate) -> Configured | None:
        """A device in an array of its own; None if it cannot be brought into this one, which a note says."""
        try:
            return configure(candidate.fresh(), Array(self._device, self._columns(candidate)))
        except MemtileError as error:
            self._refused[candidate.title] = (
                f"{candidate.title} cannot be taken, {str(error).splitlines()[0]}"
            )
            return None

    def _columns(self, candidate: DeviceCandidate) -> int | None:
        """The columns that the program sees, so that names are of the same tiles; all for a wider text."""
        places = (tile.place for tile in candidate.device.tiles.values())
        most = max((place[0] for place in places if place is not None), default=0)
        return self._shape.columns if most < self._shape.columns else None

    def _kernels(self, best: _Match, wanted: Sequence[Place]) -> dict[Place, Kernel]:
        """The kernels of cores, each on its own: one whose function nobody gave is left out and told."""
        made = best.made
        own = compiled(self._functions, made.array.device.generation)
        check_references(references_in(self._functions), own)
        known = functions_for(made.device, own, self._device)
        self.notes += known.notes
        found: dict[Place, Kernel] = {}
        for core in made.device.cores:
            place = made.tiles[core.tile].place
            if place is None or place not in wanted or not core.has_body:
                continue
            alone = replace(made, device=replace(made.device, cores=[core]))
            try:
                found |= kernels(alone, known)
            except InputFileError as error:
                reasons = "; ".join(line for line in str(error).splitlines()[:1])
                self.notes.append(f"core {place} has no program: {reasons}")
        return found

    def _say(self, best: _Match, given: Kernels, names: Sequence[str]) -> None:
        title = best.candidate.title
        if given:
            self.notes.append(f"bodies of {_cores(list(given))} are those of {title}")
        if names:
            self.notes.append(f"contents at the start of {', '.join(names)} are those of {title}")
        if best.lacking:
            self.notes.append(f"warning: {title} has no {_cores(best.lacking)}, which the program enables")
        if best.more:
            self.notes.append(
                f"warning: {title} has {_cores(best.more)} too, which the program never enables"
            )
        if many := len(best.differences):
            words = f"{many} words of BDs and locks differ" if many > 1 else "a word of BDs and locks differs"
            self.notes.append(f"warning: {words} between {title} and the program; {best.differences[0]}")


def _ask(best: _Match, as_near: Sequence[_Match]) -> None:
    """Refuse texts that differ in what their cores do, where nothing else tells them apart."""
    words = body_words(best.candidate.device)
    others = [each for each in as_near if body_words(each.candidate.device) != words]
    if others:
        titles = ", ".join(each.candidate.title for each in (best, *others))
        raise InputFileError(
            f"{best.candidate.file.parent}: {titles} have the same BDs and locks, and cores that do other "
            "things; no name says which of them the build was made of. Name it, such as "
            f"--kernels {best.candidate.file}."
        )


def _bodies(made: Configured) -> set[Place]:
    """Places of the cores that have a body."""
    cores = (core for core in made.device.cores if core.has_body)
    places = (made.tiles[core.tile].place for core in cores)
    return {place for place in places if place is not None}


def _cores(places: Sequence[Place]) -> str:
    """Cores in words."""
    listed = ", ".join(map(str, places[:_SHOWN]))
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"core{'s' if len(places) > 1 else ''} {listed}{more}"
