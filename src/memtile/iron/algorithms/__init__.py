"""``aie.iron.algorithms``: designs of one function."""

from memtile.iron.algorithms.rows import (
    row_at_a_time,
    row_at_a_time_tiled,
    row_at_a_time_with_skip,
    sliding_3row,
)
from memtile.iron.algorithms.tiled import (
    for_each,
    make_param_descriptor,
    reduce,
    transform,
    transform_binary,
    transform_parallel,
    transform_parallel_binary,
)

__all__ = [
    "for_each",
    "make_param_descriptor",
    "reduce",
    "row_at_a_time",
    "row_at_a_time_tiled",
    "row_at_a_time_with_skip",
    "sliding_3row",
    "transform",
    "transform_binary",
    "transform_parallel",
    "transform_parallel_binary",
]
