"""AMD's verdict on a description: all rules, one after the other."""

from __future__ import annotations

from memtile.adf.description import Description
from memtile.adf.nets import wirings
from memtile.adf.objects import Objects
from memtile.adf.rates import rates
from memtile.adf.verdict import capacity, locations, rules
from memtile.adf.verdict.subject import Subject
from memtile.adf.verdict.verdicts import Verdict
from memtile.arch.devices import device as device_of
from memtile.errors import DesignError, Problem, raise_if

RULES = (*rules.RULES, *locations.RULES, *capacity.RULES)
OPEN = "not_connected"
"""Reason of a port that is left open, as users' graphs have some: a matter of plans, not of AMD's verdict."""


def amd_verdicts(description: Description, device: str) -> list[Verdict]:
    """Return what AMD's compiler would refuse of a description, in the order of the rules.

    Args:
        description: of one program.
        device: its name.

    Raises:
        DesignError: no such device, or connections that contradict themselves, so that nothing counts.
    """
    problems: list[Problem] = []
    objects = Objects(description)
    nets = wirings(objects, problems)
    raise_if([each for each in problems if each.reason != OPEN], DesignError)
    problems = []
    found = rates(objects, nets, problems)
    subject = Subject(objects, device_of(device), nets, found, tuple(problems))
    return [verdict for rule in RULES for verdict in rule(subject)]
