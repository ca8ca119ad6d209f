"""Tools that compare, plan and look up: ``diff``, ``plan``, ``docs`` and ``registers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Literal

from memtile.arch.tiles import Role
from memtile.errors import InputFileError
from memtile.runs.options import MAX_CYCLES, RunOptions

Answer = dict[str, Any]
Layer = Literal["gemm", "conv", "attention", "rows"]
Form = Literal["py", "iron", "mlir"]
SECONDS = 60.0
_SECTIONS, _BEGINNING = 6, 240  # sections of the pages in an answer, characters of each


def diff(
    first: str,
    second: str,
    settings: Mapping[str, Any] | None = None,
    second_settings: Mapping[str, Any] | None = None,
    device: str = "",
    kernels: str = "",
    max_cycles: int = MAX_CYCLES,
    seconds: float = SECONDS,
) -> Answer:
    """Say what changed from one design to another: cycles by cause and channel, output words, registers.

    `first` and `second` are paths: designs in Python or MLIR, which are run, records, programs of register
    writes, builds or dumps. `settings` are values of parameters of both, `second_settings` of the second
    alone; `device` is for files that leave it open, `kernels` a Python file with functions that MLIR calls.
    Each run ends after `max_cycles`, or after `seconds`.
    """
    from memtile.cli.diff import compared_file
    from memtile.explain.compare.comparison import compared

    of_run = RunOptions(max_cycles=max_cycles, progress=until(seconds))
    mine = [f"{name}={value}" for name, value in (settings or {}).items()]
    more = [f"{name}={value}" for name, value in (second_settings or {}).items()]
    sides = [
        compared_file(name, device=device, settings=its, given=(), kernels=kernels or None, options=of_run)
        for name, its in ((first, mine), (second, [*mine, *more]))
    ]
    found = compared(*sides)
    return {"good": True, "lines": [*found.lines()], **found.as_json()}


def plan(
    layer: Layer,
    sizes: Mapping[str, int | str] | None = None,
    device: str = "npu1",
    columns: int | None = None,
    by: str = "cycles,l2,bds",
    count: int = 8,
    write: Form | None = None,
    seconds: float = SECONDS,
) -> Answer:
    """Plan a layer: ways to cut it are estimated, the most promising ones simulated, and the best proved.

    `layer` is gemm, conv, attention or rows; `sizes` are its options as in `memtile plan LAYER --help`, such
    as {"m": 512, "n": 512, "k": 512, "dtype": "int8"}. `device`, and how many of its `columns`; `by` are
    figures, the first of which ranks; `count` candidates are simulated. `write` adds the text of the best
    design, as py, iron or mlir. It ends with an error if it is not done after `seconds`.
    """
    from memtile.explore.plan.planner import plan as planned

    end = monotonic() + seconds

    def watch(_row: object, done: int, total: int) -> None:
        if monotonic() > end:
            says = f"{done} of {total} candidates were simulated within {seconds:g} s"
            raise InputFileError(f"plan: {says}. Give more seconds, or a smaller count.")

    made = _layer(layer, sizes or {})
    found = planned(made, device=device, columns=columns, objectives=by, tried=count, watch=watch)
    answer = found.as_json()
    if write is not None and found.good:
        answer["text"] = {"py": found.source, "iron": found.iron, "mlir": found.mlir}[write](0)
    return answer


def _layer(name: Layer, sizes: Mapping[str, int | str]) -> Any:
    """The layer with these sizes.

    Raises:
        InputFileError: a size that it does not have.
    """
    from inspect import signature

    from memtile.cli import plan as commands

    make: Callable[..., Any] = getattr(commands, name)
    known = signature(make).parameters
    if unknown := [size for size in sizes if size not in known]:
        allowed = ", ".join(known)
        says = f"sizes has {unknown[0]!a}; a layer {name} has {allowed}"
        raise InputFileError(f"arguments of the tool: {says}.")
    return make(**{size: _option(commands, size, value) for size, value in sizes.items()})


def _option(commands: Any, name: str, value: int | str) -> Any:
    """A value as the command gets it: names of types and kinds are members of enums there."""
    kinds = {
        "dtype": (commands.MatrixType, commands.RowType),
        "pooling": (commands.Pooling,),
        "weights": (commands.Weights,),
        "what": (commands.What,),
    }
    for kind in kinds.get(name, ()):
        if value in [*kind]:
            return kind(value)
    if name in kinds:
        allowed = ", ".join(dict.fromkeys(each.value for kind in kinds[name] for each in kind))
        raise InputFileError(
            f"arguments of the tool: sizes[{name!r}] is {value!a}; it must be one of {allowed}."
        )
    return value


def docs(query: str = "", page: str = "", heading: str = "") -> Answer:
    """Search the documentation, or read a page of it.

    With `query`, words: the sections that fit best, each with its page, heading and beginning. With `page`,
    such as "sweep.md": its headings, or the text of one `heading`.
    """
    from memtile.cli.agents.page_search import found, sections

    if bool(query) == bool(page):
        raise InputFileError("arguments of the tool: give query or page, one of them.")
    if query:
        parts = found(query, _SECTIONS)
        return {
            "good": bool(parts),
            "sections": [
                {
                    "page": each.page,
                    "heading": each.heading,
                    "text": each.row_of(query) or each.text[:_BEGINNING],
                }
                for each in parts
            ],
        }
    page = page if page.endswith(".md") else f"{page}.md"
    of_page = [each for each in sections() if each.page == page]
    if not of_page:
        pages = ", ".join(dict.fromkeys(each.page for each in sections()))
        raise InputFileError(f"arguments of the tool: page is {page!a}; there are {pages}.")
    if not heading:
        return {"page": page, "headings": [each.heading for each in of_page], "text": of_page[0].text}
    chosen = [each for each in of_page if each.heading.lower() == heading.lower()]
    if not chosen:
        there = "; ".join(each.heading for each in of_page)
        raise InputFileError(f"arguments of the tool: heading is {heading!a}; {page} has {there}.")
    return {"page": page, "heading": chosen[0].heading, "text": chosen[0].text}


def registers(query: str, device: str = "", tile: Role | None = None) -> Answer:
    """Look up registers, events and stream ports: fields with bits, reset, access, what an access does.

    `query` is a name or a part of one (DMA_S2MM_0_Ctrl, lock0), an event or port by number ("event 77",
    "slave 3"), or an address: the offset in a tile ("0xA0604"), or column << 25 | row << 20 | offset.
    `device` is npu1 unless another is given; `tile` is memory, compute or interface.
    """
    from memtile.arch.devices import device as device_of
    from memtile.report.register_lookup import look_up

    return {"good": True, **look_up(query, device_of(device) if device else None, tile).as_json()}


def until(seconds: float) -> Callable[[int], None]:
    """What ends a run as Ctrl-C does, once the time is over."""
    end = monotonic() + seconds

    def look(_done: int) -> None:
        if monotonic() > end:
            raise KeyboardInterrupt

    return look
