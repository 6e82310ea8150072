"""What every metric has declared about itself, proved: each invariant of the registry times each metric.

An invariant declared False is proved too, by a case in which it fails: a claim that can't be wrong says nothing.
"""

import datetime
import inspect
import random
import re
import subprocess
import sys
import warnings

import pytest

from tests.conftest import ROOT, ByFamily
from tls_tasks.core.errors import InputError
from tls_tasks.registry import INVARIANTS, METRICS
from tls_tasks.timelines.types import Timeline

# --- rows to try, by kind of metric; a new kind adds an entry ---
# pairs: prediction and reference; empty, unparsable: predictions; shuffled: a prediction's parts in another order;
# special: a reference with something repeated; row (optional): a reference -> its row, a list of one by default;
# options (optional): what the function can't do without.


REFUSAL = "I am sorry, but I can't do that."


def pairs_of(seed, make):
    generator = random.Random(seed)
    return [(make(generator), make(generator)) for _ in range(12)]


def make_timeline(generator):
    words = "police clash protest president army city child resign talk vote border camp ship oil court".split(" ")
    start, days = datetime.date(2011, 1, 1), generator.sample(range(60), 4)
    entries = {start + datetime.timedelta(days=day): [" ".join(generator.sample(words, 5))] for day in days}
    return Timeline.from_days(entries)


def timeline_cases():
    days = datetime.date(2018, 1, 1), datetime.date(2018, 2, 1)
    return {
        "pairs": pairs_of(1, make_timeline),
        "empty": Timeline(),
        "unparsable": REFUSAL,
        "shuffled": lambda timeline: timeline.as_rows()[::-1],
        "special": Timeline.from_days({day: ["Talks end without result."] for day in days}),
    }


def make_summary(generator):
    words = "the committee approved a budget of police protest and army city vote talks court".split(" ")
    return " ".join(generator.choices(words, k=generator.randint(5, 15)))


def summary_cases():
    pairs = pairs_of(2, make_summary)
    return {
        "pairs": pairs,
        "empty": "",
        # Any text is a summary, so nothing can't be read: a refusal scores its words, and is no parse failure.
        "unparsable": f"I am sorry, but I can't {pairs[0][1]}.",
        "shuffled": lambda text: " ".join(text.split()[::-1]),
        "special": "the the the",
    }


REPORT_ANSWERS = ("410 hectares", "in 1994", "nobody was hurt", "the council", "two bridges", "by ship")


def report_judge(query):
    """Knows which documents hold by their ids, and finds answers word for word."""
    sentence = query.fields["sentence"]
    return {
        "citation_support": lambda: query.about["doc_id"] != "wrong",
        "nugget_agreement": lambda: query.fields["answer"] in sentence,
        "negative": lambda: "not" in sentence.split(),
        "requires_citation": lambda: True,
        "first_instance": lambda: sentence not in query.fields["previous"].splitlines(),
    }[query.kind]()


def make_report(answers, n_wrong=0):
    """A row that is a report as well as its request: the report gives the answers that the request asks for.

    The first of them are given with a wrong document; the next one is given again, without any.
    """
    told = [(answer, ["wrong" if place < n_wrong else "right"]) for place, answer in enumerate(answers)]
    sentences = [{"text": f"It was {answer}.", "citations": cited} for answer, cited in told]
    sentences += [{"text": f"It was {answer}."} for answer in answers[1 : 1 + n_wrong]]
    items = [{"question_text": f"What of {answer}?", "gold_answers": [answer]} for answer in answers]
    return {"request_id": "7", "sentences": sentences, "items": items}


def report_cases():
    drawn = pairs_of(3, lambda generator: generator.sample(REPORT_ANSWERS, 4))
    return {
        "pairs": [(make_report(left, n_wrong=1), make_report(right)) for left, right in drawn],
        "empty": "",
        "unparsable": REFUSAL,
        "shuffled": lambda report: {**report, "sentences": report["sentences"][::-1]},
        "special": make_report(["in 1994", "by ship", "in 1994"]),
        "options": {"judge": report_judge},
    }


def make_objects(generator, n_objects=4):
    words = "mild headache behind my eyes had tea with two sugars felt anxious before meeting slept badly".split(" ")
    return [
        {
            "domain": generator.choice(["symptom", "food"]),
            "evidence_span": " ".join(generator.sample(words, generator.randint(2, 4))),
            "polarity": generator.choice(["present", "absent"]),
            "intensity_bucket": generator.choice(["low", "high"]),
            "time_bucket": "today",
        }
        for _ in range(n_objects)
    ]


def evidence_cases():
    generator = random.Random(3)
    gold = [make_objects(generator) for _ in range(11)]
    # predictions that share spans with the reference, else nothing would match
    pairs = [(generator.sample(one, 2) + make_objects(generator, 2), one) for one in gold]
    # two halves of one prediction: which of two equal overlaps comes first decides how much is matched
    symptom = {"domain": "symptom", "polarity": "present", "time_bucket": "today"}
    tie, halves = ([{**symptom, "evidence_span": span} for span in spans] for spans in
                   (("a b c d", "a b x y"), ("a b", "c d")))  # fmt: skip
    return {
        "pairs": [*pairs, (tie, halves)],
        "empty": [],
        "unparsable": REFUSAL,
        "shuffled": lambda objects: objects[::-1],
        "special": [gold[0][0], gold[0][1], gold[0][0]],
        "row": lambda objects: objects,  # one reference a row
    }


TREE_SCHEMA = {
    "name": "string",
    "year": "integer",
    "seller": {"city": "string", "active": "boolean"},
    "tags": ["string"],
    "lines": [{"text": "string", "amount": "number"}],
}


def make_tree(generator):
    words = "paper ink chair table lamp desk pen book phone cable".split(" ")
    tree = {
        "name": generator.choice(words),
        "year": generator.choice([2023, 2024, None]),
        "seller": {"city": generator.choice(words), "active": generator.random() < 0.5},
        "tags": generator.choices(words, k=generator.randint(0, 4)),
        "lines": [
            {"text": generator.choice(words), "amount": generator.randrange(40) / 4}
            for _ in range(generator.randint(0, 3))
        ],
    }
    return {key: value for key, value in tree.items() if generator.random() < 0.9} or tree


def shuffled_tree(tree):
    return {key: value[::-1] if isinstance(value, list) else value for key, value in reversed(tree.items())}


def tree_cases():
    return {
        "pairs": pairs_of(3, make_tree),
        "empty": {},
        "unparsable": REFUSAL,
        "shuffled": shuffled_tree,
        "special": {"tags": ["ink", "ink", None], "lines": [{"text": "pen"}, {"text": "pen"}, {}]},
        "row": lambda tree: tree,
        "options": {"schema": TREE_SCHEMA},
    }


CASES = ByFamily(
    "CASES in tests/test_contract.py",
    timelines=timeline_cases(),
    summaries=summary_cases(),
    reports=report_cases(),
    evidence=evidence_cases(),
    trees=tree_cases(),
)


def cases_of(spec):
    """The rows to try of the metric's family."""
    return CASES[spec.family]


def score(spec, cases, predictions, references):
    row = cases.get("row", lambda reference: [reference])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spec.load()(predictions, [row(one) for one in references], **cases.get("options", {}))


def numbers(spec, cases, predictions, references):
    result = score(spec, cases, predictions, references).as_dict()
    return {key: result[key] for key in spec.result_keys}


def near(left, right):
    return all(abs(left[key] - right[key]) < 1e-12 for key in left)


def part(values, name):
    """The precisions, recalls or F1 among results: what they are of -> value; names have it before or after."""
    found = {key: value for key, value in values.items() if name in key.split("_")}
    return {key.replace(name, ""): value for key, value in found.items()}


# --- one function an invariant: whether it holds on all cases of the kind ---


def identity_is_one(spec, cases):
    gold = [reference for _, reference in cases["pairs"]] + [cases["special"]]
    return all(value == 1.0 for one in gold for value in numbers(spec, cases, [one], [one]).values())


def swap_exchanges_precision_and_recall(spec, cases):
    def holds(left, right):
        there, back = numbers(spec, cases, [left], [right]), numbers(spec, cases, [right], [left])
        return near(part(there, "precision"), part(back, "recall")) and near(part(there, "f1"), part(back, "f1"))

    return all(holds(left, right) for left, right in cases["pairs"])


def row_order_is_irrelevant(spec, cases):
    predictions, references = ([pair[side] for pair in cases["pairs"]] for side in (0, 1))
    forward = numbers(spec, cases, predictions, references)
    return forward == numbers(spec, cases, predictions[::-1], references[::-1])


def unit_order_is_irrelevant(spec, cases):
    return all(
        numbers(spec, cases, [left], [right]) == numbers(spec, cases, [cases["shuffled"](left)], [right])
        for left, right in cases["pairs"]
    )


def repeated_reference_is_irrelevant(spec, cases):
    if "row" in cases:
        return None  # there is one reference a row
    twice = {**cases, "row": lambda reference: [reference, reference]}
    return all(
        near(numbers(spec, cases, [left], [right]), numbers(spec, twice, [left], [right]))
        for left, right in cases["pairs"]
    )


def empty_prediction_scores_zero(spec, cases):
    return set(numbers(spec, cases, [cases["empty"]], [cases["pairs"][0][1]]).values()) == {0.0}


def unparsable_prediction_scores_zero(spec, cases):
    scored = score(spec, cases, [cases["unparsable"]], [cases["pairs"][0][1]])
    return {scored.as_dict()[key] for key in spec.result_keys} == {0.0} and scored.parse_failures == 1


CHECKS = {
    check.__name__: check
    for check in (
        identity_is_one,
        swap_exchanges_precision_and_recall,
        row_order_is_irrelevant,
        unit_order_is_irrelevant,
        repeated_reference_is_irrelevant,
        empty_prediction_scores_zero,
        unparsable_prediction_scores_zero,
    )
}


@pytest.fixture(params=sorted(METRICS))
def spec(request):
    return METRICS[request.param]


def test_every_invariant_has_a_check():
    assert set(CHECKS) == set(INVARIANTS)


def test_every_metric_has_declared_all_its_properties(spec):
    unknown = set(spec.invariants) - set(INVARIANTS)
    assert not unknown, f"{spec.name}: `fails` in tls_tasks/metrics.json names {sorted(unknown)}, not in INVARIANTS"
    assert cases_of(spec)
    for name in ("summary", "original", "citation", "result_keys"):
        value = getattr(spec, name)
        remedy = ": give `prefixes`, or `keys` if the results are no precision, recall and F1" * (name == "result_keys")
        is_told = value if name == "result_keys" else len(value.split()) > 2
        assert is_told, f"{spec.name}: its entry in tls_tasks/metrics.json has no {name}{remedy}"


def test_a_summary_that_refuses_is_no_parse_failure():
    """Why summaries declare False for unparsable text: there is none, and not because it would score by chance."""
    cases = CASES["summaries"]
    for spec in [spec for spec in METRICS.values() if spec.family == "summaries"]:
        scored = score(spec, cases, [cases["unparsable"]], [cases["pairs"][0][1]])
        assert scored.parse_failures == 0, f"{spec.name}: any text is a summary, so nothing can fail to be read"
        if spec.prefixes:  # precision and recall count shared words, and the refusal has all of the reference's
            told = f"{spec.name}: a refusal with all words of the reference scores 0"
            assert all(scored.as_dict()[key] > 0 for key in spec.result_keys), told


@pytest.mark.parametrize("invariant", sorted(INVARIANTS))
def test_what_is_declared_holds(spec, invariant):
    declared, found = spec.invariants[invariant], CHECKS[invariant](spec, cases_of(spec))
    remedy = (
        f"take {invariant!r} out of `fails`" if found is True else f"write {invariant!r} into `fails`, with the reason"
    )
    assert found is declared, (
        f"{spec.name}: {invariant} ({INVARIANTS[invariant]}) is declared {declared} and found {found}. If the "
        f"metric is right, {remedy} of its entry in tls_tasks/metrics.json; the check is the function "
        f"{invariant} in tests/test_contract.py, its rows are CASES[{spec.family!r}]"
    )


def test_the_checks_tell_a_broken_metric():
    """The checks themselves, on a metric that breaks them all."""

    class Broken:
        result_keys = ("x_precision", "x_recall", "x_f1")
        calls = 0

        def load(self):
            def function(predictions, references, **options):
                Broken.calls += 1

                class Score:
                    parse_failures = 0

                    def as_dict(self):
                        return {"x_precision": 0.1 * Broken.calls, "x_recall": 0.2, "x_f1": 0.3}

                return Score()

            return function

    assert not any(check(Broken(), cases) for cases in CASES.values() for check in CHECKS.values())


def switches():
    """(metric, option) of every option that is on or off."""
    for name, metric in METRICS.items():
        for option in inspect.signature(metric.load()).parameters.values():
            if isinstance(option.default, bool):
                yield name, option.name


@pytest.mark.parametrize(("name", "option"), list(switches()))
def test_a_switch_is_true_or_false(name, option):
    """Text is refused: "False" is true in Python."""
    cases = cases_of(METRICS[name])
    cases = {**cases, "options": {**cases.get("options", {}), option: "False"}}
    with pytest.raises(InputError, match=f"^{option}: got 'False', expected True or False$"):
        score(METRICS[name], cases, *([side] for side in cases["pairs"][0]))


def test_results_are_plain_floats_in_range_with_the_declared_keys(spec):
    cases = cases_of(spec)
    predictions, references = ([pair[side] for pair in cases["pairs"]] for side in (0, 1))
    result = score(spec, cases, predictions, references).as_dict()
    assert {*spec.result_keys, *spec.further_keys, "signature"} == set(result), (
        f"{spec.name}: as_dict() gives other keys than its entry in tls_tasks/metrics.json names (`prefixes` or "
        "`keys`, and `further_keys`)"
    )
    low, high = spec.value_range
    for key in spec.result_keys:
        assert type(result[key]) is float and low <= result[key] <= high, (
            f"{spec.name}: {key} is {result[key]!r}, expected a float in its `value_range`, {low} to {high}"
        )
    assert result["signature"].startswith(f"{spec.name}|") and "|v:" in result["signature"]


def test_a_perfect_prediction_is_better_than_none(spec):
    cases = cases_of(spec)
    gold = cases["pairs"][0][1]
    perfect, nothing = numbers(spec, cases, [gold], [gold]), numbers(spec, cases, [cases["empty"]], [gold])
    if spec.invariants["empty_prediction_scores_zero"] and not spec.higher_is_better:
        return  # 0 is the best there is: it counts faults, and what is not there has none
    better = {key: (perfect[key] > nothing[key]) is spec.higher_is_better for key in perfect}
    told = (
        f"{spec.name}: a prediction equal to its reference has {perfect}, an empty one {nothing}; see higher_is_better "
        "in tls_tasks/metrics.json"
    )
    if spec.invariants["empty_prediction_scores_zero"]:
        assert all(better.values()), told
    else:  # what is not there can't be wrong, so that some keys are as good
        assert any(better.values()) and all(better[key] or perfect[key] == nothing[key] for key in perfect), told


def test_the_card_and_the_module_describe_this_metric(spec):
    folder = ROOT / "metrics" / spec.name
    card = (folder / "README.md").read_text(encoding="utf-8")
    others = [name for name in METRICS if name != spec.name and f'evaluate.load("{name}")' in card]
    assert not others, f"metrics/{spec.name}/README.md loads {others}"
    module = (folder / f"{spec.name}.py").read_text(encoding="utf-8")
    assert f'metric = "{spec.name}"' in module
    entry = re.search(r'citation_text = r?"""(.*?)"""', module, re.DOTALL)
    assert entry and re.search(r"@\w+\{", entry[1]) and "title" in entry[1], f"{spec.name}: citation_text is no BibTeX"


def test_the_four_mirrored_names(spec):
    places = {
        f"tls_tasks/{spec.family}/{spec.name}.py": f"a module with the function {spec.name}",
        f"metrics/{spec.name}/{spec.name}.py": "copy metrics/date_f1 and change its three files",
        f"tests/{spec.family}/test_{spec.name}.py": "cases worked by hand",
    }
    missing = [f"{path} ({what})" for path, what in places.items() if not (ROOT / path).is_file()]
    assert not missing, f"{spec.name}: missing: {', '.join(missing)}; see CONTRIBUTING.md, Add a metric"


@pytest.mark.parametrize("script", ["make_metrics_table", "make_people_tables", "make_prompts"])
def test_what_scripts_write_into_the_readmes_is_todays(script):
    command = [sys.executable, f"scripts/{script}.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"run python scripts/{script}.py\n{done.stdout}{done.stderr}"
