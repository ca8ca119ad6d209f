"""The form of plain data from outside: what JSON says is compared with what is wanted, before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, NamedTuple


class Each(NamedTuple):
    """A list of any length, or of ``most`` elements at most, whose elements have a form."""

    of: Form
    most: int | None = None


class NamedForms(NamedTuple):
    """An object with any keys, as long as ``key`` accepts them, whose values have a form."""

    of: Form
    key: Callable[[str], bool] = bool


class Such(NamedTuple):
    """A value that a test accepts; ``says`` is what it has to be."""

    test: Callable[[Any], bool]
    says: str


class Either(NamedTuple):
    """A value that has one of some forms."""

    of: tuple[Form, ...]


Form = type | range | tuple["Form", ...] | dict[str, "Form"] | Each | NamedForms | Such | Either | None
"""A type, a range of whole numbers, a list (as a tuple), an object with exactly these keys, or null.

A ``float`` is any finite number, a ``str`` any text that a file can hold.
"""

_HALVES = re.compile("[\ud800-\udfff]")  # of a character, which no file can hold
_TYPES: Mapping[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
}
_SHOWN = 60  # characters of a value


def misfit(value: Any, form: Form, place: str = "") -> str | None:
    """What does not fit in ``value``, as a sentence without full stop; None if all does.

    Args:
        value: as ``json`` reads it.
        form: what it must be.
        place: its name in the sentence.
    """
    if isinstance(form, Either):
        found = [misfit(value, each, place) for each in form.of]
        return found[0] if all(found) else None
    if isinstance(form, tuple) and not isinstance(form, (Each, NamedForms, Such)):
        return _list(value, form, place)
    if isinstance(form, (Each, NamedForms, dict)):
        return _parts(value, form, place)
    return None if _fits(value, form) else f"{place} is {_shown(value)}; it must be {_wanted(form)}"


def _list(value: Any, form: tuple[Form, ...], place: str) -> str | None:
    if not isinstance(value, list) or len(value) != len(form):
        return f"{place} is {_shown(value)}; it must be a list of {len(form)}"
    return _first(misfit(v, f, f"{place}[{n}]") for n, (v, f) in enumerate(zip(value, form, strict=True)))


def _parts(value: Any, form: Each | NamedForms | dict[str, Form], place: str) -> str | None:
    if isinstance(form, Each):
        if not isinstance(value, list):
            return f"{place} is {_shown(value)}; it must be a list"
        if form.most is not None and len(value) > form.most:
            return f"{place} is {_shown(value)}; it must be a list of at most {form.most}"
        return _first(misfit(v, form.of, f"{place}[{n}]") for n, v in enumerate(value))
    if not isinstance(value, dict):
        return f"{place} is {_shown(value)}; it must be an object"
    within = f"{place}." if place else ""
    if isinstance(form, NamedForms):
        strange = [key for key in value if not form.key(key)]
        forms: Mapping[str, Form] = dict.fromkeys(value, form.of)
    else:
        strange = [key for key in value if key not in form]
        forms = form
    if missing := [key for key in forms if key not in value]:
        return f"{within}{missing[0]} is missing"
    if strange:
        return f"{within}{_shown(strange[0])} is no key of this object"
    return _first(misfit(value[key], each, within + key) for key, each in forms.items())


def _fits(value: Any, form: Form) -> bool:
    if isinstance(form, Such):
        return form.test(value)
    if isinstance(form, range):
        return type(value) is int and value in form
    if form is float:
        return type(value) in (int, float) and isfinite(value)
    if form is str:
        return isinstance(value, str) and not _HALVES.search(value)
    return value is None if form is None else type(value) is form


def _wanted(form: Form) -> str:
    if isinstance(form, Such):
        return form.says
    if isinstance(form, range):
        return f"{form.start}..{form.stop - 1}"
    return _TYPES.get(form, "null") if isinstance(form, type) else "null"


def _first(found: Iterable[str | None]) -> str | None:
    return next((each for each in found if each), None)


def _shown(value: Any) -> str:
    """A value in few characters, whatever is in it."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 64 else "a number beyond 64 bits"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
