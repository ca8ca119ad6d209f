"""Candidates in the Python source of a design that name another thing: a buffer, a block of it, a turn."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from memtile.explain.repairs import Candidate
from memtile.importers.python.source_text import SourceText, assigned, called, calls

_TWICE, _TURN, _OTHER = 0.4, 0.7, 1.0
_MAKERS = ("buffer", "external")
_TAKERS = ("read", "write", "view", "load")


def turn_candidates(text: SourceText) -> Iterator[tuple[int, Candidate]]:
    """The variable of the loop for what chooses a block or a buffer; each with its line."""
    loops = [each for each in ast.walk(text.tree) if isinstance(each, ast.For)]
    turns = [chosen for loop in loops for node in ast.walk(loop) for chosen in _chosen(node)]
    for loop in loops:
        names = [each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)]
        others = [text.text(each) for each in turns if _is_of_turn(each, names)]
        for node in (each for part in loop.body for each in ast.walk(part)):
            for chosen in _chosen(node):
                for name in dict.fromkeys([*names, *others]):
                    old = text.text(chosen)
                    if _is_another_turn(chosen, names) and old != name:
                        shown = f"[{name}] instead of [{old}]"
                        says = f"line {chosen.lineno}: {shown}"
                        yield chosen.lineno, Candidate("lock", says, [text.change(chosen, name)], _TURN)


def order_candidates(text: SourceText) -> Iterator[tuple[int, Candidate]]:
    """All of what is gone through, and from the front; each with its line."""
    every = [*ast.walk(text.tree)]
    gone = [each.iter for each in every if isinstance(each, (ast.For, ast.comprehension))]
    gone += [each.value for each in every if isinstance(each, ast.Starred)]
    for chosen in gone:
        new = ""
        if isinstance(chosen, ast.Call) and called(chosen.func) == "reversed" and chosen.args:
            new = text.text(chosen.args[0])
        if isinstance(chosen, ast.Subscript) and isinstance(chosen.slice, ast.Slice):
            new = text.text(chosen.value)
        if new:
            yield _instead(text, chosen, new, "order")
    for call in calls(text.tree, "range"):
        for given in call.args:
            if (
                isinstance(given, ast.BinOp)
                and isinstance(given.op, (ast.Add, ast.Sub))
                and _is_number(given.right)
            ):
                yield _instead(text, given, text.text(given.left), "bound")


def _instead(text: SourceText, node: ast.expr, new: str, kind: str) -> tuple[int, Candidate]:
    says = f"line {node.lineno}: {new} instead of {text.text(node)}"
    return node.lineno, Candidate(kind, says, [text.change(node, new)], _TURN)


def buffer_candidates(text: SourceText) -> Iterator[tuple[int, Candidate]]:
    """Another buffer for what is read or written, and another one where a list has one twice; with lines."""
    names = [*dict.fromkeys(_buffers(text.tree))]
    for node in ast.walk(text.tree):
        if isinstance(node, ast.Call) and called(node.func) in _TAKERS:
            yield from _exchanged(
                text, [each for each in node.args if isinstance(each, ast.Name)], names, _OTHER
            )
        if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
            held = [each for each in node.elts if isinstance(each, ast.Name)]
            twice = [each for each in held if [one.id for one in held].count(each.id) > 1]
            yield from _exchanged(text, twice, names, _TWICE)
            yield from _next_ones(text, node.elts)


def _exchanged(
    text: SourceText, uses: Sequence[ast.Name], names: Sequence[str], unlikely: float
) -> Iterator[tuple[int, Candidate]]:
    for use in uses:
        for name in names if use.id in names else ():
            if name != use.id:
                says = f"line {use.lineno}: {name} instead of {use.id}"
                yield use.lineno, Candidate("buffer", says, [text.change(use, name)], unlikely)


def _next_ones(text: SourceText, listed: Sequence[ast.expr]) -> Iterator[tuple[int, Candidate]]:
    """The next of several buffers for one that is listed again."""
    for number, each in enumerate(listed):
        again = text.text(each) in [text.text(one) for one in listed[:number]]
        if again and isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant):
            new = f"{text.text(each.value)}[{number}]"
            says = f"line {each.lineno}: {new} instead of {text.text(each)}"
            yield each.lineno, Candidate("buffer", says, [text.change(each, new)], _TWICE)


def _chosen(node: ast.AST) -> Iterator[ast.expr]:
    """What chooses a block: what stands in brackets, and the number of the buffer of an object FIFO."""
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
        yield node.slice
    if isinstance(node, ast.Call) and called(node.func) == "buffer" and len(node.args) == 1:
        yield node.args[0]


def _is_number(chosen: ast.expr) -> bool:
    return isinstance(chosen, ast.Constant) and type(chosen.value) is int


def _is_of_turn(chosen: ast.expr, names: Sequence[str]) -> bool:
    """Whether it is reckoned from the variables of a loop."""
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(chosen))


def _is_another_turn(chosen: ast.expr, names: Sequence[str]) -> bool:
    """Whether it is a number, or another turn reckoned from this one."""
    near = isinstance(chosen, ast.BinOp) and isinstance(chosen.op, (ast.Add, ast.Sub))
    return _is_number(chosen) or (near and _is_of_turn(chosen, names))


def _buffers(tree: ast.AST) -> Iterator[str]:
    """The variables that hold buffers."""
    for name, value in assigned(tree):
        if isinstance(value, ast.Call) and called(value.func) in _MAKERS:
            yield name
