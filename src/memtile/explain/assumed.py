"""Timing constants that nobody has measured: which of them a run depended on."""

from __future__ import annotations

from dataclasses import fields

from memtile.arch.timing import Timing
from memtile.model.state.causes import Cause, CoreCause
from memtile.model.state.columns import columns_of, fields_of
from memtile.model.state.state import State, StateTables
from memtile.sim.engine import Engine


def is_shown(st: State, sign: str) -> bool:
    """Whether a sign of ``shown_by`` (``arch/timing.py``) is in the state, such as ``Cause.EXTERNAL``.

    Raises:
        KeyError: no such cause, table or column.
    """
    of, name = sign.split(".")
    if of == Cause.__name__:
        return bool(st.spent[:, Cause[name]].any())
    if of == CoreCause.__name__:
        return bool(st.core_spent[:, CoreCause[name]].any())
    table, _ = fields_of(StateTables)[of]
    column = columns_of(table)[name] if isinstance(table, type) else table
    return bool((getattr(getattr(st, of), name) > (column.rest or 0)).any())


def assumed_names(engine: Engine) -> list[str]:
    """The assumed timing constants that the run so far depended on."""
    signs = {f.name: f.metadata["shown_by"] for f in fields(Timing)}
    return [name for name, its in signs.items() if any(is_shown(engine.state, sign) for sign in its)]


def assumed(engine: Engine) -> list[str]:
    """``name = value`` of the assumed timing constants that the run so far depended on."""
    return [f"{name} = {getattr(engine.timing, name)}" for name in assumed_names(engine)]
