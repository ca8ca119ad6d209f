"""Programs of register writes: transactions, CDO files and register dumps read, run, recorded and written.

``docs/files.md`` describes the formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.lazy import offer

if TYPE_CHECKING:
    from memtile.io.program.program_formats import Program, StoredProgram, read_program
    from memtile.io.program.recorder import Recording, record
    from memtile.io.program.register_dump import dump_json, dump_text
    from memtile.io.program.transaction import Transaction, read_transaction, transaction_bytes
    from memtile.io.program.transaction_format import Header
    from memtile.runs.array_names import Given, Wanted
    from memtile.runs.operations import (
        ArrayShape,
        BlockWrite,
        MaskPoll,
        MaskWrite,
        Operation,
        Write,
        address_of,
    )
    from memtile.runs.program import ProgramResult, Run
    from memtile.runs.register_writes import apply, check, unanswered
    from memtile.runs.session import run_program

_HOMES = {
    "ArrayShape": "memtile.runs.operations",
    "BlockWrite": "memtile.runs.operations",
    "Given": "memtile.runs.array_names",
    "Header": "memtile.io.program.transaction_format",
    "MaskPoll": "memtile.runs.operations",
    "MaskWrite": "memtile.runs.operations",
    "Operation": "memtile.runs.operations",
    "Program": "memtile.io.program.program_formats",
    "ProgramResult": "memtile.runs.program",
    "Recording": "memtile.io.program.recorder",
    "Run": "memtile.runs.program",
    "StoredProgram": "memtile.io.program.program_formats",
    "Transaction": "memtile.io.program.transaction",
    "Wanted": "memtile.runs.array_names",
    "Write": "memtile.runs.operations",
    "address_of": "memtile.runs.operations",
    "apply": "memtile.runs.register_writes",
    "check": "memtile.runs.register_writes",
    "dump_json": "memtile.io.program.register_dump",
    "dump_text": "memtile.io.program.register_dump",
    "read_program": "memtile.io.program.program_formats",
    "read_transaction": "memtile.io.program.transaction",
    "record": "memtile.io.program.recorder",
    "run_program": "memtile.runs.session",
    "transaction_bytes": "memtile.io.program.transaction",
    "unanswered": "memtile.runs.register_writes",
}

__all__ = [
    "ArrayShape",
    "BlockWrite",
    "Given",
    "Header",
    "MaskPoll",
    "MaskWrite",
    "Operation",
    "Program",
    "ProgramResult",
    "Recording",
    "Run",
    "StoredProgram",
    "Transaction",
    "Wanted",
    "Write",
    "address_of",
    "apply",
    "check",
    "dump_json",
    "dump_text",
    "read_program",
    "read_transaction",
    "record",
    "run_program",
    "transaction_bytes",
    "unanswered",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(__name__, _HOMES)
