"""How far metrics agree with people, and people with each other: tls_tasks.meta, and the command."""

import gzip
import itertools
import json
import math
import random
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from tests.cli import conftest
from tests.cli.conftest import write
from tests.made_runs import make_run, with_noise
from tls_tasks.after.meta import LEVELS, STATISTICS, SWAPS, meta, references_among_themselves
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.timelines.public_files import _references

run, refused = partial(conftest.run, "meta"), partial(conftest.refused, "meta")


def table(rows):
    """System -> id -> value, without what is None; a list a system."""
    return {f"s{s}": {f"d{d}": v for d, v in enumerate(row) if v is not None} for s, row in enumerate(rows)}


def rated(rows, **more):
    return [{"system": s, "id": d, "rating": v, **more} for s, own in table(rows).items() for d, v in own.items()]


def one(scores, people, **options):
    [aspect] = meta(table(scores), rated(people), **{"n_resamples": 1, **options})["aspects"].values()
    return aspect["metrics"]["score"]


def same(found, expected):
    return found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_tau_and_pearson_are_scipys():
    """On 1,000 tables, with ties; where scipy has no value there is none here."""
    from scipy.stats import kendalltau, pearsonr

    draw = random.Random(1)
    for _ in range(1000):
        n, width, most = draw.randint(3, 7), draw.randint(1, 5), draw.choice((1, 3, 100))
        scores, people = ([[draw.randint(0, most) for _ in range(width)] for _ in range(n)] for _ in "ab")
        found = one(scores, people)
        sums = [list(map(sum, rows)) for rows in (scores, people)]
        columns = [list(zip(*rows, strict=True)) for rows in (scores, people)]
        taus = [kendalltau(*pair).statistic for pair in zip(*columns, strict=True)]
        defined = [tau for tau in taus if not math.isnan(tau)]
        assert same(found["by_system"]["tau_b"], kendalltau(*sums).statistic)
        assert same(found["by_document"]["tau_b"], sum(defined) / len(defined) if defined else math.nan)
        assert found["counts"]["documents without an order"] == width - len(defined)
        if len(set(sums[0])) > 1 < len(set(sums[1])):
            assert found["by_system"]["pearson"] == pytest.approx(pearsonr(*sums).statistic, abs=1e-9)


CELLS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.tuples(*[st.sampled_from([None, 0.1, 0.105, 0.2, 0.9])] * 2), min_size=width, max_size=width),
        min_size=2,
        max_size=5,
    )
)


@given(CELLS)
def test_it_is_what_the_slow_obvious_version_gives(cells):
    scores, people = ([[cell[side] for cell in row] for row in cells] for side in (0, 1))
    if not any(value is not None for row in scores for value in row) or not any(map(any, people)):
        return
    if any(p is not None and all(row[d] is None for row in scores) for r in people for d, p in enumerate(r)):
        return  # a rating of what is no document
    if any(any(own) and not any(v is not None for v in row) for own, row in zip(people, scores, strict=True)):
        return  # or no system
    found = one(scores, people)
    both = [[cell if None not in cell else None for cell in row] for row in cells]
    means = [[math.fsum(side) / len(side) for side in zip(*there, strict=True)]
             for row in both if (there := [cell for cell in row if cell])]  # fmt: skip
    by_document = [[cell for cell in column if cell] for column in zip(*both, strict=True)]
    expected = slow(means) if len(means) > 2 else (math.nan, math.nan)
    assert same([found["by_system"][name] for name in ("tau_b", "pairwise_accuracy")], list(expected))
    for name, values in zip(("tau_b", "pairwise_accuracy"), zip(*map(slow, by_document), strict=True), strict=True):
        defined = [value for value in values if not math.isnan(value)]
        assert same(found["by_document"][name], sum(defined) / len(defined) if defined else math.nan)
    assert [(row["pairs"], row["in_peoples_order"]) for row in found["near"]] == slow_near(means)
    lacking = [
        sum(cell[side] is None and cell[1 - side] is not None for row in cells for cell in row) for side in (1, 0)
    ]
    counts = found["counts"]
    assert [counts["answers without a rating"], counts["ratings without a score"]] == lacking


def order(left, right):
    """-1, 0 or 1; what only rounding tells apart is a tie."""
    return 0 if math.isclose(left, right, rel_tol=1e-9) else (left > right) - (left < right)


def slow(pairs):
    """Tau-b and pairwise accuracy of (score, rating) pairs."""
    signs = [(order(a, c), order(b, d)) for (a, b), (c, d) in itertools.combinations(pairs, 2)]
    by_score, by_people = sum(x != 0 for x, _ in signs), sum(y != 0 for _, y in signs)
    tau = sum(x * y for x, y in signs) / math.sqrt(by_score * by_people) if by_score and by_people else math.nan
    right = sum(1 if x == y else 0.5 if x == 0 else 0 for x, y in signs if y)
    return tau, right / by_people if by_people else math.nan


def slow_near(pairs):
    rows = [[0, 0], [0, 0], [0, 0]]
    for (a, b), (c, d) in itertools.combinations(pairs, 2):
        gap = round(abs(a - c), 9)
        if order(b, d):
            row = rows[0 if gap < 0.01 else 1 if gap < 0.02 else 2]
            row[0] += 1
            row[1] += 0.5 if order(a, c) == 0 else order(a, c) == order(b, d)
    return [tuple(row) for row in rows]


# tau by system and by document, pairs of systems in people's order, as the study measured them by other code.
SUMMEVAL = {
    "default, 1": (0.576, 0.170, None),
    "default, 11": (0.667, 0.209, None),
    "stems, 1": (0.576, 0.169, [(12, 5), (12, 8), (42, 39)]),
    "stems, 11": (0.727, 0.220, None),
}


def test_summeval(shared):
    """1,200 answers of 12 systems on 100 documents, experts' relevance."""
    sample = json.loads(gzip.decompress((shared / "data/people/summeval_sample.json.gz").read_bytes()))
    rows, scores = sample["rows"], {}
    for name in SUMMEVAL:
        references = [sample["references"][row["id"]][: int(name.split()[1])] for row in rows]
        options = {"tokenizer": "rouge", "use_stemmer": True} if name.startswith("stems") else {}
        values = tls_tasks.rouge_l([row["decoded"] for row in rows], references, use_aggregator=False, **options)
        for row, value in zip(rows, values.as_dict()["rouge_l_f1"], strict=True):
            scores.setdefault(row["model"], {}).setdefault(row["id"], {})[name] = value
    people = [{"system": row["model"], "id": row["id"], "rating": row["relevance"]} for row in rows]
    found = tls_tasks.meta(scores, people, n_resamples=2000)["aspects"]["rating"]
    for name, (by_system, by_document, near) in SUMMEVAL.items():
        own = found["metrics"][name]
        assert [round(own[level]["tau_b"], 3) for level in LEVELS] == [by_system, by_document]
        assert near is None or [(row["pairs"], row["in_peoples_order"]) for row in own["near"]] == near
    low, high = found["metrics"]["default, 1"]["by_system"]["tau_b_ci"]
    assert low == pytest.approx(0.08, abs=0.06) and high == pytest.approx(0.93, abs=0.03)  # drawn by another generator


def test_intervals_and_tests_are_those_of_a_slow_version():
    """BOOT-BOTH, PERM-SYSTEMS and PERM-BOTH by scipy's tau and by another generator; nlpstats gives the same."""
    from scipy.stats import kendalltau

    draw = np.random.default_rng(5)
    people = draw.integers(1, 6, (6, 12)).astype(float)
    good, bad = people + draw.normal(0, 2, people.shape), people * 0.1 - np.exp(draw.normal(0, 1, people.shape))
    scores = {s: {d: {"good": good[s, d], "bad": bad[s, d]} for d in range(12)} for s in range(6)}
    rows = [{"system": s, "id": d, "rating": people[s, d]} for s in range(6) for d in range(12)]
    by_swap = {swap: meta(scores, rows, n_resamples=1000, swap=swap)["aspects"]["rating"] for swap in SWAPS}
    found = by_swap["systems"]
    back = {s: dict(reversed(own.items())) for s, own in reversed(scores.items())}
    assert meta(back, rows[::-1], n_resamples=1000)["aspects"]["rating"] == found, "no order of arguments counts"

    def levels(own, wanted):
        taus = [kendalltau(*pair).statistic for pair in zip(own.T, wanted.T, strict=True)]
        return [kendalltau(own.mean(axis=1), wanted.mean(axis=1)).statistic, np.nanmean(taus)]

    drawn = [np.ix_(draw.integers(0, 6, 6), draw.integers(0, 12, 12)) for _ in range(400)]
    expected = np.nanquantile([levels(good[cells], people[cells]) for cells in drawn], [0.025, 0.975], axis=0)
    for place, level in enumerate(LEVELS):
        assert found["metrics"]["good"][level]["tau_b_ci"] == pytest.approx(expected[:, place], abs=0.09)
    observed = np.subtract(levels(good, people), levels(bad, people))
    first, second = ((own - own.mean()) / own.std() for own in (good, bad))
    cells, systems = [draw.random(people.shape) < 0.5 for _ in range(400)], itertools.product((False, True), repeat=6)
    for swap, masks in (("cells", cells), ("systems", [np.array(mask)[:, None] for mask in systems])):
        sides = ((np.where(mask, second, first), np.where(mask, first, second)) for mask in masks)
        gaps = [np.subtract(*(levels(own, people) for own in pair)) for pair in sides]
        p_values, tolerance = (np.abs(gaps) >= np.abs(observed) - 1e-12).mean(axis=0), 0.06 * (swap == "cells")
        for place, level in enumerate(LEVELS):
            gap, p_value = (by_swap[swap]["tests"][0][name][level]["tau_b"] for name in ("difference", "p_value"))
            assert same(gap, observed[place]) and p_value == pytest.approx(p_values[place], abs=tolerance + 1e-12)


def test_few_systems_have_no_interval_and_fewer_no_value():
    """By system; by document two systems have an order."""
    people = [[1, 2, 3, 4], [2, 1, 4, 5], [3, 3, 5, 1], [4, 5, 1, 2], [5, 4, 2, 3]]
    found = {n: one(people[:n], people[:n], n_resamples=200) for n in (2, 4, 5)}
    assert [math.isnan(found[n]["by_system"]["tau_b"]) for n in (2, 4, 5)] == [True, False, False]
    assert [found[n]["by_system"]["tau_b_ci"] is None for n in (2, 4, 5)] == [True, True, False]
    assert all(found[n]["by_document"][name] == 1 for n in found for name in STATISTICS)
    drawn = found[5]["by_system"]
    assert drawn["tau_b_ci"] == [1, 1] and drawn["tau_b_undefined"] < 10  # the same system five times
    assert found[2]["by_document"]["tau_b_undefined"] == pytest.approx(100, abs=25)  # one of two twice: every second


def test_a_metric_that_never_differs_orders_nothing():
    people = [[1, 2], [2, 3], [3, 1]]
    found = meta({s: {d: {"flat": 0.1, "own": v} for d, v in own.items()} for s, own in table(people).items()},
                 rated(people), n_resamples=50)["aspects"]["rating"]  # fmt: skip
    flat = found["metrics"]["flat"]
    assert math.isnan(flat["by_system"]["tau_b"]) and flat["by_document"]["pairwise_accuracy"] == 0.5
    assert flat["by_system"]["tau_b_ci"] is None and flat["by_document"]["pearson_ci"] is None
    assert math.isnan(found["tests"][0]["p_value"]["by_document"]["tau_b"])


def test_where_each_document_has_one_answer_the_answers_of_a_system_are_ordered():
    """As scipy orders them; a document that has two answers to order is ordered by itself alone."""
    from scipy.stats import kendalltau

    scores = [[0.1, 0.5, 0.2, None, None, None], [None, None, None, 0.3, 0.2, 0.9]]
    people = [[1, 2, 3, None, None, None], [None, None, None, 1, 2, 3]]
    taus = [
        kendalltau(own[s:e], of[s:e]).statistic for own, of, s, e in zip(scores, people, (0, 3), (3, 6), strict=True)
    ]
    assert same(one(scores, people)["within_system"]["tau_b"], sum(taus) / 2)
    scores[1][0], people[1][0] = 0.2, 3
    assert "within_system" not in one(scores, people)


def test_raters_are_averaged_and_aspects_kept_apart():
    rows = [*rated([[1], [2], [6]], aspect="fluent", rater="x"), *rated([[3], [2], [0]], aspect="fluent", rater="y"),
            *rated([[5], [3], [1]], aspect="true")]  # fmt: skip
    found = meta(table([[0.1], [0.2], [0.4]]), rows, n_resamples=1)["aspects"]
    assert found["true"]["metrics"]["score"]["by_system"]["tau_b"] == -1
    assert same(found["fluent"]["metrics"]["score"]["by_system"]["tau_b"], 2 / math.sqrt(6))  # means 2, 2, 3


GOOD = {"system": "s0", "id": "d0", "rating": 1}


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([{**GOOD, "system": "s9"}], DataError, "people: no rating is of system 's0'; there are 's9'"),
        ([GOOD, {**GOOD, "id": "d9"}], DataError, r"people\[1\]: no score is of id 'd9'"),
        ([{**GOOD, "rating": "good"}], DataError, "rating: could not convert string to float: 'good'"),
        ([{**GOOD, "rating": True}], DataError, "rating must be a valid number, got bool"),
        ([{"system": "s0", "rating": 1}], DataError, "no field id; there are system, rating"),
        ([{**GOOD, "rating": ""}], InputError, "people: got no ratings in rows with the columns system, id, rating"),
        (["s0"], DataError, r"people\[0\]: expected an object, got str"),
    ],
)
def test_ratings_that_cannot_be_used_are_refused(rows, error, said):
    with pytest.raises(error, match=said):
        meta(table([[0.1], [0.2]]), rows)


def test_what_is_not_finite_is_no_score():
    with pytest.raises(InputError, match="scores: got no score, expected system -> document id"):
        meta({"s0": {}}, [GOOD])
    counts = one([[math.inf, 1, 2], [2, 3, 1]], [[1, 2, math.inf], [2, 1, 3]])["counts"]
    assert [counts[name] for name in ("answers", "answers without a rating", "ratings without a score")] == [4, 1, 1]


# The command


@pytest.fixture
def rows(tmp_path):
    """Five systems' rows with two metrics, and a file of ratings that has one cell empty and lacks one."""
    for place in range(5):
        own = [{"id": f"q{d}", "exact": 10 * place + d, "gain": place / 9} for d in range(3)]
        write(tmp_path / f"s{place}.jsonl", *own)
    lines = [f"s{place},q{d},{place * 2 + d}" for place in range(5) for d in range(3)]
    people = write(tmp_path / "people.csv", "system,id,rating", "s0,q0,", *lines[2:])
    return [f"s{place}={tmp_path / f's{place}.jsonl'}" for place in range(5)], people


def test_the_command_prints_a_table_and_json(rows, capsys):
    systems, people = rows
    options = ("--people", people, "--metric", "exact", "--metric", "gain")
    code, out, err = run(capsys, *systems, *options)
    assert (code, err) == (0, "")
    assert out.splitlines()[:7] == [
        "people's rating (5 systems, 3 documents)  exact              gain",
        "by system                                 1.00 [1.00, 1.00]  1.00 [1.00, 1.00]",
        "by document                               1.00 [1.00, 1.00]  1.00 [1.00, 1.00]",
        "in people's order, .02 or more apart      10 of 10 pairs     10 of 10 pairs",
        "left out: answers without a rating: 2",
        "tau of exact less that of gain: by system +0.00 (p 1), by document +0.00 (p 1)",
        "",
    ]
    assert "p: whole systems swapped: of systems like these, on these documents; 5 systems can give none" in out
    assert "p: cells swapped: on these systems" in run(capsys, *systems, *options, "--swap", "cells")[1]
    people.write_text(people.read_text("utf-8").replace(",", ";"), encoding="utf-8")  # as some spreadsheets save it
    found = json.loads(run(capsys, *systems, *options, "--json")[1])["aspects"]["rating"]
    assert set(found["metrics"]) == {"exact", "gain"} and len(found["tests"]) == 1
    for own in found["metrics"].values():
        assert own["by_system"]["tau_b"] == own["by_document"]["tau_b"] == 1
        assert own["counts"]["answers"] == 13 and own["counts"]["answers without a rating"] == 2
        assert own["near"][2] == {"from": 0.02, "to": None, "pairs": 10, "in_peoples_order": 10}


def test_mistakes_on_the_command_line(rows, capsys, tmp_path):
    systems, people = rows
    given = ("--people", people)
    refused(capsys, systems[0], systems[0], *given, said="LABEL=RUN, each label once")
    refused(capsys, "out/run", *given, said="got 'out/run', expected LABEL=RUN")
    refused(capsys, *systems, *given, "--metric", "exakt", said="--metric of s0: got 'exakt', expected one of 'exact'")
    refused(capsys, *systems[1:], f"S0={systems[0][3:]}", *given, said="is of system 'S0'; there are 's0'")
    assert run(capsys, *systems[2:], *given, "--metric", "gain")[0] == 0, "people may have rated more systems"
    twice = write(tmp_path / "twice.jsonl", {"id": "q0", "exact": 1}, {"id": "q0", "exact": 2})
    code, _, err = run(capsys, *systems, f"t={twice}", *given)
    assert code == 1 and "twice.jsonl:2" in err


@pytest.fixture(scope="module")
def lead_runs(tmp_path_factory):
    pytest.importorskip("lm_eval")
    from tls_tasks.hosts.models import LeadLM

    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "base", LeadLM(), ["summ_dialogsum", "summ_qmsum"])
    make_run(folder / "noisy", with_noise(LeadLM(), 2), ["summ_dialogsum", "summ_qmsum"])
    return folder


def test_runs_of_the_harness_by_their_headline(lead_runs, tmp_path, capsys):
    ids = [doc["doc_id"] for doc in tls_tasks.task("summ_dialogsum").documents(edition="embedded")]
    people = write(
        tmp_path / "people.jsonl", *({"system": s, "id": d, "rating": r} for s, r in (("a", 4), ("b", 2)) for d in ids)
    )
    runs = [f"a={lead_runs / 'base'}", f"b={lead_runs / 'noisy'}"]
    refused(
        capsys,
        *runs,
        "--people",
        people,
        said="--task: got nothing, expected the one that people rated, of summ_dialogsum, summ_qmsum",
    )
    code, out, _ = run(capsys, *runs, "--people", people, "--task", "summ_dialogsum", "--json")
    [(metric, own)] = json.loads(out)["aspects"]["rating"]["metrics"].items()
    assert (code, metric, own["counts"]["answers"]) == (0, "rouge_l_f1", 2 * len(ids))
    assert own["by_system"]["tau_b"] is None and own["by_document"]["pairwise_accuracy"] > 0.5


# References among themselves


def test_references_of_a_document_are_scored_against_each_other(tmp_path, capsys):
    """By hand: "a b" of "a b c d" has P 1 and R 1/2, the other way round P 1/2 and R 1: over both P = R = F = 3/4."""
    rows = [{"id": "x", "text": "t", "references": ["a b", "a b c d"]}, {"id": "y", "text": "t", "references": ["e"]}]
    data = write(tmp_path / "own.jsonl", *rows)
    found = references_among_themselves("summ_custom", data=str(data))
    assert (found["left_out"], found["all"]["n"], list(found["topics"])) == (1, 2, ["x"])
    assert [found["all"][f"rouge_l_{name}"] for name in ("precision", "recall")] == [0.75, 0.75]
    assert found["mean_of_topics"]["rouge_l_precision"] == found["topics"]["x"]["rouge_l_precision"] == 0.75
    with pytest.raises(DataError, match="summ_custom: each of 1 documents has one reference"):
        references_among_themselves("summ_custom", data=str(write(tmp_path / "one.jsonl", rows[1])))
    with pytest.raises(InputError, match="got report_generation, expected a task whose documents"):
        references_among_themselves("report_generation")


H1N1 = {"ar1_f1": 0.107, "ar2_f1": 0.030, "date_f1": 0.488}
"""Journalists on h1n1 of Timeline17, as the study measured them by other code."""


def test_journalists_on_h1n1(shared, tmp_path, capsys, monkeypatch):
    timelines = list(_references(shared / "data/raw/T17/outputTimelinesh1n1.txt"))
    rows = [[[f"{day.date}T00:00:00", list(day.sentences)] for day in timeline.entries] for timeline in timelines]
    write(tmp_path / "timeline17/h1n1/timelines.jsonl", *rows)
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    found = references_among_themselves("tls_timeline17_closed_book")
    assert (found["left_out"], found["all"]["n"], list(found["topics"])) == (0, 3, ["h1n1"])
    assert {key: round(found["mean_of_topics"][key], 3) for key in H1N1} == H1N1


def test_rewriters_on_crisis(shared, capsys, monkeypatch):
    """Three annotators over the same dates: dates are all shared, AR-1 is .65 to .75."""
    monkeypatch.setenv("TLS_TASKS_DATA", str(shared / "data"))
    found = references_among_themselves("tls_crisis_closed_book")
    assert (found["all"]["n"], found["left_out"], len(found["topics"])) == (12, 0, 4)
    assert all(own["date_f1"] == 1 and 0.65 <= own["ar1_f1"] <= 0.75 for own in found["topics"].values())


def test_scores_of_a_system_are_by_document():
    people = [{"system": "a", "id": "1", "rating": 1}]
    with pytest.raises(InputError, match=r"scores\['a'\]: got list .*, expected a mapping document id -> score"):
        tls_tasks.meta({"a": [0.1]}, people)
