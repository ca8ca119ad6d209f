"""What a result still knows of its run: the model, as long as somebody has it, and the history.

Records, pages and timelines are made by modules that know results, which the package has enlisted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import ref

from memtile.errors import DesignError, Problem
from memtile.lazy import enlisted
from memtile.sim.loop.engine import Engine
from memtile.sim.loop.run_history import History


class ModelLink:
    """The model of a run, which is not kept alive, and its history, which keeps it.

    Args:
        engine: the model.
        history: of the run; None = nobody noted it.
        holds: the model is kept alive, as it is with a history.

    Attributes:
        history: as given.
    """

    def __init__(self, engine: Engine | None, history: History | None = None, *, holds: bool = False) -> None:
        self._engine = ref(engine) if engine is not None else None
        self._held = engine if holds or history is not None else None
        self._cycles = engine.now if engine is not None else 0
        self.history = history

    def __reduce__(self) -> tuple[Callable[..., ModelLink], tuple[None]]:
        return ModelLink, (None,)  # a copy, or one in another process, has no model

    def holding(self) -> ModelLink:
        """This link to the model as one that keeps it alive.

        Raises:
            DesignError: the model is gone.
        """
        return ModelLink(self.engine(), self.history, holds=True)

    def with_history(self, history: History) -> ModelLink:
        """This link to the model with the history of the run, which keeps it alive.

        Raises:
            DesignError: the model is gone.
        """
        return ModelLink(self.engine(), history)

    def engine(self) -> Engine:
        """The model, as the run has left it.

        Raises:
            DesignError: nobody has it any more, or it has run on.
        """
        engine = self._engine() if self._engine is not None else None
        if engine is None:
            step = "Keep the array as long as the result, or run with history=True."
            raise DesignError(_problem("model", "the model of the run no longer exists", "a model", step))
        if engine.now != self._cycles:
            step = "Ask before the next run."
            raise DesignError(_problem("model", "the model has run on since", "as this run left it", step))
        return engine

    def record(self, result: Any, inputs: Mapping[str, str] | None) -> Any:
        """The record of the run, see ``explain.record``.

        Raises:
            DesignError: the model is gone, or has run on.
        """
        return enlisted("record")(result, self.engine(), inputs=inputs)

    def save(self, what: str, result: Any, path: Path, **known: Any) -> None:
        """Have a file made of the history: ``save_report`` or ``save_timeline``.

        Raises:
            DesignError: nobody noted the history, or the model has run on.
            InputFileError: the file cannot be written.
        """
        if self.history is None:
            step = "Run with history=True."
            raise DesignError(_problem("history", "the run recorded no history", "noted", step))
        enlisted(what)(self.engine(), self.history, result, path, **known)


def _problem(field: str, says: str, allowed: str, step: str) -> Problem:
    return Problem(
        field,
        says,
        allowed,
        says,
        step,
        reason=field,
        where="result",
        source="what a record or a report shows",
    )
