"""The short way of flat trees against the walk that all others take."""

import copy
import dataclasses
import json

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tls_tasks.trees.columns import FEW, Columns, UnsuitedError
from tls_tasks.trees.leaf_metrics import BUILT_IN
from tls_tasks.trees.options import TreeOptions, resolve_options
from tls_tasks.trees.planner import make_plan
from tls_tasks.trees.read import UNREAD
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.score import KEYS, ScoreSettings, TreeScore
from tls_tasks.trees.totals import Walked
from tls_tasks.trees.tree_eval import _walk, tree_eval
from tls_tasks.trees.values import AnyOf

VALUES = {
    "string": st.sampled_from(["", "a", "ab", "ab c", "Café", "cafe\u0301"]),
    "integer": st.sampled_from([0, 1, 2, 10**30]),
    "number": st.sampled_from([0, 1, 1.0, 1.5, -0.0, 1e-9, 10**400]),
    "boolean": st.booleans(),
    "date": st.sampled_from(["2024-02-29", "2024-3-1", "20240301", "2024-W01-1", "2023-02-29", "soon"]),
    "datetime": st.sampled_from(["2024-02-29", "2024-02-29T10:00:00Z", "2024-02-29T25:00", "x"]),
    "isbn": st.sampled_from([1, 1.0, True, "1", ""]),
    "null": st.none(),
    "object": st.just({}),
}
CHOICES = [["red", "green"], [1, 2, 3], [True, "yes", 1]]
UNKNOWN = st.sampled_from([1, None, {"a": 1, "b": [1, {"c": 2}]}, float("nan"), []])
NOTHING = object()


@st.composite
def schemas(draw, depth=0):
    children = {}
    for key in "abcd"[: draw(st.integers(0 if depth else 1, 4))]:
        kind = draw(st.sampled_from([*VALUES, "choice", "branch"]))
        if kind == "branch" and depth < 2:
            children[key] = draw(schemas(depth + 1))
        elif kind == "choice":
            children[key] = {"enum": draw(st.sampled_from(CHOICES))}
        else:
            children[key] = {"format": "date", "type": "string"} if kind == "date" else {"type": kind}
            if kind in ("isbn", "datetime", "branch"):
                children[key] = {"type": "string", "format": "date-time"} if kind == "datetime" else {}
    required = draw(st.sets(st.sampled_from([*children]))) if children else ()
    return {"type": "object", "properties": children, "required": sorted(required)}


@st.composite
def trees(draw, schema, rough):
    """``rough``: how many of ten values are missing, null or something else."""
    tree = {}
    for key, child in schema["properties"].items():
        value = NOTHING
        if draw(st.integers(1, 10)) > rough:
            value = draw(values(child, rough))
        elif draw(st.booleans()):
            value = None
        if value is not NOTHING:
            tree[key] = value
    if rough and draw(st.integers(1, 10)) <= rough:
        tree["unknown"] = draw(UNKNOWN)
    return tree


def values(child, rough):
    if "properties" in child:
        return trees(child, rough)
    if "enum" in child:
        return st.sampled_from([*child["enum"], *(["blue", 4] if rough else [])])
    kind = {"date": "date", "date-time": "datetime"}.get(child.get("format"), child.get("type", "isbn"))
    if rough > 2:
        return st.one_of(VALUES[kind], VALUES[kind], VALUES[kind], VALUES["isbn"], st.just(float("nan")))
    return VALUES[kind]


@st.composite
def cases(draw):
    schema = draw(schemas())
    n = draw(st.sampled_from([1, 1, 2, 5]))
    rough = draw(st.sampled_from([0, 1, 1, 2, 2, 4]))
    references = draw(st.lists(trees(schema, 0 if rough == 1 else rough), min_size=n, max_size=n))
    for tree in references:
        tree.pop("unknown", None)
    predictions = [
        copy.deepcopy(tree) if draw(st.integers(1, 4)) == 1 else draw(trees(schema, rough)) for tree in references
    ]
    return schema, predictions, references


def flat_plan(schema, compat=None, changes=None, **settings):
    return make_plan(read_schema(schema), resolve_options(compat, changes or {}), compat=compat, **settings)


def both_ways(plan, predictions, references):
    """What both ways find; None for the short one if the trees are not for it."""
    before = copy.deepcopy((predictions, references))
    try:
        columns = Columns(plan, predictions, references)
    except UnsuitedError:
        columns = None
    else:
        assert repr(before) == repr((predictions, references))
    return columns, columns and _walk(plan, predictions, references, is_read=False)


SETTINGS = st.fixed_dictionaries(
    {}, optional={"thresholds": st.sampled_from([0, 0.5, 1]), "weights": st.just({"type:string": 2.0})}
)
GAPS = ("missing_nodes", "absent_in_both", "extra_nodes", "branch_leaves", "types")
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        field.name: st.sampled_from(field.metadata["choices"])
        for field in dataclasses.fields(TreeOptions)
        if field.name in (*GAPS, "list_items", "aggregate", "leaf_average", "unscored_branches", "clipping")
    },
)


@given(cases(), st.sampled_from([None, "treeval"]), st.one_of(st.just({}), CHANGES), SETTINGS, st.booleans())
def test_the_short_way_finds_what_the_walk_finds(case, compat, changes, settings, hierarchical):
    schema, predictions, references = case
    if "weights" in settings and "string" not in json.dumps(schema):
        del settings["weights"]
    plan = flat_plan(schema, compat, changes, **settings)
    columns, tally = both_ways(plan, predictions, references)
    event("short" if columns else "long")
    if columns is None:
        return
    tally.update(UNREAD)
    n, score_settings = len(predictions), ScoreSettings("", plan, hierarchical, "thresholds" in settings)
    short = TreeScore(score_settings, n, columns)
    walked = TreeScore(score_settings, n, Walked(plan, n, tally))
    assert short.units == walked.units
    assert short.as_dict(detailed=True) == walked.as_dict(detailed=True)
    assert short.headline == walked.headline == {key: short.as_dict()[key] for key in ("leaves", *KEYS)}


FLAT = {"name": "string", "year": "integer", "price": "number", "key": ["C", "D"], "seller": {"day": "date"}}
TREE = {"name": "a", "year": 1, "price": 1.5, "key": "C", "seller": {"day": "2024-02-29"}}


def with_value(key, value):
    return {**TREE, key: value}


@pytest.mark.parametrize(
    "prediction",
    [
        TREE,
        {},
        with_value("name", None),
        with_value("unknown", {"a": [1, {}]}),
        with_value("key", "E"),
        with_value("price", 2),
        with_value("seller", None),
        with_value("seller", {}),
        with_value("seller", {"day": "soon", "hour": 5}),
    ],
    ids=repr,
)
def test_what_is_missing_or_too_much_goes_the_short_way(prediction):
    columns, tally = both_ways(flat_plan(FLAT), [prediction, TREE], [TREE, TREE])
    for name in {*columns.tally(), *tally} - {*UNREAD}:
        amounts = (np.broadcast_to(one.get(name, 0), (2,)).tolist() for one in (columns.tally(), tally))
        assert next(amounts) == next(amounts), name


@pytest.mark.parametrize(
    ("schema", "prediction", "reference"),
    [
        (FLAT, with_value("name", 5), TREE),
        (FLAT, with_value("year", True), TREE),
        (FLAT, with_value("price", float("nan")), TREE),
        (FLAT, with_value("price", float("-inf")), TREE),
        (FLAT, with_value("seller", [1]), TREE),
        (FLAT, TREE, with_value("name", AnyOf(["a", "b"]))),
        (FLAT, TREE, with_value("unknown", 1)),
        (FLAT, TREE, with_value("year", 1.0)),
        ({"tags": ["string"]}, {"tags": []}, {"tags": []}),
        ("string", {}, {}),
    ],
)
def test_what_needs_a_closer_look_goes_the_long_way(schema, prediction, reference):
    with pytest.raises(UnsuitedError):
        Columns(flat_plan(schema), [prediction], [reference])


def test_metrics_of_others_and_gaps_under_treevals_options_go_the_long_way():
    for plan in (flat_plan({"a": "string"}, leaf_metrics={"type:string": len}), flat_plan({"a": "string"}, "treeval")):
        with pytest.raises(UnsuitedError):
            Columns(plan, [{"a": None}], [{"a": "b"}])
    assert Columns(flat_plan({"a": "string"}, "treeval"), [{"a": "ab"}], [{"a": "b"}])


@pytest.mark.parametrize("n", [1, FEW - 1, FEW, 3 * FEW])
@pytest.mark.parametrize(
    "metric",
    [*BUILT_IN, {"metric": "exact_match", "tolerance": 0.5}, {"metric": "exact_match", "normalize": "lower"}],
    ids=str,
)
def test_every_metric_scores_the_same_on_both_ways(metric, n):
    texts = ["", "a", "the cat", "The cat sat", "2024-02-29", "2024-03-01", "no date", "café"]
    numbers = [0, 1, 1.0, 1.4, -3, 10**20, 1e300, 2]
    references = [{"t": texts[i % 8], "n": numbers[i % 8], "b": i % 3 == 0} for i in range(n)]
    predictions = [{"t": texts[i * 3 % 8], "n": numbers[i * 5 % 8], "b": i % 2 == 0} for i in range(n)]
    plan = flat_plan(
        {"t": "string", "n": "number", "b": "boolean"},
        leaf_metrics=dict.fromkeys(("t", "n", "b"), metric),
        exclusive_metrics=True,
    )
    for given_trees in (predictions, references):
        columns, tally = both_ways(plan, given_trees, references)
        for key in [key for key in tally if key[0] in ("sum", "correct")]:
            short, walked = (np.broadcast_to(one[key], (n,)).tolist() for one in (columns.tally(), tally))
            assert short == walked, key


def test_a_score_is_of_the_trees_as_they_were():
    predictions, references = [copy.deepcopy(TREE)], [copy.deepcopy(TREE)]
    score = tree_eval(predictions, references, FLAT)
    predictions[0]["seller"]["day"] = references[0]["name"] = None
    assert score.as_dict() == tree_eval([TREE], [TREE], FLAT).as_dict() and score.units[0]["node_tp"] == 6
