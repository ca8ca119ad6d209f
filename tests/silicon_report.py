"""The page of what was measured on silicon beside what the model gives, from recorded numbers."""

from __future__ import annotations

from collections.abc import Mapping

from silicon_rig import OUTLIER, VARIED, Case, bands, cases, error, recorded, summary

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

The band of a case is the lowest and the highest that the model gives when all constants with a likely or a
measured range are at one end of it, or at the other: {varied}.
What does not hang on them has none. Cycles of functions of the library (*kernels*) are lower bounds
(DEV-KERNEL-1): what compiled code adds is not in the model, and the line on top has them apart.
"""


def page() -> str:
    """The whole page."""
    found, numbers = cases(), recorded()
    head = HEAD.format(summary=_summary(found, numbers), varied=", ".join(f"`{name}`" for name in VARIED))
    parts = [head, _top(found, numbers), _outliers(found, numbers), _built(found, numbers), _others(found)]
    return "\n".join(parts)


def _summary(found: list[Case], numbers: Mapping[str, float]) -> str:
    """One line: the error of the half that validates."""
    told = []
    for name, kernels in (("cycles of the array", False), ("kernels", True)):
        errors = [
            _error(case, numbers)
            for case in found
            if case.built
            and not case.calibrates
            and case.data["unit"] == "cycles"
            and _kernel(case) == kernels
        ]
        count, median, high = summary(errors)
        told.append(f"{name} ({count} cases): median {median:.1%}, 90th percentile {high:.1%}")
    return f"**Error of the validation half: {'; '.join(told)}.**"


def _kernel(case: Case) -> bool:
    return bool(case.data["rig"]["name"] == "library_call")


def _top(found: list[Case], numbers: Mapping[str, float]) -> str:
    built = [case for case in found if case.built]
    rows = []
    for half in (False, True):
        for unit in ("cycles", ""):
            errors = [
                _error(case, numbers)
                for case in built
                if case.calibrates == half and (not unit or case.data["unit"] == unit)
            ]
            count, median, high = summary(errors)
            name = "Calibration" if half else "Validation"
            what = "cycle counts" if unit else "all quantities"
            rows.append(f"{name}, {what} ({count}): median {median:.1%}, 90th percentile {high:.1%}")
    sources = len({case.source for case in found})
    return (
        "**" + ". ".join(rows) + ".**\n\n"
        f"{len(found)} cases of {sources} sources, {len(built)} of them simulated. A row of "
        "[deviations.md](deviations.md) is named where one explains the difference.\n"
    )


def _outliers(found: list[Case], numbers: Mapping[str, float]) -> str:
    far = [case for case in found if case.built and _error(case, numbers) > OUTLIER]
    far.sort(key=lambda case: -_error(case, numbers))
    rows = [f"| {case.id} | {_error(case, numbers):.0%} | {', '.join(case.data['see'])} |" for case in far]
    head = (
        f"## Outliers\n\nThe {len(far)} cases that are off by more than {OUTLIER:.0%}, the farthest first.\n"
    )
    return "\n".join([head, "| case | error | see |", "|---|---|---|", *rows, ""])


def _built(found: list[Case], numbers: Mapping[str, float]) -> str:
    rows = [
        "## Simulated",
        "",
        "| case | set-up and quantity | measured | simulated | band | ratio | half | source |",
    ]
    rows.append("|---|---|---|---|---|---|---|---|")
    ranges = bands()
    for case in found:
        if case.built:
            simulated = numbers[case.id]
            ratio = f"{simulated / case.measured:.3f}" if case.measured else "-"
            half = "calibration" if case.calibrates else "validation"
            low, high = ranges[case.id]
            band = f"{low:g} to {high:g}" if low < high else ""
            model = f"{simulated:g}", band, ratio
            cells = [case.id, _what(case), _measured(case), *model, half, _source(case)]
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
