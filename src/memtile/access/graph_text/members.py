"""Initialisers of ``tiling_parameters`` and ``traversing_parameters``: designated, or values in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from memtile.access.graph_text.integers import Integers, named
from memtile.access.tiling import TilingParameters, TraversingParameters

TILING = "tiling_parameters"
TRAVERSING = "traversing_parameters"
MEMBERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        TILING: (
            "buffer_dimension",
            "tiling_dimension",
            "offset",
            "tile_traversal",
            "packet_port_id",
            "repetition",
            "phase",
            "boundary_dimension",
        ),
        TRAVERSING: ("dimension", "stride", "wrap"),
    }
)
"""Members in the order of their declaration (XD100, "Tiling Parameter Structure")."""

_NUMBERS = frozenset(("packet_port_id", "repetition", "phase", *MEMBERS[TRAVERSING]))


class Initialisers:
    """Reads initialisers with ``reader``, which is at their first token.

    Args:
        reader: of expressions, at ``{``.
    """

    def __init__(self, reader: Integers) -> None:
        self.reader = reader

    def tiling(self) -> TilingParameters:
        """The tiling in braces that begins here.

        Raises:
            InputFileError: a member that there is not, that comes too late or twice, or a value that is no
                integer constant.
        """
        return TilingParameters(**dict(self._members(TILING, self.member)))

    def member(self, name: str) -> Any:
        """The value of a member of ``tiling_parameters``."""
        if name == "tile_traversal":
            return tuple(self._listed(name, self._loop))
        if name in _NUMBERS:
            return self._number()
        value = tuple(self._listed(name, self.reader.value))
        return None if name == "boundary_dimension" and not value else value

    def _loop(self) -> TraversingParameters:
        if self.reader.token.text == "adf":
            self.reader.take()
            self.reader.take("::")
        if self.reader.token.text == TRAVERSING:
            self.reader.take()
        given = dict(self._members(TRAVERSING, lambda _: self._number()))
        missing = [name for name in MEMBERS[TRAVERSING] if name not in given]
        if missing:
            token = self.reader.tokens[self.reader.place - 1]
            says = f"a loop of tile_traversal ends here without {', '.join(missing)}"
            raise self.reader.fail(token, says, "Give all of dimension, stride and wrap.")
        return TraversingParameters(**given)

    def _number(self) -> int:
        if self.reader.token.text != "{":
            return self.reader.value()
        self.reader.take()
        value = self.reader.value()
        self.reader.take("}")
        return value

    def _listed(self, name: str, item: Callable[[], Any]) -> Iterator[Any]:
        """The items of a list in braces."""
        token = self.reader.token
        if token.text != "{":
            says = f"{name} is {named(token)}; it must be a list in braces"
            raise self.reader.fail(token, says, f"Write .{name} = {{...}} with its numbers.")
        self.reader.take()
        while self.reader.token.text != "}":
            yield item()
            self._separated()
        self.reader.take("}")

    def _separated(self) -> None:
        if self.reader.token.text != "}":
            self.reader.take(",")

    def _members(self, what: str, value: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
        """Names and values of a list of initialisers; all designated, or none."""
        order = MEMBERS[what]
        self.reader.take("{")
        designated = self.reader.token.text == "."
        last = -1
        while self.reader.token.text != "}":
            token = self.reader.token
            if (token.text == ".") != designated:
                says = f"{what} has members with and without a name; C++ takes one kind"
                raise self.reader.fail(token, says, "Name each of them, or none.")
            number = self._designated(what, last) if designated else last + 1
            if number == len(order):
                says = f"{what} has more than its {len(order)} members {', '.join(order)}"
                raise self.reader.fail(token, says)
            yield order[number], value(order[number])
            last = number
            self._separated()
        self.reader.take("}")

    def _designated(self, what: str, last: int) -> int:
        """The number of the member that ``.name =`` names."""
        order = MEMBERS[what]
        self.reader.take(".")
        token = self.reader.take()
        if token.text not in order:
            says = f"{what} has no member {named(token)}"
            raise self.reader.fail(token, says, f"Its members are {', '.join(order)}.")
        number = order.index(token.text)
        if number <= last:
            says = (
                f"{token.text} stands twice" if number == last else f"{token.text} comes after {order[last]}"
            )
            step = f"C++ takes members in the order of their declaration: {', '.join(order)}."
            raise self.reader.fail(token, says, step)
        if self.reader.token.text != "{":
            self.reader.take("=")
        return number
