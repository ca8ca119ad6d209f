"""Coverage-guided search for inputs that a reader does not survive.

An input that takes a new way through the source is kept and changed further. Ways are pairs of lines that
follow each other (:func:`sys.settrace`), in files below one folder. The same seed and number of inputs give
the same search: no decision depends on time, addresses or the order of sets.
"""

from __future__ import annotations

import gc
import random
import resource
import signal
import sys
import time
import traceback
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from memtile.errors import MemtileError
from support.mutated.mutated_runs import limited

SECONDS = 20.0  # of the processor that an input may take without a trace
MEMORY = 2 << 30  # bytes that an input may take
_WAITING = 6  # times as many seconds may pass: other processes run too
_TRACED = 8  # how many times slower a traced run may be
_OFTEN, _SELDOM = 64, 16  # calls of a function by an input, and which of the later ones are followed
_ELSEWHERE = -1
_COLLECTED = 64  # inputs after which the models that they left are taken away
_STEPS = (1, 1, 1, 2, 3, 5)  # changes of one input
_RECENT = 0.5  # share of inputs that are made of the newest ones

Read = Callable[[bytes], object]
Change = Callable[[random.Random, bytes], bytes]


class TooSlowError(BaseException):
    """An input takes longer than it may; no reader can catch this as an error of its own."""


class Failure(NamedTuple):
    """An input that a reader does not survive.

    Attributes:
        says: type of the error and the line of the source that raised it; the same for the same defect.
        data: the input, reduced.
        text: the traceback.
    """

    says: str
    data: bytes
    text: str


@contextmanager
def _limits(seconds: float) -> Iterator[None]:
    """A context with bounded memory that ends with :class:`TooSlowError` after seconds of the processor."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, 1), (signal.SIGALRM, signal.ITIMER_REAL, _WAITING))
    before = [signal.signal(number, late) for number, _, _ in timers]
    try:
        for _, timer, times in timers:
            signal.setitimer(timer, seconds * times, 1.0)  # again, where a callback has swallowed the first
        with limited(MEMORY):
            yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


class Ways:
    """Pairs of lines that follow each other in files below a folder.

    Of the calls that an input makes of a function the first ones are followed, and few of the later ones.

    Args:
        folder: of the source.

    Attributes:
        seen: the pairs.
        lines: that ran, by file.
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._last, self.seen = folder, 0, set[int]()
        self.lines: defaultdict[str, set[int]] = defaultdict(set)
        self._calls: dict[CodeType, int] = {}
        self._known: dict[CodeType, tuple[int, set[int]]] = {}

    @contextmanager
    def followed(self) -> Iterator[None]:
        """A context in which what runs is noted."""
        before = sys.gettrace()
        self._calls.clear()
        self._last = 0
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _call(self, frame: FrameType, _event: str, _given: Any) -> Any:
        code = frame.f_code
        calls = self._calls.get(code)
        if calls is None:
            calls = 0 if code.co_filename.startswith(self._folder) else _ELSEWHERE
        if calls < 0:
            self._calls[code] = calls
            return None
        self._calls[code] = calls + 1
        if code not in self._known:
            name = f"{code.co_filename.removeprefix(self._folder)} {code.co_qualname}"
            self._known[code] = zlib.crc32(name.encode()) << 16, self.lines[code.co_filename]
        return self._line if calls < _OFTEN or calls % _SELDOM == 0 else None

    def _line(self, frame: FrameType, event: str, _given: Any) -> Any:
        if event == "line":
            place, lines = self._known[frame.f_code]
            lines.add(frame.f_lineno)
            here = place + frame.f_lineno
            self.seen.add(self._last ^ here)
            self._last = here << 1
        return self._line


@dataclass
class Searched:
    """What a search found.

    Attributes:
        inputs: how many were read.
        accepted: how many of them without an error.
        ways: what they took.
        kept: inputs that took a new way, in the order found.
        failures: by what they say, in the order found.
    """

    ways: Ways
    inputs: int = 0
    accepted: int = 0
    kept: list[bytes] = field(default_factory=list)
    failures: dict[str, Failure] = field(default_factory=dict)


def failure_of(read: Read, data: bytes, allowed: Collection[type[BaseException]] = ()) -> Failure | None:
    """Read an input once; None if the reader takes it or refuses it with an error of memtile."""
    try:
        with _limits(SECONDS):
            read(data)
    except (MemtileError, *allowed):
        return None
    except (Exception, TooSlowError) as error:
        return _failure(error, data)
    return None


def _failure(error: BaseException, data: bytes) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if "/memtile/" in each.filename] or frames
    place = f"{'/'.join(Path(ours[-1].filename).parts[-3:])}:{ours[-1].lineno}"
    if isinstance(error, (TooSlowError, RecursionError, MemoryError)):  # wherever it happened to be then
        place = next((each.name for each in ours), "")
    return Failure(f"{type(error).__name__} {place}", data, "".join(traceback.format_exception(error)))


@dataclass
class Search:
    """A search for inputs that a reader does not survive.

    Args:
        read: the reader.
        changes: ways to change an input.
        folder: of the source whose lines are noted.
        allowed: errors beside memtile's own that are good answers.
        before: called with each input before it is read.
    """

    read: Read
    changes: Sequence[Change]
    folder: str
    allowed: Collection[type[BaseException]] = ()
    before: Callable[[bytes], object] = len

    def run(self, seeds: Sequence[bytes], seed: int, seconds: float, inputs: int = 1 << 60) -> Searched:
        """Search for so many seconds, or until so many inputs were read.

        Args:
            seeds: inputs to begin with.
            seed: of the random numbers.
            seconds: of the processor.
            inputs: how many at most.
        """
        rng, found = random.Random(seed), Searched(Ways(self.folder))
        kept, end = found.kept, time.process_time() + seconds
        waiting = list(seeds)
        while time.process_time() < end and found.inputs < inputs:
            if found.inputs % _COLLECTED == 0:
                gc.collect()
            data = waiting.pop() if waiting else self._made(rng, kept)
            self.before(data)
            found.inputs += 1
            new, survived = self._tried(data, found)
            if not survived:
                self._note(data, found)
            elif new or not kept:
                kept.append(data)
        return found

    def _made(self, rng: random.Random, kept: Sequence[bytes]) -> bytes:
        first = max(0, len(kept) - 20) if rng.random() < _RECENT else 0
        data = kept[rng.randrange(first, len(kept))]
        for _ in range(rng.choice(_STEPS)):
            data = rng.choice(self.changes)(rng, data)
        return data

    def _tried(self, data: bytes, found: Searched) -> tuple[bool, bool]:
        """Whether an input takes a new way, and whether its reader survives it."""
        seen = found.ways.seen
        many, began = len(seen), time.process_time()
        try:
            with _limits(SECONDS * _TRACED), found.ways.followed():
                self.read(data)
            found.accepted += 1
        except (MemtileError, *self.allowed):
            pass
        except (Exception, TooSlowError):
            return False, False
        return len(seen) > many, time.process_time() - began < SECONDS

    def _note(self, data: bytes, found: Searched) -> None:
        """Keep a failure that is there without a trace too, if none says the same; reduced."""
        failure = failure_of(self.read, data, self.allowed)
        if failure is not None and failure.says not in found.failures:
            found.failures[failure.says] = failure
            found.failures[failure.says] = reduced(failure, lambda d: failure_of(self.read, d, self.allowed))


def reduced(failure: Failure, of: Callable[[bytes], Failure | None], seconds: float = 20.0) -> Failure:
    """The failure with as few bytes as some seconds of taking parts away leave."""
    end, size = time.monotonic() + seconds, max(len(failure.data) // 2, 1)
    while size and time.monotonic() < end:
        at = 0
        while at < len(failure.data) and time.monotonic() < end:
            less = of(failure.data[:at] + failure.data[at + size :])
            if less is not None and less.says == failure.says:
                failure = less
            else:
                at += size
        size //= 2
    return failure


def most_memory() -> int:
    """Bytes that this process had in memory at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
