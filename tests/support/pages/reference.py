"""The reference page, from signatures and docstrings.

``PYTHONPATH=tests python tests/support/pages/reference.py PAGE`` writes it.

Signatures and docstrings are read from the source by griffe, without importing it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe

from support.pages import fence, pages

SOURCE = pages.ROOT / "src"
WIDTH = 100
MANY = 3  # arguments, from which on each has its line
HEAD = """# Reference

All public names, made from the docstrings by `make docs`; [stability.md](stability.md) says what we promise.
Every error is a `MemtileError`, which holds all problems of the input at once.
"""
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


@cache
def package() -> griffe.Module:
    """The package as griffe sees it."""
    loaded = griffe.load("memtile", search_paths=[SOURCE], docstring_parser="google", resolve_aliases=True)
    assert isinstance(loaded, griffe.Module)
    return loaded


def public_object(module: str, name: str) -> griffe.Object:
    """What a public name stands for."""
    found = package()[module.removeprefix("memtile.")][name] if module != "memtile" else package()[name]
    return found.final_target if isinstance(found, griffe.Alias) else found


def members(thing: griffe.Class) -> dict[str, griffe.Object]:
    """Public methods and properties of a class; those of a base that is public itself are described there."""
    public = {public_object(module, name) for module in fence.MODULES for name in fence.public_names(module)}
    found: dict[str, griffe.Object] = {}
    for cls in (thing, *thing.mro()):
        if cls is not thing and cls in public:
            break
        for name, member in cls.members.items():
            if not name.startswith("_") and isinstance(member, griffe.Function | griffe.Attribute):
                found.setdefault(name, member)
    return found


def is_property(member: griffe.Object) -> bool:
    """Whether a member is a property, with a docstring of its own."""
    return isinstance(member, griffe.Attribute) and "property" in member.labels


def page() -> str:
    """The whole page."""
    return (
        "\n".join([HEAD, *(line for module in fence.MODULES for line in _module(module))]).rstrip("\n") + "\n"
    )


def _module(module: str) -> Iterator[str]:
    own = package()[module.removeprefix("memtile.")] if module != "memtile" else package()
    yield f"## {module}\n"
    yield f"{_plain(own.docstring.value if own.docstring else '')}\n"
    elsewhere = []
    for name in sorted(fence.public_names(module), key=str.lower):
        if module != "memtile" and _is_in_top(module, name):
            elsewhere.append(f"`{name}`")
        else:
            yield from _entry(module, name)
    if elsewhere:
        yield f"Also here, as in `memtile`: {', '.join(elsewhere)}.\n"


def _is_in_top(module: str, name: str) -> bool:
    top = fence.public_names("memtile")
    return name in top and public_object(module, name) is public_object("memtile", name)


def _entry(module: str, name: str) -> Iterator[str]:
    thing = public_object(module, name)
    yield f"### {module}.{name}\n"
    if isinstance(thing, griffe.Class):
        yield from _class(name, thing)
        return
    text = _wrapped(str(thing.signature())) if isinstance(thing, griffe.Function) else _constant(thing)
    yield f"```text\n{text}\n```\n"
    yield from _docstring(thing)


def _class(name: str, thing: griffe.Class) -> Iterator[str]:
    values = [n for n, m in thing.members.items() if isinstance(m, griffe.Attribute) and n.isupper()]
    bases = [str(base) for base in thing.bases]
    if any(base.endswith("Enum") for base in bases):
        yield f"```text\nclass {name}({', '.join(bases)}): {', '.join(values)}\n```\n"
    else:
        yield f"```text\n{_wrapped(f'class {name}({_parameters(thing)})')}\n```\n"
    public = [base for base in bases if base in fence.public_names("memtile")]
    if public:
        yield f"A `{'`, `'.join(public)}`, with all that it has.\n"
    yield from _docstring(thing)
    for member_name, member in members(thing).items():
        if is_property(member):
            yield f"#### {name}.{member_name}\n"
            assert isinstance(member, griffe.Attribute)
            yield f"```text\n{member_name}: {member.annotation}\n```\n"
            yield from _docstring(member)
        elif isinstance(member, griffe.Function):
            yield f"#### {name}.{member_name}\n"
            yield f"```text\n{_wrapped(str(member.signature()))}\n```\n"
            yield from _docstring(member)


def _parameters(thing: griffe.Class) -> str:
    """Arguments of the constructor: of ``__init__``, or the fields of a dataclass or named tuple."""
    if "__init__" in thing.all_members and thing.parameters:
        made = thing.all_members["__init__"]
        made = made.final_target if isinstance(made, griffe.Alias) else made
        assert isinstance(made, griffe.Function)
        text = str(made.signature(name="x"))
        text = re.sub(r"^x\((self(, )?)?", "", text)
        return text.rpartition(")")[0]
    fields = (
        (name, member)
        for name, member in thing.members.items()
        if isinstance(member, griffe.Attribute) and member.annotation and not is_property(member)
    )
    given = [
        f"{name}: {field.annotation}{'' if field.value is None else f' = {field.value}'}"
        for name, field in fields
        if not name.startswith("_")
    ]
    return ", ".join(given)


def _wrapped(signature: str) -> str:
    """A signature; one that is too long for a line has an argument on each."""
    if len(signature) <= WIDTH:
        return signature
    depth, parts, last = 0, [], 0
    for at, character in enumerate(signature):
        depth += (character in "([{") - (character in ")]}")
        if (depth, character) in ((1, "("), (1, ",")):
            parts.append(signature[last : at + 1].strip())
            last = at + 1
        elif (depth, character) == (0, ")"):
            break
    return "\n    ".join([*parts, f"{signature[last:at].strip()},"]) + f"\n{signature[at:]}"


def _constant(thing: griffe.Object) -> str:
    assert isinstance(thing, griffe.Attribute)
    return f"{thing.name} = {thing.value}"


def _docstring(thing: griffe.Object) -> Iterator[str]:
    if thing.docstring is None:
        return
    for section in thing.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.text:
            yield f"{_plain(section.value)}\n"
        elif section.kind is griffe.DocstringSectionKind.admonition:
            yield f"**{section.title}** {_plain(section.value.description)}\n"
        else:
            yield f"**{section.kind.value.capitalize()}**\n"
            yield from (_item(item, section.kind) for item in section.value)
            yield ""


def _item(item: griffe.DocstringElement, kind: griffe.DocstringSectionKind) -> str:
    text = " ".join(_plain(item.description).split())
    if kind is griffe.DocstringSectionKind.raises:
        return f"- `{item.annotation}`: {text}"
    name = getattr(item, "name", "")
    return f"- `{name}`: {text}" if name else f"- {text}"


def _plain(text: str) -> str:
    """A docstring's reStructuredText as Markdown."""
    return _ROLE.sub(r"`\1`", text).replace("``", "`").strip()


def silent_names() -> Iterator[str]:
    """Public names, methods and properties without a docstring."""
    for module in fence.MODULES:
        for name in fence.public_names(module):
            thing = public_object(module, name)
            found = {name: thing}
            if isinstance(thing, griffe.Class):
                own = members(thing).items()
                found |= {
                    f"{name}.{n}": m for n, m in own if isinstance(m, griffe.Function) or is_property(m)
                }
            yield from (f"{module}.{place}" for place, each in found.items() if not each.docstring)


def silent_raisers() -> Iterator[str]:
    """Public callables that raise, as far as their module shows, without a word about it in the docstring."""
    return (place for place, member in callables() if raises(member) and not says_that_it_raises(member))


def says_that_it_raises(function: griffe.Function) -> bool:
    """Whether the docstring has a section of errors."""
    text = function.docstring.value if function.docstring else ""
    return re.search(r"^Raises:$", text, re.MULTILINE) is not None


def silent_arguments() -> Iterator[str]:
    """Arguments of public callables that the docstring should describe and does not."""
    return (f"{place}: {name}" for place, member in callables() for name in undescribed(member))


def undescribed(function: griffe.Function) -> list[str]:
    """Arguments of a function with three or more that its docstring does not describe."""
    names = [p.name.lstrip("*") for p in function.parameters if p.name not in ("self", "cls")]
    told = {
        item.name.lstrip("*")
        for section in (function.docstring.parsed if function.docstring else ())
        if section.kind is griffe.DocstringSectionKind.parameters
        for item in section.value
    }
    return [name for name in names if name not in told] if len(names) >= MANY else []


def callables() -> Iterator[tuple[str, griffe.Function]]:
    """Every public function and method, properties too, and its public name; each once."""
    seen = set()
    for module in fence.MODULES:
        for name in fence.public_names(module):
            thing = public_object(module, name)
            if thing in seen:
                continue
            seen.add(thing)
            found = {name: thing} if isinstance(thing, griffe.Function) else {}
            if isinstance(thing, griffe.Class):
                found = {f"{name}.{each}": member for each, member in members(thing).items()}
            for place, member in found.items():
                if isinstance(member, griffe.Function) and member not in seen:
                    seen.add(member)
                    yield f"{module}.{place}", member


def raises(function: griffe.Function) -> bool:
    """Whether a function raises itself, or through a private one of its module, or with ``raise_if``."""
    tree = _tree(str(function.filepath))
    by_name: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append(node)
    start = [node for node in by_name[function.name] if getattr(node, "lineno", 0) >= (function.lineno or 0)]
    waiting, seen = [min(start, key=lambda node: getattr(node, "lineno", 0))], set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Raise) and node.exc is not None:
                return True
            called = node.func if isinstance(node, ast.Call) else None
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name == "raise_if":
                return True
            if name.startswith("_") and name not in seen:
                seen.add(name)
                waiting += by_name.get(name, [])
    return False


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
