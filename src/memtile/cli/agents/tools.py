"""The tools: each is a command, over the same functions, and answers with data.

Their docstrings are what an agent reads to choose one; the schema of their arguments is made from the types.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from memtile.arch.dispatch import Dispatch
from memtile.arch.tiles import TileName
from memtile.cli.agents.design_answers import design_explained
from memtile.cli.agents.graph_answers import graph_answer, graph_explained, graph_options
from memtile.cli.agents.lookup_tools import SECONDS, Answer, diff, docs, plan, registers, until
from memtile.cli.agents.short_answers import run_answer
from memtile.cli.agents.tool_arguments import Kind, given_file
from memtile.cli.graph_file import is_graph
from memtile.cli.iron_program import is_iron
from memtile.cli.kernel_sources import CPP_SUFFIXES
from memtile.errors import InputFileError
from memtile.runs.options import MAX_CYCLES, RunOptions

_KINDS = {".py": "a design in Python", ".mlir": "a design in MLIR"}
_KINDS |= dict.fromkeys(CPP_SUFFIXES, "a graph in C++")
_GRAPH = ("settings", "device", "include", "in_folder", "costs")
_ARRAYS = ("inputs", "expect", "tolerance")
_USED = {".py": ("settings",), ".mlir": ("settings", "kernels", "dispatch", *_ARRAYS)}
_USED |= dict.fromkeys(CPP_SUFFIXES, _GRAPH)
_OF_IRON = ("settings", "dispatch", *_ARRAYS)
_OTHERS = ("kernels", "dispatch", *_ARRAYS)  # that a program of register writes has a use for

Launched = Literal["xclbin", "elf"]
MOST_ELEMENTS = 4096


def check(
    path: str = "",
    text: str = "",
    kind: Kind | None = None,
    device: str = "",
    settings: Mapping[str, Any] | None = None,
    include: str = "",
) -> Answer:
    """Say what is wrong with a design before it runs: budgets, circuits, locks, lengths, shared memory.

    Nothing is run, so it is quick; what depends on data or time is found by `run`. Give `path`, a .py file
    with design() or a program of IRON, a .mlir file, a .cpp file with the graph and main of UG1603, a
    file of register writes or a build folder; or `text`, of the `kind` py, mlir or txt if it does not
    show. `device`, such as npu1 or npu2, is for files that leave it open. `settings` are values of
    arguments of design(), or of options and CompileTime parameters of a program; of MLIR, parameters of
    its scratchpad; of a graph, macros, and `include` is a folder of its headers. The answer has for each
    design its findings: code, severity, message, sides, fix.
    """
    from memtile.cli.check import checked
    from memtile.cli.kernel_sources import KernelSources

    with given_file(path, text, kind) as file:
        _fit(file.name, settings=settings, include=include)
        sources = KernelSources(include=[include] if include else None)
        results = checked([file.name], device, _settings(settings), sources)
        answers = [each.as_json() for each in results]
        return dict(file.said({"good": all(each.good for each in results), "designs": answers}))


def run(
    path: str = "",
    text: str = "",
    kind: Kind | None = None,
    device: str = "",
    settings: Mapping[str, Any] | None = None,
    kernels: str = "",
    inputs: Mapping[str, str] | None = None,
    expect: Mapping[str, str] | None = None,
    tolerance: float = 0.0,
    dispatch: Launched | None = None,
    races: bool = True,
    max_cycles: int = MAX_CYCLES,
    seconds: float = SECONDS,
    whole: bool = False,
    include: str = "",
    in_folder: str = "",
    costs: Mapping[str, int] | None = None,
) -> Answer:
    """Run a design on the twin: cycles, where they went, words that came out, and why it hangs if it does.

    The design is given by `path` or by `text` and `kind`, with `device` and `settings`, as for `check`.
    `kernels` is a Python file with what cores do, or with functions that their MLIR calls. `inputs` are
    arrays, NAME or number of the argument -> path of a .npy file; those that are missing are zeros. `expect`
    are those that must come out, likewise, bit by bit or floats within `tolerance`; a design in Python has
    its own. `dispatch` is what the host launches, xclbin or elf, which decides how fast tasks come and
    whether some are lost; without it the build or RUN: lines of the text say it, else the device, and
    `launch` of the answer has which it was and why. Of a graph in C++ main is run, with `include` and
    `settings` as for `check`; its input files are in `in_folder`, else below the root or beside it, and
    `costs` are cycles of a call, kernel or function -> cycles, of kernels whose cycles are not known. Its
    answer names kernels and ports: what waits, what is missing, and `lines`, which the command prints.
    `races` also looks for accesses to memory that nothing orders, and costs time. The run ends after
    `max_cycles`, or after `seconds` with status interrupted. `whole` answers with all that `memtile run
    --json` writes.
    """
    from memtile.cli.run_program import launch_data
    from memtile.cli.runnable import load_beside
    from memtile.explore.suite.arrays import against, read_expected

    arrays = [f"{name}={file}" for name, file in (inputs or {}).items()]
    with given_file(path, text, kind) as file:
        more = {"kernels": kernels, "inputs": inputs, "expect": expect, "tolerance": tolerance}
        more |= {"dispatch": dispatch}
        _fit(file.name, settings=settings, include=include, in_folder=in_folder, costs=costs, **more)
        if is_graph([file.name]):
            of_run = RunOptions(max_cycles=max_cycles, check=races, progress=until(seconds))
            graph = graph_options(device, include, in_folder, costs)
            return graph_answer(file.name, graph, _settings(settings), of_run, whole=whole)
        launched = Dispatch(dispatch) if dispatch else None
        right = {name: read_expected(each) for name, each in (expect or {}).items()}
        how: dict[str, Any] = {"settings": _settings(settings), "kernels": kernels or None, "given": arrays}
        design = load_beside(file.name, device=device, expected=right, **how)
        done = design.run(max_cycles=max_cycles, check=races, dispatch=launched, progress=until(seconds))
        done = against(done, right, tolerance)
        answer = done.result.as_json() if whole else run_answer(done.result, design.words(done))
        return dict(file.said({**answer, "launch": launch_data(done)}))


def explain(
    dump: str = "",
    graph: str = "",
    design: str = "",
    device: str = "",
    kernels: str = "",
    settings: Mapping[str, Any] | None = None,
    include: str = "",
    in_folder: str = "",
    costs: Mapping[str, int] | None = None,
    max_cycles: int = MAX_CYCLES,
    seconds: float = SECONDS,
) -> Answer:
    """Say why a dead array does not go on, from a dump of memories and registers, or what limits a design.

    `dump` is the path of a coredump of XRT or of a register dump as text or JSON, `device` what it is of.
    With the path of the `design` that ran, it is run here too and the names are its own; `kernels` and
    `settings` are those of `run`. A `design` without a dump, in Python, IRON or MLIR, is run:
    why it is stuck, or what limits it, with in `lifted` the cycles without each limit. Or give `graph`, a
    graph in C++, which is run with `settings`, `include`,
    `in_folder`, `costs`, `max_cycles` and `seconds` as by `run`: the answer says why it is stuck, or what
    limits it: `bound`, the work of its `kernels`, buffers that are waited for, and in `lifted` the cycles
    without each limit.
    """
    from memtile.cli.explain import report_of

    if design and not dump and not graph:
        _fit(design, kernels=kernels, settings=settings, include=include, in_folder=in_folder, costs=costs)
        of_run = RunOptions(max_cycles=max_cycles, progress=until(seconds))
        with given_file(design, "", "txt") as file:
            return design_explained(file.name, device, kernels, _settings(settings), of_run, seconds)
    if bool(dump) == bool(graph):
        raise InputFileError("arguments of the tool: give dump or graph, one of them.")
    if graph and not is_graph([graph]):
        says = f"graph is {graph!a}; it must be a C++ source"
        raise InputFileError(f"arguments of the tool: {says}. Give the one that has main, or a dump.")
    of_graph = {"include": include, "in_folder": in_folder, "costs": costs}
    with given_file(dump or graph, "", "txt") as file:
        if graph:
            _fit(graph, kernels=kernels, design=design)
            of_run = RunOptions(max_cycles=max_cycles, progress=until(seconds))
            chosen = graph_options(device, include, in_folder, costs)
            return graph_explained(file.name, chosen, _settings(settings), of_run, seconds)
        _refuse("a dump", [name for name, given in of_graph.items() if given])
        how: dict[str, Any] = {"settings": _settings(settings), "kernels": kernels or None}
        found = report_of(file.name, design or None, device=device, **how).as_json()
    return dict(found)


def sweep(
    path: str = "",
    text: str = "",
    kind: Kind | None = None,
    vary: Mapping[str, str | list[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    by: str = "cycles",
    count: int | None = None,
    seed: int = 0,
    device: str = "",
    include: str = "",
    in_folder: str = "",
    costs: Mapping[str, int] | None = None,
    races: bool = False,
    max_cycles: int = MAX_CYCLES,
    seconds: float = SECONDS,
) -> Answer:
    """Try variants of a design and compare them: values of its parameters, or macros of a graph in C++.

    Give `path`, or `text` and its `kind`. Parameters are arguments of design(); of a program of
    IRON options and CompileTime parameters; of MLIR the device and parameters of the scratchpad. `vary` has
    the values, NAME -> [8, 16, 32], "8,16,32", "1..8" or
    "16..128:16", also of timing constants (timing.NAME); of design(), all arguments whose
    annotations say their values if it is left out. `settings` are not varied. All variants are tried, or
    `count` by chance with a `seed`. `by` are figures, the first of which ranks: "cycles,l2,bds". `device`,
    `include`, `in_folder` and `costs` are for graphs, as for `run`; with `races` a race makes a variant
    infeasible, and each run ends after `max_cycles`. A variant may take a third of `seconds`, and none is
    begun after a third of them. The answer has the good variants, best first, the Pareto `front`, and the
    infeasible ones with the reason of each.
    """
    from memtile.cli.agents.sweep_answers import sweep_answer
    from memtile.cli.graph_file import swept

    with given_file(path, text, kind) as file:
        of_graph = {"device": device, "include": include, "in_folder": in_folder, "costs": costs}
        _fit(file.name, settings=settings, **of_graph)
        subject = swept([file.name], graph_options(device, include, in_folder, costs))
        of_run = RunOptions(max_cycles=max_cycles, check=races)
        found = sweep_answer(subject, _vary(vary), settings or {}, by, (count, seed), of_run, seconds)
        return dict(file.said(found))


def lower(
    tiling: dict[str, Any] | list[dict[str, Any]] | None = None,
    memref: Any = "",
    tile: TileName | None = None,
    access: Literal["read", "write"] | None = None,
    elements: bool = False,
) -> Answer:
    """Turn an order of elements into the fewest buffer descriptors that do exactly that, with proof.

    `tiling` is one object, or a list: buffer_dimension, tiling_dimension, offset, tile_traversal
    [{dimension, stride, wrap}, ...] innermost first, boundary_dimension, element_bits (32 unless given);
    all in elements. Or `memref`, the type of MLIR: "memref<4x8xi32, strided<[16, 1], offset: 3>>". `tile` is
    memory, compute or interface, `access` read (MM2S) or write (S2MM). The answer has for each the
    descriptors, words, and a text; `elements` adds the first 4096 indices of the stream.
    """
    from memtile.access.tiling_cases import tilings_of
    from memtile.cli.lower import given_tiling

    if not isinstance(memref, str):
        says = "memref is an object; it must be the text of an MLIR type"
        raise InputFileError(
            f'arguments of the tool: {says}. Write "memref<4x8xi32, strided<[16, 1], offset: 3>>".'
        )
    from memtile.report.lowering import answer

    items, _ = tilings_of(given_tiling(tiling, memref or None))
    override = {"tile": tile, "access": access}
    found = [answer(item, n, **override) for n, item in enumerate(items, 1)]
    answers = [_lowered(each, elements) for each in found]
    return {"good": all(each.lowering is not None for each in found), "answers": answers}


def descriptor(
    words: list[int | str] | None = None,
    fields: dict[str, Any] | None = None,
    tile: TileName = "memory",
    bd: int = 0,
) -> Answer:
    """Turn a buffer descriptor into register words, or say what register words do.

    Give `words`, word 0 first, as numbers or "0x..." of BD number `bd` of a `tile`; or `fields`: tile, bd,
    length and address in words, dims [[step, wrap], ...], pad, iteration, next, acquire, release, packet. The
    answer has both forms, sentences, pictures of the order of accesses, and what is not legal.
    """
    from memtile.bd.descriptor_cases import hex_words, parse_words, words_of_case
    from memtile.report.lowering import explained_json

    if (words is None) == (fields is None):
        raise InputFileError("arguments of the tool: give words or fields, one of them.")
    if fields is not None:
        given = {"tile": tile, "bd": bd, **fields}
        case = parse_words({**given, "words": hex_words(words_of_case(given))})
    else:
        case = parse_words({"tile": tile, "bd": bd, "words": words})
    found = explained_json(case)
    return {"good": not found["problems"], **found}


def limits(device: str = "", timing: bool = False) -> Answer:
    """Sizes and limits of a device and its tile kinds: memory, banks, channels, BDs, locks, field ranges.

    `device` is npu1, npu2, ...; empty = all. `timing` adds the timing constants with their grades: which are
    measured and which are assumed.
    """
    from memtile.arch.timing import constants
    from memtile.cli.info import tables

    found = tables(device or None)
    return {**found, "timing": constants()} if timing else found


def _fit(name: str, **given: object) -> None:
    """Refuse arguments that the kind of a design has no use for.

    Raises:
        InputFileError: inputs, kernels or a dispatch of a design in Python, settings of a program.
    """
    suffix = Path(name).suffix
    used = _OF_IRON if is_iron(name) else _USED.get(suffix, _OTHERS)
    wrong = [each for each, value in given.items() if value and each not in used]
    what = "a program of IRON" if is_iron(name) else _KINDS.get(suffix, "a program of register writes")
    _refuse(what, wrong)


def _refuse(kind: str, wrong: Iterable[str]) -> None:
    """Refuse arguments that something has no use for.

    Raises:
        InputFileError: which they are.
    """
    if names := " and ".join(wrong):
        raise InputFileError(f"arguments of the tool: {kind} has no use for {names}. Leave it out.")


def _settings(given: Mapping[str, Any] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (given or {}).items()]


def _vary(given: Mapping[str, str | list[Any]] | None) -> dict[str, str]:
    """Values to vary as the command takes them."""
    return {
        name: values if isinstance(values, str) else ",".join(map(str, values))
        for name, values in (given or {}).items()
    }


def _lowered(found: Any, elements: bool) -> Answer:
    from rich.console import Console

    from memtile.bd.codec import encode
    from memtile.bd.descriptor_cases import hex_words
    from memtile.report.lowering import print_answer

    text = io.StringIO()
    print_answer(found, Console(file=text, width=110, color_system=None))
    answer = {"name": found.name, **found.as_json(elements=False), "text": text.getvalue()}
    if found.lowering is not None:
        answer["words"] = [hex_words(encode(each, bd)) for bd, each in enumerate(found.chain)]
    if elements and found.elements is not None:
        answer["elements"] = found.elements[:MOST_ELEMENTS].tolist()
        answer["elements_in_all"] = len(found.elements)
    return answer


TOOLS: tuple[Callable[..., Answer], ...] = (
    check, run, explain, sweep, plan, diff, lower, descriptor, limits, registers, docs,
)  # fmt: skip
"""All of them, in the order in which an agent sees them."""
MODELS = {"check", "run", "explain", "sweep", "plan", "diff"}
"""Names of those that need the compiled engine."""
