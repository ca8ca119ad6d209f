"""Streams between an interface tile and the programmable logic: ports, widths, and their clock.

The South slaves of the interface tile's switch take words from the programmable logic, its South masters
send words to it: eight and six for each column (AM009, AI Engine to programmable logic interface; the
driver's tables have the same ports for AIE-ML). Inside, a stream has 32 bits a cycle; each port of the
interface has 64 bits, and two adjacent ones make a stream of 128 bits. FIFOs cross between the two clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memtile.arch.grades import Grade, Source
from memtile.arch.ports import PORTS, port_kind
from memtile.arch.tiles import WORD_BYTES

BYTE_BITS = 8
PLIO_WIDTHS = (32, 64, 128)  # bits (UG1079, input_plio and output_plio)
DEFAULT_WIDTH = 32  # bits (UG1079)
CLOCK_DIVISOR = 4  # the default clock of a PLIO is that part of the array's (UG1702, table I/O)
LOGIC_SLAVES = tuple(name for name in PORTS["interface"].slaves if port_kind(name) == "SOUTH")
LOGIC_MASTERS = tuple(name for name in PORTS["interface"].masters if port_kind(name) == "SOUTH")
PAIRED_BITS = 128  # from this width on a PLIO has two adjacent ports, of which the first one is even

SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "ports": Source("AM009: AI Engine to programmable logic interface", Grade.MANUAL),
        "width": Source("UG1079: input_plio and output_plio", Grade.MANUAL),
        "clock": Source("UG1702: I/O of a graph", Grade.MANUAL),
        "pair": Source("UG1079: AI Engine to PL interface AXI protocol", Grade.MANUAL),
    }
)


def stream_words(width: int) -> int:
    """Return the words of the stream in a word of a PLIO.

    Args:
        width: of the PLIO in bits.
    """
    return width // (WORD_BYTES * BYTE_BITS)
