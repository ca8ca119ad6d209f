"""The codes of findings and what each stands for. A code keeps its meaning; a new meaning gets a new code.

01xx is said before a run, of budgets and of what the hardware does not have; 02xx of memory that two use
without an order; 03xx of waiting; 04xx of results; 05xx of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        "MT0100": "the design is refused",
        "MT0101": "more of something is asked than a tile has",
        "MT0102": "a circuit that the stream switch does not have",
        "MT0103": "a lock that nobody can bring to the value that is waited for",
        "MT0104": "a buffer descriptor that ends in the middle of a row",
        "MT0105": "two use the same memory without an order between them",
        "MT0106": "waits that form a circle",
        "MT0107": "buffers that overlap",
        "MT0108": "the two ends of a stream differ in length",
        "MT0109": "a channel with a task whose stream is not connected",
        "MT0110": "a stream whose receiver has no task",
        "MT0111": "packets of an id that no slot takes",
        "MT0112": "a wait for a token that no task before it sends",
        "MT0113": "a stream whose sender has no task",
        "MT0114": "a task that is pushed to a queue that is full whatever the timing",
        "MT0115": "a task whose first descriptor halts the channel",
        "MT0116": "a transfer to external memory after which the host waits for nothing",
        "MT0201": "a write and a read without an order",
        "MT0202": "two writes without an order",
        "MT0203": "words that are read before anybody wrote them",
        "MT0204": "words that are overwritten before anybody read them",
        "MT0205": "words of the round before are read again",
        "MT0206": "words that come out otherwise with another timing",
        "MT0301": "a circle of waits",
        "MT0302": "a lock that never reaches the value that is waited for",
        "MT0303": "locks that begin without the room or the data that a first wait needs",
        "MT0304": "two ends of a stream expect different lengths",
        "MT0305": "a release goes to a lock that nobody waits for",
        "MT0306": "a packet that nobody takes",
        "MT0307": "packets that share an arbiter hold each other up",
        "MT0308": "a task that was dropped because the queue was full",
        "MT0309": "a core that ended while others wait for it",
        "MT0310": "cores that take the same locks in different orders",
        "MT0311": "a core without a program",
        "MT0312": "a stream that nobody takes or nobody sends",
        "MT0313": "a wait for a token that nobody sends",
        "MT0314": "a wait for something that is not there",
        "MT0315": "a channel or core that was halted while others wait for it",
        "MT0316": "a tile whose clock is off, or whose reset is held, while others wait for it",
        "MT0317": "a core that is stalled at a lock which nobody can tell",
        "MT0318": "a host that ended before what it started was written",
        "MT0319": "writes that nothing answers",
        "MT0401": "words come out in another order",
        "MT0402": "words come out shifted",
        "MT0403": "words that were never written come out",
        "MT0404": "bytes come out in another order",
        "MT0406": "the same block comes out again",
        "MT0501": "bank conflicts cost time",
        "MT0502": "short descriptors cost time",
        "MT0503": "short tasks cost time",
        "MT0504": "two take turns at one buffer",
        "MT0505": "the host is slower than the array",
        "MT0506": "external memory costs time",
    }
)

DROPPED = "MT0308"
"""Of a task that was dropped, which is wrong whether or not anything waits for it."""
WRONG_LOCK = "MT0305"
"""Of a release to the wrong lock, which a hang and a race can both come from."""
HOLDING = frozenset(("MT0301", "MT0302", "MT0303", WRONG_LOCK, "MT0306", "MT0307", "MT0309", "MT0310"))
"""Of words that are there and go no further: they stay behind even where the program comes to its end."""
