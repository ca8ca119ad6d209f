"""Cascades of a device: which side each tile's core gets values from, and which it puts them to."""

from __future__ import annotations

from collections.abc import Mapping

from memtile.design.other_tiles import CASCADE_CONTROL, ComputeTile
from memtile.design.tile import Tile
from memtile.errors import DesignError, InputFileError
from memtile.importers.mlir.description import CascadeSides, DeviceDescription
from memtile.importers.mlir.forms.operands import Form

_INPUTS, _OUTPUTS = {"North": 0, "West": 1}, {"South": 0, "East": 1}  # AM025 Accumulator_Control


def configure_cascades(device: DeviceDescription, tiles: Mapping[str, Tile]) -> None:
    """Bring what the device says of cascades into the registers of its tiles.

    Args:
        device: with its tiles placed.
        tiles: of the array, by the name of their value.

    Raises:
        InputFileError: a cascade that the array does not have, or two that use one side of a tile.
    """
    for sides in device.cascade_sides:
        _sides(sides, tiles[sides.tile])
    for flow in device.cascades:
        source, target = tiles[flow.source], tiles[flow.target]
        try:
            _compute(source, Form(flow.operation)).cascade_to(_compute(target, Form(flow.operation)))
        except DesignError as error:
            raise _at(Form(flow.operation), error) from None


def _sides(sides: CascadeSides, tile: Tile) -> None:
    form = Form(sides.operation)
    _compute(tile, form)
    for given, allowed in ((sides.input, _INPUTS), (sides.output, _OUTPUTS)):
        if given not in allowed:
            which = "input" if allowed is _INPUTS else "output"
            text = f"the {which} of a cascade cannot be {given}"
            raise form.error(text, " or ".join(allowed), reason="mlir_cascade", given=given)
    word = CASCADE_CONTROL.pack(Input=_INPUTS[sides.input], Output=_OUTPUTS[sides.output])
    tile.post_word(CASCADE_CONTROL.offset, word)


def _compute(tile: Tile, form: Form) -> ComputeTile:
    if not isinstance(tile, ComputeTile):
        raise form.error(f"{tile.title} has no core, so no cascade", "compute tiles", reason="mlir_cascade")
    return tile


def _at(form: Form, error: DesignError) -> InputFileError:
    """What the design refuses, at its place in the text."""
    problem = error.problems[0]
    return form.error(problem.says, problem.allowed, reason="mlir_cascade", given=problem.given)
