"""The blocks of a task: a BD in each, with its locks and what follows it (mlir-aie, AIEDMATasksToNPU)."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from memtile.arch.tiles import TileKind
from memtile.importers.mlir.description import BdDescription, Level
from memtile.importers.mlir.forms.memory_forms import Known, bd_of, next_label
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.bd_lowering import INNER, Pattern, pattern_of
from memtile.importers.mlir.sequence.decomposition import decomposed
from memtile.importers.mlir.tree import OperationBlock, Region

_BD, _LOCK = "aie.dma_bd", "aie.use_lock"
_LAST = ("aie.next_bd", "aie.end")
_ALLOWED = (_BD, _LOCK, "arith.constant", *_LAST)
_REASON = "mlir_bds"
_MOST = INNER + 1


def task_bds(form: OperationForm, region: Region, known: Known) -> tuple[list[BdDescription], int]:
    """The BDs of a task in the order of the text, each with the place of the next one; and the first's place.

    Args:
        form: of the task.
        region: with its blocks.
        known: numbers of values.

    Raises:
        InputFileError: a block that mlir-aie does not lower, or that no other one leads to.
    """
    blocks = [block for block in region.blocks if block.operations]
    alias = blocks[0] if blocks and all(each.name in _LAST for each in blocks[0].operations) else None
    named = {next_label(block) for block in blocks}
    bds = list[BdDescription]()
    places = dict[str, int]()
    for block in blocks:
        if block is alias:
            continue
        if block is not blocks[0] and block.label not in named:
            raise form.error(
                f"no aie.next_bd of the task leads to its block {block.label}",
                "a chain of BDs",
                reason=_REASON,
            )
        places[block.label] = len(bds)
        bds.append(_bd(form, block, known))
    if not bds:
        raise form.error("the task has no BD", f"{_BD} in its region", reason=_REASON)
    for bd, block in zip(bds, (each for each in blocks if each is not alias), strict=True):
        following = next_label(block)
        bd.next = None if following is None else _place(form, places, following)
    return bds, 0 if alias is None else _place(form, places, next_label(alias) or "")


def _place(form: OperationForm, places: dict[str, int], label: str) -> int:
    if label not in places:
        raise form.error(f"the task has no BD in a block {label}", ", ".join(places), reason=_REASON)
    return places[label]


def _bd(form: OperationForm, block: OperationBlock, known: Known) -> BdDescription:
    for each in block.operations:
        if each.name not in _ALLOWED:
            says = "it is in a block of a task, where mlir-aie lowers it to nothing"
            raise OperationForm(each).error(says, ", ".join(_ALLOWED), reason=_REASON)
    names = [each.name for each in block.operations]
    many, locks = names.count(_BD), names.count(_LOCK)
    if many != 1:
        says = f"a block of the task has {many} {_BD}; it needs one"
        raise form.error(says, "one", reason=_REASON, given=str(many))
    if locks not in (0, 2):
        says = f"a block of the task has {locks} {_LOCK}; it needs none, or an acquire and a release"
        own = next(each for each in block.operations if each.name == (_LOCK if locks == 1 else _BD))
        raise OperationForm(own).error(
            says, "none, or an acquire and a release", reason=_REASON, given=str(locks)
        )
    found = bd_of(block.operations, known)
    assert found is not None
    if locks and (found.acquire is None or found.release is None):
        says = "the two locks of a block are not an acquire and a release that are enabled"
        raise form.error(says, "one of each", reason=_REASON)
    if found.iteration is not None:
        says = "it has an iteration; in a task the outermost of four sizes and strides is that"
        raise OperationForm(found.operation).error(says, "four sizes and strides", reason=_REASON)
    if len(found.levels) > _MOST:
        says = f"it has {len(found.levels)} sizes; a BD of a task has up to {_MOST}"
        raise OperationForm(found.operation).error(says, f"up to {_MOST} sizes", reason="mlir_dimensions")
    return found


def canonical(kind: TileKind, bits: int, bds: list[BdDescription]) -> list[BdDescription]:
    """The BDs without dimensions that say nothing, and one that is too large as several.

    Args:
        kind: of their tile.
        bits: of an element.
        bds: of a task.
    """
    if kind.role == "interface":
        bds = [_straight(bd) for bd in bds]
    if len(bds) != 1 or not bds[0].levels or bds[0].padding:
        return bds
    pattern = task_pattern(bds[0])
    parts = decomposed(kind, bits, pattern)
    if len(parts) == 1:
        return [bds[0] if parts[0] == pattern else _with(bds[0], parts[0])]
    first, *rest = [
        replace(_with(bds[0], part), length=part.length, next=n) for n, part in enumerate(parts, 1)
    ]
    rest = [replace(bd, number=None, acquire=None, release=None) for bd in rest]
    return [first, *rest[:-1], replace(rest[-1], next=None)]


def task_pattern(bd: BdDescription) -> Pattern:
    """The pattern of a BD; of one without dimensions that of one element."""
    return pattern_of([n for n, _ in bd.levels], [s for _, s in bd.levels], bd.offset)


def _with(bd: BdDescription, part: Pattern) -> BdDescription:
    levels = [Level(*level) for level in reversed(list(zip(*part[:2], strict=True)))]
    return replace(bd, levels=levels, offset=part.offset)


def _straight(bd: BdDescription) -> BdDescription:
    """A BD whose dimensions are one run through memory has none (LinearizeContiguousBDTransfer)."""
    if len(bd.levels) < 2 or bd.levels[-1].stride != 1:
        return bd
    expected = bd.levels[-1].size
    for size, stride in reversed(bd.levels[:-1]):
        if size > 1 and stride != expected:
            return bd
        expected *= size
    many = prod(size for size, _ in bd.levels)
    return bd if bd.length not in (None, many) else replace(bd, levels=(), length=many)
