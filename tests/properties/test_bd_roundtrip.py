"""Do encode and decode, and descriptors and their JSON, agree on everything that Hypothesis thinks of?"""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.access.drawing import memory_grid, stream_grid
from memtile.access.walk import PAD, Walk, addresses
from memtile.arch.tiles import TILE_KINDS, TileName
from memtile.bd.codec import decode, encode, idle_fields, pack, unpack, used_bits
from memtile.bd.descriptor import Descriptor
from memtile.bd.descriptor_cases import case_of, parse_case, words_of_case
from memtile.bd.explain import explain_words
from memtile.bd.fields import TERMS, fields_of
from memtile.bd.legality import check
from memtile.errors import DescriptorError
from memtile.testing.strategies import TILES, descriptors, register_words

some = settings(max_examples=60)
tiles = pytest.mark.parametrize("tile", TILES)


@pytest.mark.slow
@tiles
@some
@given(data=st.data())
def test_decode_undoes_encode(tile: TileName, data: st.DataObject) -> None:
    d = data.draw(descriptors(tile))
    words = encode(d, 0)
    assert len(words) == TILE_KINDS[tile].bd_words
    assert all(word & ~used == 0 for word, used in zip(words, used_bits(tile), strict=True))
    assert decode(tile, words) == d


@pytest.mark.slow
@tiles
@some
@given(data=st.data())
def test_encode_undoes_decode_on_all_legal_words(tile: TileName, data: st.DataObject) -> None:
    words = data.draw(register_words(tile))
    kind, d = TILE_KINDS[tile], decode(tile, words)
    if check(d):
        with pytest.raises(DescriptorError):
            encode(d)
    else:
        effective = unpack(kind, words) | {n: kind.limits(n)[0] for n in idle_fields(kind, words)}
        assert encode(d) == pack(kind, effective)


@some
@given(d=descriptors(), bd=st.integers(0, 15))
def test_json_carries_a_descriptor_unchanged(d: Descriptor, bd: int) -> None:
    text = json.dumps(case_of(d, bd))
    assert parse_case(json.loads(text)) == (bd, d)
    assert words_of_case(json.loads(text)) == encode(d, bd)


@some
@given(d=descriptors(), data=st.data())
def test_what_the_registers_cannot_tell_apart_is_equal(d: Descriptor, data: st.DataObject) -> None:
    spare = d.kind.dimensions - len(d.dims)
    longer = d.but(dims=d.dims + ((1, 0),) * data.draw(st.integers(0, spare)))
    if d.kind.has_padding:
        longer = longer.but(pad=(*d.pad, (0, 0)))
    assert (longer, hash(longer)) == (d, hash(d))
    assert encode(longer) == encode(d)
    assert d.but(tlast_suppress=not d.tlast_suppress) != d


# A register is a container of bits: one value too many must never come out as another one.
@some
@given(data=st.data())
def test_one_field_out_of_range_gives_one_problem_that_names_it(data: st.DataObject) -> None:
    d = data.draw(descriptors()).but(dims=((2, 1),), pad=())  # rules about several fields stay out of it
    kind, values = d.kind, fields_of(d)
    numeric = [n for n in values if n in TERMS and n in kind.bd_fields and kind.bd_fields[n].bits > 1]
    name = data.draw(
        st.sampled_from([n for n in numeric if n != "Burst_Length" and "[" not in TERMS[n].name])
    )
    low, high = kind.limits(name)
    bad = data.draw(st.integers(high + 1, 4 * high + 4) | st.integers(2 * low - 9, low - 1))
    where, _, leaf = TERMS[name].name.partition(".")
    changed = d.but(**{where: getattr(d, where)._replace(**{leaf: bad}) if leaf else bad})
    assert [(p.field, p.reason) for p in check(changed)] == [(name, TERMS[name].reason)]


@tiles
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_the_registers_hold_can_be_explained(tile: TileName, data: st.DataObject) -> None:
    words = data.draw(register_words(tile))
    explanation = explain_words(tile, words, 0)
    assert explanation.descriptor == decode(tile, words)
    assert {line.topic for line in explanation.lines} >= {"transfer", "acquire", "release", "chain"}
    assert len(explanation.problems) == len(check(explanation.descriptor, 0))


@settings(max_examples=40)
@given(d=descriptors())
def test_pictures_show_the_walk(d: Descriptor) -> None:
    walk = Walk.of(d)
    shown = addresses(walk) if walk.length < 20_000 else addresses(Walk.of(d.but(length=20_000)))
    grid = stream_grid(d)
    for row, cells in enumerate(grid.cells):
        at = shown[row * grid.row_words :][: len(cells)]
        assert [PAD if c is None else c + walk.base for c in cells] == at.tolist()
    memory = memory_grid(d)
    for row, cells in enumerate(memory.cells):
        for column, position in enumerate(cells):
            if position is not None and position < len(shown):
                assert np.flatnonzero(shown == walk.base + row * memory.row_words + column)[0] == position
