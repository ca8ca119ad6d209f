"""The codes of findings and what each stands for. A code keeps its meaning; a new meaning gets a new code.

01xx is said before a run, of budgets and of what the hardware does not have; 02xx of memory that two use
without an order; 03xx of waiting; 04xx of results; 05xx of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"  # the design is wrong: it hangs, or its words depend on luck
    WARNING = "warning"  # it may be meant, but seldom is
    NOTE = "note"  # worth knowing; no run is worse for it


@dataclass(frozen=True, slots=True)
class Code:
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


CODES: Mapping[str, Code] = MappingProxyType(
    {
        "MT0100": Code("the design is refused", Severity.ERROR),
        "MT0101": Code("more of something is asked than a tile has", Severity.ERROR),
        "MT0102": Code("a circuit that the stream switch does not have", Severity.ERROR),
        "MT0103": Code("a lock that nobody can bring to the value that is waited for", Severity.ERROR),
        "MT0104": Code("a buffer descriptor that ends in the middle of a row", Severity.WARNING),
        "MT0105": Code("two use the same memory without an order between them", Severity.ERROR),
        "MT0106": Code("waits that form a circle", Severity.ERROR),
        "MT0107": Code("buffers that overlap", Severity.ERROR),
        "MT0108": Code("the two ends of a stream differ in length", Severity.ERROR),
        "MT0109": Code("a channel with a task whose stream is not connected", Severity.ERROR),
        "MT0110": Code("a stream whose receiver has no task", Severity.ERROR),
        "MT0111": Code("packets of an id that no slot takes", Severity.ERROR),
        "MT0112": Code("a wait for a token that no task before it sends", Severity.ERROR),
        "MT0113": Code("a stream whose sender has no task", Severity.ERROR),
        "MT0114": Code("a task that is pushed to a queue that is full whatever the timing", Severity.ERROR),
        "MT0115": Code("a task whose first descriptor halts the channel", Severity.ERROR),
        "MT0116": Code(
            "a transfer to external memory after which the host waits for nothing", Severity.WARNING
        ),
        "MT0201": Code("a write and a read without an order", Severity.ERROR, follows=("MT0205",)),
        "MT0202": Code("two writes without an order", Severity.ERROR),
        "MT0203": Code("words that are read before anybody wrote them", Severity.WARNING),
        "MT0204": Code(
            "words that are overwritten before anybody read them",
            Severity.ERROR,
            follows=("MT0201", "MT0205"),
        ),
        "MT0205": Code("words of the round before are read again", Severity.ERROR),
        "MT0206": Code("words that come out otherwise with another timing", Severity.ERROR),
        "MT0301": Code("a circle of waits", Severity.ERROR, holds_words=True),
        "MT0302": Code(
            "a lock that never reaches the value that is waited for", Severity.ERROR, holds_words=True
        ),
        "MT0303": Code(
            "locks that begin without the room or the data that a first wait needs",
            Severity.ERROR,
            holds_words=True,
        ),
        "MT0304": Code("two ends of a stream expect different lengths", Severity.ERROR),
        "MT0305": Code("a release goes to a lock that nobody waits for", Severity.ERROR, holds_words=True),
        "MT0306": Code("a packet that nobody takes", Severity.ERROR, holds_words=True),
        "MT0307": Code("packets that share an arbiter hold each other up", Severity.ERROR, holds_words=True),
        "MT0308": Code("a task that was dropped because the queue was full", Severity.ERROR),
        "MT0309": Code("a core that ended while others wait for it", Severity.ERROR, holds_words=True),
        "MT0310": Code(
            "cores that take the same locks in different orders", Severity.ERROR, holds_words=True
        ),
        "MT0311": Code("a core without a program", Severity.ERROR),
        "MT0312": Code("a stream that nobody takes or nobody sends", Severity.ERROR),
        "MT0313": Code("a wait for a token that nobody sends", Severity.ERROR),
        "MT0314": Code("a wait for something that is not there", Severity.ERROR),
        "MT0315": Code("a channel or core that was halted while others wait for it", Severity.ERROR),
        "MT0316": Code(
            "a tile whose clock is off, or whose reset is held, while others wait for it", Severity.ERROR
        ),
        "MT0317": Code("a core that is stalled at a lock which nobody can tell", Severity.ERROR),
        "MT0318": Code("a host that ended before what it started was written", Severity.WARNING),
        "MT0319": Code("writes that nothing answers", Severity.WARNING),
        "MT0401": Code("words come out in another order", Severity.ERROR),
        "MT0402": Code("words come out shifted", Severity.ERROR),
        "MT0403": Code("words that were never written come out", Severity.ERROR),
        "MT0404": Code("bytes come out in another order", Severity.ERROR),
        "MT0406": Code("the same block comes out again", Severity.ERROR),
        "MT0501": Code("bank conflicts cost time", Severity.NOTE),
        "MT0502": Code("short descriptors cost time", Severity.NOTE),
        "MT0503": Code("short tasks cost time", Severity.NOTE),
        "MT0504": Code("two take turns at one buffer", Severity.NOTE),
        "MT0505": Code("the host is slower than the array", Severity.NOTE),
        "MT0506": Code("external memory costs time", Severity.NOTE),
    }
)

DROPPED = "MT0308"
"""Of a task that was dropped, which is wrong whether or not anything waits for it."""
WRONG_LOCK = "MT0305"
"""Of a release to the wrong lock, which a hang and a race can both come from."""
HOLDING = frozenset(name for name, code in CODES.items() if code.holds_words)
"""Of words that are there and go no further: they stay behind even where the program comes to its end."""
