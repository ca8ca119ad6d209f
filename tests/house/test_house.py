"""Does the source keep the rules of the house (CONTRIBUTING.md)? Each rule is first shown to bite."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest
import rustworkx

SOURCE = Path(__file__).parents[2] / "src"
TESTS = Path(__file__).parents[1]
ROOMS = (
    {"arch"},
    {"bd", "corelib"},
    {"access"},
    {"jit", "sandbox"},
    {"model"},
    {"sim"},
    {"explain"},
    {"runs"},
    {"design"},
    {"io", "cpp"},
    {"importers", "adf"},
    {"check"},
    {"hosts"},
    {"iron"},
    {"mlir_writer"},
    {"report", "explore"},
    {"schemas"},
    {"cli"},
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
BESIDE = {
    "lazy": -4,
    "system": -4,
    "documents": -4,
    "plain_text": -4,
    "errors": -3,
    "forms": -2,
    "limits": -2,
    "input_files": -1,
    "output_files": -1,
    "sheet": -1,
    "testing": len(ROOMS),
    "__version__": -4,
}  # below all, above all
TOP = len(ROOMS)  # the package itself may offer names from every room
HARDWARE = 0x1000  # hex literals from here on look like addresses
MASKS = {0xFFFF, 0xFFFF_FFFF}
NAMED = re.compile(r"memtile(\.\w+)+")
MODULE_LINES, FUNCTION_LINES = 600, 60
LONGER = f"over {MODULE_LINES} lines because"  # in the docstring of a module that is longer
CIRCLE = 5  # modules that import each other, typing included
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError|NotImplemented)\b")
MODEL_FILES = 15  # directly in the room; the others stand with their hardware block
MAY_IMPORT_TESTS = re.compile(r"^\s*(?:from|import)\b[^\n(]*(?:\([^)]*)?\btest_", re.MULTILINE)
"""What a text must have for a test module to be imported: most of them need not be parsed."""
HEAVY = {"numba", "llvmlite", "matplotlib", "numpy", "scipy", "hypothesis"}


@lru_cache(1)  # the syntax of all modules is millions of objects, which stay for all later tests
def tree_of(text: str) -> ast.Module:
    """The syntax of a module: many rules look at each."""
    return ast.parse(text)


@lru_cache(1)
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """All nodes of it."""
    return tuple(ast.walk(tree_of(text)))


def room(module: str) -> str:
    """``memtile.bd.codec`` -> ``bd``; the package itself -> the empty string."""
    return [*module.removesuffix(".__init__").split("."), ""][1]


def level(name: str) -> int:
    """Height of a room; names that only the package itself offers come from the top."""
    return LEVEL.get(name, BESIDE.get(name, TOP))


def imported(module: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and room of everything of ours that a module imports, lazily or for typing alone too."""
    for node in nodes_of(text):
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
    for line, there in imported(module, text):
        if there != here and level(there) >= level(here):
            yield f"{line}: {here} imports {there or 'the package'}"


def named_upward(module: str, text: str) -> Iterator[str]:
    """Modules of a room above by their names: an import that is none to see."""
    here = room(module)
    for node in nodes_of(text) if here else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAMED.fullmatch(node.value):
            there = room(node.value)
            if there != here and there in LEVEL and level(there) >= level(here):
                yield f"{node.lineno}: {here} names {node.value}"


def hardware_literals(module: str, text: str) -> Iterator[str]:
    if room(module) == "arch" or "0x" not in text.lower():
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_hex = token.type == tokenize.NUMBER and token.string.lower().startswith("0x")
        if is_hex and (value := int(token.string, 0)) >= HARDWARE and value not in MASKS:
            yield f"{token.start[0]}: {token.string}"


def long_modules(module: str, text: str) -> Iterator[str]:
    lines = len(text.splitlines())
    why = " ".join((ast.get_docstring(tree_of(text)) or "").split())
    if lines > MODULE_LINES and LONGER not in why:
        yield f"{lines}: lines in {module}"


def long_functions(module: str, text: str) -> Iterator[str]:
    for node in nodes_of(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.lineno}: {lines} lines in {module}.{node.name}"


def silent_modules(module: str, text: str) -> Iterator[str]:
    if not ast.get_docstring(tree_of(text)):
        yield f"1: {module} has no docstring"


def borrowed_docstrings(module: str, text: str) -> Iterator[str]:
    """Docstrings that say what a caller gets by another docstring: "The same ..."."""
    for node in nodes_of(text):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and (ast.get_docstring(node) or "").startswith("The same"):
            yield f"{getattr(node, 'lineno', 1)}: {module} has a docstring that begins with 'The same'"


def unfinished(module: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := UNFINISHED.search(line):
            yield f"{number}: {match[0]} in {module}"


def state_and_spec(module: str, text: str) -> Iterator[str]:
    """The state carries its spec: a function that takes both could be given two that differ."""
    for node in nodes_of(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            known = {a.arg for a in arguments} | {
                ast.unparse(a.annotation) for a in arguments if a.annotation
            }
            if known & {"st", "state", "State"} and known & {"spec", "Spec"}:
                yield f"{node.lineno}: a state and a spec in {module}"


Rule = Callable[[str, str], Iterator[str]]
LONG_BODY = "    pass\n" * FUNCTION_LINES
BITES: dict[Rule, list[tuple[str, str]]] = {
    upward_imports: [
        ("memtile.bd.codec", "from memtile.access.walk import Walk"),
        ("memtile.bd.codec", "from ..access import walk"),
        ("memtile.bd.codec", "from memtile import cli"),
        ("memtile.bd.codec", "from memtile import Tile"),
        ("memtile.bd.codec", "import memtile"),
        ("memtile.model.dma", "def f():\n    import memtile.sim.loop.engine"),
        ("memtile.report.html", "from memtile.explore import sweep"),
        ("memtile.errors", "from memtile.arch import tiles"),
        ("memtile.cli.run", "from memtile.testing import strategies"),
        ("memtile.cli.run", "from memtile.trace import Tracing"),
        ("memtile.lazy", "from memtile.errors import Problem"),
    ],
    named_upward: [
        ("memtile.explain.model_link", 'FILES = "memtile.report.run.files"'),
        ("memtile.bd.codec", 'import_module("memtile.access")'),
    ],
    hardware_literals: [
        ("memtile.bd.codec", "BASE = 0xA0600"),
        ("memtile.sim.loop.engine", "x = f(0x1_000)"),
    ],
    long_modules: [("memtile.bd.codec", "\n" * (MODULE_LINES + 1))],
    long_functions: [("memtile.bd.codec", f"def f():\n{LONG_BODY}")],
    silent_modules: [("memtile.bd.codec", "x = 1"), ("memtile.bd.codec", '""" """')],
    borrowed_docstrings: [
        ("memtile.bd.codec", "def f():\n    '''The same in words.'''"),
        ("memtile.bd.codec", "class C:\n    '''\n    The same of a tile.'''"),
    ],
    unfinished: [
        ("memtile.bd.codec", "x = 1  # TODO"),
        ("memtile.bd.codec", "raise NotImplementedError"),
    ],
    state_and_spec: [
        ("memtile.model.axi", "def read(spec: Spec, st: State, tile: int) -> int: ..."),
        ("memtile.sim.loop.engine", "def run(self, state, *, spec): ..."),
        ("memtile.sim.loop.engine", "run = lambda spec, st: 0"),
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
        (
            "memtile.kernels",
            "from memtile.sim.kernels.kernel_core import Core\nfrom memtile.lazy import offer",
        ),
        ("memtile.bd.__init__", "from memtile.bd.codec import encode\nfrom memtile.lazy import offer"),
    ],
    named_upward: [
        ("memtile.__init__", 'enlist({"save_report": "memtile.report.run.files"})'),
        ("memtile.report.run.files", 'import_module("memtile.explain.record")'),
        ("memtile.explain.model_link", "'''memtile.report makes it.'''"),
    ],
    hardware_literals: [
        ("memtile.arch.tiles", "BASE = 0xA0600"),
        ("memtile.bd.codec", "MASK = 0xFFFF_FFFF  # not 0xA0600"),
        ("memtile.bd.codec", "'''Word at 0xA0600.'''"),
    ],
    long_modules: [
        ("memtile.bd.codec", "\n" * MODULE_LINES),
        ("memtile.bd.codec", f'"""It is {LONGER}\n it is one."""' + "\n" * MODULE_LINES),
    ],
    long_functions: [("memtile.bd.codec", "def f():\n" + LONG_BODY.removesuffix("    pass\n"))],
    silent_modules: [("memtile.bd.codec", '"""One idea."""')],
    borrowed_docstrings: [("memtile.bd.codec", '"""Words of the same buffer."""')],
    unfinished: [("memtile.bd.codec", "x = 'TODOS'")],
    state_and_spec: [("memtile.model.axi", "def f(st: State, tile: int): ...\ndef g(spec: Spec): ...")],
}
RULES = pytest.mark.parametrize("rule", BITES, ids=lambda rule: rule.__name__)


@RULES
def test_rule_bites(rule: Rule) -> None:
    assert [text for module, text in BITES[rule] if not list(rule(module, text))] == []
    assert [text for module, text in PASSES[rule] if list(rule(module, text))] == []


def imports_of_tests(text: str) -> list[str]:
    """Test modules that a module of the tests imports: what two tests need is a helper beside them."""
    modules = []
    for node in nodes_of(text):
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
        ("from data import (  # both\n    walks,\n    test_packets,\n)", ["data.test_packets"]),
        ("from support.designs.packet_bench import send\nimport memtile.testing.rig", []),
    ],
)
def test_imports_of_tests_are_found(text: str, found: list[str]) -> None:
    assert imports_of_tests(text) == found
    assert bool(MAY_IMPORT_TESTS.search(text)) == bool(found)


def test_no_test_imports_another_one() -> None:
    texts = {str(path.relative_to(TESTS)): path.read_text("utf-8") for path in TESTS.rglob("*.py")}
    found = {path: imports_of_tests(text) for path, text in texts.items() if MAY_IMPORT_TESTS.search(text)}
    assert {path: modules for path, modules in found.items() if modules} == {}


def test_source_keeps_every_rule() -> None:
    """One test for all: each file is parsed once for all rules, those of circles of imports among them."""
    found, graph, typed = list[str](), dict[str, set[str]](), dict[str, set[str]]()
    texts = texts_of_modules()
    for module, text in texts.items():
        for rule in BITES:
            found += [f"{rule.__name__}: {module}:{fault}" for fault in rule(module, text)]
        name = module.removesuffix(".__init__")
        graph[name], typed[name] = (imports_of(text, texts, typing=typing) for typing in (False, True))
    assert found == []
    assert cycles(graph) == []  # no module imports itself by way of others
    # one object in many files is a circle of imports for typing alone
    assert [ring for ring in cycles(typed) if len(ring) > CIRCLE] == []


Graph = dict[str, set[str]]


def import_graph(texts: dict[str, str], *, typing: bool = False) -> Graph:
    """What each module imports, at its head or later in a function; and, if asked, for ``typing`` alone."""
    return {module: imports_of(text, texts, typing=typing) for module, text in texts.items()}


def imports_of(text: str, modules: Iterable[str], *, typing: bool) -> set[str]:
    """Those of ``modules`` that a text imports."""
    names = {module.removesuffix(".__init__") for module in modules}
    return set(_imports(nodes_of(text), names, typing=typing))


def _imports(nodes: Iterable[ast.AST], modules: Collection[str], *, typing: bool) -> Iterator[str]:
    guards = [node for node in nodes if isinstance(node, ast.If) and _is_typing(node.test)]
    unseen = {id(inner) for node in guards for line in node.body for inner in ast.walk(line)}
    unseen = set() if typing else unseen
    for node in nodes:
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & set(modules) or {node.module} & set(modules)


def _is_typing(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def cycles(graph: Graph) -> list[list[str]]:
    """Modules that reach each other, or themselves."""
    names = sorted(graph)
    drawn = rustworkx.PyDiGraph()
    number = dict(zip(names, drawn.add_nodes_from(names), strict=True))
    drawn.add_edges_from_no_data([(number[a], number[b]) for a in names for b in graph[a]])
    rings = [sorted(drawn[n] for n in ring) for ring in rustworkx.strongly_connected_components(drawn)]
    return sorted(ring for ring in rings if len(ring) > 1 or ring[0] in graph[ring[0]])


def test_cycle_rule_bites() -> None:
    late = {"m.a": "def f():\n    from m.b import x", "m.b": "import m.c", "m.c": "from m import a"}
    assert cycles(import_graph(late)) == [["m.a", "m.b", "m.c"]]
    assert cycles(import_graph({"m.a": "from m.a import x"})) == [["m.a"]]
    typed = {"m.a": "if TYPE_CHECKING:\n    from m.b import x", "m.b": "from m.a import y\nimport numpy"}
    assert cycles(import_graph(typed)) == []
    assert import_graph(typed) == {"m.a": set(), "m.b": {"m.a"}}
    assert cycles(import_graph(typed, typing=True)) == [["m.a", "m.b"]]


def texts_of_modules() -> dict[str, str]:
    texts = {}
    for path in SOURCE.rglob("*.py"):
        texts[".".join(path.relative_to(SOURCE).with_suffix("").parts)] = path.read_text("utf-8")
    return texts


def test_the_model_is_sorted_by_hardware_block() -> None:
    assert len(list(SOURCE.glob("memtile/model/*.py"))) <= MODEL_FILES


def test_every_room_has_its_level() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("memtile/*/__init__.py")}
    assert rooms - {"testing", "kernels"} <= LEVEL.keys()  # the latter is a part of the fence


def test_importing_the_package_is_light() -> None:
    code = "import memtile, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in run.stdout.split()} & HEAVY == set()


def test_planning_a_graph_loads_no_engine() -> None:
    """``v++`` and ``aiecompiler`` of a Makefile compile and plan alone."""
    code = "import memtile.adf.program_run, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "memtile.sim.loop.engine" not in run.stdout.split()
