"""Is it read from its source which locks a Python kernel releases, and left open where it does not say it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from memtile import Array
from memtile.design.locks import Lock
from memtile.kernels import Action, Core, calls
from memtile.sim.kernels.kernel_text import KernelText, released_by

ARRAY = Array("npu1", columns=1)
OWN, NORTH = ARRAY.compute_tile(0, 2), ARRAY.compute_tile(0, 3)
A, B, FAR = OWN.lock(0, "a"), OWN.lock(0, "b"), NORTH.lock(0, "far")
FIFO = ARRAY.object_fifo("fifo", OWN, NORTH, shape=8)


def index(lock: Lock) -> int:
    assert lock.place is not None
    return int(ARRAY.engine.spec.tiles.lock_base[ARRAY.tile(*lock.place).index]) + lock.id


def text(kernel: Callable[..., Any]) -> KernelText | None:
    OWN.run_kernel(kernel)
    (running,) = ARRAY.engine.cores.running.values()
    found = released_by(running, ARRAY.engine.spec)
    ARRAY.engine.cores.stop(OWN.index)
    return found


def plain_kernel(core: Core) -> Iterator[Action]:
    yield core.acquire(B)
    yield core.release(A)
    yield core.release(FIFO.producer.full)


def by_number(core: Core) -> Iterator[Action]:
    yield core.release(A.id)
    yield core.release(0, tile=(0, 3))


def in_a_loop(core: Core, locks: tuple[Lock, ...] = (A, FAR)) -> Iterator[Action]:
    for n, lock in enumerate(locks):
        yield from gives(lock if n else A, core)


def gives(what: Lock, core: Core) -> Iterator[Action]:
    yield core.acquire(what)
    for each in (A, FAR):
        yield core.release(each)


def one_of_two(core: Core) -> Iterator[Action]:
    for n in range(2):
        yield core.release((A, FAR)[n])


class Worker:
    """A kernel with a state."""

    def __init__(self, lock: Lock) -> None:
        self.lock = lock

    def __call__(self, core: Core) -> Iterator[Action]:
        yield core.release(self.lock)

    def begin(self, core: Core) -> Iterator[Action]:
        yield from self(core)


def releases(lock: Lock, core: Core) -> Iterator[Action]:
    yield core.acquire(FAR)
    yield core.release(lock)


def nothing(core: Core) -> None:
    """Computes nothing."""


@pytest.mark.parametrize(
    ("kernel", "locks"),
    [
        (plain_kernel, [A, FIFO.producer.full]),
        (by_number, [A, FAR]),
        (in_a_loop, [A, FAR]),
        (Worker(B), [B]),
        (Worker(B).begin, [B]),
        (partial(releases, B), [B]),
        (calls(nothing, acquire=[(0, -1)], release=[(1, 1)], cycles=8), [B]),
    ],
)
def test_what_a_source_says_is_known(kernel: Callable[..., Any], locks: list[Lock]) -> None:
    assert text(kernel) == KernelText(frozenset(map(index, locks)))


def test_of_an_element_nobody_knows_which_the_own_locks_are_released_and_others_may_be() -> None:
    assert text(one_of_two) == KernelText(frozenset({index(A)}), frozenset({index(FAR)}))


def test_of_a_lock_that_is_not_known_it_is_one_that_the_kernel_can_come_to() -> None:
    """Of an object FIFO it is what its own end releases."""
    fifo, far = FIFO, FAR

    def hides(core: Core) -> Iterator[Action]:
        yield core.acquire(fifo.consumers[0].full)
        yield core.release(max([far], key=id))

    assert text(hides) == KernelText(frozenset(), frozenset({index(FAR), index(FIFO.producer.full)}))


def test_where_the_core_cannot_be_followed_nothing_is_known() -> None:
    kept: list[Core] = []

    def goes_away(core: Core) -> Iterator[Action]:
        kept.append(core)
        yield core.cycles(1)

    def other_name(core: Core) -> Iterator[Action]:
        give = core.release
        yield give(A)

    made: dict[str, Any] = {}
    exec("def of_no_module(core): yield core.cycles(1)", made)  # its source is in no file either
    assert made["of_no_module"].__module__ is None
    assert text(goes_away) is None
    assert text(other_name) is None
    assert text(made["of_no_module"]) is None


def test_a_source_that_history_contradicts_is_not_believed() -> None:
    OWN.run_kernel(plain_kernel)
    (running,) = ARRAY.engine.cores.running.values()
    running.released.add(index(B))
    assert released_by(running, ARRAY.engine.spec) is None
    ARRAY.engine.cores.stop(OWN.index)
