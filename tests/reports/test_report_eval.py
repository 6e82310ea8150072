"""report_eval: every row of the oracle in both profiles, the tree, missing verdicts, options, aggregates."""

import builtins
import json
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import test_batteries
from tests.conftest import ORACLES, SHARED, read_jsonl
from tests.reports import slow_report_eval as slow
from tls_tasks.core import errors
from tls_tasks.core.errors import InputError
from tls_tasks.core.score import values
from tls_tasks.reports.judges.callable import CallableJudge
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.report_eval import UnscoredWarning, report_eval
from tls_tasks.reports.rows import read_rows
from tls_tasks.reports.runs import read_run, score_run
from tls_tasks.reports.score import KEYS
from tls_tasks.reports.task import parse_answer
from tls_tasks.reports.types import Report, ReportSentence, Verdict

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

SHARED_ORACLE = SHARED / "oracles" / "reports.jsonl"
ROWS = read_jsonl(SHARED_ORACLE if SHARED_ORACLE.exists() else ORACLES / "reports.jsonl")
IDS = [row["id"] for row in ROWS]

pytestmark = pytest.mark.filterwarnings("ignore::tls_tasks.reports.report_eval.UnscoredWarning")


def score_of(row, **options):
    judge = {"judgments": row["judgments"], "defaults": row["defaults"]}
    return report_eval([row["report"]], [row["nuggets"]], row["documents"], judge, **options)


def item_of(score):
    return score.as_dict(detailed=True)["items"][0]


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))


# --- the oracle ---


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_row_of_the_default_profile(row):
    expected = row["expected"]["support"]
    score = score_of(row)
    item, result = item_of(score), score.as_dict()
    for key in expected.keys() - {"failed"}:
        wanted = math.nan if expected[key] is None else float(Fraction(expected[key]))
        assert same(result[key], wanted) and same(item[key], wanted), key
        if key != "f1" and expected[key] is not None:
            assert expected[key] == "/".join(map(str, item["ratios"][key])), key
    assert item["unscored"] == expected["failed"] and score.as_dict()["n_unscored"] == len(expected["failed"])


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_row_of_the_program(row):
    expected = dict(row["expected"]["rge"])
    if "raises" in expected:
        with pytest.raises(getattr(builtins, expected["raises"]), match=r"predictions\[0\]"):
            score_of(row, compat="report_gen_eval")
        return
    score = score_of(row, compat="report_gen_eval")
    item, result = item_of(score), score.as_dict()
    for key in ("recall", "precision"):
        assert result[key] == item[key] == float(Fraction(expected.pop(key)))
    assert item["judge_calls"] == (expected.pop("judge_calls", None) or expected.pop("invocations", 0))
    for key, value in expected.items():
        assert (item if key in item else item["counts"])[key] == value, key


def test_a_question_is_as_important_as_the_most_important_of_its_items():
    items = [("Who?", "Ann", "okay"), ("Who?", "Bo", "vital"), ("When?", "now", "okay")]
    rows = [
        {"question_text": question, "gold_answers": [answer], "info": {"importance": importance}}
        for question, answer, importance in items
    ]
    for request in ({"items": rows}, {"items": rows[::-1]}):
        score = report_eval(
            ["It was Ann [1]."], [request], {"d1": "Ann."}, lambda query: query.fields.get("answer") in (None, "Ann")
        )
        assert item_of(score)["ratios"]["nugget_coverage_weighted"] == [2, 3]


@pytest.mark.parametrize(
    ("name", "pairs", "nuggets", "precision", "f1"),
    [("recorded-301-final", "7/24", "5/14", "8/9", "10/19"), ("recorded-301-earlier", "8/24", "6/14", "4/5", "3/5")],
)
def test_the_recorded_runs_replay(shared, name, pairs, nuggets, precision, f1):
    row = next(row for row in ROWS if row["id"] == name)
    for compat, recall in (("report_gen_eval", pairs), (None, nuggets)):
        item = item_of(score_of(row, compat=compat))
        assert (item["recall"], item["precision"]) == (float(Fraction(recall)), float(Fraction(precision)))
    assert score_of(row).as_dict()["f1"] == float(Fraction(f1))


def test_the_copy_of_the_oracle_is_whole(shared):
    assert read_jsonl(ORACLES / "reports.jsonl") == [row for row in ROWS if row["source"] != "recorded"]


def test_the_documentation_wins_where_the_program_differs():
    """What the oracle's ``readme_says`` says of the tree, by default."""
    by_id = {row["id"]: row for row in ROWS}
    assert item_of(score_of(by_id["doc-01-unknown-id"]))["scores"] == [-1]
    assert item_of(score_of(by_id["neg-04-no-nuggets"]))["scores"] == [-1]
    assert item_of(score_of(by_id["req-05-repeat-of-uncited"]))["scores"] == [-1, -1]
    assert score_of(by_id["gold-05-duplicate-pair"]).as_dict()["recall"] == 1.0
    # A nugget counts once: one of its two gold answers is enough.
    nugget = {"question_text": "When?", "gold_answers": ["on Monday", "at night"], "info": {"importance": "okay"}}
    report = {"request_id": "7", "sentences": [{"text": "It rained on Monday.", "citations": ["d1"]}]}
    columns = [report], [{"query_id": "7", "items": [nugget]}], {"d1": "Rain."}
    said = [
        report_eval(*columns, lambda query: query.fields.get("answer") != "at night", compat=compat)
        for compat in (None, "report_gen_eval")
    ]
    assert [score.recall for score in said] == [1.0, 0.5]


# --- against the slow version ---


def rows_of(max_size, **fields):
    return st.lists(st.fixed_dictionaries(fields), max_size=max_size)


SENTENCES = rows_of(
    6,
    text=st.sampled_from(["s1", "s2", "s3", "s4"]),
    citations=st.lists(st.sampled_from(["d1", "d2", "nowhere"]), max_size=3),
)
ITEMS = rows_of(
    4,
    question_text=st.sampled_from(["q1", "q2", "q3"]),
    gold_answers=st.lists(st.sampled_from(["a1", "a2", "a3"]), max_size=3),
    info=st.fixed_dictionaries({"importance": st.sampled_from(["vital", "okay"])}),
)


def oracle_of(seed, share_missing):
    """An answer to any question, always the same one."""

    def say(*asked):
        generator = random.Random(repr((seed, asked)))
        return None if generator.random() < share_missing else generator.random() < 0.5

    return say


def judge_of(say):
    def judge(query):
        fields = query.fields
        more = {
            "citation_support": lambda: (query.about["doc_id"],),
            "nugget_agreement": lambda: (fields["question"], fields["answer"]),
            "first_instance": lambda: (tuple(fields["previous"].split("\n")),),
        }.get(query.kind, tuple)()
        return say(query.kind, fields["sentence"], *more)

    return judge


KNOWN = {"d1": "one", "d2": "two"}


@given(SENTENCES, ITEMS, st.integers(0, 10**6), st.sampled_from([0.0, 0.0, 0.3, 1.0]))
def test_as_the_slow_version(sentences, items, seed, share_missing):
    report, request, say = {"sentences": sentences}, {"items": items}, oracle_of(seed, share_missing)
    scores, expected = slow.results(report, request, KNOWN, say)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnscoredWarning)
        score = report_eval([report], [request], KNOWN, judge_of(say))
    item = item_of(score)
    assert item["scores"] == scores
    assert {key: item[key] for key in expected} == pytest.approx(expected, abs=0, nan_ok=True)
    assert all(math.isnan(item[key]) or 0 <= item[key] <= 1 for key in KEYS)


@given(
    st.lists(st.tuples(SENTENCES, ITEMS), min_size=1, max_size=4), st.integers(0, 10**6), st.sampled_from([0.0, 0.3])
)
def test_reports_are_independent_and_results_are_sums(rows, seed, share_missing):
    """No report moves another's numbers, the order is irrelevant, and units add up to the results."""
    reports = [{"sentences": sentences} for sentences, _ in rows]
    requests = [{"items": items} for _, items in rows]
    judge = judge_of(oracle_of(seed, share_missing))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnscoredWarning)
        for how in ("macro", "micro"):
            score = report_eval(reports, requests, KNOWN, judge, aggregate=how)
            back = report_eval(reports[::-1], requests[::-1], KNOWN, judge, aggregate=how)
            alone = [report_eval([one], [other], KNOWN, judge) for one, other in zip(reports, requests, strict=True)]
            result = score.as_dict()
            assert result == back.as_dict()
            assert [item.values() for item in score.items] == [one.items[0].values() for one in alone]
            fewer = {key for key, own in score.definitions.items() if own.better is False}
            assert fewer == {"n_unscored", "parse_failures"}
            expected = {key: result[key] for key in score.definitions}
            assert values(score.definitions, score.units) == pytest.approx(expected, abs=0, nan_ok=True)
            halves = [
                {part: sum(unit[part] for unit in half) for part in half[0]}
                for half in (score.units[:1], score.units[1:])
                if half
            ]
            assert values(score.definitions, halves) == pytest.approx(expected, nan_ok=True)


# --- what is asked ---


class Counting:
    """A judge that remembers each wave."""

    name = "counting"

    def __init__(self, answer):
        self.waves, self._answer = [], answer

    def ask(self, queries):
        self.waves.append(list(queries))
        return [self._answer(query) for query in queries]


def yes(*kinds):
    return lambda query: Verdict(query.kind in kinds)


REPORT = CASES["REPORT"]
REQUEST = {"query_id": "7", "items": [{"question_text": "q1", "gold_answers": ["a1", "a2"]}]}


def test_few_waves_and_each_question_once():
    judge = Counting(yes("citation_support", "requires_citation", "first_instance"))
    report_eval([REPORT] * 3, [REQUEST] * 3, KNOWN, judge)
    kinds = [sorted(query.kind for query in wave) for wave in judge.waves]
    assert kinds == [
        ["citation_support"] * 2 + ["negative"] * 2,
        ["nugget_agreement"] * 2 + ["requires_citation"] * 2,
        ["first_instance"],  # s3 after all sentences: it is new, so that those that cite need not be looked at
    ]
    asked = [query.identity for wave in judge.waves for query in wave]
    assert len(asked) == len(set(asked))


def test_nothing_is_asked_that_the_tree_does_not_need():
    judge = Counting(yes("negative"))
    report_eval([REPORT], [REQUEST], KNOWN, judge)
    assert sorted(query.kind for wave in judge.waves for query in wave) == [
        *["citation_support"] * 2, *["negative"] * 2, *["nugget_agreement"] * 4
    ]  # fmt: skip


def test_what_a_question_shows_and_what_it_is_about():
    judge = Counting(yes("citation_support"))
    report_eval([REPORT], [REQUEST], {"d1": {"title": "T", "text": "one"}, "d2": "two"}, judge)
    first = judge.waves[0][1]
    assert first.fields == {"sentence": "s2", "document": "Title: T\n\nContent: one"}
    assert first.about == {"request_id": "7", "run_id": "r", "sentence": 1, "doc_id": "d1", "passage": "s1 s2 s3 s2"}


def test_documents_without_text_stay_apart():
    judgments = [
        {"kind": "citation_support", "sentence": "s2", "doc_id": "d1", "verdict": "YES"},
        {"kind": "citation_support", "sentence": "s2", "doc_id": "d2", "verdict": "NO"},
    ]
    report = {"sentences": [{"text": "s2", "citations": ["d1", "d2"]}]}
    judge = {"judgments": judgments, "defaults": {"nugget_agreement": "NO"}}
    for documents in (None, {"d1": "", "d2": ""}):
        assert report_eval([report], [REQUEST], documents, judge).as_dict()["citation_support"] == 0.5


def test_a_nugget_that_nobody_can_answer_confirms_a_negative_statement():
    report, request = {"sentences": [{"text": "s"}]}, {"items": [{"question_text": "q", "gold_answers": []}]}
    score = report_eval([report], [request], judge=lambda query: True)
    assert item_of(score)["scores"] == [1] and item_of(score)["sentences"][0]["matched"] == []
    assert score.as_dict()["precision"] == 1.0 and math.isnan(score.as_dict()["recall"])
    assert item_of(report_eval([report], [request], judge=lambda query: query.kind == "negative"))["scores"] == [-1]


def test_a_repeated_claim():
    def judge(query):
        if query.kind == "first_instance":
            return query.fields["sentence"] not in query.fields["previous"].split("\n")
        return query.kind in ("requires_citation", "citation_support")

    report = {
        "sentences": [{"text": "a"}, {"text": "a"}, {"text": "b", "citations": ["d1"]}, {"text": "b"}, {"text": "a"}]
    }
    item = item_of(report_eval([report], [REQUEST], KNOWN, judge))
    assert item["scores"] == [-1, -1, 0, 0, -1] and item["sentences"][-1]["path"][-1] == "repeats_uncited"
    assert item["ratios"]["sentence_support"] == [1, 2]  # each claim once: "a" without, "b" with support


def test_what_explains_a_report():
    def judge(query):
        if query.kind == "requires_citation":
            return None
        return (
            query.fields["answer"] == "noon" if query.kind == "nugget_agreement" else query.kind == "citation_support"
        )

    case = CASES["test_what_explains_a_report"]
    score = report_eval([case["report"]], [case["request"]], {"d1": "At noon it rained."}, judge)
    told = item_of(score)
    assert {key: told[key] for key in ("sentences", "nuggets")} == {key: case[key] for key in ("sentences", "nuggets")}
    assert (told["scores"], told["unscored"]) == ([-1, None], [1])
    assert score.explain(0).splitlines()[1:] == case["explained"]


# --- judges that fail ---


def test_a_judge_that_refuses_everything_yields_no_number():
    def refuse(query):
        raise ConnectionError("503")

    reports = [
        REPORT,
        {**REPORT, "sentences": []},
        {"sentences": [{"text": "s", "citations": ["nowhere"]}]},
        "I am sorry.",
    ]
    with pytest.warns(UnscoredWarning, match=r"failed ConnectionError\('503'\)"):
        score = report_eval(reports, [REQUEST] * 4, KNOWN, refuse)
    assert all(math.isnan(score.as_dict()[key]) for key in KEYS)
    assert score.as_dict()["n_unscored"] == 4
    assert score.items[0].flags == ("unscored", "unjudged")


def test_one_missing_verdict_is_no_no():
    """A sentence without a verdict leaves every ratio, whatever its size."""

    def judge(query):
        return None if query.fields["sentence"] == "s1" and query.kind == "citation_support" else True

    sentences = [{"text": text, "citations": ["d1"]} for text in ("s1", "s2")]
    with pytest.warns(UnscoredWarning, match=r"no verdict on 1 of 6 questions: missing \(1\); sentences unscored: 1"):
        score = report_eval([{"sentences": sentences}], [REQUEST], KNOWN, judge)
    result = score.as_dict()
    assert (result["precision"], result["sentence_support"], result["citation_support"]) == (1.0, 1.0, 1.0)
    assert result["n_unscored"] == 1 and item_of(score)["sentences"][0]["path"] == ["cited", "unscored"]


def test_what_is_decided_anyway_is_scored():
    def judge(query):
        return {"d1": False, "d2": None}[query.about["doc_id"]] if query.kind == "citation_support" else False

    score = report_eval([{"sentences": [{"text": "s", "citations": ["d1", "d2"]}]}], [REQUEST], KNOWN, judge)
    assert item_of(score)["scores"] == [-1] and score.as_dict()["n_unscored"] == 0
    assert item_of(score)["ratios"]["citation_support"] == [0, 1]


def test_a_judge_that_miscounts():
    class Short:
        name = "short"

        def ask(self, queries):
            return [Verdict(True)]

    with pytest.raises(ValueError, match="shorter"):
        report_eval([REPORT], [REQUEST], KNOWN, Short())


def test_a_document_that_can_not_be_had_is_no_unknown_one():
    def find(collections, doc_id):
        if doc_id == "d2":
            raise OSError("disk")
        return KNOWN.get(doc_id)

    report = {"sentences": [{"text": "s", "citations": [doc_id]} for doc_id in ("d1", "d2", "nowhere")]}
    with pytest.warns(UnscoredWarning, match=r"unreachable OSError\('disk'\) \(1\)"):
        score = report_eval([report], [REQUEST], find, lambda query: True)
    assert item_of(score)["scores"] == [2, None, -1]
    with pytest.raises(TypeError):
        report_eval([report], [REQUEST], lambda doc_id: "text", lambda query: True)


# --- options, forms, aggregates ---


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (3, "judge: got int 3, expected a judge"),
        ([3], r"judge\[0\]: got int 3, expected a line"),
        ([{"kind": "x"}], r"judge\[0\]: kind: got 'x', expected one of 'citation_support'"),
        ({"judgments": "s"}, "judge: got str 's', expected a list of lines"),
        (lambda query: 3, r"answer of custom\(<lambda>\): got int 3, expected a bool"),
        (Counting(None), r"documents: got None, and predictions\[0\] cites some"),
    ],
)
def test_judges_that_are_none(judge, message):
    with pytest.raises(InputError, match=message):
        report_eval([REPORT], [REQUEST], None, judge)


@pytest.mark.parametrize(("options", "error", "message"), CASES["test_options_that_do_not_exist"])
def test_options_that_do_not_exist(options, error, message):
    with pytest.raises(getattr(errors, error), match=message):
        report_eval([REPORT], [REQUEST], KNOWN, lambda query: True, **options)


def test_signatures():
    def of(**options):
        report = {**REPORT, "collection_ids": ["c"]}
        return report_eval([report], [REQUEST], KNOWN, Recorded([]), **options).signature

    assert of() == "report_eval|agg:macro|judge:recorded#4f53cda1|v:4"
    assert of(compat="report_gen_eval") == "report_eval|compat:report_gen_eval|agg:macro|judge:recorded#4f53cda1|v:4"
    interval = "|judge:recorded#4f53cda1|ci:0.9,jackknife-t<100,bootstrap1000,seed12345|v:4"
    assert of(confidence_interval=0.9).endswith(interval)


@pytest.mark.parametrize(("predictions", "references", "message"), CASES["REFERENCE_ERRORS"])
def test_rows_that_can_not_be_scored(predictions, references, message):
    with pytest.raises(InputError, match=message):
        report_eval(predictions, references, KNOWN, lambda query: True)


def test_a_models_slip_never_raises():
    for text in ('{"request_id": "8", "sentences": []}', '{"sentences": []}', "I am sorry."):
        score = report_eval([text, text], [REQUEST, [REQUEST, {**REQUEST, "query_id": "9"}]], KNOWN, lambda query: True)
        assert score.as_dict()["recall"] == 0.0 or "8" in text
    assert report_eval(['{"request_id": "8", "sentences": []}'], [REQUEST], KNOWN).problems == {0: {"other_request": 1}}


def test_forms_are_equal():
    report = Report("7", "r", (), (ReportSentence("s1", ("d1",)),))
    row = {"request_id": "7", "run_id": "r", "sentences": [{"text": "s1", "citations": ["d1"]}]}
    wanted = report_eval([report], [REQUEST], KNOWN, lambda query: True).as_dict(detailed=True)
    for form in (row, json.dumps(row), f"Here it is:\n```json\n{json.dumps(row)}\n```"):
        found = report_eval([form], [REQUEST], KNOWN, lambda query: True).as_dict(detailed=True)
        assert {**found, "notes": {}} == wanted
        program = report_eval([form], [REQUEST | {"items": []}], {"c": KNOWN}, lambda query: True, length_limit=1)
        assert item_of(program)["flags"] == ["empty_report", "no_nuggets"]


def test_a_length_limit():
    report = {"sentences": [{"text": "ﬁ", "citations": ["d1"]}, {"text": "ab"}]}  # the first letter is two in NFKC
    for limit, n_sentences in ((1, 0), (2, 1), (4, 1), (5, 2)):
        score = report_eval([report], [REQUEST], KNOWN, lambda query: True, length_limit=limit)
        assert score.as_dict()["counts"]["sentences"] == n_sentences
        assert score.problems == ({0: {"over_limit": 2 - n_sentences}} if n_sentences < 2 else {})


def test_macro_f1_is_the_mean_of_the_reports():
    """As in the published tables of Auto-ARGUE, whose six averages come out of the counts of their topics."""

    def judge(query):
        return query.about["doc_id"] == "d1" if query.kind == "citation_support" else query.fields["answer"] == "a1"

    full = {"sentences": [{"text": "s", "citations": ["d1"]}]}
    half = {"sentences": [{"text": "s", "citations": ["d1"]}, {"text": "t", "citations": ["d2"]}]}
    requests = [
        {"items": [{"question_text": "q", "gold_answers": ["a1"]}]},
        {"items": [{"question_text": text, "gold_answers": [answer]} for text, answer in ("q1", "r2", "s3")] +
                  [{"question_text": "p", "gold_answers": ["a1"]}]},
    ]  # fmt: skip
    macro, micro = (
        report_eval([full, half], requests, KNOWN, judge, aggregate=how).as_dict() for how in ("macro", "micro")
    )
    assert (macro["sentence_support"], macro["nugget_coverage"]) == (0.75, 0.625)
    assert macro["f1"] == pytest.approx((1 + 2 * 0.5 * 0.25 / 0.75) / 2)
    assert (micro["sentence_support"], micro["nugget_coverage"]) == (2 / 3, 2 / 5)
    assert micro["f1"] == pytest.approx(0.5)


def test_undefined_reports_are_left_out_of_means_and_counted():
    reports = [{"run_id": "a", **REPORT}, {"run_id": "b", "sentences": []}]
    score = report_eval(reports, [REQUEST, {"items": []}], KNOWN, lambda query: query.kind != "negative")
    result = score.as_dict(detailed=True)
    assert result["counts"]["empty_reports"] == 1 and result["counts"]["reports_without_nuggets"] == 1
    assert result["recall"] == 1.0 and set(result["runs"]) == {"r", "b"} and math.isnan(result["runs"]["b"]["recall"])


def test_intervals():
    reports = [{"sentences": [{"text": f"s{index}", "citations": ["d1"]}]} for index in range(8)]

    def judge(query):
        return query.kind == "citation_support" or query.fields["sentence"] in ("s1", "s2", "s3")

    result = report_eval(reports, [REQUEST] * 8, KNOWN, judge, confidence_interval=0.9, n_resamples=200).as_dict()
    low, high = result["recall_ci"]
    assert 0 <= low < result["recall"] < high <= 1 and result["citation_support_ci"] == [1.0, 1.0]


# --- values by definition: each row of the table in docs/reports.md ---


@pytest.mark.parametrize("name", CASES["TABLE"])
def test_undefined_values(name):
    report, request, wanted, flags = CASES["TABLE"][name]
    score = report_eval([report], [request], KNOWN, lambda query: query.kind == "citation_support")
    result = score.as_dict(detailed=True)
    for key, value in zip(KEYS, wanted, strict=True):
        assert same(result[key], math.nan if value is None else value), key
    assert result["items"][0]["flags"] == flags
    assert score.parse_failures == ("parse_failure" in flags)


def test_no_rows_at_all():
    result = report_eval([], [], None, None).as_dict(detailed=True)
    assert all(math.isnan(result[key]) for key in KEYS) and result["n_unscored"] == 0 and result["items"] == []


def test_without_a_judge_every_question_is_left_open():
    with pytest.warns(UnscoredWarning, match=r"no verdict on 13 of 13 questions: no judge was given"):
        score = report_eval([REPORT], [REQUEST])
    assert math.isnan(score.results["recall"]) and "|judge:none|" in score.signature


# --- compat ---


def test_the_program_with_a_judge_that_is_no_recording():
    """Asked in waves, and scored as if it had been asked one by one."""
    row = next(row for row in ROWS if row["id"].startswith("mix-01"))
    recorded = Recorded(row["judgments"], defaults=row["defaults"])

    class Plain:
        name = "plain"
        waves = 0

        def ask(self, queries):
            Plain.waves += 1
            return recorded.ask(queries)

    score = report_eval([row["report"]], [row["nuggets"]], row["documents"], Plain(), compat="report_gen_eval")
    assert item_of(score)["scores"] == row["expected"]["rge"]["scores"] and Plain.waves == 3
    assert item_of(score)["judge_calls"] == row["expected"]["rge"]["judge_calls"]


def test_the_program_asks_a_whole_batch_again():
    def said(answer, *tries):
        return {"kind": "nugget_agreement", "sentence": "s", "question": "q", "answer": answer, "attempts": list(tries),
                "verdict": tries[-1]}  # fmt: skip

    report = {**REPORT, "collection_ids": ["c"], "sentences": [{"text": "s", "citations": ["d1"]}]}
    item = {"question_text": "q", "gold_answers": ["a", "b", "c"], "info": {"importance": "okay"}}
    request = {"query_id": "7", "items": [item]}
    support = {"kind": "citation_relevance", "sentence": "s", "doc_id": "d1", "verdict": " yes\n"}
    rows = [support, said("a", "YES"), said("b", "!503", "NO"), said("c", "Maybe", "YES")]
    item = item_of(report_eval([report], [request], {"c": KNOWN}, rows, compat="report_gen_eval"))
    assert (item["scores"], item["errors"]) == ([2], [])
    assert item["judge_calls"] == 1 + 2 + 3 + 3  # b fails at once, then c, then all answer


def test_the_program_gives_zeros_where_nothing_is_defined():
    report = {"request_id": "7", "run_id": "r", "collection_ids": [], "sentences": []}
    result = report_eval([report, "no report"], [[], []], {}, compat="report_gen_eval").as_dict()
    assert (result["recall"], result["precision"], result["parse_failures"]) == (0.0, 0.0, 1)
    assert result["counts"]["empty_reports"] == 1 and "parse_failures" not in result["counts"]
    assert math.isnan(result["sentence_support"])


# ---- text of models


def test_text_is_read_as_the_task_reads_it():
    differing = []
    for case in test_batteries.cases("reports"):
        doc = test_batteries.document_of(case)
        documents = {shown["id"]: shown for shown in json.loads(doc["documents"])}
        for request in ({"items": []}, {"items": [], "doc_ids": list(documents)}):
            (row,) = read_rows([case["answer"]], [request], documents, limit=doc["limit"])
            of_task = parse_answer(case["answer"], doc).value
            if (row.report and row.report.sentences) != (of_task and of_task.sentences):
                differing.append(case["id"])
    assert differing == []


def test_a_number_is_the_prompts_document():
    documents = {"d1": "It rained.", "d2": {"title": "Snow", "text": "It snowed."}, "d3": "Sun."}
    for answer, request, cited in CASES["test_a_number_is_the_prompts_document"]:
        item = item_of(report_eval([answer], [request], documents, lambda query: query.kind == "citation_support"))
        assert [one["doc_id"] for one in item["sentences"][0]["citations"]] == cited, answer
    assert item["sentences"][0]["citations"][0]["known"] is False


@pytest.mark.parametrize("documents", [{1: "one", "2": "two"}, {"c": {1: "one", "2": "two"}}, {"1": "one", 2: "two"}])
def test_keys_of_documents_are_compared_as_text(documents):
    report = {"sentences": [{"text": "s", "citations": ["1", 2]}]}
    judge = Counting(yes("citation_support"))
    assert report_eval([report], [REQUEST], documents, judge).as_dict()["citation_support"] == 1.0
    assert [query.fields["document"] for query in judge.waves[0]] == ["one", "two"]
    (row,) = read_rows(["It rained [2]."], [REQUEST], {8: {"title": "T", "text": "one"}, 9: "two"})
    assert row.report.sentences == (ReportSentence("It rained.", ("9",)),)


@pytest.mark.parametrize("compat", [None, "report_gen_eval"])
def test_nuggets_without_info_count_the_same_whichever_way_they_come_in(compat, tmp_path):
    """The program trips over them; for us they weigh 1."""
    bare, vital = ({"question_text": question, "gold_answers": [question]} for question in "qr")
    request = {"query_id": "7", "items": [bare, vital | {"info": {"importance": "vital"}}]}
    report = {"request_id": "7", "collection_ids": ["c"], "sentences": [{"text": "q", "citations": ["d1"]}]}
    (tmp_path / "nuggets.jsonl").write_text(json.dumps(request))
    (tmp_path / "reports.jsonl").write_text(json.dumps({**report, "run_id": "r"}))
    run = read_run(tmp_path / "reports.jsonl", tmp_path / "nuggets.jsonl")

    def judge(query):
        return query.fields.get("answer") in (None, query.fields["sentence"])

    for form in (request, json.dumps(request), [request], run.requests[0], run.requests[0].to_row()):
        item = item_of(report_eval([report], [form], {"c": KNOWN}, judge, compat=compat))
        assert item["scores"] == ([1] if compat is None else [0])
        assert item["ratios"]["nugget_coverage_weighted"] == ([1, 3] if compat is None else [0, 0])
    of_files = score_run(run, CallableJudge(judge), documents={"c": KNOWN}, compat=compat)
    assert item_of(of_files)["scores"] == item["scores"]


def test_a_pool_of_documents_has_no_numbers():
    pool = {f"d{number}": "It rained." for number in range(1001)}
    (row,) = read_rows(["It rained [2]."], [REQUEST], pool)
    assert row.report.sentences == (ReportSentence("It rained.", ("2",)),)
    (row,) = read_rows(["It rained [2]."], [REQUEST | {"doc_ids": ["d9", "d8"]}], pool)
    assert row.report.sentences == (ReportSentence("It rained.", ("d8",)),)


def test_the_program_reads_no_prose():
    assert report_eval(["It rained [1]."], [REQUEST], {"c": KNOWN}, compat="report_gen_eval").parse_failures == 1
