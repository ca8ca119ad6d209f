"""The bench of a design: an engine, the channels of the tiles at it, and a run of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import Device
from memtile.design.arguments import as_truth, as_whole, every, instance, refuse, text, truth
from memtile.design.arguments import path as is_path
from memtile.design.buffers import Buffer, exactly
from memtile.design.channels import Channel, call_site
from memtile.design.host import HostProgram, HostSequence, TasksInOrder, sequence_of
from memtile.design.transfers import Transfer
from memtile.design.undo import Journal
from memtile.explain.dump.capture import write_coredump
from memtile.explain.results import Array, Result
from memtile.runs.options import RunKeywords, RunOptions
from memtile.runs.program import Program
from memtile.runs.session import Session
from memtile.sim.loop.engine import Engine

if TYPE_CHECKING:
    from memtile.design.packet_ports import Bus
    from memtile.design.tile import Tile


def _instead_of(given: object) -> str:
    """What to give instead of something that is no array in external memory."""
    if isinstance(given, Buffer) and given.kind.memory_bytes:
        return f"Compare the buffer of a tile with tile.expect({given.name}, data)."
    return "Give the array that array.external was given."


def _is_job(job: Any) -> bool:
    """Whether something is a task of a host: channel, transfer, and number of runs."""
    if not isinstance(job, tuple | list) or len(job) != len(_JOB):
        return False
    channel, work, times = job
    return isinstance(channel, Channel) and isinstance(work, Transfer) and as_whole(times) is not None


_JOB = ("channel", "transfer", "runs")


class Bench:
    """Runs the tiles of a design.

    Args:
        engine: the model.
        device: what it is a model of.

    Attributes:
        journal: notes what the present step of the design changes.
    """

    def __init__(self, engine: Engine, device: Device) -> None:
        self.engine, self.device = engine, device
        self._members: list[Tile] = []
        self.journal = Journal()
        self._posted: list[Callable[[], None]] = []
        self.run_until = 0  # cycle in which the last run ended
        self.listening: set[int] = set()  # channels that take what may come, and need not end
        self.parameters: Mapping[str, Any] = {}  # of the design, with their values; for results
        self.hosts: list[HostSequence] = []
        self.compared: list[tuple[str, Array, Array]] = []
        self.expected: list[tuple[Tile, Buffer, Array]] = []

    @property
    def buses(self) -> tuple[Bus, ...]:
        """The packet buses of the design; a tile alone has none."""
        return ()

    @property
    def members(self) -> tuple[Tile, ...]:
        """The tiles of the design."""
        return tuple(self._members)

    @property
    def compares(self) -> bool:
        """Whether any output is compared with expected words."""
        ports = (channel for tile in self._members for channel in tile.mm2s)
        return bool(self.compared or self.expected or any(port.expected is not None for port in ports))

    def add(self, tile: Tile) -> None:
        """Add a tile to the design."""
        self._members.append(tile)

    def post(self, write: Callable[[], None]) -> None:
        """Write registers now, or at the end of the enclosing all-or-nothing step."""
        if self.journal.notes is None:
            write()
        else:
            self._posted.append(write)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Return a context for an atomic step: if it fails, it releases its claims and writes nothing.

        The step claims buffers, locks, descriptors, channels and flows as it runs, and writes registers at
        its end. A nested step is part of the outer one.
        """
        if self.journal.notes is not None:
            yield
            return
        self.journal.notes, self._posted = [], []
        try:
            yield
        except BaseException:
            self.journal.take_back()
            raise
        finally:
            self.journal.notes = None
        for write in self._posted:
            write()

    def expect_array(self, name: str, array: Array, data: npt.ArrayLike) -> None:
        """Compare an array in external memory with ``data`` after a run, element by element in C order.

        Args:
            name: of the comparison in the result.
            array: the array in external memory; any shape and type.
            data: its expected values, in the same shape.

        Raises:
            DesignError: not an array, another shape, or values that the array's type cannot hold exactly.
        """
        kind = instance("array", array, np.ndarray, "a NumPy array in external memory", _instead_of(array))
        refuse("expect_array", text("name", name), kind)
        wanted = exactly(data, array.dtype, f"array {name}", array.shape)
        self.compared.append((name, array, wanted.ravel()))

    def host(self, sequence: HostProgram) -> None:
        """Run a host sequence while the array runs: start tasks, wait for them, continue.

        Several sequences run side by side. A run continues a sequence where the previous run stopped.

        Args:
            sequence: generator function over a :class:`~memtile.design.host.Host`.

        Raises:
            DesignError: not a generator function.
        """
        self.hosts.append(sequence_of(sequence, self._read))

    def start_in_order(self, jobs: Sequence[tuple[Channel, Transfer, int]]) -> None:
        """Have a host start tasks one after another while the array runs, and wait for the end of all.

        Each is started when the queue of its channel and the BDs of its tile have room. It is the same as a
        host sequence that does so, and known to read nothing.

        Args:
            jobs: channel, transfer, and number of runs, of each task.

        Raises:
            DesignError: a job that is none.
        """
        allowed = "a channel, a transfer and a number of runs for each task"
        refuse("start_in_order", every("jobs", jobs, _is_job, allowed))
        self.host(TasksInOrder(jobs, call_site()))

    def _read(self, address: int) -> int:
        """The word at a byte address of the tile, or of the array, in no time."""
        return self._members[0].door.at_once().read32(address)

    def coredump(self, path: Path | str, *, elf: bool | None = None) -> None:
        """Write a coredump of an array, as XRT does when a command times out; ``memtile explain`` reads it.

        Args:
            path: of the file.
            elf: True = an ELF of type ET_CORE, False = raw, None = an ELF if the name ends in ``.elf``.

        Raises:
            DesignError: the design is a single memory tile; the machine has no dump of one.
            InputFileError: the file cannot be written.
        """
        refuse("coredump", is_path("path", path), truth("elf", elf, optional=True))
        write_coredump(self.engine, self.device, Path(path), elf=as_truth(elf))

    def run(self, options: RunOptions | int | None = None, **more: Unpack[RunKeywords]) -> Result:
        """Run until nothing moves any more, or the limit is reached; Ctrl-C keeps the results so far.

        A further run goes on where the last one stopped. Its result counts from the beginning of the design:
        cycles, stalls, outputs and checks; ``Result.before`` says how many cycles were there already.

        Args:
            options: of the run, or its limit in further cycles.
            more: fields of :class:`RunOptions`.

        Raises:
            DesignError: ``max_cycles`` is no whole number; ``check`` of an untimed run; ``data=False`` of an
                untimed run, or of a run before this one.
        """
        return Session(self).run(Program(), RunOptions.of(options, more)).result
