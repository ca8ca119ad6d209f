"""What is known of each operation, as data: its attributes and properties, the words of its pretty form.

One block an operation (or several that have the same attributes), sorted by name. A line within it is
``attribute, ..: type: verdict, reason``. The verdicts:

- ``lowered``: it decides what is configured, moved or computed;
- ``ignored``: it has no effect on the machine, and the reason says why;
- ``refused``: it has one that is not lowered, and the reason says which.

Behind the names, ``words`` are those that may stand in the pretty form, ``$NAME`` is a list of :data:`ENUMS`,
``*`` is anything; ``types`` is the shape in which it has types (``value_types``); ``in`` are the
operations that it stands in, ``holds`` those that its regions may have, ``ends`` those that end their blocks.
Attributes whose name has a dot belong to other dialects and have no effect, as in mlir-aie. Every other name
is an error (``known_check``). Sources: the .td files of mlir-aie's AIE and AIEX dialects (2026-08-14) and
the older ones of texts that ``generations`` reads; MLIR's pages of its own dialects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from memtile.importers.mlir import known_array_operations, known_body_operations
from memtile.importers.mlir.forms.locks import PORTS
from memtile.importers.mlir.forms.operands import BUNDLES, DIRECTIONS

INTEGER_COMPARISONS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_COMPARISONS = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"
_COMBINING = "add mul minui minsi minnumf maxui maxsi maxnumf and or xor minimumf maximumf minf maxf"
_ATOMIC = "addf addi assign maximumf maxnumf maxs maxu minimumf minnumf mins minu mulf muli ori andi xori"
ENUMS: Mapping[str, tuple[str, ...]] = {
    "AtomicKind": tuple(_ATOMIC.split()),
    "CascadeDir": ("South", "West", "North", "East"),
    "CombiningKind": tuple(_COMBINING.split()),
    "DMAChannelDir": DIRECTIONS,
    "ExpandMode": ("none", "write32", "ctrlpkt"),
    "FastMath": ("none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"),
    "FloatPredicate": tuple(_FLOAT_COMPARISONS.split()),
    "IntegerPredicate": INTEGER_COMPARISONS,
    "LockAction": ("Acquire", "Release", "AcquireGreaterEqual"),
    "ObjectFifoPort": PORTS,
    "OldChannel": tuple(f"{direction}{n}" for direction in DIRECTIONS for n in range(6)),  # 2023
    "Overflow": ("none", "nsw", "nuw"),
    "Padding": ("const_pad_before", "const_pad_after"),
    "RoundingMode": ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"),
    "ScratchpadKind": ("core", "addr"),
    "StateTableFunc": ("mul", "incr", "decr"),
    "TileType": ("CoreTile", "MemTile", "ShimNOCTile", "ShimPLTile"),
    "WireBundle": (
        *BUNDLES,
        *(name.upper() for name in BUNDLES),
        "CTRL",
        "Ctrl",
        "Control",
    ),  # IREE has capitals
}
"""Values of mlir-aie's and MLIR's enumerations, in the order of their numbers as far as we have it."""


@dataclass(frozen=True, slots=True)
class KnownAttribute:
    """What is known of an attribute.

    Attributes:
        kind: type of its values, alternatives behind ``|``.
        verdict: ``lowered``, ``ignored`` or ``refused``.
        neutral: the value that is not refused, as the text has it; empty without one.
        reason: why it is not lowered.
    """

    kind: str
    verdict: str
    neutral: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KnownOperation:
    """What is known of an operation.

    Attributes:
        attributes: by name.
        words: of its pretty form; None if they may be any.
        types: shape in which its pretty form has them, see ``value_types``; empty if nothing is known.
        parents: operations in whose regions it may stand; empty if that does not matter.
        holds: operations that its regions may have, ``*`` is any; empty if it has no regions.
        ends: operations that end a block of its regions; empty if that does not matter.
    """

    attributes: Mapping[str, KnownAttribute]
    words: frozenset[str] | None
    types: str
    parents: tuple[str, ...]
    holds: tuple[str, ...]
    ends: tuple[str, ...]


_LINE = re.compile(
    r"(?P<names>[\w, ]+): (?P<kind>[^:]+): (?P<verdict>lowered|ignored|refused)"
    r"(?: unless (?P<neutral>\w+))?(?:, (?P<reason>.+))?"
)


@cache
def operations() -> Mapping[str, KnownOperation]:
    """What is known of each operation, by name."""
    found: dict[str, KnownOperation] = {}
    table = f"{known_array_operations.TABLE}{known_body_operations.TABLE}"
    for block in re.split(r"\n(?=\S)", table.strip()):
        head, *lines = block.split("\n")
        names, *parts = head.split("; ")
        rules = dict(part.split(" ", 1) for part in parts)
        attributes: dict[str, KnownAttribute] = {}
        for line in lines:
            read = _LINE.fullmatch(line.strip())
            assert read is not None, line
            one = KnownAttribute(read["kind"], read["verdict"], read["neutral"] or "", read["reason"] or "")
            attributes |= dict.fromkeys(read["names"].split(", "), one)
        given = [each for word in rules.get("words", "").split() for each in _words(word)]
        lists = [tuple(rules.get(rule, "").split()) for rule in ("in", "holds", "ends")]
        words = None if "*" in given else frozenset(given)
        entry = KnownOperation(attributes, words, rules.get("types", ""), *lists)
        for name in names.split():
            assert name not in found, name
            found[name] = entry
    return found


def _words(word: str) -> tuple[str, ...]:
    return ENUMS[word[1:]] if word[0] == "$" else (word,)
