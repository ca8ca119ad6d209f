"""The sides of a race: their names, where they are said, and the locks that they take and give."""

from __future__ import annotations

from memtile.explain.bd_chains import lock_seen
from memtile.explain.lock_waits import owner
from memtile.explain.names import called, core_name
from memtile.explain.swapped_locks import Swap
from memtile.model.checking.notes import FIRST_CHANNEL, HOST
from memtile.model.dma import bd_fields
from memtile.model.state.columns import Ints
from memtile.sim.engine import Engine
from memtile.sim.kernel_lines import place_said
from memtile.sim.kernels import place
from memtile.sim.races.watch import Access


class Sides:
    """Those who use memory, of an engine that stands still.

    Args:
        engine: the model.
        began: by lock of the model the value that it began with.
    """

    def __init__(self, engine: Engine, began: Ints) -> None:
        self._engine, self._began = engine, began
        self._channels = len(engine.channels.tile)

    def name(self, access: Access) -> str:
        """The channel, the core or the host, by the user's name and its place."""
        if access.agent == HOST:
            return "the host"
        if access.agent < FIRST_CHANNEL + self._channels:
            return called(self._engine, access.agent - FIRST_CHANNEL)
        core = access.agent - FIRST_CHANNEL - self._channels
        running = self._engine.cores.running.get(core)
        kernel = f", kernel {running.kernel!r}" if running else ""
        return f"{core_name(self._engine, core)}{kernel}"

    def place(self, access: Access) -> str:
        """The BD and where the design says it, or the line of the kernel; empty for a host."""
        if access.agent == HOST:
            return ""
        if access.agent < FIRST_CHANNEL + self._channels:
            tile = int(self._engine.channels.tile[access.agent - FIRST_CHANNEL])
            said = self._engine.bd_places.get((tile, access.site))
            return f"BD {access.site}, {said}" if said else f"BD {access.site}"
        running = self._engine.cores.running.get(access.agent - FIRST_CHANNEL - self._channels)
        return place_said(running.function if running else None, access.site)

    def text(self, access: Access) -> str:
        """The name, and which of its BDs or lines."""
        is_core = access.agent >= FIRST_CHANNEL + self._channels
        line = f"line {access.site}" if access.site else ""
        place = line if is_core else self.place(access).split(",")[0]
        return ", ".join(filter(None, [self.name(access), place]))

    def handed(self, giver: Access, taker: Access) -> bool:
        """Whether one gives a lock that the other one takes."""
        return bool(self._given(giver) & self._taken(taker))

    def has_data_early(self, reader: Access, writer: Access) -> bool:
        """Whether a lock that the writer gives to the reader says at the start that there is data."""
        return any(self._began[lock] > 0 for lock in self._given(writer) & self._taken(reader))

    def room_locks(self, reader: Access, writer: Access) -> set[int]:
        """Locks by which a reader gives room to a writer."""
        return self._given(reader) & self._taken(writer)

    def swap_texts(self, swap: Swap) -> tuple[str, str]:
        """What a release to the wrong lock does, and the repair."""
        giver, given, meant = called(self._engine, swap.giver), self._lock(swap.gives), self._lock(swap.meant)
        waiting = called(self._engine, swap.waiting)
        says = (
            f"{giver} takes what {waiting} gives, and releases {given} instead of {meant}, which nobody does"
        )
        return f"{says}.", f"Let {giver} release {meant}."

    def data_fix(self, reader: Access, writer: Access) -> str:
        """A repair that orders a read after a write."""
        common = self._given(writer) & self._taken(reader)
        if common:
            lock = self._lock(min(common))
            if self._began[min(common)] == 0:
                return f"Let {self.text(reader)} acquire {lock} before each read, once for each buffer."
            return f"{lock} lets the reader go before there is data: begin it with 0, or take more of it."
        return self.order_fix(writer, reader, "read")

    def room_fix(self, reader: Access, writer: Access) -> str:
        """A repair that orders a write after a read."""
        common = self._given(reader) & self._taken(writer)
        if common:
            lock = self._lock(min(common))
            return (
                f"{lock} gives more room than there is: begin it with the number of buffers, or release less."
            )
        return self.order_fix(reader, writer, "write")

    def order_fix(self, first: Access, then: Access, does: str) -> str:
        """A repair that orders one access before the other."""
        given = self._given(first)
        if then.agent == HOST:
            return f"Let {self.text(first)} release a lock that the host waits for before the {does}."
        if given:
            lock = self._lock(min(given))
            return (
                f"Let {self.text(then)} acquire {lock}, which {self.text(first)} releases, before the {does}."
            )
        return f"Let {self.text(first)} release a lock that {self.text(then)} acquires before the {does}."

    def _given(self, access: Access) -> set[int]:
        return self._locks(access, bd_fields.RELEASE_VALUE, bd_fields.RELEASE_ID, "released")

    def _taken(self, access: Access) -> set[int]:
        return self._locks(access, bd_fields.ACQUIRE_ENABLE, bd_fields.ACQUIRE_ID, "taken")

    def _locks(self, access: Access, enable: int, lock: int, by_kernel: str) -> set[int]:
        """Locks that a BD, or a kernel so far, takes or gives; indices among all of the model."""
        if access.agent == HOST:
            return set()
        ch = access.agent - FIRST_CHANNEL
        if ch >= self._channels:
            running = self._engine.cores.running.get(ch - self._channels)
            return set(getattr(running, by_kernel)) if running else set()
        state, tile = self._engine.state, int(self._engine.channels.tile[ch])
        if int(bd_fields.read_field(state, tile, access.site, enable)) == 0:
            return set()
        seen = lock_seen(self._engine, tile, int(bd_fields.read_field(state, tile, access.site, lock)))
        return set() if seen is None else {seen}

    def _lock(self, lock: int) -> str:
        tile, number = owner(self._engine, lock)
        name = self._engine.lock_names.get(lock)
        where = f" of tile {place(self._engine.spec, tile)}" if len(self._engine.spec.tiles.kind) > 1 else ""
        return f"lock {number}{f' {name!r}' if name else ''}{where}"
