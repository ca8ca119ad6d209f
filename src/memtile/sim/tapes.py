"""What kernels asked for in a run, to be given to them in the next one of the same design.

A kernel that looked at nothing asks for the same actions in each run. Then nobody has to ask it again: cores
take their actions from a tape (``model.cores.tape``), which is much quicker than a generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from memtile.model.cores.tape import AT, COLUMNS, END, KIND, LOCK, ON, STOP, TARGET, THIRD, WAIT
from memtile.model.state.columns import Ints
from memtile.model.state.state import State
from memtile.sim.actions import Action, LockOperation, Wait
from memtile.sim.kernel_time import taken

MOST = 1 << 16  # actions of a core that are kept
_ALL = 100  # cycles, of which a kernel takes so many per cent
_NONE = np.zeros((0, COLUMNS), dtype=np.int64)


@dataclass(slots=True)
class Tape:
    """What one kernel asked for, from its beginning on.

    Attributes:
        actions: one after another.
        ended: whether it came to its end after them.
        steady: whether it asks for the same in each run, as far as is known.
        targets: of each action the index of its lock among all of the model; -1 = it has none.
        skipped: whether the kernel itself has been brought to where its tape ends.
    """

    actions: list[Action] = field(default_factory=list)
    ended: bool = False
    steady: bool = True
    targets: list[int] = field(default_factory=list)
    skipped: bool = True


class Tapes:
    """The tapes of all cores of an engine.

    Args:
        cores: that have kernels.
    """

    def __init__(self, cores: Mapping[int, object]) -> None:
        self._tapes = {core: Tape() for core in cores}
        self._rows: Ints | None = None  # of the run that is under way; None = nobody has a tape in it
        self._kept, self._known = _NONE, list[tuple[int, bool, bool, int]]()
        self._first: dict[int, int] = {}  # row of each core's first action
        self._looked = False

    def spoil(self, core: int) -> None:
        """A core was reset, or was given another kernel: what it does is not that of its tape."""
        self._tapes[core] = Tape(steady=False)
        if self._rows is not None:
            self._rows[1 + core] = 0

    def lay(self, state: State) -> State:
        """The state, with the tapes of all kernels that ask for the same in each run.

        Args:
            state: before the first cycle of a run.
        """
        known = [(len(tape.actions), tape.ended, tape.steady, taken(_ALL)) for tape in self._tapes.values()]
        if known != self._known:
            self._known, self._kept = known, self._lay_out(len(state.cores.phase))
        for tape in self._tapes.values():
            tape.skipped = not tape.steady
        self._rows = self._kept.copy()
        return state._replace(tape=self._rows)

    def _lay_out(self, many: int) -> Ints:
        """The tapes of so many cores, from their beginning on."""
        rows = np.zeros((1 + many, COLUMNS), dtype=np.int64)
        rows[0, ON] = 1
        parts, at = [rows], len(rows)
        for core, tape in self._tapes.items():
            self._first[core] = at
            if not tape.steady:
                continue
            part = _rows_of(tape)
            rows[1 + core, AT], rows[1 + core, STOP] = at, at + len(part)
            parts.append(part)
            at += len(part)
        return np.concatenate(parts)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Context in which cores are given nothing from tapes by the clock."""
        if self._rows is None:
            yield
            return
        self._rows[0, ON] = 0
        try:
            yield
        finally:
            self._rows[0, ON] = 1

    def has(self, core: int) -> bool:
        """Whether what the core does next is on its tape."""
        return self._rows is not None and bool(self._rows[1 + core, AT] < self._rows[1 + core, STOP])

    def take(self, core: int) -> Action | None:
        """The next action from the tape of a core; None = the end of its kernel."""
        assert self._rows is not None
        number = int(self._rows[1 + core, AT]) - self._first[core]
        self._rows[1 + core, AT] += 1
        actions = self._tapes[core].actions
        return actions[number] if number < len(actions) else None

    def leads(self, core: int) -> bool:
        """Whether a core has been given actions from its tape that its kernel was not asked for."""
        return not self._tapes[core].skipped

    def skip(self, core: int) -> int:
        """How many actions the kernel has to be asked for until it is where its tape ends; then it is."""
        tape = self._tapes[core]
        left, tape.skipped = 0 if tape.skipped else len(tape.actions), True
        return left

    def looks(self) -> None:
        """A kernel looks at the time, or at the state of the model."""
        self._looked = True

    def watched(self, before: Callable[[], None] | None) -> Callable[[], None]:
        """``before``, with a note that it was called."""

        def look() -> None:
            self.looks()
            if before is not None:
                before()

        return look

    def note(self, core: int, action: Action | None, target: int) -> None:
        """Note what a kernel asks for.

        Args:
            core: of the kernel.
            action: that it yielded; None = it has ended.
            target: index of the lock that it is about among all of the model; -1 = it is about none.
        """
        tape = self._tapes[core]
        if not tape.steady:
            return
        known = action is None or isinstance(action, Wait | LockOperation)
        if self._looked or not known or len(tape.actions) >= MOST:
            self._looked = False
            self._tapes[core] = Tape(steady=False)
        elif action is None:
            tape.ended = True
        else:
            tape.actions.append(action)
            tape.targets.append(target)

    def locks_of(self, core: int) -> tuple[set[int], set[int], int]:
        """Locks that a core has acquired and released from its tape so far, and the one that it asks for.

        That one is -1 if its last action acquires none.
        """
        assert self._rows is not None
        first, at = self._first[core], int(self._rows[1 + core, AT])
        given = self._rows[first:at]
        locks = given[given[:, KIND] == LOCK]
        acquired, released = locks[locks[:, THIRD] == 1, TARGET], locks[locks[:, THIRD] == 0, TARGET]
        asked = -1
        if len(given) and given[-1, KIND] == LOCK and given[-1, THIRD] == 1:
            asked, acquired = int(given[-1, TARGET]), acquired[:-1]
        return set(acquired.tolist()), set(released.tolist()), asked


def _rows_of(tape: Tape) -> Ints:
    """The actions of a tape as the clock takes them."""
    rows = [_row(action, target) for action, target in zip(tape.actions, tape.targets, strict=True)]
    if tape.ended:
        rows.append((0, 0, 0, END, -1))
    return np.array(rows, dtype=np.int64).reshape(len(rows), COLUMNS)


def _row(action: Action, target: int) -> tuple[int, int, int, int, int]:
    if isinstance(action, LockOperation):
        return action.lock, action.value, int(action.acquire), LOCK, target
    assert isinstance(action, Wait)
    return action.cycles, 0, 0, WAIT, taken(action.cycles)
