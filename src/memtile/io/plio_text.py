"""Text files of PLIO, as AMD's simulators read and write them: one line a word of the PLIO's width.

UG1076, TXT file format: values separated by blanks, and ``TLAST`` in a line of its own directly above the
line whose last word ends a packet. aiesimulator writes ``T <time> <unit>`` above those two, in the largest
unit in which the time is whole; x86simulator writes no times (published output files). A line that a packet
ends with may be shorter by whole 32-bit words (AM009, TKEEP).

What AMD does with lines of other lengths is not public: here their values follow each other as if they stood
in full lines, and a caution says so (DEV-ADF-50). All else that is no number is refused with its line:
comments too, which no guide has (DEV-ADF-51).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memtile.errors import InputFileError, Problem, raise_if
from memtile.input_files import name_of, read_bytes
from memtile.io.plio_elements import (
    SOURCE,
    WORD_BITS,
    Element,
    Words,
    allowed_values,
    element_of,
    floats_of_bits,
    integer_range,
    overflows,
    values_of,
    values_of_line,
    words_of,
)
from memtile.io.plio_tokens import DECIMAL_BASE, HEX_BASE, Array, Indices, Mask, Tokens
from memtile.output_files import output_file

Flags = npt.NDArray[np.uint8]
Times = npt.NDArray[np.int64]

UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}  # picoseconds
_SHOWN = 5  # problems of one file
_DATA, _TIME, _LAST = range(3)  # what a line has
_AT_ONCE = 4096  # lines that are written
_LAST_LINE = "TLAST\n"
_MOMENT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,12}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PlioWords:
    """The data of a PLIO.

    Attributes:
        words: of the stream, uint32, shape (words,).
        tlast: uint8, 1 = a packet ends with the word, shape (words,).
        times_ps: picoseconds of each word, those of its line, shape (words,); None = the file has no times.
        stalls: cycles of the PLIO's clock without data before each word, shape (words,); None = none.
        cautions: contents of the file that no guide describes, one sentence each.
    """

    words: Words
    tlast: Flags
    times_ps: Times | None = None
    stalls: Times | None = None
    cautions: tuple[str, ...] = ()


def read_plio(
    file: Path | str, element: str, width_bits: int, *, hex: bool = False, packets: bool = False
) -> PlioWords:
    """Return the contents of a PLIO text file.

    Args:
        file: its path; ``-`` is standard input.
        element: type of the connected kernel's argument, AMD's name (``int16``, ``cfloat``).
        width_bits: of the PLIO: 32, 64 or 128.
        hex: its values are bit patterns in hexadecimal digits, with or without ``0x``.
        packets: the first word of each packet is a header, which is an integer among floats too (UG1079).

    Raises:
        InputFileError: it cannot be read, is larger than a limit, or has an invalid line.
    """
    kind = element_of(element, width_bits)
    if packets and not kind.is_word:
        raise InputFileError.of(
            "element type",
            f"{kind.name} of a PLIO for packets",
            "int32, uint32 or float",
            reason="plio_element",
            where=name_of(file),
            source="UG1079: packet switching and the aiesimulator",
        )
    tokens = Tokens(read_bytes(file, "text_bytes"), name_of(file))
    return _Reader(tokens, name_of(file), kind, width_bits, hex).read(packets)


class _Reader:
    """The lines of one file.

    Args:
        tokens: of its text.
        name: of it, for messages.
        element: of its values.
        width_bits: of the PLIO.
        hex: its values are bit patterns.
    """

    def __init__(self, tokens: Tokens, name: str, element: Element, width_bits: int, hex: bool) -> None:
        self._tokens, self._name, self._element, self._hex = tokens, name, element, hex
        self._width, self._full = width_bits, values_of_line(element, width_bits)
        first = np.ones(len(tokens), bool)
        first[1:] = tokens.lines[1:] != tokens.lines[:-1]
        self._heads = np.flatnonzero(first)  # first tokens of the lines that are not blank
        self._counts = np.diff(np.append(self._heads, len(first)))
        self._kinds = self._kinds_of_lines()

    def read(self, packets: bool) -> PlioWords:
        """What is in the lines."""
        self._check_order()
        data = np.flatnonzero(self._kinds == _DATA)
        values = self._values(np.flatnonzero(np.repeat(self._kinds == _DATA, self._counts)), packets)
        before, earlier = _moved(self._kinds, 1)[data], _moved(self._kinds, 2)[data]
        is_last = (before == _LAST) | (before == _TIME) & (earlier == _LAST)
        ends = self._ends(data, is_last)
        last_words = ends[is_last] * self._element.bits // WORD_BITS - 1
        words = self._words(values, last_words, packets)
        flags = np.zeros(len(words), np.uint8)
        flags[last_words] = 1
        times = None
        if (self._kinds == _TIME).any():
            of_word = np.searchsorted(ends * self._element.bits, np.arange(len(words)) * WORD_BITS, "right")
            times = self._moments(data, before)[of_word]
        return PlioWords(words, flags, times, cautions=tuple(self._cautions(data, is_last)))

    def _problem(self, token: int, says: str, allowed: str, next_step: str = "") -> Problem:
        return Problem(
            "line",
            self._tokens.word(token),
            allowed,
            says,
            next_step,
            reason="plio_text",
            where=f"{self._name}:{self._tokens.lines[token]}",
            source=SOURCE,
        )

    def _refuse(self, tokens: Indices, problem: Callable[[int], Problem]) -> None:
        """Refuse the file for the first such tokens, if there are any."""
        found = [problem(int(token)) for token in tokens[:_SHOWN]]
        if len(tokens) > _SHOWN:
            more = len(tokens) - _SHOWN
            says = f"this and {more - 1:,} places behind it are wrong in the same way"
            found.append(self._problem(int(tokens[_SHOWN]), says, found[0].allowed))
        raise_if(found, InputFileError)

    def _kinds_of_lines(self) -> Indices:
        """What each line has: data, a time, or TLAST."""
        tokens, heads, counts = self._tokens, self._heads, self._counts
        kinds = np.full(len(heads), _DATA)
        named = np.flatnonzero(tokens.text[tokens.starts[heads]] == ord("T"))
        is_short = (tokens.ends - tokens.starts)[heads[named]] == 1
        kinds[named[is_short]] = _TIME
        long = named[~is_short]
        kinds[long[[tokens.word(int(token)) == "TLAST" for token in heads[long]]]] = _LAST
        lengths = np.where(kinds[named] == _TIME, 3, 1)  # T, the time, its unit
        wrong = (kinds[named] == _DATA) | (counts[named] != lengths)
        self._refuse(heads[named[wrong]], self._keyword_problem)
        return kinds

    def _keyword_problem(self, token: int) -> Problem:
        allowed = "numbers, TLAST alone, or T <time> <unit>"
        return self._problem(token, f"the line is {self._line(token)!r}; a line has {allowed}", allowed)

    def _line(self, token: int) -> str:
        """The beginning of a line, from its first token on."""
        lines, words = self._tokens.lines, range(token, min(token + 4, len(self._tokens)))
        return " ".join(self._tokens.word(each) for each in words if lines[each] == lines[token])

    def _check_order(self) -> None:
        """Times and TLAST stand directly above data, at most one of each."""
        kinds = self._kinds
        follows, then = _moved(kinds, -1), _moved(kinds, -2)
        fits = (follows == _DATA) | (follows != kinds) & (then == _DATA)
        self._refuse(self._heads[(kinds != _DATA) & ~fits], self._order_problem)

    def _order_problem(self, token: int) -> Problem:
        allowed = "T and TLAST, at most one of each, directly above a line of values"
        return self._problem(token, f"no line of values follows {self._line(token)!r}", allowed)

    def _values(self, tokens: Indices, packets: bool) -> Array:
        """Numbers of tokens: integers, or float64."""
        if self._element.is_float and not self._hex:
            values, wrong = self._tokens.floats(tokens)
            if not packets:
                wrong |= overflows(values, self._element)
        else:
            values, wrong = self._tokens.integers(tokens, HEX_BASE if self._hex else DECIMAL_BASE)
            low, high = integer_range(self._element)
            if values.dtype == object or self._element.bits < 64:  # else all of int64 fit
                wrong |= (values < low) | (values > high)
        self._refuse(tokens[wrong], self._value_problem)
        return values

    def _value_problem(self, token: int) -> Problem:
        text, step = self._tokens.word(token), ""
        digits = f"a bit pattern of at most {self._element.bits // 4} hexadecimal digits"
        allowed = digits if self._hex else allowed_values(self._element)
        if text.lower().startswith("0x") and not self._hex:
            step = "Say in the create call of the PLIO that its file is hexadecimal."
        elif text.startswith(("//", "#")):
            step = "Remove the comment: no guide of AMD describes comments in these files."
        return self._problem(
            token, f"{text!r} is not {allowed}, as {self._element.name} needs", allowed, step
        )

    def _ends(self, data: Indices, is_last: Mask) -> Indices:
        """Values up to the end of each line of data; packets and the file end with whole elements."""
        ends = np.cumsum(self._counts[data])
        whole = max(WORD_BITS // self._element.bits, self._element.parts)
        checked = is_last.copy()
        checked[-1:] = True
        wrong = checked & (ends % whole != 0)
        self._refuse(self._heads[data[wrong]], self._part_problem)
        return ends

    def _part_problem(self, token: int) -> Problem:
        bits = max(self._element.element_bits, WORD_BITS)
        allowed = f"a multiple of {bits} bits before TLAST and at the end"
        says = f"{self._element.name} values up to the end of this line do not fill {bits} bits"
        return self._problem(token, says, allowed)

    def _words(self, values: Array, last_words: Indices, packets: bool) -> Words:
        if self._hex and self._element.is_float:
            return floats_of_bits(values, self._element)
        if not packets or not self._element.is_float:
            return words_of(values, self._element)
        begins = np.concatenate((np.zeros(1, np.intp), last_words + 1))
        headers = begins[begins < len(values)]
        found = values[headers]
        is_header = (found == np.floor(found)) & (found >= 0) & (found < 1 << WORD_BITS)
        tokens = np.flatnonzero(np.repeat(self._kinds == _DATA, self._counts))
        self._refuse(tokens[headers[~is_header]], self._header_problem)
        payload = np.ones(len(values), bool)
        payload[headers] = False
        self._refuse(tokens[payload & overflows(values, self._element)], self._value_problem)
        words = words_of(values, self._element)
        words[headers] = found.astype(np.uint32)
        return words

    def _header_problem(self, token: int) -> Problem:
        allowed = f"an integer in 0..{(1 << WORD_BITS) - 1}"
        word = self._tokens.word(token)
        return self._problem(token, f"{word!r} begins a packet, whose header is {allowed}", allowed)

    def _moments(self, data: Indices, before: Indices) -> Times:
        """Picoseconds of each line of data; the time of the line before where it has none."""
        is_direct = before == _TIME
        is_above = ~is_direct & (_moved(self._kinds, 2)[data] == _TIME) & (before == _LAST)
        moments = np.full(len(data), -1, np.int64)
        for mask, step in ((is_direct, 1), (is_above, 2)):
            moments[mask] = self._picoseconds(self._heads[data[mask] - step])
        have = np.maximum.accumulate(np.where(moments >= 0, np.arange(len(data)), 0))
        return moments[have]

    def _picoseconds(self, heads: Indices) -> Times:
        """Times of lines that begin with T."""
        numbers, wrong = self._tokens.integers(heads + 1, DECIMAL_BASE)
        units = [self._tokens.word(int(head) + 2) for head in heads]
        scale = np.array([UNITS.get(unit, 0) for unit in units], np.int64)
        if numbers.dtype != object and not wrong.any() and scale.all() and (numbers >= 0).all():
            small = numbers <= (1 << 62) // np.maximum(scale, 1)
            if small.all():
                return numbers * scale
        found = [
            _moment(self._tokens.word(int(head) + 1), unit) for head, unit in zip(heads, units, strict=True)
        ]
        wrong = np.array([moment is None for moment in found], bool)
        self._refuse(heads[wrong], self._moment_problem)
        return np.array(found, np.int64)

    def _moment_problem(self, token: int) -> Problem:
        allowed = f"T, a time of whole picoseconds below 2^62, and one of {', '.join(UNITS)}"
        return self._problem(token, f"the line is {self._line(token)!r}; a time is {allowed}", allowed)

    def _cautions(self, data: Indices, is_last: Mask) -> Iterator[str]:
        counts = self._counts[data]
        other = np.flatnonzero((counts != self._full) & ~(is_last & (counts < self._full)))
        if not len(other):
            return
        line = self._tokens.lines[self._heads[data[other[0]]]]
        lines = f"{len(other):,} lines have" if len(other) > 1 else "one line has"
        yield (
            f"{self._name}:{line}: {lines} another number of values than the {self._full} of "
            f"{self._element.name} at {self._width} bits, this one {counts[other[0]]}. "
            "Their values follow each other as in full lines (DEV-ADF-50)."
        )


def _moved(kinds: Indices, lines: int) -> Indices:
    """The kinds of the lines that many before each; -1 where there is none."""
    found = np.full(len(kinds), -1)
    if lines > 0:
        found[lines:] = kinds[:-lines]
    else:
        found[:lines] = kinds[-lines:]
    return found


def _moment(number: str, unit: str) -> int | None:
    """A time in picoseconds; None where it is none, or not whole."""
    found = _MOMENT.fullmatch(number)
    if not found or unit not in UNITS:
        return None
    fraction = found[2] or ""
    moment, rest = divmod(int(found[1] + fraction) * UNITS[unit], 10 ** len(fraction))
    return None if rest or moment >= 1 << 62 else moment


def write_plio(
    file: Path | str,
    words: Words,
    tlast: Flags,
    element: str,
    width_bits: int,
    *,
    times_ps: Times | None = None,
    hex: bool = False,
) -> None:
    """Write a text file as AMD's simulators do; without times as x86simulator, with them as aiesimulator.

    Args:
        file: its path; ``-`` is standard output.
        words: of the stream, uint32.
        tlast: of each word.
        element: AMD's type of the kernel's argument.
        width_bits: of the PLIO.
        times_ps: picoseconds of each word; a line has that of its last word. None = no times.
        hex: write bit patterns in hexadecimal digits.

    Floats have nine places behind the point, as in published outputs; they read back to the same bits.

    Raises:
        InputFileError: the file cannot be written, or there are no words for complete elements.
    """
    kind = element_of(element, width_bits)
    with output_file(file) as out:
        lines = _lines(words, tlast, kind, width_bits, times_ps, hex)
        while piece := "".join(islice(lines, _AT_ONCE)):
            out.write(piece.encode("ascii"))


def _lines(
    words: Words, tlast: Flags, element: Element, width_bits: int, times_ps: Times | None, hex: bool
) -> Iterator[str]:
    """The lines of each word of the PLIO."""
    ends = beat_ends(tlast, width_bits // WORD_BITS)
    texts = texts_of(words, element, hex)
    scale = WORD_BITS / element.bits
    last = np.asarray(tlast)[ends - 1].astype(bool).tolist() if len(ends) else []
    moments = [""] * len(ends) if times_ps is None else [_time_line(t) for t in times_ps[ends - 1].tolist()]
    begin = 0
    for at, is_last, moment in zip((ends * scale).astype(np.intp).tolist(), last, moments, strict=True):
        yield f"{moment}{_LAST_LINE if is_last else ''}{' '.join(texts[begin:at])} \n"
        begin = at


def _time_line(moment: int) -> str:
    """A time in the largest unit in which it is whole."""
    unit, scale = next((u, s) for u, s in reversed(UNITS.items()) if moment % s == 0 and (moment or s == 1))
    return f"T {moment // scale} {unit}\n"


def texts_of(words: Words, element: Element, hex: bool = False) -> list[str]:
    """Return the values of words as files have them.

    Args:
        words: of complete values.
        element: their type.
        hex: bit patterns.
    """
    if hex:
        values = values_of(words, Element("uint", element.bits))
        return [f"0x{value:0{element.bits // 4}x}" for value in values.tolist()]
    values = values_of(words, element)
    return [f"{value:.9e}" if element.is_float else str(value) for value in values.tolist()]


def beat_ends(tlast: Flags, words: int) -> Indices:
    """Where the words of the PLIO end that a stream makes: behind so many of its words, or behind TLAST.

    Args:
        tlast: of each word of the stream.
        words: of the stream in a word of the PLIO.

    Returns:
        Indices behind the last word of each; the last one may be incomplete.
    """
    count = len(tlast)
    cuts = np.append(np.flatnonzero(np.asarray(tlast)) + 1, count)
    begins = np.concatenate((np.zeros(1, np.intp), cuts[:-1]))
    sizes = -(-(cuts - begins) // words)  # of each packet, in words of the PLIO
    number = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    ends: Indices = np.minimum(np.repeat(begins, sizes) + number * words, np.repeat(cuts, sizes))
    return ends
