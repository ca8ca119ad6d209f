"""Does an option of a run, declared once, work at every front end? Options have one place."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

import memtile
from memtile.arch.dispatch import Dispatch
from memtile.cli import run_options
from memtile.cli.main import app
from memtile.errors import DesignError
from memtile.explore.sweep.row import Variant
from memtile.explore.sweep.sweep import SweepPlan
from memtile.hosts.iron import Options
from memtile.importers.bodies.container import Container
from memtile.programs import run_program
from memtile.runs.live_run import LiveHost, LiveRun
from memtile.runs.options import RunKeywords, RunOptions
from memtile.runs.program import Program
from memtile.runs.session import Session

SOURCE = Path(__file__).parents[2] / "src"
NAMES = [each.name for each in fields(RunOptions)]
LIMIT = "max_cycles"
OF_ITS_OWN = {"RunOptions", "RunKeywords", "poll", "run", "explain", "sweep", "diff", "search"}
"""A poll is no run, a search of repairs takes the limit of its run; tools of agents have schemas."""
ENTRIES: tuple[Callable[..., Any], ...] = (
    memtile.run,
    memtile.Array.run,
    memtile.MemoryTile.run,
    memtile.Loaded.run,
    memtile.Loaded.run_with,
    memtile.campaign,
    memtile.plan,
    memtile.hosts.iron.install,
    run_program,
    Container.run,
)
LIMITED = ("diff", "faults", "survey", "plan gemm", "plan conv", "plan attention", "plan rows")
COMMANDS = {
    "run": set(run_options.OF_A_RUN),
    "serve": {"check"},
    "test": {LIMIT, "check"},
    "explain": {LIMIT, "dispatch"},
    "sweep run": {LIMIT, "check", "data", "recall"},
    **{name: {LIMIT, "recall"} if name.startswith("plan") else {LIMIT} for name in LIMITED},
}


def declared(tree: ast.AST) -> Iterator[str]:
    """Functions with a parameter, and classes with a field, for the limit in cycles."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if any(each.arg == LIMIT for each in given):
                yield node.name
        elif isinstance(node, ast.ClassDef):
            names = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
            if any(isinstance(name, ast.Name) and name.id == LIMIT for name in names):
                yield node.name


def test_the_count_counts() -> None:
    text = "def f(max_cycles): ...\nclass A:\n    max_cycles: int\n    def g(self, *, max_cycles=1): ...\n"
    assert list(declared(ast.parse(text))) == ["f", "A", "g"]


def test_an_option_is_declared_once() -> None:
    texts = [text for file in sorted(SOURCE.rglob("*.py")) if LIMIT in (text := file.read_text("utf-8"))]
    found = [name for text in texts for name in declared(ast.parse(text))]
    assert len(found) == len(OF_ITS_OWN)
    assert set(found) == OF_ITS_OWN


def test_keywords_are_the_fields() -> None:
    assert get_type_hints(RunKeywords) == get_type_hints(RunOptions)
    assert all(each.default is not MISSING for each in fields(RunOptions))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda each: each.__qualname__)
def test_every_entry_takes_all_of_them(entry: Callable[..., Any]) -> None:
    taken = inspect.signature(entry).parameters
    assert "options" in taken
    (last,) = (each for each in taken.values() if each.kind is inspect.Parameter.VAR_KEYWORD)
    assert last.annotation == "Unpack[RunKeywords]"


@pytest.mark.parametrize("kind", [SweepPlan, Variant, Options])
def test_what_holds_options_has_all_of_them(kind: type) -> None:
    assert issubclass(kind, RunOptions)
    assert set(NAMES) <= {each.name for each in fields(kind)}


def test_every_option_has_one_of_the_command_line_or_a_reason() -> None:
    assert {*run_options.OF_A_RUN, *run_options.OTHERWISE} == set(NAMES)
    assert run_options.OF_A_RUN.keys().isdisjoint(run_options.OTHERWISE)


def test_commands_offer_them() -> None:
    found: dict[str, set[str]] = {}

    def gather(command: Any, name: str) -> None:
        for each, sub in getattr(command, "commands", {}).items():
            gather(sub, f"{name} {each}".strip())
        offered = {parameter.name for parameter in command.params} & set(run_options.OF_A_RUN)
        if offered:
            found[name] = offered

    gather(typer.main.get_command(app), "")
    assert found == COMMANDS


def test_fields_and_keywords_are_one() -> None:
    assert RunOptions.of(None, {}) == RunOptions()
    assert RunOptions.of(7, {"check": True}) == RunOptions(max_cycles=7, check=True)
    assert RunOptions.of(RunOptions(check=True), {LIMIT: 7}) == RunOptions(max_cycles=7, check=True)
    assert RunOptions(check=True, max_cycles=5).changed() == {"check": True, LIMIT: 5}
    with pytest.raises(TypeError, match=LIMIT):
        RunOptions.of(7, {LIMIT: 8})
    with pytest.raises(TypeError, match="no_such_option"):
        RunOptions.of(None, {"no_such_option": 1})  # type: ignore[typeddict-unknown-key]


def idle() -> memtile.Array:
    return memtile.Array("npu1", 1)


def pausing() -> memtile.Array:
    array = idle()

    def sequence(host: memtile.Host) -> Iterator[memtile.HostAction]:
        yield host.pause(100)

    array.host(sequence)
    return array


@pytest.mark.parametrize("given", [RunOptions(max_cycles=5), 5])
def test_they_come_as_one_or_as_the_limit_alone(given: RunOptions | int) -> None:
    assert pausing().run(given).status is memtile.Status.LIMIT
    assert pausing().run(given, max_cycles=200).good if isinstance(given, RunOptions) else True
    assert memtile.run(pausing, options=RunOptions(max_cycles=5)).status is memtile.Status.LIMIT


def test_many_runs_take_them_too() -> None:
    (kept,) = memtile.run_many([pausing], options=RunOptions(history=True))
    (left,) = memtile.run_many([pausing], options=RunOptions(max_cycles=5))
    assert kept.good
    assert kept.kept is not None
    assert left.status is memtile.Status.LIMIT
    assert left.kept is None


@pytest.mark.parametrize("name", NAMES)
def test_a_live_host_has_use_for_an_option_or_refuses_it_by_name(name: str) -> None:
    array, seen = idle(), list[LiveRun]()
    other = {LIMIT: 5, "progress": print, "dispatch": Dispatch.ELF}.get(name, not getattr(RunOptions(), name))
    options = RunOptions(**{name: other})  # type: ignore[arg-type]
    program = Program(live=LiveHost(seen.append))
    if name in ("check", "history", "fast_forward"):
        kept = Session(array).run(program, options).result.kept
        assert [run.options for run in seen] == [options]
        assert kept is not None
        assert (kept.history is not None) is (name == "history")
    else:
        with pytest.raises(DesignError, match=f"a live host has no use for {name}"):
            Session(array).run(program, options)
        assert not seen


def test_what_means_nothing_is_refused_by_name() -> None:
    says = re.escape("a fault campaign has no use for untimed")
    with pytest.raises(DesignError, match=says):
        memtile.campaign(idle, 1, untimed=True)
    with pytest.raises(DesignError, match="has no use for data"):
        run_program([], idle(), data=False)
    with pytest.raises(DesignError, match="a plan has no use for history"):
        memtile.plan(memtile.Gemm(64, 64, 64), history=True)
