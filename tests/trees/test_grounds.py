"""Grounded values: what is taken off an answer, what a quote holds, the laws, and an oracle that tries everything."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from benchmarks.tree_peers import quoted_table
from tests.conftest import ROOT
from tests.harness_parts import run_here
from tests.made_runs import make_run
from tests.trees import slow_grounds as slow
from tls_tasks.cli import main
from tls_tasks.core.errors import InputError
from tls_tasks.trees.grounds import can_be_read
from tls_tasks.trees.plan import make_plan
from tls_tasks.trees.rows import read_quoted
from tls_tasks.trees.score import KEYS, VALUE_KEYS
from tls_tasks.trees.tree_eval import tree_eval

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
SCHEMA = {
    "name": "string", "n": "number", "day": "date", "kind": ["red", "blue"], "tags": ["string"],
    "lines": [{"sku": "string", "qty": "integer"}],
}  # fmt: skip
SOURCE = "Red 7 and blue 8.5, on 3 May 2024. Redder 70 came on 4 May 2024."
QUOTES = ["Red 7", "and blue 8.5", "3 May 2024", "Redder 70 came on 4 May 2024", "Red 7 and 4 May 2024", "green"]
POOLS = {
    "name": ["Red", "Redder", "blue"],
    "n": [7, 8.5, 70],
    "day": ["2024-05-03", "2024-05-04"],
    "kind": ["red", "blue"],
}
POOLS |= {"tags": ["Red", "Redder"], "sku": ["Red", "blue"], "qty": [7, 70]}


def leaf(key, quotes, *others):
    value = st.sampled_from([*others, *POOLS[key]])
    return value if quotes is None else st.fixed_dictionaries({"value": value, "quote": quotes})


def trees(quotes=None):
    """Trees of the schema; with quotes, those of predictions."""
    line = st.fixed_dictionaries({key: leaf(key, quotes, None) for key in ("sku", "qty")})
    lists = {"tags": st.lists(leaf("tags", quotes), max_size=4), "lines": st.lists(line, max_size=4)}
    return st.fixed_dictionaries({**{key: leaf(key, quotes, None) for key in ("name", "n", "day", "kind")}, **lists})


PREDICTIONS = trees(st.sampled_from([None, *QUOTES]))


def grounded(prediction, reference, source=SOURCE, schema=SCHEMA):
    return tree_eval([prediction], [reference], schema, sources=[source])


def is_below(left, right):
    return left <= right or math.isnan(right)


@given(trees(), PREDICTIONS)
def test_the_slow_way_gives_the_same(reference, prediction):
    alignments = tree_eval([slow.bare(prediction)], [reference], SCHEMA).items[0].alignments
    unit = grounded(prediction, reference).units[0]
    hits, n_empty, n_filled = slow.grounded(reference, prediction, SOURCE, alignments)
    assert unit["grounded_hits"] == pytest.approx(hits, abs=1e-12)
    assert (unit["left_empty"], unit["filled"]) == (n_empty, n_filled)
    leaves = [own for key in ("name", "n", "day", "kind") for own in [prediction[key]]]
    leaves += [*prediction["tags"], *(own for line in prediction["lines"] for own in line.values())]
    quotes = [own["quote"] for own in leaves if own["value"] is not None and own["quote"]]
    assert (unit["quoted"], unit["quote_found"]) == (len(quotes), sum(quote in SOURCE for quote in quotes))


# --- laws ---


@given(trees(), PREDICTIONS)
def test_laws(reference, prediction):
    score, plain = grounded(prediction, reference), tree_eval([slow.bare(prediction)], [reference], SCHEMA)
    for key in ("f1_value", "f1_value_exact", "f1_node", "treeval_score"):  # a quote never changes them
        assert score[key] == plain[key] or math.isnan(plain[key])
    for part in ("precision", "recall", "f1"):
        assert is_below(score[f"grounded_{part}"], score[f"{part}_value"])
    has_value = score.units[0]["value_wanted"] > 0
    assert grounded({}, reference).grounded_f1 == 0 if has_value else math.isnan(grounded({}, reference).grounded_f1)
    without = json.loads(json.dumps(prediction).replace('"green"', "null"))
    assert is_below(score.grounded_f1, grounded(without, reference).grounded_f1)


@given(st.lists(st.sampled_from(QUOTES), max_size=6), st.integers(0, 4))
def test_of_equal_items_the_grounded_ones_are_matched_first(quotes, n):
    score = grounded([{"value": "Red", "quote": quote} for quote in quotes], ["Red"] * n, schema=["string"])
    assert score.units[0]["grounded_hits"] == min(n, sum(quote in SOURCE and "Red" in quote for quote in quotes))


def test_lists_within_equal_items_are_matched_before_their_grounds_count():
    given = [{"b": [{"value": own, "quote": quote} for own in ("Red", "blue")]} for quote in (None, "Red 7")]
    wanted = {"a": [{"b": ["zz"]}, {"b": ["blue", "Red"]}]}
    assert grounded({"a": given}, wanted, schema={"a": [{"b": ["string"]}]}).units[0]["grounded_hits"] == 1


# --- readings ---


@pytest.mark.parametrize(("kind", "value", "quote", "expected"), CASES["readings"])
def test_what_can_be_read_from_a_quote(kind, value, quote, expected):
    kind = {"type": "object", "properties": {"a": kind}} if isinstance(kind, dict) else {"a": kind}
    plan = make_plan(kind)
    assert can_be_read(plan, plan.fields[0], value, quote) is expected


def test_a_leaf_is_read_by_its_own_metric():
    for options, expected in (({}, False), ({"day_month": "day_first"}, True)):
        plan = make_plan({"a": "date"}, **options)
        assert can_be_read(plan, plan.fields[0], "2024-02-01", "on 01/02/2024") is expected
    plan = make_plan({"a": "number"}, leaf_metrics={"a": {"metric": "exact_match", "tolerance": 0.1}})
    assert can_be_read(plan, plan.fields[0], 12.5, "about 12.55")


@pytest.mark.parametrize(("schema", "given", "value", "quotes"), CASES["unwrapped"])
@pytest.mark.parametrize("form", [lambda given: given, lambda given: f"Here:\n```json\n{json.dumps(given)}\n```"])
def test_quotes_are_taken_off_where_they_can_only_be_quotes(form, schema, given, value, quotes):
    root = make_plan(schema).root
    parsed = read_quoted(form(given), 0, root, "lenient", True, lambda field, value, quote: quote)
    assert parsed.value == value
    assert json.loads(json.dumps(parsed.grounds)) == quotes


def test_keys_of_another_style_stay_as_they_are_beside_quotes():
    told = {"answer": {"The Name": "x"}, "quotes": {}}
    assert read_quoted(told, 0, make_plan({"the_name": "string"}).root, "lenient", False, min).value == told["answer"]


# --- results ---


def test_what_is_filled_where_the_reference_has_nothing():
    schema = {"a": "string", "b": "string", "tags": ["string"], "seller": {"city": "string", "vat": "string"}}
    schema["lines"] = [{"sku": "string", "n": "integer"}]
    reference = {"a": None, "tags": [], "seller": None, "lines": [{"sku": "Red"}, {"sku": "blue", "n": 7}]}
    told = {"a": {"value": "x", "quote": "green"}, "tags": ["y", "z"], "seller": {"vat": "v"}}
    told["lines"] = [{"sku": "Red", "n": 7}, {"sku": "blue", "n": 7}, {"sku": "invented", "n": 9}]
    score = grounded(told, reference, schema=schema)  # fields: a, b, tags, seller.city, seller.vat, lines[0].n
    assert (score.fabricated, score.fabricated_quoted) == (4 / 6, 1 / 6)
    assert math.isnan(grounded({"a": "x"}, {"a": "x"}, schema={"a": "string"}).fabricated)
    assert math.isnan(grounded({"a": "x"}, {"a": "x"}, schema={"a": "string"}).quote_in_source)


def test_differences_name_right_values_without_grounds():
    told = {"name": {"value": "Red", "quote": "green"}, "n": {"value": 7, "quote": "Red 7"}, "kind": "red"}
    found = grounded(told, {"name": "Red", "n": 7, "kind": "blue"}).differences()
    assert [(own["path"], own["kind"], own["score"]) for own in found] == [
        ("$.name", "ungrounded", 0.0), ("$.kind", "wrong", 0.0)
    ]  # fmt: skip


def test_without_sources_quotes_are_ignored():
    told = {"name": {"value": "Red", "quote": "green"}}
    for sources in (None, [None]):
        score = tree_eval([told], [{"name": "Red"}], SCHEMA, sources=sources)
        assert score.f1_value == 1 and "grounded_f1" not in score.as_dict()
        assert score.problems == {0: {"leaf_object": 1}} and score.as_dict()["type_errors"] == 1
        assert "quotes" not in score.signature and "quoted" not in score.units[0]
    assert "|quotes:yes|" in grounded(told, {"name": "Red"}).signature


OBJECTS = [
    {"name": {"value": "Red", "quote": "Red 7", "confidence": 0.9}, "tags": [{"value": "x", "page": 1}, "y"]},
    {"name": {"value": "Red", "confidence": None}, "lines": [{"sku": {"value": "Re", "score": {"a": 1}}, "qty": 7}]},
    {"name": {"value": ["Red"], "unit": "kg"}},
    {"name": {"value": None, "unit": "kg"}, "n": {"value": "7.0", "unit": "kg"}, "day": {"value": "3.5.2024", "x": []}},
    {"name": {"text": "Red", "confidence": 0.9}},
]


@pytest.mark.parametrize("prediction", OBJECTS)
@pytest.mark.parametrize("sources", [None, [SOURCE]])
def test_a_leaf_that_is_an_object_by_mistake_has_its_value(prediction, sources):
    """In the scores of values; what the guide and treeval's program define stays, and grounds go with the value."""
    reference = {"name": "Red", "n": 7, "day": "2024-05-03", "tags": ["x", "y"], "lines": [{"sku": "Red", "qty": 7}]}
    plain = {key: own["value"] if isinstance(own, dict) and "value" in own else own for key, own in prediction.items()}
    plain |= {"tags": ["x", "y"]} if "tags" in plain else {}
    plain |= {"lines": [{"sku": "Re", "qty": 7}]} if "lines" in plain else {}
    score = tree_eval([prediction], [reference], SCHEMA, sources=sources)
    expected = tree_eval([plain], [reference], SCHEMA)
    assert {key: score.results[key] for key in VALUE_KEYS} == {key: expected.results[key] for key in VALUE_KEYS}
    assert sources or score.differences() == expected.differences()
    assert score.problems == ({} if prediction is OBJECTS[-1] else {0: {"leaf_object": 1}})
    assert not sources or score.units[0]["grounded_hits"] == (prediction is OBJECTS[0])
    unlike = json.loads(json.dumps(prediction).replace('"value"', '"val"'))
    other = tree_eval([unlike], [reference], SCHEMA, sources=sources)
    assert {key: score.results[key] for key in KEYS} == {key: other.results[key] for key in KEYS}
    assert score.as_dict()["type_errors"] == other.as_dict()["type_errors"] > 0
    if sources is None:
        both = [tree_eval([tree], [reference], SCHEMA, compat="treeval") for tree in (prediction, unlike)]
        assert both[0].results == both[1].results and not both[0].problems


def test_means_and_intervals_have_them():
    rows = [{"name": {"value": "Red", "quote": quote}} for quote in ("Red 7", "green", "green")]
    score = tree_eval(rows, [{"name": "Red"}] * 3, SCHEMA, sources=[SOURCE] * 3, confidence_interval=0.9)
    assert score.grounded_f1 == pytest.approx(1 / 3) and "grounded_f1_ci" in score.as_dict()
    assert score.definitions["fabricated"].better is False


def test_the_table_of_the_docs_is_todays():
    """Our columns of it: the peers may not be installed."""
    told = (ROOT / "docs" / "developing" / "tree_eval_options.md").read_text(encoding="utf-8").splitlines()
    shown = [line.split(" | ")[:7] for line in told]
    lines = quoted_table()
    assert len(lines) == 14 and all(line.split(" | ")[:7] in shown for line in lines)


def test_the_baseline_runs_in_the_harness_and_is_drawn(task_manager):
    """With examples; its grounded F1 is that of the README, and the picture has value, quote and place."""
    pytest.importorskip("lm_eval")
    from tls_tasks.hosts.models import RulesLM

    run = run_here(task_manager, ["tree_grounded"], RulesLM(), num_fewshot=1)
    result, sample = run["results"]["tree_grounded"], run["samples"]["tree_grounded"][0]
    assert f"{result['grounded_f1,none']:.2f}" == "0.25" and f"{result['fabricated,none']:.0%}" == "24%"
    assert sample["arguments"][0][0].count('"quote": "It weighs 2.4 kg."') == 1
    task, (answer,) = tls_tasks.task("tree_grounded"), sample["filtered_resps"]
    drawn = task.picture(sample["doc"], answer, {})
    quotes = [row[6] for row in drawn["rows"] if row[6]]
    assert quotes and all(holds and sample["doc"]["text"][slice(*place)] == quote for quote, holds, place in quotes)
    assert [piece for piece, mark in drawn["source"] if mark == "hit"]
    assert "".join(piece for piece, _ in drawn["source"]) == sample["doc"]["text"]


def test_the_page_shows_value_quote_and_place(open_page, tmp_path):
    pytest.importorskip("lm_eval")
    from tls_tasks.hosts.models import RulesLM

    text, quote = tls_tasks.task("tree_grounded").documents()[0]["text"], "Total GBP 342.30"
    told = {"currency": {"value": "GBP", "quote": quote}, "total": {"value": 342.3, "quote": "green"}}
    model = RulesLM()
    model.answer = lambda prompt: json.dumps(told)
    make_run(tmp_path / "run", model, ["tree_grounded"], limit=1)
    assert main(["page", str(tmp_path / "run"), "-o", str(tmp_path / "page.html")]) == 0
    opened = open_page(tmp_path / "page.html")
    start = text.index(quote)
    places = [f"“{quote}” characters {start} to {start + len(quote)}", "“green” not in the document"]
    assert opened.page.locator(".tree .quote").all_inner_texts() == places and not opened.errors
    opened.page.locator("summary:has-text('The document')").press("Enter")
    assert opened.page.locator(".prose mark.hit").all_inner_texts() == [quote]


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        (["x", None], {}, r"sources\[1\]: got None, expected a str"),
        (["x"], {}, "sources: got length 1, expected 2, as many as predictions"),
        (["x", "y"], {"compat": "treeval"}, "sources: got texts with compat='treeval'"),
    ],
)
def test_sources_that_dont_fit(sources, options, message):
    with pytest.raises(InputError, match=message):
        tls_tasks.tree_eval([{}, {}], [{"name": "x"}] * 2, SCHEMA, sources=sources, **options)
