"""The tools: each is a command, over the same functions, and answers with data.

Their docstrings are what an agent reads to choose one; the schema of their arguments is made from the types.

It also has results of commands as short answers: what an agent needs, and no more.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from memtile.arch.dispatch import Dispatch
from memtile.arch.tiles import TileName
from memtile.cli.agents.tool_arguments import Kind, given_file
from memtile.cli.graph_file import GraphOptions, is_graph
from memtile.cli.kernel_sources import CPP_SUFFIXES
from memtile.errors import InputFileError
from memtile.runs.options import MAX_CYCLES, RunOptions

if TYPE_CHECKING:
    from memtile.explain.results import Result

_KINDS = {".py": "a design in Python", ".mlir": "a design in MLIR"}
_KINDS |= dict.fromkeys(CPP_SUFFIXES, "a graph in C++")
LINES = 60
"""Of a list that has no end of its own; what is left out is said."""
FINDINGS = 20
WORDS = 16
"""First words of an output."""


def shortened(lines: Sequence[Any], most: int = LINES) -> list[Any]:
    """The first of them, and how many are left out."""
    rest = len(lines) - most
    return [*lines] if rest <= 0 else [*lines[:most], f"... and {rest} more"]


def run_answer(result: Result, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """A run in short: how it ended, what is wrong, where its cycles went, the first words of its outputs."""
    whole = result.as_json()
    kept = ("status", "cycles", "bit_exact", "bytes_per_cycle", "bound", "errors", "unsimulated")
    return {
        "good": result.good,
        **{key: whole[key] for key in kept},
        "findings": shortened(whole["findings"], FINDINGS),
        "waiting": shortened(whole["waiting"]),
        "resting": shortened(whole["resting"], 8),
        "checks": shortened([check for check in whole["checks"] if not check["exact"]], 8),
        "channels": shortened([_busy(channel) for channel in whole["channels"]]),
        "cores": shortened([_busy(core) for core in whole["cores"]]),
        "outputs": {name: _array(array) for name, array in arrays.items()},
        "assumed": whole["assumed"],
        "parameters": whole["parameters"],
    }


def _busy(row: Mapping[str, Any]) -> dict[str, Any]:
    """A channel or core with the causes that it had."""
    spent = row["cycles"] or {}
    left = {key: value for key, value in row.items() if value not in ("", [], None) and key != "cycles"}
    return {**left, "cycles": {cause: cycles for cause, cycles in spent.items() if cycles}}


def _array(array: Any) -> dict[str, Any]:
    flat = array.reshape(-1)
    first = [each if isinstance(each, int | float) else str(each) for each in flat[:WORDS].tolist()]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "first": first}


Answer = dict[str, Any]
Launched = Literal["xclbin", "elf"]
SECONDS = 60.0
MOST_ELEMENTS = 4096


def check(
    path: str = "",
    text: str = "",
    kind: Kind = "py",
    device: str = "",
    settings: Mapping[str, Any] | None = None,
    include: str = "",
) -> Answer:
    """Say what is wrong with a design before it runs: budgets, circuits, locks, lengths, shared memory.

    Nothing is run, so it is quick; what depends on data or time is found by `run`. Give `path`, a .py file
    with design(), a .mlir file, a .cpp file with the graph and main of UG1603, a file of register writes or
    a build folder; or `text` of the `kind` py,
    mlir or txt. `device`, such as npu1 or npu2, is for files that leave it open. `settings` are values of
    arguments of design(); of MLIR, parameters of its scratchpad; of a graph, macros, and `include` is a
    folder of its headers. The answer has for each design its findings: code, severity, message, sides, fix.
    """
    from memtile.cli.check import checked
    from memtile.cli.kernel_sources import KernelSources

    with given_file(path, text, kind) as file:
        _fit(Path(file.name).suffix, settings=settings, include=include)
        sources = KernelSources(include=[include] if include else None)
        results = checked([file.name], device, _settings(settings), sources)
        answers = [each.as_json() for each in results]
        for each in answers:
            each["findings"] = shortened(each["findings"], FINDINGS)
        return dict(file.said({"good": all(each.good for each in results), "designs": answers}))


def run(
    path: str = "",
    text: str = "",
    kind: Kind = "py",
    device: str = "",
    settings: Mapping[str, Any] | None = None,
    kernels: str = "",
    inputs: Mapping[str, str] | None = None,
    dispatch: Launched | None = None,
    races: bool = True,
    max_cycles: int = MAX_CYCLES,
    seconds: float = SECONDS,
    whole: bool = False,
    include: str = "",
) -> Answer:
    """Run a design on the twin: cycles, where they went, words that came out, and why it hangs if it does.

    The design is given by `path` or by `text` and `kind`, with `device` and `settings`, as for `check`.
    `kernels` is a Python file with what cores do, or with functions that
    their MLIR calls. `inputs` are arrays, NAME or number of the argument -> path of a .npy file; those that
    are missing are zeros. `dispatch` is what the host launches, xclbin or elf, which decides how fast tasks
    come and whether some are lost; without it the build or RUN: lines of the text say it, else the device,
    and `launch` of the answer has which it was and why. Of a graph in C++ main is run; its input files are
    below the root or beside it, `include` has its headers, and the answer its ports and missing input.
    `races` also looks for accesses to memory that nothing orders, and costs time. The run ends after
    `max_cycles`, or after `seconds` with status interrupted. `whole` answers with all that `memtile run
    --json` writes.
    """
    from memtile.cli.run_program import launch_data
    from memtile.cli.runnable import load_beside

    arrays = [f"{name}={file}" for name, file in (inputs or {}).items()]
    with given_file(path, text, kind) as file:
        more = {"kernels": kernels, "inputs": inputs, "dispatch": dispatch, "include": include}
        _fit(Path(file.name).suffix, settings=settings, **more)
        if is_graph([file.name]):
            of_run = RunOptions(max_cycles=max_cycles, check=races, progress=_until(seconds))
            return dict(file.said(_graph_answer(file.name, device, settings, include, of_run, whole=whole)))
        launched = Dispatch(dispatch) if dispatch else None
        design = load_beside(
            file.name,
            device=device,
            settings=_settings(settings),
            kernels=kernels or None,
            given=arrays,
        )
        done = design.run(max_cycles=max_cycles, check=races, dispatch=launched, progress=_until(seconds))
        answer = done.result.as_json() if whole else run_answer(done.result, design.words(done))
        return dict(file.said({**answer, "launch": launch_data(done)}))


def explain(
    dump: str,
    design: str = "",
    device: str = "",
    kernels: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Answer:
    """Say why a dead array does not go on, from a dump of its memories and registers.

    `dump` is the path of a coredump of XRT or of a register dump as text or JSON, `device` what it is of.
    With the path of the `design` that ran, it is run here too and the names are its own; `kernels` and
    `settings` are those of `run`.
    """
    from memtile.cli.explain import report_of

    with given_file(dump, "", "txt") as file:
        how: dict[str, Any] = {"settings": _settings(settings), "kernels": kernels or None}
        found = report_of(file.name, design or None, device=device, **how).as_json()
    return {key: shortened(value) if isinstance(value, list) else value for key, value in found.items()}


def lower(
    tiling: dict[str, Any] | list[dict[str, Any]] | None = None,
    memref: str = "",
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
    from memtile.report.lowering import answer

    items, _ = tilings_of(given_tiling(tiling, memref or None))
    override = {"tile": tile, "access": access}
    found = [answer(item, n, **override) for n, item in enumerate(items, 1)]
    answers = [_lowered(each, elements) for each in found]
    return {"good": all(each.lowering is not None for each in found), "answers": shortened(answers)}


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


def _fit(suffix: str, **given: object) -> None:
    """Refuse arguments that the kind of a design has no use for.

    Raises:
        InputFileError: inputs, kernels or a dispatch of a design in Python, settings of a program.
    """
    of_graph = ("kernels", "inputs", "dispatch")
    unused: dict[str, tuple[str, ...]] = {".py": (*of_graph, "include"), ".mlir": ("include",)}
    unused |= dict.fromkeys(CPP_SUFFIXES, of_graph)
    wrong = [name for name in unused.get(suffix, ("settings", "include")) if given.get(name)]
    if wrong:
        kinds = _KINDS.get(suffix, "a program of register writes")
        raise InputFileError(
            f"arguments of the tool: {kinds} has no use for {' and '.join(wrong)}. Leave it out."
        )


def _graph_answer(
    file: str,
    device: str,
    settings: Mapping[str, Any] | None,
    include: str,
    of_run: RunOptions,
    *,
    whole: bool,
) -> Answer:
    """The run of a graph in C++ in short, or all that ``memtile run --json`` writes."""
    from memtile.cli.run_graph import ShownRun

    options = GraphOptions(include=[include] if include else None, device=device or None)
    graph = options.program([file], settings=_settings(settings), beside=True, of_run=of_run)
    done = graph.run(of_run)
    shown = ShownRun(graph.options.device, done, ()).as_json()
    if whole or done.result is None:
        return shown
    kept = ("good", "code", "iterations", "ports", "missing", "unfinished", "waits", "notes")
    return {**run_answer(done.result, done.outputs), **{name: shown[name] for name in kept}}


def _settings(given: Mapping[str, Any] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (given or {}).items()]


def _until(seconds: float) -> Callable[[int], None]:
    """What ends a run as Ctrl-C does, once the time is over."""
    end = monotonic() + seconds

    def look(_done: int) -> None:
        if monotonic() > end:
            raise KeyboardInterrupt

    return look


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


TOOLS: tuple[Callable[..., Answer], ...] = (check, run, explain, lower, descriptor, limits)
"""All of them, in the order in which an agent sees them."""
MODELS = {"check", "run", "explain"}
"""Names of those that need the compiled engine."""
