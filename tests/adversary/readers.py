"""The readers of data from outside: inputs to begin with, ways to change them, and the call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from adversary import calls, changes, seeds
from adversary.grammar import with_body, with_design, with_operation
from adversary.iron_lines import PROGRAM, with_line
from adversary.search import Change, Read


class Reader(NamedTuple):
    """A reader of data from outside.

    Attributes:
        seeds: makes the inputs that a search begins with; none where something is missing.
        changes: ways to change an input.
        read: reads one; an error of memtile is a good answer.
        modules: files and folders of the package that read it.
        inputs: how many ``.ci/run`` reads, beside those that a search begins with: some seconds.
        allowed: other errors that are good answers.
    """

    seeds: seeds.Seeds
    changes: Sequence[Change]
    read: Read
    modules: Sequence[str]
    inputs: int = 500
    allowed: tuple[type[BaseException], ...] = ()


_CONTAINERS = "io/program/containers"
_DISASSEMBLY = ("io/program/program_formats.py", "io/program/summary.py", "report/disassembly.py")


def _of_files(*endings: str, module: str, how: Sequence[Change] = changes.CONTAINER) -> Reader:
    """A reader of files of register writes."""
    read = partial(calls.program, f"f{endings[0]}")
    return Reader(partial(seeds.files, *endings), how, read, (module, *_DISASSEMBLY), 120)


_TEXTS = seeds.texts
READERS: dict[str, Reader] = {
    "mlir": Reader(
        seeds.mlir,
        (*changes.TEXT, *[with_operation] * 6, *[with_body] * 6, with_design),
        calls.mlir,
        ("importers/mlir", "importers/kernels"),
        120,
    ),
    "iron": Reader(_TEXTS(PROGRAM), (with_line,), calls.iron, ("iron/ops", "iron/dialects"), 150),
    "compiled": Reader(seeds.compiled, changes.JSON, calls.compiled, ("iron/compiled_design.py",)),
    "adf": Reader(
        seeds.graphs,
        (*changes.JSON, *changes.BYTES[:3]),
        calls.graph,
        ("adf/description.py", "adf/nets.py", "adf/verdict"),
        250,
    ),
    "npz": Reader(
        seeds.archives, changes.ARCHIVE, calls.archive, ("design/archive.py", "design/saving.py"), 60
    ),
    "parquet": Reader(
        seeds.logs, changes.LOG, calls.log, ("explore/sweep/log.py", "explore/sweep/sources.py"), 150
    ),
    "xclbin": _of_files(".xclbin", module=f"{_CONTAINERS}/xclbin.py"),
    "elf": _of_files(".elf", module=f"{_CONTAINERS}/elf.py"),
    "pdi": _of_files(".pdi", module=f"{_CONTAINERS}/pdi.py"),
    "cdo": _of_files("init.bin", module="io/program/cdo.py"),
    "txn": _of_files("insts.bin", "driver.bin", module="io/program/transaction.py"),
    "hex": _of_files(".txt", module="io/program/register_dump.py", how=changes.TEXT),
    "json": _of_files(".json", module="io/program/register_dump.py", how=changes.JSON),
    "descriptors": Reader(
        _TEXTS(seeds.BD, seeds.WORDS), changes.ROWS, calls.descriptors, ("bd/descriptor_cases.py",)
    ),
    "tilings": Reader(
        _TEXTS(seeds.TILING, seeds.FRAGMENT),
        changes.JSON,
        calls.tilings,
        ("access/tiling_cases.py", "access/graph_text"),
        400,
    ),
    "traces": Reader(
        seeds.traces, changes.BYTES, calls.trace, ("io/trace/decoder.py", "io/trace/trace_packets.py"), 100
    ),
    "lines": Reader(
        seeds.lines,
        (*changes.TEXT, *changes.BYTES),
        calls.lines,
        ("hosts/client_accesses.py", "hosts/admission.py", "hosts/driver_socket.py"),
        200,
    ),
    "answers": Reader(
        seeds.answers,
        (*changes.ROWS, *changes.BYTES),
        calls.served,
        ("hosts/register_client.py", "hosts/server_requests.py"),
    ),
    "cycles": Reader(
        _TEXTS(seeds.EVENTS_OF_A_TRACE), changes.JSON, calls.cycles, ("iron/utils/trace/utils.py",)
    ),
    "npy": Reader(seeds.arrays, changes.BYTES, calls.array, ("io/npy.py",)),
    "objects": Reader(
        seeds.objects,
        changes.BYTES,
        calls.kernel,
        ("cpp/symbols.py", "cpp/debug_entries.py", "cpp/parameter_types.py"),
        150,
    ),
    "messages": Reader(_TEXTS(seeds.ERRORS), changes.TEXT, calls.messages, ()),
    "coredumps": Reader(
        seeds.dumps, changes.DUMP, calls.dump, ("explain/dump/dump_formats.py", "io/dumps.py"), 30
    ),
    "plio": Reader(
        _TEXTS("T 4 ns\n1 2 3 4\nTLAST\n5 6 7 8\n", "1.5 -2\nTLAST\n3\n"),
        changes.TEXT,
        calls.plio,
        ("io/plio_text.py", "io/plio_tokens.py"),
    ),
    "plio-csv": Reader(
        _TEXTS("CMD,D,D,TLAST,TKEEP\nDATA,1,2,0,-1\nSTALL:3,,\n"),
        changes.TEXT,
        calls.plio_csv,
        ("io/plio_csv.py",),
    ),
    "settings": Reader(_TEXTS(seeds.SUITE), changes.TOML, calls.settings, ("explore/suite/settings.py",)),
    "baselines": Reader(
        _TEXTS(seeds.BASELINE, '{"memtile": "1", "cycles": {"a": 3}}'),
        (*changes.TOML, *changes.JSON),
        calls.baseline,
        ("explore/suite/baseline.py",),
    ),
    "facts": Reader(_TEXTS(seeds.FACTS), changes.JSON, calls.facts, ()),
    "costs": Reader(_TEXTS(seeds.COSTS), changes.JSON, calls.costs, ("cli/costs.py",), 100),
    "calls": Reader(
        _TEXTS(seeds.PAIRS, seeds.INTERVALS, seeds.EVENTS),
        changes.JSON,
        calls.calls,
        ("explore/measure/call_counts.py",),
    ),
    "numbers": Reader(_TEXTS(seeds.NUMBERS), changes.TEXT, calls.numbers, ("explore/suite/arrays.py",)),
    "manifests": Reader(_TEXTS(seeds.MANIFEST), changes.JSON, calls.manifest, ()),
    "options": Reader(_TEXTS(seeds.OPTIONS), changes.TEXT, calls.options, ("cli/amd_tools/config_file.py",)),
    "work": Reader(seeds.work, changes.JSON, calls.work, ("cli/amd_tools/work_folder.py",)),
    "macros": Reader(_TEXTS(seeds.MACROS), changes.TEXT, calls.macros, ("adf/macros.py",)),
    "records": Reader(
        seeds.records, changes.JSON, calls.record, ("cli/diff.py", "explain/compare/cycles.py"), 80
    ),
    "agents": Reader(
        _TEXTS(*seeds.CALLS.splitlines()),
        changes.ROWS,
        calls.messages_of_agents,
        ("cli/agents/server.py", "cli/agents/tool_arguments.py", "cli/agents/brief_answers.py"),
        60,
    ),
}
"""All readers, by name."""
