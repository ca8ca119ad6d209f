"""Vectors as values: flat arrays of numbers, and loops over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from memtile.importers.kernels.emitter import Emitter
from memtile.importers.kernels.expressions import bits_of
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.types import Shaped, shaped


def vector_of(emitter: Emitter, value: str) -> Shaped:
    """The type of a vector; a scalar is one of a single element."""
    kind = emitter.types.get(value, "")
    return is_vector(kind) or Shaped((), kind)


def is_vector(kind: str) -> Shaped | None:
    """The vector that a type is, None if it is something else."""
    found = shaped(kind)
    return found if found is not None and kind.startswith("vector<") else None


def numpy_of(element: str) -> str:
    """NumPy's name of the type that an element's number has."""
    return "int64" if bits_of(element) is not None else {"f64": "float64"}.get(element, "float32")


def text_of(shape: Shaped) -> str:
    """The type of a vector as text."""
    return f"vector<{''.join(f'{size}x' for size in shape.shape)}{shape.element}>"


def element(emitter: Emitter, value: str, at: str) -> str:
    """An element of a value: of a vector the one at a place, of a scalar itself."""
    kind = emitter.types.get(value, "")
    shape = is_vector(kind)
    if shape is None:
        return emitter.use(value)
    text = f"{emitter.use(value)}[{at}]"
    return f"whole({text})" if bits_of(shape.element) is not None else text


def fresh(emitter: Emitter) -> str:
    """A part of names that nothing else has."""
    return f"_{len(emitter.lines.text)}_"


def begin(emitter: Emitter, form: Form, shape: Shaped) -> str:
    """A new vector, whose elements follow."""
    kind = text_of(shape)
    name = emitter.define(form.result, kind)
    emitter.lines.add(f"{name} = np.empty({shape.elements}, np.{numpy_of(shape.element)})")
    return name


@contextmanager
def nest(emitter: Emitter, sizes: Sequence[int | str]) -> Iterator[list[str]]:
    """Loops within each other; the names of their counters."""
    key, depth = fresh(emitter), emitter.lines.depth
    emitter.lines.book()
    names = [f"e{key}{n}" for n in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        emitter.lines.add(f"for {name} in range({size}):")
        emitter.lines.depth += 1
    yield names
    emitter.lines.book()
    emitter.lines.depth = depth


def place(names: Sequence[str], sizes: Sequence[int]) -> str:
    """The place of an element in a flat array, by its indices."""
    steps = [prod(sizes[n + 1 :]) for n in range(len(sizes))]
    return " + ".join(f"{name} * {step}" for name, step in zip(names, steps, strict=True)) or "0"


def elementwise(emitter: Emitter, form: Form, shape: Shaped, rule: Callable[[str], str]) -> None:
    """A vector whose elements are the rule's expressions of a place."""
    name = begin(emitter, form, shape)
    with nest(emitter, [shape.elements]) as (at,):
        emitter.lines.add(f"{name}[{at}] = {rule(at)}")


def constant_text(values: Any, element_kind: str) -> str:
    """A vector of numbers that are known, in Python."""
    flat = values.ravel()
    dtype = f"np.{numpy_of(element_kind)}"
    if flat.size and (flat == flat[0]).all():
        return f"np.full({flat.size}, {_number(flat[0])}, {dtype})"
    return f"np.array([{', '.join(map(_number, flat))}], {dtype})"


def _number(value: Any) -> str:
    text = repr(value.item())
    return {"inf": "np.inf", "-inf": "-np.inf", "nan": "np.nan"}.get(text, text)
