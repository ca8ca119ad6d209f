"""What becomes of inputs with mistakes in them: a result, a named error, or what must not be.

Many of them run in processes of their own, which are ended if they take too long or too much memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.sequence.program import is_scalar
from memtile.importers.mlir.token_packets import Text

MAX_CYCLES = 20_000
SECONDS = 60.0  # that one input may take
_TELL = 20.0  # seconds between two lines about progress
_MEMORY = 6 << 30  # bytes of address space of a process
_SCALAR = 1
BAD = ("traceback", "killed", "too slow")


class Ended(NamedTuple):
    """How one input ended.

    Attributes:
        number: of the input.
        kind: ``result``, ``error``, or one of :data:`BAD`.
        says: how the run ended, the reason of the error, or where the traceback comes from.
        seconds: that it took.
        text: the whole message or traceback.
    """

    number: int
    kind: str
    says: str
    seconds: float
    text: str = ""


class Everything(dict[str, Callable[..., Any]]):
    """A function for every name: it does nothing."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda *_: 0


def load_text(name: str, text: str) -> Loaded:
    """Load a design.

    Raises:
        MemtileError: the design is refused.
    """
    device = "npu1" if "NPUDEVICE" in text else None
    return load(Text(name, text), device=device, functions=Everything())


def run_text(name: str, text: str) -> str:
    """Load a design and run it on zeros; how the run ended.

    Raises:
        MemtileError: the design is refused.
    """
    design = load_text(name, text)
    if design.sequence is None:
        return "loaded"
    done = design.run(*_arguments(design), pad_arguments=True, max_cycles=MAX_CYCLES)
    str(done.result)
    return str(done.result.status)


def _arguments(design: Loaded) -> list[int | None]:
    return [_SCALAR if is_scalar(kind) else None for kind in design.arguments]


@contextmanager
def limited(more: int) -> Iterator[None]:
    """A process that gets no more than so many bytes of memory beyond what it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def ended(number: int, run: Callable[[], str]) -> Ended:
    """How an input ends."""
    began = time.perf_counter()
    text = ""
    try:
        kind, says = "result", run()
    except MemtileError as error:
        reasons = [problem.reason for problem in error.problems] or [error.reason]
        kind, says, text = "error", reasons[0], str(error)
    except (Exception, MemoryError) as error:  # what is counted here
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = "/".join(last.filename.split("/")[-3:])
        kind, says = "traceback", f"{type(error).__name__} {place}:{last.lineno} {str(error)[:60]}"
        text = traceback.format_exc()
    return Ended(number, kind, says, time.perf_counter() - began, text)


@dataclass
class _Worker:
    """A process, the numbers that it has left, and since when it is at the first of them."""

    process: SpawnProcess
    pipe: Connection
    left: list[int]
    since: float = field(default_factory=time.monotonic)


def run_all(
    numbers: Sequence[int],
    made: Callable[[int], Callable[[], str]],
    processes: int,
    seconds: float = SECONDS,
) -> Iterator[Ended]:
    """Run inputs in several processes, in no order.

    Args:
        numbers: of the inputs.
        made: gives the run of a number; it goes to other processes.
        processes: how many.
        seconds: that one input may take.
    """
    workers = [_started(made, list(numbers[n::processes])) for n in range(processes)]
    while workers:
        ready = wait([each.pipe for each in workers], timeout=1.0)
        for worker in list(workers):
            if worker.pipe in ready:
                try:
                    found: Ended = worker.pipe.recv()
                except EOFError:
                    yield from _lost(workers, worker, made, "killed")
                    continue
                worker.left.remove(found.number)
                worker.since = time.monotonic()
                yield found
                if not worker.left:
                    worker.process.join()
                    workers.remove(worker)
            elif time.monotonic() - worker.since > seconds:
                worker.process.kill()
                yield from _lost(workers, worker, made, "too slow")


def _lost(
    workers: list[_Worker], worker: _Worker, made: Callable[[int], Callable[[], str]], kind: str
) -> Iterator[Ended]:
    """A process that ended before its work was done: another one goes on behind what it was at."""
    worker.process.join()
    at, *rest = worker.left
    says = f"exit code {worker.process.exitcode}"
    yield Ended(at, kind, says, time.monotonic() - worker.since)
    workers.remove(worker)
    if rest:
        workers.append(_started(made, rest))


def _started(made: Callable[[int], Callable[[], str]], numbers: list[int]) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, made, numbers), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, numbers)


def _work(pipe: Connection, made: Callable[[int], Callable[[], str]], numbers: list[int]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for number in numbers:
        pipe.send(ended(number, made(number)))


def followed(found: Iterator[Ended], many: int, tell: Callable[[str], object]) -> list[Ended]:
    """All of ``found``, told from time to time, and as a table at the end, also when a user ends it before.

    Args:
        found: how inputs end.
        many: that there are.
        tell: gets lines for a user.
    """
    ends: list[Ended] = []
    last = time.monotonic()
    try:
        for each in found:
            ends.append(each)
            if each.kind in BAD:
                tell(f"{each.number}: {each.says}")
            if time.monotonic() - last > _TELL:
                last = time.monotonic()
                tell(f"{len(ends)} of {many}, {sum(one.kind in BAD for one in ends)} bad")
    finally:
        tell(table(ends))
    return ends


def table(found: Sequence[Ended]) -> str:
    """How many inputs ended how, the most frequent first, and an example of each."""
    if not found:
        return "0 inputs"
    counts = Counter((each.kind, each.says) for each in found)
    first = {(each.kind, each.says): each.number for each in reversed(found)}
    order = ("result", "error", *BAD)
    rows = sorted(counts.items(), key=lambda row: (order.index(row[0][0]), -row[1]))
    lines = [f"{many:6}  {kind:9}  {says}  (e.g. {first[kind, says]})" for (kind, says), many in rows]
    kinds = Counter(each.kind for each in found)
    total = ", ".join(f"{kinds[kind]} {kind}" for kind in order)
    slowest = max(found, key=lambda each: each.seconds)
    seconds = sum(each.seconds for each in found)
    return "\n".join(
        [*lines, f"{len(found)} inputs: {total}; {seconds:.0f} s, the slowest {slowest.seconds:.1f} s"]
    )
