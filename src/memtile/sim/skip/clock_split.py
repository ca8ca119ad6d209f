"""The lists and the clocks of the parts of a model, while one of them is brought on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memtile.jit.tables import plain
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import compiled_model

Bools = npt.NDArray[np.bool_]
_TIMES = "now", "activity", "quiet", "locks_changed"


class Split:
    """The lists and the clock of each of some parts, while another one has those of the model.

    Args:
        st: state, in which no core asks for an action.
        own: the tiles of each part.
        kernels: of the engine; those of the part that has the clock can be asked.
    """

    def __init__(self, st: State, own: list[Bools], kernels: Cores) -> None:
        self._st, self._clock, self._kernels = st, plain(st.clock), kernels
        self._in_cascades = plain(st.cascades).out_held
        lists = listed(st)
        self._members = [[found[tiles[owner[found]]].copy() for found, owner in lists] for tiles in own]
        began = tuple(int(getattr(self._clock, name)[0]) for name in _TIMES)
        self._times = [list(began) for _ in own]
        self._mine = [tiles[plain(st.cores).tile] for tiles in own]
        self._asking = [0] * len(own)
        self._held = [np.where(mine, self._in_cascades, 0) for mine in self._mine]
        self._rest()

    def _rest(self) -> None:
        """Nobody has the clock: nobody asks, and no value in a cascade moves."""
        self._clock.asking[0] = self._st.cascading[0] = 0

    def enter(self, number: int) -> None:
        """Give the model's lists and its clock to a part."""
        for roster, members in zip(rosters(self._st), self._members[number], strict=True):
            roster[0] = len(members)
            roster[1 : 1 + len(members)] = members
        for name, value in zip(_TIMES, self._times[number], strict=True):
            getattr(self._clock, name)[0] = value
        self._kernels.mine = self._mine[number]
        self._clock.asking[0], self._in_cascades[:] = self._asking[number], self._held[number]
        self._st.cascading[0] = self._in_cascades.sum()

    def leave(self, number: int) -> None:
        """Take them from the part."""
        self._members[number] = [roster[1 : 1 + roster[0]].copy() for roster in rosters(self._st)]
        self._times[number] = [int(getattr(self._clock, name)[0]) for name in _TIMES]
        self._asking[number], self._held[number] = int(self._clock.asking[0]), self._in_cascades.copy()
        self._kernels.mine = None
        self._rest()

    def catch_up(self, number: int, cycle: int) -> None:
        """Let time pass for a part in which nothing can happen any more, up to a cycle."""
        if self._times[number][0] < cycle:
            self.enter(number)
            passing, self._clock.passing[0] = int(self._clock.passing[0]), 1
            compiled_model.run(self._st, cycle, settled=False)
            self._clock.passing[0] = passing
            self.leave(number)

    def join(self) -> None:
        """Give lists and clock back to the model: all parts are at one cycle."""
        for n, roster in enumerate(rosters(self._st)):
            members = np.sort(np.concatenate([of_part[n] for of_part in self._members]))
            roster[0] = len(members)
            roster[1 : 1 + len(members)] = members
        now, activity, quiet, changed = zip(*self._times, strict=True)
        self._clock.now[0], self._clock.activity[0] = max(now), max(activity)
        self._clock.quiet[0], self._clock.locks_changed[0] = min(quiet), max(changed)
        self._clock.asking[0] = sum(self._asking)
        self._in_cascades[:] = np.sum(self._held, axis=0)
        self._st.cascading[0] = self._in_cascades.sum()


def rosters(st: State) -> tuple[Ints, ...]:
    """The lists of what is active or waits."""
    return st.active_channels, st.waiting_channels, st.active_ports, st.active_cores, st.active_controls


def listed(st: State) -> list[tuple[Ints, Ints]]:
    """What they have, and the tile of whatever they may have."""
    channels, each = plain(st.channels).tile, np.arange(len(st.spec.tiles.kind))
    owners = channels, channels, plain(st.switch).tile, plain(st.cores).tile, each
    return [(roster[1 : 1 + roster[0]], owner) for roster, owner in zip(rosters(st), owners, strict=True)]
