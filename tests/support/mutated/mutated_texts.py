"""MLIR texts with small mistakes in them, the same ones for the same number."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, str], str]
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@^#!]?[\w$.]+|->|::|[^\s\w]')
_NUMBER = re.compile(r"(?<![\w%@^.])-?\d+(?![\w.])")
_TYPE = re.compile(r"\b(?:[su]?i(?:1|8|16|32|64)|bf16|f16|f32|f64|index)\b")
_SHAPE = re.compile(r"(?<=<)(?:\d+x)+(?=[a-z])")
_NAME = re.compile(r"[%@^][\w$.]+")
_ATTRIBUTE = re.compile(r"\b\w+(?= = )")
NUMBERS = ("0", "1", "-1", "7", "64", "65536", str(2**31), str(2**63), str(2**200), "1.5", "0x10", "true")
TYPES = ("i1", "i8", "i16", "i32", "i64", "ui8", "bf16", "f16", "f32", "f64", "index", "i7", "i0", "none")
SHAPES = ("0x", "1x", "3x", "?x", "4x4x", "1000000000x", "")
NOISE = ("\0", '"', "{", "}", "(", ")", "<", ">", "[", "]", "\t", "\r", "//", "/*", "\\", "é", "%", "@", "=")


def mutated(text: str, number: int) -> str:
    """A text with one to three mistakes; which ones is said by the number alone."""
    rng = random.Random(number)
    for _ in range(rng.choice((1, 1, 2, 3))):
        text = rng.choice(MUTATIONS)(rng, text)
    return text


def _replaced(
    rng: random.Random, text: str, pattern: re.Pattern[str], new: Callable[[str], str] | Sequence[str]
) -> str:
    """One match of a pattern replaced by something else."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    chosen = rng.choice(found)
    other = new(chosen[0]) if callable(new) else rng.choice(new)
    return text[: chosen.start()] + other + text[chosen.end() :]


def _one_of(rng: random.Random, text: str, pattern: re.Pattern[str]) -> str:
    """A match of a pattern replaced by another match of it."""
    found = pattern.findall(text)
    return _replaced(rng, text, pattern, found) if found else text


def _without_token(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _TOKEN, ("",))


def _twice(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _TOKEN, lambda token: f"{token} {token}")


def _foreign_token(rng: random.Random, text: str) -> str:
    other = rng.choice(_TOKEN.findall(text) or [""])
    return _replaced(rng, text, _TOKEN, lambda token: f"{token} {other}")


def _other_token(rng: random.Random, text: str) -> str:
    return _one_of(rng, text, _TOKEN)


def _swapped_tokens(rng: random.Random, text: str) -> str:
    found = list(_TOKEN.finditer(text))
    if len(found) < 2:
        return text
    at = rng.randrange(len(found) - 1)
    one, other = found[at], found[at + 1]
    between = text[one.end() : other.start()]
    return text[: one.start()] + other[0] + between + one[0] + text[other.end() :]


def _lines(change: Callable[[random.Random, list[str]], None]) -> Mutation:
    def mutation(rng: random.Random, text: str) -> str:
        lines = text.split("\n")
        change(rng, lines)
        return "\n".join(lines)

    return mutation


def _drop(rng: random.Random, lines: list[str]) -> None:
    del lines[rng.randrange(len(lines))]


def _double(rng: random.Random, lines: list[str]) -> None:
    at = rng.randrange(len(lines))
    lines.insert(at, lines[at])


def _move(rng: random.Random, lines: list[str]) -> None:
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)


def _other_number(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _NUMBER, NUMBERS)


def _next_number(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _NUMBER, lambda number: str(int(number[:400]) + rng.choice((1, -1))))


def _other_name(rng: random.Random, text: str) -> str:
    return _one_of(rng, text, _NAME)


def _new_name(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _NAME, lambda name: f"{name}_away")


def _other_type(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _TYPE, TYPES)


def _other_shape(rng: random.Random, text: str) -> str:
    return _replaced(rng, text, _SHAPE, SHAPES)


def _other_attribute(rng: random.Random, text: str) -> str:
    return _one_of(rng, text, _ATTRIBUTE)


def _noise(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(NOISE) + text[at:]


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


MUTATIONS: Sequence[Mutation] = (
    *(_without_token, _twice, _foreign_token, _other_token, _swapped_tokens),
    *(_lines(_drop), _lines(_double), _lines(_move)),
    *(_other_number, _other_number, _next_number, _other_name, _other_name, _new_name),
    *(_other_type, _other_shape, _other_attribute, _noise, _cut),
)
"""What may go wrong in a text; what hides deepest is there twice."""
