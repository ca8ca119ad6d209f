"""Do patterns that become several move the same elements in the same order, and does each of them fit?"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memtile.arch.tiles import INTERFACE
from memtile.importers.mlir.sequence.bd_lowering import Pattern, is_contiguous, pattern_fault, pattern_of
from memtile.importers.mlir.sequence.decomposition import decomposed

SIZES = st.sampled_from([1, 1, 1, 2, 3, 4, 7, 64, 65, 100, 1023, 1024, 1031, 1920, 2046, 3000])
STRIDES = st.integers(0, 40)


def elements(pattern: Pattern) -> np.ndarray:
    """Places of all elements of a pattern in the order in which they are moved."""
    found = np.array([pattern.offset])
    for size, stride in reversed(list(zip(pattern.sizes, pattern.strides, strict=True))):
        found = (found[:, None] + np.arange(size) * stride).reshape(-1)
    return found


@given(st.lists(st.tuples(SIZES, STRIDES), min_size=4, max_size=4), st.sampled_from([8, 16, 32]))
def test_several_patterns_move_what_one_does(levels: list[tuple[int, int]], bits: int) -> None:
    whole = 32 // bits
    sizes = [size for size, _ in levels]
    while np.prod(sizes) > 1 << 20:
        sizes[int(np.argmax(sizes))] = 1
    strides = [stride * whole for _, stride in levels]
    pattern = pattern_of([*sizes[:3], sizes[3] * whole], [*strides[:3], 1 if bits < 32 else strides[3]], 12)
    found = decomposed(INTERFACE, bits, pattern)
    if found == [pattern]:
        return
    assert not is_contiguous(pattern)
    assert all(not pattern_fault(INTERFACE, bits, each, linear=False) for each in found)
    np.testing.assert_array_equal(np.concatenate([elements(each) for each in found]), elements(pattern))


def test_a_size_that_no_memory_has_is_left_to_the_verifier() -> None:
    """All factors of it would be tried, for hours."""
    pattern = pattern_of([1, 1, 1 << 62, 1024], [0, 0, 0, 2], 0)
    assert decomposed(INTERFACE, 32, pattern) == [pattern]
