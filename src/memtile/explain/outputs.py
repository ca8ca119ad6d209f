"""The arrays that a run leaves, each made when somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy.typing as npt

from memtile.errors import MemtileError

Array = npt.NDArray[Any]


class Outputs(Mapping[str, Array]):
    """Arrays by name.

    Args:
        made: makes each array; called once.
        gone: makes what a look at any of them raises, if the run has left no words.
    """

    def __init__(
        self, made: Mapping[str, Callable[[], Array]], gone: Callable[[], MemtileError] | None = None
    ) -> None:
        self._made, self._gone = dict(made), gone
        self._arrays: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if self._gone is not None:
            raise self._gone()
        if name not in self._arrays:
            self._arrays[name] = self._made[name]()
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __contains__(self, name: object) -> bool:
        return name in self._made

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """As a plain dictionary: what makes the arrays stays here."""
        return dict, (dict(self),)
