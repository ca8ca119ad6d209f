"""Calls of the readers of outside data, as the commands make them."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adversary.changes import folder, placed
from adversary.conversation import answers
from memtile import Array
from memtile.errors import InputFileError, MemtileError
from support.mutated import mutated_arrays, mutated_bytes, mutated_dumps

MAX_CYCLES = 2_000


def program(name: str, data: bytes) -> object:
    """A file of register writes, listed and run."""
    mutated_bytes.look(name, data)
    return mutated_bytes.run(name, data)


def mlir(data: bytes) -> object:
    """A design of mlir-aie: loaded, checked, and run on zeros."""
    from memtile.importers.design import load
    from memtile.importers.mlir.token_packets import Text
    from support.mutated.mutated_runs import Everything, _arguments

    text = Text("d.mlir", data.decode("utf-8", "replace"))
    with contextlib.redirect_stdout(io.StringIO()):
        design, chosen = _load(load, text, functions=Everything())
        _checked(text, chosen)
        if design.sequence is None:
            return design
        return str(design.run(*_arguments(design), pad_arguments=True, max_cycles=MAX_CYCLES).result)


def _load(load: Any, text: Any, **more: Any) -> tuple[Any, str | None]:
    """What is loaded, and the device that was said: npu1, or that of the text where it is another."""
    try:
        return load(text, device="npu1", **more), "npu1"
    except InputFileError as error:
        if "device" not in str(error):
            raise
        return load(text, **more), None


def _checked(text: Any, device: str | None) -> None:
    from memtile.check.check import check
    from memtile.check.checked_program import of_mlir
    from memtile.importers.design import load_still
    from support.mutated.mutated_runs import Everything

    def made() -> Any:
        return of_mlir(load_still(text, device=device, functions=Everything()))

    found = check("d.mlir", made)
    str(found), json.dumps(found.as_json())


def iron(data: bytes) -> object:
    """A program of IRON."""
    from memtile.iron.program_design import ProgramDesign

    path = placed(data, "program.py")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return ProgramDesign(str(path), (), "npu1")()


def compiled(data: bytes) -> object:
    """A compiled design of IRON."""
    from memtile.iron.compiled_design import read_compiled

    path = placed(data, "design.xclbin")
    found = read_compiled(path)
    written = folder() / "again.xclbin", folder() / "again.bin"
    found.write(*written)
    return repr(found), found.build_line, read_compiled(*written)


def graph(data: bytes) -> object:
    """The description of a graph, judged and placed."""
    from memtile.adf.description import read
    from memtile.adf.planning import plan_of
    from memtile.adf.verdict.judge import amd_verdicts

    description = read(data, "graph.json")
    amd_verdicts(description, "xcve2802")
    return plan_of(description, "xcve2802")


def archive(data: bytes) -> object:
    """A saved array, loaded and run on."""
    return mutated_arrays.look(placed(data, "array.npz"))


def log(data: bytes) -> object:
    """The log of a sweep, shown and replayed."""
    from support.mutated import mutated_logs

    return mutated_logs.look(placed(data, "read.parquet"), folder())


def dump(data: bytes) -> object:
    """A coredump, explained."""
    return mutated_dumps.look(placed(data, "read.dump"))


def trace(data: bytes) -> object:
    """A trace, decoded into all its forms."""
    from memtile.io.trace import trace_names as names
    from memtile.io.trace.decoder import decode
    from memtile.io.trace.trace_packets import read_words
    from memtile.sheet import stdout_console

    found = decode(read_words(data, "trace", None), "trace")
    units = names.named(found, [], 0, {})
    names.trace_csv(units, 1000), json.dumps(names.trace_json(found, units, 1000))
    names.chrome_json(units, 1000), names.trace_title(found, 1000)
    with contextlib.redirect_stdout(io.StringIO()):
        stdout_console().print(names.trace_table(units, 1000))
    return [problem.message for problem in (*found.problems, *names.unplaced(units, "trace"))]


def array(data: bytes) -> object:
    """A NumPy file."""
    from memtile.io.npy import array_of

    return array_of(data, "in.npy")


def cycles(data: bytes) -> None:
    """The JSON of a trace, for cycles of calls."""
    from memtile.iron.utils.trace import utils

    file = str(placed(data, "trace.json"))
    for each in (utils.get_cycles, utils.get_cycles_summary, utils.get_vector_time):
        each(file)


def descriptors(data: bytes) -> None:
    """Buffer descriptors as JSON, turned into words and back, and explained."""
    import typer

    from memtile.cli import bd

    file = str(placed(data, "bds.json"))
    with contextlib.redirect_stdout(io.StringIO()):
        for command in (bd.encode, bd.decode, bd.explain):
            with contextlib.suppress(MemtileError, typer.Exit, typer.BadParameter):
                command([file] if command is bd.explain else file)


def tilings(data: bytes) -> object:
    """Tilings as JSON, or in C++ text, lowered."""
    from memtile.access.tiling_cases import tilings_of
    from memtile.cli.lower import _given
    from memtile.report.lowering import answer

    file = str(placed(data, "tilings.json" if data[:1] in b"[{" else "tilings.h"))
    items, _ = tilings_of(_given(file, None, None, None))
    return [answer(each, n).as_json() for n, each in enumerate(items)]


def lines(data: bytes) -> object:
    """What a client sends to ``memtile serve``."""
    return answers(data, Array("npu1", 1), lambda what: what.encode())


class _Silent:
    """A connection of which only the answers count."""

    def sendall(self, data: bytes) -> None:
        """Say nothing."""


def served(data: bytes) -> object:
    """What a server answers to ``memtile explain --server``."""
    from memtile.explain.dump.report import ServedReport
    from memtile.hosts.register_client import _read
    from memtile.hosts.server_requests import read_answer

    if data.startswith(b"0"):
        return list(_read(_Silent(), io.BytesIO(data), range(0, 16, 4), "localhost:1"))  # type: ignore[arg-type]
    rest = io.BytesIO(data)
    try:
        known = read_answer(rest.readline(), rest)
    except EOFError:
        return None
    if known is None or not known[0]:
        return known
    found = ServedReport.read(known[1], "server localhost:1")
    return [*found.lines()], json.dumps(found.as_json())


def kernel(data: bytes) -> object:
    """A compiled kernel: its functions and their parameters."""
    from memtile.cpp.parameter_types import signatures_of
    from memtile.cpp.symbols import functions_of, linkage

    path = placed(data, "kernels.so")
    with contextlib.suppress(MemtileError):  # the next ones read other tables
        functions_of(path), linkage(path)
    return signatures_of(path)


def plio(data: bytes) -> object:
    """The text of a PLIO, as numbers of two kinds."""
    from memtile.io.plio_text import read_plio

    path = placed(data, "in.txt")
    return [read_plio(path, *kind) for kind in (("int16", 64), ("float", 32))]


def plio_csv(data: bytes) -> object:
    """The table of a PLIO."""
    from memtile.io.plio_csv import read_plio_csv

    return read_plio_csv(placed(data, "in.csv"), "int32", 64)


def settings(data: bytes) -> object:
    """The settings of a suite."""
    from memtile.explore.suite.settings import read_settings

    return read_settings(placed(data, "memtile.toml"))


def baseline(data: bytes) -> object:
    """A baseline of a suite, as JSON or TOML."""
    from memtile.explore.suite.baseline import other_version, read_baseline

    path = placed(data, "baseline.json" if data[:1] == b"{" else "baseline.toml")
    return read_baseline(path), other_version(path)


def facts(data: bytes) -> object:
    """What a folder says of its designs."""
    from memtile.explore.survey.survey_cases import facts_of

    return facts_of(placed(data, "facts.json"))


@cache
def _design() -> Any:
    from memtile.importers.mlir.token_packets import Text

    body = "%k = aie.core(%c) { func.call @zero() : () -> () aie.end }"
    return Text("d.mlir", f"aie.device(npu1_1col) {{ %c = aie.tile(0, 2) func.func private @zero() {body} }}")


def costs(data: bytes) -> object:
    """Cycles of operations, and a design that is loaded with them."""
    from memtile.cli.costs import costs_of
    from memtile.importers.design import load

    return load(_design(), costs=costs_of(placed(data, "costs.json")), functions={"zero": lambda: 0})


def calls(data: bytes) -> object:
    """A trace of calls, as JSON of events or as a table."""
    from memtile.explore.measure.call_counts import calls_of, costs

    text = data.decode("utf-8", "replace")
    found = calls_of(text, "calls.json" if data[:1] in b"[{" else "calls.csv")
    return [each.line for each in found], [each.as_json() for each in found], costs(found, (), "calls")


def numbers(data: bytes) -> object:
    """The text of an array that must come out, and a comparison with one that did."""
    from memtile.explore.suite.arrays import comparable, read_expected

    return comparable(np.zeros(4, np.int32), read_expected(str(placed(data, "expected.txt"))), 0.1)


def manifest(data: bytes) -> object:
    """The manifest of a folder of measurements."""
    from memtile.explore.measure.experiment_files import MANIFEST, device_of

    return device_of(placed(data, MANIFEST).parent)


def options(data: bytes) -> object:
    """A file of options of the compiler of graphs."""
    from memtile.cli.amd_tools.command_line import CommandLine
    from memtile.cli.amd_tools.compiler_options import CONFIG
    from memtile.cli.amd_tools.config_file import with_config

    return with_config(CommandLine(), [str(placed(data, "aie.cfg"))], CONFIG)


def work(data: bytes) -> object:
    """What the compiler of graphs leaves for its simulators."""
    from memtile.cli.amd_tools.work_folder import OPTIONS, read_work

    found = read_work(placed(data, OPTIONS).parent, "aiesimulator")
    return found.macros(), found.is_functional


def macros(data: bytes) -> object:
    """The text of a graph, of which the macros are wanted."""
    from memtile.adf.macros import GraphTexts

    found = GraphTexts([placed(data, "graph.cpp")])
    return [value for name in dir(found) if not callable(value := getattr(found, name))]


def messages(data: bytes) -> object:
    """What a compiler of C++ says."""
    from memtile.cpp.build import screen

    return screen(data.decode("utf-8", "replace"), Path("kernel.cc"))


def record(data: bytes) -> object:
    """The record of a run, compared with another one."""
    from memtile.cli.diff import compared_file
    from memtile.explain.compare.comparison import compared
    from memtile.runs.options import USUAL

    if data[:1] != b"{":
        return None  # other files are read by other readers
    first = compared_file(
        str(placed(data, "a.json")), device="", settings=(), given=(), kernels=None, options=USUAL
    )
    found = compared(first, _other_record())
    return [*found.lines()], json.dumps(found.as_json())


@cache
def _other_record() -> Any:
    from adversary.seeds import records
    from memtile.cli.diff import _of_record

    return _of_record("b.json", json.loads(records()[0]))


class _Worker:
    """Tools in this process; no design in Python is run."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def answer(self, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """As the worker of the server answers."""
        from memtile.cli.agents.tool_arguments import check_arguments, refused
        from memtile.cli.agents.tool_worker import tried

        text, kind = arguments.get("text") or "", arguments.get("kind")
        try:
            check_arguments(self._root, arguments)
        except MemtileError as error:
            return {"error": refused(error)}, True
        if (
            kind == "py"
            or (text and kind is None)
            or any(str(each).endswith(".py") for each in arguments.values())
        ):
            return {}, False
        return tried(tool, arguments)


@cache
def _server() -> Any:
    from memtile.cli.agents.server import made_server

    root = folder() / "root"
    root.mkdir()
    (root / "d.mlir").write_bytes(b"module { }")
    (root / "d.txt").write_bytes(mutated_bytes.files()["dump.txt"])
    np.save(root / "a.npy", np.arange(4))
    return made_server("1", _Worker(root)), root  # type: ignore[arg-type]


def messages_of_agents(data: bytes) -> object:
    """Calls of tools as agents send them, one a line."""
    from memtile.cli.agents.tool_arguments import with_marks

    server, root = _server()
    found = []
    for line in data.split(b"\n"):
        try:
            given = json.loads(with_marks(line))
            name, arguments = given["tool"], given["arguments"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # what the SDK refuses
        if isinstance(name, str) and isinstance(arguments, dict):
            with contextlib.chdir(root), contextlib.redirect_stdout(io.StringIO()):
                found.append(asyncio.run(_called(server, name, arguments)))
    return found


async def _called(server: Any, name: str, arguments: dict[str, Any]) -> Any:
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        return await server.call_tool(name, arguments)
    except ToolError as error:
        if "Unknown tool" in str(error):
            return None
        raise (error.__cause__ or error) from None
