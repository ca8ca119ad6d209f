"""Register words as JSON: ``{"tile": ..., "bd": ..., "words": ["0x...", ...]}``, strict on what it needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from memtile.arch.tiles import TileName
from memtile.bd.cases import kind_of
from memtile.bd.descriptor import is_whole
from memtile.bd.legality import check_bd, shown
from memtile.errors import DescriptorError, Problem, raise_if

_SOURCE = "register word schema"
_LONGEST_NUMBER = 40  # characters; 32 binary digits and their prefix are fewer


class WordCase(NamedTuple):
    """Register words, and the tile kind and BD they are for."""

    tile: TileName
    bd: int
    words: tuple[int, ...]


def parse_words(data: Any, tile: TileName | None = None) -> WordCase:
    """The register words of a JSON object; other keys, such as those of a descriptor case, are ignored.

    Args:
        data: object with ``words`` (numbers or strings), ``tile`` and optionally ``bd``.
        tile: tile kind to take when ``data`` names none.

    Raises:
        DescriptorError: something is missing or no number; all problems at once.
    """
    if not isinstance(data, dict) or not isinstance(data.get("words"), list):
        raise DescriptorError.of(
            "words",
            shown(data),
            "an object with tile and words",
            f"the input is {shown(data)}; it must be an object with tile and words",
            reason="words",
            where="register words",
            source=_SOURCE,
        )
    kind = kind_of(data.get("tile", tile))
    bd = 0 if data.get("bd") is None else data["bd"]
    where = f"{kind.title}, BD {shown(bd)}"
    words = [_number(word) for word in data["words"]]
    problems = list(check_bd(kind, where, bd))
    for n, word in enumerate(words):
        if word is None:
            problems.append(
                Problem(
                    f"word {n}",
                    shown(data["words"][n]),
                    "a number or a hexadecimal string",
                    reason="word",
                    where=where,
                    source=_SOURCE,
                )
            )
    raise_if(problems, DescriptorError)
    return WordCase(kind.name, bd, tuple(word for word in words if word is not None))


def hex_words(words: tuple[int, ...]) -> list[str]:
    """Register words as JSON carries them: ``"0x0000ABCD"``."""
    return [f"0x{word:08X}" for word in words]


def _number(word: object) -> int | None:
    if is_whole(word):
        return word
    if not isinstance(word, str) or len(word) > _LONGEST_NUMBER:
        return None
    try:
        return int(word, 0)
    except ValueError:
        return None
