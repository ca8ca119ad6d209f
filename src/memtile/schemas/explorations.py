"""Explorations: what ``memtile sweep``, ``plan``, ``survey`` and ``measure`` write."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from memtile.documents import Amount, Count, Positive, Scalar, Share, among, keyed, limited
from memtile.explore.suite.outcome import Verdict
from memtile.explore.survey.survey_outcome import Bucket
from memtile.explore.sweep.row import VariantState
from memtile.explore.sweep.space import SweepAxis
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.schemas.runs import FindingData

_Text = Annotated[str, Meta(min_length=1)]
_Web = Annotated[str, Meta(pattern="^https://")]
_Objectives = Annotated[list[Annotated[str, among(FIGURES)]], Meta(min_length=1)]
_Values = Annotated[
    dict[str, float | str | bool], Meta(description="Values for the arguments of the design.")
]


_FailedState = Annotated[str, among(each for each in VariantState if each is not VariantState.GOOD)]


class Figures(TypedDict):
    """Figures of a variant.

    Attributes:
        energy: Nanojoules, where they were counted.
    """

    cycles: Count
    l2: Count
    l1: Count
    bds: Count
    energy: NotRequired[Amount]
    share: Share


class KnownFigures(TypedDict, total=False):
    """Figures of a variant, as far as they are known.

    Attributes:
        energy: Nanojoules, where they were counted.
        bound: Of one that was stopped early: cycles that it needs at least.
    """

    cycles: Count
    l2: Count
    l1: Count
    bds: Count
    energy: Amount
    share: Share
    bound: Count


class Certificate(TypedDict):
    """What was found out about a design.

    Attributes:
        walks: Transfers whose walk was compared with what was asked.
        cycles: Of the run with data.
        cores: That work.
        limit: What the run waits for most, in one line.
    """

    holds: bool
    walks: Count
    words: Count
    cycles: Count
    exact: bool
    findings: list[str]
    why: str
    cores: Count
    limit: str


class PlannedWork(TypedDict):
    """What bounds a layer from below: its products.

    Attributes:
        products: Multiplications of the layer; 0 = they do not bound it.
        rate: Of a core in a cycle.
        cores: Of the part of the device that may be used.
    """

    products: Count
    rate: Count
    cores: Count


class PlannedDesign(TypedDict):
    """A design for a layer.

    Attributes:
        certificate: Of the best; null = not looked at.
    """

    values: _Values
    figures: Figures
    front: bool
    certificate: Certificate | None


class FailedDesign(TypedDict):
    """A design that was beaten before its end, or is infeasible."""

    values: _Values
    state: _FailedState
    kind: str
    why: str


class PlanOutput(TypedDict):
    """Designs for a layer, best first.

    Attributes:
        place: Device and columns.
        candidates: Ways that fit into memories and channels.
        timing: Timing constants that were given, by name.
    """

    layer: Literal["gemm", "convolution", "convolution_rounds", "attention", "rows"]
    title: str
    place: str
    good: bool
    objectives: _Objectives
    candidates: Count
    tried: Count
    timing: dict[str, int]
    work: PlannedWork
    designs: list[PlannedDesign]
    failed: list[FailedDesign]


class Variant(TypedDict):
    """A variant of a design and what came of it.

    Attributes:
        key: Hash of sources, values, limit and options.
        number: When it was asked for.
        point: What is varied or set; timing constants behind timing.
        kind: One word for why it is not good, or the code of a finding; empty if it is.
    """

    key: str
    number: Count
    point: dict[str, Scalar]
    state: VariantState
    kind: str
    why: str
    figures: KnownFigures


class RankedVariant(Variant):
    """A variant of a sweep.

    Attributes:
        front: On the Pareto front.
    """

    front: bool


class LoggedVariant(Variant):
    """A variant as a log has it."""

    sources: str
    seconds: Amount


class SweepOutput(TypedDict):
    """Variants of a design and what came of them.

    Attributes:
        size: Variants of the space; null = without end.
        expected: Variants that are tried at most.
        stopped: Why it ended before its end; empty = it did not.
        front: Keys of the variants that none is better than in all objectives.
    """

    design: str
    objectives: _Objectives
    space: list[SweepAxis]
    size: int | None
    expected: int | None
    counts: Annotated[dict[str, Count], keyed(VariantState)]
    stopped: str
    front: list[str]
    rows: list[RankedVariant]


class ReplayOutput(TypedDict):
    """A variant of a log, with its stored and its new result.

    Attributes:
        same: State and figures are the same.
    """

    key: str
    same: bool
    other_memtile: bool
    then: LoggedVariant
    now: LoggedVariant


class Lack(TypedDict):
    """Something that designs were refused for.

    Attributes:
        name: operation NAME or function NAME.
    """

    name: str
    designs: Positive


class SurveyedDesign(TypedDict):
    """What became of a design.

    Attributes:
        design: Path below the folder; behind a colon the device, where a text has several.
        why: One line; empty where all is well.
        device: That it ran on; null if it never began.
    """

    design: str
    bucket: Bucket
    why: str
    missing: list[str]
    device: str | None
    cycles: Count
    seconds: Amount


class SurveyOutput(TypedDict):
    """What became of every design below a folder.

    Attributes:
        found: Designs and builds below the folder; fewer were tried after Ctrl-C.
        counts: Designs by bucket.
        missing: What designs were refused for, most frequent first.
        without_device: MLIR files that are no designs, not tried.
        without_text: Folders with a makefile or a test and no text or build in or below them, not tried.
    """

    folder: str
    found: Count
    counts: Annotated[dict[str, Count], keyed(Bucket)]
    missing: list[Lack]
    designs: list[SurveyedDesign]
    without_device: list[str]
    without_text: list[str]
    interrupted: bool
    seconds: Amount


class TestedDesign(TypedDict):
    """What became of the test of a design.

    Attributes:
        name: Of the test: the path of its design, unless it has another.
        file: Of the design.
        good: It passed, or is unknown where that is allowed.
        why: One sentence, for people; empty where all is well.
        missing: What it was refused for the lack of, such as "function zero".
        device: That it ran on; null if it never began.
        cycles: That it ran; null if it never began.
        budget: Most cycles that it may take; null without a budget.
        baseline: Its cycles in the baseline; null where it has none.
        findings: Of its check and its run, errors first.
    """

    name: str
    file: str
    verdict: Verdict
    good: bool
    why: str
    missing: list[str]
    device: str | None
    cycles: Count | None
    budget: Count | None
    baseline: Count | None
    seconds: Amount
    findings: list[FindingData]


class TestOutput(TypedDict):
    """What became of the tests of designs.

    Attributes:
        good: Every test ran and is good.
        found: Tests; fewer ran after Ctrl-C.
        counts: Designs by verdict.
        notes: What else was done; texts for people.
    """

    good: bool
    found: Count
    counts: Annotated[dict[str, Count], keyed(Verdict)]
    designs: list[TestedDesign]
    notes: list[str]
    interrupted: bool
    seconds: Amount


class MeasuredConstant(TypedDict, total=False):
    """A constant that a design measures.

    Attributes:
        quantity: What is read from the trace.
    """

    name: str
    quantity: str


class TracedUnit(TypedDict, total=False):
    """A unit that a design traces.

    Attributes:
        events: By slot.
    """

    tile: list[Count]
    module: str
    events: list[str]


class MeasuringDesign(TypedDict, total=False):
    """A design of a folder of measurements.

    Attributes:
        name: Of its files NAME.mlir and NAME.bin.
        arguments: Arrays of 4096 words that its host passes; the first one is for the trace.
        needed: Constants of other designs that these follow from.
    """

    name: str
    setup: str
    columns: Positive
    arguments: Positive
    constants: list[MeasuredConstant]
    needed: list[str]
    events: list[TracedUnit]


class MeasureOutput(TypedDict, total=False):
    """The designs of a folder, which measure.json there says too.

    Attributes:
        memtile: Version that wrote it.
    """

    memtile: str
    device: str
    designs: list[MeasuringDesign]


class MeasuredCalls(TypedDict):
    """The calls of one function in one place of a file, in cycles.

    Attributes:
        place: A tile, a process or a function, as the file has it.
        calls: How many.
    """

    place: str
    calls: Positive
    least: Count
    median: Amount
    most: Count


class CallsOutput(TypedDict):
    """What calls of cores' functions cost.

    Attributes:
        functions: Cycles of one call, the fewest, by function, as memtile run --cost takes them.
        places: What the file has.
    """

    functions: dict[str, Count]
    places: list[MeasuredCalls]


class Source(TypedDict):
    """Who measured, and where it is published.

    Attributes:
        kind: measured on a chip, or stated by a manual
    """

    name: _Text
    address: _Web
    kind: Literal["silicon", "manual"]


@limited(dependentRequired={"low": ["high"], "high": ["low"]})
class Measured(TypedDict):
    """A measured value.

    Attributes:
        runs: of which the value is the median, where it is said
        note: runs, clock, how it was derived
    """

    value: float
    low: NotRequired[float]
    high: NotRequired[float]
    runs: NotRequired[Positive]
    note: NotRequired[str]


class Rig(TypedDict):
    """The set-up that simulates a case.

    Attributes:
        name: a set-up of tests/support/silicon/silicon_rig.py; measure = a design of memtile measure
        reads: which of its numbers is the quantity
    """

    name: str
    arguments: dict[str, Any]
    reads: str


@limited(oneOf=[{"required": ["rig", "assumed"]}, {"required": ["not_simulated"]}])
class SiliconCase(TypedDict):
    """A measured quantity, and how the same is had from the model.

    Attributes:
        time_of: the first that applies: count = no time between two stamps but how many (events, words, runs,
            cycles in a state); host = an operation of a transaction or of a host lies between the stamps;
            first = the first access of a channel to external memory lies between the stamps; external = the
            later stamp waits for external memory; kernel = it waits for core code whose instructions are not
            published; array = for nothing of these
        address: of the page, where it is not the source's
        board: that it was measured on, where that is not the device's; as in memtile run --timing
        assumed: parts of the set-up that are not public
        not_simulated: why the set-up cannot be built
        again: id of a case that measured the same quantity, and may disagree
        untimed: the quantity does not depend on timing: words that were sent, zero where nothing competes,
            whether a program finishes
        sweep: name of a sweep whose points count as one quantity
        first_sight: what the model gave when the case was recorded, before any constant was fitted to it
    """

    id: Annotated[str, Meta(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
    device: Literal["npu1", "npu2", "npu3", "unknown"]
    setup: _Text
    quantity: _Text
    unit: _Text
    time_of: Literal["count", "host", "first", "external", "kernel", "array"]
    measured: Measured
    address: NotRequired[_Web]
    board: NotRequired[_Text]
    rig: NotRequired[Rig]
    assumed: NotRequired[list[str]]
    not_simulated: NotRequired[_Text]
    again: NotRequired[str]
    untimed: NotRequired[bool]
    sweep: NotRequired[str]
    first_sight: NotRequired[float]
    see: NotRequired[list[Annotated[str, Meta(pattern="^DEV-[A-Z0-9]+-[0-9]+$")]]]


class SiliconCases(TypedDict):
    """What was measured on a chip or stated by a manual, and how the same is had from the model."""

    source: Source
    cases: Annotated[list[SiliconCase], Meta(min_length=1)]
