"""The page of what was measured on silicon beside what the model gives, from recorded numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from support.silicon.silicon_fit import fitted
from support.silicon.silicon_rig import (
    KINDS,
    MODELLED,
    OUTLIER,
    VARIED,
    Case,
    bands,
    cases,
    error,
    recorded,
    summary,
)
from support.silicon.silicon_spread import Spread, ends, groups, repeats, spreads

HEAD = """# Held to the silicon

{summary}

Every public measurement that we know of, and what the model gives for it. `make docs` makes this page from
`tests/silicon/cases/*.json` by `python tests/silicon/page.py docs/silicon.md`, which runs every set-up that
can be built; `tests/silicon/test_cases.py` holds the model to the numbers below.

Half of the cases, by the SHA-256 of their ids, may be used to choose constants (*calibration*); the error of
the others (*validation*) says how far the model is from silicon that it was not fitted to. The error is the
difference as a part of what was measured; where 0 was measured, the difference. Cases of a manual are what
it states. No number is taken from a simulator or a device model of a vendor, whoever repeats it.

Constants that are older than the split (those with GT-1, GT-3, GT-6 and GT-20 in [timing.md](timing.md)) were
chosen with cases of either half. `firmware_push`, and the external memory of a Phoenix laptop, are fitted
to cases that calibrate; so are the places of a core's accesses in its loop, which its capture does not say.
Of external memory the medians of 50 runs of 64 words count, single runs do not
(`tests/support/silicon/silicon_fit.py`):
{board}. What relays show of ports is fitted to cases that calibrate, too (`port_pause` 1,
`ingress_latency` 2, `wire_start` 1). What was measured on Phoenix is run with these constants, as
`--timing phoenix` does for anybody; the defaults stay assumed, and leave out first accesses, and what relays
show of ports.

What a case says depends on what its time is of, and errors of one kind say nothing of another one, so the
page has them apart. A case is of the first of these kinds that applies; its set-up and its quantity decide,
as its source has them, and nothing else does (`time_of` of the case):

- `count`: no time from one stamp to another but how many: events, words, runs, cycles in a state
- `host`: an operation of a transaction or of a host lies between the stamps. Firmware and host are not in the
  array; one run differs from the next by a third and more (DEV-HOST-2)
- `first`: the first access of a channel to external memory lies between them. The model has a constant for
  it; on silicon it takes from nothing to 1,800 cycles, another time in each run, and most cases are of one
  run (DEV-EXT-1)
- `external`: the later stamp waits for external memory, of which the model has one latency and no DRAM
  (DEV-EXT-1)
- `kernel`: it waits for core code whose pace is not published, or a published count of it
  at another shape (DEV-KERNEL-1)
- `array`: it waits for nothing of these

What is *modelled* is all but `host` and `kernel`: firmware and a compiler's code are not in the array, and no
model of it can have their time. They count among all cases.

A quantity *repeats* unless it is known to differ from run to run of silicon by more than 5%, whatever the
model gives for it (`tests/support/silicon/silicon_spread.py`): by the runs of its source, by those of
the same quantity
elsewhere, or since the first access to external memory is in it. No model can be within 5% of a single run of
what does not; it can have the run inside the spread. So these are counted apart: simulated values in the
spread of runs, and single runs with a first access in the range that the model gives with first accesses as
long as they are in the cases that calibrate. The first line has both, the second one all cases together.

The band of a case is the lowest and the highest that the model gives when all constants with a likely or a
measured range are at one end of it, or at the other: {varied}.
What does not hang on them has none.
"""

LACKS = {
    "DEV-HOST-2": "not of the array: firmware, whose pushes come after 600, 1,300, 3,050 or 5,600 cycles",
    "DEV-KERNEL-1": "not of the array: instructions of a compiler",
    "DEV-EXT-1": "mechanism: a memory whose latency varies; here it has one value",
    "DEV-SILICON-8": "mechanism: a sender that fetches ahead across descriptors",
    "DEV-QUEUE-1": "set-up: what a task fills, and a device of another generation",
    "DEV-SILICON-1": "mechanism: what takes time between a release and the first access behind it",
    "DEV-SILICON-2": "set-up: where the sender's descriptors end",
    "DEV-SILICON-3": "set-up: phases and places of accesses; mechanism: the order of core and DMA in a bank",
    "DEV-SILICON-7": "set-up: when firmware pushed it; it waited for the first access of the task before it",
    "DEV-SILICON-6": "mechanism: a cycle between a core's stream and its sender",
}
SETTLED = """What would settle those of what is modelled:

- single runs with a first access: the median of 50 runs of each length, as there is of 64 words
- a core beside a DMA in one bank (DEV-SILICON-3): a loop of the core of five cycles, which meets every phase
  of the DMA's four, with its disassembly from the lock's release on
- a relay's first word (DEV-SILICON-1): one trace of design `relay` of `memtile measure`
- a core's stream (DEV-SILICON-6): the same reads with descriptors of 16 and of 64 words, and by a core that
  begins before the first word has come
- descriptors fetched ahead (DEV-SILICON-8): a trace that begins before the cores do
- tasks in flight (DEV-QUEUE-1): the same sweep on Phoenix, with what a task fills
"""
DRAW = "one run of what differs from run to run by more than this"


def lacks(case: Case) -> str:
    """What a case that is off needs and the model or the set-up has not."""
    if case.under_first and case.runs <= 1:
        return DRAW
    return LACKS[case.data["see"][0]]


def page() -> str:
    """The whole page."""
    found, numbers = cases(), recorded()
    head = HEAD.format(
        summary=_summary(found, numbers),
        varied=", ".join(f"`{name}`" for name in VARIED),
        board=", ".join(f"`{name}` {value}" for name, value in fitted(found).items()),
    )
    parts = [head, _top(found, numbers), _outliers(found, numbers), _again(found, numbers)]
    parts += [_built(found, numbers), _others(found)]
    return "\n".join(parts)


def _errors(found: list[Case], numbers: Mapping[str, float], half: bool, kind: str) -> list[float]:
    """Errors of the cases of one half and kind: of cycles, and of counts whatever they count."""
    return [
        _error(case, numbers)
        for case in found
        if case.built
        and case.calibrates == half
        and case.time_of == kind
        and (kind == "count" or case.data["unit"] == "cycles")
    ]


def _summary(found: list[Case], numbers: Mapping[str, float]) -> str:
    """The half that validates: error of what repeats, how much of the rest is in its spread, and all."""
    told = []
    for text, kinds in (("what is modelled", MODELLED), ("all", KINDS)):
        count, median, high = summary(_cycles(found, numbers, False, kinds))
        told.append(f"{text} ({count} cases): median {median:.1%}, 90th percentile {high:.1%}")
    for kind in KINDS:
        count, median, high = summary(_errors(found, numbers, False, kind))
        told.append(f"{kind} ({count}): {median:.1%}, {high:.1%}")
    first, second, *rest = told
    same, other = (_held_to(found, numbers, half=False, again=again) for again in (True, False))
    count, median, high = summary(_error(case, numbers) for case in same)
    known = spreads(found, bands())
    inside = sum(known[case.id].has(case, numbers[case.id]) for case in other)
    return (
        "**Error of cycle counts, validation half, of what is modelled and repeats on silicon "
        f"({count} cases): median {median:.1%}, 90th percentile {high:.1%}; "
        f"of what does not repeat there ({len(other)} cases) {inside} are inside its spread.**\n\n"
        f"**All together: {first}; {second}. By what the time is of: {'; '.join(rest)}.**"
    )


def _held_to(found: list[Case], numbers: Mapping[str, float], *, half: bool, again: bool) -> list[Case]:
    """Cycle counts of what is modelled, of one half, that repeat on silicon or do not."""
    known = spreads(found, bands())
    return [
        case
        for case in found
        if case.id in numbers
        and case.calibrates == half
        and case.time_of in MODELLED
        and case.data["unit"] == "cycles"
        and repeats(case, known) == again
    ]


def _cycles(found: list[Case], numbers: Mapping[str, float], half: bool, kinds: Iterable[str]) -> list[float]:
    """Errors of what was measured in cycles, of one half and some kinds."""
    return [
        _error(case, numbers)
        for case in found
        if case.built and case.calibrates == half and case.time_of in kinds and case.data["unit"] == "cycles"
    ]


def _top(found: list[Case], numbers: Mapping[str, float]) -> str:
    built = [case for case in found if case.built]
    rows = ["| cases | validation | calibration |", "|---|---|---|"]
    for kind in KINDS:
        halves = [_told(_errors(found, numbers, half, kind)) for half in (False, True)]
        rows.append(f"| `{kind}` | {' | '.join(halves)} |")
    for name, kinds in (("cycle counts of what is modelled", MODELLED), ("all cycle counts", KINDS)):
        halves = [_told(_cycles(found, numbers, half, kinds)) for half in (False, True)]
        rows.append(f"| {name} | {' | '.join(halves)} |")
    for text, again in (("of these, what repeats on silicon", True), ("what does not repeat", False)):
        both = (_held_to(found, numbers, half=half, again=again) for half in (False, True))
        rows.append(
            f"| {text} | {' | '.join(_told(_error(case, numbers) for case in each) for each in both)} |"
        )
    halves = [_told(_error(case, numbers) for case in built if case.calibrates == h) for h in (False, True)]
    rows.append(f"| all quantities | {' | '.join(halves)} |")
    sources = len({case.source for case in found})
    return (
        "\n".join(rows) + "\n\n"
        "The `array` case of the validation half that is farthest off in cycles is so by "
        f"{_farthest(built, numbers):g}.\n\n"
        f"{len(found)} cases of {sources} sources, {len(built)} of them simulated. A row of "
        "[deviations.md](deviations.md) is named where one explains the difference.\n"
    )


def _farthest(built: list[Case], numbers: Mapping[str, float]) -> float:
    """The most cycles by which one of them is off."""
    return max(
        abs(case.measured - numbers[case.id])
        for case in built
        if case.time_of == "array" and not case.calibrates and case.data["unit"] == "cycles"
    )


def _told(errors: Iterable[float]) -> str:
    count, median, high = summary(errors)
    return f"{count}: median {median:.1%}, 90th percentile {high:.1%}"


def _outliers(found: list[Case], numbers: Mapping[str, float]) -> str:
    far = [case for case in found if case.built and _error(case, numbers) > OUTLIER]
    far.sort(key=lambda case: -_error(case, numbers))
    known = spreads(found, bands())
    rows = [
        f"| {case.id} | {case.time_of} | {'calibration' if case.calibrates else 'validation'} "
        f"| {_error(case, numbers):.0%} | {_spread(case, known, numbers)} | {lacks(case)} "
        f"| {', '.join(case.data['see'])} |"
        for case in far
    ]
    told = f"The {len(far)} cases that are off by more than {OUTLIER:.0%}, the farthest first."
    head = f"## Outliers\n\n{told}\n\n{SETTLED}"
    names = "case", "time of", "half", "error", "inside the spread", "what is missing", "see"
    return "\n".join([head, f"| {' | '.join(names)} |", "|---" * len(names) + "|", *rows, ""])


def _spread(case: Case, known: Mapping[str, Spread], numbers: Mapping[str, float]) -> str:
    """The spread of its repeats, and whether what is compared with it lies inside; "repeats" without one."""
    spread = known.get(case.id)
    if spread is None:
        return "repeats"
    inside = "yes" if spread.has(case, numbers[case.id]) else "no"
    return f"{inside}: {spread.low:g} to {spread.high:g}{' of first accesses' * (spread.of == 'first')}"


def _again(found: list[Case], numbers: Mapping[str, float]) -> str:
    """Quantities that were measured more than once, with all their values."""
    rows = [
        "## Measured more than once",
        "",
        "The same quantity, in other runs, lengths of a chain, or by others. Where they disagree by more "
        "than the model is off, no constant can be right for all.",
        "",
        "| cases | measured | their spread | simulated |",
        "|---|---|---|---|",
    ]
    for group in groups(found):
        values = [case.measured for case in group]
        low, high = ends(group)
        middle = float(np.median(values))
        spread = f"{(high - low) / abs(middle):.0%}" if middle else "-"
        given = [f"{numbers[case.id]:g}" for case in group if case.built]
        told = ", ".join(dict.fromkeys(given)) or "-"
        names = ", ".join(case.id for case in group)
        rows.append(
            f"| {names} | {', '.join(f'{value:g}' for value in values)} {group[0].data['unit']} "
            f"| {low:g} to {high:g}, {spread} | {told} |"
        )
    return "\n".join([*rows, ""])


def _built(found: list[Case], numbers: Mapping[str, float]) -> str:
    rows = [
        "## Simulated",
        "",
        "| case | set-up and quantity | time of | measured | simulated | band | inside the spread | ratio "
        "| half | source |",
    ]
    rows.append("|---" * 10 + "|")
    ranges = bands()
    known = spreads(found, ranges)
    for case in found:
        if case.built:
            simulated = numbers[case.id]
            ratio = f"{simulated / case.measured:.3f}" if case.measured else "-"
            half = "calibration" if case.calibrates else "validation"
            low, high = ranges[case.id]
            band = f"{low:g} to {high:g}" if low < high else ""
            model = f"{simulated:g}", band, _spread(case, known, numbers), ratio
            cells = [case.id, _what(case), case.time_of, _measured(case), *model, half, _source(case)]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _others(found: list[Case]) -> str:
    rows = ["## Recorded, not simulated", "", "| case | set-up and quantity | measured | why not | source |"]
    rows.append("|---|---|---|---|---|")
    for case in found:
        if not case.built:
            cells = [case.id, _what(case), _measured(case), case.data["not_simulated"], _source(case)]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _error(case: Case, numbers: Mapping[str, float]) -> float:
    return error(case.measured, numbers[case.id])


def _what(case: Case) -> str:
    text = f"{case.data['setup']}: {case.data['quantity']}"
    assumed = case.data.get("assumed", [])
    return f"{text} (assumed: {'; '.join(assumed)})" if assumed else text


def _measured(case: Case) -> str:
    data = case.data["measured"]
    text = f"{data['value']:g} {case.data['unit']}"
    if data.get("low", data["value"]) != data.get("high", data["value"]):
        text += f" ({data['low']:g} to {data['high']:g})"
    if data.get("note"):
        text += f"; {data['note']}"
    return text


def _source(case: Case) -> str:
    place = case.data["device"] if case.kind == "silicon" else case.kind
    return f"[{case.source}]({case.address}), {place}"
