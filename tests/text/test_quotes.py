"""Quotes in texts: verbatim, normalised, and where."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.text.quotes import MAX_PLACES, Source, folded

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

CHARACTERS = st.sampled_from(
    [*"ab \n\t'\u2019\"\u201c", "e\u0301", "\u00e9", "\u1112\u1161\u11ab", "\ud55c", "\u0301", "\u00a0", "\U0001f600"]
)
TEXTS = st.lists(CHARACTERS, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "quote", "verbatim", "any_form"),
    [case for case in CASES["test_where_quotes_stand"] if isinstance(case, list)],
)
def test_where_quotes_stand(text, quote, verbatim, any_form):
    source = Source(text)
    assert (source.holds(quote), source.holds_normalised(quote)) == (verbatim, any_form)
    assert bool(source.places(quote)) is any_form


@pytest.mark.parametrize(("text", "quote", "least", "n"), CASES["test_whole_places"])
def test_whole_places(text, quote, least, n):
    assert len(Source(text).whole_places(quote, least)) == n


def test_places():
    assert Source("tea, tea and teatea").places("tea") == [(0, 3), (5, 8), (13, 16), (16, 19)]
    assert Source("aaaa").places("aa") == [(0, 2), (2, 4)]
    assert Source("I  couldn\u2019t\n sleep ").places("couldn't sleep") == [(3, 18)]
    assert Source("Une cafe\u0301 noire").places("caf\u00e9") == [(4, 9)]
    assert len(Source("a" * 100).places("a")) == MAX_PLACES


@given(TEXTS, st.data())
def test_a_part_of_a_text_is_found_where_it_is(text, data):
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    source = Source(text)
    assert source.holds(quote) is bool(quote.strip())
    for begin, end in source.places(quote):
        assert text[begin:end] == quote


@given(TEXTS, TEXTS)
def test_places_hold_what_was_asked_for(text, quote):
    source = Source(text)
    places = source.places(quote)
    assert places == sorted(places) and all(0 <= begin < end <= len(text) for begin, end in places)
    if source.holds_normalised(quote) and not source.holds(quote) and places:
        begin, end = places[0]
        assert Source(text[begin:end]).holds_normalised(quote)


@given(TEXTS)
def test_normalising_twice_changes_nothing(text):
    once, starts = folded(text)
    assert folded(once)[0] == once == folded(unicodedata.normalize("NFD", text))[0]
    assert len(starts) == len(once) and starts == sorted(starts)
