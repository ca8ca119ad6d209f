"""The readers of data from outside: inputs to begin with, ways to change them, and the call."""

from __future__ import annotations

import contextlib
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from adversary.conversation import answers
from adversary.grammar import with_operation
from adversary.iron_lines import PROGRAM, with_line
from adversary.search import Change, Read
from memtile import Array
from memtile.errors import InputFileError, MemtileError
from places import ROOT
from support.mutated import mutated_arrays, mutated_bytes, mutated_dumps, mutated_texts

_REFUSED = (typer.Exit, typer.BadParameter)
_ORACLE = ROOT / "tests" / "oracle"


class Reader(NamedTuple):
    """A reader of data from outside.

    Attributes:
        seeds: makes the inputs that a search begins with.
        changes: ways to change an input.
        read: reads one; an error of memtile is a good answer.
        allowed: other errors that are one.
    """

    seeds: Callable[[], Sequence[bytes]]
    changes: Sequence[Change]
    read: Read
    allowed: tuple[type[BaseException], ...] = ()


@cache
def folder() -> Path:
    """A folder of this process for readers that want a path."""
    made = tempfile.TemporaryDirectory(prefix="memtile-fuzz-")
    _FOLDERS.append(made)
    return Path(made.name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # they go when the process ends


def placed(data: bytes, name: str) -> Path:
    """A file with an input."""
    path = folder() / name
    path.write_bytes(data)
    return path


# changes -------------------------------------------------------------------------------------------------


def _repaired(_rng: random.Random, data: bytes) -> bytes:
    return mutated_bytes.repaired(data)


def _of_text(change: mutated_texts.Mutation) -> Change:
    return lambda rng, data: change(rng, data.decode("utf-8", "replace")).encode("utf-8", "replace")


def _of_json(rng: random.Random, data: bytes) -> bytes:
    try:
        read = json.loads(data)
    except (ValueError, RecursionError):
        return data
    return json.dumps(mutated_arrays.change(rng, read)).encode()


def _of_members(rng: random.Random, data: bytes) -> bytes:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            members = {name: file[name] for name in file.files}
        rng.choice(mutated_arrays.MUTATIONS)(rng, members)
        return mutated_arrays.packed(members)
    except Exception:  # what is no archive any more, or has nothing left to change
        return mutated_bytes.MUTATIONS[0](rng, data)


def _of_log(rng: random.Random, data: bytes) -> bytes:
    from support.mutated import mutated_logs

    path = folder() / "changed.parquet"
    try:
        mutated_logs.parts_of.cache_clear()
        mutated_logs.mutated(placed(data, "before.parquet"), rng.getrandbits(32), path)
    except Exception:  # what is no log any more
        return mutated_bytes.MUTATIONS[0](rng, data)
    return path.read_bytes()


def _of_dump(rng: random.Random, data: bytes) -> bytes:
    path = folder() / "changed.dump"
    if len(data) < 1 << 16 or len(data) % 4:
        return mutated_bytes.MUTATIONS[0](rng, data)
    mutated_dumps.mutated(placed(data, "before.dump"), rng.getrandbits(32), path, _places())
    return path.read_bytes()


_places = cache(mutated_dumps.register_places)
BYTES: Sequence[Change] = (*mutated_bytes.MUTATIONS, _repaired, _repaired)
TEXT: Sequence[Change] = tuple(_of_text(each) for each in mutated_texts.MUTATIONS)
JSON: Sequence[Change] = (*[_of_json] * 12, *TEXT)


# seeds ---------------------------------------------------------------------------------------------------


def _files(*endings: str) -> list[bytes]:
    return [data for name, data in mutated_bytes.files().items() if name.endswith(endings)]


def _mlir() -> list[bytes]:
    from support.mlir import mlir_texts as texts

    own = [texts.PASSTHROUGH, texts.CALL, texts.EXTERNAL, texts.PARAMETER, texts.OPEN, texts.TWO]
    parts = (ROOT / "tests/support/mlir/device_texts.mlir").read_text("utf-8").split("// -----\n")
    return [each.encode() for each in (*own, *parts)]


def _graphs() -> list[bytes]:
    from memtile.adf.description import write
    from support.adf.sketch import Sketch, buffer, tile

    g = Sketch()
    one, other = (g.kernel(name, [buffer("int32", 64)], [buffer("int32", 64)]) for name in ("a", "b"))
    g.connect(g.plio("in"), one.ins[0])
    g.connect(one.outs[0], other.ins[0])
    g.connect(other.outs[0], g.plio("out", "out"))
    g.place(one, tile(3, 0))
    return [write(g.description()).encode()]


def _archives() -> list[bytes]:
    return [path.read_bytes() for path in mutated_arrays.saved_bases(folder())]


def _logs() -> list[bytes]:
    from support.mutated import mutated_logs

    return [mutated_logs.saved_log(folder()).read_bytes()]


def _dumps() -> list[bytes]:
    return [path.read_bytes() for path in mutated_dumps.saved_dumps(folder())]


def _traces() -> list[bytes]:
    captures = json.loads((_ORACLE / "trace_captures.json").read_text("utf-8"))
    words = [each["words"] for each in captures.values() if isinstance(each, dict)]
    raw = [struct.pack(f"<{len(each)}I", *(int(word, 16) for word in each)) for each in words]
    return [*raw, *("\n".join(each).encode() for each in words)]


def _arrays() -> list[bytes]:
    found = []
    for values in (np.arange(6, dtype=np.int32).reshape(2, 3), np.float32(1), np.zeros((0, 4), np.uint8)):
        made = io.BytesIO()
        np.save(made, values)
        found.append(made.getvalue())
    return found


def _lines() -> list[bytes]:
    memory, queue = 0x20000100000, 0x200001A0604
    writes = [f"W 0X{memory + 4 * n:016X} 0X{n:08X}" for n in range(4)]
    reads = [f"R 0X{memory:016X}", f"R 0X{queue:016X}", "Q result", "Q record"]
    return ["\n".join((*writes, f"W 0X{queue:016X} 0X00000001", *reads, "")).encode()]


def _objects() -> list[bytes]:
    """Kernels that the compiler makes of a few lines of C++; none where there is no compiler."""
    from memtile.cpp.build import Sources, built, generated

    text = 'struct P { int a; float b[4]; };\nextern "C" void k(P *p, const int *q) { p->a = q[1]; }\n'
    try:
        return [built(Sources((generated("fuzz.cc", text),))).read_bytes()]
    except MemtileError:
        return []


# readers -------------------------------------------------------------------------------------------------


def _read_program(name: str, data: bytes) -> str:
    return mutated_bytes.look(name, data)


def _read_mlir(data: bytes) -> object:
    from memtile.importers.mlir.token_packets import Text
    from support.mutated.mutated_runs import Everything

    with contextlib.redirect_stdout(io.StringIO()):
        return _load(Text("d.mlir", data.decode("utf-8", "replace")), device="npu1", functions=Everything())


def _load(text: Any, **more: Any) -> object:
    from memtile.importers.design import load

    try:
        return load(text, **more)
    except InputFileError as error:
        if "device" not in str(error):
            raise
        return load(text, functions=more["functions"])  # its own device is another


def _read_iron(data: bytes) -> object:
    from memtile.iron.program_design import ProgramDesign

    path = placed(data, "program.py")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return ProgramDesign(str(path), (), "npu1")()


def _read_graph(data: bytes) -> object:
    from memtile.adf.description import read
    from memtile.adf.planning import plan_of
    from memtile.adf.verdict.judge import amd_verdicts

    description = read(data, "graph.json")
    amd_verdicts(description, "xcve2802")
    return plan_of(description, "xcve2802")


def _read_archive(data: bytes) -> object:
    return mutated_arrays.look(placed(data, "array.npz"))


def _read_log(data: bytes) -> object:
    from support.mutated import mutated_logs

    return mutated_logs.look(placed(data, "read.parquet"), folder())


def _read_dump(data: bytes) -> object:
    return mutated_dumps.look(placed(data, "read.dump"))


def _read_trace(data: bytes) -> object:
    from memtile.io.trace import trace_names as names
    from memtile.io.trace.decoder import decode
    from memtile.io.trace.trace_packets import read_words
    from memtile.sheet import stdout_console

    trace = decode(read_words(data, "trace", None), "trace")
    units = names.named(trace, [], 0, {})
    names.trace_csv(units, 1000), json.dumps(names.trace_json(trace, units, 1000))
    names.chrome_json(units, 1000), names.trace_title(trace, 1000)
    with contextlib.redirect_stdout(io.StringIO()):
        stdout_console().print(names.trace_table(units, 1000))
    return [problem.message for problem in (*trace.problems, *names.unplaced(units, "trace"))]


def _read_array(data: bytes) -> object:
    from memtile.io.npy import array_of

    return array_of(data, "in.npy")


def _read_descriptors(data: bytes) -> None:
    from memtile.cli import bd

    file = str(placed(data, "bds.json"))
    with contextlib.redirect_stdout(io.StringIO()):
        for command in (bd.encode, bd.decode, bd.explain):
            with contextlib.suppress(MemtileError, *_REFUSED):
                command([file] if command is bd.explain else file)


def _read_tilings(data: bytes) -> object:
    from memtile.cli.input_file import read_json_lines
    from memtile.report.lowering import answer

    given = read_json_lines(str(placed(data, "tilings.json")))
    return [answer(each, n).as_json() for n, each in enumerate(given if isinstance(given, list) else [given])]


def _read_lines(data: bytes) -> object:
    return answers(data, Array("npu1", 1), lambda what: what.encode())


def _read_object(data: bytes) -> object:
    from memtile.cpp.parameter_types import signatures_of
    from memtile.cpp.symbols import functions_of, linkage

    path = placed(data, "kernels.so")
    with contextlib.suppress(MemtileError):  # the next ones read other tables
        functions_of(path), linkage(path)
    return signatures_of(path)


def _read_plio(data: bytes) -> object:
    from memtile.io.plio_text import read_plio

    path = placed(data, "in.txt")
    return [read_plio(path, *kind) for kind in (("int16", 64), ("float", 32))]


def _read_plio_csv(data: bytes) -> object:
    from memtile.io.plio_csv import read_plio_csv

    return read_plio_csv(placed(data, "in.csv"), "int32", 64)


def _read_settings(data: bytes) -> object:
    from memtile.explore.suite.settings import read_settings

    return read_settings(placed(data, "memtile.toml"))


def _read_screen(data: bytes) -> object:
    from memtile.cpp.build import screen

    return screen(data.decode("utf-8", "replace"), Path("kernel.cc"))


def _texts(*texts: str) -> Callable[[], Sequence[bytes]]:
    return lambda: [text.encode() for text in texts]


_BD = '{"tile": "memory", "bd": 0, "length": 16, "address": 524288, "dims": [[1, 4], [4, null]], "next": 1}'
_WORDS = (
    '{"tile": "memory", "bd": 0, "words": ["0x10", "0x80000", "0x20001", "0", "0", "0", "0", "0x80000000"]}'
)
_TILING = '{"element_bits": 32, "buffer_dimension": [8, 8], "tiling_dimension": [6, 6], "offset": [-1, -1]}'
_TOML = 'seconds = 9\nexclude = ["a"]\n[[design]]\nfile = "a.py"\nname = "a"\n[design.inputs]\nn = "a.npy"\n'
_ERRORS = (
    "In file included from a.h:1,\n                 from kernel.cc:2:\nkernel.cc:3:5: error: expected ';'\n"
)


def _of_files(*endings: str, changes: Sequence[Change] = BYTES) -> Reader:
    """A reader of files of register writes."""
    return Reader(partial(_files, *endings), changes, partial(_read_program, f"f{endings[0]}"))


READERS: dict[str, Reader] = {
    "mlir": Reader(_mlir, (*TEXT, *[with_operation] * 9), _read_mlir),
    "iron": Reader(_texts(PROGRAM), (with_line,), _read_iron),
    "adf": Reader(_graphs, JSON, _read_graph),
    "npz": Reader(_archives, (_of_members,), _read_archive),
    "parquet": Reader(_logs, (_of_log, _of_log, *BYTES), _read_log),
    "xclbin": _of_files(".xclbin"),
    "elf": _of_files(".elf"),
    "pdi": _of_files(".pdi"),
    "cdo": _of_files("init.bin"),
    "txn": _of_files("insts.bin", "driver.bin"),
    "hex": _of_files(".txt", changes=TEXT),
    "json": _of_files(".json", changes=JSON),
    "descriptors": Reader(_texts(_BD, _WORDS), JSON, _read_descriptors),
    "tilings": Reader(_texts(_TILING), JSON, _read_tilings),
    "traces": Reader(_traces, BYTES, _read_trace),
    "lines": Reader(_lines, (*TEXT, *BYTES), _read_lines),
    "npy": Reader(_arrays, BYTES, _read_array),
    "objects": Reader(_objects, BYTES, _read_object),
    "messages": Reader(_texts(_ERRORS), TEXT, _read_screen),
    "coredumps": Reader(_dumps, (_of_dump,), _read_dump),
    "plio": Reader(_texts("T 4 ns\n1 2 3 4\nTLAST\n5 6 7 8\n", "1.5 -2\nTLAST\n3\n"), TEXT, _read_plio),
    "plio-csv": Reader(_texts("CMD,D,D,TLAST,TKEEP\nDATA,1,2,0,-1\nSTALL:3,,\n"), TEXT, _read_plio_csv),
    "settings": Reader(_texts(_TOML), TEXT, _read_settings),
}
"""All readers, by name."""
