"""When to look for periods, how long, and what that may cost: numbers that make runs quick, never wrong.

Guards (``repeat_guards``, ``comparison``, ``counted_walks``) prove that a period repeats. What stands here
says when that is tried; any value leads to the same states. What half and double of each value do to the rows
of ``benchmarks/rows.py``, ``docs/speed.md`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, get_args, get_type_hints

from memtile.model.state.columns import Ints


@dataclass(frozen=True, slots=True)
class Choice:
    """A number of the policy.

    Attributes:
        value: the number.
        unit: of it; ``ns`` are nanoseconds, about: costs are computed, so that a run is the same each time.
        what: it is.
    """

    value: int
    unit: str
    what: str


class Policy(NamedTuple):
    """When fast-forward looks for periods, one row; see the :class:`Choice` of each column."""

    # probes: the state is stored and compared with that of each of the next cycles
    first_probe: Annotated[Ints, Choice(64, "cycles", "length of a probe after one that found a period")]
    probe_growth: Annotated[
        Ints, Choice(2, "log2", "how much longer a probe is after one that found nothing")
    ]
    longest_probe: Annotated[Ints, Choice(4096, "cycles", "length of a probe at most")]
    adjacent_probes: Annotated[Ints, Choice(2, "probes", "that find nothing and follow each other at once")]
    probe_distance: Annotated[Ints, Choice(4, "lengths", "of a probe between later ones")]
    compared_slots: Annotated[Ints, Choice(4, "states", "whose words may be compared in a probe")]
    least_gain: Annotated[Ints, Choice(128, "cycles", "that a jump after a probe has to gain")]
    probe_between: Annotated[Ints, Choice(208, "cycles", "length of a first probe between actions of cores")]
    second_state: Annotated[
        Ints, Choice(64, "cycles", "of a probe after which another state is stored: words have begun to run")
    ]
    long_period: Annotated[Ints, Choice(32, "cycles", "of a period that the next probe tries as it is")]
    ends_ahead: Annotated[
        Ints,
        Choice(224, "cycles", "ahead in which the end of a BD, or of a wait of a core, postpones a probe"),
    ]
    postponed_again: Annotated[Ints, Choice(448, "cycles", "before a probe is postponed once more")]
    settling: Annotated[
        Ints,
        Choice(56, "cycles", "after such an end, or an action of a core, in which words come to run evenly"),
    ]
    found_probes: Annotated[
        Ints, Choice(4, "probes", "between actions of cores that may fail for one that found a period")
    ]
    planned_probes: Annotated[Ints, Choice(4, "probes", "between actions of cores that may fail for a plan")]
    most_probes: Annotated[Ints, Choice(16, "probes", "between actions of cores that may fail at all")]
    after_jump: Annotated[
        Ints,
        Choice(40, "cycles", "after a jump in which a BD ends and the next one fills what has run empty"),
    ]
    # rings of BDs: states are stored at ends of BDs of one channel, the anchor
    stale_anchor: Annotated[
        Ints, Choice(1 << 15, "cycles", "without an end of a BD after which another channel is the anchor")
    ]
    needed_rounds: Annotated[
        Ints, Choice(2, "rounds", "that have to follow before a ring without a log is noted: one of them is")
    ]
    pause_part: Annotated[
        Ints, Choice(4, "part", "of its cycles after which a log that was full and of no use is begun again")
    ]
    ring_tries: Annotated[Ints, Choice(128, "states", "stored before they become rarer")]
    gap_turns: Annotated[
        Ints,
        Choice(4, "gaps", "of different lengths: with one length states would miss what repeats for a while"),
    ]
    stored_words: Annotated[Ints, Choice(16, "words", "that may be stored for each cycle that is stepped")]
    cheap_cycle: Annotated[
        Ints, Choice(768, "ns", "of a cycle; where one costs more, states are stored as much sooner")
    ]
    # what stepping costs
    cost_of_cycle: Annotated[Ints, Choice(7, "ns", "of a cycle of the clock")]
    cost_of_channel: Annotated[Ints, Choice(20, "ns", "of an active channel in a cycle")]
    cost_of_port: Annotated[Ints, Choice(13, "ns", "of an active port in a cycle")]
    cost_of_core: Annotated[Ints, Choice(20, "ns", "of an active core in a cycle")]
    # what the search costs
    cost_of_scan: Annotated[Ints, Choice(3, "ns", "of a row that may be live, for a plan")]
    cost_of_try: Annotated[Ints, Choice(25, "ns", "of seeing that a state is not that of a slot")]
    cost_of_guards: Annotated[Ints, Choice(15, "ns", "of the guards of a channel")]
    cost_of_row: Annotated[Ints, Choice(3, "ns", "of a row of the log")]
    cost_of_new_row: Annotated[Ints, Choice(12, "ns", "of a row of the log that is used for the first time")]
    # what the search may cost
    share: Annotated[Ints, Choice(40, "part", "of what was stepped that the search may cost: one in so many")]
    probe_share: Annotated[Ints, Choice(80, "part", "of it that probes may cost")]
    ring_reserve: Annotated[Ints, Choice(60_000, "ns", "that probes leave for rings")]
    ring_effort: Annotated[
        Ints, Choice(30_000, "ns", "that a second search for rings may cost; each later one twice as much")
    ]
    refund_part: Annotated[
        Ints,
        Choice(8, "part", "of what a jump after a probe saves that later probes may cost beside their share"),
    ]
    longest_wait: Annotated[Ints, Choice(1 << 20, "cycles", "until the cost is looked at again")]


def choices() -> dict[str, Choice]:
    """Return the choice of each column of :class:`Policy`."""
    hints = get_type_hints(Policy, include_extras=True)
    return {name: get_args(hint)[-1] for name, hint in hints.items()}
