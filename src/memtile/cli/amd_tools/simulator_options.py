"""Options of ``x86simulator`` and ``aiesimulator``. Source: UG1076, simulator options."""

from __future__ import annotations

from memtile.cli.amd_tools.command_line import Option, Table, Takes, idle, refused, used

SOURCE = "UG1076: simulator options"
_WAVES = "memtile run graph.cpp --vcd writes waves, which takes long"
_EVENTS = "memtile run graph.cpp --perfetto writes the timeline"
_DEBUGGER = "memtile run --debug waits for a debugger"

COMMON: tuple[Option, ...] = (
    used("pkg-dir"),
    used("input-dir i"),
    used("output-dir o"),
    used("help h", Takes.NOTHING),
    used("version", Takes.NOTHING),
    idle("verbose v", Takes.OPTIONAL, "memtile prints what it found, and nothing else"),
)
X86: tuple[Option, ...] = (
    *COMMON,
    used("timeout"),
    idle("dump", Takes.NOTHING, _EVENTS),
    idle("dump-size", Takes.VALUE, _EVENTS),
    idle("trace", Takes.OPTIONAL, _EVENTS),
    idle("trace-print", Takes.OPTIONAL, _EVENTS),
    idle("stop-on-deadlock", Takes.NOTHING, "a deadlock always ends the run"),
    refused("disable-stop-on-deadlock", Takes.NOTHING, "a deadlock always ends the run"),
    refused("gdb g", Takes.NOTHING, _DEBUGGER),
    refused("valgrind", Takes.NOTHING, "memtile run --sanitize finds accesses outside of buffers"),
    refused("valgrind-gdb", Takes.NOTHING, "memtile run --sanitize finds accesses outside of buffers"),
    refused("valgrind-args", Takes.VALUE, "memtile run --sanitize finds accesses outside of buffers"),
)
AIE: tuple[Option, ...] = (
    *COMMON,
    used("simulation-cycle-timeout"),
    used("output-time-stamp"),
    idle(
        "hang-detect-time",
        Takes.VALUE,
        "a graph in which nothing moves any more ends at once, with what waits",
    ),
    idle("end-wait-time", Takes.VALUE, "outputs are complete when the run ends"),
    idle("display-run-interval", Takes.VALUE, "memtile shows its own progress"),
    idle("dump-vcd", Takes.VALUE, _WAVES),
    idle("options-file", Takes.VALUE, _WAVES),
    used("profile", Takes.OPTIONAL),
    used("graph-latency", Takes.OPTIONAL),
    idle("online", Takes.NOTHING, _EVENTS),
    idle("wdb", Takes.NOTHING, _EVENTS),
    idle("ctf", Takes.NOTHING, _EVENTS),
    idle("text", Takes.NOTHING, _EVENTS),
    idle("enable-memory-check", Takes.NOTHING, "accesses outside of memories are always reported"),
    refused("enable-handshake-ext-tb", Takes.NOTHING, "external test benches are not connected to the array"),
    refused("gdb g", Takes.NOTHING, _DEBUGGER),
)

X86SIMULATOR = Table("x86simulator", X86, SOURCE)
AIESIMULATOR = Table("aiesimulator", AIE, SOURCE)
