"""Candidates in the Python source of a design that change when things begin: waits of a host, repeats."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from memtile.explain.repairs import Candidate
from memtile.importers.python.source_text import Scope, SourceText, called, calls

_INSTEAD, _WAIT, _WAIT_FOR_ALL, _AGAIN = -0.2, 0.5, 0.6, 1.0
_STARTS = ("start", "start_out_of_order")


def host_candidates(text: SourceText) -> Iterator[tuple[int, Candidate]]:
    """A wait that a host sequence does not have, or has in place of a pause; each with its line."""
    for scope in filter(_is_sequence, text.scopes()):
        steps = [_step(each) for each in scope.statements]
        for number, (statement, step) in enumerate(zip(scope.statements, steps, strict=True)):
            if step is None:
                continue
            host = text.text(step.func.value) if isinstance(step.func, ast.Attribute) else ""
            if called(step.func) in _STARTS and isinstance(statement, ast.Expr):
                yield from _before(text, scope, number, host)
            if called(step.func) == "pause":
                yield from _instead(text, scope, number, step)
        yield from _at_the_end(text, scope)


def repeat_candidates(text: SourceText) -> Iterator[tuple[int, Candidate]]:
    """A task that is done again: for ever, or as often as others; each with its line."""
    starts = [*calls(text.tree, "start")]
    given = [(each.arg, text.text(each.value)) for call in starts for each in call.keywords]
    often = dict.fromkeys(value for name, value in given if name == "repeat")
    for call in starts:
        if any(each.arg in ("repeat", "loop") for each in call.keywords) or not call.args:
            continue
        last = [*call.args, *(each.value for each in call.keywords)][-1]
        news = {"loop=True": "loop", **dict.fromkeys((f"repeat={each}" for each in often), "repeat")}
        for new, kind in news.items():
            says = f"line {call.lineno}: {new} for the task that starts"
            yield call.lineno, Candidate(kind, says, [text.behind(last, f", {new}")], _AGAIN)


def _before(text: SourceText, scope: Scope, number: int, host: str) -> Iterator[tuple[int, Candidate]]:
    """A wait for a task that was started before, ahead of another one."""
    statement = scope.statements[number]
    channels = [channel for each in scope.statements[:number] if (channel := _started(text, each))]
    for channel in dict.fromkeys(channels):
        new = f"yield {host}.wait({channel})"
        says = f"line {statement.lineno}: put in {new}"
        yield statement.lineno, Candidate("wait", says, [text.line_before(statement, new)], _WAIT)


def _instead(text: SourceText, scope: Scope, number: int, pause: ast.Call) -> Iterator[tuple[int, Candidate]]:
    """A wait for what was started before, in place of a pause."""
    assert isinstance(pause.func, ast.Attribute)
    channels = [channel for each in scope.statements[:number] if (channel := _started(text, each))]
    for channel in dict.fromkeys((*reversed(channels), "")):
        new = f"{text.text(pause.func.value)}.wait({channel})"
        says = f"line {pause.lineno}: {new} instead of {text.text(pause)}"
        yield pause.lineno, Candidate("wait", says, [text.change(pause, new)], _INSTEAD)


def _at_the_end(text: SourceText, scope: Scope) -> Iterator[tuple[int, Candidate]]:
    """A wait for all that a sequence started, at its end."""
    if scope.function is None or scope.statements is not scope.function.body:
        return
    last = scope.statements[-1]
    step = _step(last)
    if step is not None and called(step.func) == "wait" and not step.args:
        return
    new = f"yield {scope.function.args.args[0].arg}.wait()"
    change = text.line_after(last, new)
    yield last.lineno, Candidate("wait", f"line {change.line}: put in {new}", [change], _WAIT_FOR_ALL)


def _step(statement: ast.stmt) -> ast.Call | None:
    """What a host does in a statement, or is told there to do: the call that it yields or keeps."""
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    inner = value.value if isinstance(value, ast.Yield) else value
    if not isinstance(inner, ast.Call) or not isinstance(inner.func, ast.Attribute):
        return None
    kept = inner is value
    return None if kept and not (isinstance(statement, ast.Assign) and inner.func.attr in _STARTS) else inner


def _is_sequence(scope: Scope) -> bool:
    """Whether statements are of a function that yields what a host does, and not a core."""
    if scope.function is None or not scope.function.args.args:
        return False
    inside, host = [*ast.walk(scope.function)], scope.function.args.args[0].arg
    callees = (each.func for each in inside if isinstance(each, ast.Call))
    starts = (each.value for each in callees if isinstance(each, ast.Attribute) and each.attr in _STARTS)
    yields = any(isinstance(each, ast.Yield) for each in inside)
    return yields and any(isinstance(each, ast.Name) and each.id == host for each in starts)


def _started(text: SourceText, statement: ast.stmt) -> str | None:
    """What a later wait names: the variable that holds the task, or its channel."""
    step = _step(statement)
    if step is None or called(step.func) not in _STARTS or not step.args:
        return None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return text.text(step.args[0])
