"""What kernels do to memory, noted: the buffers that they read and write, and the views that they keep.

A view that is watched is an array whose every use is noted: elements, slices, functions of NumPy. What a
function does that takes its bytes behind NumPy's back nobody sees.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.tiles import WORD_BYTES
from memtile.model.checking.notes import AGENT_LSB, COUNT, NOTES, SITE_LSB, NoteKind, note
from memtile.model.state.state import State
from memtile.sim.kernels.kernel_lines import line_at_work

Array = npt.NDArray[Any]
_SITES = 1 << 16
_ALMOST = NOTES - 8
_KEEP_MEMORY = {"reshape", "transpose", "squeeze", "swapaxes", "moveaxis", "expand_dims", "ravel", "flip"}
_KEEP_MEMORY |= {"broadcast_to", "atleast_1d", "atleast_2d", "atleast_3d", "split", "array_split", "rot90"}
_WRITE_FIRST = {"copyto", "fill_diagonal", "put", "place", "putmask"}


def note_access(st: State, agent: int, site: int, first: int, words: int, writes: bool) -> None:
    """Note an access to words of ``State.memory``; what goes on where the last one ended is part of it."""
    what = NoteKind.WRITE if writes else NoteKind.READ
    head = what | ((site % _SITES) << SITE_LSB) | (agent << AGENT_LSB)
    at = int(st.noting[COUNT]) - 1
    if at >= 0 and st.notes[at, 0] == head and st.notes[at, 1] <= first <= st.notes[at, 1] + st.notes[at, 2]:
        st.notes[at, 2] = max(int(st.notes[at, 2]), first + words - int(st.notes[at, 1]))
    else:
        note(st, what, agent, site % _SITES, first, words)


class CoreNotes:
    """Notes what the kernel of one core does.

    Args:
        state: the state that the core works in.
        agent: that the core is, see ``model.checking.notes``.
        flush: has the notes gone through.
        said: the kernel was made of a text, whose lines are noted.
    """

    def __init__(self, state: State, agent: int, flush: Callable[[], None], *, said: bool = False) -> None:
        self._state, self._agent, self._flush, self._said = state, agent, flush, said
        self._first: int = state.memory.__array_interface__["data"][0]
        self._end = self._first + state.memory.nbytes

    def words(self, first: int, words: int, writes: bool, site: int = 0) -> None:
        """The kernel reads or writes words of ``State.memory``; 0 as site is the line that is at work."""
        if self._state.noting[COUNT] >= _ALMOST:
            self._flush()
        line = site or line_at_work(sys._getframe(1), said=self._said)
        note_access(self._state, self._agent, line, first, words, writes)

    def part(self, array: Array, writes: bool) -> None:
        """The kernel reads or writes an array, if that is in data memory."""
        begins: int = array.__array_interface__["data"][0]
        if not self._first <= begins < self._end or array.size == 0:
            return
        begins -= self._first
        if array.flags.c_contiguous:
            first, end = begins // WORD_BYTES, -(-(begins + array.nbytes) // WORD_BYTES)
            self.words(first, end - first, writes)
            return
        for first, count in _runs(array, begins):
            self.words(first, count, writes)


def _runs(array: Array, begins: int) -> Iterator[tuple[int, int]]:
    """Words of an array with gaps, as runs."""
    at = np.zeros((), np.int64)
    for size, stride in zip(array.shape, array.strides, strict=True):
        at = at[..., None] + np.arange(size) * stride
    words = np.unique((begins + at.ravel()) // WORD_BYTES)
    ends = np.flatnonzero(np.diff(words, append=words[-1] + 2) != 1)
    first = 0
    for end in ends.tolist():
        yield int(words[first]), end + 1 - first
        first = end + 1


class Watched(np.ndarray[Any, Any]):
    """A view of data memory that notes what is done with it.

    The notes are held weakly: the collector does not follow ``base`` of an array, so a view that a kernel
    keeps would keep the whole model alive once the run has ended in the middle of that kernel.
    """

    _notes: weakref.ref[CoreNotes] | None = None

    def __array_finalize__(self, base: object) -> None:
        self._notes = getattr(base, "_notes", None)

    def _note(self, writes: bool) -> None:
        notes = self._notes() if self._notes is not None else None
        if notes is not None:
            notes.part(self, writes)

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__((*key, ...) if isinstance(key, tuple) and ... not in key else key)
        if isinstance(part, Watched) and part.ndim and part.base is not None:
            return part
        cell = super().__getitem__(_cell(key))
        if isinstance(cell, Watched) and cell.base is not None:
            cell._note(False)
            return cell.view(np.ndarray)[()]
        self._note(False)  # chosen by numbers or flags: a copy
        return np.asarray(part)

    def __setitem__(self, key: Any, value: Any) -> None:
        plain_value = _plain(value)
        part = super().__getitem__(_cell(key))
        target = part if isinstance(part, Watched) and part.base is not None else self
        target._note(True)
        self.view(np.ndarray)[key] = plain_value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        out = given.get("out", ())
        plains = [_plain(value) for value in inputs]
        if method == "at" and isinstance(inputs[0], Watched):
            inputs[0]._note(True)
        if out:
            given["out"] = tuple(_target(value) for value in out)
        answer = getattr(ufunc, method)(*plains, **given)
        return out[0] if len(out) == 1 else answer

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func.__name__ in _KEEP_MEMORY:
            return super().__array_function__(func, types, args, kwargs)
        out = kwargs.get("out")
        if func.__name__ in _WRITE_FIRST and isinstance(args[0], Watched):
            return func(_target(args[0]), *_plain(args[1:]), **_plain(kwargs))
        given = {key: _target(value) if key == "out" else _plain(value) for key, value in kwargs.items()}
        answer = func(*_plain(args), **given)
        return answer if out is None else out

    def __iter__(self) -> Iterator[Any]:
        return (self[n] for n in range(len(self)))

    def __int__(self) -> int:
        return int(_plain(self))

    def __float__(self) -> float:
        return float(_plain(self))

    def __bool__(self) -> bool:
        return bool(_plain(self))


def _cell(key: Any) -> Any:
    """The index whose answer is an array that shares the memory, where there is one."""
    if isinstance(key, tuple):
        return key if any(part is ... for part in key) else (*key, ...)
    return key if key is ... else (key, ...)


def _plain(value: Any) -> Any:
    """The value without watch, its words noted as read."""
    if isinstance(value, Watched):
        value._note(False)
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        return type(value)(_plain(part) for part in value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def _target(value: Any) -> Any:
    """The array without watch, its words noted as written."""
    if isinstance(value, Watched):
        value._note(True)
        return value.view(np.ndarray)
    return value


def _reading(name: str) -> Callable[..., Any]:
    def method(self: Watched, *args: Any, **given: Any) -> Any:
        return getattr(_plain(self), name)(*_plain(args), **given)

    method.__name__ = name
    return method


def _writing(name: str) -> Callable[..., Any]:
    def method(self: Watched, *args: Any, **given: Any) -> Any:
        return getattr(_target(self), name)(*_plain(args), **given)

    method.__name__ = name
    return method


for _name in ("copy", "astype", "tolist", "tobytes", "item", "dot", "flatten", "take", "argmax", "argmin"):
    setattr(Watched, _name, _reading(_name))
for _name in ("argsort", "nonzero", "cumsum", "cumprod", "repeat", "round", "searchsorted", "choose"):
    setattr(Watched, _name, _reading(_name))
for _name in ("fill", "sort", "put", "partition", "itemset", "byteswap"):
    setattr(Watched, _name, _writing(_name))


def watched(array: Array, notes: CoreNotes) -> Array:
    """A view of the memory whose reads and writes are noted."""
    found = array.view(Watched)
    found._notes = weakref.ref(notes)
    return found
