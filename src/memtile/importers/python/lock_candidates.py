"""Candidates in the Python source of a design that change locks: another one, one more, later, or more of it.

A lock is known by the text that names it: ``full`` of ``full.acquire()`` in a transfer and of
``core.acquire(full)`` in a kernel are one. Those of an end of an object FIFO are its ``full`` and ``free``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass

from memtile.explain.findings import Change
from memtile.explain.repairs import Candidate
from memtile.importers.python.source_text import Scope, SourceText, assigned, called, calls

_ACTIONS = ("acquire", "release")
_OTHER = {"acquire": "release", "release": "acquire", "free": "full", "full": "free"}
_OF_ENDS = (".free", ".full")
_SEEN = "seen"
"""Of a tile: a lock of a neighbour, as it sees it."""
_LIKELY, _NAMED, _DOUBLED, _USUAL, _RARE = 0.1, 0.3, 0.6, 0.7, 1.3


@dataclass(frozen=True, slots=True)
class _Use:
    """An acquire or a release.

    Attributes:
        action: ``acquire`` or ``release``.
        lock: its text.
        call: of the action.
        lock_node: what names the lock.
        core: text of the core whose action it is; empty = of a transfer.
    """

    action: str
    lock: str
    call: ast.Call
    lock_node: ast.expr
    core: str


class LockCandidates:
    """What may be changed about locks.

    Args:
        text: of the design.
        quoted: names that the findings quote.
    """

    def __init__(self, text: SourceText, quoted: Set[str]) -> None:
        self._text = text
        self._names = dict(_lock_names(text.tree))
        self._ends = dict(_fifo_names(text.tree))
        cores = [each for scope in text.scopes() for each in _core_of(scope.function)]
        every = (each for each in ast.walk(text.tree) if isinstance(each, ast.Call))
        self._uses = [use for call in every if (use := self._use(call, {*cores})) is not None]
        self._acts = {(use.action, use.lock) for use in self._uses}
        self._quoted = quoted
        self._cores = {*cores}

    def candidates(self) -> Iterator[tuple[int, Candidate]]:
        """Candidates, each with its line."""
        yield from self._others()
        yield from self._more()
        yield from self._in_transfers()
        for scope in self._text.scopes():
            if scope.function is not None and any(_core_of(scope.function)):
                yield from self._in_kernels(scope)
                yield from self._moves(scope)

    def _use(self, call: ast.Call, cores: Set[str]) -> _Use | None:
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in _ACTIONS:
            return None
        holder = function.value
        if isinstance(holder, ast.Call) and called(holder.func) == _SEEN and holder.args:
            holder = holder.args[0]
        owner = self._text.text(holder)
        if owner not in cores:
            return _Use(function.attr, owner, call, function.value, "")
        if not call.args:
            return None
        return _Use(function.attr, self._text.text(call.args[0]), call, call.args[0], owner)

    def _is_lonely(self, action: str, lock: str) -> bool:
        """Whether a lock is released and never acquired, or the other way round, and lacks this action."""
        return (action, lock) not in self._acts and (_OTHER[action], lock) in self._acts

    def quotes(self, call: ast.Call) -> bool:
        """Whether findings speak of the lock that a call acquires or releases."""
        use = self._use(call, self._cores)
        return use is not None and self._quotes(use.lock)

    def is_of_transfers(self, lock: str) -> bool:
        """Whether a transfer acquires or releases a lock."""
        return any(use.lock == lock and not use.core for use in self._uses)

    def _quotes(self, lock: str) -> bool:
        owner, _, part = lock.rpartition(".")
        name = f"{self._ends[owner]}.{part}" if owner in self._ends else self._names.get(lock, "")
        return name in self._quoted

    def _others(self) -> Iterator[tuple[int, Candidate]]:
        """Another lock: likely for one of which the other action is missing."""
        for use in self._uses:
            if not isinstance(use.lock_node, ast.Name) or use.lock not in self._names:
                continue
            alone = self._is_left_alone(use)
            for name in self._names:
                if name == use.lock:
                    continue
                lonely = self._is_lonely(use.action, name)
                unlikely = _LIKELY if alone and lonely else 0.4 if alone or lonely else _RARE
                if lonely and not alone and self._would_be_lonely(use):
                    unlikely = _RARE  # it mends one lock and breaks the other
                says = f"line {use.call.lineno}: {use.action} {name} instead of {use.lock}"
                changes = [self._text.change(use.lock_node, name)]
                takes = use.action == "acquire"
                yield use.call.lineno, Candidate("lock", says, changes, unlikely, takes=takes)
                beside = self._beside(use)
                if lonely and use is beside[0] and len(beside) > 1:
                    changes = [self._text.change(each.lock_node, name) for each in beside]
                    says = f"{says} {len(beside)} times"
                    yield use.call.lineno, Candidate("lock", says, changes, unlikely, takes=takes)

    def _beside(self, use: _Use) -> list[_Use]:
        """All that do the same to its lock in its line, as the descriptors of a ring do."""
        key = use.action, use.lock, use.call.lineno
        return [each for each in self._uses if (each.action, each.lock, each.call.lineno) == key]

    def _is_left_alone(self, use: _Use) -> bool:
        return (_OTHER[use.action], use.lock) not in self._acts

    def _would_be_lonely(self, use: _Use) -> bool:
        """Whether its lock would have only the other action without it."""
        alike = [each for each in self._uses if (each.action, each.lock) == (use.action, use.lock)]
        return len(alike) == 1 and not self._is_left_alone(use)

    def _more(self) -> Iterator[tuple[int, Candidate]]:
        """Two units instead of one, where no number stands."""
        for use in self._uses:
            numbers = use.call.args[1:] if use.core else use.call.args
            if numbers or use.call.keywords:
                continue
            new = f"{use.core}.{use.action}({use.lock}, 2)" if use.core else f"{use.lock}.{use.action}(2)"
            says = f"line {use.call.lineno}: {use.action} 2 of {use.lock} instead of 1"
            unlikely = _DOUBLED if self._quotes(use.lock) else _RARE
            yield use.call.lineno, Candidate("count", says, [self._text.change(use.call, new)], unlikely)

    def _wanted(self, action: str) -> Iterator[tuple[str, float]]:
        """Locks that may lack this action, and how unlikely that is."""
        own = dict.fromkeys(use.lock for use in self._uses)
        for lock in own:
            if lock.endswith(_OF_ENDS):
                continue  # what the other end of an object FIFO does is no text
            if self._is_lonely(action, lock):
                yield lock, _LIKELY
            elif self._quotes(lock):
                yield lock, _NAMED

    def _in_transfers(self) -> Iterator[tuple[int, Candidate]]:
        """A lock for a transfer that has none, before it or behind it."""
        guards = [*calls(self._text.tree, "guarded")]
        guarded = {id(call.func.value) for call in guards if isinstance(call.func, ast.Attribute)}
        bare = [call for name in ("read", "write") for call in calls(self._text.tree, name)
                if id(call) not in guarded and not self._is_of_core(call)]  # fmt: skip
        for place, action in enumerate(_ACTIONS):
            for lock, unlikely in self._wanted(action):
                new = f"{lock}.{action}()"
                put = [(call, change) for call in guards for change in self._guard(call, place, new)]
                put += [
                    (call, self._text.behind(call, f".guarded({'None, ' * place}{new})")) for call in bare
                ]
                for call, change in put:
                    says = f"line {call.lineno}: let the transfer {action} {lock}"
                    yield call.lineno, Candidate(action, says, [change], unlikely)

    def _guard(self, call: ast.Call, place: int, new: str) -> Iterator[Change]:
        """An action of a guard that has none, by its place or by its name."""
        named = {each.arg: each.value for each in call.keywords}
        given = call.args[place] if len(call.args) > place else named.get(_ACTIONS[place])
        if given is not None:
            if isinstance(given, ast.Constant) and given.value is None:
                yield self._text.change(given, new)
        elif call.keywords and None not in named:
            yield self._text.behind(call.keywords[-1].value, f", {_ACTIONS[place]}={new}")
        elif call.args and len(call.args) == place and not call.keywords:
            yield self._text.behind(call.args[-1], f", {new}")

    def _is_of_core(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and self._text.text(call.func.value) in self._cores

    def _in_kernels(self, scope: Scope) -> Iterator[tuple[int, Candidate]]:
        """A wait or a release that a kernel does not have, at the beginning or the end of a turn."""
        own = [self._yielded(each) for each in scope.statements]
        acts = {(use.action, use.lock) for use in own if use is not None}
        if not acts and scope.loop:
            return
        core = next(iter(_core_of(scope.function)))
        waits = [n for n, use in enumerate(own) if use is not None and use.action == "acquire"]
        first = scope.statements[min(waits[-1] + 1, len(own) - 1) if waits else 0]
        for action, where, put in (
            ("acquire", first, self._text.line_before),
            ("release", scope.statements[-1], self._text.line_after),
        ):
            for lock, unlikely in {**dict(self._wanted(action)), **dict(_partners(action, acts))}.items():
                if self._does(scope.function, action, lock):
                    continue
                new = f"yield {core}.{action}({lock})"
                change = put(where, new)
                says = f"line {change.line}: put in {new}"
                yield where.lineno, Candidate(action, says, [change], unlikely)

    def _does(self, function: ast.FunctionDef | None, action: str, lock: str) -> bool:
        """Whether a kernel has an action with a lock anywhere."""
        inside = (each for each in ast.walk(function or self._text.tree) if isinstance(each, ast.Call))
        uses = (self._use(call, self._cores) for call in inside)
        return any(use is not None and (use.action, use.lock) == (action, lock) for use in uses)

    def _moves(self, scope: Scope) -> Iterator[tuple[int, Candidate]]:
        """A release to the end of a turn, a wait to its beginning."""
        for number, statement in enumerate(scope.statements):
            action = _action(statement)
            if action is None or not self._text.is_alone(statement):
                continue
            back = action != "acquire"
            target = scope.statements[-1 if back else 0]
            if target is statement or (back and self._only_actions_behind(scope, number)):
                continue
            text = self._text.text(statement)
            put = self._text.line_after(target, text) if back else self._text.line_before(target, text)
            taken = self._text.without(statement)
            says = (
                f"move line {statement.lineno}, {text}, {'behind' if back else 'before'} line {target.lineno}"
            )
            yield statement.lineno, Candidate("order", says, [taken, put], _USUAL)

    def _only_actions_behind(self, scope: Scope, number: int) -> bool:
        return all(_action(each) is not None for each in scope.statements[number + 1 :])

    def _yielded(self, statement: ast.stmt) -> _Use | None:
        call = _yielded_call(statement)
        return None if call is None else self._use(call, self._cores)


def _partners(action: str, acts: Set[tuple[str, str]]) -> Iterator[tuple[str, float]]:
    """Locks of ends of object FIFOs with which a turn does only the other thing."""
    for other, lock in acts:
        owner, _, part = lock.rpartition(".")
        if owner and part in _OTHER and other == _OTHER[action]:
            yield f"{owner}.{_OTHER[part]}", _LIKELY


def _yielded_call(statement: ast.stmt) -> ast.Call | None:
    value = statement.value if isinstance(statement, ast.Expr) else None
    inner = value.value if isinstance(value, ast.Yield) else None
    return inner if isinstance(inner, ast.Call) else None


def _action(statement: ast.stmt) -> str | None:
    """What a statement of a kernel has its core do with others: acquire, release, or put a value."""
    call = _yielded_call(statement)
    name = "" if call is None else called(call.func)
    return name if name in (*_ACTIONS, "put_cascade", "put") else None


def _core_of(function: ast.FunctionDef | None) -> Iterator[str]:
    """The name of the core of a kernel: its first argument, or one that is called so, if it yields."""
    if function is None or not any(
        isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(function)
    ):
        return
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for argument in given:
        said = "" if argument.annotation is None else called(argument.annotation)
        if argument.arg == "core" or said == "Core":
            yield argument.arg
            return


def _lock_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The variables that hold locks, and what the locks are called."""
    for name, value in assigned(tree):
        if isinstance(value, ast.Call) and called(value.func) == "lock":
            yield name, _said(value)


def _fifo_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What stands for an end of an object FIFO, such as ``a.consumers[0]``, and the FIFO's name."""
    fifos = dict[str, str]()
    for name, value in assigned(tree):
        for call in calls(value, "object_fifo"):
            fifos[name] = _said(call)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("free", "full"):
            owner = ast.unparse(node.value)
            if (base := owner.partition(".")[0].partition("[")[0]) in fifos:
                yield owner, fifos[base]


def _said(call: ast.Call) -> str:
    """The first text that a call is given."""
    texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return next((each for each in texts if isinstance(each, str)), "")
