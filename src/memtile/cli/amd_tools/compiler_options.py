"""Options of the AI Engine compiler, as ``aiecompiler`` and ``v++ --mode aie`` have them.

Found in 1,100 Makefiles of public graphs, and in UG1076 and UG1702.
"""

from __future__ import annotations

from memtile.cli.amd_tools.command_line import Option, Table, Takes, idle, refused, used

SOURCE = "UG1702: AI Engine options"
_LOGS = "memtile prints what it found, and nothing else"
_CORES = "memtile compiles kernels for this machine, not for cores"
_PLACES = "memtile places and routes by rules of its own"
_HARDWARE = "it concerns the hardware build"
_TRACE = "memtile records what happens with memtile run --record"

COMPILER: tuple[Option, ...] = (
    used("include I", Takes.ATTACHED),
    used("Xpreproc"),
    used("define D", Takes.ATTACHED),
    used("workdir work_dir work-dir"),
    used("output-archive output o"),
    used("platform f"),
    used("part"),
    used("target t"),
    used("stacksize"),
    used("heapsize"),
    used("pl-freq"),
    used("freqhz"),
    used("config"),
    used("help h", Takes.NOTHING),
    used("version", Takes.NOTHING),
    idle("verbose v", Takes.OPTIONAL, _LOGS),
    idle("quiet", Takes.OPTIONAL, _LOGS),
    idle("log-level", Takes.VALUE, _LOGS),
    idle("adf-api-log-level", Takes.VALUE, _LOGS),
    idle("kernel-linting", Takes.OPTIONAL, "memtile run --check finds such mistakes"),
    idle("nodot-graph", Takes.OPTIONAL, _LOGS),
    idle("dataflow", Takes.NOTHING, "graphs are always data flow"),
    idle("xlopt", Takes.OPTIONAL, _CORES),
    idle("Xchess", Takes.VALUE, _CORES),
    idle("Xelfgen", Takes.VALUE, _CORES),
    idle("Xxloptstr", Takes.VALUE, _CORES),
    idle("Xlinker", Takes.VALUE, _CORES),
    idle("known-tripcount", Takes.OPTIONAL, _CORES),
    idle("float-accuracy", Takes.VALUE, "floating point is that of memtile's headers (docs/aie_api.md)"),
    idle("fast-floats", Takes.OPTIONAL, "floating point is that of memtile's headers (docs/aie_api.md)"),
    idle(
        "fast-nonlinearfloats",
        Takes.OPTIONAL,
        "floating point is that of memtile's headers (docs/aie_api.md)",
    ),
    idle("Xmapper", Takes.VALUE, _PLACES),
    idle("Xrouter", Takes.VALUE, _PLACES),
    idle("use-phy-shim", Takes.VALUE, _PLACES),
    idle("disable-transform-broadcast-split", Takes.OPTIONAL, _PLACES),
    idle("disable-transform-merge-broadcast", Takes.OPTIONAL, _PLACES),
    idle("optimize-pktids", Takes.OPTIONAL, _PLACES),
    idle("swfifo-threshold", Takes.VALUE, _PLACES),
    idle("evaluate-fifo-depth", Takes.OPTIONAL, "memtile explain says which buffers a stalled graph needs"),
    idle("compile-testbench-only", Takes.OPTIONAL, "what is unchanged comes from the cache"),
    idle("test-iterations", Takes.VALUE, "main of the sources says how often the graph runs"),
    idle("pl-register-threshold", Takes.VALUE, _HARDWARE),
    idle("pl-axi-lite", Takes.OPTIONAL, _HARDWARE),
    idle("enable-ecc-scrubbing", Takes.OPTIONAL, _HARDWARE),
    idle(
        "disable-multirate-analysis",
        Takes.OPTIONAL,
        "repetition counts are those that the graph says or needs",
    ),
    idle("broadcast-enable-core", Takes.OPTIONAL, _HARDWARE),
    idle("graph-iterator-event", Takes.OPTIONAL, _TRACE),
    idle("event-trace", Takes.VALUE, _TRACE),
    idle("event-trace-port", Takes.VALUE, _TRACE),
    idle("num-trace-streams", Takes.VALUE, _TRACE),
    idle("trace-plio-width", Takes.VALUE, _TRACE),
    refused("enable-partition", Takes.VALUE, "columns of a partition are not known to the plan of a graph"),
    refused("constraints", Takes.VALUE, "constraints are those in the graph, location<> and the like"),
    refused("Xpslinker", Takes.VALUE, "main of the graph is linked with the C++ library alone"),
)
VITIS: tuple[Option, ...] = (
    used("compile c", Takes.NOTHING),
    used("mode"),
    refused("link l", Takes.NOTHING, "memtile has the array alone, programmable logic is not linked"),
    refused("package p", Takes.NOTHING, "memtile runs the graph, there is nothing to boot"),
    refused(
        "kernel k", Takes.VALUE, "memtile has the array alone, kernels of programmable logic are not built"
    ),
    idle("save-temps s", Takes.NOTHING, "there are no intermediate files to keep"),
    idle("debug g", Takes.NOTHING, "graphs always have debug information"),
    idle("optimize O", Takes.ATTACHED, _CORES),
    idle("jobs j", Takes.ATTACHED, _CORES),
    idle("temp_dir", Takes.VALUE, "there are no intermediate files to keep"),
    idle("log_dir", Takes.VALUE, _LOGS),
    idle("report_dir", Takes.VALUE, _LOGS),
    idle("report_level R", Takes.VALUE, _LOGS),
)
"""Options of ``v++`` beside those of the compiler."""

AIECOMPILER = Table("aiecompiler", COMPILER, SOURCE)
VPP = Table("v++", (*COMPILER, *VITIS), SOURCE, prefix="aie.")
CONFIG = Table(
    "[aie] of the configuration file",
    [each for each in COMPILER if each.key not in ("config", "help", "version")],
    SOURCE,
)
