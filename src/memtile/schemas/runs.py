"""Runs: what ``memtile run``, ``check``, ``explain``, ``diff`` and ``faults`` write, and records of runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from memtile.arch.dispatch import Dispatch
from memtile.arch.tiles import DIRECTIONS
from memtile.documents import Amount, Count, Positive, Scalar, Share, Word, among, having, keyed, limited
from memtile.explain.bound import Cost
from memtile.explain.compare.comparison import ArrayChange
from memtile.explain.compare.cycles import RunChanges
from memtile.explain.compare.register_changes import BdChange
from memtile.explain.deadlock.graph import WaitGraph
from memtile.explain.estimate import Band
from memtile.explain.findings import Condition, Repair, Severity, Side
from memtile.explain.findings import WordRange as MemoryWords
from memtile.explain.limit import Lifted, Limit
from memtile.explain.record import RunVerdict
from memtile.explain.results import Status
from memtile.explore.campaign import Outcome
from memtile.model.state.causes import Cause, CoreCause
from memtile.schemas.common import ChosenTiming

_Cycles = Count | None


class FindingData(TypedDict):
    """Something that is wrong; codes never change their meaning.

    Attributes:
        title: The title of the code.
        message: One sentence for people.
        sides: Who takes part, the root of the matter first.
        words: Words of 32 bits that it is about.
        cycles: First and last cycle in which it was seen; null before a run.
        fix: What would repair it; empty if unknown.
        repair: A change with which the design finished when it was tried; null if none was.
        condition: Of MT0330, values of a number that the host brings by how the design ends; else null.
    """

    code: Annotated[str, Meta(pattern="^MT[0-9]{4}$")]
    title: str
    severity: Severity
    message: str
    sides: list[Side]
    words: list[MemoryWords]
    cycles: tuple[Count, Count] | None
    fix: str
    count: Positive
    repair: Repair | None
    condition: Condition | None


class BoundData(TypedDict):
    """The resource that was busy longest.

    Attributes:
        cycles: No run of the same work is shorter.
        costs: What the limiting resource did otherwise, longest first.
    """

    cycles: Count
    share: Share
    resource: str
    does: str
    costs: list[Cost]


class EstimateData(TypedDict):
    """Fewest and most cycles by the ranges of the constants that a run depended on, without another run."""

    low: Count
    high: Count


class ChannelData(TypedDict):
    """What a channel did.

    Attributes:
        label: What the design calls it: a name of its own, of its object FIFO, or of its buffers; may be
            empty.
        cycles: Cycles by cause, those that are 0 too; null if untimed.
    """

    channel: str
    label: str
    words: Count
    tasks: Count
    bds: Count
    cycles: Annotated[dict[str, Count], keyed(cause.name.lower() for cause in Cause)] | None
    errors: list[str]


class CoreData(TypedDict):
    """What a core with a kernel did."""

    core: str
    kernel: str
    cycles: Annotated[dict[str, Count], keyed(cause.name.lower() for cause in CoreCause)]


class CheckData(TypedDict):
    """An output compared with what was expected.

    Attributes:
        index: Place of the first wrong element in the array that was expected; with several of them the
            number of the array comes first.
        got: Its value; a text where JSON has no such number.
        expected: The value it should have; null beyond the end.
        note: Why the comparison may be another one than was meant; a text for people, may be empty.
    """

    port: str
    elements: Count
    missing: Count
    wrong: Count
    first_wrong: Count | None
    exact: bool
    index: list[Count] | None
    got: float | str | None
    expected: float | str | None
    note: str


class SteppedCycles(TypedDict):
    """Cycles that were stepped one by one.

    Attributes:
        cycles: How many.
        why: What kept them from being skipped; empty where time was not to be skipped.
    """

    cycles: Count
    why: str


class FastForward(TypedDict):
    """How much of the run was not stepped; the results are the same.

    Attributes:
        jumped: Cycles skipped because they repeat; part of the cycles.
        idle: Cycles in which nothing could move, and that passed at once; part of the cycles.
        stepped: All others but those in which a host was busy, by reason, most first.
        kept_off: What prevented skipping, at least for a while.
    """

    jumped: Count
    idle: Count
    stepped: list[SteppedCycles]
    kept_off: list[str]


class MovedWords(TypedDict):
    """Whether words were moved, or cycles found without them.

    Attributes:
        moved: False of a run without words, which has no comparisons.
        needed_by: Why a run that was to be without words moved them.
    """

    moved: bool
    needed_by: list[str]


class ParameterValue(TypedDict):
    """A parameter of the design function, with the value of this run.

    Attributes:
        value: As JSON; a text of it where JSON has nothing like it.
    """

    name: str
    value: Scalar | list[Any]


class Buffer(TypedDict):
    """A buffer of the host.

    Attributes:
        argument: Number of the kernel argument; null = an address.
        address: External byte address; null = an argument.
        touched: Bytes up to the last that the program touches.
        read_by: Channels.
        written_by: Channels.
    """

    name: str
    argument: Count | None
    address: Annotated[str, Meta(pattern="^0x[0-9a-f]+$")] | None
    bytes: Count
    touched: Count
    given: bool
    read_by: list[str]
    written_by: list[str]


class Saved(TypedDict):
    """A file that got an array."""

    name: str
    file: str
    dtype: str
    shape: list[Count]


_OF_PROGRAM = ("device", "launch", "stopped", "notes", "buffers", "saved")


class ComparedCalls(TypedDict):
    """A function in Python that calls of a C++ kernel were compared with.

    Attributes:
        function: Its name.
        calls: That were compared; 0 = none was.
    """

    function: str
    calls: Count


class LaunchData(TypedDict):
    """How a program was launched, and the source of that.

    Attributes:
        dispatch: What was launched.
        why: In words.
    """

    dispatch: Annotated[str, among(Dispatch)]
    why: str


class ProofData(TypedDict):
    """Whether every timing ends as the run did.

    Attributes:
        status: proved; this timing: nothing but this run shows it; broken: another schedule ended otherwise.
        ends: Every timing ends so.
        words: Every timing gives these words.
        reasons: What is outside of the proof; texts for people.
        reasons_of_words: What is outside of it for the words alone; texts for people.
        assumed: What the proof takes for granted beside the order of acts; texts for people.
        schedule: The schedule that ended otherwise.
        tried: How many other schedules were tried.
    """

    status: Literal["proved", "this timing", "broken"]
    ends: bool
    words: bool
    reasons: list[str]
    reasons_of_words: list[str]
    assumed: list[str]
    schedule: Count | None
    tried: Count


@limited(dependentRequired={name: [each for each in _OF_PROGRAM if each != name] for name in _OF_PROGRAM})
class RunOutput(TypedDict):
    """The result of a run; device, launch, stopped, notes, buffers and saved only after a program.

    Attributes:
        status: How the run ended; every one but finished has exit code 1, interrupted 130.
        timed: False after --untimed, which has no cycles.
        cycles: Cycles of the array clock since the design began; null if untimed.
        cycles_before: Those of earlier runs.
        clock_mhz: Array clock for figures in GB/s.
        board: Whose measured timing constants it has, the device's or those chosen; empty: the assumed set.
        bit_exact: Whether all outputs equal the expected ones; null if none was expected.
        unsimulated: Cores that were enabled without a kernel for their program; texts for people.
        cost_unknown: Functions that cores called and whose cycles are unknown: their calls took no time.
        compared: References of --against-kernels; null = there were none.
        bound: What limits the run; null without time.
        band: With --sensitivity.
        lifted: With --bottleneck.
        limit: With --bottleneck: the one resource that limits the run; null if it was not asked for.
        findings: What is wrong, the root first: stable codes, both sides, words, cycles, a repair.
        proved: Whether every timing ends so; null of a run that was not checked.
        waiting: What each unfinished channel or core waits for; texts for people.
        resting: What still waits for more work in an array that has finished; texts for people.
        errors: Error bits that were set; texts for people.
        assumed: Unmeasured timing constants that the run depended on: name = value.
        measured: Those that the device's board was measured to have.
        recalled: The design was not run: its whole start is that of a run before, whose outcome this is.
        timing: Timing constants that had not their default.
        host_cycles: Cycles that passed between the accesses of a host; null without time.
        parameters: Of the design function, with the values of this run.
        launch: How the program was launched; null = without firmware.
        stopped: Why the program did not run to its end; null = it did.
        notes: Order of the files, arguments that are not used or filled up; texts for people.
    """

    status: Status
    timed: bool
    cycles: _Cycles
    cycles_before: _Cycles
    clock_mhz: Annotated[float, Meta(gt=0)]
    board: str
    bytes_per_cycle: Annotated[dict[str, Amount], keyed(DIRECTIONS)]
    bit_exact: bool | None
    channels: list[ChannelData]
    cores: list[CoreData]
    checks: list[CheckData]
    unsimulated: list[str]
    cost_unknown: list[str]
    compared: list[ComparedCalls] | None
    bound: BoundData | None
    estimate: EstimateData | None
    band: Band | None
    lifted: list[Lifted]
    limit: Limit | None
    findings: list[FindingData]
    proved: ProofData | None
    waits: WaitGraph
    waiting: list[str]
    resting: list[str]
    errors: list[str]
    assumed: list[Annotated[str, Meta(pattern="^[a-z0-9_]+ = ")]]
    measured: list[Annotated[str, Meta(pattern="^[a-z0-9_]+ = ")]]
    timing: list[ChosenTiming]
    host_cycles: _Cycles
    fast_forward: FastForward
    recalled: bool
    words: MovedWords
    parameters: list[ParameterValue]
    device: NotRequired[str]
    launch: NotRequired[LaunchData | None]
    stopped: NotRequired[str | None]
    notes: NotRequired[list[str]]
    buffers: NotRequired[list[Buffer]]
    saved: NotRequired[list[Saved]]


class Moved(TypedDict):
    """Bytes of a level of memory."""

    read: Count
    written: Count


BytesByLevel = TypedDict("BytesByLevel", {"external": Moved, "memory tile": Moved, "compute tile": Moved})
_Stream = TypedDict("_Stream", {"from": str, "to": list[str], "on_chip": bool})


class Provenance(TypedDict):
    """What went in, and what ran it.

    Attributes:
        inputs: SHA-256 by file.
    """

    inputs: dict[str, Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]]
    memtile: str
    python: str
    numpy: str
    numba: str


class Record(TypedDict):
    """The record of a run; the same run gives the same bytes.

    Attributes:
        verdict: unknown: nothing was compared, or something not modelled was used.
        why: Reasons of the verdict; texts for people.
        result: As memtile run --json writes it; schema run-output.
        stored_registers: Registers that software wrote and that only store here: tile, name, value.
        ignored_operations: Operations that were read and change nothing; texts for people.
        bytes: That channels moved, by level of memory.
        streams: Where the words of each sending channel may go.
        comparisons_ignore: Keys that a comparison of two records leaves out.
    """

    format: Literal["memtile-record"]
    version: Literal[1]
    verdict: RunVerdict
    why: Annotated[list[str], Meta(min_length=1)]
    result: Annotated[dict[str, Any], having("status", "cycles", "findings", "assumed")]
    stored_registers: list[str]
    ignored_operations: list[str]
    bytes: BytesByLevel
    streams: list[_Stream]
    provenance: Provenance
    comparisons_ignore: list[str]


class CheckedDesign(TypedDict):
    """What is wrong with a design.

    Attributes:
        name: As it was given; with the device behind it where a file has several.
        good: No finding is an error.
        tasks: Tasks of DMA channels that were looked at.
        findings: Errors first.
        notes: What could not be looked at; of a graph in C++ what its plan chose, and what AMD's compiler
            would refuse; texts for people.
        proved: What the design says of every timing; null where it was not played through.
    """

    name: str
    good: bool
    tasks: Count
    counts: Annotated[dict[str, Count], keyed(Severity)]
    findings: list[FindingData]
    notes: list[str]
    proved: ProofData | None


class CheckOutput(TypedDict):
    """What is wrong with designs before they run, one entry for each of them."""

    designs: list[CheckedDesign]


class DesignOfDump(TypedDict):
    """A design beside a dump, run.

    Attributes:
        name: As it was given.
        same: Its run reaches the state of the dump, register by register.
        status: How its run ended.
        findings: Of its run; they hold for the dump if the states are the same.
        waiting: Who waits in its run; texts for people.
        compared: Registers that were compared.
        differences: Registers that differ; texts for people.
    """

    name: str
    same: bool
    status: Status
    findings: list[FindingData]
    waiting: list[str]
    compared: Count
    differences: list[str]


_ServerStatus = Annotated[str, among(each for each in Status if each is not Status.LIMIT)]


class Server(TypedDict):
    """What a memtile serve says of its own run.

    Attributes:
        status: How it stands; interrupted: it still moves.
        cycles: Elapsed.
        checked: It looks for accesses to memory that nothing orders.
        findings: What is wrong so far.
        waiting: Who waits; texts for people.
    """

    status: _ServerStatus
    cycles: Count
    checked: bool
    findings: list[FindingData]
    waiting: list[str]


class ExplainOutput(TypedDict):
    """The contents of a dump, and why the array is stuck.

    Attributes:
        source: What the dump is; texts for people.
        good: Nothing is wrong as far as registers show it.
        findings: By what registers show alone.
        channels: What each channel at work does; texts for people.
        cores: What each core does that shows anything; texts for people.
        errors: Sticky errors of channels and locks; texts for people.
        unknown: What no register shows; texts for people.
        notes: Remarks about the dump; texts for people.
        server: What a memtile serve says of its own run; null of a dump, and of another server.
        design: The design beside the dump, run; null without one.
    """

    source: list[str]
    good: bool
    findings: list[FindingData]
    waits: WaitGraph
    channels: list[str]
    cores: list[str]
    errors: list[str]
    unknown: list[str]
    notes: list[str]
    server: Server | None
    design: DesignOfDump | None


class ComparedSide(TypedDict):
    """One side of a comparison.

    Attributes:
        name: As it was given.
    """

    name: str
    kind: Literal["design", "record", "dump", "asm", "file of registers"]


class ChangedField(TypedDict):
    """A field of a register that differs."""

    name: str
    first: int
    second: int


class ChangedRegister(TypedDict):
    """A register that differs.

    Attributes:
        register: Name of AM025.
    """

    tile: str
    register: str
    first: Word
    second: Word
    fields: list[ChangedField]


class ChangedRegisters(TypedDict):
    """What differs between two arrays.

    Attributes:
        memory: Words of data memory that differ, by tile; of dumps and files of registers.
        tiles: Tiles that only one of them has; texts for people.
    """

    registers: list[ChangedRegister]
    descriptors: list[BdChange]
    memory: dict[str, Positive]
    tiles: list[str]


class DiffOutput(TypedDict):
    """What changed between two designs, records or files of registers.

    Attributes:
        same: Nothing differs of what both have.
        cycles: Null where one of them has no run.
        words: Arrays that differ; null where one of them left none.
        registers: Null where one of them has none.
        not_compared: What only one of them has.
        notes: Remarks about them; texts for people.
    """

    first: ComparedSide
    second: ComparedSide
    same: bool
    cycles: RunChanges | None
    words: list[ArrayChange] | None
    registers: ChangedRegisters | None
    not_compared: list[Literal["cycles", "words", "registers"]]
    notes: list[str]


_Outcomes = Annotated[dict[str, Count], keyed(Outcome), Meta(description="Upsets by outcome.")]


class FaultsOutput(TypedDict):
    """What became of every upset of a fault campaign.

    Attributes:
        upsets: How many were asked for.
        struck: How many happened.
        bits: Cells that flipped together.
        protected: With ECC and parity.
        words: Words that the upsets were spread over.
        cycles: Of the run with upsets.
        bit_exact: Whether every output is that of the run without upsets.
        timing: Timing constants that had not their default.
    """

    upsets: Count
    struck: Count
    bits: Count
    seed: Count
    protected: bool
    area: str
    words: Count
    cycles: Count
    while_running: _Outcomes
    in_read_back: _Outcomes
    bit_exact: bool
    wrong_outputs: list[str]
    interrupted: bool
    timing: list[ChosenTiming]
