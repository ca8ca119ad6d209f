"""``aie.iron.controlflow``: loops of a design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memtile.iron.helpers.dialects import scf


def range_(
    *args: Any, iter_args: Sequence[Any] | None = None, insert_yield: bool = True, **more: Any
) -> Iterator[Any]:
    """A loop of the design; transfers go from turn to turn as tasks."""
    from memtile.iron.runtime.dmataskhandle import Task  # noqa: PLC0415 - the runtime uses loops

    tasks = [isinstance(each, Task) for each in iter_args or ()]
    plain = None if iter_args is None else [each.handle if isinstance(each, Task) else each for each in iter_args]

    def wrapped(values: Any) -> Any:
        if isinstance(values, tuple):
            return tuple(Task(each) if is_task else each for each, is_task in zip(values, tasks, strict=True))
        return Task(values) if tasks[0] else values

    for turn in scf._for(*args, iter_args=plain, insert_yield=insert_yield, **more):
        if not any(tasks):
            yield turn
        else:
            number, inner, results = turn
            yield number, wrapped(inner), wrapped(results)


def yield_(values: Sequence[Any]) -> None:
    """The values of a loop's next turn; tasks too."""
    scf.yield_([getattr(each, "handle", each) for each in values])
