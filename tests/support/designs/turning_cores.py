"""Cores whose loops take and give objects of FIFOs that a host fills and drains, as texts of MLIR."""

from __future__ import annotations

from collections.abc import Sequence

from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.explain.findings import Finding
from memtile.importers.design import load_still
from memtile.importers.mlir.token_packets import Text

CONSTANTS = "\n".join(f"%k{n} = arith.constant {n} : index" for n in range(9))
ENDLESS = "%k9 = arith.constant 9223372036854775807 : index"


def fifo(name: str, one: str, other: str, many: int) -> str:
    """An object FIFO between two tiles, of two objects of so many words."""
    return f"aie.objectfifo @{name}(%{one}, {{%{other}}}, 2 : i32) : !aie.objectfifo<memref<{many}xi32>>"


def use(name: str, port: str, many: int) -> str:
    """An acquire and a release of one object, whose first word is written or read."""
    kind = f"memref<{many}xi32>"
    return (
        f"%v{name} = aie.objectfifo.acquire @{name}({port}, 1) : !aie.objectfifosubview<{kind}>\n"
        f"aie.objectfifo.release @{name}({port}, 1)"
    )


def loop(turns: int, *body: str) -> str:
    """A loop of so many turns; 9 = without an end."""
    inside = "\n".join(body)
    return f"scf.for %i{turns} = %k0 to %k{turns} step %k1 {{\n{inside}\n}}"


def core(tile: str, *body: str) -> str:
    """A core on a tile."""
    inside = "\n".join(body)
    return f"%core_{tile} = aie.core(%{tile}) {{\n{CONSTANTS}\n{ENDLESS}\n{inside}\naie.end\n}}"


def checked(design: str, code: str = "MT0135", places: Sequence[str] = ()) -> list[Finding]:
    """The findings of a code that a check has, of a text whose lines have these places of a program."""
    return [each for each in all_findings(design, places) if each.code == code]


def all_findings(design: str, places: Sequence[str] = ()) -> Sequence[Finding]:
    """The findings that a check has."""
    text = Text("d.mlir", design, places=tuple(places))
    return check("d.mlir", lambda: of_mlir(load_still(text))).findings


def line(design: str, turns: int) -> int:
    """Of the first loop of so many turns."""
    return next(n for n, each in enumerate(design.splitlines(), 1) if f"to %k{turns} " in each)
