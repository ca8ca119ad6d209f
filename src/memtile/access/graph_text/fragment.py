"""All tilings of a pasted text: one initialiser, some lines of a graph, or a header.

The text is walked from its begin to its end, twice: what changes later is known the second time. Constants,
``shared_buffer`` and ``external_buffer`` objects and ``dimensions(...)`` that it declares are used where a
tiling names them; loops and calls are not run, so a number that depends on one is refused by its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memtile.access.graph_text.constants import Constants
from memtile.access.graph_text.found import GraphTiling
from memtile.access.graph_text.members import MEMBERS, TILING, Initialisers
from memtile.access.graph_text.preprocessor import Preprocessed
from memtile.access.graph_text.tokens import Token, problem_at
from memtile.access.tiling import TilingParameters
from memtile.errors import InputFileError, Problem, TransferError

PASTED = "text"
"""How messages name a text that is no file."""


_ACCESS = {"write_access": "write", "read_access": "read"}
_OBJECTS = {"shared_buffer": "memtile", "external_buffer": "external_ddr_via_interface_tile"}
_KERNEL = "aie_ml_data_memory"
_OLDER = frozenset(("buffer_descriptor", "buffer_descriptor_parameters"))
_BODIES = frozenset(("{", ":", "final", "<", "::"))
_NAMED_SCOPES = frozenset(("class", "struct", "namespace"))


@dataclass
class _Memory:
    """A buffer object, or the buffer of a kernel's port."""

    kind: str = "memtile"
    element: str = ""
    dimensions: tuple[int, ...] = ()


@dataclass
class _Access:
    """The ``write_access`` or ``read_access`` whose right side is being read."""

    port: str = ""
    access: str = "read"
    end: int = -1
    found: int = 0


def graph_tilings(
    text: str, constants: Mapping[str, int | str] | None = None, *, file: str = PASTED
) -> list[GraphTiling]:
    """Return the tilings of a C++ text, in its order.

    Args:
        text: one initialiser of ``tiling_parameters``, or any text with some.
        constants: values of names, as ``-D`` gives them to a compiler; texts may be expressions.
        file: how messages name the text.

    Raises:
        InputFileError: brackets, comments or directives without their end, too many words, or no tiling.
    """
    read = Preprocessed(file, given=frozenset(constants or ()))
    for name, value in (constants or {}).items():
        own = Preprocessed(f"-D {name}")
        own.read(f"({value})" if str(value).strip() else "1")
        read.macros[name] = own.tokens[:-1]
    read.read(text)
    first = _Walk(read, {})
    first.run()
    walk = _Walk(read, first.constants.unsteady)
    walk.run()
    if not walk.tilings:
        raise read.fail(
            read.tokens[0],
            "the text has no tiling",
            "Paste an initialiser {.buffer_dimension = {...}, ...}, or lines with tiling(...) or "
            "tiling_parameters.",
        )
    return walk.tilings


def tiling_of(text: str, **constants: int) -> TilingParameters:
    """Return the one tiling of a C++ text: ``tiling_of("{.buffer_dimension = {D0}, ...}", D0=8)``.

    Args:
        text: an initialiser of ``tiling_parameters`` with what is around it.
        **constants: values of the names in it.

    Raises:
        TransferError: the tiling cannot be read, or there are several.
        InputFileError: the text has none, or brackets without their ends.
    """
    found = graph_tilings(text, constants)
    if len(found) > 1:
        raise TransferError.of(
            "text",
            f"{len(found)} tilings",
            "one tiling",
            f"the text has {len(found)} tilings: {'; '.join(each.name for each in found)}",
            "Use memtile.access.graph_tilings, which returns all of them.",
            reason="graph_text",
            where=PASTED,
            source="tiling_of",
        )
    if found[0].tiling is None:
        raise found[0].error or TransferError(found[0].name)
    return found[0].tiling


class _Walk:
    """Walks the tokens once, from the first to the last.

    Args:
        read: the text.
        unsteady: places of names that change where the walk cannot follow, and how, as an earlier walk found.
    """

    def __init__(self, read: Preprocessed, unsteady: Mapping[int, str]) -> None:
        self.text = read
        self.tokens = read.tokens
        self.constants = Constants(read, unsteady)
        self.memories: dict[str, _Memory] = {}
        self.ports: dict[str, tuple[int, ...]] = {}
        self.kernels: set[str] = set()
        self.variables: dict[str, list[GraphTiling]] = {}
        self.tilings: list[GraphTiling] = []
        self.label = ""
        self.access = _Access()

    def run(self) -> None:
        """Read all that there is; variables that no port uses come at their place."""
        place = 0
        if self.tokens[0].text == "{" and self.tokens[1].text in (".", "{"):
            place = self._tiling_at(0, "tiling")
        while place < len(self.tokens) - 1:
            place = max(self._step(place), place + 1)
        self.tilings.sort(key=lambda each: each.line)

    def _step(self, place: int) -> int:
        """Read what begins at ``place``; returns where to go on."""
        token = self.tokens[place]
        self._end_access(place)
        if token.text == "{":
            self.constants.enter(self.label)
            self.label = ""
        elif token.text == "}":
            self.constants.leave()
        elif token.kind == "name":
            return self._name(place, token)
        return place + 1

    def _name(self, place: int, token: Token) -> int:
        text, after = token.text, self.tokens[place + 1]
        if text in _NAMED_SCOPES and self.tokens[min(place + 2, len(self.tokens) - 1)].text in _BODIES:
            self.label = after.text
        elif text in _ACCESS and after.text == "(":
            return self._begin_access(place)
        elif text == "tiling" and after.text == "(":
            return self._tiling_call(place + 2)
        elif text == TILING:
            return self._declared(place + 1)
        elif text in _OLDER:
            return self._older(place)
        elif text in _OBJECTS and after.text == "<":
            return self._object(place)
        elif text == "dimensions" and after.text == "(":
            return self._dimensions(place)
        elif text == "kernel":
            self._kernel(place)
        elif after.text == "." and text in self.variables:
            return self._set_member(place)
        else:
            return self.constants.step(place, token)
        return place + 1

    # buffers and ports

    def _object(self, place: int) -> int:
        """``shared_buffer<T> a, b;`` or ``a = shared_buffer<T>::create({...}, 1, 1)``."""
        kind, start = _OBJECTS[self.tokens[place].text], place + 2
        stop = start
        while self.tokens[stop].text not in (">", ">>", ";") and self.tokens[stop].kind != "end":
            stop += 1
        element = "".join(each.text for each in self.tokens[start:stop])
        if [each.text for each in self.tokens[stop + 1 : stop + 4]] == ["::", "create", "("]:
            name = self._assigned(place)
            made = _Memory(kind, element, self._numbers(stop + 4))
            if name:
                self.memories[name] = made
            return stop + 4
        for each in self._declared_names(stop + 1):
            self.memories.setdefault(each, _Memory(kind, element))
        return stop + 1

    def _kernel(self, place: int) -> None:
        """``kernel a, b[4];`` or ``a = kernel::create(...)``."""
        after = self.tokens[place + 1]
        if after.kind == "name":
            self.kernels.update(self._declared_names(place + 1))
        elif after.text == "::" and (name := self._assigned(place)):
            self.kernels.add(name)

    def _declared_names(self, place: int) -> list[str]:
        names = []
        while self.tokens[place].kind == "name":
            names.append(self.tokens[place].text)
            place = self.constants.after_item(place + 1)
            if self.tokens[place].text != ",":
                break
            place += 1
        return names

    def _assigned(self, place: int) -> str:
        """The name to the left of ``= adf::word``, without its indices; empty = there is none."""
        place -= 2 if place > 1 and self.tokens[place - 1].text == "::" else 0
        if place < 2 or self.tokens[place - 1].text != "=":
            return ""
        return _owner(self.tokens[max(0, place - 24) : place - 1])

    def _numbers(self, place: int) -> tuple[int, ...]:
        """The numbers in braces at ``place``; empty where they are none."""
        reader = self.constants.reader(place)
        if reader.token.text != "{":
            return ()
        try:
            return tuple(Initialisers(reader).member("buffer_dimension"))
        except InputFileError:  # asked for only where a tiling has no buffer_dimension, which is then refused
            return ()

    def _dimensions(self, place: int) -> int:
        """``dimensions(k.in[0]) = {16, 8};``."""
        stop = self.text.matching[place + 1]
        if self.tokens[stop + 1].text == "=":
            self.ports[_shown(self.tokens[place + 2 : stop])] = self._numbers(stop + 2)
        return stop

    def _begin_access(self, place: int) -> int:
        stop = self.text.matching[place + 1]
        if self.tokens[stop + 1].text != "=":
            return stop
        end = stop + 2
        while self.tokens[end].kind != "end" and self.tokens[end].text not in (";", "}"):
            end = self.text.matching.get(end, end) + 1
        token = self.tokens[place]
        self.access = _Access(_shown(self.tokens[place + 2 : stop]), _ACCESS[token.text], end)
        if self.tokens[stop + 2].text in self.variables:
            self._use(stop + 2)
        return stop + 2

    def _end_access(self, place: int) -> None:
        """Report an access whose right side has no tiling that can be read."""
        if not 0 <= self.access.end <= place:
            return
        access, self.access = self.access, _Access()
        if not access.found:
            token = self.tokens[access.end - 1]
            says = f"no tiling can be read from what is assigned to {access.access}_access({access.port})"
            step = "Write tiling({...}), or the name of tiling_parameters in this text."
            self._add(self._failed(token, says, step, access), access)

    # tilings

    def _tiling_call(self, place: int) -> int:
        """``tiling({...})``, ``tiling(tiling_parameters{...})`` or ``tiling(name)``, behind its bracket."""
        first = place + 2 if self.tokens[place].text == "adf" else place
        first += self.tokens[first].text == TILING
        token = self.tokens[first]
        if token.text == "{":
            return self._tiling_at(first, "tiling")
        if token.text in self.variables:
            return self._use(first)
        says = f"tiling(...) is made of {token.text}, which is no tiling_parameters of this text"
        self._add(self._failed(token, says, "Write its members in braces."), self.access)
        return first

    def _declared(self, place: int) -> int:
        """Behind ``tiling_parameters``: a variable, a vector of them, or braces."""
        several = self.tokens[place].text == ">"
        place += several
        named_here = self.tokens[place].kind == "name"
        name = self.tokens[place].text if named_here else "tiling"
        place += named_here
        if named_here and self.tokens[place].text == ";":
            self._keep(
                name, [GraphTiling(self._titled(name, place), self.tokens[place].line, TilingParameters())]
            )
            return place
        place += self.tokens[place].text == "="
        place += 2 * (self.tokens[place].text == "adf")
        place += self.tokens[place].text == TILING
        if self.tokens[place].text != "{":
            return place
        end = self.text.matching[place] + 1
        if not named_here:
            return self._tiling_at(place, name)
        if not several:
            self._keep(name, [self._read(place, name)])
            return end
        items: list[GraphTiling] = []
        item = place + 1
        while item < end - 1:
            item += 2 * (self.tokens[item].text == "adf")
            item += self.tokens[item].text == TILING
            if self.tokens[item].text == "{":
                items.append(self._read(item, f"{name}[{len(items)}]"))
            item = self.constants.after_item(item) + 1
        self._keep(name, items)
        return end

    def _keep(self, name: str, found: list[GraphTiling]) -> None:
        """A variable; it is listed until a port uses it."""
        self.variables[name] = found
        self.tilings += found

    def _use(self, place: int) -> int:
        """A variable for the port of the access around it."""
        found = self.variables[self.tokens[place].text]
        self.tilings = [each for each in self.tilings if each not in found]
        for each in found if self.access.end >= 0 else ():
            self._add(each, self.access)
        if self.access.end < 0:
            self.tilings += found
        return place + 1

    def _set_member(self, place: int) -> int:
        """``T.offset = {...};``."""
        name, member = self.tokens[place].text, self.tokens[place + 2]
        if member.text not in MEMBERS[TILING] or self.tokens[place + 3].text != "=":
            return place + 1
        reader = self.constants.reader(place + 4)
        old = self.variables[name]
        try:
            value = Initialisers(reader).member(member.text)
            change = {member.text: value}
            new = [replace(each, tiling=each.tiling and replace(each.tiling, **change)) for each in old]
        except InputFileError as error:
            new = [replace(each, tiling=None, error=TransferError(error.problems)) for each in old]
        self.variables[name] = new
        self.tilings = [new[old.index(each)] if each in old else each for each in self.tilings]
        return self.constants.after_item(place + 4)

    def _older(self, place: int) -> int:
        token = self.tokens[place]
        if self.tokens[place + 1].text in ("(", "{"):
            says = f"{token.text} is the older form of a tiling, which is not read here"
            self._add(self._failed(token, says, "Write it as tiling_parameters."), self.access)
            return self.text.matching[place + 1]
        return place + 1

    def _tiling_at(self, place: int, name: str) -> int:
        self._add(self._read(place, name), self.access)
        return self.text.matching[place] + 1

    def _read(self, place: int, name: str) -> GraphTiling:
        reader = self.constants.reader(place)
        token = self.tokens[place]
        try:
            tiling = Initialisers(reader).tiling()
        except InputFileError as error:
            return GraphTiling(self._titled(name, place), token.line, error=TransferError(error.problems))
        return GraphTiling(self._titled(name, place), token.line, tiling)

    def _failed(self, token: Token, says: str, step: str, access: _Access | None = None) -> GraphTiling:
        problem: Problem = problem_at(token, says, step, file=self.text.file)
        name = (access or self.access).port or "tiling"
        return GraphTiling(self._title(name, token.line), token.line, error=TransferError(problem))

    def _add(self, found: GraphTiling, access: _Access) -> None:
        """List a tiling, with what is known of the port that it is for."""
        if not access.port:
            self.tilings.append(found)
            return
        access.found += 1
        memory = self._memory(access.port)
        tiling = found.tiling
        if tiling is not None and not tiling.buffer_dimension and memory.dimensions:
            tiling = replace(tiling, buffer_dimension=memory.dimensions)
        self.tilings.append(
            replace(
                found,
                name=self._title(access.port, found.line),
                tiling=tiling,
                access=access.access,
                memory=memory.kind,
                element_type=memory.element,
            )
        )

    def _memory(self, port: str) -> _Memory:
        owner = _owner_of_port(port)
        if owner in self.memories:
            return self.memories[owner]
        kind = _KERNEL if owner in self.kernels else "memtile"
        return _Memory(kind, "", self.ports.get(port, ()))

    def _titled(self, name: str, place: int) -> str:
        return self._title(name, self.tokens[place].line)

    def _title(self, name: str, line: int) -> str:
        label = self.constants.label
        return f"{name} ({label}, line {line})" if label else f"{name} (line {line})"


def _shown(tokens: Sequence[Token]) -> str:
    return "".join(each.text for each in tokens)


def _owner(tokens: Sequence[Token]) -> str:
    """The last name of ``a.b[i]``, outside of its indices; empty = the tokens do not end with one."""
    depth = 0
    for token in reversed(tokens):
        depth += (token.text == "]") - (token.text == "[")
        if not depth and token.text != "[":
            return token.text if token.kind == "name" else ""
    return ""


def _owner_of_port(port: str) -> str:
    """``mtx`` of ``this->mtx[1].out[0]``."""
    for end in (".in", ".out", ".inout"):
        port = port.rpartition(end)[0] or port
    port = port.partition("[")[0] if port.endswith("]") else port
    return port.replace("->", ".").rpartition(".")[2]
