"""Two numbers, two signatures: every option of every metric, with two values that show it.

``python -m tests.test_signatures`` writes the table of docs/developing/signature_options.md.
"""

import functools
import json
import re
import warnings
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tls_tasks.core.options import has_custom, signed_options
from tls_tasks.registry import METRICS
from tls_tasks.reports.judges.choose import _KINDS, check_judge, make_judge
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.timelines.read import OPTIONS as POLICY
from tls_tasks.trees.leaf_metrics import resolve_metric
from tls_tasks.trees.leaf_values import BUILT_IN

PAGE = ROOT / "docs" / "developing" / "signature_options.md"
BEGIN, END = "<!-- table: python -m tests.test_signatures -->\n\n", "\n<!-- end of table -->\n"

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
ROWS = CASES["ROWS"]
"""Family -> rows, and what each call is given besides."""
INTERVAL, OF_TIMELINES = CASES["INTERVAL"], CASES["OF_TIMELINES"]
"""What several metrics move alike."""


class Always:
    """Gives one answer to everything, under two names."""

    def __init__(self, answer):
        self.answer = answer

    def yes(self, *_):
        return self.answer

    def no(self, *_):
        return self.answer


def commas(text):
    return text.split(",")


def in_words(query):
    fields = query.fields
    if query.kind == "first_instance":
        return fields["sentence"] not in fields["previous"]
    if query.kind == "nugget_agreement":
        return fields["answer"] in fields["sentence"]
    if query.kind == "negative":
        return False
    return query.kind != "citation_support" or "Rain" in fields.get("document", "")


ROWS["reports"]["judge"] = in_words

POLICIES = {
    name: (f"policy: {name}", {"policy": {name: choices[0]}}, {"policy": {name: choices[-1]}})
    for name, choices in POLICY.items()
}
BY_FUNCTION = ("tokenizer: a function", {"tokenizer": str.split}, {"tokenizer": commas})


def split_by(left, right):
    return [{"rouge_types": ["rougeLsum"], "split_summaries": how} for how in (left, right)]


def leaf_of(function):
    return {"leaf_metrics": {"string": {"metric": function, "name": "own"}}}


MOVES = CASES["MOVES"]
"""Metric -> (option, and what of it, two calls that give different numbers); what is no JSON is added here."""
MOVES["alignment_rouge"] += [*OF_TIMELINES, *POLICIES.values(), BY_FUNCTION]
# What repeated entries say moves texts only.
MOVES["date_f1"] += [*OF_TIMELINES, *(row for name, row in POLICIES.items() if name != "repeated")]
MOVES["rouge_l"] += [BY_FUNCTION, *INTERVAL, ("split_summaries: a function", *split_by(str.split, str.splitlines))]
MOVES["report_eval"] += [("judge: a function", {"judge": Always(True).yes}, {"judge": Always(False).no}), *INTERVAL]
MOVES["evidence_extraction"] += [BY_FUNCTION, *INTERVAL]
MOVES["tree_eval"] += [*INTERVAL, ("leaf_metrics: a function", leaf_of(Always(0.5).yes), leaf_of(Always(0.25).no))]

ADDS = CASES["ADDS"]
"""What adds results and moves none."""

# In the signature, though two engines that are both right give the same number; and tilse is an extra.
SAME_BY_DESIGN = {"alignment_rouge": {"engine"}}


MOVED = [pytest.param(name, *row, id=f"{name}-{row[0]}") for name, rows in MOVES.items() for row in rows]
ADDED = [pytest.param(name, *row, id=f"{name}-{row[0]}") for name, rows in ADDS.items() for row in rows]


def scored(metric, options):
    rows = {**ROWS[METRICS[metric].family], **options}
    if "confidence_interval" in options:  # of few rows all resamples have the same ends
        rows |= {name: rows[name] * 60 for name in ("predictions", "references", "sources") if name in rows}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        score = METRICS[metric].load()(**rows)
    numbers = {key: value for key, value in score.as_dict().items() if key != "signature"}
    return score.signature, numbers


def as_trec(report):
    """The same report in the form of TREC: citations are places in a list of documents."""
    cited = sorted({name for sentence in report["sentences"] for name in sentence["citations"]})
    responses = [
        {"text": sentence["text"], "citations": [cited.index(name) for name in sentence["citations"]]}
        for sentence in report["sentences"]
    ]
    metadata = {"topic_id": report["request_id"], "run_id": report["run_id"]}
    return {"metadata": metadata, "references": cited, "responses": responses}


def forms(family, option, content):
    """One prediction in the forms that a caller may give."""
    if family == "timelines":  # a day is a day for a program: what dates may mean, and lines without any, are in texts
        pairs = [line.split(": ", 1) for line in content.splitlines() if ": " in line]
        if is_of_days := option not in ("policy: partial", "policy: range", "policy: day_month"):
            pairs = [pair for pair in pairs if re.fullmatch(r"[\d-]{10}", pair[0])]
        entries = [{"date": date, "text": text} for date, text in pairs]
        texts = "\n".join(map(": ".join, pairs)), json.dumps(pairs), json.dumps(entries)
        return (*texts, pairs, entries) if is_of_days else texts
    if family == "trees":
        content = json.loads(content[content.index("{") :]) if isinstance(content, str) else content
    text = json.dumps(content)
    if family == "reports":
        return content, text, as_trec(content)
    return content, text, {"items": content} if family == "evidence" else f"<think>So.</think>{text}"


@pytest.mark.parametrize(("metric", "option", "left", "right"), [row for row in MOVED if row.values[0] != "rouge_l"])
def test_an_option_counts_alike_in_every_form_of_the_same_content(metric, option, left, right):
    """The rows whose numbers the option moves, as text, JSON and objects: one number under one signature."""
    family = METRICS[metric].family
    contents = left.get("predictions", ROWS[family]["predictions"])
    columns = list(zip(*(forms(family, option, content) for content in contents), strict=True))
    if option == "parse_mode":  # strict: nothing may stand around a tree
        columns.pop()
    for options in (left, right):
        scores = {repr(scored(metric, {**options, "predictions": list(column)})) for column in columns}
        assert len(scores) == 1, scores


@pytest.mark.parametrize(("metric", "option", "left", "right"), MOVED)
def test_what_moves_a_number_moves_the_signature(metric, option, left, right):
    (signed, numbers), (other, others) = scored(metric, left), scored(metric, right)
    assert repr({key: numbers[key] for key in numbers if key in others}) != repr(others) != repr(numbers)
    assert signed != other
    again, numbers_again = scored(metric, left)
    assert (again, repr(numbers_again)) == (signed, repr(numbers))  # and nothing else does


@pytest.mark.parametrize(("metric", "option", "more"), ADDED)
def test_what_adds_results_moves_none(metric, option, more):
    (signed, numbers), (other, others) = scored(metric, {}), scored(metric, more)
    assert signed == other
    assert others.keys() > numbers.keys()
    assert repr({key: others[key] for key in numbers}) == repr(numbers)


@pytest.mark.parametrize("metric", METRICS)
def test_no_option_is_forgotten(metric):
    assert metric in MOVES and METRICS[metric].family in ROWS, (
        f"{metric}: enter it in tests/test_signatures.json: rows that tell its options apart in ROWS, and for each "
        "option two values with different numbers in MOVES (or in ADDS, if the option only adds results)"
    )
    shown = {row[0].partition(":")[0] for row in MOVES[metric]} | SAME_BY_DESIGN.get(metric, set())
    added = {row[0] for row in ADDS.get(metric, ())}
    known = signed_options(METRICS[metric].load())
    assert shown == {name for name, sign in known.items() if sign}
    assert added == {name for name, sign in known.items() if not sign}


def test_an_engine_signs():
    from tls_tasks.core.options import signature
    from tls_tasks.timelines.alignment_rouge import _AlignmentRougeConfig

    assert "|engine:tilse|" in signature("alignment_rouge", _AlignmentRougeConfig(engine="tilse"), 1)


# --- the page ---


def table():
    """A line for each metric and kind of judge: its options with the name that the signature gives each."""
    lines = ["| metric | option (its name in the signature) | adds results only, or moves none |", "|---|---|---|"]
    for metric, spec in METRICS.items():
        signs = signed_options(spec.load())
        signed = [f"{option} (`{signs[option]}`)" for option in signs if signs[option]]
        lines.append(f"| {metric} | {', '.join(signed)} | {', '.join(row[0] for row in ADDS.get(metric, ()))} |")
    for kind, rows in MOVES_JUDGE.items():
        named = dict.fromkeys(option.partition(":")[0] for option, *_ in rows)
        silent = sorted(CARRIED.get(kind, {}).keys() - {kind})
        lines.append(f"| judge: {kind} (all in `judge`) | {', '.join(named)} | {', '.join(silent)} |")
    return "\n".join(lines)


def with_table(text):
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{table()}\n{END}{rest.partition(END)[2]}"


def test_the_page_has_this_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_table(text), "run python -m tests.test_signatures"


@pytest.mark.parametrize("name", BUILT_IN)
def test_options_of_leaf_metrics_sign(name):
    plain = resolve_metric(name)
    assert resolve_metric(name, normalize="lower").signature != plain.signature
    assert resolve_metric(name, name="other").signature == plain.signature  # a key in results, no other number


def test_what_a_leaf_metric_of_ones_own_is_told_signs():
    metric = {"metric": min, "name": "least", "score_range": (0, 9)}
    schema = {"a": "number"}
    rows = [{"a": 3}], [{"a": 4}]

    def signed(**more):
        return METRICS["tree_eval"].load()(*rows, schema, {"a": {**metric, **more}}).signature

    assert len({signed(), signed(score_range=(0, 8)), signed(higher_is_better=False), signed(normalize="lower")}) == 4


# --- judges, as a task's metadata and a command line specify them ---


JUDGES, ENDPOINTS = CASES["JUDGES"], CASES["ENDPOINTS"]
"""Kind of judge -> its first specification; what moves the name of a judge of an endpoint."""
MOVES_JUDGE = {"provider": ENDPOINTS, "base_url": ENDPOINTS, **CASES["MOVES_JUDGE"]}
"""Kind of judge -> (option, two sets of options that have another name each)."""
# What a judge is given, where, and how often it is tried: the same questions.
CARRIES = CASES["CARRIES"]
CARRIED = {"provider": CARRIES, "base_url": CARRIES, **CASES["CARRIED"]}
NAMED = [pytest.param(kind, *row[1:], id=f"{kind}-{row[0]}") for kind, rows in MOVES_JUDGE.items() for row in rows]


@pytest.fixture
def specified(tmp_path, monkeypatch):
    """A kind of judge with options -> its specification."""
    for variable in ("OPENAI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(variable, "sk")
    (tmp_path / "verdicts.jsonl").write_text('{"kind": "negative", "sentence": "s", "verdict": "NO"}')

    def spec(kind, options):
        whole = {**JUDGES[kind], **options}
        return {
            name: value.replace("FOLDER", str(tmp_path)) if isinstance(value, str) else value
            for name, value in whole.items()
        }

    return spec


@pytest.mark.parametrize(("kind", "left", "right"), NAMED)
def test_what_makes_another_judge_makes_another_name(specified, kind, left, right):
    names = [check_judge(specified(kind, options)) for options in (left, right, left)]
    assert len(set(names)) == 2 and names[2] == names[0]


@pytest.mark.parametrize("kind", JUDGES)
def test_no_option_of_a_judge_is_forgotten(kind):
    shown = {row[0].partition(":")[0] for row in MOVES_JUDGE[kind]}
    carried = CARRIED.get(kind, {}).keys() - {kind}
    assert shown | carried == set(_KINDS[kind]) - {kind} and not shown & carried


def test_an_endpoint_is_another_judge_if_it_is_sent_something_else(specified, serve):
    server = serve(lambda *_: "YES")

    def sent(options):
        server.requests.clear()
        judge = make_judge(specified("base_url", {"base_url": server.url, **options}))
        report_eval(**{**ROWS["reports"], "documents": {"d1": "Rain. " * 30, "d2": "Sun."}, "judge": judge})
        return judge.name, sorted(map(json.dumps, server.requests))

    name, bodies = sent({})
    for option, value in CARRIES.items():
        assert sent({} if value is None else {option: value}) == (name, bodies), option
    for option, left, right in ENDPOINTS:
        (one, asked), (other, asked_otherwise) = sent(left), sent(right)
        assert one != other and asked != asked_otherwise, option


# --- functions of the caller ---


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (commas, "commas"),
        (lambda text: [text], "<lambda>"),
        ("a".split, "str.split"),
        (functools.partial(list), "partial"),
    ],
)
def test_a_function_of_the_caller_is_in_the_signature_by_name_and_no_board_takes_it(function, name):
    signature = METRICS["rouge_l"].load()([], [], tokenizer=function).signature
    assert f"|tok:custom({name})|" in re.sub(r"test_[a-z_]+\.[^)]*<locals>\.", "", signature) and has_custom(signature)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
