"""What is wrong with a design or a run, as data: a code that stays, sides, words, cycles and a repair.

The codes of findings and what each stands for. A code keeps its meaning; a new meaning gets a new code.

01xx is said before a run, of budgets and of what the hardware does not have; 02xx of memory that two use
without an order; 03xx of waiting; 04xx of results; 05xx of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memtile.documents import Count, Positive, plain
from memtile.explain.evidence import NO_EVIDENCE, Evidence
from memtile.plain_text import printable


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"  # the design is wrong: it hangs, or its words depend on luck
    WARNING = "warning"  # it may be meant, but seldom is
    NOTE = "note"  # worth knowing; no run is worse for it


@dataclass(frozen=True, slots=True)
class FindingCode:
    """What is known of a code.

    Attributes:
        title: what it stands for.
        severity: of its findings, where no circumstance makes one less or more sure.
        holds_words: whether words that are there go no further: they stay behind even where the program ends.
        follows: codes of findings of the same agents that it only follows from; then it is not reported.
    """

    title: str
    severity: Severity
    holds_words: bool = False
    follows: tuple[str, ...] = ()


CODES: Mapping[str, FindingCode] = MappingProxyType(
    {
        "MT0100": FindingCode("the design is refused", Severity.ERROR),
        "MT0101": FindingCode("more of a resource than a tile has", Severity.ERROR),
        "MT0102": FindingCode("a circuit that the stream switch does not have", Severity.ERROR),
        "MT0103": FindingCode("a lock that cannot reach the value that a wait needs", Severity.ERROR),
        "MT0104": FindingCode("a buffer descriptor that ends in the middle of a row", Severity.WARNING),
        "MT0105": FindingCode("two accesses to the same memory without an order", Severity.ERROR),
        "MT0106": FindingCode("a deadlock: waits that form a circle", Severity.ERROR),
        "MT0107": FindingCode("buffers that overlap", Severity.ERROR),
        "MT0108": FindingCode("the two ends of a stream differ in length", Severity.ERROR),
        "MT0109": FindingCode("a channel with a task whose stream is not connected", Severity.ERROR),
        "MT0110": FindingCode("a stream whose receiver has no task", Severity.ERROR),
        "MT0111": FindingCode("packets of an id that no slot takes", Severity.ERROR),
        "MT0112": FindingCode("a wait for a token that no task before it sends", Severity.ERROR),
        "MT0113": FindingCode("a stream whose sender has no task", Severity.ERROR),
        "MT0114": FindingCode(
            "a task that is pushed to a queue that is full whatever the timing", Severity.ERROR
        ),
        "MT0115": FindingCode("a task with a descriptor that halts the channel", Severity.ERROR),
        "MT0116": FindingCode(
            "a transfer to external memory that the host does not wait for", Severity.WARNING
        ),
        "MT0117": FindingCode("a task that may be pushed to a full queue and lost", Severity.WARNING),
        "MT0118": FindingCode("an object or lock that a core acquires and never releases", Severity.ERROR),
        "MT0119": FindingCode("an object FIFO with less depth than a core holds at once", Severity.ERROR),
        "MT0120": FindingCode(
            "a link of object FIFOs whose parts are not as large as their objects", Severity.ERROR
        ),
        "MT0121": FindingCode("a task that is configured and never started", Severity.ERROR),
        "MT0122": FindingCode(
            "a lock whose acquires, releases or initial value do not fit its pair", Severity.ERROR
        ),
        "MT0123": FindingCode(
            "an offset or a stride that breaks how transfers share a memory", Severity.WARNING
        ),
        "MT0124": FindingCode("a descriptor that is chained to itself or to a wrong one", Severity.WARNING),
        "MT0125": FindingCode("a transfer that ends beyond its memory", Severity.WARNING),
        "MT0126": FindingCode(
            "a descriptor that moves the wrong buffer and leaves another one out", Severity.WARNING
        ),
        "MT0127": FindingCode("a descriptor that a host writes and no task uses", Severity.WARNING),
        "MT0128": FindingCode(
            "a core whose loop count differs from that of cores with the same locks", Severity.ERROR
        ),
        "MT0129": FindingCode("a stride that misses the rows of its memory", Severity.WARNING),
        "MT0131": FindingCode("a descriptor that guards its buffer with the locks of others", Severity.ERROR),
        "MT0132": FindingCode("a lock that a host sets again before it has waited", Severity.WARNING),
        "MT0133": FindingCode("a channel that a host resets while it has work", Severity.WARNING),
        "MT0134": FindingCode("two packets for one descriptor, and none for another one", Severity.ERROR),
        "MT0135": FindingCode("a loop whose iterations do not fit its object FIFOs", Severity.WARNING),
        "MT0136": FindingCode("words that a descriptor reads and nothing ever writes", Severity.WARNING),
        "MT0137": FindingCode(
            "a descriptor that moves another buffer than its lock guards", Severity.WARNING
        ),
        "MT0138": FindingCode("two writers of the same words that one lock starts", Severity.WARNING),
        "MT0139": FindingCode("two flows whose receivers are exchanged", Severity.ERROR),
        "MT0140": FindingCode("a packet rule that takes the packets of another one", Severity.WARNING),
        "MT0141": FindingCode("an object FIFO that a host never fills or drains", Severity.WARNING),
        "MT0142": FindingCode(
            "a lock that a host sets less often than a core waits for it", Severity.WARNING
        ),
        "MT0143": FindingCode("a packet id that a channel never sends", Severity.WARNING),
        "MT0144": FindingCode(
            "an array of a host that nothing moves, and another one that is moved twice", Severity.WARNING
        ),
        "MT0201": FindingCode("a write and a read without an order", Severity.ERROR, follows=("MT0205",)),
        "MT0202": FindingCode("two writes without an order", Severity.ERROR),
        "MT0203": FindingCode("words that are read before anything wrote them", Severity.WARNING),
        "MT0204": FindingCode(
            "words that are overwritten before anything read them",
            Severity.ERROR,
            follows=("MT0201", "MT0205"),
        ),
        "MT0205": FindingCode("words of the previous round are read again", Severity.ERROR),
        "MT0206": FindingCode("words that depend on timing", Severity.ERROR),
        "MT0207": FindingCode("a descriptor that is written while a task may still use it", Severity.ERROR),
        "MT0209": FindingCode("a ring of descriptors with the wrong buffer", Severity.ERROR),
        "MT0301": FindingCode("a deadlock: a circle of waits", Severity.ERROR, holds_words=True),
        "MT0302": FindingCode(
            "a lock that never reaches the value that is waited for", Severity.ERROR, holds_words=True
        ),
        "MT0303": FindingCode(
            "initial lock values that let nothing start",
            Severity.ERROR,
            holds_words=True,
        ),
        "MT0304": FindingCode("two ends of a stream expect different lengths", Severity.ERROR),
        "MT0305": FindingCode("a release of a lock that nothing acquires", Severity.ERROR, holds_words=True),
        "MT0306": FindingCode("a packet that nothing takes", Severity.ERROR, holds_words=True),
        "MT0307": FindingCode(
            "packets that share an arbiter block each other", Severity.ERROR, holds_words=True
        ),
        "MT0308": FindingCode("a task that was dropped because the queue was full", Severity.ERROR),
        "MT0309": FindingCode("a core that ended while others wait for it", Severity.ERROR, holds_words=True),
        "MT0310": FindingCode(
            "cores that take the same locks in different orders", Severity.ERROR, holds_words=True
        ),
        "MT0311": FindingCode("a core without a program", Severity.ERROR),
        "MT0312": FindingCode("a stream without a receiver or a sender", Severity.ERROR),
        "MT0313": FindingCode("a wait for a token that nothing sends", Severity.ERROR),
        "MT0314": FindingCode("a wait for something that is not there", Severity.ERROR),
        "MT0315": FindingCode("a channel or core that was halted while others wait for it", Severity.ERROR),
        "MT0316": FindingCode(
            "a tile whose clock is off, or whose reset is held, while others wait for it", Severity.ERROR
        ),
        "MT0317": FindingCode("a core that is stalled at an unknown lock", Severity.ERROR),
        "MT0318": FindingCode("a host that ended before its transfers", Severity.WARNING),
        "MT0319": FindingCode("writes that nothing answers", Severity.WARNING),
        "MT0320": FindingCode(
            "a run that finishes only with enough buffering in its streams", Severity.WARNING
        ),
        "MT0321": FindingCode("a deadlock with every alternative blocked", Severity.ERROR, holds_words=True),
        "MT0322": FindingCode("a lock whose releaser is unknown", Severity.WARNING, holds_words=True),
        "MT0323": FindingCode(
            "a descriptor that is longer or shorter than all it works with", Severity.ERROR, holds_words=True
        ),
        "MT0324": FindingCode("two descriptors of which one is too long or too short", Severity.WARNING),
        "MT0325": FindingCode(
            "an object that a core holds while others wait for it", Severity.ERROR, holds_words=True
        ),
        "MT0326": FindingCode("a run whose end depends on timing", Severity.ERROR),
        "MT0327": FindingCode(
            "a run in which only traces and cores without locks make progress", Severity.WARNING
        ),
        "MT0330": FindingCode("a host value that decides whether a run ends", Severity.NOTE),
        "MT0336": FindingCode("two results of a host whose lengths are exchanged", Severity.ERROR),
        "MT0337": FindingCode("transfers that do not fit the object FIFOs of cores", Severity.WARNING),
        "MT0338": FindingCode("a lock that a host sets instead of another one", Severity.WARNING),
        "MT0339": FindingCode("a loop of a core that waits for memory which nothing writes", Severity.ERROR),
        "MT0340": FindingCode("a packet header that only one end of a stream counts", Severity.ERROR),
        "MT0341": FindingCode("a packet flow of tokens with another id than theirs", Severity.WARNING),
        "MT0342": FindingCode("objects that a core takes and does not use, more than come", Severity.ERROR),
        "MT0401": FindingCode("words come out in another order", Severity.ERROR),
        "MT0402": FindingCode("words come out shifted", Severity.ERROR),
        "MT0403": FindingCode("words that were never written come out", Severity.ERROR),
        "MT0404": FindingCode("bytes come out in another order", Severity.ERROR),
        "MT0405": FindingCode("words differ from the expected ones", Severity.ERROR),
        "MT0406": FindingCode("the same block comes out again", Severity.ERROR),
        "MT0407": FindingCode("a core function that does not write its result", Severity.WARNING),
        "MT0408": FindingCode(
            "memory that a C++ kernel takes as another type than the design says", Severity.NOTE
        ),
        "MT0409": FindingCode("an output that a C++ kernel takes as const", Severity.WARNING),
        "MT0410": FindingCode("an output has the values of another one", Severity.ERROR),
        "MT0411": FindingCode("numbers that a core wraps, rounds or narrows", Severity.ERROR),
        "MT0412": FindingCode("a core and a ring that use their buffers in different orders", Severity.ERROR),
        "MT0413": FindingCode("sums that carry over from block to block", Severity.ERROR),
        "MT0415": FindingCode(
            "words that one end of a stream compresses, and the other does not", Severity.ERROR
        ),
        "MT0501": FindingCode("bank conflicts cost time", Severity.NOTE),
        "MT0502": FindingCode("short descriptors cost time", Severity.NOTE),
        "MT0503": FindingCode("short tasks cost time", Severity.NOTE),
        "MT0504": FindingCode("one more buffer would save time", Severity.NOTE),
        "MT0505": FindingCode("the host is slower than the array", Severity.NOTE),
        "MT0506": FindingCode("external memory costs time", Severity.NOTE),
        "MT0507": FindingCode("one column or core has most of the work", Severity.NOTE),
        "MT0508": FindingCode("packets wait for a link that they share", Severity.NOTE),
        "MT0509": FindingCode("accesses to a neighbour's memory cost time", Severity.NOTE),
    }
)

DROPPED = "MT0308"
"""Of a task that was dropped, which is wrong whether or not anything waits for it."""
HIDDEN_RULE = "MT0140"
"""Of a packet rule that another one hides: receivers without packets wait because of it."""
RACES = frozenset(("MT0201", "MT0202", "MT0203", "MT0204", "MT0205"))
"""Of words that two use without an order."""
WRONG_LOCK = "MT0305"
"""Of a release to the wrong lock, which a hang and a race can both come from."""
LINK_PARTS = "MT0120"
"""Of a link that shifts the words of object FIFOs: waits of the run come of it."""
OTHER_WORDS = "MT0405"
"""Of outputs that are others than expected for a reason that nobody knows."""
OF_WORDS = frozenset((*(f"MT040{n}" for n in range(1, 7)), "MT0410", "MT0411", "MT0413"))
"""Of outputs that are others than expected: they follow from what else is wrong."""
HOLDING = frozenset(name for name, code in CODES.items() if code.holds_words)
"""Of words that are there and go no further: they stay behind even where the program comes to its end."""


CONNECTIONS = frozenset(("MT0109", "MT0110", "MT0113", "MT0312"))
"""Of streams that lead to or from nothing: others wait because of them."""
OF_WAITS = HOLDING | {"MT0103", "MT0106", "MT0108", "MT0304", "MT0309", "MT0324"}
"""Of waits and of words that are too few or too many: they follow from streams whose words are shifted."""


@dataclass(frozen=True, slots=True)
class Side:
    """A party of a finding and what it did.

    Attributes:
        who: the channel, core, lock, port or host, by the user's name and its place.
        does: what it did or waits for, as the end of a sentence: ``writes words 0 to 15 of 'a'``.
        place: where that is said: a BD, a line of a file, a register; empty if nowhere.
        cycle: when, in cycles of the array clock; None before a run.
    """

    who: str
    does: str
    place: str = ""
    cycle: Count | None = None

    def __str__(self) -> str:
        when = "" if self.cycle is None else f", cycle {self.cycle}"
        where = f" ({self.place}{when})" if self.place else when
        return printable(f"{self.who} {self.does}{where}")


@dataclass(frozen=True, slots=True)
class WordRange:
    """Words of a memory that a finding is about.

    Attributes:
        memory: the memory or buffer, by the user's name.
        first: the first of them, a word of 32 bits in that memory.
        count: how many lie between the first and the last, both included.
    """

    memory: str
    first: Count
    count: Positive


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a text.

    Attributes:
        file: that has the text; of a program that printed it the program.
        line: of the first character that goes, counted from 1; of a program its line.
        column: of that character, counted from 1; 0 where only the line is known.
        old: what stands there; empty where something is put in.
        new: what is to stand there.
        offset: of the first character in the text, counted from 0.
    """

    file: str
    line: Positive
    column: Count
    old: str
    new: str
    offset: Count = 0

    @property
    def place(self) -> str:
        """Where it is, as messages have it."""
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Repair:
    """A change with which a design finished when it was tried.

    Attributes:
        kind: of change: ``lock_value``, ``release``, ``length``, ``depth``, ``packet_id``, ``wait``, ...
        says: the change in words.
        changes: of the text of the design, in its order; none of a design without a text.
        cycles: of the run with it.
        compared: whether the words of that run were compared with expected ones, and were right.
        target: name of what is changed, of a design without a text; else empty.
        attribute: of that.
        value: that it is to have.
        place: where the design says the target; empty if ``changes`` has it.
    """

    kind: str
    says: str
    changes: Sequence[Change] = ()
    cycles: Count = 0
    compared: bool = False
    target: str = ""
    attribute: str = ""
    value: str = ""
    place: str = ""

    @property
    def text(self) -> str:
        """The repair and what was seen of it, in one line."""
        words = ", all words as expected" if self.compared else ", words not compared"
        place = f"{self.changes[0].place}: " if self.changes else ""
        return printable(f"repair (tried: finishes in {self.cycles:,} cycles{words}): {place}{self.says}")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Repair:
        """The repair of ``plain``.

        Raises:
            TypeError: something is missing.
        """
        changes = tuple(Change(**each) for each in data["changes"])
        return cls(**{**data, "changes": changes})


class End(StrEnum):
    """How a design ends with a value of a number that a host brings."""

    FINISHES = "finishes"
    HANGS = "hangs"
    WRONG = "errors"  # it ends, with an error
    REFUSED = "refused"
    OPEN = "open"  # not in the time that there was


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Values of a number with which a design ends alike.

    Attributes:
        first: the least of them.
        last: the greatest of them.
        end: ``finishes``, ``hangs``, ``errors`` or ``refused``.
        proved: some in between were not run, and have the run of others; False = each was run.
    """

    first: int
    last: int
    end: str
    proved: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """With which values of a number that a host brings a design finishes.

    Attributes:
        name: of the number, as the user has it.
        place: where it is declared or written.
        given: its value in this run; None = it had none.
        spans: of values, ascending; of others nothing is known.
        tried: the values with which the design was run.
    """

    name: str
    place: str
    given: int | None
    spans: Sequence[ValueSpan]
    tried: Sequence[int]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Condition:
        """The condition of ``plain``.

        Raises:
            TypeError: something is missing.
        """
        spans = tuple(ValueSpan(**each) for each in data["spans"])
        return cls(**{**data, "spans": spans, "tried": tuple(data["tried"])})


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, with its repair if known.

    Attributes:
        code: of ``finding_codes``, as ``MT0301``; it never changes its meaning.
        severity: error, warning or note.
        message: one sentence: the part, the problem and its reason.
        sides: the parts involved, the root cause first.
        words: the words concerned.
        cycles: first and last cycle in which it was seen; None before a run.
        fix: the repair, in words; empty if unknown.
        count: number of times it was seen.
        repair: a change of the design that made it finish; None if none was tried or found.
        condition: values of a host-supplied number, by the way the design ends; None for other findings.
        evidence: numbers behind the message, for the search of repairs; JSON has none of them.

    Raises:
        KeyError: no such code.
    """

    code: str
    severity: Severity
    message: str
    sides: Sequence[Side] = ()
    words: Sequence[WordRange] = ()
    cycles: tuple[int, int] | None = None
    fix: str = ""
    count: int = 1
    repair: Repair | None = None
    condition: Condition | None = None
    evidence: Evidence = NO_EVIDENCE

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"no finding has the code {self.code!a}")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The finding of :meth:`as_json`.

        Raises:
            KeyError: something is missing.
            ValueError: no such code, or no such severity.
        """
        return cls(
            data["code"],
            Severity(data["severity"]),
            data["message"],
            tuple(Side(**side) for side in data["sides"]),
            tuple(WordRange(**words) for words in data["words"]),
            None if data["cycles"] is None else (data["cycles"][0], data["cycles"][1]),
            data["fix"],
            data["count"],
            Repair.from_json(data["repair"]) if data.get("repair") else None,
            Condition.from_json(data["condition"]) if data.get("condition") else None,
        )

    @property
    def title(self) -> str:
        """The title of its code."""
        return CODES[self.code].title

    def __str__(self) -> str:
        often = f" ({self.count} times)" if self.count > 1 else ""
        step = f" {self.fix}" if self.fix else ""
        return printable(f"{self.code} {self.severity}: {self.message}{often}{step}")

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "code": self.code,
            "title": self.title,
            "severity": self.severity.value,
            "message": self.message,
            "sides": plain(self.sides),
            "words": plain(self.words),
            "cycles": None if self.cycles is None else list(self.cycles),
            "fix": self.fix,
            "count": self.count,
            "repair": None if self.repair is None else plain(self.repair),
            "condition": None if self.condition is None else plain(self.condition),
        }


_OF_KNOWN_REASON = ("MT0404", "MT0411", "MT0413")


def is_unplaced(finding: Finding) -> bool:
    """Whether a finding is about words that are wrong, and says neither who makes them so nor how."""
    unknown = finding.code in OF_WORDS and finding.code not in _OF_KNOWN_REASON
    return unknown and len(finding.sides) == 1
