"""Repairs of a design in MLIR, and of a text that is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.explain.findings import Finding, is_unplaced
from memtile.explain.repairs import SECONDS, Candidate, Tried, is_wanted, spent
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import Shaped
from memtile.importers.repairs import Ended, Repairs
from memtile.runs.external_uses import ExternalUse
from memtile.runs.options import USUAL, RunOptions
from memtile.runs.program import Run

_FIRST = -1.0  # how unlikely: a run says whether it is so
_UNWRITTEN = re.compile(r"interface\(\d+,\d+\) S2MM(?!.*: no task takes )")
"""Of what waits at the end in a task: the host's arrays are not complete."""


class Reloadable(Protocol):
    """What :class:`~memtile.importers.loaded.Loaded` has for this."""

    @property
    def source(self) -> Text | None:
        """The text."""
        ...

    @property
    def loads(self) -> Callable[[Text], Any]:
        """What loads another text."""
        ...

    @property
    def sequence(self) -> object | None:
        """The host sequence."""
        ...

    @property
    def arguments(self) -> Sequence[Shaped]:
        """Shapes and types of the arguments."""
        ...

    def uses(self, scalars: Mapping[int, int]) -> Sequence[ExternalUse]:
        """Return the parts of its arguments that the host sequence reads and writes."""
        ...


Once = Callable[[Any, RunOptions], Run]
"""Runs a design once."""
Expected = Mapping[str, npt.NDArray[np.generic]]


def text_repairs(
    text: Text,
    loads: Callable[[Text], Any],
    once: Once,
    expected: Expected | None = None,
    missing: Callable[[], int | None] = lambda: None,
) -> Repairs:
    """What tries repairs of a text.

    Args:
        text: of a design that is refused, stuck or wrong.
        loads: loads a text.
        once: runs what was loaded, with the same arrays each time.
        expected: arrays that are to come out, by name; None = nobody knows.
        missing: bytes of the host's arrays that the design does not use; None = nobody knows.
    """

    def ended(other: Text, how: RunOptions) -> Ended:
        made = loads(other)
        done = once(made, how)
        is_open = bool(done.stopped) or any(map(_UNWRITTEN.match, done.result.resting))
        return Ended(done.result, done.arrays, _missing(made), is_open)

    return Repairs(text, candidates, ended, expected, missing=missing)


def repairs_of(design: Reloadable, once: Once, expected: Expected | None = None) -> Repairs:
    """What tries repairs of a design that was loaded from a text."""
    text = design.source
    assert text is not None
    found = text_repairs(text, design.loads, once, expected, lambda: _missing(design))
    return replace(found, candidates=partial(_candidates, design))


def _candidates(design: Reloadable, text: Text, findings: Sequence[Finding]) -> list[Candidate]:
    """Changes of a text; where words are wrong also inputs whose bytes come in the other order, first."""
    swaps = _swaps(design) if any(map(is_unplaced, findings)) else ()
    return [*swaps, *candidates(text, findings)]


def _swaps(design: Reloadable) -> Iterator[Candidate]:
    """Inputs with the bytes of their elements, or the halves of their words, in the other order."""
    if design.sequence is None or any(map(is_scalar, design.arguments)):
        return
    uses = [use for use in design.uses({}) if use.argument is not None]
    written = {use.argument for use in uses if use.writes}
    for number in sorted({use.argument for use in uses if use.argument is not None} - written):
        kind = design.arguments[number].dtype
        size = 0 if kind is None else kind.itemsize
        for part, says in ((1, "bytes"), (2, "16-bit halves")):
            group = size if size > part else WORD_BYTES
            each = "element" if group == size else f"{8 * group}-bit word"
            text = f"swap the {says} of each {each} of argument {number}, which come in the other order"
            target = (f"argument {number}", "bytes", f"{group} by {part}")
            yield Candidate("bytes", text, (), _FIRST, target, {number: (group, part)})


def _missing(design: Reloadable) -> int:
    """Bytes of the arguments that a host sequence uses and that lie outside of what it reads and writes."""
    if design.sequence is None or any(map(is_scalar, design.arguments)):
        return 0
    touched: dict[int, set[tuple[int, int]]] = {}
    for use in design.uses({}):
        if use.argument is not None:
            touched.setdefault(use.argument, set()).add((use.first, use.end))
    missing = 0
    for number, kind in enumerate(design.arguments):
        if kind.dtype is not None and kind.elements > 0:
            size = kind.elements * kind.dtype.itemsize
            missing += size - min(size, _covered(touched.get(number, ())))
    return missing


def _covered(spans: Sequence[tuple[int, int]] | set[tuple[int, int]]) -> int:
    """Bytes in any of some spans."""
    found = last = 0
    for first, end in sorted(spans):
        first = max(first, last)
        found, last = found + max(0, end - first), max(last, end)
    return found


def repairs(
    design: Reloadable,
    arrays: Sequence[npt.ArrayLike | None],
    expected: Expected | None = None,
    *,
    options: RunOptions = USUAL,
    seconds: float = SECONDS,
) -> Tried:
    """The changes of the text of a design with which it finishes; see :meth:`Loaded.repairs`."""

    def once(made: Any, how: RunOptions) -> Run:
        done: Run = made.run(*arrays, options=how)
        return done

    began = spent()
    before = once(design, replace(options, check=True))
    if expected is not None:
        before = before.against(expected)
    elif not is_wanted(before.result):
        return Tried()
    left = seconds - (spent() - began)
    return repairs_of(design, once, expected).search(before.result, (), options, seconds=left)
