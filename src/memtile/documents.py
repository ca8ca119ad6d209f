"""JSON documents: plain data of dataclasses, and the JSON Schema of a type, both by ``msgspec``.

What memtile reads or writes as JSON has a type: a dataclass whose fields are the keys, or a ``TypedDict``
where the JSON is a view of something else. Its docstring describes the object and, below ``Attributes:``, its
keys. Objects have the keys of their type and no other, unless :func:`limited` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from inspect import cleandoc
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

Schema = dict[str, Any]

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Word = Annotated[str, Meta(pattern="^0x[0-9A-F]{8}$", description="A 32-bit register word.")]
Hex = Annotated[str, Meta(pattern="^0x[0-9A-F]+$")]
Scalar = str | float | bool | None
Pair = tuple[Count, Count]

_RULES: dict[str, Schema] = {}  # by the name of the class
_UNIONS: list[tuple[Any, ...]] = []  # a schema refers to them by their place, until its parts are known
_LOCAL = "#/$defs/{name}"
_FIELD = re.compile(r"^    (\S[^:]*): ", re.MULTILINE)
T = TypeVar("T")


def plain(value: Any) -> Any:
    """Return dataclasses and their parts as dictionaries, lists, texts and numbers; fields in order."""
    return _listed(msgspec.to_builtins(value, enc_hook=_plain))


def _plain(value: Any) -> Any:
    """Return what msgspec does not know as what it knows: any mapping, and numbers of NumPy."""
    return dict(value) if isinstance(value, Mapping) else value.item()


def _listed(value: Any) -> Any:
    """Return built-in values with lists for tuples, as JSON has them."""
    if isinstance(value, dict):
        return {key: _listed(part) for key, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value


def among(values: Iterable[Any]) -> Meta:
    """Annotation of a value that is one of some."""
    return Meta(extra_json_schema={"enum": [getattr(value, "value", value) for value in values]})


def keyed(names: Iterable[str]) -> Meta:
    """Annotation of a dictionary that has exactly these keys."""
    listed = [*names]
    return Meta(extra_json_schema={"required": listed, "propertyNames": {"enum": listed}})


def having(*names: str) -> Meta:
    """Annotation of a dictionary that has these keys and may have others."""
    return Meta(extra_json_schema={"required": [*names]})


def one_of(*forms: Any) -> Meta:
    """Annotation of a value that has one of some types, of which several may be objects."""
    _UNIONS.append(forms)
    return Meta(extra_json_schema={"anyOf": len(_UNIONS) - 1})


def limited(**rules: Any) -> Callable[[T], T]:
    """Class decorator: further keywords of the schema of an object, such as ``additionalProperties=True``."""

    def note(form: T) -> T:
        _RULES[getattr(form, "__name__", "")] = rules
        return form

    return note


def schema_of(form: Any) -> Schema:
    """Return the JSON Schema of a type: draft 2020-12, with all that it needs in ``$defs``."""
    (found,), parts = msgspec.json.schema_components([form], ref_template=_LOCAL)
    keys = _keys(msgspec.inspect.type_info(form))
    while union := _open_union(found) or _open_union(parts):
        forms = _UNIONS[union["anyOf"]]
        listed, more = msgspec.json.schema_components(forms, ref_template=_LOCAL)
        union["anyOf"] = [*listed]
        parts |= {name: part for name, part in more.items() if name not in parts}
        keys |= _keys(msgspec.inspect.multi_type_info(forms))
    for name, part in parts.items():
        parts[name] = _described(part, keys.get(name, ()), _RULES.get(name, {}))
    if "$ref" in found:
        found = parts.pop(found["$ref"].rpartition("/")[2])
    return {**found, **({"$defs": dict(sorted(parts.items()))} if parts else {})}


def _open_union(part: Any) -> Schema | None:
    """Return a part whose ``anyOf`` is still a place."""
    if isinstance(part, dict):
        if isinstance(part.get("anyOf"), int):
            return part
        part = part.values()
    elif not isinstance(part, list):
        return None
    return next((found for each in part if (found := _open_union(each))), None)


def _keys(info: Any) -> dict[str, Iterable[str]]:
    """Return the keys of each ``TypedDict`` in what msgspec knows of a type, in order; msgspec sorts them."""
    found: dict[str, Iterable[str]] = {}
    if isinstance(info, msgspec.inspect.TypedDictType):
        found[info.cls.__name__] = info.cls.__annotations__
    parts = info if isinstance(info, tuple | list) else ()
    if isinstance(info, msgspec.Struct):
        parts = [getattr(info, name) for name in info.__struct_fields__]
    for part in parts:
        found |= _keys(part)
    return found


def _described(part: Schema, keys: Iterable[str], rules: Schema) -> Schema:
    """Return the schema of a class: its docstring as descriptions, all fields of a dataclass required."""
    text, _, attributes = cleandoc(part.pop("description", "")).partition("\n\nAttributes:\n")
    del part["title"]
    if text:
        part["description"] = _sentences(text)
    if "properties" not in part:
        return part
    part["properties"] = {name: part["properties"][name] for name in keys or part["properties"]}
    _, *said = _FIELD.split(attributes)
    for names, sentence in zip(said[::2], said[1::2], strict=True):
        for name in names.split(", "):
            if name in part["properties"]:
                part["properties"][name]["description"] = _sentences(sentence)
    always = {name for name, each in part["properties"].items() if "default" in each}
    for name in always:
        del part["properties"][name]["default"]
    always.update(part.get("required", ()))
    part["required"] = [name for name in part["properties"] if name in always]
    return {**part, "additionalProperties": False, **deepcopy(rules)}


def _sentences(text: str) -> str:
    return " ".join(text.replace("``", "").split())
