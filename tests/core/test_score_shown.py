"""What a score shows of itself: short, on one line, escaped, and the same after a copy.

``python -m tests.core.test_score_shown`` records the results of some options.
"""

import copy
import json
import operator
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from tests.core.test_front_door import NAMES, ROWS
from tls_tasks.core.errors import InputError
from tls_tasks.core.score import Score, ratio, total
from tls_tasks.registry import METRICS

RECORDED = Path(__file__).with_suffix(".json")
CASES = json.loads(RECORDED.read_text("utf-8"))


def score_of(name):
    predictions, references, options = ROWS[METRICS[name].family]
    return getattr(tls_tasks, name)(predictions, references, **options)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_attributes_and_items(name):
    score = score_of(name)
    told = score.as_dict()
    for key, value in told.items():
        assert score[key] == value or value != value
    for key in score.definitions:
        assert getattr(score, key) == told[key] or told[key] != told[key]
    near = next(iter(score.definitions))
    with pytest.raises(AttributeError, match=f"{near}s.*did you mean '{near}'"):
        getattr(score, f"{near}s")
    with pytest.raises(KeyError, match=f"{near}s.*did you mean '{near}'"):
        score[f"{near}s"]
    assert not hasattr(score, "__array__") and not hasattr(score, "_repr_png_")


@pytest.mark.parametrize("name", NAMES)
def test_a_score_survives_copy_and_pickle(name):
    score = score_of(name)
    copies = [copy.copy(score), copy.deepcopy(score), pickle.loads(pickle.dumps(score))]
    for own in copies:
        assert repr(own) == repr(score) and own.explain(1) == score.explain(1)
        assert own == score
    assert score_of(name) == score


def test_attributes_of_what_is_not_made_yet_do_not_recurse():
    with pytest.raises(AttributeError, match="no attribute or result 'f1'"):
        getattr(Score.__new__(Score), "f1")  # noqa: B009


@pytest.mark.parametrize("name", NAMES)
def test_the_repr_is_short(name):
    predictions, references, options = ROWS[METRICS[name].family]
    if METRICS[name].family == "reports":
        return  # a request is answered once
    few, many = (getattr(tls_tasks, name)(predictions * n, references * n, **options) for n in (5, 500))
    assert abs(len(repr(many)) - len(repr(few))) < 10 and len(repr(many)) < 400
    assert f"n {len(many.units)}, {many.signature}>" in repr(many)


def test_a_row_that_is_not_there_is_named():
    with pytest.raises(InputError, match="row: got 2, expected a row from 0 to 1"):
        score_of("rouge_l").explain(2)


def test_without_topics_it_says_so():
    with pytest.raises(InputError, match="topics: got None, expected a score of rows with topics"):
        score_of("date_f1").topic_results()


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("date_f1", "  flags: empty_prediction"),
        ("tree_eval", "  reading: no_json: I cannot help."),
        ("evidence_extraction", "  problems in the answer: unread"),
        ("report_eval", "  nothing could be read in the answer"),
    ],
)
def test_an_answer_that_cannot_be_read_is_told_so(name, last):
    _, (wanted, _), options = ROWS[METRICS[name].family]
    assert getattr(tls_tasks, name)(["I cannot help."], [wanted], **options).explain(0).splitlines()[-1] == last


def explained(name, row=0):
    return score_of(name).explain(row).splitlines()


def test_words_are_aligned():
    assert explained("rouge_l")[1:] == [
        "  3 words in common of 3 predicted and 6 in reference 0",
        "  reference  [the] [cat] [sat] on the mat",
        "  predicted  [the] [cat] [sat]",
    ]


def test_one_word_is_told_in_the_singular():
    told = tls_tasks.rouge_l(["the cat " * 20], ["a cat sat"]).explain(0)
    assert "\n  1 word in common of 40 predicted and 3 in reference 0\n" in told
    assert "\n" + " " * 13 + "cat the cat" in told


def test_dates_are_aligned_with_both_texts():
    assert explained("date_f1")[1:] == [
        "  dates right: 2011-01-28", "  dates missed: -", "  dates spurious: 2011-01-25"
    ]  # fmt: skip
    lines = explained("alignment_rouge")
    assert lines[1:4] == [
        "  2011-01-25 ~ 2011-01-28: weight 0.25, 0 words in common (precision)",
        "    predicted  Protests begin.",
        "    reference  Clashes.",
    ]
    assert "  2011-01-28 ~ 2011-01-28: weight 1, 1 word in common (precision and recall)" in lines


def test_objects_leaves_and_sentences():
    assert explained("evidence_extraction")[-2:] == ["    = time: today / today", "  missed    mind: felt calm"]
    assert "  spurious  food: had tea; missing_level" in explained("evidence_extraction", 1)
    assert ["~", "name", '"baroo"', '"bar"', "0.75"] in [line.split() for line in explained("tree_eval")]
    assert "        +2  It rained." in explained("report_eval")
    assert "      open  r" not in explained("report_eval")  # the judge says that every sentence answers it


HOSTILE = ["<script>alert(1)</script>", "a\nb", "\x1b[31mred", "\u202eback", "\ud800", "'\"&<>", "\u2028", "x" * 5000]


@given(st.sampled_from(HOSTILE) | st.text(min_size=3, max_size=30))
def test_no_text_breaks_what_is_shown(text):
    score = Score(text, text, [{"a": 1, "n": 2}], {text: ratio("a", "n"), "n_": total("n")})
    assert repr(score).isprintable()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_an_explanation(text):
    tea = {"domain": text, "evidence_span": text}
    report = {"sentences": [{"text": text, "citations": [text]}]}
    request = {"items": [{"question_text": text, "gold_answers": [text]}]}
    tree, schema = {text: text, "list": [text]}, {"list": ["string"]}
    for score in (
        tls_tasks.timelines.score([{"2011-01-25": [text]}], [{"2011-01-25": [text, text], "2011-01-26": text}]),
        tls_tasks.rouge_l([text], [f"{text} {text}"]),
        tls_tasks.evidence_extraction([[tea, tea]], [[tea]], [text]),
        tls_tasks.tree_eval([tree], [{"list": [text, text]}], schema),
        tls_tasks.report_eval([report], [request], judge=lambda query: True),
        tls_tasks.report_eval([{**report, "request_id": "7", "run_id": "a", "collection_ids": ["c"]}],
                              [{**request, "query_id": "7", "test_collection": "c"}],
                              documents={text: text}, judge=lambda query: True, compat="report_gen_eval"),
    ):  # fmt: skip
        for line in score.explain(0).splitlines():
            assert line.isprintable() and len(line) < 1500


def scored(name, rows, options):
    predictions, references, own = ROWS[getattr(METRICS.get(name), "family", "timelines")]
    given = {"predictions": predictions, "references": references, **own, **CASES["rows"].get(rows, {}), **options}
    return operator.attrgetter(name)(tls_tasks)(**given)


def rounded(value):
    return [*map(rounded, value)] if isinstance(value, list) else "NaN" if value != value else round(value, 9)


def results(*case):
    return {key: rounded(value) for key, value in scored(*case).results.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "rows", "options", "recorded"), CASES["cases"])
def test_the_results_of_options_are_those_recorded(name, rows, options, recorded):
    assert results(name, rows, options) == recorded


if __name__ == "__main__":
    lines = [json.dumps([*case, results(*case)], ensure_ascii=False) for *case, _ in CASES["cases"]]
    rows = [f"  {json.dumps(name)}: {json.dumps(given, ensure_ascii=False)}" for name, given in CASES["rows"].items()]
    whole = ",\n".join(rows), ",\n".join(f"  {line}" for line in lines)
    RECORDED.write_text('{{\n"rows": {{\n{}\n}},\n"cases": [\n{}\n]\n}}\n'.format(*whole), "utf-8")
