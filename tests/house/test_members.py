"""Can a member of a list be forgotten: a cause, a phase, a constant, a code, a behaviour of registers?"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

import memtile
from memtile.arch import registers, timing
from memtile.explain import findings
from memtile.model.checking import history_log
from memtile.model.state import causes

ROOT = Path(memtile.__file__).parent
DECLARED = {
    "Cause": causes,
    "CoreCause": causes,
    "CorePhase": causes,
    "PortDoes": history_log,
    "LockAct": history_log,
    "Acts": registers,
}
"""Enums whose members have their properties where they are declared, and their modules."""
CHOSEN = {
    "memtile.adf.limits": "cores that compute, rest or are done wait for nothing; a new cause is a wait",
    "memtile.cli.amd_tools.port_tables": "the stalls that AMD's table of a core has columns for",
    "memtile.explain.slow": "causes for which a repair is known; a run says nothing of others",
    "memtile.model.axi": "the module that does what registers do",
}
"""Modules that choose some members, and why a new one need not be among them."""
LISTED = 3  # members in one literal are a list that a new member may belong to

CAUSES, CORE_CAUSES, PHASES = len(causes.Cause), len(causes.CoreCause), len(causes.CorePhase)
ADDED = {
    "Cause": (
        causes,
        "\n\n@dataclass(eq=False)\nclass CoreCauseFacts(ValueFacts):",
        f'NEW = CauseFacts({CAUSES}, "new", Colours("#C49C94", "#C49C94"), "d", is_work=True)',
        (
            f"NEW = {CAUSES}",
            f'NEW = CauseFacts({CAUSES + 1}, "new", Colours("#C49C94", "#C49C94"), "d", is_work=True)',
            f'NEW = CauseFacts({CAUSES}, "new", Colours("#C49C94", "#C49C94"), "d")',
            f'NEW = CauseFacts({CAUSES}, "new", Colours("#C49C94", "#C49C94"), is_work=True)',
            f'NEW = CauseFacts({CAUSES}, "new", is_work=True)',
        ),
    ),
    "CoreCause": (
        causes,
        "\n\nclass CoreLink(NamedTuple):",
        f'NEW = CoreCauseFacts({CORE_CAUSES}, "new", Colours("#C49C94", "#C49C94"), "d")',
        (
            f"NEW = {CORE_CAUSES}",
            f'NEW = CoreCauseFacts({CORE_CAUSES}, "new", Colours("#C49C94", "#C49C94"))',
        ),
    ),
    "CorePhase": (
        causes,
        "\n\nLINKS = ",
        f"NEW = PhaseFacts({PHASES}, is_work=True)",
        (f"NEW = {PHASES}", f"NEW = PhaseFacts({PHASES})"),
    ),
    "Acts": (
        registers,
        "    TRACE_STATUS = ",
        'NEW = Shows.HAPPENED, "shows it"',
        ("NEW = 1", "NEW = Shows.HAPPENED"),
    ),
    "Timing": (
        timing,
        "    ingress_words: int = ",
        'NEW: int = _at_set_up(0, 0, 1, "", "", Grade.ASSUMED, shown_by=("Cause.IDLE",))',
        (
            'NEW: int = _at_set_up(0, 0, 1, "", "", Grade.ASSUMED)',
            'NEW: int = _constant(0, 0, 1, "", "", Grade.ASSUMED, shown_by=("Cause.IDLE",))',
            'NEW: int = _at_set_up(0, 0, 1, "", "")',
        ),
    ),
    "CODES": (
        findings,
        '        "MT0301": FindingCode(',
        '"NEW": FindingCode("a new one", Severity.NOTE),',
        ('"NEW": FindingCode("a new one"),',),
    ),
}
"""For each kind of member its module, the line before which one is added, its line, and incomplete ones."""
INCOMPLETE = [(of, line) for of, (_, _, _, lines) in ADDED.items() for line in lines]


def with_added(of: str, line: str) -> ModuleType:
    """The module with one more line, executed."""
    module, before, _, _ = ADDED[of]
    source, indent = inspect.getsource(module), " " * (8 if of == "CODES" else 4)
    assert source.count(f"\n{before}") == 1
    made = ModuleType("with_added")
    sys.modules["with_added"] = made  # where dataclasses look for it
    exec(source.replace(f"\n{before}", f"\n{indent}{line}\n{before}"), made.__dict__)
    return made


@pytest.mark.parametrize("of", ADDED)
def test_a_member_with_its_properties_is_added_in_one_line(of: str) -> None:
    members = getattr(with_added(of, ADDED[of][2]), of)
    assert hasattr(members, "NEW") or "NEW" in members


@pytest.mark.parametrize(("of", "line"), INCOMPLETE)
def test_a_member_without_one_of_its_properties_cannot_be_declared(of: str, line: str) -> None:
    with pytest.raises((TypeError, ValueError), match=r"missing|declare|belongs"):
        with_added(of, line)


def listed(tree: ast.AST, enum: str) -> list[ast.AST]:
    """Return the literals with several members of an enum as elements or keys."""
    found = []
    for node in ast.walk(tree):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        names = [part.value for part in parts if isinstance(part, ast.Attribute)]
        if sum(isinstance(name, ast.Name) and name.id == enum for name in names) >= LISTED:
            found.append(node)
    return found


def test_no_module_lists_members_that_another_one_declares() -> None:
    lists = set()
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(("memtile", *path.relative_to(ROOT).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        enums = [enum for enum, its in DECLARED.items() if enum in text and its.__name__ != module]
        if any(listed(ast.parse(text), enum) for enum in enums):
            lists.add(module)
    assert lists == CHOSEN.keys()
