"""``memtile info``: the devices, what each tile kind can do, and registers by name or address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import typer

from memtile.arch.devices import DEVICES, PARTITIONS, Device, device, device_hint
from memtile.arch.tiles import GENERATIONS, TILE_KINDS, WORD_BYTES, Generation, Role, TileKind, kinds_of
from memtile.cli.design_file import show_parameters
from memtile.cli.failure import UsageError
from memtile.errors import DesignError
from memtile.plain_text import json_text

T = TypeVar("T")
_TEXT_WIDTH = 110  # characters

EXAMPLES = """\b
Examples:
  memtile info
  memtile info npu2
  memtile info DMA_S2MM_0_Ctrl
  memtile info 0xA0604 --tile memory
  memtile info npu2 0x21D214
  memtile info lock0
  memtile info event 77 --tile compute
  memtile info --json
  memtile info matmul.py
  memtile info --registers
  memtile info npu1 --registers --refused
  memtile info --timing
  memtile info --mlir
  memtile info --sandbox
"""


def _span(numbers: Sequence[int]) -> str | None:
    """Numbers as people write them: ``0..3, 7``; ``None`` when there are none."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}..{run[-1]}" if run[1:] else str(run[0]) for run in runs) or None


def _windows(kind: TileKind) -> str:
    return ", ".join(f"{name} {at}..{at + kind.locks - 1}" for name, at in kind.lock_windows.items())


def _field_range(name: str) -> Callable[[TileKind], object]:
    def value(kind: TileKind) -> object:
        if name not in kind.bd_fields:
            return None
        low, high = kind.limits(name)
        return f"{low}..{high}"

    return value


def _padding(kind: TileKind) -> str | None:
    if not kind.has_padding:
        return None
    return "of each MM2S channel" if kind.pad_value_base else "0"


def _bursts(kind: TileKind) -> str | None:
    burst = kind.bd_fields.get("Burst_Length")
    return ", ".join(map(str, burst.codes)) if burst else None


def _compression(kind: TileKind) -> str | None:
    if not kind.has_compression:
        return None
    return "yes" if kind.compression_known else "its format is not public"


DEVICE_ROWS: dict[str, Callable[[Device], object]] = {
    "family": lambda d: d.family,
    "generation": lambda d: d.generation,
    "columns": lambda d: d.columns,
    "rows": lambda d: d.rows,
    "memory tile rows": lambda d: _span(d.memory_rows),
    "compute tile rows": lambda d: _span(d.compute_rows),
    "interface DMA columns": lambda d: _span(d.noc_columns),
    "physical columns": lambda d: d.physical_columns,
    "source": lambda d: f"{d.source.text} ({d.source.grade})",
}

KIND_ROWS: dict[str, Callable[[TileKind], object]] = {
    "data memory, bytes": lambda k: k.memory_bytes or None,
    "banks x bytes": lambda k: f"{k.banks} x {k.bank_bytes}" if k.banks else None,
    "DMA address space, bytes": lambda k: k.dma_address_words * WORD_BYTES,
    "DMA channels, each direction": lambda k: k.channels,
    "channels that reach neighbours": lambda k: _span(k.neighbour_channels),
    "descriptors (BDs)": lambda k: k.bds,
    "BDs by channel parity": lambda k: " even, ".join(f"{a}..{b}" for a, b in k.bd_banks),
    "task queue": lambda k: k.queue_depth,
    "repeat count": lambda k: f"1..{k.max_repeat}",
    "dimensions, beside iteration": lambda k: k.dimensions,
    "length, words": _field_range("Buffer_Length"),
    "step, words": _field_range("D0_Stepsize"),
    "wrap (0 = never)": _field_range("D0_Wrap"),
    "iteration step, words": _field_range("Iteration_Stepsize"),
    "iteration wrap": _field_range("Iteration_Wrap"),
    "zeros around D0, words": _field_range("D0_Zero_Before"),
    "zeros around D1, rows": _field_range("D1_Zero_Before"),
    "zeros around D2, planes": _field_range("D2_Zero_Before"),
    "value of padding": _padding,
    "burst lengths, bytes": _bursts,
    "compression": _compression,
    "locks": lambda k: k.locks,
    "lock ids seen by the DMA": _windows,
}


def _show_timing(*, as_json: bool) -> None:
    """The timing constants, a line each."""
    from memtile.arch.timing import constants, sets

    found = constants()
    if as_json:
        boards = {name: dict(values) for name, values in sets().items()}
        typer.echo(json_text({"timing": found, "boards": boards}, indent=2))
        return
    for each in found:
        values = f"{each['default']:>7}  {each['lowest']}..{each['highest']} {each['unit']}"
        ends = each["likely"]
        near = f"likely {ends[0]}..{ends[1]}" if isinstance(ends, list) else ""
        typer.echo(f"{each['name']:<24}{values:<32}{each['grade']:<9}{near:<20}{each['source']}")
    for name, chosen in sets().items():
        told = ", ".join(f"{constant} {value}" for constant, value in chosen.items())
        typer.echo(f"--timing {name}: {told}")


def _show_sandbox(*, as_json: bool) -> None:
    """What confines a command here, a line each."""
    from memtile.sandbox.start import layers, sentences

    found = layers()
    typer.echo(json_text({"sandbox": found}, indent=2) if as_json else "\n".join(sentences(found)))


def _show_mlir(*, as_json: bool) -> None:
    """The operations that are known, by where they are."""
    from textwrap import fill

    from memtile.importers.known import known

    found = known()
    if as_json:
        typer.echo(
            json_text({"operations": {where: list(names) for where, names in found.items()}}, indent=2)
        )
        return
    for where, names in found.items():
        text = fill(
            ", ".join(names), 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        typer.echo(f"{where} ({len(names)})\n{text}")


def _completed(context: typer.Context, incomplete: str) -> list[str]:
    """Names that begin so: for the shell, which then also knows files."""
    from memtile.report.register_lookup import names_that_begin

    before = context.params.get("words") or ()
    return names_that_begin(incomplete, next(filter(_is_device, before), "npu1"))


def info(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DEVICE] [NAME|ADDRESS|DESIGN]",
            help="Only this device; a register, event or stream port, by name, part of a name or address; "
            "or the parameters of a design file.",
            autocompletion=_completed,
        ),
    ] = None,
    tile: Annotated[
        Role | None, typer.Option("--tile", help="Search only this kind of tile.", case_sensitive=False)
    ] = None,
    registers: Annotated[
        bool, typer.Option("--registers", help="Count registers that act, store or are refused, by module.")
    ] = False,
    refused: Annotated[
        bool, typer.Option("--refused", help="As --registers, with the names of the refused ones.")
    ] = False,
    timing: Annotated[
        bool, typer.Option("--timing", help="Show the timing constants that --timing sets.")
    ] = False,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Show whether --sandbox works here, and how.")
    ] = False,
    mlir: Annotated[
        bool, typer.Option("--mlir", help="List the supported operations of MLIR designs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show devices with the limits of their tile kinds; a register; or the --set parameters of a design.

    Of a register it shows fields, reset values, and what an access does in the model. An address is an
    offset in a tile, or column << 25 | row << 20 | offset. Without a device, npu1 is meant.
    With --registers: which of the registers that AMD documents, or its driver knows, the twin has.
    """
    name = words[0] if words else None
    if tile and not (words and (len(words) > 1 or not _is_device(words[0]))):
        raise UsageError("--tile needs the name or address of a register, event or port.")
    for wanted, show in ((timing, _show_timing), (sandbox, _show_sandbox), (mlir, _show_mlir)):
        if wanted:
            show(as_json=as_json)
            return
    if registers or refused:
        _show_registers(device(name).generation if name else "AIE-ML", as_json=as_json, refused=refused)
        return
    if name and name.endswith((".py", ".mlir")):
        show_parameters(name, as_json=as_json)
        return
    if words and (len(words) > 1 or not _is_device(words[0])):
        _show_found(words, tile, as_json=as_json)
        return
    if as_json:
        typer.echo(json_text(tables(name), indent=2))
        return
    devices = _devices(name)
    _print_table("Devices", _table(devices, DEVICE_ROWS))
    for generation in (g for g in GENERATIONS if not name or g == device(name).generation):
        titled = {kind.title: kind for kind in kinds_of(generation).values()}
        _print_table(f"Tile kinds of {generation}", _table(titled, KIND_ROWS))


def _is_device(word: str) -> bool:
    return word.lower() in {*DEVICES, *PARTITIONS}


def _show_found(words: Sequence[str], tile: Role | None, *, as_json: bool) -> None:
    """Registers, events and ports by name, number or address.

    Raises:
        DesignError: there is none.
    """
    from memtile.cli.register_lines import text_of
    from memtile.report.register_lookup import look_up

    of = device(words[0]) if _is_device(words[0]) else None
    query = " ".join(words[1:] if of else words)
    try:
        found = look_up(query, of, tile)
    except DesignError:
        if of is None and device_hint(query):
            device(query)
        raise
    typer.echo(json_text(found.as_json(), indent=2) if as_json else text_of(found))


def tables(name: str | None) -> dict[str, Any]:
    """Devices, and sizes and limits of their tile kinds, as data: ``devices`` and ``tile_kinds``, by name.

    Args:
        name: only this device, with the tile kinds of its generation; None = all.

    Raises:
        DesignError: no such device.
    """
    kinds = (kinds_of(device(name).generation) if name else TILE_KINDS).values()
    titled = {kind.title: kind for kind in kinds}
    return {"devices": _table(_devices(name), DEVICE_ROWS), "tile_kinds": _table(titled, KIND_ROWS)}


def _devices(name: str | None) -> dict[str, Device]:
    return {d.name: d for d in ([device(name)] if name else DEVICES.values())}


def _show_registers(generation: Generation, *, as_json: bool, refused: bool) -> None:
    from memtile.report.register_coverage import SOURCE, Standing, register_coverage

    found = register_coverage(generation)
    if as_json:
        typer.echo(json_text(found.as_json(), indent=2))
        return
    sets = (*found.modules, found.everything)
    _print_rows(f"Registers of {generation}", {each.name: each.cells() for each in sets})
    used = found.used
    typer.echo(
        f"Of the {used.registers} registers that AMD's driver uses, {used.percent:g} % act or store "
        f"({used.counts[Standing.ACTS]} act, {used.counts[Standing.STORES]} store)."
    )
    typer.echo(f"Source: {SOURCE}.")
    if refused:
        typer.echo("\n".join(found.everything.refused) or "None is refused.")


def _table(columns: Mapping[str, T], rows: Mapping[str, Callable[[T], Any]]) -> dict[str, dict[str, Any]]:
    return {name: {row: value(thing) for row, value in rows.items()} for name, thing in columns.items()}


def _print_rows(title: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """One line for each of ``rows``."""
    from rich.table import Table

    from memtile.sheet import stdout_console

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column()
    for column in next(iter(rows.values())):
        table.add_column(column, justify="right", style="cyan")
    for name, cells in rows.items():
        table.add_row(name, *map(str, cells.values()))
    stdout_console().print(table)


def _print_table(title: str, columns: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.table import Table

    from memtile.sheet import stdout_console

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column()
    for name in columns:
        table.add_column(name, style="cyan")
    for row in next(iter(columns.values())):
        cells = [column[row] for column in columns.values()]
        table.add_row(row, *("-" if cell is None else str(cell) for cell in cells))
    stdout_console().print(table)
