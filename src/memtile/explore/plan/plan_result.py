"""What a plan found: designs, ranked, with certificates, as Python and as files to keep.

The text of a planned design: a file of its own, whose arguments have the planned values as defaults.

What is certain of a planned design: run with data, looked at for races and before its run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from memtile import __version__
from memtile.access.lowering.certificate import proofs
from memtile.check.check import check_design
from memtile.check.check_result import CheckResult
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.design.run_design import make
from memtile.documents import plain
from memtile.errors import InputFileError, MemtileError
from memtile.explain.results import Result
from memtile.explore.plan.budgets import refuse
from memtile.explore.plan.iron_program import iron_fault, iron_refusal, iron_source
from memtile.explore.sweep.data_frames import frame_of, table_of
from memtile.explore.sweep.row import SweepRow, VariantState, costs_of, front
from memtile.explore.sweep.space import TIMING
from memtile.explore.sweep.sweep_result import reasons
from memtile.explore.sweep.variant_figures import FIGURES
from memtile.importers.design_file import design_function
from memtile.input_files import syntax_tree
from memtile.output_files import write_output
from memtile.runs.options import RunOptions
from memtile.sheet import Sheet, SheetColumn


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found out about a design.

    Attributes:
        walks: transfers whose descriptors' walk was compared with what was asked.
        words: of these walks.
        cycles: of the run with data.
        exact: what came out is what was expected, bit by bit.
        findings: of the run, races among them, and of the check before it.
        why: what is wrong; empty = the certificate holds.
        cores: that work.
        limit: what the run waits for most, in one line.
    """

    walks: int
    words: int
    cycles: int
    exact: bool
    findings: tuple[str, ...]
    why: str = ""
    cores: int = 0
    limit: str = ""

    @property
    def holds(self) -> bool:
        """Whether all is as it should be."""
        return not self.why

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"holds": self.holds, **plain(self)}

    @property
    def text(self) -> str:
        """One line."""
        if not self.holds:
            return f"no certificate: {self.why}"
        return (
            f"certificate: {self.walks} walks proved over {self.words} words, "
            f"bit-exact in {self.cycles} cycles, no race, no deadlock, no finding"
        )


def prove(file: str, point: Mapping[str, object], cycles: float, options: RunOptions) -> Proof:
    """Find out about a design.

    Args:
        file: of the design.
        point: values of its arguments, without ``data``.
        cycles: of its run without data, which it must take with data too.
        options: of the run.
    """
    function = design_function(file)
    try:
        with proofs() as walks:
            made = make(function, {**point, "data": True}, file)
        result = made.run(options, check=True, data=True)
        checked = check_design(lambda: _made(function, point, file), file)
    except MemtileError as error:
        return Proof(0, 0, 0, False, (), " ".join(str(error).split()))
    findings = tuple(map(str, (*result.findings, *checked.findings)))
    why = "; ".join(_faults(result, checked, cycles, all(each.holds for each in walks)))
    words, exact = sum(each.words for each in walks), result.exact is True
    limit = result.bound.text if result.bound is not None else ""
    return Proof(len(walks), words, result.cycles, exact, findings, why, len(result.cores), limit)


def _made(function: Any, point: Mapping[str, object], file: str) -> MemoryTile | Array:
    return make(function, {**point, "data": False}, file)


def _faults(result: Result, checked: CheckResult, cycles: float, walks: bool) -> Iterator[str]:
    if not walks:
        yield "a walk is not what was asked"
    if not result.good:
        yield f"the run with data is {result.status}"
    if result.exact is not True:
        yield "what comes out is not what was expected"
    if result.cycles != cycles:
        yield f"{result.cycles} cycles with data, {cycles:.0f} without"
    yield from map(str, (*result.findings, *checked.findings))


_PUBLIC = {
    "memtile.sim": "memtile.kernels",
    "memtile.runs": "memtile.kernels",
}  # all other modules are offered by memtile itself
_LINE = 100


def template(name: str) -> str:
    """The text of a design with holes, importing what users import."""
    text = files("memtile.explore.plan.designs").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return _public_imports(text)


def filled(name: str, values: Mapping[str, object], head: str = "") -> str:
    """The text of a design with values for its arguments.

    Args:
        name: of the design with holes.
        values: by argument.
        head: lines above its code, as a comment.
    """
    text = template(name)
    tree = syntax_tree(text)
    design = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "design")
    lines = text.splitlines()
    for argument, default in zip(design.args.args, design.args.defaults, strict=True):
        if argument.arg in values:
            at, value = default.lineno - 1, _literal(values[argument.arg])
            lines[at] = lines[at][: default.col_offset] + value + lines[at][default.end_col_offset :]
    if head:
        first = tree.body[0]
        assert first.end_lineno is not None
        lines[first.end_lineno : first.end_lineno] = [
            "",
            *(f"# {line}".rstrip() for line in head.splitlines()),
        ]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _public_imports(text: str) -> str:
    """Imports of modules within memtile as those of what it offers."""
    tree, lines = syntax_tree(text), text.splitlines()
    own = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memtile.")
    ]
    names: dict[str, list[str]] = {}
    for node in own:
        module = next(
            (to for of, to in _PUBLIC.items() if (node.module or "").startswith(f"{of}.")), "memtile"
        )
        names.setdefault(module, []).extend(alias.name for alias in node.names)
    new = [line for module in sorted(names) for line in _import(module, sorted(names[module]))]
    taken = {n for node in own for n in range(node.lineno - 1, node.end_lineno or node.lineno)}
    lines[min(taken)] = "\n".join(new)
    return "\n".join(line for n, line in enumerate(lines) if n not in taken - {min(taken)}) + "\n"


def _import(module: str, names: list[str]) -> Iterator[str]:
    names = sorted(names, key=lambda name: (not name[0].isupper(), name))
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _LINE:
        yield line
        return
    yield f"from {module} import ("
    yield from (f"    {name}," for name in names)
    yield ")"


_SHOWN = 10
FORMS = (".iron.py", ".mlir", ".py")
"""Ends of names of files that a design may be written to: a program of IRON, MLIR, a design in Python."""


def form_of(path: str | Path) -> str:
    """Which of ``FORMS`` a name ends in.

    Raises:
        InputFileError: none.
    """
    found = next((form for form in FORMS if Path(path).name.endswith(form)), None)
    if found is None:
        raise InputFileError(f"{path}: the name of a design must end in .py, .iron.py or .mlir.")
    return found


def arguments_of(row: SweepRow) -> dict[str, Any]:
    """What the design of a row is made with, but for its data."""
    return {n: value for n, value in row.point.items() if n != "data" and not n.startswith(TIMING)}


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """What bounds a layer from below: its products.

    Attributes:
        products: multiplications of the layer; 0 = they do not bound it.
        rate: of a core in a cycle.
        cores: of the part of the device that may be used.
    """

    products: int = 0
    rate: int = 0
    cores: int = 0

    def least(self, cores: int) -> int:
        """Cycles that so many cores need for the products at least."""
        return -(-self.products // (self.rate * cores))

    def text(self, proof: Proof) -> str:
        """One line: cycles of a design against those of its products, and what limits it."""
        limit = f"; {proof.limit}" if proof.limit else ""
        if not self.products or not proof.cores:
            return f"{proof.cycles:,} cycles{limit}"
        least = self.least(proof.cores)
        every = f", {self.least(self.cores):,} on all {self.cores}" if proof.cores < self.cores else ""
        return (
            f"{proof.cycles:,} cycles; {self.products:,} products need {least:,} at least on its "
            f"{proof.cores} cores ({least / max(proof.cycles, 1):.0%} of the cycles){every}{limit}"
        )


@dataclass(frozen=True, repr=False)
class PlanResult:
    """The outcome of a plan.

    Attributes:
        layer: name of the design with holes.
        title: the layer in one line.
        place: device and columns.
        objectives: by which designs are ranked.
        ranked: good designs, best first.
        failed: designs stopped early because others are better, or infeasible.
        proofs: certificates, by key of the row.
        candidates: total number of placements; only some of them were tried.
        seconds: that it took.
        shown: rows of the table.
        timing: timing constants that were given, by name.
        work: products of the layer, which bound its cycles from below.
    """

    layer: str
    title: str
    place: str
    objectives: Sequence[str]
    ranked: Sequence[SweepRow]
    failed: Sequence[SweepRow]
    proofs: Mapping[str, Proof]
    candidates: int
    seconds: float = 0.0
    shown: int = field(default=_SHOWN, compare=False)
    timing: Mapping[str, int] = field(default_factory=dict)
    work: PlannedWork = PlannedWork()

    @cached_property
    def front(self) -> tuple[SweepRow, ...]:
        """The Pareto front: designs that no other design beats in all objectives."""
        costs = [costs_of(row.figures, self.objectives) for row in self.ranked]
        return tuple(self.ranked[place] for place in front(costs))

    @property
    def good(self) -> bool:
        """Whether there is a good design, with a certificate if any was requested."""
        return bool(self.ranked)

    def values(self, number: int = 0) -> dict[str, Any]:
        """Values of the arguments of a design, by its place in the ranking.

        Raises:
            DesignError: no design has this number.
        """
        if not 0 <= number < len(self.ranked):
            allowed = f"0..{len(self.ranked) - 1}" if self.ranked else "none: no candidate is good"
            raise refuse(self.layer, "number", number, allowed)
        return arguments_of(self.ranked[number])

    def source(self, number: int = 0) -> str:
        """The text of a design: a Python file with ``design()``, for ``memtile run`` and all others.

        Raises:
            DesignError: no design has this number.
        """
        return filled(self.layer, self.values(number), self._head(number))

    def iron(self, number: int = 0) -> str:
        """The text of a program of IRON with the tiles of a design, and kernels in C++.

        Raises:
            DesignError: no design has this number, or object FIFOs cannot express it.
        """
        values = self.values(number)
        if fault := iron_fault(self.layer, values):
            others = (n for n in range(len(self.ranked)) if not iron_fault(self.layer, self.values(n)))
            raise iron_refusal(self.layer, fault, next(others, None))
        return iron_source(self.layer, self.title, values, self._head(number))

    def mlir(self, number: int = 0) -> str:
        """A design as MLIR that mlir-aie takes; see :func:`memtile.to_mlir`.

        Raises:
            DesignError: no design has this number, or no operation of mlir-aie can express it.
        """
        from memtile.mlir_writer.designs import to_mlir

        return to_mlir(self.design(number))

    def _head(self, number: int) -> str:
        """Lines that say where a design comes from."""
        row = self.ranked[number]
        figures = ", ".join(f"{row.figures[name]:.0f} {name}" for name in ("cycles", "l2", "l1", "bds"))
        lines = [f"Planned by memtile {__version__}: {self.title}; {self.place}.", f"Simulated: {figures}."]
        if proof := self.proofs.get(row.key):
            lines.append(f"With data: {proof.text}.")
        return "\n".join(lines)

    def save(self, path: str | Path, number: int = 0) -> None:
        """Write the text of a design to a file: as a program of IRON, Python or MLIR, by the end of its name.

        Raises:
            DesignError: no design has this number, or the format cannot express it.
            InputFileError: the file cannot be written, or its name does not end in ``.py``,
                ``.iron.py`` or ``.mlir``.
        """
        texts = {".iron.py": self.iron, ".mlir": self.mlir, ".py": self.source}
        write_output(Path(path), texts[form_of(path)](number))

    def design(self, number: int = 0, *, data: bool = True) -> Array:
        """Return a design, built and not yet run.

        Args:
            number: its place in the ranking.
            data: include matrices and images; False = timing only.

        Raises:
            DesignError: no design has this number.
        """
        from importlib import import_module

        function = import_module(f"memtile.explore.plan.designs.{self.layer}").design
        made = make(function, {**self.values(number), "data": data}, self.layer)
        assert isinstance(made, Array)
        return made

    def arrow(self) -> Any:
        """Return the designs as a ``pyarrow.Table``, best first.

        Raises:
            InputFileError: pyarrow is not installed.
        """
        return table_of(self.ranked)

    def pandas(self) -> Any:
        """Return the designs as a pandas data frame, best first.

        Raises:
            InputFileError: pyarrow or pandas is not installed.
        """
        return frame_of(self.ranked)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        on_front = {row.key for row in self.front}
        return {
            "layer": self.layer,
            "title": self.title,
            "place": self.place,
            "good": self.good,
            "objectives": list(self.objectives),
            "candidates": self.candidates,
            "tried": len(self.ranked) + len(self.failed),
            "timing": dict(self.timing),
            "work": plain(self.work),
            "designs": [
                {
                    "values": self.values(number),
                    "figures": dict(row.figures),
                    "front": row.key in on_front,
                    "certificate": proof.as_json() if (proof := self.proofs.get(row.key)) else None,
                }
                for number, row in enumerate(self.ranked)
            ],
            "failed": [
                {
                    "values": arguments_of(row),
                    "state": row.state.value,
                    "kind": row.kind,
                    "why": row.why,
                }
                for row in self.failed
            ],
        }

    def __repr__(self) -> str:
        return f"PlanResult({self.title}: {len(self.ranked)} designs, {len(self.proofs)} with a certificate)"

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def _names(self) -> tuple[list[str], dict[str, object]]:
        """The arguments in which designs differ, and the values of those that are equal in all."""
        every = [*self.ranked, *self.failed]
        first = every[0].point if every else {}
        names = [name for name in first if len({str(row.point[name]) for row in every}) > 1]
        same = arguments_of(every[0]) if every else {}
        return names, {n: value for n, value in same.items() if n not in names}

    def sheet(self) -> Sheet:
        """Return the best designs for people: their differences, figures, and the certificate of the best."""
        on_front = {row.key for row in self.front}
        names, same = self._names()
        shown = self.ranked[: self.shown]
        figures = [name for name in FIGURES if all(name in row.figures for row in shown)]
        rows = [
            (
                str(number),
                "*" if row.key in on_front else "",
                *_cells(row, names, figures),
                "proved" if row.key in self.proofs else "",
            )
            for number, row in enumerate(shown)
        ]
        heads = ("", "", *names, *figures, "")
        return Sheet(
            above=(f"{self.title}; {self.place}", "  " + ", ".join(f"{n} = {v}" for n, v in same.items())),
            columns=tuple(SheetColumn(head, right=head != "", one_line=True) for head in heads),
            rows=tuple(rows),
            below=tuple(self._lines(len(shown), names)),
        )

    def _lines(self, shown: int, names: Sequence[str]) -> list[str]:
        beaten = sum(row.state is VariantState.BEATEN for row in self.failed)
        bad = len(self.failed) - beaten
        counts = f"{len(self.ranked)} good" + f", {beaten} beaten" * bool(beaten)
        counts += f", {bad} infeasible" * bool(bad)
        tried = len(self.ranked) + len(self.failed)
        lines = [f"{self.candidates} ways fit, the {tried} most promising were tried: {counts}"]
        lines.append(f"* = on the Pareto front of {', '.join(self.objectives)}")
        if self.timing:
            lines.append(f"timing given: {', '.join(f'{name} = {at}' for name, at in self.timing.items())}")
        if shown < len(self.ranked):
            lines.append(f"{len(self.ranked) - shown} more good designs are not shown")
        lines += reasons([replace(row, point={n: row.point[n] for n in names}) for row in self.failed])
        for number, row in enumerate(self.ranked):
            if proof := self.proofs.get(row.key):
                lines += [f"{number}: {text}" for text in (proof.text, self.work.text(proof))]
        return lines


def _cells(row: SweepRow, names: Sequence[str], figures: Sequence[str]) -> Iterator[str]:
    yield from (str(row.point[name]) for name in names)
    yield from (_figure(name, row.figures[name]) for name in figures)


def _figure(name: str, value: float) -> str:
    return f"{value:.1%}" if name == "share" else f"{value:.0f}"
