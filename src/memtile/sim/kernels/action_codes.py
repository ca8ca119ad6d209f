"""Actions of kernels as numbers: what the log of accesses has of them, so that a jump knows them again."""

from __future__ import annotations

from typing import NamedTuple

from memtile.model.dma.access_log import FIRST_CORE, ON, UNKNOWN, append
from memtile.model.state.columns import CORE_STEPS
from memtile.model.state.state import State
from memtile.sim.kernels.actions import Accesses, Action, EventInstruction, LockOperation, Wait

_WAIT, _LOCK, _EVENT, _ACCESSES = range(UNKNOWN + 1, UNKNOWN + 5)  # kinds of actions


class ActionCode(NamedTuple):
    """An action as the log has it: equal codes are equal actions, but those that are unknown."""

    first: int
    second: int
    third: int
    kind: int


_NOTHING = ActionCode(0, 0, 0, UNKNOWN)


class ActionCodes:
    """The codes of the actions of all cores.

    Args:
        state: whose log has them.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._log = memoryview(state.access_log[0])
        self._patterns: dict[bytes, int] = {}

    def code(self, action: Action | None) -> ActionCode:
        """The code of an action; an unknown one where a jump cannot make it, or it is the end of a kernel."""
        if isinstance(action, LockOperation):
            return ActionCode(action.lock, action.value, int(action.acquire), _LOCK)
        if isinstance(action, Wait):
            return ActionCode(action.cycles, 0, 0, _WAIT)
        if isinstance(action, EventInstruction):
            return ActionCode(action.number, 0, 0, _EVENT)
        if isinstance(action, Accesses) and 0 < len(action.steps) <= CORE_STEPS:
            number = self._patterns.setdefault(action.steps.tobytes(), len(self._patterns))
            return ActionCode(number, 0, 0, _ACCESSES)
        return _NOTHING

    def note(self, core: int, action: Action | None) -> None:
        """Note the next action of a core, if somebody listens; None = it cannot be told from others."""
        if self._log[ON]:
            append(self._state, FIRST_CORE - core, *self.code(action))
