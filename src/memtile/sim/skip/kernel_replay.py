"""Kernels in jumps: they are asked for each action of the periods, which has to be the one that was recorded.

What a kernel computes is its own; so it is resumed at each of its actions, with memory as it is there, while
the cycles in between are not stepped. A kernel that does something else, raises, or looks at the time or at
registers has the state brought to where it is (``compiled_replay``), and goes on there.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from memtile.jit.structs import at_hand
from memtile.model.dma.access_log import FIRST_CORE
from memtile.model.state.state import State
from memtile.sim.kernels.actions import Action
from memtile.sim.kernels.running_cores import Cores
from memtile.sim.loop import compiled_model
from memtile.sim.skip import calls
from memtile.sim.skip.compiled_replay import ALL_DONE
from memtile.sim.skip.records import Arrays, Segments

_FAR = 1 << 62  # a cycle that no stepping comes to


class ReplayJump:
    """One jump in which cores are given actions.

    Args:
        state: of the model, at the beginning of the jump.
        work: what fast-forward knows of it.
        cores: the kernels.
    """

    def __init__(self, state: State, work: Arrays, cores: Cores) -> None:
        self._state, self._work, self._cores = state, work, cores
        self._taken: list[tuple[int, Action]] = []  # in the period that is moved
        self._pending: tuple[int, Action | None] | None = None
        self._core, self._stepped = 0, False

    def run(self) -> None:
        """Jump, as far as all kernels do what they did."""
        cores = self._cores
        cores.ahead = self.catch_up
        try:
            self._jump()
        except BaseException as error:
            self.catch_up()
            if isinstance(error, Exception):
                cores.note_place(self._core, error)
            if self._pending is not None:
                cores.hand_back(*self._pending)
            if not isinstance(error, Exception) or not cores.stop_failed(self._core, error):
                raise
        finally:
            cores.ahead = None
            if self._stepped:
                calls.forget_periods(self._state, self._work)

    def _jump(self) -> None:
        work: Any = at_hand(self._work)
        done, cores, before = memoryview(work.search.done), self._cores, 0
        number, *rest = (memoryview(getattr(work.segments, name)) for name in Segments._fields)
        while (at := calls.next_action(self._state, self._work)) != ALL_DONE:
            if done[0] != before:
                before = done[0]
                self._taken.clear()
            self._core = core = FIRST_CORE - number[at]
            action = cores.following(core)
            if self._stepped or action is None or cores.codes.code(action) != tuple(c[at] for c in rest):
                self._pending = core, action
                self.catch_up()
                self._pending = None
                cores.hand_back(core, action)
                cores.serve()
                return
            self._taken.append((core, action))
        calls.end_replay(self._state, self._work)
        self._stepped = False

    def catch_up(self) -> None:
        """Bring all of the state to the action that comes next; what kernels did since is not done again."""
        if self._stepped:
            return
        self._stepped, self._cores.ahead = True, None
        st = self._state
        memory = st.memory.copy()
        calls.end_replay(st, self._work)
        self._step_to_next()
        np.copyto(st.memory, memory)
        calls.put_back(st, self._work, len(self._taken))

    def _step_to_next(self) -> None:
        """Step the period, with the actions that its kernels have given, up to the one that comes next."""
        left = deque(self._taken)
        while True:
            compiled_model.run(self._state, _FAR, settled=False)
            for core in self._cores.asking():
                if not left:
                    return
                number, action = left.popleft()
                assert number == core
                self._cores.begin(core, action)
            self._state.clock.asking[0] = 0
