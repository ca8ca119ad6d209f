"""Are the public measurements in order, is their page current, and does the model still give what it says?"""

from __future__ import annotations

import json
import re
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from memtile import DesignError, Timing, schema
from memtile.arch.boards import ASSUMED, BOARDS
from memtile.arch.timing import likely, sources
from support.silicon.silicon_fit import fits, fitted, spread
from support.silicon.silicon_report import DRAW, LACKS, lacks, of_role, page, quantities
from support.silicon.silicon_rig import (
    SETUPS,
    USED,
    Case,
    bands,
    cases,
    error,
    files,
    is_of,
    recorded,
    used_of,
)
from support.silicon.silicon_spread import Spread, repeats, spreads
from support.silicon.verdict_designs import verdicts

ROOT = Path(__file__).parents[2]
CASES = cases()
BUILT = [case for case in CASES if case.built]
LONG = {"chain", "single", "rate", "rate_of_channels", "core_beside_dma", "paired_loads", "all_channels"}
LONG |= {"free_running", "store_beside_dma", "core_reads", "slope", "two_channels", "numbered_beyond"}
LONG |= {"by_routes", "passed", "two_matrices"}
DEVIATIONS = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_files_are_what_the_schema_says(path: Path) -> None:
    text = json.loads(path.read_text(encoding="utf-8"))
    wrong = Draft202012Validator(schema("silicon-cases")).iter_errors(text)
    assert [found.message for found in wrong] == []


def test_there_are_many_cases_of_many_sources() -> None:
    assert len(CASES) + len(verdicts()) >= 400
    assert len({case.source for case in CASES}) >= 16
    assert [name for name, times in Counter(case.id for case in CASES).items() if times > 1] == []


def test_a_document_that_something_was_chosen_with_has_no_prediction() -> None:
    """Whatever a constant or a rule names as its source, or is fitted to, is in a document of used.json."""
    named = {each.id for each in CASES if fits(each)} | {
        name for text in source_texts() for name in named_in(text)
    }
    wrong = {c.document for c in CASES if c.id in named and not used_of(c)}
    assert wrong == set()
    used = {case.document for case in CASES if used_of(case)}
    assert {case.id for case in CASES if case.document in used and case.role == "prediction"} == set()


def test_no_constant_names_a_prediction_as_its_source() -> None:
    """Nor the document of one, by the row GT-n that it names."""
    predicted = {case.id for case in CASES if case.role == "prediction"}
    assert {name for text in source_texts() for name in named_in(text)} & predicted == set()
    rows = {row for source in sources().values() for row in re.findall(r"GT-\d+", source.text)}
    pages = {page for row in rows for page in re.findall(r"`([\w-]+\.md)`", row_of(row))}
    assert len(pages) >= 6
    assert sorted(pages - set(USED)) == []


def source_texts() -> list[str]:
    """What the constants and the rules of docs/timing.md name as their sources."""
    return [*(source.text for source in sources().values()), (ROOT / "docs" / "timing.md").read_text("utf-8")]


def named_in(text: str) -> list[str]:
    """Cases that a text names; ``name-*`` are all that begin so."""
    patterns = re.findall(r"\b(?:cases?|and) `?([a-z0-9]+-[a-z0-9-]+\*?)`?", text)
    return [case.id for case in CASES for pattern in patterns if fnmatch(case.id, pattern)]


def row_of(name: str) -> str:
    """The row of a measurement on the page of deviations."""
    (row,) = re.findall(rf"^\| {name} \|.*$", DEVIATIONS, re.MULTILINE)
    return str(row)


def test_each_document_that_was_used_has_cases() -> None:
    assert [name for name in USED if not any(is_of(case, name) for case in CASES)] == []


def test_a_set_up_that_is_fitted_to_a_case_is_of_a_used_document() -> None:
    """Its parameters came from a measurement, so that no case of that document is predicted."""
    fitted_to = re.compile(r"those that fit ([a-z0-9-]+)")
    names = {
        name for case in CASES for text in case.data.get("assumed", []) for name in fitted_to.findall(text)
    }
    assert names == {"compute-conflicts-collide2"}
    assert [case.id for case in CASES if case.id in names and not used_of(case)] == []


def test_a_case_is_run_with_the_board_that_it_was_measured_on() -> None:
    """Its own where that is not its device's; a document is known by as much of its address as it takes."""
    by_id = {case.id: case for case in CASES}
    assert [by_id[name].board for name in ("halo-feed-1", "gemm-clock")] == ["strix_halo", "strix"]
    assert {case.board for case in CASES if case.source == "hipfire"} == {"strix_halo"}
    assert {case.board for case in BUILT} == {*BOARDS, ASSUMED}
    assert by_id["halo-feed-1"].role == "calibration"
    assert by_id["halo-stage-part"].document.endswith("/r57/README.md")
    assert by_id["halo-stage-part"].role == "prediction"


def test_the_revision_of_a_page_makes_no_other_document() -> None:
    address = "https://github.com/a/b/blob/{}/docs/page.md"
    one, other = (Case({"id": "a"}, "", "", address.format(commit * 40)) for commit in "0f")
    assert one.document == other.document == "https://github.com/a/b/docs/page.md"


def test_the_points_of_a_sweep_count_once_with_their_median_error() -> None:
    points = [case for case in CASES if case.data.get("sweep") == "egress-backlog"]
    assert len(points) == 5
    given = {case.id: case.measured * (1 + at / 10) for at, case in enumerate(points)}
    assert list(quantities(points, given).values()) == [pytest.approx(0.2)]


def test_untimed_cases_are_no_predictions_and_no_agreement() -> None:
    """Whoever says that a quantity does not depend on timing says so of a count."""
    untimed = [case for case in CASES if case.role == "untimed"]
    assert {case.time_of for case in untimed} == {"count"}
    assert not {case.id for role in ("prediction", "calibration") for case in of_role(CASES, role)} & {
        case.id for case in untimed
    }


def test_each_rig_is_used_and_each_case_names_one() -> None:
    """``measure`` is for cases that whoever has a board adds; its own test is with the command."""
    assert {"measure"} | {case.data["rig"]["name"] for case in BUILT} == set(SETUPS)


def test_rows_that_explain_are_on_the_page_of_deviations() -> None:
    named = {name for case in CASES for name in case.data.get("see", [])}
    assert [name for name in sorted(named) if f"| {name} |" not in DEVIATIONS] == []


def test_every_outlier_names_what_explains_it() -> None:
    numbers = recorded()
    far = [case for case in BUILT if error(case.measured, numbers[case.id]) > 0.05]
    assert [case.id for case in far if not case.data.get("see")] == []
    assert {lacks(case) for case in far} <= {*LACKS.values(), DRAW}


def test_what_was_seen_on_a_simulator_alone_is_no_case() -> None:
    """The page of the wedges says of 9 and 12 tasks that they ran on AMD's simulator (DEV-SILICON-5)."""
    assert {case.id for case in CASES if case.id.startswith("wedge-")} == {"wedge-8", "wedge-16"}


def test_the_band_of_a_case_holds_what_the_model_gives() -> None:
    numbers = recorded()
    assert [name for name, (low, high) in bands().items() if not low <= numbers[name] <= high] == []
    assert sum(low < high for low, high in bands().values()) >= 10


def test_the_page_begins_with_the_predictions_alone() -> None:
    """And has what is decided without timing, and what agrees with its own calibration, apart."""
    _, _, first, _, second, *_ = page().splitlines()
    number = r"[\d.]+%"
    told = re.fullmatch(
        r"\*\*Predicted: (\d+) quantities of (\d+) documents \((?:npu\d(?:, )?)+\) of which nothing was used "
        rf"to choose a constant, a rule or a set-up: median error {number}, 90th percentile {number}; the "
        r"farthest off is ([a-z0-9-]+), [\d.-]+ measured, [\d.-]+ simulated\.\*\*",
        first,
    )
    assert told is not None
    predicted = of_role(CASES, "prediction")
    assert int(told[1]) == len(quantities(predicted, recorded())) <= len(predicted)
    assert int(told[2]) == len({case.document for case in predicted})
    assert told[3] in {case.id for case in predicted}
    assert second.startswith("Not predictions: ")
    assert "agree to" in second


def test_what_repeats_is_known_without_the_model_s_error() -> None:
    """A single run with a first access varies, as what others found elsewhere does; three alike repeat."""
    told = {
        "shim-mm2s-512": Spread(848, 2561, "first"),
        "chain-8-s2mm-task-1": Spread(210, 250, "runs"),
        "store-beside-dma-conflicts": Spread(1098, 1103, "runs"),
    }
    known = spreads(CASES, bands())
    assert {name: known[name] for name in told} == told
    by_id = {case.id: case for case in CASES}
    assert [repeats(by_id[name], known) for name in told] == ["varies", "varies", "repeats"]
    assert "stream-intercept" not in known
    assert repeats(by_id["stream-intercept"], known) == "not repeated"
    assert repeats(by_id["egress-backlog-8"], known) == "repeats"
    low = spreads([replaced(by_id["shim-mm2s-512"], runs=50)], bands())
    assert low == {}


def replaced(case: Case, **measured: float) -> Case:
    """The same case of other runs."""
    data = case.data | {"measured": {"value": case.measured, **measured}}
    return Case({name: value for name, value in data.items() if name != "again"}, "", case.kind, "")


def test_a_spread_of_runs_holds_what_is_simulated_one_of_first_accesses_what_was_measured() -> None:
    case = Case({"id": "a", "measured": {"value": 90}}, "", "silicon", "")
    assert Spread(80, 100, "first").has(case, 500)
    assert not Spread(95, 100, "first").has(case, 97)
    assert Spread(95, 100, "runs").has(case, 97)
    assert not Spread(80, 92, "runs").has(case, 97)


def test_cases_of_one_quantity_have_one_unit_and_are_in_the_table() -> None:
    by_id = {case.id: case for case in CASES}
    table = page().split("## Measured more than once")[1].split("\n## ")[0]
    named = [case for case in CASES if "again" in case.data]
    assert len(named) >= 20
    for case in named:
        assert case.data["unit"] == by_id[case.data["again"]].data["unit"]
        assert re.search(rf"[ ,]{case.id}[ ,]", table)


def test_external_memory_of_the_board_is_that_of_cases_that_it_is_fitted_to() -> None:
    """And of no others: a case of the other half, or a prediction, changes nothing."""
    board = {name: value for name, value in BOARDS["phoenix"].items() if name.startswith("external")}
    assert fitted(CASES) == fitted([case for case in CASES if fits(case)]) == board
    assert {name: likely(name) for name in spread(CASES)} == spread(CASES)
    assert Timing.of_board("phoenix").external_latency == BOARDS["phoenix"]["external_latency"]
    says = "board is 'hawk'; it must be phoenix or strix or strix_halo or assumed"
    with pytest.raises(DesignError, match=says):
        Timing.of_board("hawk")


# what each set-up of the rig has between the stamps; those that count name what they read
TIMED_BY = {
    "array": {"hop", "core_reads", "slope", "chained", "span", "one_bank", "core_beside_dma", "paired_loads"}
    | {
        "relayed",
        "back_pressure",
        "give_back",
        "load_and_store",
        "lock_operations",
        "broadcast",
        "all_channels",
        "handed_on",
        "passed",
        "given_to_port",
        "starved",
        "two_floods",
        "called",
        "wide_objects",
        "wide_left",
        "wide_given",
        "wide_taken",
        "wide_beside_fill",
        "wide_lock",
        "eights",
        "freed_to_port",
        "panel",
        "two_matrices",
        "result",
    },
    "kernel": {"library_call"},
    "external": {"rate", "rate_of_channels", "by_routes", "wide_fed", "two_matrices"},
    "first": {"single"},
    "host": {"operation", "two_channels"},
}
COUNTS = {
    "sent_down": "cycles",
    "load_and_store": "stalls",
    "core_beside_dma": "conflicts stalls starved",
} | {
    "store_beside_dma": "conflicts stalls",
    "paired_loads": "stalls",
    "free_running": "conflicts",
    "backlog": "descriptors",
    "sent_to_interface": "back_pressure",
    "relayed": "received_runs received sent first_sent_run sent_ahead consumer_runs",
    "wrong_half": "errors",
    "iterated": "words",
    "compressed": "words",
    "tokens": "finished stalls",
    "absorbed": "tasks",
    "numbered_beyond": "completed",
    "passed": "left_ahead",
    "wide_objects": "beats",
    "eights": "taken_ahead",
    "two_matrices": "taken_ahead",
}
CHAIN = {"task_0": "first", "task": "external", "warm": "external", "gap": "host", "span": "host"}


@pytest.mark.parametrize("case", BUILT, ids=lambda c: c.id)
def test_what_the_time_of_a_case_is_of_follows_from_its_set_up(case: Case) -> None:
    """And not from its error."""
    rig = case.data["rig"]
    if rig["reads"] in COUNTS.get(rig["name"], "").split():
        assert case.time_of == "count"
    elif rig["name"] == "chain":
        reads = rig["reads"]
        assert case.time_of == (CHAIN.get(reads) or CHAIN[reads.split("_")[0]])
    else:
        assert rig["name"] in TIMED_BY[case.time_of]


def test_no_number_is_from_a_vendor_s_model() -> None:
    text = "".join(path.read_text(encoding="utf-8").lower() for path in files())
    assert [word for word in ("decrypt", "aiesim", "vc2802", "device model") if word in text] == []


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "silicon.md").read_text(encoding="utf-8") == page()
    assert list(recorded()) == [case.id for case in BUILT]


def holds(case: Case) -> None:
    assert case.simulated() == recorded()[case.id]


@pytest.mark.parametrize("case", [c for c in BUILT if c.data["rig"]["name"] not in LONG], ids=lambda c: c.id)
def test_the_model_gives_what_the_page_says(case: Case) -> None:
    holds(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in BUILT if c.data["rig"]["name"] in LONG], ids=lambda c: c.id)
def test_the_model_gives_what_the_page_says_of_long_runs(case: Case) -> None:
    holds(case)
