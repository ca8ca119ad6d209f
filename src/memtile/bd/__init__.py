"""Buffer descriptors: one typed descriptor for all tile kinds, its register words, and its legality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.bd.codec import decode, encode
    from memtile.bd.descriptor import Acquire, Axi, Descriptor, Dim, Iteration, Packet, Pad, Release
    from memtile.bd.descriptor_cases import (
        Case,
        WordCase,
        case_of,
        hex_words,
        parse_case,
        parse_words,
        words_of_case,
    )
    from memtile.bd.explain import Explanation, Line, explain_words
    from memtile.bd.legality import check
    from memtile.bd.windows import (
        EAST,
        OWN,
        WEST,
        DmaAddress,
        DmaLock,
        Place,
        Window,
        place_of_address,
        place_of_lock,
    )

_HOMES = {
    "Acquire": "memtile.bd.descriptor",
    "Axi": "memtile.bd.descriptor",
    "Case": "memtile.bd.descriptor_cases",
    "Descriptor": "memtile.bd.descriptor",
    "Dim": "memtile.bd.descriptor",
    "DmaAddress": "memtile.bd.windows",
    "DmaLock": "memtile.bd.windows",
    "EAST": "memtile.bd.windows",
    "Explanation": "memtile.bd.explain",
    "Iteration": "memtile.bd.descriptor",
    "Line": "memtile.bd.explain",
    "OWN": "memtile.bd.windows",
    "Packet": "memtile.bd.descriptor",
    "Pad": "memtile.bd.descriptor",
    "Place": "memtile.bd.windows",
    "Release": "memtile.bd.descriptor",
    "WEST": "memtile.bd.windows",
    "Window": "memtile.bd.windows",
    "WordCase": "memtile.bd.descriptor_cases",
    "case_of": "memtile.bd.descriptor_cases",
    "check": "memtile.bd.legality",
    "decode": "memtile.bd.codec",
    "encode": "memtile.bd.codec",
    "explain_words": "memtile.bd.explain",
    "hex_words": "memtile.bd.descriptor_cases",
    "parse_case": "memtile.bd.descriptor_cases",
    "parse_words": "memtile.bd.descriptor_cases",
    "place_of_address": "memtile.bd.windows",
    "place_of_lock": "memtile.bd.windows",
    "words_of_case": "memtile.bd.descriptor_cases",
}

__all__ = [
    "EAST",
    "OWN",
    "WEST",
    "Acquire",
    "Axi",
    "Case",
    "Descriptor",
    "Dim",
    "DmaAddress",
    "DmaLock",
    "Explanation",
    "Iteration",
    "Line",
    "Packet",
    "Pad",
    "Place",
    "Release",
    "Window",
    "WordCase",
    "case_of",
    "check",
    "decode",
    "encode",
    "explain_words",
    "hex_words",
    "parse_case",
    "parse_words",
    "place_of_address",
    "place_of_lock",
    "words_of_case",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
