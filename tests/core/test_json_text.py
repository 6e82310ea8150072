"""JSON in model text: which stage finds it, what is dropped, and that nothing raises or goes quadratic."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.core.json_text import JSON_PROBLEM_KINDS, Stage, find_json, is_whole_json
from tls_tasks.core.json_values import MAX_DEPTH, RepeatedKeys, number_of
from tls_tasks.core.parsed import Problem, problem
from tls_tasks.core.reasoning import strip_thinking

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def n_objects(value: Any) -> int:
    """A weight such as a caller may have: the objects with a key ``n``, in a list or alone."""
    if isinstance(value, dict):
        return int("n" in value) or sum(n_objects(inner) for inner in value.values() if isinstance(inner, list))
    return sum(n_objects(item) for item in value if isinstance(item, dict)) if isinstance(value, list) else 0


STAGED = [case for case in CASES["STAGED"] if isinstance(case, list)]


@pytest.mark.parametrize(("text", "values", "stage", "counts"), STAGED)
def test_stages(text: str, values: list[Any], stage: str, counts: dict[str, int]) -> None:
    found = find_json(text, n_objects)
    kinds = [noted.kind for noted in found.problems]
    assert (list(found.values), found.stage) == (values, stage)
    assert {kind: kinds.count(kind) for kind in kinds} == counts
    assert found.stage in get_args(Stage)
    assert set(kinds) <= set(JSON_PROBLEM_KINDS)


@pytest.mark.parametrize(("text", "values"), [case for case in CASES["FENCES"] if isinstance(case, list)])
def test_fenced_blocks(text: str, values: tuple[Any, ...]) -> None:
    assert find_json(text, lambda value: isinstance(value, list)).values == tuple(values)


@pytest.mark.parametrize(
    "text", ["[]", " [] ", "<think>x</think>[]", "```json\n[]\n```", "None.\n```\n[]\n```\nSorry."]
)
def test_an_empty_answer_stands_alone_or_fenced(text: str) -> None:
    assert is_whole_json(text, lambda value: value == [])


@pytest.mark.parametrize("text", ["", "I found [].", "- [ ] to do", "<think>[]", "```\n[]\n```\n```\n[1]\n```", "[1]"])
def test_other_empty_lists_are_no_answer(text: str) -> None:
    assert not is_whole_json(text, lambda value: value == [])


def test_repeated_keys_are_noted_and_kept() -> None:
    for text in ('{"n": 1, "n": 2}', 'It is {"n": 1, "n": 2}.'):
        found = find_json(text, n_objects)
        (value,) = found.values
        assert isinstance(value, RepeatedKeys)
        assert (value, value.pairs) == ({"n": 2}, [("n", 1), ("n", 2)])
        assert [(noted.kind, noted.detail) for noted in found.problems][:1] == [("duplicate_key", "n")]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 10_000, "9" * 5_000])
@pytest.mark.parametrize("around", ["{}", "Here it is: {}"])
def test_numbers_that_no_float_holds_are_noted(token: str, around: str) -> None:
    found = find_json(around.replace("{}", f'[{{"n": {token}}}]'), n_objects)
    number = found.values[0][0]["n"]
    assert not math.isfinite(number)
    assert [noted.kind for noted in found.problems if not noted.is_note] == ["non_finite"]


@pytest.mark.parametrize("around", ["{}", "Here it is: {}"])
def test_large_integers_and_surrogates_stay_as_they_are(around: str) -> None:
    value = [{"n": 10**600, "a": "\ud800", "b": "\U0001f600"}]
    found = find_json(around.replace("{}", json.dumps(value)), n_objects)
    assert found.values == (value,) and all(noted.kind == "note" for noted in found.problems)


@pytest.mark.parametrize("text", ["[" * 5_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 5_000, "[{" * 5_000, "['" * 5_000])
def test_deep_nesting_never_raises(text: str) -> None:
    assert find_json(text, n_objects).values == ()
    assert find_json(text + '\n[{"n": 1}]', n_objects).stage in get_args(Stage)


def test_depth_in_prose_is_limited() -> None:
    deep: Any = {"n": 1}
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    for value, values in ((deep, (deep,)), ([deep], ())):
        assert find_json(f"a {json.dumps(value)}", lambda one, wanted=value: one == wanted).values == values


LONG = "A sentence that is long enough. " * 40


def test_of_what_is_too_long_for_json_repair_the_whole_items_count() -> None:
    """And the damaged one, which is mended for itself."""
    items = [f'{{"n": {n}, "a": "{LONG}"}}' for n in range(10)]
    items[4] = items[4].replace(', "a"', ' "a"')
    found = find_json(f"[{', '.join(items)}]", n_objects)
    assert [n_objects(value) for value in found.values] == [4, 1, 1, 1, 1, 1, 1]
    assert [noted.kind for noted in found.problems] == ["not_repaired", "broken_json", "repaired_json"]
    assert len(find_json('{"n": 1}\n' * 3_000, n_objects).values) == 3_000  # of what is whole, too


@pytest.mark.parametrize("piece", ["'it's',", '"a" b ', "['", "{a:b},", '["a" "b" "c" ', "{“n”: 1}, "])
def test_json_repair_does_not_take_minutes(piece: str) -> None:
    text = "[" + piece * (1_000_000 // len(piece)) + "]"
    assert hostile.seconds(find, text) < 60


@pytest.mark.parametrize("useless", ["[{}] ", "```\n[{}]\n```\n", '{"a": [} '])
def test_a_text_is_given_up_after_a_thousand_pieces_of_no_use(useless: str) -> None:
    for n, found in ((900, 1), (1_010, 0)):
        text = useless * n + '```\n[{"n": 1}]\n```'
        assert len(find_json(text, lambda value: value == [{"n": 1}]).values) == found


def test_comments_of_a_hash_need_no_guess() -> None:
    found = find_json('Here:\n{\n  # the ticket\n  "n": 1,  # raised at 10:42\n  "text": "# 4" # "n": 2\n}', n_objects)
    assert (found.values, found.stage) == (({"n": 1, "text": "# 4"},), "scan")
    assert [one.detail for one in found.problems] == ["comment", "Here:"]


def test_ordinary_trouble_is_mended_at_any_length() -> None:
    entries = [f'{{"n": {n}, "text": "Protests in Cairo, and all that a sentence holds.",}}' for n in range(1_200)]
    found = find_json(f"[{', '.join(entries)}] // all", n_objects)
    assert (found.stage, [one.detail for one in found.problems][:1]) == ("scan", ["trailing comma"])
    assert len(found.values[0]) == len(entries)


def test_a_failure_of_json_repair_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("json_repair.loads", lambda *_, **__: 1 / 0)
    found = find_json('{"n": 1 "a": 2}', n_objects)
    assert (found.values, found.problems[0]) == (({"n": 1},), Problem("not_repaired", '{"n": 1 "a": 2}'))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=200)
PIECES = st.lists(st.sampled_from(CASES["PIECES"]), max_size=40).map("".join)


@given(VALUES, st.booleans())
def test_prose_around_changes_nothing(value: Any, ascii_only: bool) -> None:
    wrapped = {"n": value}
    dumped = json.dumps(wrapped, ensure_ascii=ascii_only)
    assert find_json(dumped, n_objects).values == (wrapped,)
    around = find_json(f"It is: {dumped} indeed [1].", n_objects)
    assert (around.values, around.stage) == ((wrapped,), "scan")


@given(st.lists(st.fixed_dictionaries({"n": VALUES}), min_size=1, max_size=4), st.data())
def test_a_cut_keeps_whole_entries_and_nothing_else(entries: list[Any], data: st.DataObject) -> None:
    dumped = json.dumps(entries)
    found = find_json(dumped[: data.draw(st.integers(0, len(dumped) - 1))], n_objects)
    kept = found.values[0] if found.values else []
    assert kept == entries[: len(kept)]
    assert "repaired_json" not in [noted.kind for noted in found.problems]


@given(ANY_TEXT | PIECES)
def test_never_raises(text: str) -> None:
    for weigh in (n_objects, lambda value: 1):
        found = find_json(text, weigh)
        assert (found.stage == "none") == (not found.values)
        assert {noted.kind for noted in found.problems} <= set(JSON_PROBLEM_KINDS)
        for noted in found.problems:
            noted.detail.encode("utf-8")
    assert is_whole_json(text, lambda value: True) in (True, False)


def find(text: str) -> object:
    return find_json(text, n_objects)


def test_the_place_of_a_value_is_where_it_stands_in_the_answer():
    text = '<think>[{"n": 0}]</think>A: [{"n": 1}] and\n```json\n[{"n": 2}]\n```\n```\nB: {"n": 3}, {"n": 4}\n```'
    answer = strip_thinking(text).text
    found = find_json(text, n_objects)
    assert [answer[start:end].strip() for start, end in found.places] == ['[{"n": 2}]', '{"n": 3}', '{"n": 4}']
    found = find_json(answer.split("```")[0], n_objects)
    assert [answer[start:end] for start, end in found.places] == ['[{"n": 1}]']
    assert find_json('{"n": 1}\n{"n": 2}', n_objects).places == ((0, 8), (9, 17))
    for text in ('[{"n": 1}]', "[{“n”: 1}]", '[{"n": 1}, {'):
        found = find_json(text, n_objects)
        assert len(found.places) == len(found.values) and set(found.places) == {(0, len(text))}, text


def test_a_whole_number_is_exact_up_to_640_digits():
    notes: dict[Problem, None] = {}
    assert number_of("1" * 640, notes) == int("1" * 640) and not notes
    assert number_of("1" * 641, notes) == math.inf and [note.kind for note in notes] == ["non_finite"]


def test_what_a_problem_shows_is_cut():
    assert [problem("no_json", "a" * n).detail for n in (80, 81)] == ["a" * 80, "a" * 79 + "…"]
