"""Operands of a core body: numbers, memory, and indices into it, checked as far as the text says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtile.importers.kernels.maps import affine_map, expression
from memtile.importers.mlir.attributes import number
from memtile.importers.mlir.forms.operands import Form
from memtile.importers.mlir.tree import Span
from memtile.importers.mlir.types import Shaped, shaped

if TYPE_CHECKING:
    from memtile.importers.kernels.emitter import Emitter

_ANY_TYPE = ("arith.select", "builtin.unrealized_conversion_cast")


def number_of(emitter: Emitter, form: Form, value: str) -> str:
    """The Python name of a value that is no memory.

    Raises:
        InputFileError: it is memory.
    """
    kind = emitter.types.get(value, "")
    if kind.startswith(("memref", "objects")) and form.operation.name not in _ANY_TYPE:
        raise form.error(f"{value} is memory", "numbers", reason="mlir_type", given=value)
    return emitter.use(value)


def memory_of(emitter: Emitter, form: Form, value: str) -> tuple[str, Shaped]:
    """The Python name of memory, and its type.

    Raises:
        InputFileError: the value is no memory.
    """
    kind = shaped(emitter.types.get(value, ""))
    if kind is None:
        raise form.error(f"{value} is no memref", "a memref")
    return emitter.use(value), kind


def place_of(emitter: Emitter, form: Form, before: int, memory: tuple[str, Shaped]) -> str:
    """Checked indices of an element; a memref without dimensions has one element here."""
    name, kind = memory
    at = form.bracket("[")
    if at is None:
        texts = [number_of(emitter, form, value) for value in form.values[before + 1 :]]
        if "map" in form.attributes:
            texts = affine_map(form, str(form.attributes["map"])).expressions(texts)
    else:
        texts = [_affine(emitter, form, span) for span in form.split(at)]
    if len(texts) != len(kind.shape):
        says = f"it has {len(texts)} indices for {len(kind.shape)} dimensions"
        raise form.error(says, "an index for each", reason="mlir_index")
    site = emitter.lines.site
    checked = (f"place({text}, {name}.shape[{n}], {site})" for n, text in enumerate(texts))
    return ", ".join(checked) or "0"


def _affine(emitter: Emitter, form: Form, span: Span) -> str:
    """An affine expression in Python."""
    if "ceildiv" in form.operation.tokens.words[span.first : span.end]:
        return expression(form.text(span), use=lambda value: number_of(emitter, form, value))
    words = [affine_word(emitter, form, word) for word in form.operation.tokens.words[span.first : span.end]]
    text = " ".join(words)
    try:
        compile(text, "affine", "eval")
    except SyntaxError:
        given = form.text(span)
        raise form.error(
            f"{given or 'nothing'} is no index", "an affine expression", reason="mlir_index"
        ) from None
    return text


def affine_word(emitter: Emitter, form: Form, word: str) -> str:
    """A token of an affine expression in Python.

    Raises:
        InputFileError: it is neither a value, nor a number, nor an operator.
    """
    if word[:1] == "%":
        return number_of(emitter, form, word)
    if isinstance(number(word), int):
        return str(number(word))
    if word not in _AFFINE:
        raise form.error(
            f"{word} is no index", "values, numbers, +, -, *, floordiv, mod", reason="mlir_index"
        )
    return _AFFINE[word]


_AFFINE = {"floordiv": "//", "mod": "%", "symbol": "", **{sign: sign for sign in "+-*()"}}
