"""Run the designs of a folder whose host programs are known, and sort them by how they end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memtile import Status
from memtile.errors import MemtileError
from memtile.importers.design import load
from memtile.importers.loaded import Loaded
from memtile.importers.mlir.token_packets import BUILD_FILES, Text
from memtile.input_files import read_beside
from support.mlir.outside_facts import FACTS, Facts, Launch

Pool = dict[str, npt.NDArray[Any]]
_MAX_CYCLES = 2_000_000


class Outcome(NamedTuple):
    """How a design ended.

    Attributes:
        name: path of its file below the folder.
        kind: ``exact``, ``finished`` (nobody says what is expected), ``wrong``, ``stuck`` or ``refused``.
        says: why, or which arrays differ.
        seconds: that it took.
    """

    name: str
    kind: str
    says: str
    seconds: float


KINDS = ("exact", "finished", "wrong", "stuck", "refused")


def survey(folder: Path) -> list[Outcome]:
    """The outcomes of all designs below a folder."""
    return [outcome(folder, file) for file in sorted(folder.rglob("*.mlir"))]


def outcome(folder: Path, file: Path) -> Outcome:
    """The outcome of one design."""
    name, began = file.relative_to(folder).as_posix(), time.perf_counter()
    kind, says, _ = run(name, file)
    return Outcome(name, kind, says, time.perf_counter() - began)


def table(found: list[Outcome]) -> str:
    """The outcomes as text."""
    lines = [f"{each.kind:9} {each.seconds:6.1f} s  {each.name}  {each.says}".rstrip() for each in found]
    counts = ", ".join(f"{sum(each.kind == kind for each in found)} {kind}" for kind in KINDS)
    total = sum(each.seconds for each in found)
    return "\n".join([*lines, f"{len(found)} designs: {counts}; {total:.0f} s"])


def run(name: str, file: Path) -> tuple[str, str, Loaded | None]:
    """How a design ends, why, and the design as it is then; None = it could not be loaded."""
    facts, design = FACTS.get(name), None
    if facts is None:
        return "refused", "nobody has written down what its host program expects", None
    pool = {key: np.array(value) for key, value in facts.data.items()}
    text = Text(name, file.read_text(), build="\n".join(read_beside(file, BUILD_FILES)))
    try:
        for launch in facts.launches:
            if design is None or not launch.again:
                design = _loaded(text, facts, launch)
            said = _launch(design, launch, pool)
            if said:
                return "stuck", said, design
    except MemtileError as error:
        return "refused", str(error).split("\n", maxsplit=1)[0], design
    wrong = [key for key, wanted in facts.expected.items() if not _same(pool[key], wanted)]
    if not facts.expected:
        return "finished", "", design
    return ("wrong", ", ".join(wrong), design) if wrong else ("exact", "", design)


def _same(got: npt.NDArray[Any], wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(got))
    return bool(np.array_equal(got.ravel()[: wanted.size], wanted.ravel()))


def _loaded(text: Text, facts: Facts, launch: Launch) -> Loaded:
    """The design of a launch in a new array."""
    device = facts.device if "NPUDEVICE" in text.content else None
    return load(
        text,
        device=device,
        name=launch.device or None,
        functions=facts.functions,
        parameters=launch.parameters,
    )


def _launch(design: Loaded, launch: Launch, pool: Pool) -> str:
    """Run one sequence on the arrays of the pool; why it did not end, or nothing."""
    given = [pool[each] if isinstance(each, str) else each for each in launch.arguments]
    done = design.run(*given, parameters=launch.parameters, pad_arguments=True, max_cycles=_MAX_CYCLES)
    for number, each in enumerate(launch.arguments):
        if isinstance(each, str):
            pool[each] = np.asarray(done.arrays[str(number)])
    ended = done.result.status is Status.FINISHED and not done.stopped
    return "" if ended else f"{done.stopped} {done.result}".replace("\n", " ")
