"""Inputs that a search begins with: small, and made by us."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adversary.changes import folder
from memtile.errors import MemtileError
from places import ROOT
from support.mutated import mutated_arrays, mutated_bytes, mutated_dumps

_ORACLE = ROOT / "tests" / "oracle"
_CORPUS = ROOT / "tests" / "corpus"
Seeds = Callable[[], Sequence[bytes]]


def texts(*given: str) -> Seeds:
    """Texts as they are."""
    return lambda: [text.encode() for text in given]


def files(*endings: str) -> list[bytes]:
    """Files of register writes, by the ends of their names."""
    return [data for name, data in mutated_bytes.files().items() if name.endswith(endings)]


def mlir() -> list[bytes]:
    """Designs with operations of all kinds, hangs, and what compilers write."""
    from support.mlir import mlir_texts as ours

    own = [ours.PASSTHROUGH, ours.CALL, ours.EXTERNAL, ours.PARAMETER, ours.OPEN, ours.TWO]
    parts = (ROOT / "tests/support/mlir/device_texts.mlir").read_text("utf-8").split("// -----\n")
    kept = [path.read_bytes() for path in sorted(_CORPUS.glob("*.mlir"))]
    return [*(each.encode() for each in (*own, *parts)), *kept]


def graphs() -> list[bytes]:
    """Descriptions of graphs: a chain of kernels, and one with all that a graph may have."""
    from memtile.adf.description import write

    return [write(each.description()).encode() for each in (_chain(), _mixed())]


def _chain() -> Any:
    from support.adf.sketch import Sketch, buffer, tile

    g = Sketch()
    one, other = (g.kernel(name, [buffer("int32", 64)], [buffer("int32", 64)]) for name in ("a", "b"))
    g.connect(g.plio("in"), one.ins[0])
    g.connect(one.outs[0], other.ins[0])
    g.connect(other.outs[0], g.plio("out", "out"))
    g.place(one, tile(3, 0))
    return g


def _mixed() -> Any:
    """A graph with a memory tile, packets, streams, a cascade, a table and places."""
    from support.adf import sketch as of

    g = of.Sketch()
    table = g.table("lut", "int32", 8)
    one = g.kernel("a", [of.buffer("int32", 64)], [of.stream(), of.cascade()], tables=(table,))
    two = g.kernel("b", [of.stream(), of.cascade()], [of.buffer("int32", 64)])
    three = g.kernel("c", [of.packet_stream()], [of.buffer("int32", 64)])
    shared = g.shared("m", "int32", (8, 8), 1, 2)
    split = g.packets("split", "s", 2)
    g.connect(g.gmio("in"), shared.ins[0])
    g.connect(shared.outs[0], one.ins[0])
    g.connect(one.outs[0], two.ins[0])
    g.connect(one.outs[1], two.ins[1], "cascade")
    g.connect(two.outs[0], g.plio("out", "out", 64))
    g.connect(g.plio("more"), split.ins[0])
    g.connect(split.outs[0], three.ins[0])
    g.connect(three.outs[0], g.gmio("back", "out"))
    four = g.kernel("d", [of.packet_stream()], [of.stream()])
    g.connect(split.outs[1], four.ins[0])
    g.connect(four.outs[0], g.plio("last", "out"))
    g.connect(shared.outs[1], g.gmio("copy", "out"))
    g.place(one, of.tile(3, 0))
    g.place(two, of.beside(one, 1))
    g.repeat(one, 4)
    g.not_equal(one, three)
    return g


def archives() -> list[bytes]:
    """Saved arrays of several designs at several moments."""
    return [path.read_bytes() for path in mutated_arrays.saved_bases(folder())]


def logs() -> list[bytes]:
    """The log of a sweep."""
    from support.mutated import mutated_logs

    return [mutated_logs.saved_log(folder()).read_bytes()]


def dumps() -> list[bytes]:
    """Coredumps of arrays that hang."""
    return [path.read_bytes() for path in mutated_dumps.saved_dumps(folder())]


def traces() -> list[bytes]:
    """Words of traces, raw and as text."""
    captures = json.loads((_ORACLE / "trace_captures.json").read_text("utf-8"))
    words = [each["words"] for each in captures.values() if isinstance(each, dict)]
    raw = [struct.pack(f"<{len(each)}I", *(int(word, 16) for word in each)) for each in words]
    return [*raw, *("\n".join(each).encode() for each in words)]


def arrays() -> list[bytes]:
    """NumPy files of several types, orders and versions."""
    found = []
    whole = np.arange(6, dtype=np.int32).reshape(2, 3)
    for values in (whole, np.asfortranarray(whole), np.float32(1), np.zeros((0, 4), np.uint8), whole > 2):
        made = io.BytesIO()
        np.save(made, values)
        found.append(made.getvalue())
    for version in ((2, 0), (3, 0)):
        made = io.BytesIO()
        np.lib.format.write_array(made, whole.astype(">i2"), version)
        found.append(made.getvalue())
    return found


def lines() -> list[bytes]:
    """What a driver says to a server, what a client asks, and what a browser sends."""
    memory, queue = 0x20000100000, 0x200001A0604
    writes = [f"W 0X{memory + 4 * n:016X} 0X{n:08X}" for n in range(4)]
    reads = [f"R 0X{memory:016X}", f"R 0X{queue:016X}", "Q result", "Q record"]
    masked = [f"MW 0X{memory:016X} 0X{7:08X} 0X{3:08X}", f"MP 0X{memory:016X} 0X{7:08X} 0X{3:08X}"]
    talk = "\n".join((*writes, f"W 0X{queue:016X} 0X00000001", *masked, *reads, "")).encode()
    head = b"POST / HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 40\r\n\r\n"
    return [talk, head + talk, b"T " + b"0" * 32 + b"\n" + talk]


def objects() -> list[bytes]:
    """Kernels that the compiler makes of a few lines of C++; none where there is no compiler."""
    from memtile.cpp.build import Sources, built, generated

    text = 'struct P { int a; float b[4]; };\nextern "C" void k(P *p, const int *q) { p->a = q[1]; }\n'
    try:
        return [built(Sources((generated("fuzz.cc", text),))).read_bytes()]
    except MemtileError:
        return []


def records() -> list[bytes]:
    """Records of two runs."""
    from memtile.explain.record import record

    found = []
    for name in ("chains", "packets"):
        array = mutated_arrays.DESIGNS[name]()
        result = array.run(2000)
        found.append(json.dumps(record(result, array.engine)).encode())
    return found


def answers() -> list[bytes]:
    """What a server answers: registers, and its result."""
    from memtile.explain.findings import Finding, Severity

    finding = Finding("MT0103", Severity.ERROR, "it waits", (), fix="release it").as_json()
    result = {"device": "npu1", "status": "stuck", "cycles": 9, "checked": False, "waiting": ["core (0,2)"]}
    made = [json.dumps({**result, "findings": each}).encode() for each in ([], [finding])]
    return [b"0x00000007\n" * 4, *(b"Q %d\n%s" % (len(each), each) for each in made), b"E 3\nno!"]


def compiled() -> list[bytes]:
    """A compiled design of an IRON program."""
    from memtile.iron.compiled_design import CompiledDesign

    path = folder() / "design.xclbin"
    CompiledDesign("program.py", "module {}\n", (), ("--dynamic-objFifos",), ("program.py:1",)).write(path)
    return [path.read_bytes()]


def work() -> list[bytes]:
    """What the compiler of graphs leaves for its simulators."""
    from memtile.cli.amd_tools.work_folder import Compilation, write_work

    write_work(folder(), Compilation("hw", "xcve2802", ("/g.cpp",), ("/src",), ("N=4", "M")), "{}")
    return [(folder() / "options.json").read_bytes()]


BD = '{"tile": "memory", "bd": 0, "length": 16, "address": 524288, "dims": [[1, 4], [4, null]], "next": 1}'
WORDS = (
    '{"tile": "memory", "bd": 0, "words": ["0x10", "0x80000", "0x20001", "0", "0", "0", "0", "0x80000000"]}'
)
TILING = '{"element_bits": 32, "buffer_dimension": [8, 8], "tiling_dimension": [6, 6], "offset": [-1, -1]}'
FRAGMENT = """\
constexpr int N = 4;
std::vector<adf::tile> more = {};
adf::tiling_parameters t = {
  .buffer_dimension = {8, N * 2}, .tiling_dimension = {6, 6}, .offset = {-1, -1},
  .tile_traversal = {{.dimension = 0, .stride = 6, .wrap = 2}, {.dimension = 1, .stride = 6, .wrap = 1}},
  .boundary_dimension = {8, 8}};
write_access(mtx.in[0]) = tiling({.buffer_dimension={8,8}, .tiling_dimension={4,4}, .offset={0,0}});
"""
SUITE = 'seconds = 9\nexclude = ["a"]\n[[design]]\nfile = "a.py"\nname = "a"\n[design.inputs]\nn = "a.npy"\n'
ERRORS = (
    "In file included from a.h:1,\n                 from kernel.cc:2:\nkernel.cc:3:5: error: expected ';'\n"
)
EVENTS_OF_A_TRACE = """\
[{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "core_trace for tile2,0"}},
 {"name": "INSTR_EVENT_0", "ph": "B", "pid": 1, "tid": 0, "ts": 10, "args": {}},
 {"name": "INSTR_VECTOR", "ph": "B", "pid": 1, "tid": 1, "ts": 12, "args": {}},
 {"name": "INSTR_VECTOR", "ph": "E", "pid": 1, "tid": 1, "ts": 20.5, "args": {}},
 {"name": "INSTR_EVENT_1", "ph": "B", "pid": 1, "tid": 0, "ts": 30, "args": {}}]
"""
BASELINE = 'memtile = "1.0"\n\n[cycles]\n"a.py" = 1_024\n"b.py[n=2]" = 9\n'
FACTS = """\
{"device": "npu1", "sequence": "s", "functions": "f.py", "in": {"0": "a.npy"}, "out": {"1": "b.npy"},
 "scalars": {"2": 7}, "parameters": {"p": 3}, "macros": {"N": 4}, "include": ["headers"]}
"""
COSTS = '{"vector": 2, "load": 3, "functions": {"matmul_i16_i32": 3219, "zero": 4}}'
PAIRS = "function,event0,event1\nf,10,30\nf,50,65\ng,70,90\n"
INTERVALS = """\
column,row,event,begin_cycle,end_cycle
0,2,INSTR_EVENT_0,4,5
0,2,INSTR_EVENT_1,30,31
"""
EVENTS = """\
[{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "core_trace for tile2,0"}},
 {"name": "INSTR_EVENT_0", "ph": "B", "pid": 1, "tid": 0, "ts": 4},
 {"name": "INSTR_EVENT_1", "ph": "B", "pid": 1, "tid": 0, "ts": 30}]
"""
NUMBERS = "T 4 ns\n1 2 3 -4\nTLAST\n5, 6, 7.5\n"
MANIFEST = '{"device": "npu1", "designs": ["a"]}'
OPTIONS = """\
# options of a graph
platform=xilinx_vck190
include=src
[aie]
xlopt=0
pl-freq=312.5
verbose=true
Xpreproc="-DN=4"
[other]
x=1
"""
MACROS = """\
#ifndef N
#define N 4
#endif
#include "graph.h"
#if defined(DEPTH) && DEPTH > 2
#elif OTHER
#endif
adf::source(k) = "kernels/k.cc";
"""
CALLS = """\
{"tool": "check", "arguments": {"text": "module { }", "kind": "mlir", "settings": {"n": 4}}}
{"tool": "run", "arguments": {"path": "d.mlir", "inputs": {"0": "a.npy"}, "max_cycles": 100, "seconds": 2}}
{"tool": "lower", "arguments": {"tiling": {"element_bits": 32, "buffer_dimension": [8, 8], \
"tiling_dimension": [4, 4], "offset": [0, 0]}, "elements": true}}
{"tool": "descriptor", "arguments": {"given": {"tile": "memory", "bd": 0, "length": 16}}}
{"tool": "limits", "arguments": {"device": "npu1", "timing": true}}
{"tool": "registers", "arguments": {"query": "0x1D000", "device": "npu1"}}
{"tool": "docs", "arguments": {"query": "lock", "most_bytes": 900}}
{"tool": "explain", "arguments": {"dump": "d.txt", "device": "npu1"}}
{"tool": "diff", "arguments": {"first": "d.txt", "second": "d.txt"}}
{"tool": "more", "arguments": {"answer": "a1", "path": "designs[0]", "begin": 0}}
"""
