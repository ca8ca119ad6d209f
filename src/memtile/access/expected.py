"""Published sequences of a tiling, and whether the walk of its descriptors gives them.

The kinds are those of ``tilings.json``: ``identity`` (0, 1, 2, ...), ``values`` (the whole stream),
``prefix`` (its start) and ``memory`` (the buffer after the stream was written into it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtile.access.lowering.certificate import QueueEntry, stream
from memtile.access.request import WORD_BITS
from memtile.access.walk import PAD, Addresses
from memtile.bd.descriptor import is_whole
from memtile.bd.legality import shown
from memtile.errors import Problem

KINDS = ("identity", "values", "prefix", "memory")


@dataclass(frozen=True, slots=True)
class Expected:
    """A published sequence; padding counts as 0.

    Attributes:
        kind: one of ``KINDS``.
        values: stream or buffer contents.
        shape: buffer shape that gives an element its coordinates; empty = the value is its index.
        weights: a value is the sum of coordinate * weight.
        read: id of the tiling whose stream was written (``memory``); empty = the stream 0, 1, 2, ...
    """

    kind: str
    values: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()
    read: str = ""


def stream_elements(tasks: Sequence[QueueEntry], element_bits: int) -> Addresses:
    """Element index of every element that ``tasks`` move: int64, -1 for padding.

    Taken from the walk of the descriptors, whose buffer starts at word 0. Elements of 64 bits are two words;
    sub-word elements come out in the order of their place in the word (AM020: little endian).
    """
    words = stream(tasks)
    if element_bits >= WORD_BITS:
        per_element = element_bits // WORD_BITS
        first = words[::per_element]
        return np.where(first == PAD, PAD, first // per_element)
    group = WORD_BITS // element_bits
    indices = words[:, None] * group + np.arange(group)
    return np.where(words[:, None] == PAD, PAD, indices).reshape(-1)


def matches(expected: Expected, elements: Addresses, written: Addresses | None = None) -> bool:
    """Whether the element stream of a tiling is the published one.

    Args:
        expected: what was published.
        elements: the stream of the tiling, -1 for padding.
        written: element stream of the tiling ``expected.read``, if that is named.
    """
    if expected.kind == "identity":
        return np.array_equal(elements, np.arange(len(elements)))
    values = np.array(expected.values, np.int64)
    if expected.kind == "values":
        return np.array_equal(_labels(elements, expected), values)
    if expected.kind == "prefix":
        return np.array_equal(_labels(elements[: len(values)], expected), values)
    source = np.arange(len(elements)) if written is None else written
    inside = len(source) == len(elements) and bool(((elements >= 0) & (elements < len(values))).all())
    memory = np.zeros(len(values), np.int64)
    if inside:
        memory[elements] = _labels(source, expected)
    return inside and np.array_equal(memory, values)


def _labels(index: Addresses, expected: Expected) -> NDArray[np.int64]:
    """Published values of element indices: the index, or its coordinates weighted; 0 for padding."""
    value = np.maximum(index, 0)
    if expected.shape:
        rest, value = value, np.zeros_like(value)
        for size, weight in zip(expected.shape, expected.weights, strict=True):
            value += rest % size * weight
            rest = rest // size
    return np.where(index == PAD, 0, value)


def read_expected(data: dict[str, Any]) -> Expected:
    """The published sequence of a case that has no ``expected_problems``."""
    labels = data.get("labels") or {"shape": (), "weights": ()}
    return Expected(
        kind=data["kind"],
        values=tuple(data.get("values") or ()),
        shape=tuple(labels["shape"]),
        weights=tuple(labels["weights"]),
        read=data.get("read") or "",
    )


def expected_problems(data: object) -> list[Problem]:
    """What is wrong with the shape of ``expected``."""
    if not isinstance(data, dict) or data.get("kind") not in KINDS:
        return [_problem("expected", data, f"an object with kind {' or '.join(KINDS)}")]
    wrong = []
    if data["kind"] != "identity" and not _numbers(data.get("values")):
        wrong.append(_problem("expected.values", data.get("values"), "a list of whole numbers"))
    labels = data.get("labels")
    if labels is not None and not _is_labels(labels):
        allowed = "an object with shape (each 1 or more) and weights, two lists of the same length"
        wrong.append(_problem("expected.labels", labels, allowed))
    if not isinstance(data.get("read", ""), str):
        wrong.append(_problem("expected.read", data["read"], "the id of a tiling"))
    return wrong


def _is_labels(labels: object) -> bool:
    if not isinstance(labels, dict):
        return False
    shape: Any = labels.get("shape")
    weights: Any = labels.get("weights")
    alike = _numbers(shape) and _numbers(weights) and len(shape) == len(weights)
    return alike and all(size >= 1 for size in shape)


def _numbers(values: Any) -> bool:
    return isinstance(values, list) and all(map(is_whole, values))


def _problem(field: str, given: object, allowed: str) -> Problem:
    return Problem(field, shown(given), allowed, reason="expected", where="tiling", source="tiling schema")
