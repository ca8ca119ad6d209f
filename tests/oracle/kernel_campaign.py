"""mlir-aie's public C++ kernels, compiled for the host with memtile's headers, beside references by hand.

``PYTHONPATH=src:tests python tests/oracle/kernel_campaign.py FOLDER [--calls N] [--only TEXT] [--json]``
takes a checkout of mlir-aie, calls the functions of ``tests/support/aie/kernel_cases.py`` and
``network_cases.py`` with random, extreme and tie values, and compares each call with plain NumPy and with
memtile's own library. At the end stands a table of the functions that are in both: calls, calls whose bits
differ, and the row of ``docs/deviations.md`` that says why. The exit code is 1 if a result differs from its
reference, if the library differs without a row, or if a function that both have is not compared. None of
the kernels is in the project; ``cpp_kernels.py`` says which compile.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from memtile import MemtileError
from memtile.corelib.rounding import Modes
from memtile.kernels.aie import library
from support.aie import network_cases, surrounded_cases
from support.aie.call_values import WAYS, batch_of, batch_size, copied
from support.aie.kernel_cases import Buffer, Case, cases
from support.aie.lone_kernels import ASKS, CompileError, LoneKernels, compiled, exported
from support.aie.plain_references import Function

Array = npt.NDArray[Any]
DEVICES = {"AIE-ML": "npu1", "AIE2P": "npu2"}
ABSENT, REFUSES, OTHER = -1, -2, -3  # instead of a number of calls
QUEUED = ("get", "put", "stream", "asked", "global")
_OUT = {"put": "cascade out", "stream": "stream out"}
_WORDS = {REFUSES: "the library refuses", OTHER: "of another file"}
_TINY = float(np.finfo(np.float32).tiny)
_SHOWN = 3
_LANES = 16  # words of a value of the cascade


@dataclass
class Verdict:
    """What came of a case.

    Attributes:
        case: file, function, macros.
        calls: that were made.
        differs: calls that differ from the reference by hand.
        worst: greatest error, in the measure of the tolerance.
        library: calls that differ from memtile's library by more than the tolerance; ABSENT, REFUSES, or
            OTHER: its function of this name is that of another file.
        library_bits: calls that differ from it in any bit.
        library_worst: its greatest error.
        row: of ``docs/deviations.md``, why the library may differ.
        says: why there is nothing to compare, or the first difference.
        seconds: of the calls of the kernel alone.
        missed: functions that the file and the library have, and that no case calls.
    """

    case: str
    calls: int = 0
    differs: int = 0
    worst: float = 0
    library: int = ABSENT
    library_bits: int = 0
    library_worst: float = 0
    row: str = ""
    says: str = ""
    seconds: float = 0
    missed: list[str] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        """Whether something differs that must not, or nothing was compared."""
        of_library = self.library not in (0, ABSENT) or self.library_bits > 0
        return bool(self.differs or self.missed or not self.calls or (of_library and not self.row))


def includes(root: Path) -> list[Path]:
    """Folders of mlir-aie's own headers, and of ``zero.cc``, which some kernels include."""
    return [root / "aie_kernels", root / "aie_kernels" / "aie2"]


def errors_of(got: Array, wanted: Array, case: Case) -> Array:
    """How far each call's output is from the wanted one; without a tolerance: how many elements differ."""
    if got.dtype.kind in "iu":
        return np.count_nonzero(got != wanted, axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        x, y = got.astype(np.float64), wanted.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if not case.tolerance:
            return np.count_nonzero(~same, axis=1).astype(np.float64)
        size = np.abs(x) + np.abs(y)
        if case.of_largest:
            size = np.where(np.isfinite(y), np.abs(y), 0).max(axis=1, initial=0, keepdims=True)
        distance = np.where(same, 0, np.abs(x - y))
        relative = np.where(distance <= case.floor, 0, distance / np.maximum(size, _TINY))
        return np.where(np.isfinite(relative), relative, np.inf).max(axis=1, initial=0)


def outputs(case: Case, columns: list[Array]) -> Iterator[Array]:
    """The columns of the arrays that calls change."""
    for each, column in zip(case.arguments, columns, strict=True):
        if isinstance(each, Buffer) and each.role not in ("in", "get"):
            yield column


def worst_of(case: Case, got: list[Array], wanted: list[Array]) -> Array:
    """The greatest error of each call, over all outputs."""
    pairs = zip(outputs(case, got), outputs(case, wanted), strict=True)
    return np.max([errors_of(a, b, case) for a, b in pairs], axis=0)


def _call(case: Case, kernel: LoneKernels, arguments: list[Any]) -> None:
    """Call a function; arguments of the cascade and of streams go through its queues.

    Raises:
        RuntimeError: the call takes or puts another number of words than the case says.
    """
    if not has_queues(case):
        kernel.call(case.name, *arguments)
        return
    pairs = [(each, value) for each, value in zip(case.arguments, arguments, strict=True) if _is_beside(each)]
    for each, value in pairs:
        if each.role == "get":
            kernel.put("cascade in", value.view(np.uint32))
        elif each.role == "global":
            kernel.variable(each.place, value.dtype, len(value))[...] = value
    plain = [value for each, value in zip(case.arguments, arguments, strict=True) if not _is_beside(each)]
    kernel.call(case.name, *plain)
    for each, value in pairs:
        value[...] = _after(each, value, kernel)


def _after(each: Buffer, value: Array, kernel: LoneKernels) -> Array:
    """What lies beside a call after it."""
    if each.role == "global":
        return kernel.variable(each.place, value.dtype, len(value))
    if each.role == "get":
        if len(kernel.take("cascade in")):
            raise RuntimeError("the call leaves words on its cascade")
        return value
    given = kernel.asked_numbers().reshape(-1) if each.role == "asked" else kernel.take(_OUT[each.role])
    found = given.view(value.dtype)
    if found.shape != value.shape:
        raise RuntimeError(f"{len(found)} numbers of {each.role} instead of {len(value)}")
    return found


def _is_beside(each: object) -> TypeGuard[Buffer]:
    """Whether an argument of a case is none of the function."""
    return isinstance(each, Buffer) and each.role in QUEUED


def has_queues(case: Case) -> bool:
    """Whether some arguments are words of the cascade or of a stream."""
    return any(map(_is_beside, case.arguments))


def _title(case: Case) -> str:
    return " ".join([case.file, case.name, *case.defines])


def run(case: Case, kernel: LoneKernels, calls: int) -> Verdict:
    """Call a function and its references with the same values, a batch at a time."""
    verdict = Verdict(_title(case))
    other = _of_library(case)
    if not kernel.has(case.name):
        return replace(verdict, says="the compiled file has no function of this name")
    verdict.library = 0 if other else OTHER if case.name in _library(case) else ABSENT
    verdict.row = case.row
    reference = case.reference or other
    if reference is None:
        return Verdict(verdict.case, says="there is nothing to compare with")
    for first in range(0, calls, batch_size(case)):
        _run_batch(case, kernel, reference, other, first, min(calls - first, batch_size(case)), verdict)
    return verdict


def _run_batch(
    case: Case,
    kernel: LoneKernels,
    reference: Function,
    other: Function | None,
    first: int,
    number: int,
    verdict: Verdict,
) -> None:
    mine = [each[:number] for each in batch_of(case, first)]
    theirs, third = copied(mine), copied(mine)
    begun = time.perf_counter()
    for arguments in zip(*mine, strict=True):
        kernel.set_modes()
        _call(case, kernel, list(arguments))
    verdict.seconds += time.perf_counter() - begun
    with np.errstate(all="ignore"):
        for arguments in zip(*theirs, strict=True):
            reference(*_plain(arguments))
    found = worst_of(case, mine, theirs)
    verdict.worst = max(verdict.worst, float(found.max()))
    bad = np.flatnonzero(found > case.tolerance)
    verdict.differs += len(bad)
    if len(bad) and not verdict.says:
        verdict.says = (
            f"call {first + bad[0]} ({WAYS[bad[0] % len(WAYS)]}): {_first(case, mine, theirs, bad[0])}"
        )
    verdict.calls += number
    if other and verdict.library >= 0:
        _beside_library(case, other, mine, third, verdict)


def _plain(arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments of one call: arrays and Python's own numbers."""
    return [each if isinstance(each, np.ndarray) else int(each) for each in arguments]


def _first(case: Case, mine: list[Array], theirs: list[Array], call: int) -> str:
    """The first elements of a call that differ."""
    for got, wanted in zip(outputs(case, mine), outputs(case, theirs), strict=True):
        x, y = got[call].astype(np.float64), wanted[call].astype(np.float64)
        places = np.flatnonzero(~((x == y) | (np.isnan(x) & np.isnan(y))))[:_SHOWN]
        if len(places):
            return ", ".join(f"[{at}] {got[call][at]} for {wanted[call][at]}" for at in places)
    return ""


def _of_library(case: Case) -> Function | None:
    name = case.name if case.library is None else case.library
    found = _library(case)
    if not name or name not in found:
        return None
    every, stem = found.all_of(name), Path(case.file).stem
    one = next((each for each in every if stem in each.entry.objects), every[0])
    return _with_queues(case, one) if has_queues(case) else one


def _library(case: Case) -> Any:
    return library(DEVICES[case.generation], **case.options)  # type: ignore[arg-type]


class _LoneCore:
    """A core whose actions are: put words (an array), raise an event (its number), get words (None)."""

    modes = Modes()

    def put_cascade(self, values: Array) -> Array:
        return np.asarray(values).view(np.int32)

    def get_cascade(self, _: npt.DTypeLike = np.int32) -> None:
        return None

    def event(self, number: int) -> int:
        return number


def _with_queues(case: Case, function: Function) -> Function:
    """A generator of the library as a function that takes what lies beside the call."""

    def run(*arguments: Any) -> None:
        pairs = list(zip(case.arguments, arguments, strict=True))
        beside = {each.role: value for each, value in pairs if _is_beside(each)}
        come = iter(beside["get"].view(np.int32).reshape(-1, _LANES) if "get" in beside else ())
        actions = function(*(value for each, value in pairs if not _is_beside(each)), core=_LoneCore())
        puts: list[Array] = []
        events: list[int] = []
        answer = None
        try:
            while True:
                action = actions.send(answer)
                answer = next(come) if action is None else None
                if isinstance(action, int):
                    events += ASKS.index("event"), action, 0
                elif action is not None:
                    puts.append(action)
        except StopIteration:
            pass
        if "put" in beside:
            beside["put"].view(np.int32)[...] = np.concatenate(puts)
        if "asked" in beside:
            beside["asked"][...] = events

    return run


def _beside_library(
    case: Case, other: Function, mine: list[Array], third: list[Array], verdict: Verdict
) -> None:
    try:
        for arguments in zip(*third, strict=True):
            other(*_plain(arguments))
    except (MemtileError, ValueError, TypeError, IndexError) as error:
        verdict.library, verdict.library_worst = REFUSES, 0
        verdict.says = verdict.says or f"library: {error}"
        return
    found = worst_of(case, mine, third)
    verdict.library_worst = max(verdict.library_worst, float(found.max()))
    verdict.library_bits += int(np.count_nonzero(worst_of(replace(case, tolerance=0), mine, third)))
    bad = np.flatnonzero(found > case.tolerance)
    verdict.library += len(bad)
    if len(bad):
        verdict.says = verdict.says or f"library, {_first(case, mine, third, bad[0])}"


def in_a_process(case: Case, kernel: Path, calls: int) -> Verdict:
    """As ``run``, in a process of its own: a kernel that ends it is a verdict."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=lambda: send.send(run(case, LoneKernels(kernel), calls)))
    child.start()
    send.close()
    try:
        found: Verdict = receive.recv()
    except EOFError:
        found = Verdict(_title(case), 1, 1, says="the kernel ended the process")
    child.join()
    return found


@cache
def every_case() -> tuple[Case, ...]:
    """All cases of the campaign, in order."""
    return (
        *cases(),
        *(case for make in (*network_cases.MAKERS, *surrounded_cases.MAKERS) for case in make()),
    )


def groups(only: str) -> list[list[int]]:
    """Numbers of the cases whose file, function and macros have a text, those of one library together."""
    found: dict[object, list[int]] = {}
    for at, case in enumerate(every_case()):
        if only in _title(case):
            key = (case.file, tuple(case.defines.items()), case.generation, case.before, case.after)
            found.setdefault(key, []).append(at)
    return list(found.values())


def verdicts_of(root: Path, folder: Path, calls: int, group: list[int]) -> list[Verdict]:
    """Compile a library and run its cases."""
    mine = [every_case()[at] for at in group]
    case = mine[0]
    try:
        around = (case.before, case.after)
        kernel = compiled(
            root / case.file, folder, case.defines, includes(root), case.generation, around=around
        )
    except CompileError as error:
        says = next((line for line in str(error).splitlines() if "error" in line), str(error))
        return [Verdict(_title(each), says=f"does not compile: {says}") for each in mine]
    found = [in_a_process(each, kernel, calls) for each in mine]
    called = {each.name for each in every_case() if each.file == case.file}
    found[0].missed = sorted(name for name in exported(kernel) - called if name in _library(case))
    return found


def campaign(root: Path, calls: int, only: str, folder: Path, workers: int) -> Iterator[Verdict]:
    """Every case, in order, some processes at once."""
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        waiting = [pool.submit(verdicts_of, root, folder, calls, each) for each in groups(only)]
        for each in waiting:
            yield from each.result()


def table(found: list[Verdict]) -> list[str]:
    """The functions that are in the library and in C++, as a table."""
    lines = [
        "| function | calls | other bits | beyond tolerance | worst | row |",
        "|---|---|---|---|---|---|",
    ]
    for each in found:
        if each.library in _WORDS:
            lines.append(f"| {each.case} | {each.calls:,} | {_WORDS[each.library]} | | | {each.row} |")
        elif each.library != ABSENT:
            differs = f"{each.library_bits:,} | {each.library:,} | {each.library_worst:.2g}"
            lines.append(f"| {each.case} | {each.calls:,} | {differs} | {each.row} |")
        lines += [f"| {name} | not called | | | | |" for name in each.missed]
    return lines


def main() -> int:
    """Entry point of the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a checkout of mlir-aie")
    parser.add_argument("--calls", type=int, default=100, help="of each function")
    parser.add_argument("--only", default="", help="cases whose file, function or macros have this text")
    parser.add_argument("--workers", type=int, default=2, help="processes at once")
    parser.add_argument(
        "--built", type=Path, help="a folder that keeps the compiled kernels for the next time"
    )
    parser.add_argument("--json", action="store_true", help="print all verdicts as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, found = given.built or Path(name), []
        folder.mkdir(exist_ok=True)
        for verdict in campaign(given.folder, given.calls, given.only, folder, given.workers):
            found.append(verdict)
            if not given.json:
                print(_line(verdict), flush=True)
    print(json.dumps([asdict(each) for each in found], indent=1) if given.json else "\n".join(table(found)))
    print(_summary(found), file=sys.stderr)
    return 1 if any(each.is_bad for each in found) else 0


def _summary(found: list[Verdict]) -> str:
    both = [each for each in found if each.library != ABSENT]
    files = {each.case.split(" ", maxsplit=1)[0] for each in found}
    return (
        f"{len(found)} functions of {len(files)} files, {sum(each.calls for each in found):,} calls, "
        f"{sum(each.differs for each in found):,} differ from their reference; "
        f"{len(both)} also in the library, "
        f"{sum(each.library_bits > 0 or each.library != 0 for each in both)} of them differ, "
        f"{sum(each.is_bad for each in found)} without a row or not compared"
    )


def _line(verdict: Verdict) -> str:
    state = "DIFFERS" if verdict.differs else "same" if verdict.calls else "-"
    beside = f", library {_WORDS.get(verdict.library, verdict.library or 'same')}"
    beside = "" if verdict.library == ABSENT else beside
    return (
        f"{verdict.case}: {state} {verdict.calls:,} calls{beside}, worst {verdict.worst:.3g} {verdict.says}"
    )


if __name__ == "__main__":
    sys.exit(main())
