"""Does the source keep the rules of the house (CONTRIBUTING.md)? Each rule is first shown to bite."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
TESTS = Path(__file__).parents[1]
ROOMS = (
    {"arch"},
    {"bd"},
    {"access"},
    {"jit"},
    {"model"},
    {"sim"},
    {"explain"},
    {"design"},
    {"io"},
    {"importers"},
    {"check"},
    {"hosts"},
    {"report", "explore"},
    {"cli"},
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
BESIDE = {"errors": -1, "testing": len(ROOMS), "__version__": -1}  # below all, above all
TOP = len(ROOMS)  # the package itself may offer names from every room
HARDWARE = 0x1000  # hex literals from here on look like addresses
MASKS = {0xFFFF, 0xFFFF_FFFF}
MODULE_LINES, FUNCTION_LINES = 500, 60
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError|NotImplemented)\b")
HEAVY = {"numba", "llvmlite", "matplotlib", "numpy", "scipy", "hypothesis"}


def room(module: str) -> str:
    """``memtile.bd.codec`` -> ``bd``; the package itself -> the empty string."""
    return [*module.removesuffix(".__init__").split("."), ""][1]


def level(name: str) -> int:
    """Height of a room; names that only the package itself offers come from the top."""
    return LEVEL.get(name, BESIDE.get(name, TOP))


def imported(module: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and room of everything of ours that a module imports, lazily or for typing alone too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, room(a.name)) for a in node.names if a.name.split(".")[0] == "memtile")
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                package = module.split(".")[: -node.level]
                origin = ".".join([*package, *filter(None, [origin])])
            if origin == "memtile":
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif origin.startswith("memtile."):
                yield node.lineno, room(origin)


def upward_imports(module: str, text: str) -> Iterator[str]:
    here = room(module)
    if here == "":
        return
    for line, there in imported(module, ast.parse(text)):
        if there != here and level(there) >= level(here):
            yield f"{line}: {here} imports {there or 'the package'}"


def hardware_literals(module: str, text: str) -> Iterator[str]:
    if room(module) == "arch":
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_hex = token.type == tokenize.NUMBER and token.string.lower().startswith("0x")
        if is_hex and (value := int(token.string, 0)) >= HARDWARE and value not in MASKS:
            yield f"{token.start[0]}: {token.string}"


def long_modules(module: str, text: str) -> Iterator[str]:
    lines = len(text.splitlines())
    if lines > MODULE_LINES:
        yield f"{lines}: lines in {module}"


def long_functions(module: str, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.lineno}: {lines} lines in {module}.{node.name}"


def silent_modules(module: str, text: str) -> Iterator[str]:
    if not ast.get_docstring(ast.parse(text)):
        yield f"1: {module} has no docstring"


def unfinished(module: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := UNFINISHED.search(line):
            yield f"{number}: {match[0]} in {module}"


Rule = Callable[[str, str], Iterator[str]]
LONG_BODY = "    pass\n" * FUNCTION_LINES
BITES: dict[Rule, list[tuple[str, str]]] = {
    upward_imports: [
        ("memtile.bd.codec", "from memtile.access.walk import Walk"),
        ("memtile.bd.codec", "from ..access import walk"),
        ("memtile.bd.codec", "from memtile import cli"),
        ("memtile.bd.codec", "from memtile import Tile"),
        ("memtile.bd.codec", "import memtile"),
        ("memtile.model.dma", "def f():\n    import memtile.sim.engine"),
        ("memtile.report.html", "from memtile.explore import sweep"),
        ("memtile.errors", "from memtile.arch import tiles"),
        ("memtile.cli.run", "from memtile.testing import strategies"),
    ],
    hardware_literals: [("memtile.bd.codec", "BASE = 0xA0600"), ("memtile.sim.engine", "x = f(0x1_000)")],
    long_modules: [("memtile.bd.codec", "\n" * (MODULE_LINES + 1))],
    long_functions: [("memtile.bd.codec", f"def f():\n{LONG_BODY}")],
    silent_modules: [("memtile.bd.codec", "x = 1"), ("memtile.bd.codec", '""" """')],
    unfinished: [
        ("memtile.bd.codec", "x = 1  # TODO"),
        ("memtile.bd.codec", "raise NotImplementedError"),
    ],
}
PASSES: dict[Rule, list[tuple[str, str]]] = {
    upward_imports: [
        (
            "memtile.access.walk",
            "from memtile.arch.tiles import MEMORY\nfrom ..bd import codec\nimport numpy",
        ),
        ("memtile.bd.codec", "from .descriptor import Descriptor\nfrom memtile.errors import Problem"),
        ("memtile.__init__", "from memtile.design import Tile"),
        ("memtile.cli.main", "from memtile import __version__"),
        ("memtile.testing.strategies", "from memtile.sim import engine"),
    ],
    hardware_literals: [
        ("memtile.arch.tiles", "BASE = 0xA0600"),
        ("memtile.bd.codec", "MASK = 0xFFFF_FFFF  # not 0xA0600"),
        ("memtile.bd.codec", "'''Word at 0xA0600.'''"),
    ],
    long_modules: [("memtile.bd.codec", "\n" * MODULE_LINES)],
    long_functions: [("memtile.bd.codec", "def f():\n" + LONG_BODY.removesuffix("    pass\n"))],
    silent_modules: [("memtile.bd.codec", '"""One idea."""')],
    unfinished: [("memtile.bd.codec", "x = 'TODOS'")],
}
RULES = pytest.mark.parametrize("rule", BITES, ids=lambda rule: rule.__name__)


@RULES
def test_rule_bites(rule: Rule) -> None:
    assert [text for module, text in BITES[rule] if not list(rule(module, text))] == []
    assert [text for module, text in PASSES[rule] if list(rule(module, text))] == []


def imports_of_tests(text: str) -> list[str]:
    """Test modules that a module of the tests imports: what two tests need is a helper beside them."""
    modules = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            modules += [f"{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return [module for module in modules if any(part.startswith("test_") for part in module.split("."))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from data.test_packets import send", ["data.test_packets.send"]),
        ("def f():\n    import timing.test_locks", ["timing.test_locks"]),
        ("from .test_locks import LOCKS", ["test_locks.LOCKS"]),
        ("from data import test_packets", ["data.test_packets"]),
        ("from packet_bench import send\nimport memtile.testing.rig", []),
    ],
)
def test_imports_of_tests_are_found(text: str, found: list[str]) -> None:
    assert imports_of_tests(text) == found


def test_no_test_imports_another_one() -> None:
    found = {
        str(path.relative_to(TESTS)): imports_of_tests(path.read_text("utf-8"))
        for path in TESTS.rglob("*.py")
    }
    assert {path: modules for path, modules in found.items() if modules} == {}


@RULES
def test_source_keeps_rule(rule: Rule) -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found += [f"{path.relative_to(SOURCE)}:{fault}" for fault in rule(module, path.read_text("utf-8"))]
    assert found == []


def test_every_room_has_its_level() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("memtile/*/__init__.py")}
    assert rooms - {"testing"} <= LEVEL.keys()


def test_importing_the_package_is_light() -> None:
    code = "import memtile, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in run.stdout.split()} & HEAVY == set()
