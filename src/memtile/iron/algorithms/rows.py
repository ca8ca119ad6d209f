"""Loops of cores over rows of pictures: one at a time, or three that slide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtile.iron.controlflow import range_


def _weights(fifo: Any) -> Any:
    return fifo.acquire(1) if fifo is not None else None


def _rows(
    fifos: tuple[Any, ...], turns: tuple[int, ...], do_kernel: Callable[..., None], of_wts: Any
) -> None:
    """In nested loops: acquire one of each, call, release them."""
    weights = _weights(of_wts)

    def inner(left: tuple[int, ...]) -> None:
        if left:
            for _ in range_(left[0]):
                inner(left[1:])
            return
        do_kernel(*[fifo.acquire(1) for fifo in fifos], weights)
        for fifo in fifos:
            fifo.release(1)

    inner(turns)
    if of_wts is not None:
        of_wts.release(1)


def row_at_a_time(
    of_in: Any, of_out: Any, *, n_rows: int, do_kernel: Callable[..., None], of_wts: Any = None
) -> None:
    """``do_kernel(row, out, weights)`` for each row."""
    _rows((of_in, of_out), (n_rows,), do_kernel, of_wts)


def row_at_a_time_with_skip(
    of_in: Any, of_out: Any, of_skip: Any, *, n_rows: int, do_kernel: Callable[..., None], of_wts: Any = None
) -> None:
    """``do_kernel(row, out, skip, weights)`` for each row."""
    _rows((of_in, of_out, of_skip), (n_rows,), do_kernel, of_wts)


def row_at_a_time_tiled(
    of_in: Any,
    of_out: Any,
    *,
    n_rows: int,
    n_tiles_per_row: int,
    do_kernel: Callable[..., None],
    of_wts: Any = None,
) -> None:
    """``do_kernel(tile, out, weights)`` for each tile of each row."""
    _rows((of_in, of_out), (n_rows, n_tiles_per_row), do_kernel, of_wts)


def sliding_3row(
    of_in: Any, of_out: Any, *, n_out_rows: int, do_kernel: Callable[..., None], of_wts: Any = None
) -> None:
    """``do_kernel(above, row, below, out, weights, border)``; at the edges a row stands for the one outside.

    ``border`` is 0 for the first row, 2 for the last, else 1.
    """
    weights = _weights(of_wts)

    def turn(take: int, order: tuple[int, int, int], give: int, border: int) -> None:
        rows = of_in.acquire(take)
        out = of_out.acquire(1)
        do_kernel(*[rows[at] for at in order], out, weights, border)
        if give:
            of_in.release(give)
        of_out.release(1)

    turn(2, (0, 0, 1), 0, 0)
    for _ in range_(n_out_rows - 2):
        turn(3, (0, 1, 2), 1, 1)
    turn(2, (0, 1, 1), 2, 2)
    if of_wts is not None:
        of_wts.release(1)
