"""The design beside a dump, run in the model: does it come to stand where the machine stands?

Status registers, counts, locks, switches and descriptors of every tile are compared. If all agree, what the
run says is what is wrong with the machine; it knows what registers do not show. If not, those that differ say
where the two part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.registers import Register, Shows
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.explain.dump.capture import array_tiles, tile_words
from memtile.explain.dump.dump_formats import Words
from memtile.explain.findings import Finding
from memtile.explain.results import Result
from memtile.jit.tables import plain
from memtile.model.dma.bd_fields import KIND_NAMES
from memtile.model.register_tables import registers_of
from memtile.sim.kernels.kernel_core import place
from memtile.sim.loop.engine import Engine

_SHOWN = 12

Known = Sequence[npt.NDArray[np.bool_]] | None


@dataclass(frozen=True, slots=True)
class Twin:
    """A design that was run to its end, held against a dump.

    Attributes:
        name: of the design.
        status: how its run ended.
        findings: of the run.
        waiting: its lines about who waits.
        compared: registers that were compared.
        differences: those that differ, a line each.
    """

    name: str
    status: str
    findings: Sequence[Finding]
    waiting: Sequence[str]
    compared: int
    differences: Sequence[str]

    @property
    def same(self) -> bool:
        """Whether the run came to stand where the machine stands."""
        return not self.differences

    def lines(self) -> Iterator[str]:
        """Text."""
        if self.same:
            agree = f"{self.compared} registers agree"
            yield f"{self.name}, run here, reaches the same state ({agree}): {self.status}"
            yield from (f"finding: {finding}" for finding in self.findings)
            return
        count = len(self.differences)
        differ = f"{count} of {self.compared} registers differ"
        yield f"{self.name}, run here, ends differently ({self.status}): {differ}"
        yield from (f"  {line}" for line in self.differences[:_SHOWN])
        if count > _SHOWN:
            yield f"  and {count - _SHOWN} more"

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "name": self.name,
            "same": self.same,
            "status": self.status,
            "findings": [finding.as_json() for finding in self.findings],
            "waiting": list(self.waiting),
            "compared": self.compared,
            "differences": list(self.differences),
        }


def ran(
    name: str, engine: Engine, run: Callable[[], Result], dump: Sequence[Words], known: Known = None
) -> Twin:
    """Run a design and hold it against a dump.

    Args:
        name: of the design.
        engine: that it runs on.
        run: runs it.
        dump: words of the tiles of the dump, column by column.
        known: of each tile the words that the dump has; None = all of them.
    """
    result = run()
    count, found = differences(engine, dump, known)
    return Twin(name, result.status.value, result.findings, result.waiting, count, found)


def differences(engine: Engine, dump: Sequence[Words], known: Known = None) -> tuple[int, list[str]]:
    """Registers of a model that differ from those of a dump, in words, and how many were compared.

    Args:
        engine: the model.
        dump: words of its tiles, column by column.
        known: of each tile the words that the dump has; None = all of them.
    """
    count, found = 0, list[str]()
    for number, (tile, words) in enumerate(zip(array_tiles(engine), dump, strict=True)):
        mine, name = tile_words(engine, tile), KIND_NAMES[int(plain(engine.spec.tiles).kind[tile])]
        for register in registers_of(name):
            at = register.offset // WORD_BYTES
            if Shows.PROGRESS not in register.acts.shows and not _of_descriptor(register):
                continue
            if known is not None and not known[number][at]:
                continue
            count += 1
            if words[at] == mine[at]:
                continue
            there, here = int(words[at]) & register.readable, int(mine[at]) & register.readable
            if there != here:
                title = f"{TILE_KINDS[name].name}{place(engine.spec, tile)}".replace(" ", "")
                found.append(f"{title} {register.name}: {_fields(register, there, here)}")
    return count, found


def _of_descriptor(register: Register) -> bool:
    return register.name.startswith("DMA_BD")


def _fields(register: Register, there: int, here: int) -> str:
    """The fields that differ: what the dump has and what the run has."""
    parts = [
        f"{field.name} {field.get(there)} in the dump, {field.get(here)} here"
        for field in register.fields
        if field.get(there) != field.get(here)
    ]
    return ", ".join(parts) or f"{there:#x} in the dump, {here:#x} here"
