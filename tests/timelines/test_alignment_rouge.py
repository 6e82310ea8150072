"""alignment_rouge against tilse's own numbers, a slow obvious version, and what must hold whatever the numbers are."""

import datetime
import json
import tracemalloc
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ORACLES, ROOT, SHARED, TIMELINES, read_jsonl, timeline_of
from tests.timelines.slow_alignment_rouge import slow_counts
from tls_tasks.core.errors import InputError, MissingExtraError, OptionError
from tls_tasks.text.rouge155 import NonAsciiWarning, tokenize
from tls_tasks.timelines.alignment import VARIANTS
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.types import Timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

TILSE_NAMES = CASES["TILSE_NAMES"]
OWN_ROWS = read_jsonl(ORACLES / "timelines.jsonl")
SHARED_ORACLE = SHARED / "oracles" / "timelines.jsonl"
ALL_ROWS = read_jsonl(SHARED_ORACLE) if SHARED_ORACLE.exists() else OWN_ROWS


def score_jointly(row, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NonAsciiWarning)  # one row is Chinese on purpose
        return alignment_rouge(
            [timeline_of(row["pred"])], [[timeline_of(rows) for rows in row["refs"]]], reference_mode="joint", **options
        )


def one(prediction, references, **options):
    return alignment_rouge([prediction], [references], **options)


# --- tilse's numbers ---


@pytest.mark.parametrize("row", ALL_ROWS, ids=[row["id"] for row in ALL_ROWS])
def test_every_number_is_tilses(row):
    variants = score_jointly(row).as_dict(detailed=True)["variants"]
    for variant, name in TILSE_NAMES.items():
        expected = row["expected"]["original"][name]
        for n in (1, 2):
            scores = expected.get(f"rouge_{n}")
            if "error" in expected:  # tilse stops: 0.0 by definition, but for the words of a perfect one-word text
                scores = dict.fromkeys(("precision", "recall", "f_score"), 0.0)
                if row["id"] == "edge-one-word" and n == 1:
                    scores = dict.fromkeys(scores, 1.0)
            got = [variants[variant][f"ar{n}_{part}"] for part in ("precision", "recall", "f1")]
            wanted = [scores[part] for part in ("precision", "recall", "f_score")]
            assert got == pytest.approx(wanted, abs=1e-12), (variant, n)


@pytest.mark.parametrize("row", ALL_ROWS, ids=[row["id"] for row in ALL_ROWS])
def test_every_count_is_rouge_155s(row):
    expected = row["concat_counts"]["original"]
    counts = score_jointly(row, variant="concat").items[0].counts
    for n in (1, 2):
        h, p, m = (expected.get(f"rouge_{n}_{letter}_count", 0) for letter in "hpm")
        assert (counts[f"ar{n}"].precision_hits, counts[f"ar{n}"].predicted) == (h, p)
        assert (counts[f"ar{n}"].recall_hits, counts[f"ar{n}"].reference) == (h, m)


def test_the_oracle_covers_what_it_should():
    assert len(OWN_ROWS) == 25
    errors = [row["id"] for row in OWN_ROWS if any("error" in block for block in row["expected"]["original"].values())]
    assert len(errors) == 9


# --- the slow version ---


@given(TIMELINES, st.lists(TIMELINES, min_size=1, max_size=3))
def test_the_fast_way_is_the_slow_way(prediction, references):
    for variant in VARIANTS:
        counts = one(prediction, references, reference_mode="joint", variant=variant).items[0].counts
        for n in (1, 2):
            fast = counts[f"ar{n}"]
            slow = slow_counts(prediction, references, variant, n)
            assert fast.predicted == slow.predicted
            assert fast.reference == slow.reference
            assert fast.precision_hits == pytest.approx(slow.precision_hits, abs=1e-9)
            assert fast.recall_hits == pytest.approx(slow.recall_hits, abs=1e-9)


def test_a_word_without_end_takes_no_more_room_than_its_text():
    text = " ".join(["again"] * 20_000 + [f"word{number}" for number in range(2_000)])
    alignment_rouge([{DAY: [text]}], [{DAY: [text]}])  # what is cached for good
    tracemalloc.start()
    score = alignment_rouge([{DAY: [text]}], [{DAY: [text]}])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert score.as_dict()["ar1_f1"] == 1
    assert peak < 50e6, peak  # a column for each word and each number of times would take 44 million


def test_a_function_weighs_the_alignment_even_if_it_is_our_own():
    rows = [(timeline_of(row["pred"]), [timeline_of(days) for days in row["refs"]]) for row in OWN_ROWS]
    given, wrapped = (
        alignment_rouge(*zip(*rows, strict=True), tokenizer=tokenizer).as_dict()
        for tokenizer in (tokenize, lambda sentence: tokenize(sentence))
    )
    assert {**given, "signature": ""} == {**wrapped, "signature": ""}


# --- what always holds ---


@given(TIMELINES, TIMELINES)
def test_swapping_prediction_and_reference_swaps_precision_and_recall(left, right):
    there, back = (score.as_dict(detailed=True)["variants"] for score in (one(left, right), one(right, left)))
    for variant in ("concat", "agreement", "align+m:1"):  # the one-to-one variants may break ties another way
        for prefix in ("ar1", "ar2"):
            assert there[variant][f"{prefix}_precision"] == pytest.approx(back[variant][f"{prefix}_recall"])
            assert there[variant][f"{prefix}_recall"] == pytest.approx(back[variant][f"{prefix}_precision"])


@given(TIMELINES, TIMELINES)
def test_the_same_reference_twice_changes_nothing(prediction, reference):
    single = one(prediction, [reference]).as_dict()
    for mode in ("joint", "separate"):
        twice = one(prediction, [reference, reference], reference_mode=mode).as_dict()
        assert [twice[key] for key in single if key != "signature"] == pytest.approx(
            [single[key] for key in single if key != "signature"]
        )


@given(TIMELINES, TIMELINES)
def test_sentence_borders_are_irrelevant(prediction, reference):
    joined = Timeline.from_days({entry.date: [" ".join(entry.sentences)] for entry in prediction})
    assert one(joined, reference).as_dict() == one(prediction, reference).as_dict()


# --- the battery of Martschat & Markert: what makes a timeline worse must not make its score better ---

GOLD = timeline_of(CASES["GOLD"])


def drop(timeline):
    return Timeline(timeline.entries[1:])


def add(timeline):
    return Timeline.from_days(
        [*timeline, (datetime.date(2011, 6, 1), ["Bakeries announce cheaper croissants downtown."])]
    )


def merge(timeline):
    (first, one_text), (_, other_text), *rest = timeline.entries
    return Timeline.from_days([(first, one_text + other_text), *rest])


def shift(timeline, days):
    return Timeline.from_days([(day + datetime.timedelta(days=days), text) for day, text in timeline])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_perfect_timeline_scores_1_and_a_date_too_few_costs_recall_and_one_too_many_precision(variant):
    numbers, fewer, more = (
        one(timeline, GOLD, variant=variant).as_dict() for timeline in (GOLD, drop(GOLD), add(GOLD))
    )
    assert [numbers[f"{prefix}_f1"] for prefix in ("ar1", "ar2")] == [1.0, 1.0]
    assert fewer["ar1_precision"] == more["ar1_recall"] == 1.0 > max(fewer["ar1_recall"], more["ar1_precision"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_merging_two_dates_costs_all_but_concat(variant):
    f1 = one(merge(GOLD), GOLD, variant=variant).as_dict()["ar1_f1"]
    assert f1 == 1.0 if variant == "concat" else f1 < 1.0


@pytest.mark.parametrize("variant", VARIANTS)
def test_shifting_dates_costs_all_but_concat_and_more_the_further(variant):
    by_days = [one(shift(GOLD, days), GOLD, variant=variant).as_dict()["ar1_f1"] for days in (0, 1, 40)]
    if variant == "concat":
        assert by_days == [1.0, 1.0, 1.0]
    else:
        assert by_days[0] > by_days[1] >= by_days[2]
        assert (by_days[1] > 0) is (variant != "agreement")


def test_a_perfect_timeline_with_one_text_on_two_dates_is_below_1_under_m1():
    text = ["Talks in Geneva end without a result."]
    twice = Timeline.from_days({datetime.date(2018, 1, 1): text, datetime.date(2018, 2, 1): text})
    assert one(twice, twice).as_dict()["ar1_f1"] < 1.0
    assert one(twice, twice, variant="align+").as_dict()["ar1_f1"] == 1.0


# --- aggregation, references, topics ---

PREDICTIONS = [GOLD, drop(GOLD), shift(GOLD, 1)]
REFERENCES = [[GOLD, drop(GOLD)], [GOLD], [add(GOLD)]]


def test_f_of_means_and_mean_f():
    items = alignment_rouge(PREDICTIONS, REFERENCES).items
    assert [(item.row, item.reference) for item in items] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    precision = sum(item.counts["ar1"].prf().precision for item in items) / 4
    recall = sum(item.counts["ar1"].prf().recall for item in items) / 4
    result = alignment_rouge(PREDICTIONS, REFERENCES).as_dict()
    assert result["ar1_f1"] == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-15)
    mean_f = alignment_rouge(PREDICTIONS, REFERENCES, aggregate="mean_f").as_dict()
    assert mean_f["ar1_f1"] == pytest.approx(sum(item.counts["ar1"].prf().f1 for item in items) / 4, abs=1e-15)
    assert (mean_f["ar1_precision"], mean_f["ar1_recall"]) == (result["ar1_precision"], result["ar1_recall"])


def test_topics_have_one_vote_each():
    score = alignment_rouge(PREDICTIONS, REFERENCES, topics=["egypt", "egypt", "libya"], aggregate="mean_f")
    by_topic = score.as_dict(detailed=True)["topics"]
    f1 = [item.counts["ar1"].prf().f1 for item in score.items]
    assert by_topic["egypt"]["ar1_f1"] == pytest.approx(sum(f1[:3]) / 3)
    assert by_topic["libya"]["ar1_f1"] == pytest.approx(f1[3])
    assert score.as_dict()["ar1_f1"] == pytest.approx((sum(f1[:3]) / 3 + f1[3]) / 2)
    assert "by_topic:yes" in score.signature


def test_joint_references_are_one_item():
    score = alignment_rouge(PREDICTIONS, REFERENCES, reference_mode="joint")
    assert [(item.row, item.reference) for item in score.items] == [(0, None), (1, None), (2, None)]


def test_beta_weighs_recall():
    recall_heavy = one(drop(GOLD), GOLD, beta=2.0)
    numbers = recall_heavy.as_dict()
    precision, recall = numbers["ar1_precision"], numbers["ar1_recall"]
    assert numbers["ar1_f1"] == pytest.approx(5 * precision * recall / (4 * precision + recall))
    assert "beta:2.0" in recall_heavy.signature


def test_an_empty_batch_scores_0():
    assert alignment_rouge([], []).as_dict() == {
        **{f"ar{n}_{part}": 0.0 for n in (1, 2) for part in ("precision", "recall", "f1")},
        "signature": "alignment_rouge|variant:align+m:1|engine:rouge155|refs:separate|agg:f_of_means|v:4",
    }


# --- the detailed result ---


def test_the_alignment_says_which_date_met_which():
    reference = {"2011-01-25": "Protests erupt in Cairo.", "2011-02-11": "Mubarak resigns."}
    item = one({"2011-01-26": "Protests erupt.", "2011-02-11": "Mubarak resigns."}, reference).as_dict(detailed=True)
    alignment = item["items"][0]["alignment"]
    assert alignment["precision"] == [
        {"predicted": "2011-01-26", "reference": "2011-01-25", "weight": 0.5, "hits": 2.0},
        {"predicted": "2011-02-11", "reference": "2011-02-11", "weight": 1.0, "hits": 2.0},
    ]
    assert [pair["reference"] for pair in alignment["recall"]] == ["2011-01-25", "2011-02-11"]
    assert one({}, reference, variant="concat").as_dict(detailed=True)["items"][0]["alignment"] is None


def test_a_reference_given_five_times_narrows_no_interval():
    once = alignment_rouge(PREDICTIONS, REFERENCES)
    often = alignment_rouge(PREDICTIONS, [wanted * 5 for wanted in REFERENCES])
    assert len(often.units) == 5 * len(once.units)
    for key, (low, high) in once.intervals().items():
        assert low < once.results[key] < high
        assert often.intervals()[key] == pytest.approx((low, high), abs=1e-12)
        assert often.intervals()[key].n == len(PREDICTIONS)
        assert often.standard_errors()[key] == pytest.approx(once.standard_errors()[key], abs=1e-12)


# --- values by definition, where tilse stops: the table in docs/timelines.md ---

DAY = "2011-01-25"
UNDEFINED = CASES["undefined_values"]


@pytest.mark.parametrize(("prediction", "reference", "flags", "ar1_f1"), UNDEFINED)
@pytest.mark.parametrize("variant", VARIANTS)
def test_undefined_values_are_0_and_flagged(prediction, reference, flags, ar1_f1, variant):
    item = one(prediction, [reference], variant=variant).items[0]
    assert sorted(item.flags) == flags
    assert item.counts["ar1"].prf().f1 == ar1_f1
    assert item.counts["ar2"].prf().f1 == 0.0


def test_every_flag_is_documented():
    text = (ROOT / "docs" / "timelines.md").read_text()
    assert all(f"`{flag}`" in text for _, _, flags, _ in UNDEFINED for flag in flags)


# --- other scripts ---

CHINESE = {DAY: ["开罗爆发抗议，警察施放催泪弹。"]}


def test_the_exact_engine_warns_of_what_it_does_not_see():
    with pytest.warns(NonAsciiWarning, match=r"in 1 of 2 rows .* \(rows \[1\]\): use tokenizer='unicode'"):
        score = alignment_rouge([GOLD, CHINESE], [GOLD, CHINESE])
    assert score.items[1].counts["ar1"].prf().f1 == 0.0
    for n, shown in ((10, "9]"), (11, r"9\] …")):
        with pytest.warns(NonAsciiWarning, match=rf"in {n} of {n} rows .* 8, {shown}\): use"):
            alignment_rouge([CHINESE] * n, [CHINESE] * n)


def test_the_unicode_tokenizer_sees_it():
    score = one(CHINESE, [CHINESE], tokenizer="unicode")
    assert score.as_dict()["ar2_f1"] == 1.0
    assert "tok:unicode" in score.signature


def test_a_tokenizer_of_ones_own():
    def letters(sentence):
        return list(sentence)

    score = one({DAY: "ab"}, [{DAY: "abc"}], tokenizer=letters)
    assert score.items[0].counts["ar1"].reference == 3
    assert "tok:custom(" in score.signature and "letters" in score.signature


def test_stop_words_and_stemming_can_be_switched_off():
    prediction, reference = {DAY: "The protesters went"}, {DAY: "The protests went"}
    assert one(prediction, reference).as_dict()["ar1_f1"] == 1.0
    assert one(prediction, reference, use_stemmer=False).as_dict()["ar1_f1"] == 0.0
    kept = one(prediction, reference, use_stemmer=False, remove_stopwords=False)
    assert kept.as_dict()["ar1_f1"] == pytest.approx(2 / 3)
    assert "stop:no|stem:no" in kept.signature


# --- the seed's pseudocode ---


def test_exact_date_mean_is_an_extra_and_never_ar():
    row = next(row for row in OWN_ROWS if row["id"] == "seed-tested-output")
    plain = one(timeline_of(row["pred"]), [timeline_of(row["refs"][0])]).as_dict()
    extra = one(timeline_of(row["pred"]), [timeline_of(row["refs"][0])], exact_date_mean=True).as_dict()
    assert extra["exact_date_mean_1"] == pytest.approx(0.1944, abs=5e-5)
    assert extra["exact_date_mean_2"] == 0.0
    assert {key: value for key, value in extra.items() if "exact" not in key} == plain


def test_exact_date_mean_follows_topics():
    """Two right answers on one topic and a wrong one on another: 2/3 of the answers, half of the topics."""
    right, wrong = {"2011-01-25": ["Police clash, protest."]}, {"2011-01-25": ["Rivers flow gently."]}
    rows = [right, right, wrong], [right] * 3
    plain = alignment_rouge(*rows, exact_date_mean=True)
    by_topic = alignment_rouge(*rows, exact_date_mean=True, topics=["a", "a", "b"])
    assert plain["exact_date_mean_1"] == pytest.approx(2 / 3) and by_topic["exact_date_mean_1"] == 0.5
    assert [values["exact_date_mean_2"] for values in by_topic.topic_results().values()] == [1, 0]


def test_the_table_of_definitions_of_ar():
    row = next(row for row in OWN_ROWS if row["id"] == "seed-tested-output")
    prediction, reference = timeline_of(row["pred"]), timeline_of(row["refs"][0])
    calls = CASES["calls"]
    table = (ROOT / "docs" / "timelines.md").read_text().partition("## Which AR?")[2].partition("\n## ")[0].splitlines()
    for who, (options, key, value) in calls.items():
        (line,) = [line for line in table if line.startswith("| ") and who in line]
        assert f"{one(prediction, [reference], **options).as_dict()[key]:.4f}".lstrip("0") == value
        assert value in line.split("|")[4]


# --- tilse itself ---


def test_the_tilse_engine_gives_the_same_or_says_what_to_install():
    try:
        import tilse  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"in a checkout of tls-tasks, pip install '\.\[tilse\]'"):
            one(GOLD, GOLD, engine="tilse")
        return
    ours, theirs = (one(drop(GOLD), GOLD, engine=engine).as_dict(detailed=True) for engine in ("rouge155", "tilse"))
    assert theirs["variants"]["align+m:1"] == pytest.approx(ours["variants"]["align+m:1"], abs=1e-12)
    assert "engine:tilse" in theirs["signature"]


# --- the caller's mistakes ---


@pytest.mark.parametrize(("options", "message"), CASES["test_an_option_that_does_not_exist"])
def test_an_option_that_does_not_exist(options, message):
    with pytest.raises(OptionError, match=message):
        one(GOLD, GOLD, **options)


@pytest.mark.parametrize("beta", [0, -1, float("inf"), "1", None])
def test_an_impossible_beta(beta):
    with pytest.raises(InputError, match=rf"^beta: got {beta!r}, expected a positive number from 1e-100 to 1e100$"):
        one(GOLD, GOLD, beta=beta)


def test_columns_of_unequal_length():
    with pytest.raises(InputError, match=r"references: got length 1, expected 2, as many as predictions"):
        alignment_rouge([GOLD, GOLD], [GOLD])
    with pytest.raises(InputError, match=r"topics: got length 1, expected 2"):
        alignment_rouge([GOLD, GOLD], [GOLD, GOLD], topics=["egypt"])
