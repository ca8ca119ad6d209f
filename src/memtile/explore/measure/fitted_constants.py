"""From the traces of measurements to constants, and to a file of cases as in ``tests/silicon/cases``.

All measurements: what each design does, and how its constants follow from its trace (docs/timing.md).

Each constant is a difference of cycles of one trace unit, or a number of words, so that no timers of two
tiles need to agree. A design uses descriptors, locks and streams alone: no core runs a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any

import numpy as np
import numpy.typing as npt

from memtile.arch.devices import Device
from memtile.arch.devices import device as find_device
from memtile.arch.timing import constants
from memtile.arch.trace_facts import PACKET_WORDS
from memtile.errors import InputFileError, Problem, raise_if
from memtile.explore.measure.experiment import Constant, Experiment
from memtile.explore.measure.other_designs import BROADCAST, EXTERNAL, FIRMWARE, NEIGHBOUR, ZERO
from memtile.explore.measure.seen import of_units
from memtile.explore.measure.stream_designs import BLOCKED, EGRESS, NORTH, PACKET, PAUSE, RELAY, STREAM, WIRE
from memtile.io.trace.decoder import decode
from memtile.sheet import Sheet, SheetColumn

EXPERIMENTS = (
    STREAM, EGRESS, BLOCKED, PAUSE, WIRE, NORTH, PACKET, BROADCAST, FIRMWARE, RELAY, EXTERNAL, ZERO,
    NEIGHBOUR,
)  # fmt: skip


Words = npt.NDArray[np.uint32]
_DEFAULTS: dict[str, dict[str, object]] = {str(each["name"]): {**each} for each in constants()}
_DEFAULTS |= {
    one.name: {"default": one.model, "grade": "rule", "unit": "cycles"}
    for each in EXPERIMENTS
    for one in each.constants
    if one.model is not None
}


@dataclass(frozen=True, slots=True)
class FittedConstant:
    """A constant and what traces say that it is.

    Attributes:
        constant: which, and how it follows.
        experiment: the design that was traced.
        values: one of each trace.
        assumed: constants that it was derived with and that no trace gave, ``name = value``.
    """

    constant: Constant
    experiment: Experiment
    values: tuple[int, ...]
    assumed: tuple[str, ...] = ()

    @property
    def value(self) -> int:
        """The median; of an even number of traces the lower one of the two."""
        return median_low(self.values)


@dataclass(frozen=True, slots=True)
class Measured:
    """What the traces of one device say.

    Attributes:
        device: that was traced.
        found: every constant that was measured.
    """

    device: str
    found: Sequence[FittedConstant] = field(default_factory=tuple)

    @property
    def values(self) -> Mapping[str, int]:
        """The timing constants by name, without numbers that no constant stands for."""
        return {each.constant.name: each.value for each in self.found if each.constant.model is None}

    def sheet(self) -> Sheet:
        """A table: what was measured beside what the model has."""
        rows = []
        for each in self.found:
            ours = _DEFAULTS[each.constant.name]
            spread = f"{min(each.values)} to {max(each.values)}" if len(set(each.values)) > 1 else ""
            cells = (each.constant.name, str(each.value), spread, str(ours["default"]), str(ours["grade"]))
            rows.append((*cells, str(ours["unit"]), each.experiment.name))
        heads = (
            SheetColumn("constant", one_line=True),
            SheetColumn("measured", right=True),
            SheetColumn("spread"),
        )
        more = (
            SheetColumn("the model's", right=True),
            SheetColumn("grade"),
            SheetColumn("unit"),
            SheetColumn("design"),
        )
        return Sheet((*heads, *more), tuple(rows), below=tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        other = [f"{n}={v}" for n, v in self.values.items() if v != _DEFAULTS[n]["default"]]
        if other:
            yield "to run with them: " + " ".join(f"--timing {each}" for each in other)
        assumed = sorted({text for each in self.found for text in each.assumed})
        if assumed:
            yield f"no trace gave {', '.join(assumed)}; the model's was taken"

    def cases(self, name: str, address: str) -> dict[str, Any]:
        """The file of cases.

        Args:
            name: of the source, for people.
            address: where it is published, ``https://...``.
        """
        source = {"name": name, "address": address, "kind": "silicon"}
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "source"
        return {"source": source, "cases": [_case(each, slug, self.device) for each in self.found]}


def _case(found: FittedConstant, slug: str, device: str) -> dict[str, Any]:
    measured: dict[str, Any] = {"value": found.value}
    if len(found.values) > 1:
        measured |= {"low": min(found.values), "high": max(found.values)}
        measured["note"] = f"{len(found.values)} traces, the median"
        measured["runs"] = len(found.values)
    constant = found.constant
    return {
        "id": f"{slug}-{device}-{constant.name.replace('_', '-')}",
        "device": device,
        "setup": f"memtile measure, design {found.experiment.name}: {found.experiment.setup}",
        "quantity": f"{constant.name}: {constant.quantity}",
        "unit": str(_DEFAULTS[constant.name]["unit"]),
        "time_of": _time_of(constant.name),
        "measured": measured,
        "rig": {
            "name": "measure",
            "arguments": {"design": found.experiment.name, "device": device},
            "reads": constant.name,
        },
        "assumed": list(found.assumed),
    }


def _time_of(name: str) -> str:
    """What the time that a constant counts is of, as the schema of cases has it."""
    if _DEFAULTS[name]["unit"] != "cycles":
        return "count"
    if name.startswith(("firmware", "access")):
        return "host"
    if name.startswith("external_first"):
        return "first"
    outside = name.startswith("external") and not name.startswith("external_port")
    return "external" if outside else "array"


def experiments_for(names: Iterable[str]) -> list[Experiment]:
    """The designs that give these constants, and what they need; all of them where none is named.

    Raises:
        InputFileError: names of no constant that can be measured; all of them at once.
    """
    giving = {constant.name: each for each in EXPERIMENTS for constant in each.constants}
    wanted = list(names)
    raise_if([_unknown(name, giving) for name in wanted if name not in giving], InputFileError)
    chosen = _with_needed({giving[name].name for name in wanted or giving}, giving)
    return [each for each in EXPERIMENTS if each.name in chosen]


def _with_needed(chosen: set[str], giving: Mapping[str, Experiment]) -> set[str]:
    """Names of designs, and of those that give the constants which these need."""
    for each in reversed(EXPERIMENTS):  # what a design needs comes before it
        if each.name in chosen:
            chosen |= {giving[name].name for name in each.needed}
    return chosen


def measured(device: str, traces: Mapping[str, Sequence[tuple[str, Words]]]) -> Measured:
    """The constants that traces give.

    Args:
        device: that was traced.
        traces: by design the name and the words of each of its traces, as they stand in its buffer.

    Raises:
        InputFileError: traces that are not those of their design; all of them at once.
    """
    chip = find_device(device)
    known: dict[str, int] = {}
    found: list[FittedConstant] = []
    problems: list[Problem] = []
    for each in sorted(EXPERIMENTS, key=lambda one: bool(one.needed)):
        own = {name: known.get(name, int(str(_DEFAULTS[name]["default"]))) for name in each.needed}
        assumed = tuple(f"{name} = {own[name]}" for name in each.needed if name not in known)
        values = []
        for name, words in traces.get(each.name, ()):
            try:
                values.append(_values(each, chip, own, name, words))
            except InputFileError as error:
                problems += error.problems
        for constant in each.constants if values else ():
            if constant.narrow and chip.kind("memory").stream_words > 1:
                continue
            one = FittedConstant(constant, each, tuple(of[constant.name] for of in values), assumed)
            found.append(one)
            known[constant.name] = one.value
    raise_if(problems, InputFileError)
    return Measured(device, tuple(found))


def _values(
    each: Experiment, chip: Device, known: Mapping[str, int], name: str, words: Words
) -> dict[str, int]:
    there = np.flatnonzero(words)  # behind the packets the buffer is as it was
    trace = decode(words[: 1 + (int(there[-1]) | PACKET_WORDS - 1) if len(there) else 0], name)
    raise_if(list(trace.problems), InputFileError)
    return each.values(of_units(each.traced, trace.units, name, chip), known)


def _unknown(name: str, giving: Mapping[str, Experiment]) -> Problem:
    known = name in _DEFAULTS
    return Problem(
        "constant",
        repr(name),
        ", ".join(sorted(giving)),
        f"no design measures {name!r}; there are designs for {', '.join(sorted(giving))}",
        "The page says what it would take to measure it." if known else "",
        reason="measure_constant",
        where="measurement",
        source="docs/measure.md",
    )
