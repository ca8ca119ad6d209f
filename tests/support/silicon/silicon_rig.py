"""Measured cases of silicon: read, built with the model, measured there the same way, and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from memtile.arch.boards import ASSUMED
from memtile.arch.devices import device as find_device
from memtile.arch.timing import chosen_timing, constants, likely, sets
from places import TESTS
from support.silicon import (
    silicon_cores,
    silicon_hosts,
    silicon_measure,
    silicon_objects,
    silicon_streams,
    silicon_tiles,
    silicon_wide,
)

FOLDER = TESTS / "silicon"
RECORD = FOLDER / "simulated.json"
USED: dict[str, list[str]] = json.loads((FOLDER / "used.json").read_text(encoding="utf-8"))
"""By document, the end of its address, what was chosen with it: constants, rules, parameters of set-ups."""
SETUPS = silicon_tiles.SETUPS | silicon_streams.SETUPS | silicon_hosts.SETUPS
SETUPS |= silicon_cores.SETUPS | silicon_measure.SETUPS | silicon_objects.SETUPS | silicon_wide.SETUPS
OUTLIER = 0.05
KINDS = ("array", "count", "external", "first", "kernel", "host")
ROLES = ("prediction", "untimed", "calibration")
MODELLED = ("array", "count", "external", "first")  # kernel: code of a compiler; host: firmware and drivers
FITTED = {"external_latency", "external_write_latency", "external_egress_words"}  # see silicon_fit
FIRST = {"external_first_read", "external_first_write"}  # vary where they are what was measured
UNDER_FIRST = {"free_running"}  # set-ups whose counts hang on how long the first access takes
VARIED = sorted({str(each["name"]) for each in constants() if each["likely"]} - FITTED)


@dataclass(frozen=True)
class Case:
    """One measured quantity.

    Attributes:
        data: as its file has it.
        source: name of its source.
        kind: "silicon" or "manual".
        address: of the page that has it.
    """

    data: dict[str, Any]
    source: str
    kind: str
    address: str

    @property
    def id(self) -> str:
        """Unique name."""
        return str(self.data["id"])

    @property
    def measured(self) -> float:
        """What was measured, or stated by a manual."""
        return float(self.data["measured"]["value"])

    @property
    def built(self) -> bool:
        """The rig can build its set-up."""
        return "rig" in self.data

    @property
    def time_of(self) -> str:
        """What the time that was measured is of: one of ``KINDS``."""
        return str(self.data["time_of"])

    @property
    def runs(self) -> int:
        """Runs of which the value is the median; 0 where its source does not say."""
        return int(self.data["measured"].get("runs", 0))

    @property
    def under_first(self) -> bool:
        """The first access of a channel to external memory is in what was measured."""
        return self.time_of == "first" or (self.built and self.data["rig"]["name"] in UNDER_FIRST)

    @property
    def document(self) -> str:
        """The page that has it, in whatever revision: the address without a commit."""
        return re.sub(r"/blob/[0-9a-f]{7,40}/", "/", self.address)

    @property
    def role(self) -> str:
        """One of ``ROLES``: what its error says of the model.

        The split is by document: what was chosen with one measurement of a document makes all of them
        calibration, since they share captures, set-ups and author.
        """
        if self.data.get("untimed"):
            return "untimed"
        return "calibration" if used_of(self) else "prediction"

    @property
    def board(self) -> str:
        """The board whose constants simulate it: its own, else its device's."""
        if self.kind != "silicon":
            return ASSUMED
        return str(self.data.get("board") or find_device(self.data["device"]).board)

    @property
    def second_hand(self) -> bool:
        """The measured number is read from the source of an emulator, whose author measured it."""
        return self.document.endswith((".rs", ".py"))

    @property
    def sweep(self) -> str:
        """The quantity that it is a point of: its sweep, or itself."""
        return str(self.data.get("sweep", self.id))

    def simulated(self) -> float:
        """The same quantity of the model."""
        return self._simulated("value")

    def band(self) -> tuple[float, float]:
        """The lowest and the highest of it with all constants that vary at both ends of their ranges."""
        all_three = [self._simulated(end) for end in ("low", "value", "high")]
        return min(all_three), max(all_three)

    def _simulated(self, end: str) -> float:
        rig = self.data["rig"]
        vary = () if end == "value" else [n for n in VARIED if n not in FIRST or self.under_first]
        found = _run(rig["name"], json.dumps(rig["arguments"]), end, tuple(vary), self.board)
        return round(float(found[rig["reads"]]), 3)


@cache
def _run(name: str, arguments: str, end: str, vary: tuple[str, ...], board: str) -> dict[str, float]:
    """What a set-up gives with the constants of a board, and some others at one end of their ranges."""
    chosen = dict(sets()[board]) | {each: likely(each)[end == "high"] for each in vary}
    with chosen_timing(chosen):
        return SETUPS[name](**json.loads(arguments))  # type: ignore[no-any-return, operator]


def used_of(case: Case) -> list[str]:
    """What was chosen with measurements of its document."""
    return [what for name, chosen in USED.items() if is_of(case, name) for what in chosen]


def is_of(case: Case, name: str) -> bool:
    """Whether a case is of a document, by the end of its address, or of the source with this name."""
    return case.source == name or case.document.rstrip("/").endswith(f"/{name}")


def files() -> list[Path]:
    """The files of the cases, one a source."""
    return sorted((FOLDER / "cases").glob("*.json"))


def cases() -> list[Case]:
    """All cases, in the order of their files."""
    found = []
    for path in files():
        text = json.loads(path.read_text(encoding="utf-8"))
        source = text["source"]
        for data in text["cases"]:
            found.append(Case(data, source["name"], source["kind"], data.get("address", source["address"])))
    return found


def error(measured: float, simulated: float) -> float:
    """The difference as a part of what was measured; of a measured 0 the difference itself."""
    return abs(simulated - measured) / (abs(measured) or 1.0)


def recorded() -> dict[str, float]:
    """What the model gave for each case when the page was made."""
    return {name: float(value) for name, (value, _, _) in _record().items()}


def bands() -> dict[str, tuple[float, float]]:
    """Lowest and highest that it gave."""
    return {name: (float(low), float(high)) for name, (_, low, high) in _record().items()}


def _record() -> dict[str, list[float]]:
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def summary(errors: Iterable[float]) -> tuple[int, float, float]:
    """How many, their median and their 90th percentile; of none zeros."""
    found = list(errors) or [0.0]
    return len(found), float(np.median(found)), float(np.percentile(found, 90))
