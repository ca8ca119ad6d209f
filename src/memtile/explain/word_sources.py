"""Where the words of an output come from: who writes them, and the cores that make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.access.distinct import distinct
from memtile.arch.tiles import MM2S, S2MM, WORD_BYTES
from memtile.explain.bd_chains import BdChains
from memtile.explain.bd_findings import line_of
from memtile.explain.checks import Check
from memtile.explain.deadlock.planned_words import PlannedBd, PlannedWords
from memtile.explain.edge_streams import NO_EDGES, EdgeStreams
from memtile.explain.findings import Side
from memtile.explain.names import called, core_name, tile_name
from memtile.explain.race_findings import NamedArea
from memtile.explain.switch_ways import configured_ways, reached
from memtile.explain.walk_changes import walked
from memtile.jit.tables import plain

Array = npt.NDArray[Any]

_BUFFER, _ARGUMENT = "buffer ", "argument "
_MOST = 4  # descriptors or cores that are named


class WordSources:
    """Who writes the buffers and arrays of an engine that stands still.

    Args:
        planned: the descriptors of its channels.
        areas: the buffers of the design.
        edges: streams from and to what lies beside the array.
    """

    def __init__(
        self, planned: PlannedWords, areas: Sequence[NamedArea], edges: EdgeStreams = NO_EDGES
    ) -> None:
        self._engine, self._planned, self._areas, self._edges = planned.engine, planned, areas, edges

    def text(self, output: str) -> str:
        """One sentence about an array or a buffer, by the name that a comparison has; empty = not known.

        Args:
            output: ``memory(0,1) buffer rows``, or the name of an array in external memory or of a stream.
        """
        sender = self._edges.sender(self._engine, output)
        if sender is not None:
            cores = sorted(self._cores_of(sender, set()))
            return f"{self._sends(sender)}{self._made_by(cores)}."
        bds = self._writers(output)
        writers = list(dict.fromkeys(bd.ch for bd in bds))
        if not writers or len(writers) > _MOST:
            return ""
        does = " and ".join(self._does(ch, [bd for bd in bds if bd.ch == ch]) for ch in writers)
        cores = sorted({core for ch in writers for core in self._cores(ch, set())})
        return f"{does}{self._made_by(cores)}."

    def read_back(self, output: str, arrays: tuple[Array, Array] | None = None) -> str:
        """What reads words of an array in external memory that are written too; empty if nothing does.

        A channel that reads just what another one writes works in place, as may be meant; one that reads more
        may get words of before and of after. It does not where none of those words are wrong, or where the
        word that is written first is: nothing had been written over when it was made.

        Args:
            output: the name of the array.
            arrays: what came and what was expected, of all of it; None = not known.
        """
        writers = [bd for bd in self._writers(output) if self._planned.is_external(bd.ch)]
        if not writers:
            return ""
        name = output.removeprefix(_ARGUMENT)
        wrong = None if arrays is None else self._wrong_places(name, *arrays)
        every = np.concatenate([self._places(bd) for bd in writers])
        if wrong is not None and self._is_wrong_at_first(writers, every, wrong):
            return ""
        for ch, bds in self._planned.bds.items():
            own = [self._places(bd) for bd in bds if not self._receives(ch) and self._is_outside(bd, output)]
            shared = [each[np.isin(each, every)] for each in own]
            back = [some for some, each in zip(shared, own, strict=True) if 0 < len(some) < len(each)]
            if back and (wrong is None or np.isin(np.concatenate(back), wrong).any()):
                line = next((f" ({line_of(bd.said)})" for bd in bds if bd.said), "")
                reads = f"{called(self._engine, ch)}{line} reads words of {name} that are written too"
                return f"{reads}, and words beside them: it may read old words or new ones."
        return ""

    def _wrong_places(self, name: str, got: Array, expected: Array) -> npt.NDArray[np.int64] | None:
        """The words of an array in external memory that are others than expected; None = not of all of it."""
        buffer = self._engine.external.buffers[name]
        came, wanted = (np.ascontiguousarray(each).view(np.uint8) for each in (got, expected))
        if len(came) != len(wanted) or -(-len(came) // WORD_BYTES) != buffer.words:
            return None
        return buffer.address // WORD_BYTES + distinct(np.flatnonzero(came != wanted) // WORD_BYTES)

    def _is_wrong_at_first(
        self, writers: Sequence[PlannedBd], every: npt.NDArray[np.int64], wrong: npt.NDArray[np.int64]
    ) -> bool:
        """Whether the first word that the only writer writes is wrong, and is not written again."""
        alone = len({bd.ch for bd in writers}) == 1 and self._planned.is_complete(writers[0].ch)
        return bool(alone and every[0] in wrong and np.count_nonzero(every == every[0]) == 1)

    @staticmethod
    def _places(bd: PlannedBd) -> npt.NDArray[np.int64]:
        return walked(bd.descriptor, 0, writes=True)

    def _made_by(self, cores: Sequence[int]) -> str:
        made = ", ".join(map(self._core, cores[:_MOST])) + (", .." if len(cores) > _MOST else "")
        return f", made by {made}" if cores else ""

    def _sends(self, ch: int) -> str:
        """Which descriptors a channel sends, and where the design says them."""
        bds = self._planned.bds.get(ch, ())
        numbers = " and ".join(str(bd.number) for bd in bds[:_MOST])
        line = f" ({line_of(bds[0].said)})" if bds and bds[0].said else ""
        return f"{called(self._engine, ch)}{line} sends it{f' with BD {numbers}' * bool(bds)}"

    def exchanged_ids(self, check: Check) -> tuple[str, str, Side] | None:
        """Two outputs whose packets each have the id of the other: a sentence, the repair and the sender."""
        if check.cause is None or not check.cause.other:
            return None
        sent = [self._sent_to(output) for output in (check.port, check.cause.other)]
        own, other = (bds[0] if len(bds) == 1 else None for bds in sent)
        if own is None or other is None or own.descriptor.packet is None or other.descriptor.packet is None:
            return None
        ids = own.descriptor.packet.id, other.descriptor.packet.id
        name, by = called(self._engine, own.ch), called(self._engine, other.ch)
        does = f"sends it with packet id {ids[0]}"
        text = (
            f"{name}, BD {own.number}, {does}, and {f'{by}, ' * (by != name)}BD {other.number} "
            f"what was expected of it with packet id {ids[1]}."
        )
        fix = f"Exchange the packet ids {ids[0]} and {ids[1]} of the two, or the receivers of their streams."
        return text, fix, Side(name, does, own.said)

    def _sent_to(self, output: str) -> list[PlannedBd]:
        """The descriptors whose words are written to an output, as they are sent."""
        channels = {bd.ch for bd in self._writers(output)}
        return [bd for ch in channels for bd in self._planned.senders.get(ch, ())]

    def _writers(self, output: str) -> list[PlannedBd]:
        """The descriptors that write an output."""
        where, is_inside, name = output.rpartition(_BUFFER)
        bds = [bd for bds in self._planned.bds.values() for bd in bds if self._receives(bd.ch)]
        return [
            bd
            for bd in bds
            if (self._is_in(bd, where.strip(), name) if is_inside else self._is_outside(bd, name))
        ]

    def _does(self, ch: int, bds: Sequence[PlannedBd]) -> str:
        """How many words a channel writes with which descriptor."""
        if len(bds) > _MOST or not self._planned.is_complete(ch):
            return f"{called(self._engine, ch)} writes it"
        each = ", ".join(f"{bd.length} words with BD {bd.number}" for bd in bds)
        return f"{called(self._engine, ch)} writes {each}"

    def _receives(self, ch: int) -> bool:
        return bool(self._engine.channels.direction[ch] == S2MM)

    def _is_in(self, bd: PlannedBd, where: str, name: str) -> bool:
        """Whether a descriptor writes a buffer of a tile, which has a name where there are several."""
        for area in self._areas:
            ends = area.first // WORD_BYTES, (area.first + area.nbytes) // WORD_BYTES
            is_there = area.tile == bd.tile and where in ("", tile_name(self._engine, area.tile))
            if area.name == name and is_there and len(bd.places):
                return bool(((bd.places >= ends[0]) & (bd.places < ends[1])).any())
        return False

    def _is_outside(self, bd: PlannedBd, name: str) -> bool:
        """Whether a descriptor begins in an array of external memory."""
        array = self._engine.external.buffers.get(name.removeprefix(_ARGUMENT))
        at = bd.descriptor.address * WORD_BYTES
        return array is not None and self._planned.is_external(bd.ch) and array.address <= at < array.end

    def _core(self, core: int) -> str:
        return f"{core_name(self._engine, core)} (kernel {self._engine.cores.running[core].kernel!r})"

    @cached_property
    def _senders(self) -> dict[int, list[int]]:
        """By S2MM channel the MM2S channels whose words come to it."""
        channels, switch = self._engine.channels, plain(self._engine.state.switch)
        found: dict[int, list[int]] = {}
        for ch in np.flatnonzero((channels.direction == MM2S) & (channels.switch_port >= 0)).tolist():
            for port in reached([int(channels.switch_port[ch])], partial(configured_ways, self._engine)):
                if switch.is_master[port] and switch.channel[port] >= 0:
                    found.setdefault(int(switch.channel[port]), []).append(ch)
        return found

    def _cores(self, ch: int, seen: set[int]) -> Iterator[int]:
        """Cores that make the words of an S2MM channel."""
        for sender in self._senders.get(ch, ()):
            yield from self._cores_of(sender, seen)

    def _cores_of(self, sender: int, seen: set[int]) -> Iterator[int]:
        """Cores that make the words of an MM2S channel."""
        tile, is_new = int(self._engine.channels.tile[sender]), sender not in seen
        seen.add(sender)
        core = int(plain(self._engine.spec.tiles).core[tile])
        if core in self._engine.cores.running:
            yield core
        elif is_new:
            for writer in self._before(sender):
                yield from self._cores(writer, seen)

    def _before(self, sender: int) -> Sequence[int]:
        """S2MM channels that release a lock which an MM2S channel takes."""
        takers, givers = BdChains(self._engine).steps_by_lock()
        taken = [lock for lock, channels in takers.items() if sender in channels]
        direction = self._engine.channels.direction
        return [ch for lock in taken for ch in givers.get(lock, ()) if direction[ch] == S2MM]
