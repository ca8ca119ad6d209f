"""The text of a planned design: a file of its own, whose arguments have the planned values as defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from importlib.resources import files

_PUBLIC = {"memtile.sim": "memtile.kernels"}  # all other modules are offered by memtile itself
_LINE = 100


def template(name: str) -> str:
    """The text of a design with holes, importing what users import."""
    text = files("memtile.explore.plan.designs").joinpath(f"{name}.py").read_text(encoding="utf-8")
    return _public_imports(text)


def filled(name: str, values: Mapping[str, object], head: str = "") -> str:
    """The text of a design with values for its arguments.

    Args:
        name: of the design with holes.
        values: by argument.
        head: lines above its code, as a comment.
    """
    text = template(name)
    tree = ast.parse(text)
    design = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "design")
    lines = text.splitlines()
    for argument, default in zip(design.args.args, design.args.defaults, strict=True):
        if argument.arg in values:
            at, value = default.lineno - 1, _literal(values[argument.arg])
            lines[at] = lines[at][: default.col_offset] + value + lines[at][default.end_col_offset :]
    if head:
        first = tree.body[0]
        assert first.end_lineno is not None
        lines[first.end_lineno : first.end_lineno] = [
            "",
            *(f"# {line}".rstrip() for line in head.splitlines()),
        ]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _public_imports(text: str) -> str:
    """Imports of modules within memtile as those of what it offers."""
    tree, lines = ast.parse(text), text.splitlines()
    own = [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memtile.")
    ]
    names: dict[str, list[str]] = {}
    for node in own:
        module = next(
            (to for of, to in _PUBLIC.items() if (node.module or "").startswith(f"{of}.")), "memtile"
        )
        names.setdefault(module, []).extend(alias.name for alias in node.names)
    new = [line for module in sorted(names) for line in _import(module, sorted(names[module]))]
    taken = {n for node in own for n in range(node.lineno - 1, node.end_lineno or node.lineno)}
    lines[min(taken)] = "\n".join(new)
    return "\n".join(line for n, line in enumerate(lines) if n not in taken - {min(taken)}) + "\n"


def _import(module: str, names: list[str]) -> Iterator[str]:
    names = sorted(names, key=lambda name: (not name[0].isupper(), name))
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _LINE:
        yield line
        return
    yield f"from {module} import ("
    yield from (f"    {name}," for name in names)
    yield ")"
