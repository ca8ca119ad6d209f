"""The page of what was measured on silicon beside what the model gives, from recorded numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from silicon_rig import KINDS, OUTLIER, VARIED, Case, bands, cases, error, recorded, summary

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
chosen with cases of either half. `firmware_push`, and what the rig takes for the external memory of Phoenix
(`external_latency` 249, `external_write_latency` 176, `external_egress_words` 256; the defaults stay
assumed), are fitted to cases that calibrate; so are the places of a core's accesses in its loop, which its
capture does not say.

What a case says depends on what its time is of, and errors of one kind say nothing of another one, so the
page has them apart. A case is of the first of these kinds that applies; its set-up and its quantity decide,
as its source has them, and nothing else does (`time_of` of the case):

- `count`: no time from one stamp to another but how many: events, words, runs, cycles in a state
- `host`: an operation of a transaction or of a host lies between the stamps. Firmware and host are not in the
  array; one run differs from the next by a third and more (DEV-HOST-2)
- `external`: the later stamp waits for external memory, of which the model has one latency and no DRAM
  (DEV-EXT-1)
- `kernel`: it waits for core code whose pace is not published. What the library has is a lower bound
  (DEV-KERNEL-1)
- `array`: it waits for nothing of these

The band of a case is the lowest and the highest that the model gives when all constants with a likely or a
measured range are at one end of it, or at the other: {varied}.
What does not hang on them has none.
"""


def page() -> str:
    """The whole page."""
    found, numbers = cases(), recorded()
    head = HEAD.format(summary=_summary(found, numbers), varied=", ".join(f"`{name}`" for name in VARIED))
    parts = [head, _top(found, numbers), _outliers(found, numbers), _built(found, numbers), _others(found)]
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
    """One line: the error of the half that validates."""
    told = []
    for kind in KINDS:
        count, median, high = summary(_errors(found, numbers, False, kind))
        told.append(f"{kind} ({count} cases): median {median:.1%}, 90th percentile {high:.1%}")
    return f"**Error of the validation half, by what the time is of: {'; '.join(told)}.**"


def _top(found: list[Case], numbers: Mapping[str, float]) -> str:
    built = [case for case in found if case.built]
    rows = ["| cases | validation | calibration |", "|---|---|---|"]
    for kind in KINDS:
        halves = [_told(_errors(found, numbers, half, kind)) for half in (False, True)]
        rows.append(f"| `{kind}` | {' | '.join(halves)} |")
    for name, unit in (("all cycle counts", "cycles"), ("all quantities", "")):
        halves = [
            _told(
                _error(case, numbers)
                for case in built
                if case.calibrates == half and (not unit or case.data["unit"] == unit)
            )
            for half in (False, True)
        ]
        rows.append(f"| {name} | {' | '.join(halves)} |")
    sources = len({case.source for case in found})
    return (
        "\n".join(rows) + "\n\n"
        f"{len(found)} cases of {sources} sources, {len(built)} of them simulated. A row of "
        "[deviations.md](deviations.md) is named where one explains the difference.\n"
    )


def _told(errors: Iterable[float]) -> str:
    count, median, high = summary(errors)
    return f"{count}: median {median:.1%}, 90th percentile {high:.1%}"


def _outliers(found: list[Case], numbers: Mapping[str, float]) -> str:
    far = [case for case in found if case.built and _error(case, numbers) > OUTLIER]
    far.sort(key=lambda case: -_error(case, numbers))
    rows = [
        f"| {case.id} | {case.time_of} | {'calibration' if case.calibrates else 'validation'} "
        f"| {_error(case, numbers):.0%} | {', '.join(case.data.get('see', []))} |"
        for case in far
    ]
    head = (
        f"## Outliers\n\nThe {len(far)} cases that are off by more than {OUTLIER:.0%}, the farthest first.\n"
    )
    return "\n".join([head, "| case | time of | half | error | see |", "|---|---|---|---|---|", *rows, ""])


def _built(found: list[Case], numbers: Mapping[str, float]) -> str:
    rows = [
        "## Simulated",
        "",
        "| case | set-up and quantity | time of | measured | simulated | band | ratio | half | source |",
    ]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    ranges = bands()
    for case in found:
        if case.built:
            simulated = numbers[case.id]
            ratio = f"{simulated / case.measured:.3f}" if case.measured else "-"
            half = "calibration" if case.calibrates else "validation"
            low, high = ranges[case.id]
            band = f"{low:g} to {high:g}" if low < high else ""
            model = f"{simulated:g}", band, ratio
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
