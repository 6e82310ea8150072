"""Two numbers, two signatures: every option of every metric, with two values that show it.

``python -m tests.test_signatures`` writes the table of docs/signatures.md.
"""

import ast
import enum
import json
import os
import random
import re
import subprocess
import sys
import types
import warnings

import pytest

from tests.conftest import ROOT
from tests.reports.judges.server import Server
from tls_tasks.core.custom import custom_sign, is_unsigned
from tls_tasks.core.options import options_of
from tls_tasks.registry import METRICS
from tls_tasks.reports.judges.choose import _KINDS, check_judge, make_judge
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.types import QUERY_KINDS
from tls_tasks.timelines.read import OPTIONS as POLICY
from tls_tasks.trees.leaf_metrics import resolve_metric
from tls_tasks.trees.leaf_values import BUILT_IN

PAGE = ROOT / "docs" / "signatures.md"
BEGIN, END = "<!-- table: python -m tests.test_signatures -->\n\n", "\n<!-- end of table -->\n"


def commas(text):
    return text.split(",")


def always(query):
    return True


def never(query):
    return False


TIMELINES = {
    "predictions": [
        "2011-01-25: Mass protests erupted in Cairo.\nAnd the police was there.\n2011-01: Talks are held.\n"
        "2011-01-27 to 2011-01-28: A curfew.\n2011-01-25: Tear gas.\n03/04/2011: A vote.",
        "2011-02-11: Mubarak resigns. Crowds cheer.",
    ],
    "references": [
        [
            {"2011-01-25": ["Protests erupt in Cairo and tear gas is used."], "2011-01-28": ["A curfew by police."]},
            {"2011-01-01": ["Talks."], "2011-01-27": ["The protest of the crowds."], "2011-01-26": ["Police."]},
        ],
        [{"2011-02-11": ["Mubarak resigns."], "2011-02-12": ["Crowds cheering."]}] * 2,
    ],
}
TOPICS = (None, ["egypt", "egypt"])  # and see SKEWED
SKEWED = {name: [rows[0], rows[0], rows[1]] for name, rows in TIMELINES.items()}

RULES = [
    {"question_id": "1", "question_text": "When?", "gold_answers": ["Monday", "night"], "aggregator_type": "AND"},
    {"question_id": "2", "question_text": "Who?", "gold_answers": ["Ann", "Bob"]},
]
SAID = {"kind": "citation_support", "sentence": "It rained on Monday, says Ann.", "doc_id": "d1"}
CLAIM = {"text": "It rained on Monday, says Ann.", "citations": ["d1"]}
RUN = {"run_id": "r", "collection_ids": ["c"]}
REPORTS = {
    "predictions": [
        {
            "request_id": "7",
            **RUN,
            "sentences": [CLAIM, *[{"text": "Bob was there.", "citations": []}] * 2, {**CLAIM, "text": "Wet."}],
        },
        {"request_id": "8", **RUN, "sentences": [{"text": "Nothing.", "citations": ["d2"]}]},
        {"request_id": "9", **RUN, "sentences": [CLAIM]},
    ],
    "references": [{"query_id": name, "items": RULES} for name in "789"],
    "documents": {"d1": "Rain on Monday, says Ann.", "d2": "Sun."},
}


def in_words(query):
    fields = query.fields
    if query.kind == "first_instance":
        return fields["sentence"] not in fields["previous"]
    if query.kind == "nugget_agreement":
        return fields["answer"] in fields["sentence"]
    if query.kind == "negative":
        return False
    return query.kind != "citation_support" or "Rain" in fields.get("document", "")


JOURNAL = {"polarity": "present", "time_bucket": "today", "intensity_bucket": "low"}
EVIDENCE = {
    "predictions": [
        [
            {"domain": "food", "evidence_span": "had tea, twice", **JOURNAL},
            {"domain": "food", "evidence_span": "had some tea", **JOURNAL},
            {"domain": "mind", "evidence_span": "sleepy", **JOURNAL},
        ],
        [
            {"domain": "food", "evidence_span": "Bread", **JOURNAL},
            *({"domain": "mind", "evidence_span": text, **JOURNAL} for text in ("a b", "a")),
        ],
    ],
    "references": [
        [
            {"domain": "food", "evidence_span": "had tea twice", **JOURNAL},
            {"domain": "food", "evidence_span": "had some", **JOURNAL},
        ],
        [
            {"domain": "food", "evidence_span": "bread and jam", **JOURNAL},
            *({"domain": "mind", "evidence_span": text, **JOURNAL} for text in ("a b c", "a b")),
        ],
    ],
    "sources": ["I had some tea. I had tea twice.", "Bread and jam."],
}

TREES = {
    "predictions": [
        'Here: {"a": "1", "b": {"c": ["x", "w", "zz"], "d": 3.004}, "e": "Café"}',
        '{"a": 2, "b": {"d": 7}}',
    ],
    "references": [
        {"a": 1, "b": {"c": ["w", "xy"], "d": 3.0}, "e": "cafe"},
        {"a": 2, "b": {"c": ["q"], "d": 7}, "e": "no"},
    ],
}
SCHEMA = {"a": "integer", "b": {"c": ["string"], "d": "number"}, "e": "string"}
JSON_SCHEMA = {"type": "object", "properties": {name: {"type": "string"} for name in ("e", "f")}}

DEEP = {
    "predictions": [{"a": "x", "b": {"c": "x", "d": "x"}}],
    "references": [{"a": "x", "b": {"c": "y", "d": "y"}}],
    "schema": {"a": "string", "b": {"c": "string", "d": "string"}},
}
DAYS = {"predictions": [{"a": "01/02/2024"}], "references": [{"a": "2024-02-01"}], "schema": {"a": "date"}}
FLAT = {"predictions": [{"f": "b"}], "references": [{"e": "a", "f": "b"}]}

SUMMARIES = {
    "predictions": ["The dogs ran.\nA cat, sat", "", "Rain fell. It was wet.", "walking dogs bark"],
    "references": [["A cat sat\nthe dog runs", "A dog"], [""], ["It was wet. Rain fell."], ["walked dog barks"]],
}
ALL_NO = dict.fromkeys(QUERY_KINDS, "NO")
SUM = {"rouge_types": ["rougeLsum"]}
CI = {"confidence_interval": 0.9}

# metric -> rows, and what each call is given besides
ROWS = {
    "alignment_rouge": (TIMELINES, {}),
    "date_f1": (TIMELINES, {}),
    "rouge_l": (SUMMARIES, {}),
    "report_eval": (REPORTS, {"judge": in_words}),
    "evidence_extraction": (EVIDENCE, {}),
    "tree_eval": (TREES, {"schema": SCHEMA}),
}

_POLICIES = [
    (f"policy: {name}", {"policy": {name: POLICY[name][0]}}, {"policy": {name: POLICY[name][-1]}}) for name in POLICY
]
# Of a policy these two decide on texts only.
SAME_DATES = ("policy: repeated", "policy: undated")

_TIMELINES = [
    ("reference_mode", {"reference_mode": "separate"}, {"reference_mode": "joint"}),
    ("aggregate", {"aggregate": "f_of_means"}, {"aggregate": "mean_f"}),
    ("beta", {"beta": 1.0}, {"beta": 2.0}),
    ("topics", {}, {"topics": ["egypt", "libya", "libya"]}),
    *_POLICIES,
]
_INTERVAL = [
    ("confidence_interval", {"confidence_interval": 0.9}, {"confidence_interval": 0.5}),
    ("n_resamples", {**CI, "n_resamples": 20}, {**CI, "n_resamples": 500}),
    ("seed", {**CI, "seed": 1, "n_resamples": 50}, {**CI, "seed": 2, "n_resamples": 50}),
]
EVEN = {"leaf_metrics": {"integer": lambda one, other: 1.0}}

# metric -> (option, and what of it, two calls that give different numbers)
MOVES = {
    "alignment_rouge": [
        *_TIMELINES,
        ("variant", {"variant": "align+m:1"}, {"variant": "concat"}),
        ("tokenizer", {"tokenizer": "rouge155"}, {"tokenizer": "unicode"}),
        ("tokenizer: a function", {"tokenizer": str.split}, {"tokenizer": commas}),
        ("remove_stopwords", {"remove_stopwords": True}, {"remove_stopwords": False}),
        ("use_stemmer", {"use_stemmer": True}, {"use_stemmer": False}),
    ],
    "date_f1": [
        *(row for row in _TIMELINES if row[0] not in SAME_DATES),
        ("tolerance", {"tolerance": 0}, {"tolerance": 1}),
    ],
    "rouge_l": [
        ("tokenizer", {"tokenizer": "whitespace"}, {"tokenizer": "unicode"}),
        ("tokenizer: a function", {"tokenizer": str.split}, {"tokenizer": commas}),
        ("use_stemmer", {"use_stemmer": False}, {"use_stemmer": True}),
        ("rouge_types", {}, SUM),
        ("split_summaries", SUM, {**SUM, "split_summaries": "regex"}),
        (
            "split_summaries: a pattern",
            {**SUM, "split_summaries": re.compile("A")},
            {**SUM, "split_summaries": re.compile("A", re.I)},
        ),
        (
            "split_summaries: a function",
            {**SUM, "split_summaries": str.split},
            {**SUM, "split_summaries": str.splitlines},
        ),
        ("empty_reference", {"empty_reference": "one"}, {"empty_reference": "zero"}),
        ("use_aggregator", {"use_aggregator": True}, {"use_aggregator": False}),
        *_INTERVAL,
    ],
    "report_eval": [
        ("judge: a function", {"judge": always}, {"judge": never}),
        (
            "judge: a recording",
            {"judge": {"judgments": [{**SAID, "verdict": "YES"}], "defaults": ALL_NO}},
            {"judge": {"judgments": [{**SAID, "verdict": "NO"}], "defaults": ALL_NO}},
        ),
        (
            "judge: defaults of a recording",
            {"judge": {"judgments": [], "defaults": ALL_NO}},
            {"judge": {"judgments": [], "defaults": {**ALL_NO, "citation_support": "YES"}}},
        ),
        ("compat", {"compat": None}, {"compat": "report_gen_eval"}),
        ("recall_unit", {"recall_unit": "answer"}, {"recall_unit": "item"}),
        ("first_instance_scope", {"first_instance_scope": "cited"}, {"first_instance_scope": "any"}),
        ("nugget_answers", {"nugget_answers": "any"}, {"nugget_answers": "all"}),
        ("length_limit", {"length_limit": None}, {"length_limit": 10}),
        ("aggregate", {"aggregate": "macro"}, {"aggregate": "micro"}),
        *_INTERVAL,
    ],
    "evidence_extraction": [
        ("schema", {}, {"schema": {"domains": ["food"], "attributes": []}}),
        ("threshold", {"threshold": 0.5}, {"threshold": 0.1}),
        ("overlap", {"overlap": "jaccard"}, {"overlap": "exact"}),
        ("tokenizer", {"tokenizer": "whitespace", "threshold": 0.6}, {"tokenizer": "strip_punct", "threshold": 0.6}),
        ("tokenizer: a function", {"tokenizer": str.split}, {"tokenizer": commas}),
        ("matching", {"matching": "greedy"}, {"matching": "optimal"}),
        (
            "require_grounding",
            {"require_grounding": False, "threshold": 0.1},
            {"require_grounding": True, "threshold": 0.1},
        ),
        ("postprocess", {"postprocess": None}, {"postprocess": "drop"}),
        *_INTERVAL,
    ],
    "tree_eval": [
        ("schema", {"schema": SCHEMA}, {"schema": {**SCHEMA, "e": ["cafe", "no"]}}),
        (
            "schema: required keys",
            {**FLAT, "schema": JSON_SCHEMA},
            {**FLAT, "schema": {**JSON_SCHEMA, "required": ["e"]}},
        ),
        ("leaf_metrics", {}, {"leaf_metrics": {"string": "token_f1"}}),
        (
            "leaf_metrics: a function",
            {"leaf_metrics": {"string": {"metric": lambda one, other: 0.5, "name": "own"}}},
            {"leaf_metrics": {"string": {"metric": lambda one, other: 0.25, "name": "own"}}},
        ),
        ("compat", {"compat": None}, {"compat": "treeval"}),
        ("compat: extractbench", {"compat": None}, {"compat": "extractbench"}),
        ("list_order", {"list_order": "unordered"}, {"list_order": "ordered"}),
        ("hierarchical_averaging", {**DEEP, "hierarchical_averaging": False}, {**DEEP, "hierarchical_averaging": True}),
        ("parse_mode", {"parse_mode": "lenient"}, {"parse_mode": "strict"}),
        ("options: types", {"options": {"types": "strict"}, **EVEN}, {"options": {"types": "loose"}, **EVEN}),
        ("options: list_items", {"options": {"list_items": "nodes"}}, {"options": {"list_items": "surplus"}}),
        (
            "options: unmatched_items",
            {"options": {"unmatched_items": "nodes"}},
            {"options": {"unmatched_items": "worst"}},
        ),
        ("options: aggregate", {"options": {"aggregate": "micro"}}, {"options": {"aggregate": "macro"}}),
        (
            "options: day_month",
            {**DAYS, "options": {"day_month": "day_first"}},
            {**DAYS, "options": {"day_month": "month_first"}},
        ),
        ("options: least_similarity", {"options": {"least_similarity": 0}}, {"options": {"least_similarity": 0.9}}),
        *_INTERVAL,
    ],
}

# What adds results and moves none.
ADDS = {
    "alignment_rouge": [("exact_date_mean", {"exact_date_mean": True})],
    "evidence_extraction": [("macro", {"macro": True})],
}

# In the signature, though two engines that are both right give the same number; and tilse is an extra.
SAME_BY_DESIGN = {"alignment_rouge": {"engine"}}


MOVED = [pytest.param(name, *row, id=f"{name}-{row[0]}") for name, rows in MOVES.items() for row in rows]
ADDED = [pytest.param(name, *row, id=f"{name}-{row[0]}") for name, rows in ADDS.items() for row in rows]


def scored(metric, options):
    rows, required = ROWS[metric]
    rows = SKEWED if rows is TIMELINES else rows
    if "confidence_interval" in options:  # of few rows all resamples have the same ends
        rows = {name: column * 60 if isinstance(column, list) else column for name, column in rows.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        score = METRICS[metric].load()(**{**rows, **required, **options})
    numbers = {key: value for key, value in score.as_dict().items() if key != "signature"}
    return score.signature, numbers


@pytest.mark.parametrize(("metric", "option", "left", "right"), MOVED)
def test_what_moves_a_number_moves_the_signature(metric, option, left, right):
    (signed, numbers), (other, others) = scored(metric, left), scored(metric, right)
    assert repr({key: numbers[key] for key in numbers if key in others}) != repr(others) != repr(numbers)
    assert signed != other
    assert (signed, repr(numbers)) == (lambda one: (one[0], repr(one[1])))(
        scored(metric, left)
    )  # and nothing else does


@pytest.mark.parametrize(("metric", "option", "more"), ADDED)
def test_what_adds_results_moves_none(metric, option, more):
    (signed, numbers), (other, others) = scored(metric, {}), scored(metric, more)
    assert signed == other
    assert others.keys() > numbers.keys()
    assert repr({key: others[key] for key in numbers}) == repr(numbers)


@pytest.mark.parametrize("metric", METRICS)
def test_no_option_is_forgotten(metric):
    if metric not in MOVES or metric not in ROWS:
        pytest.fail(
            f"{metric}: enter it in tests/test_signatures.py: rows that tell its options apart in ROWS, and for each "
            "option two values with different numbers in MOVES (or in ADDS, if the option only adds results)"
        )
    shown = {row[0].partition(":")[0] for row in MOVES[metric]} | SAME_BY_DESIGN.get(metric, set())
    added = {row[0] for row in ADDS.get(metric, ())}
    known = options_of(METRICS[metric].load())
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
        signs = options_of(spec.load())
        signed = [f"{option} (`{signs[option]}`)" for option in signs if signs[option]]
        lines.append(f"| {metric} | {', '.join(signed)} | {', '.join(row[0] for row in ADDS.get(metric, ()))} |")
    for kind, (_, rows) in JUDGES.items():
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


PROMPTS = {
    "citation_support": "{sentence} {document}",
    "nugget_agreement": "{sentence} {question} {answer}",
    "first_instance": "{sentence} {previous}",
}
ENTAILS = {"citation_support": {"nli": "ORG/NLI"}}
OF_ENDPOINTS = [
    ("model", {"model": "one"}, {"model": "other"}),
    ("name", {"name": "mine"}, {"name": "mine", "model": "other"}),  # it doesn't hide the model
    ("parameters", {"parameters": {"temperature": 0}}, {"parameters": {"temperature": 1}}),
    ("parameters: of the default", {}, {"parameters": {"max_tokens": 9}}),
    ("examples", {"examples": False}, {"examples": True}),
    ("nuggets_per_call", {"nuggets_per_call": 1}, {"nuggets_per_call": 2}),
    ("json_verdicts", {"json_verdicts": False}, {"json_verdicts": True}),
    ("prompts", {}, {"prompts": "FOLDER"}),
    ("window", {}, {"window": 100}),
]
# What a judge is given, where, and how often it is tried: the same questions.
CARRIES = {
    "api_key_env": "OTHER_KEY",
    "base_url": None,
    "cache": "FOLDER/verdicts.sqlite",
    "give_up_after": 3,
    "headers": {"X-Team": "a"},
    "max_in_flight": 1,
    "max_tries": 2,
    "timeout": 9.5,
}
# kind of judge -> its first specification, and (option, two sets of options that have another name each)
JUDGES = {
    "provider": ({"provider": "openai", "model": "one", "cache": False}, OF_ENDPOINTS),
    "base_url": ({"base_url": "http://localhost", "model": "one", "cache": False}, OF_ENDPOINTS),
    "harness": (
        {"harness": "hf", "model_args": "pretrained=ORG/MODEL"},
        [
            ("model_args", {}, {"model_args": "pretrained=ORG/OTHER"}),
            ("chat", {"chat": False}, {"chat": True}),
            ("examples", {"examples": False}, {"examples": True}),
            ("window", {"window": 200}, {"window": 300}),
        ],
    ),
    "nli": ({"nli": "ORG/NLI"}, [("max_length", {}, {"max_length": 128})]),
    "recorded": (
        {"recorded": "FOLDER/verdicts.jsonl"},
        [("name", {}, {"name": "mine"}), ("defaults", {"name": "mine"}, {"name": "mine", "defaults": ALL_NO})],
    ),
}
NAMED = [pytest.param(kind, *row[1:], id=f"{kind}-{row[0]}") for kind, (_, rows) in JUDGES.items() for row in rows]
CARRIED = {"provider": CARRIES, "base_url": CARRIES, "harness": {"batch_size": 2, "device": "cpu"}}
CARRIED["nli"] = CARRIED["harness"]


@pytest.fixture
def specified(tmp_path, monkeypatch):
    """A kind of judge with options -> its specification."""
    for variable in ("OPENAI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(variable, "sk")
    for kind in QUERY_KINDS:
        (tmp_path / f"{kind}.txt").write_text(PROMPTS.get(kind, "{sentence}"))
    (tmp_path / "verdicts.jsonl").write_text('{"kind": "negative", "sentence": "s", "verdict": "NO"}')

    def spec(kind, options):
        whole = {**JUDGES[kind][0], **options}
        return {
            name: value.replace("FOLDER", str(tmp_path)) if isinstance(value, str) else value
            for name, value in whole.items()
        }

    return spec


@pytest.mark.parametrize(("kind", "left", "right"), NAMED)
def test_what_makes_another_judge_makes_another_name(specified, kind, left, right):
    names = [check_judge(specified(kind, options)) for options in (left, right, {**left, **ENTAILS}, left)]
    assert len(set(names)) == 3 and names[3] == names[0]


@pytest.mark.parametrize("kind", JUDGES)
def test_no_option_of_a_judge_is_forgotten(kind):
    shown = {row[0].partition(":")[0] for row in JUDGES[kind][1]}
    carried = CARRIED.get(kind, {}).keys() - {kind}
    assert shown | carried == set(_KINDS[kind]) - {kind} and not shown & carried


def test_an_endpoint_is_another_judge_if_it_is_sent_something_else(specified):
    server = Server(lambda *_: "YES")

    def sent(options):
        server.requests.clear()
        judge = make_judge(specified("base_url", {"base_url": server.url, **options}))
        report_eval(**{**REPORTS, "documents": {"d1": "Rain. " * 30, "d2": "Sun."}}, judge=judge)
        return judge.name, sorted(map(json.dumps, server.requests))

    name, bodies = sent({})
    for option, value in CARRIES.items():
        assert sent({} if value is None else {option: value}) == (name, bodies), option
    for option, left, right in OF_ENDPOINTS:
        (one, asked), (other, asked_otherwise) = sent(left), sent(right)
        assert one != other and asked != asked_otherwise, option
    server.close()


# --- functions of the caller's ---


SOURCE = """
import functools, re
from dataclasses import dataclass
LIMIT = {limit}
first, second = lambda text: text.split()[:LIMIT], lambda text: text.split(",")
def made(least):
    return lambda text: [word for word in text.split() if len(word) > least]
def spelt(text, *, mark=","):
    return text.split(mark)
def called(text):
    return first(text)
@dataclass
class Words:
    mark: str = ","
    def __call__(self, text):
        return text.split(self.mark)
FOUND = [first, second, made(1), made(2), spelt, functools.partial(spelt, mark=";"), called, Words(), Words(";"),
         Words().__call__, re.compile("a").findall, re.compile("b").findall, str.split, "a b".split]
"""
TELL = "import own; from tls_tasks.core.custom import custom_sign; print([custom_sign(one) for one in own.FOUND])"


def signs_of(folder, seed, limit=3):
    (folder / "own.py").write_text(SOURCE.format(limit=limit), encoding="utf-8")
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", TELL], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return ast.literal_eval(done.stdout)


def test_functions_sign_alike_in_every_process_and_apart_from_each_other(tmp_path):
    (tmp_path / "there").mkdir()
    signs = signs_of(tmp_path, "1")
    assert signs == signs_of(tmp_path / "there", "2")
    assert len(set(signs)) == len(signs) == 14
    assert not any(map(is_unsigned, signs))
    moved = [one != other for one, other in zip(signs, signs_of(tmp_path, "1", limit=4), strict=True)]
    assert moved == [place in (0, 6) for place in range(14)]  # what reads LIMIT, and what calls it


def test_state_that_c_keeps_out_of_sight_is_told():
    assert len({custom_sign(random.Random(seed).sample) for seed in (1, 2, 1)}) == 2


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Edited:
    def words(self, text):
        return text.split()


def imports_own(text):
    import own_module

    return own_module.split(text)


@pytest.mark.parametrize("function", [sys.__stderr__.write, imports_own])
def test_what_nobody_can_tell_is_unsigned(function):
    assert custom_sign(function, "own") == "unsigned(own)"
    assert is_unsigned(METRICS["rouge_l"].load()([], [], tokenizer=function).signature)


def test_it_is_the_compiled_code_that_signs():
    edited = types.FunctionType(Edited.words.__code__.replace(co_names=("splitlines",)), globals())
    signs = [
        custom_sign(one, "own") for one in (Edited.words, edited, eval("lambda text: [text]"), Colour.RED, Colour.BLUE)
    ]
    assert len(set(signs)) == 5 and not any(map(is_unsigned, signs))


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
