"""evidence_extraction: every oracle row, the rules written plainly, what must hold of any documents, and bad input."""

import json
import math
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ORACLES, ROOT, read_jsonl
from tests.evidence import slow_evidence_extraction as slow
from tls_tasks.core.errors import InputError, OptionError, ParseFailureWarning
from tls_tasks.core.score import mean, values
from tls_tasks.evidence.evidence_extraction import TiedMatchWarning, evidence_extraction
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceSchema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ROWS = read_jsonl(ORACLES / "evidence.jsonl")
IDS = [row["id"] for row in ROWS]


def obj(span, domain="food", polarity="present", time="today", **fields):
    return {"domain": domain, "evidence_span": span, "polarity": polarity, "time_bucket": time, **fields}


def spans(*texts, domain="food"):
    return [obj(text, domain) for text in texts]


def pairs_of(score):
    return [[list(match) for match in document.matches] for document in score.items]


def sums_of(score):
    return {part: math.fsum(unit[part] for unit in score.units) for part in score.units[0]}


def scored(row, **options):
    """An oracle row's score."""
    given_options = dict(row["options"])
    if given_options.pop("mode", None) == "strip_punct":
        given_options["tokenizer"] = "strip_punct"
    columns = ([one[key] for one in row["documents"]] for key in ("pred", "gold", "text"))
    return evidence_extraction(*columns, **given_options, **options)


# --- the oracle ---


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_oracle_row(row):
    score = scored(row)
    macro = values({f"macro_{name}": mean(f"macro/{name}") for name in ("precision", "recall", "f1")}, score.units)
    result = {**score.as_dict(detailed=True), **macro, "pairs": pairs_of(score)}
    assert {key: result[key] for key in row["expected"]} == row["expected"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["seed_code"]], ids=lambda row: row["id"])
def test_every_number_of_the_original_code(row):
    """Its bucket accuracy leaves the time out, and it takes an empty quote for one that stands in the text (E050)."""
    result = scored(row).as_dict()
    result["bucket_accuracy"] = result["level_accuracy"]
    expected = {**row["seed_code"]}
    if row["id"] == "E050":
        assert expected.pop("evidence_coverage") == 1.0 > result["evidence_coverage"]
    assert {key: result[key] for key in expected} == expected


@pytest.mark.parametrize("row", [row for row in ROWS if "optimal_matching" in row], ids=lambda row: row["id"])
def test_where_the_best_choice_is_better(row):
    score = scored(row, matching="optimal")
    result = {**score.as_dict(), "pairs": pairs_of(score)}
    assert {key: result[key] for key in row["optimal_matching"]} == row["optimal_matching"]


def test_the_copy_of_the_oracle_is_whole(shared):
    assert read_jsonl(shared / "oracles" / "evidence.jsonl") == ROWS


# --- against the rules written plainly ---

WORDS = st.lists(st.sampled_from("a b c d e f A.".split()), max_size=5).map(" ".join)
OBJECTS = st.builds(
    lambda span, domain, polarity, time, level: {
        **obj(span, domain, polarity, time),
        **({"arousal_bucket" if domain == "emotion" else "intensity_bucket": level} if level else {}),
    },
    WORDS,
    st.sampled_from(["food", "emotion"]),
    st.sampled_from(["present", "absent"]),
    st.sampled_from(["today", "unknown"]),
    st.sampled_from(["low", "unknown", None]),
)
LISTS = st.lists(OBJECTS, max_size=6)
DOCUMENTS = st.lists(st.tuples(WORDS, LISTS, LISTS), min_size=1, max_size=4)
FEW = st.lists(OBJECTS, max_size=4)


def columns(documents):
    return [one[2] for one in documents], [one[1] for one in documents], [one[0] for one in documents]


@given(DOCUMENTS, st.sampled_from([0.3, 0.5, 2 / 3, 1]))
def test_the_counts_are_those_of_the_rules(documents, threshold):
    totals = slow.counts(documents, threshold=threshold)
    sums = sums_of(evidence_extraction(*columns(documents), threshold=threshold))
    assert {name: sums[name] for name in ("tp", "fp", "fn", "grounded")} == {
        name: totals[name] for name in ("tp", "fp", "fn", "grounded")
    }
    for name in ("polarity", "level", "time", "bucket"):
        assert (sums[f"{name}/right"], sums[f"{name}/asked"]) == (totals[name], totals["tp"])


@given(LISTS, LISTS, st.sampled_from([0.3, 0.5, 1]))
def test_the_pairs_are_those_of_the_rules(gold, told, threshold):
    score = evidence_extraction([told], [gold], threshold=threshold)
    assert [tuple(match) for match in score.items[0].matches] == slow.greedy(gold, told, threshold)


@given(FEW, FEW)
def test_the_optimal_matching_is_the_best_of_all(gold, told):
    matches = evidence_extraction([told], [gold], matching="optimal").items[0].matches
    n_best, best = slow.best_sum(gold, told)
    assert len(matches) == n_best and math.isclose(sum(match.overlap for match in matches), best, abs_tol=1e-9)
    assert len({match.reference for match in matches}) == len({match.prediction for match in matches}) == n_best


@given(DOCUMENTS)
def test_greedy_never_finds_more_than_optimal(documents):
    greedy, optimal = (evidence_extraction(*columns(documents), matching=how).results for how in ("greedy", "optimal"))
    assert greedy["tp"] <= optimal["tp"]


# --- what holds of any documents ---


@given(LISTS, LISTS, st.randoms(use_true_random=False))
def test_the_order_of_objects_is_irrelevant_where_no_two_overlaps_are_equal(gold, told, generator):
    values = [value for *_, value in slow.candidates(gold, told, 0.5)]
    shuffled = generator.sample(told, len(told)), generator.sample(gold, len(gold))
    first = evidence_extraction([told], [gold]).as_dict()
    second = evidence_extraction(*([one] for one in shuffled)).as_dict()
    if len(set(values)) == len(values):
        assert first == second
    assert first["tp"] + first["fp"] == second["tp"] + second["fp"] == len(told)


@given(DOCUMENTS)
def test_other_names_give_the_same_numbers(documents):
    """Of domains, keys, values and words."""
    schema = json.loads(
        json.dumps(JOURNAL_SCHEMA.as_dict()).replace("food", "FOOD").replace("polarity", "pole").replace("low", "tief")
        .replace("evidence_span", "quote")
    )  # fmt: skip

    def renamed(rows):
        table = str.maketrans("abcdef", "uvwxyz")
        keys = {"polarity": "pole", "evidence_span": "quote"}
        values = {"food": "FOOD", "low": "tief"}
        return [
            {keys.get(key, key): value.translate(table) if key == "evidence_span" else values.get(value, value)
             for key, value in one.items()} for one in rows
        ]  # fmt: skip

    mine = evidence_extraction(*columns(documents))
    theirs = evidence_extraction(*[list(map(renamed, column)) for column in columns(documents)[:2]], schema=schema)
    changed = {**theirs.as_dict(), "polarity_accuracy": theirs.as_dict()["pole_accuracy"]}
    kept = [key for key in mine.as_dict() if key not in ("domains", "signature") and "coverage" not in key]
    assert [mine.as_dict()[key] for key in kept] == [changed[key] for key in kept]
    assert pairs_of(mine) == pairs_of(theirs)


@given(DOCUMENTS)
def test_an_empty_document_leaves_the_sums_unchanged(documents):
    result = evidence_extraction(*columns(documents)).as_dict()
    assert evidence_extraction(*columns([*documents, ("nothing", [], [])])).as_dict() == result


@given(DOCUMENTS, st.sampled_from([None, "keep", "drop", "uncertain"]))
def test_bounds(documents, postprocess):
    score = evidence_extraction(*columns(documents), postprocess=postprocess)
    result = score.as_dict()
    for key, value in score.results.items():
        assert value >= 0 and (value <= 1 or key in ("tp", "fp", "fn", "schema_invalid", "parse_failures")), key
    assert result["tp"] + result["fn"] == sum(len(gold) for _, gold, _ in documents)
    assert result["evidence_coverage"] <= result["evidence_coverage_normalised"]
    assert sum(domain["tp"] for domain in result["domains"].values()) == result["tp"]


@given(DOCUMENTS)
def test_the_results_are_a_function_of_the_units_sums(documents):
    score = evidence_extraction(*columns(documents))
    result, numbers = score.as_dict(), values(score.definitions, [sums_of(score)])
    assert {key: result[key] for key in numbers} == numbers
    parts = [evidence_extraction(*columns([one])).units[0] for one in documents]
    assert score.units == parts


@given(DOCUMENTS)
def test_details_agree_with_the_numbers(documents):
    result = evidence_extraction(*columns(documents)).as_dict(detailed=True)
    json.dumps(result)
    for key in ("tp", "fp", "fn"):
        assert sum(item[key] for item in result["items"]) == result[key]
    assert sum(len(item["matches"]) for item in result["items"]) == result["tp"]


# --- overlap, words, threshold ---


@pytest.mark.parametrize(("left", "right", "jaccard"), CASES["the_measure_of_overlap"])
def test_the_measure_of_overlap(left, right, jaccard):
    for sides in ((left, right), (right, left)):
        score = evidence_extraction([spans(sides[0])], [spans(sides[1])], threshold=0.01)
        assert [match.overlap for match in score.items[0].matches] == ([jaccard] if jaccard else [])


def test_words_are_an_option():
    def f1(left, right, tokenizer):
        return evidence_extraction([spans(left)], [spans(right)], tokenizer=tokenizer).as_dict()["f1"]

    assert f1("“anxious”…", "anxious", "whitespace") == 0 and f1("“anxious”…", "anxious", "strip_punct") == 1
    assert f1("nice—felt", "nice felt", "strip_punct") == 0 and f1("nice—felt", "nice felt", "unicode") == 1
    assert f1("头很痛", "头痛", "whitespace") == 0 and f1("头很痛", "头痛", "unicode") == 1
    assert f1("abcd", "abxc", list) == 1
    assert "|tok:custom(list)" in evidence_extraction([], [], tokenizer=list).signature


def test_quotes_without_blanks_are_warned_of():
    def objects(span):
        return [{"domain": "food", "evidence_span": span}]

    columns = [objects("had tea"), objects("晚饭吃了米饭")], [objects("had tea"), objects("今天晚饭吃了米饭")]
    with pytest.warns(UserWarning, match=r"in 1 of 2 rows a text is written without blanks.*\[1\].*'unicode'"):
        assert evidence_extraction(*columns).results["f1"] == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evidence_extraction(*columns, tokenizer="unicode").results["f1"] == 1.0


def test_a_threshold_may_be_a_fraction():
    gold, told = [spans("a b c")], [spans("a")]
    for threshold in (1 / 3, "1/3"):
        score = evidence_extraction(told, gold, threshold=threshold)
        assert score.as_dict()["tp"] == 1 and "|threshold:0.3333333333333333|" in score.signature
    assert evidence_extraction(told, gold, threshold="0.34").as_dict()["tp"] == 0
    assert evidence_extraction([spans("x")], gold, threshold=0).as_dict()["tp"] == 1  # the domain alone
    assert evidence_extraction([spans("x", domain="mind")], gold, threshold=0).as_dict()["tp"] == 0


def test_ties_go_to_the_lowest_reference_then_to_the_lowest_prediction():
    gold, told = spans("a b", "a b", "c d"), spans("a b c d", "b a", "a b", "a b")
    assert [match[:2] for match in evidence_extraction([told], [gold]).items[0].matches] == [(0, 1), (1, 2), (2, 0)]
    score = evidence_extraction([told], [gold], matching="optimal")
    assert [match[:2] for match in score.items[0].matches] == [(0, 1), (1, 2), (2, 0)]


# --- attributes ---


def test_attributes_of_a_schema_of_ones_own():
    schema = {
        "name": "meals",
        "domains": ["food", "drink"],
        "span_field": "quote",
        "attributes": [
            {"name": "meal", "fields": {"food": "meal_type"}, "values": ["lunch", "dinner"], "default": "lunch"},
            {"name": "severity", "field": "severity_scale", "values": [1, 2, 3]},
        ],
    }
    gold = [{"domain": "food", "quote": "rice", "meal_type": "dinner", "severity_scale": 3},
            {"domain": "drink", "quote": "tea", "severity_scale": 1}]  # fmt: skip
    told = [{"domain": "food", "quote": "rice", "severity_scale": "3"},
            {"domain": "drink", "quote": "tea", "severity_scale": 2, "meal_type": "dinner"}]  # fmt: skip
    score = evidence_extraction([told], [gold], ["rice"], schema=schema)
    result = score.as_dict()
    assert (result["tp"], result["meal_accuracy"], result["severity_accuracy"]) == (2, 0.0, 0.5)
    assert sums_of(score)["meal/asked"] == 1 and "bucket_accuracy" not in result and "polarity_accuracy" not in result
    assert result["schema_invalid"] == 1  # rice lacks its meal
    assert list(result["domains"]) == ["food", "drink"]
    assert "|schema:meals#" in result["signature"]
    same = EvidenceSchema("meals", ("food",), span_field="quote")
    assert evidence_extraction([], [], schema=same).signature != result["signature"]


@pytest.mark.parametrize("lacking", [{"polarity": ...}, {"polarity": None}, {"time_bucket": ...}])
def test_an_object_that_lacks_an_attribute_matches_and_has_it_wrong(lacking):
    whole = obj("tea")
    lacks = {key: value for key, value in {**whole, **lacking}.items() if value is not ...}
    score = evidence_extraction([[lacks]], [[whole]])
    result, sums = score.as_dict(), sums_of(score)
    assert (result["tp"], result["fp"], result["fn"], result["schema_invalid"]) == (1, 0, 0, 1)
    wrong = "time" if "time_bucket" in lacking else "polarity"
    assert {name: (sums[f"{name}/right"], sums[f"{name}/asked"]) for name in ("polarity", "level", "time")} == {
        name: (int(name != wrong), 1) for name in ("polarity", "level", "time")
    }
    for told in (lacks, whole):
        score = evidence_extraction([[told]], [[lacks]])
        assert score.as_dict()["tp"] == 1 and sums_of(score)[f"{wrong}/asked"] == 0  # the reference does not say


def test_what_an_object_lacks_does_not_decide_whom_it_matches():
    whole, lacking = obj("tea"), {"domain": "food", "evidence_span": "tea", "time_bucket": "today"}
    for told in ([whole, lacking], [lacking, whole]):
        matches = evidence_extraction([told], [[whole, lacking]]).items[0].matches
        assert [match.prediction for match in matches] == [0, 1]
        assert evidence_extraction([told], [[whole]]).as_dict()["tp"] == 1


def test_values_of_any_type_are_compared_as_text_or_are_wrong():
    for value in (float("nan"), ["low"], {"a": 1}, 10**5000, True, 3, "LOW", ""):
        result = evidence_extraction([[obj("tea", intensity_bucket=value)]], [[obj("tea", intensity_bucket="low")]])
        assert result.as_dict()["level_accuracy"] == 0.0 and result.as_dict()["schema_invalid"] == 1
        json.dumps(result.as_dict(detailed=True))
    null = evidence_extraction([[obj("tea", intensity_bucket=None)]], [[obj("tea", intensity_bucket="unknown")]])
    assert null.as_dict()["level_accuracy"] == 1.0


def test_domains_that_the_schema_does_not_have_are_one():
    gold, told = [obj("a", "sleep"), obj("b", "pets")], [obj("a", "sleep"), obj("b", "Food"), {"evidence_span": "c"}]
    result = evidence_extraction([told], [gold]).as_dict(detailed=True)
    other = {key: result["domains"]["(other)"][key] for key in ("tp", "fp", "fn")}
    assert other == {"tp": 1, "fp": 2, "fn": 1}
    assert result["issues"] == {"missing_level": 2, "unknown_domain": 2, "missing_domain": 1}
    assert "(other)" not in evidence_extraction([[]], [spans("a")]).as_dict()["domains"]


# --- grounding ---


def test_coverage_verbatim_and_normalised():
    text = "I couldn't  sleep. Had a caf\u00e9 latte."
    told = spans("I couldn't", "I couldn\u2019t sleep", "cafe\u0301 latte", "Caf\u00e9", "tea", "", " ")
    result = evidence_extraction([told], [[]], [text]).as_dict()
    assert (result["evidence_coverage"], result["evidence_coverage_normalised"]) == (1 / 7, 3 / 7)


@pytest.mark.parametrize(
    ("source", "quote"),
    [
        ("There was no abnormal evalu-\nation.", "no abnormal evaluation"),
        ("The \ufb01rst \u201cdose\u201d came.", 'The first "dose"'),
        ("co\u00adtrimoxazole\u00a0was 25\u00a0mg \u2026", "cotrimoxazole was 25 mg ..."),
    ],
)
def test_quotes_of_printed_texts_count_in_the_normalised_coverage_alone(source, quote):
    """As reported of other packages: words broken at the end of a line, ligatures, soft hyphens, other blanks."""
    result = evidence_extraction([spans(quote)], [[]], [source]).as_dict()
    assert (result["evidence_coverage"], result["evidence_coverage_normalised"]) == (0, 1)


def test_coverage_counts_rows_with_a_source_only():
    told = [spans("tea"), spans("rice", "soup")]
    assert evidence_extraction(told, [[], []], ["tea", None]).as_dict()["evidence_coverage"] == 1.0
    for sources in (None, [None, None]):
        result = evidence_extraction(told, [[], []], sources).as_dict()
        assert result["evidence_coverage"] is None and result["evidence_coverage_normalised"] is None


def test_post_processing_is_an_option():
    told = [obj("Had tea", polarity="Present"), obj("a fever", "symptom"), obj("x", "pets")]
    gold, text = [obj("Had tea"), obj("a fever", "symptom", "uncertain")], "Had tea."
    plain = evidence_extraction([told], [gold], [text]).as_dict()
    assert (plain["tp"], plain["fp"], plain["polarity_accuracy"]) == (2, 1, 0.0)
    results = {
        how: evidence_extraction([told], [gold], [text], postprocess=how).as_dict(detailed=True)
        for how in ("keep", "drop", "uncertain")
    }
    assert [(one["tp"], one["fp"], one["polarity_accuracy"]) for one in results.values()] == [
        (2, 0, 0.5), (1, 0, 1.0), (2, 0, 1.0)
    ]  # fmt: skip
    assert {one["schema_invalid"] for one in results.values()} == {3} == {plain["schema_invalid"]}
    assert "|post:drop|" in results["drop"]["signature"]
    with pytest.raises(InputError, match=r"sources\[0\]: got None, .* postprocess"):
        evidence_extraction([told], [gold], postprocess="keep")


# --- what a person reads ---


def test_the_details():
    text = "Had tea, then tea. Felt calm; couldn't sleep."
    gold = [obj("tea", intensity_bucket="low"), obj("Felt calm", "emotion"), obj("couldn't sleep", "mind")]
    told = [obj("tea", polarity="maybe"), obj("calm Felt", "mind"), obj("fever", "symptom"),
            obj("couldn\u2019t sleep", "mind")]  # fmt: skip
    result = evidence_extraction([told], [gold], [text]).as_dict(detailed=True)
    (item,) = result["items"]
    (match,) = item["matches"]
    assert match["overlap"] == 1.0 and match["reference"]["places"] == [[4, 7], [14, 17]]
    assert match["attributes"]["polarity"] == {"reference": "present", "predicted": "maybe", "right": False}
    assert match["prediction"]["issues"] == ["unknown_polarity", "missing_level"] and match["prediction"]["grounded"]
    assert [(one["position"], one["domain"]) for one in item["misses"]] == [(1, "emotion"), (2, "mind")]
    assert [one["places"] for one in item["spurious"]] == [[], [], [[30, 44]]]
    assert [one["grounded"] for one in item["spurious"]] == [False, False, False]


# --- undefined values: docs/evidence.md ---

ZERO = ("precision", "recall", "f1", "polarity_accuracy", "bucket_accuracy", "level_accuracy", "time_accuracy")


@pytest.mark.parametrize(("told", "gold", "flags", "coverage"), CASES["undefined_values_are_0_and_flagged"])
def test_undefined_values_are_0_and_flagged(told, gold, flags, coverage):
    result = evidence_extraction([told], [gold], ["Had tea."]).as_dict(detailed=True)
    assert {result[key] for key in ZERO} == {0.0}
    assert result["evidence_coverage"] == coverage
    assert result["items"][0]["flags"] == flags
    assert result["parse_failures"] == ("parse_failure" in flags)


def test_no_rows_at_all():
    result = evidence_extraction([], [], []).as_dict(detailed=True)
    assert {result[key] for key in (*ZERO, "tp", "fp", "fn")} == {0} and result["items"] == []
    assert result["evidence_coverage"] is None


def test_two_empty_spans_are_equal():
    assert evidence_extraction([spans("")], [spans(" ")]).as_dict()["tp"] == 1


# --- the model's text ---


def test_a_bad_object_costs_itself_only():
    told = json.dumps([obj("tea"), {"domain": "food"}, "tea", {"foo": 1}, obj("rice")])
    score = evidence_extraction([told], [spans("tea", "rice")])
    result = score.as_dict(detailed=True)
    assert (result["tp"], result["fp"], result["schema_invalid"], result["parse_failures"]) == (2, 2, 4, 0)
    assert score.problems == {0: {"bad_entry": 1}} == result["problems"]
    assert result["issues"]["missing_span"] == 2


def test_abstention_is_no_parse_failure():
    gold = [spans("tea")] * 3
    result = evidence_extraction(["[]", "None.", '{"items": []}'], gold).as_dict()
    assert (result["parse_failures"], result["fn"], result["fp"]) == (1, 3, 0)


# --- what is asked wrongly ---


@pytest.mark.parametrize("gold", [[obj("a")], []])
def test_a_missing_prediction_is_an_answer_in_which_nothing_can_be_read(gold):
    columns = [None, [obj("b")]], [gold, [obj("b")]]
    with pytest.warns(ParseFailureWarning, match=r"1 of 2 predictions .* rows \[0\]"):
        score = evidence_extraction(*columns)
    assert score.as_dict() == evidence_extraction(["I can't.", columns[0][1]], columns[1]).as_dict()
    assert (score.parse_failures, score["tp"], score["fn"]) == (1, 1, len(gold))
    module = pytest.importorskip("evaluate").load(str(ROOT / "metrics" / "evidence_extraction"))
    module.add(prediction=None, reference=gold)
    assert module.compute()["parse_failures"] == 1


@pytest.mark.parametrize(
    ("changed", "right"),
    [
        ({"domain": "Food"}, 1),
        ({"domain": "FOOD", "polarity": "PRESENT"}, 1),
        ({"polarity": "Present", "time_bucket": "Last night"}, 1),
        ({"polarity": "PRESENTED"}, 0),
    ],
)
def test_categories_of_an_answer_may_be_in_any_case(changed, right):
    gold = {**obj("tea"), "polarity": "present", "intensity_bucket": "low", "time_bucket": "last_night"}
    answer = json.dumps([{**gold, **changed}])
    for text in (answer, f"Here it is:\n```json\n{answer}\n```"):
        score = evidence_extraction([text], [[gold]])
        assert (score["tp"], score["polarity_accuracy"], score["schema_invalid"]) == (1, right, 1 - right)
        assert score["time_accuracy"] == 1
    assert evidence_extraction([text], [answer])["polarity_accuracy"] == 1  # a reference that is text is read like it


@pytest.mark.parametrize(("columns", "message"), CASES["rows_that_cant_be_scored"])
def test_rows_that_cant_be_scored(columns, message):
    with pytest.raises(InputError, match=message):
        evidence_extraction(*columns)


@pytest.mark.parametrize(("options", "message"), CASES["options_that_dont_exist"])
def test_options_that_dont_exist(options, message):
    with pytest.raises(OptionError, match=message):
        evidence_extraction([], [], **options)


@pytest.mark.parametrize(
    ("options", "message"), [*CASES["options_of_a_wrong_kind"], ({"threshold": float("nan")}, "threshold: got NaN")]
)
def test_options_of_a_wrong_kind(options, message):
    with pytest.raises(InputError, match=message):
        evidence_extraction([], [], **options)


def test_uncertain_needs_an_attribute_that_may_be_uncertain():
    schema = {"name": "plain", "domains": ["food"]}
    with pytest.raises(InputError, match="postprocess: got 'uncertain' with schema 'plain', in which no attribute"):
        evidence_extraction([], [], schema=schema, postprocess="uncertain")


# --- size ---


@pytest.mark.parametrize("shared_words", ["", "number today ", "a b c d e f g h i j "])
def test_a_page_of_many_objects(shared_words):
    """1,000 x 1,000 objects, all of which overlap enough where they share words; memory is what pairs can cost."""
    import tracemalloc

    gold, told = (spans(*(f"{shared_words}{side}{number}" for number in range(1000))) for side in "xy")
    tracemalloc.start()
    score = evidence_extraction([told], [gold])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert score.as_dict()["tp"] == (1000 if shared_words else 0)
    assert peak < 30e6


def test_ties_that_decide_how_many_match_are_warned_of():
    """Of equal overlaps the first is matched, and may take what another needs."""
    wanted, told = spans("a b", "c d"), spans("a b c d", "a b x y")
    rows = [told, told[:1]], [wanted, wanted[:1]]
    with pytest.warns(TiedMatchWarning, match=r"in 1 of 2 documents .*\(rows \[0\]\): matching='optimal'"):
        assert evidence_extraction(*rows).as_dict()["tp"] == 2
    assert evidence_extraction(*rows, matching="optimal").as_dict()["tp"] == 3
