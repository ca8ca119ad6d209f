"""Does a view mean what NumPy and einops mean, for any chain of operations on an array of element indices?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import memtile
from memtile.access.describe import describe
from memtile.access.lowering.certificate import stream
from memtile.access.lowering.lower import lower
from memtile.access.notation import rearrange, tensor_access_pattern
from memtile.access.request import elements, words
from memtile.access.views import View, view
from memtile.access.walk import Walk, addresses
from memtile.bd.descriptor import Descriptor, Dim, Pad
from memtile.bd.windows import OWN
from memtile.errors import TransferError
from memtile.testing.strategies import tilings

Step = Callable[[Any], Any]
SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
MOST = 400  # elements of a stream


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    """Element indices plus 1, so that NumPy's zeros are padding."""
    return np.arange(1, np.prod(shape) + 1).reshape(shape)


def agrees(array: View, expected: np.ndarray) -> bool:
    found = elements(array.request())
    return array.shape == expected.shape and found.tolist() == (expected - 1).ravel().tolist()


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    key: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        piece = draw(st.slices(size))
        key.append(
            piece if range(size)[piece] and draw(st.booleans()) else draw(st.integers(-size, size - 1))
        )
    extras = draw(st.lists(st.sampled_from([None, ...]), max_size=2, unique=True))
    return (*key, *extras)


@st.composite
def shapes_of(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    shape = []
    while size > 1 and len(shape) < 4:
        shape.append(draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0])))
        size //= shape[-1]
    return (*shape, -1)


@st.composite
def steps(draw: st.DrawFn, shape: tuple[int, ...], zeros: bool) -> Step:
    """An operation that NumPy accepts on an array of ``shape``."""
    rank, size = len(shape), int(np.prod(shape))
    kind = draw(st.sampled_from(["index", "transpose", "reshape", "flip", "broadcast", "windows", "pad"]))
    if kind == "transpose" or rank == 0:
        order = draw(st.permutations(range(rank)))
        return lambda a: np.transpose(a, order)
    if kind == "reshape":
        new = draw(shapes_of(size))
        return lambda a: np.reshape(a, new)
    axis = draw(st.integers(0, rank - 1))
    if kind == "flip":
        return lambda a: np.flip(a, axis)
    if kind == "broadcast" and size < MOST // 3:
        return lambda a: np.broadcast_to(a, (2, *shape))
    if kind == "windows" and size < MOST // 3:
        width = draw(st.integers(1, min(shape[axis], 3)))
        return lambda a: sliding_window_view(a, width, axis)
    if kind == "pad" and zeros and size < MOST // 3:
        widths = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=rank, max_size=rank))
        return lambda a: np.pad(a, widths)
    key = draw(indices(shape))
    return lambda a: a[key]


def refusal(step: Step, array: View, use: Callable[[View], Any] = View.request) -> set[str]:
    """Why ``array`` cannot be used after ``step``; empty when it can."""
    try:
        use(step(array))
    except TransferError as refused:
        return {problem.reason for problem in refused.problems}
    return set()


@pytest.mark.slow
@given(st.data(), SHAPES)
@settings(max_examples=150, deadline=None)
def test_what_numpy_does_without_a_copy_is_never_refused(data: Any, shape: tuple[int, ...]) -> None:
    buffer = numbered(shape)
    array, expected = view(shape), buffer
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(steps(expected.shape, zeros=False))
        result = step(expected)
        if not np.may_share_memory(result, buffer):
            break
        array, expected = step(array), result
        assert agrees(array, expected)


@given(st.data(), SHAPES, st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_functions_for_type_checkers_are_numpys(data: Any, shape: tuple[int, ...], padded: bool) -> None:
    array, expected = view(shape), numbered(shape)
    if padded:
        widths = [data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) for _ in shape]
        array, expected = memtile.pad(array, widths), np.pad(expected, widths)
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=2, unique=True))
    if len({axis % len(shape) for axis in axes}) < len(axes):
        axes = axes[:1]
    window = tuple(data.draw(st.integers(1, min(expected.shape[axis], 3))) for axis in axes)
    slid = memtile.sliding_window_view(array, window, axes)
    assert agrees(slid, sliding_window_view(expected, window, axes))
    if len(shape) == 1:
        same = memtile.sliding_window_view(array, 1)
        assert agrees(same, sliding_window_view(expected, 1))


@pytest.mark.slow
@given(st.data(), SHAPES)
@settings(max_examples=200, deadline=None)
def test_with_zeros_and_copies_a_view_is_numpys_or_refused(data: Any, shape: tuple[int, ...]) -> None:
    array, expected = view(shape), numbered(shape)
    for _ in range(data.draw(st.integers(1, 7))):
        step = data.draw(steps(expected.shape, zeros=True))
        reasons = refusal(step, array)
        assert reasons <= {"view"}
        if reasons:
            return
        array, expected = step(array), step(expected)
        assert agrees(array, expected)


@given(st.data(), SHAPES)
@settings(max_examples=100, deadline=None)
def test_descriptors_of_a_view_deliver_what_numpy_says(data: Any, shape: tuple[int, ...]) -> None:
    array, expected = view(shape), numbered(shape)
    for _ in range(data.draw(st.integers(0, 4))):
        step = data.draw(steps(expected.shape, zeros=True))
        if refusal(step, array):
            return
        array, expected = step(array), step(expected)
    lowered = lower(array.request(), most=2 * MOST)
    assert stream(lowered.tasks).tolist() == (expected - 1).ravel().tolist()
    assert words(array.request()).tolist() == (expected - 1).ravel().tolist()


def whole_words(index: list[int], group: int) -> bool:
    """Whether each word is consecutive elements from a word's first on, or zeros alone."""
    for at in range(0, len(index), group):
        first, word = index[at], index[at : at + group]
        expected = [-1] * group if first < 0 else list(range(first, first + group))
        if word != expected or (first >= 0 and first % group):
            return False
    return True


@pytest.mark.slow
@pytest.mark.feature("F43")
@given(st.data(), st.lists(st.sampled_from([1, 2, 4, 6, 8]), min_size=1, max_size=3).map(tuple))
@settings(max_examples=200, deadline=None)
def test_small_elements_move_exactly_when_every_word_is_whole(data: Any, shape: tuple[int, ...]) -> None:
    bits = data.draw(st.sampled_from([8, 16]))
    array, expected = view(shape, f"int{bits}"), numbered(shape)
    for _ in range(data.draw(st.integers(0, 3))):
        step = data.draw(steps(expected.shape, zeros=True))
        if refusal(step, array) == {"view"}:
            return
        array, expected = step(array), step(expected)
    whole = whole_words((expected - 1).ravel().tolist(), 32 // bits)
    reasons = refusal(lambda a: a, array, lambda a: words(a.request()))
    assert reasons == (set() if whole else {"word_alignment"})


def test_zeros_alone_are_whole_words_however_the_loops_step() -> None:
    """Loops that begin before the data, end behind it and meet none of it."""
    zeros = np.pad(view((1,), "int16"), (1, 1))[::2]
    assert words(zeros.request()).tolist() == [-1]


@given(st.data(), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_einops_patterns_mean_what_einops_means(data: Any, rank: int) -> None:
    names = [f"a{k}" for k in range(2 * rank)]
    sizes = {name: data.draw(st.integers(1, 3)) for name in names}
    left = " ".join(f"({names[2 * k]} {names[2 * k + 1]})" for k in range(rank))
    order = data.draw(st.permutations(names))
    cut = data.draw(st.integers(0, len(names)))
    right = f"({' '.join(order[:cut])}) {' '.join(order[cut:])}"
    shape = tuple(sizes[names[2 * k]] * sizes[names[2 * k + 1]] for k in range(rank))
    pattern = f"{left} -> {right}"
    expected = einops.rearrange(numbered(shape), pattern, **sizes)
    assert agrees(rearrange(view(shape), pattern, **sizes), expected)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=4), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_offset_sizes_and_strides_are_those_of_numpy(loops: list[tuple[int, int]], offset: int) -> None:
    sizes, strides = zip(*loops, strict=True)
    buffer = numbered((offset + 1 + sum((n - 1) * s for n, s in loops),))
    expected = np.lib.stride_tricks.as_strided(buffer[offset:], sizes, [s * buffer.itemsize for s in strides])
    assert agrees(tensor_access_pattern(buffer.shape, offset, sizes, strides), expected)


def undescribed(descriptor: Descriptor) -> list[int] | None:
    """The stream as NumPy and einops make it from the description."""
    order = describe(descriptor)
    if order is None:
        return None
    memory = np.arange(1, np.prod(order.shape) + 1).reshape(order.shape)
    part = memory[tuple(slice(n) for n in order.crop)]
    result = np.pad(einops.rearrange(part, order.pattern, **order.sizes), order.pads)
    return [word - 1 if word == 0 else descriptor.address + word - 1 for word in result.ravel().tolist()]


@given(tilings())
@settings(max_examples=150, deadline=None)
def test_the_description_of_a_descriptor_is_its_walk(tiling: Any) -> None:
    for descriptor in lower(tiling.request(32), most=1000).descriptors:
        text = undescribed(descriptor)
        assert text is None or text == addresses(Walk.of(descriptor)).tolist()


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_every_rearrangement_is_described(data: Any) -> None:
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    steps_up = np.cumprod([1, *sizes[:-1]]).tolist()
    order = data.draw(st.permutations(range(len(sizes))))
    pads = [Pad(*data.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))) for _ in sizes[:3]]
    length = int(np.prod([sizes[k] + sum(pad) for k, pad in zip(order, [*pads, Pad()], strict=False)]))
    dims = tuple(Dim(steps_up[k], sizes[k]) for k in order)
    descriptor = Descriptor("memory", length, OWN.address(0), dims, tuple(pads))
    assert undescribed(descriptor) == addresses(Walk.of(descriptor)).tolist()
