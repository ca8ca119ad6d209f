"""Is everything that users import public, and is every public name there, in one way?"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import memtile
from support.pages import fence, page_code, pages

ROOT = pages.ROOT
INTERNAL_PAGES = {"CONTRIBUTING.md", "CHANGELOG.md"} | {
    f"docs/{name}.md" for name in ("architecture", "deviations", "features")
}
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))
}
PROGRAMS = sorted((*ROOT.glob("examples/*.py"), *ROOT.glob("docs/*.py")))
EVERY_MODULE = pytest.mark.parametrize("name", fence.MODULES)


@pytest.mark.parametrize(
    "code",
    [
        "from memtile.sim.loop.engine import Engine",
        "from memtile.sim import engine",
        "import memtile.sim.loop.engine",
        "import numpy, memtile.cli as cli",
        "from memtile import sim",
        "from memtile import nothing",
        "def f():\n    from memtile.bd.codec import encode",
        "from memtile.bd import codec",
    ],
)
def test_an_import_beyond_the_fence_is_seen(code: str) -> None:
    assert len(list(fence.beyond_the_fence(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import memtile",
        "import numpy.lib\nimport memtile.bd as bd",
        "from memtile import MemoryTile, bd, view",
        "from memtile.bd import encode",
        "from collections import deque",
    ],
)
def test_what_is_public_passes(code: str) -> None:
    assert list(fence.beyond_the_fence(code)) == []


def test_a_mention_beyond_the_fence_is_seen() -> None:
    page = "`memtile.sim.loop.engine.Engine`, `memtile.bd.codec`, `memtile.nothing`\n"
    page += "```text\n`memtile.cli.x`\n```\n"
    assert list(fence.mentioned_beyond_the_fence(page)) == [
        "memtile.sim.loop.engine.Engine",
        "memtile.bd.codec",
        "memtile.nothing",
    ]
    page = (
        "`memtile.bd`, `memtile.view(shape)`, `memtile.bd.encode`, `memtile.Array.run`, `memtile bd encode`"
    )
    assert list(fence.mentioned_beyond_the_fence(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_import_and_mention_nothing_beyond_the_fence(page: str) -> None:
    assert list(fence.beyond_the_fence(fence.python_of(PAGES[page]))) == []
    if page not in INTERNAL_PAGES:
        assert list(fence.mentioned_beyond_the_fence(PAGES[page])) == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_import_nothing_beyond_the_fence(path: Path) -> None:
    assert list(fence.beyond_the_fence(path.read_text(encoding="utf-8"))) == []


def test_the_pages_and_programs_are_found() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(PAGES)
    assert {"gemm.py", "pictures.py"} <= {path.name for path in PROGRAMS}


@EVERY_MODULE
def test_the_names_of_a_public_module_are_those_that_type_checkers_see(name: str) -> None:
    module = importlib.import_module(name)
    names = list(module.__all__)
    assert sorted(set(names)) == sorted(names) == list(vars(module)["_HOMES"])
    assert _seen_by_type_checkers(module) == vars(module)["_HOMES"]


@EVERY_MODULE
def test_every_public_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    for public in module.__all__:
        offered = getattr(module, public)
        assert not isinstance(offered, ModuleType), f"{name}.{public} is hidden by a module"
        assert offered is getattr(importlib.import_module(vars(module)["_HOMES"][public]), public)
    assert set(module.__all__) <= set(dir(module))


def test_a_name_in_two_public_modules_is_the_same_thing_in_rooms() -> None:
    for name in memtile.__all__:
        for room in ("memtile.bd", "memtile.access"):
            if name in fence.public_names(room):
                assert getattr(memtile, name) is getattr(importlib.import_module(room), name)


@EVERY_MODULE
def test_a_name_that_is_not_public_is_an_error_that_names_the_module(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"^module '{name}' has no attribute 'nothing'$"):
        _ = importlib.import_module(name).nothing


def test_importing_all_public_modules_loads_nothing_of_theirs() -> None:
    code = f"import {', '.join(fence.MODULES)}, sys; print(*[m for m in sys.modules if 'memtile' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {*fence.MODULES, "memtile.lazy", "memtile.hosts"}


def test_public_modules_are_attributes_that_load_when_they_are_used() -> None:
    """All but ``memtile.hosts.iron``, whose parent is internal."""
    names = [name for name in fence.MODULES if "hosts" not in name]
    code = (
        "import memtile, sys; assert 'memtile.kernels' not in sys.modules\n"
        f"print(*(eval(name).__name__ for name in {names}), memtile.kernels.cpp.__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [*names, "cpp"]
    assert {name.partition(".")[2] for name in fence.MODULES if name.count(".") == 1} <= set(dir(memtile))


def _seen_by_type_checkers(module: ModuleType) -> dict[str, str]:
    """Each name that is imported under ``if TYPE_CHECKING:``, and the module it is imported from."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    return dict(
        sorted(
            (alias.name, node.module or "")
            for branch in tree.body
            if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name)
            for node in branch.body
            if isinstance(node, ast.ImportFrom) and node.module != module.__name__
            for alias in node.names
        )
    )


def test_type_checkers_see_the_code_of_a_page_at_the_lines_of_the_page() -> None:
    page = "# Title\n\n```python\na = 1\n```\n\n```console\n$ true\n```\n\n```python\nb: str = a\n```\n"
    lines = page_code.code_of(page).splitlines()
    assert {number: line for number, line in enumerate(lines, 1) if line} == {4: "a = 1", 12: "b: str = a"}
    assert page_code.code_of("```console\n$ true\n```\n") == ""
    assert page_code.name_of(Path("docs/array.md")) == "docs_array.py"


def test_lint_gives_every_page_to_both_type_checkers() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n")[0]
    assert "tests/support/pages/page_code.py $(PAGES) README.md docs/*.md\n" in recipe
    for checker in ("mypy $(USED)", "pyrefly check $(USED) $(FENCE)"):
        assert f"\t$(BIN)/{checker}\n" in recipe + "\n"
