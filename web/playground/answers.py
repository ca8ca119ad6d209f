"""What the playground answers: a text goes in, the package does the rest; the browser only shows it.

Designs need much more of the package than descriptors, so ``designs`` is imported when the first comes.
"""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pastes
from rich.console import Console

from memtile.access.drawing import NOTHING, order_drawing
from memtile.access.expected import stream_elements
from memtile.access.graph_text.fragment import graph_tilings
from memtile.access.lowering.certificate import QueueEntry
from memtile.access.tiling_cases import tilings_of
from memtile.arch.tiles import TILE_KINDS, WORD_BYTES
from memtile.bd.codec import decode, encode
from memtile.bd.descriptor import Descriptor
from memtile.bd.descriptor_cases import WordCase, hex_words, parse_words
from memtile.errors import InputFileError, MemtileError
from memtile.importers.mlir.descriptors import BufferPlace, descriptor, element_bytes
from memtile.importers.mlir.forms.memory_forms import bd
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.reader import read
from memtile.importers.mlir.token_packets import Text
from memtile.importers.mlir.types import shaped
from memtile.io.json_text import begins_as_json
from memtile.report.lowering import Answer, print_answer, print_explained
from memtile.report.lowering import answer as lowered

_GRAPH = re.compile(r"\b(?:tiling|traversing)_(?:parameters|dimension)\b|\btiling\s*\(|^\{\s*[.{]")
DESIGNS = (
    "memtile.sim.loop.engine",
    "memtile.design.array",
    "memtile.importers.loaded",
    "memtile.importers.design",
    "memtile.check.checked_program",
    "memtile.iron",
    "memtile.iron.program_design",
    "designs",
)
"""Modules that designs need and other answers do not, in steps of about a second each."""
_PROGRAM = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:aie|memtile\.iron)\b", re.MULTILINE)
_PYTHON = re.compile(r"^(?:from[ \t]+[\w.]+[ \t]+import|import|def|class)[ \t]+\w", re.MULTILINE)
_COMMAND = re.compile(r"(?:\$ *)?(?:memtile|python3?|pip3?|git|cd|make|cmake|sudo|\./\S+)[ \t]+\S")
_SLICE = re.compile(r"^\w+\[[^\[\]]*\]", re.MULTILINE)  # of an array
_LETTERS = re.compile(r"[g-wyzG-WYZ]")  # in no word of a register
_FENCE = re.compile(r"^```.*$", re.MULTILINE)  # around a text that was copied from a page
_CPP = re.compile(r"^[ \t]*#[ \t]*(?:include|pragma)|\badf::|\bconnect[ \t]*<", re.MULTILINE)
_FIRST = 4096  # elements of a walk that are written out
_DRAWN = 1 << 20  # words of a transfer, and elements of a memory, that are walked and drawn


_parts: list[Any] = []  # descriptors of the design that was answered last


def answer(text: str, tile: str = "memory", arguments: str = "") -> str:
    """Answer a text, as JSON: ``kind``, ``text``, ``words``, ``walk``, ``picture`` (SVG), or ``error``.

    A design has ``array`` (SVG), ``text``, ``parts``, labels of its descriptors for :func:`part`, and of a
    program ``printed``.

    Args:
        text: tiling parameters as JSON or C++, a descriptor as JSON, an ``aie.dma_bd``, an ``aie.objectfifo``
            with dimensions, a view of NumPy, register words, a program of IRON, MLIR with a device.
        tile: tile kind of words and of an ``aie.dma_bd``.
        arguments: of a program.
    """
    try:
        return json.dumps(_answered(_FENCE.sub("", text.removeprefix("\ufeff")), tile, arguments))
    except MemtileError as error:
        return json.dumps({"error": "\n".join(error.messages)})


def is_design(text: str) -> bool:
    """Whether a text is a program of IRON or MLIR of a device."""
    return "aie.device" in text or _PROGRAM.search(text) is not None


def part(number: int) -> str:
    """A descriptor of the design that was answered last, as :func:`answer` has descriptors."""
    from designs import picture_shape, queue_entry

    found = _parts[number]
    case = WordCase(found.bd.descriptor.tile, found.bd.number, found.bd.words)
    own = found.memory.first * 8 // found.memory.bits
    walked = _walked([queue_entry(found)], found.memory.bits, own, picture_shape(found))
    text = _printed(lambda console: print_explained(case, console))
    return json.dumps(
        {"text": text, "words": [hex_words(found.bd.words)], "number": found.bd.number, **walked}
    )


def names() -> str:
    """What programs of IRON may import."""
    from designs import names as listed

    return listed()


def _answered(text: str, tile: str, arguments: str) -> dict[str, Any]:
    if is_design(text):
        return _of_design(text, arguments)
    text = text.strip()
    if "aie.dma_bd" in text:
        return _of_mlir(text, tile)
    if "aie.objectfifo" in text:
        return _of_order(pastes.of_objectfifo(text, tile))
    if _GRAPH.search(text) and not begins_as_json(text):
        return _of_graph(text)
    if text.startswith(("{", "[")):
        return _of_json(text, tile)
    if pastes.is_view(text):
        return _of_order(pastes.of_view(text, tile))
    _refuse_others(text)
    return {"kind": "words", **_of_words(parse_words({"tile": tile, "words": re.split(r"[\s,]+", text)}))}


def _of_design(text: str, arguments: str) -> dict[str, Any]:
    from designs import of_mlir_text, of_program

    _parts.clear()
    found, parts = of_program(text, arguments) if _PROGRAM.search(text) else of_mlir_text(text)
    _parts.extend(parts)
    return found


def _refuse_others(text: str) -> None:
    """Refuse by name what is pasted and is no words.

    Raises:
        InputFileError: a command, Python that is no program of IRON, C++ without a tiling, other text.
    """
    if _COMMAND.match(text):
        says = "this is a command line. Paste the text of the program itself,"
        raise InputFileError(f"{says} and what stands behind its name into the line for arguments.")
    if _CPP.search(text):
        says = "this is C++ without a tiling. The playground reads the tilings of a graph, not the graph;"
        raise InputFileError(f"{says} memtile run FILE.cpp runs it on your computer.")
    if _PYTHON.search(text):
        says = "this is Python that imports no aie, so it is no program of IRON."
        raise InputFileError(f"{says} memtile run FILE.py runs designs of other kinds on your computer.")
    if _SLICE.search(text):
        says = "this indexes an array that is not in the text. Begin with its shape,"
        raise InputFileError(f"{says} such as x = np.zeros((8, 8), np.int32), and end with the view.")
    if _LETTERS.search(text):
        says = (
            "this is nothing that the playground takes: a program of IRON, MLIR with an aie.device, a tiling,"
        )
        forms = (
            "an aie.dma_bd, an aie.objectfifo, a view such as view((8, 8)).T, a descriptor as JSON, or words"
        )
        raise InputFileError(f"{says} {forms} such as 0x80 0xA0000.")


def _of_json(text: str, tile: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputFileError(f"the text is not JSON: {error}.") from None
    if isinstance(data, dict) and isinstance(data.get("words"), list):
        return {"kind": "words", **_of_words(parse_words({"tile": tile, **data}))}
    items, _ = tilings_of(data)
    return _of_tiling(lowered(items[0], 1))


def _of_graph(text: str) -> dict[str, Any]:
    """The tilings of C++ text: the words of all, the picture of the first that has descriptors."""
    answers = [lowered(each, number) for number, each in enumerate(graph_tilings(text), 1)]
    good = [each for each in answers if each.lowering is not None]
    if not good:
        raise InputFileError(
            "\n".join(line for each in answers if each.error for line in each.error.messages)
        )
    texts = [_printed(lambda console, each=each: print_answer(each, console)) for each in answers]
    return {**_of_tiling(good[0]), "text": "\n\n".join(texts)}


def _of_tiling(found: Answer) -> dict[str, Any]:
    if found.error is not None:
        raise found.error
    assert found.case is not None
    assert found.lowering is not None
    buffer = found.case.tiling.buffer_dimension
    shape = tuple(reversed(buffer)) if found.case.memref is None else found.case.memref.sizes
    bits = found.case.element_bits
    return {
        "kind": "tiling",
        "text": _printed(lambda console: print_answer(found, console)),
        "words": [hex_words(encode(each, number)) for number, each in enumerate(found.chain)],
        **_walked(found.lowering.tasks, bits, 0, tuple(shape)),
    }


def _of_order(order: pastes.Order) -> dict[str, Any]:
    """A view or the dimensions of an object FIFO: descriptors, walk and picture."""
    text = order.text
    chain = order.lowering.descriptors
    if order.found is not None:
        found, chain = order.found, order.found.chain
        text = _printed(lambda console: print_answer(found, console))
    return {
        "kind": "tiling",
        "text": text,
        "words": [hex_words(encode(each, number)) for number, each in enumerate(chain)],
        **_walked(order.lowering.tasks, order.bits, 0, order.shape),
    }


def _of_mlir(text: str, tile: str) -> dict[str, Any]:
    """The first ``aie.dma_bd`` of a text, its buffer at the begin of the tile's memory."""
    found = re.search(r"aie\.dma_bd\s*\((?:[^()]|\([^()]*\))*\)\s*(?:\{[^{}]*\})?", text)
    if found is None:
        raise InputFileError("the text has an aie.dma_bd without its brackets.")
    (operation,) = read(Text("dma_bd", found[0])).blocks[0].operations
    form = OperationForm(operation)
    named = re.search(r"memref<[^<>]*(?:<[^<>]*>[^<>]*)*>", found[0])
    shape = shaped(named[0]) if named else None
    if shape is None:
        raise InputFileError("the buffer of the aie.dma_bd has no type; write (%b : memref<8x16xi32>, ...).")
    kind = TILE_KINDS[tile]
    own = BufferPlace(kind.own_window_words * WORD_BYTES, shape)
    made = descriptor(bd(operation), kind, own, {}, None)
    return {"kind": "aie.dma_bd", **_shown(made, shape.shape, element_bytes(form, shape))}


def _of_words(case: WordCase) -> dict[str, Any]:
    return _shown(decode(case.tile, case.words, case.bd), (), WORD_BYTES, case.bd)


def _shown(made: Descriptor, shape: tuple[int, ...], size: int, number: int = 0) -> dict[str, Any]:
    """A descriptor in all its forms; its picture on a buffer of ``shape``, or on words it touches."""
    words = encode(made, number)
    case = WordCase(made.tile, number, words)
    own = TILE_KINDS[made.tile].own_window_words * WORD_BYTES // size
    return {
        "text": _printed(lambda console: print_explained(case, console)),
        "words": [hex_words(words)],
        **_walked([QueueEntry((made,))], size * 8, own, shape),
    }


def _walked(tasks: Any, bits: int, own: int, shape: tuple[int, ...]) -> dict[str, str]:
    """The walk and its picture, elements counted from ``own`` on, where the tile's own memory begins."""
    if sum(each.length * task.runs for task in tasks for each in task.descriptors) > _DRAWN:
        return {"walk": f"more than {_DRAWN} words are not walked here", "picture": ""}
    elements = stream_elements(tasks, bits)
    if elements.max(initial=0) >= own:
        elements = np.where(elements == NOTHING, NOTHING, elements - own)
    return {"walk": _first(elements), "picture": _picture(elements, shape, f"{bits}-bit elements")}


def _printed(show: Any) -> str:
    text = io.StringIO()
    show(Console(file=text, width=110, color_system=None))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()


def _first(numbers: Any) -> str:
    """The numbers of a stream; a dot for a zero that is inserted."""
    cells = ["." if number == NOTHING else str(number) for number in numbers[:_FIRST].tolist()]
    more = f" ... and {len(numbers) - _FIRST} more" if len(numbers) > _FIRST else ""
    return " ".join(cells) + more


def _picture(elements: Any, shape: tuple[int, ...], what: str) -> str:
    """The buffer, each element with its first position in the stream."""
    positions = np.flatnonzero(elements != NOTHING)[::-1]
    if not len(positions):
        return ""
    first = 0 if shape else int(elements[positions].min())
    size = int(np.prod(shape)) if shape else int(elements[positions].max()) - first + 1
    if size > _DRAWN:
        return ""
    numbers = np.full(size, NOTHING, np.int64)
    held = positions[elements[positions] - first < size]
    numbers[elements[held] - first] = held  # NumPy keeps the last of equal indices
    title = f"{what}, each with its position in the stream" + ("" if shape else f", from {first} on")
    return order_drawing(numbers.reshape(shape) if shape else _rows(numbers), title).svg


def _rows(numbers: Any) -> Any:
    """Cells of a memory in rows of 32."""
    width = min(len(numbers), 32)
    return np.pad(numbers, (0, -len(numbers) % width), constant_values=NOTHING).reshape(-1, width)
