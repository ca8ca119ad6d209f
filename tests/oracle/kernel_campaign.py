"""mlir-aie's public C++ kernels, compiled for the host with memtile's headers, beside references by hand.

``PYTHONPATH=src:tests python tests/oracle/kernel_campaign.py FOLDER [--calls N] [--only TEXT] [--json]``
takes a checkout of mlir-aie, calls the functions of ``tests/support/aie/kernel_cases.py`` and
``network_cases.py`` with random, extreme and tie values, and compares each call with plain NumPy and with
memtile's own library. The exit code is 1 if a result differs. None of the kernels is in the project;
``cpp_kernels.py`` says which compile.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile import MemtileError
from memtile.kernels.aie import library
from support.aie import network_cases
from support.aie.kernel_cases import KINDS, Buffer, Case, Number, cases
from support.aie.lone_kernels import CompileError, LoneKernels, aligned, compiled
from support.aie.plain_references import BF16

Array = npt.NDArray[Any]
DEVICES = {"AIE-ML": "npu1", "AIE2P": "npu2"}
ABSENT, REFUSES = -1, -2  # instead of a number of calls
WAYS = ("random", "small", "extreme", "ties")
_TINY = float(np.finfo(np.float32).tiny)
_SHOWN = 3
_CASCADE = ("get", "put")
_BLOCK = 9  # bytes of a block of bfp16
_EXPONENTS = {False: (126, 127), True: (127, 133)}  # of factors, of what products are added to


@dataclass
class Verdict:
    """What came of a case.

    Attributes:
        case: file, function, macros.
        calls: that were made.
        differs: calls that differ from the reference by hand.
        worst: greatest error, in the measure of the tolerance.
        library: calls that differ from memtile's library; ABSENT or REFUSES.
        library_worst: its greatest error.
        says: why there is nothing to compare, or the first difference.
        seconds: of the calls of the kernel alone.
    """

    case: str
    calls: int = 0
    differs: int = 0
    worst: float = 0
    library: int = ABSENT
    library_worst: float = 0
    says: str = ""
    seconds: float = 0


def includes(root: Path) -> list[Path]:
    """Folders of mlir-aie's own headers, and of ``zero.cc``, which some kernels include."""
    return [root / "aie_kernels", root / "aie_kernels" / "aie2"]


def filled(buffer: Buffer, way: str, random: np.random.Generator) -> Array:
    """An argument's values."""
    kind = np.dtype(KINDS[buffer.kind])
    target = aligned(buffer.count, kind)
    if buffer.role not in ("out", "put"):
        make = _blocks if buffer.kind == "bfp" else _integers if kind.kind in "iu" else _floats
        target[...] = make(buffer, kind, way, random)
    return target


def _blocks(buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator) -> Array:
    """Blocks of bfp16 with exponents so near each other that all sums of products are exact in float32."""
    rows = np.zeros((buffer.count // _BLOCK, _BLOCK), kind)
    rows[:, 0] = random.integers(*_EXPONENTS[buffer.role != "in"], len(rows), endpoint=True)
    size = Buffer("i8", rows[:, 1:].size)
    rows[:, 1:] = _integers(size, np.dtype(np.int8), way, random).view(np.uint8).reshape(-1, _BLOCK - 1)
    return rows.reshape(-1)


def _integers(buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator) -> Array:
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    if buffer.spread:
        high = int(buffer.spread)
        low = -high if buffer.least is None else buffer.least
        return random.integers(low, high, buffer.count, endpoint=True).astype(kind)
    if way == "small":
        return random.integers(max(low, -4), 5, buffer.count).astype(kind)
    if way == "extreme":
        return random.choice(np.array([low, high, high - 1, 0, 1, max(low, -1)]), buffer.count).astype(kind)
    if way == "ties":
        return (
            (random.integers(0, 64, buffer.count) * 2 + 1) << int(random.integers(0, kind.itemsize * 8))
        ).astype(kind)
    return random.integers(low, high, buffer.count, endpoint=True).astype(kind)


def _floats(buffer: Buffer, kind: np.dtype[Any], way: str, random: np.random.Generator) -> Array:
    scale = buffer.spread or 1.0
    if way == "ties":  # sums and products of these lie halfway between bfloat16 numbers
        return (random.integers(-255, 256, buffer.count) / 128 * scale).astype(kind)
    if way == "extreme":
        far = 8 * scale if buffer.spread else float(np.finfo(np.float32).max)
        chosen = [0.0, -0.0, far, -far, scale, -scale, 1e-30, -1e-30]
        return random.choice(
            np.array([*chosen, *([] if buffer.spread else [np.inf, -np.inf])]), buffer.count
        ).astype(kind)
    if way == "random" and not buffer.spread and kind == BF16:
        words = random.integers(0, 1 << 16, buffer.count).astype(np.uint16)
        return np.where(words & 0x7F80 == 0x7F80, words & 0xBFFF, words).astype(np.uint16).view(BF16)
    return (random.standard_normal(buffer.count) * scale).astype(kind)


def arguments_of(case: Case, call: int) -> list[Any]:
    """The arguments of one call: the same for the same number."""
    random = np.random.default_rng([call, zlib.crc32(f"{case.file} {case.name}".encode())])
    way = WAYS[call % len(WAYS)]
    found: list[Any] = []
    for each in case.arguments:
        if isinstance(each, Number):
            found.append(int(random.integers(each.low, each.high, endpoint=True)))
        else:
            found.append(filled(each, way, random))
    return found


def copied(arguments: list[Any]) -> list[Any]:
    """The same values in arrays of their own."""
    found = []
    for each in arguments:
        if isinstance(each, np.ndarray):
            mine = aligned(each.size, each.dtype)
            mine[...] = each
            found.append(mine)
        else:
            found.append(each)
    return found


def error_of(got: Array, wanted: Array, case: Case) -> float:
    """How far an output is from the wanted one; without a tolerance: how many elements differ."""
    if got.dtype.kind in "iu":
        return float(np.count_nonzero(got != wanted))
    with np.errstate(invalid="ignore", over="ignore"):
        x, y = got.astype(np.float64), wanted.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if same.all():
            return 0.0
        if not case.tolerance:
            return float(np.count_nonzero(~same))
        size = np.abs(y[np.isfinite(y)]).max(initial=0) if case.of_largest else np.abs(x) + np.abs(y)
        distance = np.where(same, 0, np.abs(x - y))
        relative = np.where(distance <= case.floor, 0, distance / np.maximum(size, _TINY))
        relative = np.where(np.isfinite(relative), relative, np.inf)
    return float(relative.max())


def outputs(case: Case, arguments: list[Any]) -> Iterator[Array]:
    """The arrays that a call changes."""
    for each, value in zip(case.arguments, arguments, strict=True):
        if isinstance(each, Buffer) and each.role not in ("in", "get"):
            yield value


def _call(case: Case, kernel: LoneKernels, arguments: list[Any]) -> None:
    """Call a function; arguments of the cascade go through its queues.

    Raises:
        RuntimeError: the call takes or puts another number of words than the case says.
    """
    pairs = list(zip(case.arguments, arguments, strict=True))
    for each, value in pairs:
        if isinstance(each, Buffer) and each.role == "get":
            kernel.put("cascade in", value.view(np.uint32))
    kernel.call(case.name, *(value for each, value in pairs if getattr(each, "role", "") not in _CASCADE))
    if not any(getattr(each, "role", "") in _CASCADE for each, _ in pairs):
        return
    if len(kernel.take("cascade in")):
        raise RuntimeError(f"{case.name} leaves words on its cascade")
    for each, value in pairs:
        if isinstance(each, Buffer) and each.role == "put":
            value[...] = kernel.take("cascade out").view(value.dtype)


def run(case: Case, kernel: LoneKernels, calls: int) -> Verdict:
    """Call a function and its references with the same values."""
    verdict = Verdict(f"{case.file} {case.name} {' '.join(map(str, case.defines))}".strip())
    other = _of_library(case)
    verdict.library = 0 if other else ABSENT
    for call in range(calls):
        mine = arguments_of(case, call)
        theirs, third = copied(mine), copied(mine)
        kernel.set_modes()
        begun = time.perf_counter()
        _call(case, kernel, mine)
        verdict.seconds += time.perf_counter() - begun
        reference = case.reference or other
        if reference is None:
            return Verdict(verdict.case, says="there is nothing to compare with")
        with np.errstate(all="ignore"):
            reference(*theirs)
        found = max(
            error_of(a, b, case) for a, b in zip(outputs(case, mine), outputs(case, theirs), strict=True)
        )
        verdict.worst = max(verdict.worst, found)
        if found > case.tolerance:
            verdict.differs += 1
            verdict.says = (
                verdict.says or f"call {call} ({WAYS[call % len(WAYS)]}): {_first(case, mine, theirs)}"
            )
        if other:
            _beside_library(case, other, mine, third, verdict)
        verdict.calls += 1
    return verdict


def _first(case: Case, mine: list[Any], theirs: list[Any]) -> str:
    """The first elements that differ."""
    for got, wanted in zip(outputs(case, mine), outputs(case, theirs), strict=True):
        x, y = got.astype(np.float64), wanted.astype(np.float64)
        places = np.flatnonzero(~((x == y) | (np.isnan(x) & np.isnan(y))))[:_SHOWN]
        if len(places):
            return ", ".join(f"[{at}] {got[at]} for {wanted[at]}" for at in places)
    return ""


def _of_library(case: Case) -> Callable[..., Any] | None:
    name = case.name if case.library is None else case.library
    if not name or any(getattr(each, "role", "") in _CASCADE for each in case.arguments):
        return None  # the library's cascades need a simulated core
    found = library(DEVICES[case.generation], **case.options)  # type: ignore[arg-type]
    if name not in found:
        return None
    every, stem = found.all_of(name), Path(case.file).stem
    for each in every:
        if stem in each.entry.objects:
            return each
    return every[0]


def _beside_library(
    case: Case, other: Callable[..., Any], mine: list[Any], third: list[Any], verdict: Verdict
) -> None:
    try:
        other(*third)
    except (MemtileError, ValueError, TypeError, IndexError) as error:
        verdict.library, verdict.library_worst = REFUSES, 0
        verdict.says = verdict.says or f"library: {error}"
        return
    found = max(error_of(a, b, case) for a, b in zip(outputs(case, mine), outputs(case, third), strict=True))
    verdict.library_worst = max(verdict.library_worst, found)
    if found > case.tolerance and verdict.library >= 0:
        verdict.library += 1
        verdict.says = verdict.says or f"library, {_first(case, mine, third)}"


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
        found = Verdict(f"{case.file} {case.name}", 1, 1, says="the kernel ended the process")
    child.join()
    return found


def campaign(root: Path, calls: int, only: str, folder: Path) -> Iterator[Verdict]:
    """Every case, in order; those of one library after each other."""
    made: dict[object, Path | str] = {}
    for case in [*cases(), *(case for make in network_cases.MAKERS for case in make())]:
        if only not in f"{case.file} {case.name}":
            continue
        key = (case.file, tuple(case.defines.items()), case.generation)
        if key not in made:
            try:
                made[key] = compiled(root / case.file, folder, case.defines, includes(root), case.generation)
            except CompileError as error:
                made[key] = next((line for line in str(error).splitlines() if "error" in line), str(error))
        kernel = made[key]
        if isinstance(kernel, str):
            yield Verdict(f"{case.file} {case.name}", 0, 0, says=f"does not compile: {kernel}")
        else:
            yield in_a_process(case, kernel, calls)


def main() -> int:
    """Entry point of the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a checkout of mlir-aie")
    parser.add_argument("--calls", type=int, default=100, help="of each function")
    parser.add_argument("--only", default="", help="cases whose file and function have this text")
    parser.add_argument("--json", action="store_true", help="print all verdicts as JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = []
        for verdict in campaign(given.folder, given.calls, given.only, Path(name)):
            found.append(verdict)
            if not given.json:
                print(_line(verdict), flush=True)
    if given.json:
        print(json.dumps([asdict(each) for each in found], indent=1))
    bad = [each for each in found if each.differs or each.library > 0 or not each.calls]
    print(
        f"{len(found)} functions, {sum(each.calls for each in found):,} calls, {len(bad)} functions differ",
        file=sys.stderr,
    )
    return 1 if bad else 0


def _line(verdict: Verdict) -> str:
    state = "DIFFERS" if verdict.differs else "same" if verdict.calls else "-"
    beside = {ABSENT: "", REFUSES: ", library refuses"}.get(
        verdict.library, f", library {verdict.library or 'same'}"
    )
    return (
        f"{verdict.case}: {state} {verdict.calls:,} calls{beside}, worst {verdict.worst:.3g} {verdict.says}"
    )


if __name__ == "__main__":
    sys.exit(main())
