"""Are dataclasses plain data, and the JSON Schema of a type as strict as what it stands for?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from memtile import schema, schemas
from memtile.documents import Count, among, having, keyed, limited, one_of, plain, schema_of

ROOT = Path(__file__).parents[2]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf.

    Attributes:
        size: in ``mm``,
            across.
        colour: of it.
    """

    size: Count
    colour: Colour = Colour.RED


class Stone(TypedDict):
    """A stone."""

    weight: float
    note: NotRequired[str]


@limited(additionalProperties=True)
class Open(TypedDict):
    """Something else."""

    kind: str


@dataclass(frozen=True, slots=True)
class Garden:
    """A garden."""

    leaves: Sequence[Leaf]
    counts: Mapping[str, float]


class Find(TypedDict):
    """A find."""

    what: Annotated[Any, one_of(Leaf, Stone, list[Annotated[Any, one_of(Stone, Open)]])]
    colours: Annotated[dict[str, Count], keyed(Colour)]
    known: Annotated[dict[str, Any], having("place")]
    name: Annotated[str, among(("a", "b"))]


GOOD = {"colours": {"red": 1, "blue": 0}, "known": {"place": 1, "more": 2}, "name": "a"}


def is_valid(form: Any, value: Any) -> bool:
    found = schema_of(form)
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found).is_valid(value)


def test_plain_data_has_the_fields_in_order_with_parts_and_numbers_of_numpy() -> None:
    garden = Garden((Leaf(3), Leaf(np.int64(4), Colour.BLUE)), MappingProxyType({"x": np.float64(0.5)}))
    said = '{"leaves": [{"size": 3, "colour": "red"}, {"size": 4, "colour": "blue"}], "counts": {"x": 0.5}}'
    assert json.dumps(plain(garden)) == said
    assert plain(None) is None
    assert isinstance(plain(garden)["leaves"], list)


def test_keys_are_in_the_order_of_the_type() -> None:
    assert list(schema_of(Find)["properties"]) == ["what", "colours", "known", "name"]
    assert list(schema_of(Find)["$defs"]["Stone"]["properties"]) == ["weight", "note"]


def test_the_docstring_describes_an_object_and_its_keys() -> None:
    found = schema_of(Leaf)
    assert found["description"] == "A leaf."
    assert found["properties"]["size"] == {"type": "integer", "minimum": 0, "description": "in mm, across."}
    assert found["properties"]["colour"]["description"] == "of it."
    assert found["required"] == ["size", "colour"]


@pytest.mark.parametrize(
    ("form", "value", "valid"),
    [
        (Leaf, {"size": 1, "colour": "red"}, True),
        (Leaf, {"size": 1}, False),
        (Leaf, {"size": -1, "colour": "red"}, False),
        (Leaf, {"size": 1, "colour": "green"}, False),
        (Leaf, {"size": 1, "colour": "red", "more": 1}, False),
        (Stone, {"weight": 1}, True),
        (Stone, {"weight": 1.5, "note": ""}, True),
        (Stone, {"weight": "1"}, False),
        (Stone, {"weight": 1, "more": 1}, False),
        (Open, {"kind": "x", "more": 1}, True),
        (Open, {"more": 1}, False),
        (Find, {"what": {"size": 1, "colour": "red"}, **GOOD}, True),
        (Find, {"what": [{"weight": 1}, {"kind": "", "x": 0}], **GOOD}, True),
        (Find, {"what": [{"size": 1, "colour": "red"}], **GOOD}, False),
        (Find, {"what": {"kind": "x"}, **GOOD}, False),
        (Find, {"what": {"weight": 1}, **GOOD, "colours": {"red": 1}}, False),
        (Find, {"what": {"weight": 1}, **GOOD, "colours": {"red": 1, "blue": 1, "green": 1}}, False),
        (Find, {"what": {"weight": 1}, **GOOD, "colours": {"red": 1, "blue": -1}}, False),
        (Find, {"what": {"weight": 1}, **GOOD, "known": {}}, False),
        (Find, {"what": {"weight": 1}, **GOOD, "name": "c"}, False),
    ],
)
def test_a_schema_refuses_what_its_type_is_not(form: Any, value: Any, valid: bool) -> None:
    assert is_valid(form, value) == valid


def test_types_of_documents_have_names_of_their_own() -> None:
    """The parts of a schema have the names of their classes, and so have the rules of ``limited``."""
    modules = [import_module(f"memtile.schemas.{each.name}") for each in iter_modules(schemas.__path__)]
    classes = {item for module in modules for item in vars(module).values() if isinstance(item, type)}
    found = Counter(each.__name__ for each in classes if each.__module__.startswith("memtile"))
    assert len(found) > 90
    assert [name for name, count in found.items() if count > 1] == []


def test_a_schema_is_a_new_copy_each_time() -> None:
    first = schema("lower-input")
    first["$defs"]["Tiling"]["allOf"].clear()
    assert schema("lower-input")["$defs"]["Tiling"]["allOf"]


def test_the_playground_needs_no_package_for_documents() -> None:
    """A browser has NumPy and Rich for it, and nothing else."""
    code = "import sys; sys.modules['msgspec'] = None; import answers"
    paths = os.pathsep.join((str(ROOT / "web" / "playground"), str(ROOT / "src")))
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, check=True)


SERVED = {"host": "a", "port": 1, "port_file": "b"}
TILING = {"buffer_dimension": [4], "element_bits": 32}
CASE = {"tile": "memory", "length": 1, "address": 0}
MEASURED = {
    "id": "a-1",
    "device": "npu1",
    "setup": "x",
    "quantity": "y",
    "unit": "cycles",
    "time_of": "array",
    "measured": {"value": 1.5, "low": 1, "high": 2, "runs": 3, "note": ""},
    "not_simulated": "why",
}
SOURCE = {"name": "a", "address": "https://a.org", "kind": "silicon"}
EVENT = {"name": "x", "ts": 1.5, "ph": "B", "pid": 0, "tid": 0, "args": {"cycle": 1, "exact": False}}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "serve-output",
            {"listening": SERVED},
            [{"listening": {**SERVED, "port": port}} for port in (0, 65536)],
        ),
        (
            "lower-input",
            TILING,
            [
                TILING | {"memref": {"sizes": [1], "strides": [1]}},
                {"tilings": [TILING], "buffer_dimension": [4]},
                TILING | {"element_type": "v0int8"},
                TILING | {"compiler": {"bds_for_this_port": -1}},
                TILING | {"expected": {"kind": "values", "labels": {"shape": [0], "weights": []}}},
            ],
        ),
        (
            "bd-encode-input",
            CASE | {"bd": None, "next": None, "axi": {}, "note": 5},
            [CASE | {"bd": -1}, CASE | {"dims": [[1, 1, 1]]}, {"cases": [CASE], "tile": "memory"}],
        ),
        (
            "bd-decode-input",
            {"cases": [{"words": [1, "0x1", "9"], "bd": 1}], "more": 1},
            [{"words": [""]}, {"words": ["1" * 41]}, {"words": [-1]}, {"cases": [], "tile": 1}],
        ),
        (
            "register-dump",
            [{"address": (1 << 64) - 1, "value": "0xFF", "more": 1}],
            [[{"address": 1 << 64, "value": 1}], [{"address": "0x", "value": 1}], {"1": -1}, {"1": True}],
        ),
        (
            "silicon-cases",
            {"source": SOURCE, "cases": [MEASURED]},
            [
                {"source": SOURCE, "cases": []},
                {"source": SOURCE | {"address": "http://a.org"}, "cases": [MEASURED]},
                {"source": SOURCE | {"name": ""}, "cases": [MEASURED]},
                {"source": SOURCE, "cases": [MEASURED | {"id": "a-"}]},
                {"source": SOURCE, "cases": [MEASURED | {"see": ["DEV-1"]}]},
                {"source": SOURCE, "cases": [MEASURED | {"measured": {"value": 1, "low": 1}}]},
                {"source": SOURCE, "cases": [MEASURED | {"measured": {"value": 1, "runs": 0}}]},
                {"source": SOURCE, "cases": [{k: v for k, v in MEASURED.items() if k != "not_simulated"}]},
                {
                    "source": SOURCE,
                    "cases": [MEASURED | {"rig": {"name": "", "arguments": {}, "reads": ""}, "assumed": []}],
                },
            ],
        ),
        (
            "chrome-output",
            [EVENT, {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": ""}}],
            [
                [EVENT | {"args": {"exact": True}}],
                [EVENT | {"ph": "M"}],
                [{"name": "process", "ph": "M", "pid": 0, "args": {"name": ""}}],
            ],
        ),
    ],
)
def test_a_schema_refuses_values_out_of_their_range(name: str, good: Any, bad: list[Any]) -> None:
    validator = Draft202012Validator(schema(name))
    assert list(validator.iter_errors(good)) == []
    assert [value for value in bad if validator.is_valid(value)] == []
