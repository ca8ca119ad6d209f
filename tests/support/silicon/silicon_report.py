"""The page of what was measured on silicon beside what the model gives, from recorded numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from memtile.arch.kernel_cycles import cycle_counts
from memtile.corelib.call_costs import predicted
from support.silicon.silicon_fit import fitted
from support.silicon.silicon_rig import (
    KINDS,
    MODELLED,
    OUTLIER,
    ROLES,
    USED,
    VARIED,
    Case,
    bands,
    cases,
    error,
    recorded,
    summary,
)
from support.silicon.silicon_spread import REPEATS, Spread, ends, groups, repeats, spreads
from support.silicon.verdict_designs import verdicts

HEAD = """# Held to the silicon

{summary}

Every public measurement that we know of beside what the model gives. `make docs` makes this page from
`tests/silicon/cases/*.json` and runs every set-up that can be built; `tests/silicon/test_cases.py` holds
the model to the numbers. Search the page for a case, a document or a deviation.

The error is the difference as a part of the measured value, or the difference where that is 0. The points
of a sweep count once, with their median. The role of a case:

- *prediction*: nothing of its document was used to choose a constant, a rule or a set-up
- *untimed*: the quantity does not depend on timing
- *calibration*: something was chosen with a measurement of its document (below), so agreement predicts
  nothing

No number comes from a vendor's simulator. {second} cases are second-hand: the source of an emulator (xdna-
emu) has them and names the hardware run. External memory is fitted to half of the cases of the used
documents (`tests/support/silicon/silicon_fit.py`): {board}. Cases run with the constants of their board.

What the time of a case is of decides what its error says; the first kind that applies counts:

- `count`: how many events, words, runs or cycles in a state, not a time
- `host`: an operation of firmware or host lies between the stamps (DEV-HOST-2)
- `first`: so does a channel's first access to external memory, which varies from 0 to 1,800 cycles (DEV-
  EXT-1)
- `external`: the later stamp waits for external memory, of which the model has one latency (DEV-EXT-1)
- `kernel`: it waits for core code whose cycles are not published (DEV-KERNEL-1)
- `array`: none of these

Only `host` and `kernel` are not modelled; no figure above has them. A quantity *repeats* if it was measured
more than once within 5%, *varies* if the runs differ by more, and else was *not repeated*.

The band of a case is what the model gives with all constants of a likely or measured range at one end:
{varied}.
"""

LACKS = {
    "DEV-HOST-2": "not of the array: firmware, whose pushes come after 600, 1,300, 3,050 or 5,600 cycles",
    "DEV-KERNEL-1": "not of the array: instructions of a compiler",
    "DEV-EXT-1": "mechanism: a memory whose latency varies; here it has one value",
    "DEV-SILICON-8": "mechanism: a sender that fetches ahead across descriptors",
    "DEV-QUEUE-1": "set-up: what a task fills, and a device of another generation",
    "DEV-LOCK-6": "constant: whole cycles, the same of all tiles of a board",
    "DEV-SILICON-1": "mechanism: what takes time between the end of a lock stall and the first word",
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
_VERDICTS = """\
The {count} verdicts of mlir-aie's tests of packet flows and deadlocks on a Strix laptop
(`tests/silicon/verdicts.json`): the model ends and hangs with all of them. They are *calibration*
(DEV-INGRESS-2)."""
_CALLS = """\
`arch/kernel_cycles.tsv` has {rows} published counts of calls of AMD's kernels. {kept} of them, by the
SHA-1 of their ids, validate the rule of [kernels.md](kernels.md) and were used for nothing; it gives
{count} of these, from the others, with a median error of {median:.1%}, {high:.1%} at the 90th
percentile. They share their document with the rows that the rule is made from: none is a *prediction* as
this page has it."""
MARK = "<!-- table of cases, made by `make docs` -->"
_TABLE = re.compile(r"^\|.*\n(?=\|---)", re.MULTILINE)
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
        second=sum(case.second_hand for case in found),
        varied=", ".join(f"`{name}`" for name in VARIED),
        board=", ".join(f"`{name}` {value}" for name, value in fitted(found).items()),
    )
    parts = [
        head,
        _top(found, numbers),
        _by_document(found, numbers),
        _used(),
        _outliers(found, numbers),
        _again(found, numbers),
    ]
    parts += [_built(found, numbers), _verdicts(), _calls(), _others(found)]
    return _TABLE.sub(f"{MARK}\\n\\g<0>", "\n".join(parts))


def quantities(found: Iterable[Case], numbers: Mapping[str, float]) -> dict[str, float]:
    """The error of each quantity: of a single case, or the median of the points of a sweep."""
    errors: dict[str, list[float]] = {}
    for case in found:
        if case.built:
            errors.setdefault(f"{case.document} {case.sweep}", []).append(_error(case, numbers))
    return {name: float(np.median(each)) for name, each in errors.items()}


def of_role(found: Iterable[Case], role: str, kinds: Iterable[str] = MODELLED) -> list[Case]:
    """The simulated cases of a role, of some kinds of time."""
    return [case for case in found if case.built and case.role == role and case.time_of in kinds]


def _summary(found: list[Case], numbers: Mapping[str, float]) -> str:
    """Predictions alone; then what was decided without timing, and what the constants were chosen with."""
    predicted, untimed, used = (of_role(found, role) for role in ROLES)
    count, median, high = summary(quantities(predicted, numbers).values())
    documents = {case.document for case in predicted}
    devices = sorted({str(case.data["device"]) for case in predicted})
    worst = max(predicted, key=lambda case: _error(case, numbers))
    right = sum(not each for each in quantities(untimed, numbers).values())
    others = summary(quantities(used, numbers).values())
    return (
        f"**Predicted: {count} quantities of {len(documents)} documents ({', '.join(devices)}) of which "
        f"nothing was used to choose a constant, a rule or a set-up: median error {median:.1%}, "
        f"90th percentile {high:.1%}; the farthest off is {worst.id}, {worst.measured:g} measured, "
        f"{numbers[worst.id]:g} simulated.**\n\n"
        f"Not predictions: {right} of {len(quantities(untimed, numbers))} quantities that are decided "
        f"without any timing are as measured; {others[0]} quantities of the documents that constants were "
        f"chosen with agree to {others[1]:.1%} in the median, {others[2]:.1%} at the 90th percentile. "
        "Firmware, hosts and compiled core code are not of the array and count in none of these figures."
    )


def _top(found: list[Case], numbers: Mapping[str, float]) -> str:
    rows = [f"| time of | {' | '.join(ROLES)} |", "|---|---|---|---|"]
    for kind in (*KINDS, "all that is modelled"):
        kinds = (kind,) if kind in KINDS else MODELLED
        told = (_told(quantities(of_role(found, role, kinds), numbers).values()) for role in ROLES)
        rows.append(f"| {f'`{kind}`' if kind in KINDS else kind} | {' | '.join(told)} |")
    known = spreads(found, bands())
    predicted = of_role(found, "prediction")
    for name in REPEATS:
        each = [case for case in predicted if repeats(case, known) == name]
        rows.append(f"| predictions: {name} | {_told(quantities(each, numbers).values())} | | |")
    built, documents = sum(case.built for case in found), len({case.document for case in found})
    points = len({(case.document, case.sweep) for case in found})
    sources = len({case.source for case in found})
    return (
        "\n".join(rows) + "\n\n"
        f"{len(found) + len(verdicts())} cases of {documents + 1} documents by {sources} sources: "
        f"{len(verdicts())} verdicts of designs, and {len(found)} cases of {points} quantities, the points "
        f"of a sweep being one; {built} of these and all verdicts are simulated. A row of "
        "[deviations.md](deviations.md) is "
        "named where one explains the difference.\n"
    )


def _by_document(found: list[Case], numbers: Mapping[str, float]) -> str:
    """The predictions of each document."""
    rows = ["## Predictions by document", "", "| document | device | quantities | median | farthest off |"]
    rows.append("|---|---|---|---|---|")
    predictions = of_role(found, "prediction")
    for document in dict.fromkeys(case.document for case in predictions):
        own = [case for case in predictions if case.document == document]
        count, median, _ = summary(quantities(own, numbers).values())
        worst = max(own, key=lambda case: _error(case, numbers))
        name = document.rstrip("/").rpartition("/")[2]
        far = f"{worst.id}, {_error(worst, numbers):.1%}"
        rows.append(
            f"| [{name}]({own[0].address}) | {own[0].data['device']} | {count} | {median:.1%} | {far} |"
        )
    return "\n".join([*rows, ""])


def _used() -> str:
    rows = ["## Documents that something was chosen with", "", "| document | what |", "|---|---|"]
    rows += [f"| {name} | {', '.join(what)} |" for name, what in sorted(USED.items())]
    return "\n".join([*rows, ""])


def _told(errors: Iterable[float]) -> str:
    count, median, high = summary(errors := list(errors))
    return f"{count}: median {median:.1%}, 90th percentile {high:.1%}" if errors else "-"


def _outliers(found: list[Case], numbers: Mapping[str, float]) -> str:
    far = [case for case in found if case.built and _error(case, numbers) > OUTLIER]
    far.sort(key=lambda case: -_error(case, numbers))
    known = spreads(found, bands())
    rows = [
        f"| {case.id} | {case.time_of} | {case.role} "
        f"| {_error(case, numbers):.0%} | {_spread(case, known, numbers)} | {lacks(case)} "
        f"| {', '.join(case.data['see'])} |"
        for case in far
    ]
    told = f"The {len(far)} cases that are off by more than {OUTLIER:.0%}, the farthest first."
    head = f"## Outliers\n\n{told}\n\n{SETTLED}"
    names = "case", "time of", "role", "error", "inside the spread", "what is missing", "see"
    return "\n".join([head, f"| {' | '.join(names)} |", "|---" * len(names) + "|", *rows, ""])


def _spread(case: Case, known: Mapping[str, Spread], numbers: Mapping[str, float]) -> str:
    """The spread of its repeats, and whether what is compared with it lies inside; or if it was repeated."""
    spread = known.get(case.id)
    if spread is None:
        return repeats(case, known)
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
        "| first sight | role | source |",
    ]
    rows.append("|---" * 11 + "|")
    ranges = bands()
    known = spreads(found, ranges)
    for case in found:
        if case.built:
            simulated = numbers[case.id]
            ratio = f"{simulated / case.measured:.3f}" if case.measured else "-"
            low, high = ranges[case.id]
            band = f"{low:g} to {high:g}" if low < high else ""
            model = f"{simulated:g}", band, _spread(case, known, numbers), ratio
            cells = [
                case.id,
                _what(case),
                case.time_of,
                _measured(case),
                *model,
                _first(case),
                case.role,
                _source(case),
            ]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _first(case: Case) -> str:
    """What the model gave when the case was recorded, and its error then."""
    value = case.data.get("first_sight")
    return "" if value is None else f"{value:g}, {error(case.measured, value):.1%}"


def _others(found: list[Case]) -> str:
    rows = ["## Recorded, not simulated", "", "| case | set-up and quantity | measured | why not | source |"]
    rows.append("|---|---|---|---|---|")
    for case in found:
        if not case.built:
            cells = [case.id, _what(case), _measured(case), case.data["not_simulated"], _source(case)]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _verdicts() -> str:
    """Designs that end or hang on Strix; ``test_verdicts`` runs each."""
    found = verdicts()
    rows = ["## Designs that end or hang", "", _VERDICTS.format(count=len(found)), ""]
    rows += ["| case | on silicon |", "|---|---|"]
    rows += [f"| {each['id']} | {'ends' if each['ends'] else 'hangs'} |" for each in found]
    return "\n".join([*rows, ""])


def _calls() -> str:
    """Published counts of kernel calls, and what their rule gives for those that validate it."""
    rows = cycle_counts()
    known, kept = ([row for row in rows if row.validates is side] for side in (False, True))
    given = [(row, predicted(row, known)) for row in kept]
    errors = [error(row.cycles, cycles) for row, cycles in given if cycles is not None]
    count, median, high = summary(errors)
    told = _CALLS.format(rows=len(rows), kept=len(kept), count=count, median=median, high=high)
    return "\n".join(["## Counts of kernel calls", "", told, ""])


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
