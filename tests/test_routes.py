"""One answer, one number: chatty answers through every route, with equal numbers and equal signatures."""

import json
import warnings

import evaluate
import pytest

import tls_tasks
from tests.cli.conftest import run
from tests.conftest import ROOT
from tests.harness_parts import in_thread
from tests.made_runs import make_run

pytest.importorskip("lm_eval")

CHATTY = (
    "{}",
    "Sure! Here is the answer:\n\n{}",
    "Here's the answer:\n\n{}\n\nLet me know if you need anything else!",
    "<think>\nThe user wants an answer. I should be brief.\n</think>\n\n{}",
    "```\n{}\n```",
)
"""What models write around an answer (tests/real has the logs)."""

N = 20
FORM = {"number": "integer", "buyer": "string", "lines": [{"name": "string"}]}


def days(i):
    texts = [f"The council of town {i} met for the {n}. time." for n in (1, 2)]
    return [{"date": f"2024-03-{i + n:02}", "text": [text]} for n, text in enumerate(texts, 1)]


def timeline_answer(i):
    return "\n".join(f"{entry['date']}: {entry['text'][0]}" for entry in days(i)[: 1 + i % 2])


def summary(i):
    return f"The council of town {i} approved the budget after {i + 2} hours of debate."


def objects(i):
    symptom = {"domain": "symptom", "evidence_span": f"headache number {i}", "time_bucket": "today"}
    food = {"domain": "food", "evidence_span": f"{i} green apples", "time_bucket": "today"}
    return [{**one, "polarity": "present", "intensity_bucket": "unknown"} for one in (symptom, food)]


def journal(i):
    return " and ".join(one["evidence_span"] for one in objects(i))


def tree(i):
    return {"number": i, "buyer": f"Town {i}", "lines": [{"name": "chair"}, {"name": f"desk {i}"}][: 1 + i % 2]}


def request(i):
    nuggets = {"What was passed?": "the budget", "How long did it take?": f"{i + 2} hours"}
    items = [{"question_text": question, "gold_answers": [answer]} for question, answer in nuggets.items()]
    return {"query_id": f"t{i}", "items": items, "doc_ids": [f"d{i}"]}


def report(i):
    return f"{summary(i)} [1] Everybody was pleased." if i % 2 else f"The council met [1]. {summary(i)} [1]"


DOCUMENTS = [{"id": f"d{i}", "text": summary(i)} for i in range(N)]
AGREED = [
    {"kind": "nugget_agreement", "sentence": summary(i), "verdict": "YES", "question": "What was passed?"}
    | {"answer": "the budget"}
    for i in range(N)
]
JUDGED_ELSE = {kind: "YES" for kind in ("citation_support", "requires_citation", "first_instance")}
JUDGED_ELSE |= {"negative": "NO", "nugget_agreement": "NO"}

# Family -> its task and metrics, a row of data, the answer before a model's words stand around it, the reference, the
# further columns and options of the metrics, those of the command, the fields of its rows, and results to compare.
FAMILIES = {
    "timelines": {
        "task": "tls_custom_closed_book",
        "row": lambda i: {"topic": f"t{i}", "timelines": [days(i)]},
        "answer": timeline_answer,
        "reference": lambda i: [days(i)],
        "metrics": {"alignment_rouge": {"ar1_f1": "ar1_f1", "ar2_f1": "ar2_f1"}, "date_f1": {"date_f1": "date_f1"}},
        "fields": ("topic", "answer", "timelines"),
    },
    "summaries": {
        "task": "summ_custom",
        "row": lambda i: {"id": f"t{i}", "text": summary(i), "summary": summary(i)},
        "answer": lambda i: summary(i).replace("approved", "passed" if i % 2 else "approved"),
        "reference": summary,
        "metrics": {"rouge_l": {"rouge_l_f1": "rouge_l_f1"}},
        "options": {"read": "answer"},
        "arguments": ("--read", "answer"),
        "fields": ("id", "answer", "summary"),
    },
    "evidence": {
        "task": "evidence_custom",
        "row": lambda i: {"id": f"t{i}", "text": journal(i), "items": objects(i)},
        "answer": lambda i: json.dumps(objects(i)[: 1 + i % 2]),
        "reference": objects,
        "metrics": {"evidence_extraction": {"f1": "evidence_f1", "recall": "evidence_recall"}},
        "options": {"sources": [journal(i) for i in range(N)]},
        "fields": ("journal_id", "items", "items"),
    },
    "trees": {
        "task": "tree_custom",
        "row": lambda i: {"id": f"t{i}", "text": str(tree(i)), "schema": FORM, "reference": tree(i)},
        "answer": lambda i: json.dumps({**tree(i), "buyer": "Town 1"}),
        "reference": tree,
        "metrics": {"tree_eval": {"f1_value": "f1_value", "treeval_score": "treeval_score"}},
        "options": {"schema": FORM},
        "fields": ("id", "prediction", "reference"),
    },
    "reports": {
        "task": "report_custom",
        "row": lambda i: {"request_id": f"t{i}", "problem_statement": f"Town {i}?", "doc_ids": [f"d{i}"]},
        "answer": report,
        "reference": request,
        "metrics": {"report_eval": {key: key for key in ("f1", "recall", "precision")}},
        "options": {
            "documents": {row["id"]: row["text"] for row in DOCUMENTS},
            "judge": {"judgments": AGREED, "defaults": JUDGED_ELSE},
        },
        "arguments": ("--judge", json.dumps({"defaults": JUDGED_ELSE})),
        "fields": ("request_id", "answer", "items"),
    },
}


def answers_of(family):
    return [CHATTY[i % len(CHATTY)].format(FAMILIES[family]["answer"](i)) for i in range(N)]


def write(file, rows):
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def options_of_task(folder, family):
    """Write the data of a family's task, and return what a run of it is given."""
    rows = [FAMILIES[family]["row"](i) for i in range(N)]
    if family != "reports":
        return {"data": str(write(folder / "rows.jsonl", rows)), "name": "ours"}
    recording = write(folder / "verdicts.jsonl", AGREED)
    for name, own in {"requests": rows, "nuggets": map(request, range(N)), "documents": DOCUMENTS}.items():
        write(folder / f"{name}.jsonl", own)
    return {"data": str(folder), "name": "ours", "judge": {"recorded": str(recording), "defaults": JUDGED_ELSE}}


def by_harness(folder, family):
    """What a run logs, and what ``tls-tasks score`` makes of the log."""
    from lm_eval.api.model import LM

    class Chatty(LM):
        def generate_until(self, requests):
            said = dict(zip((f"t{i}" for i in range(N)), answers_of(family), strict=True))
            return [said[str(request.doc["doc_id"]).partition("/")[0]] for request in requests]

        loglikelihood = loglikelihood_rolling = None

    Chatty.__abstractmethods__ = frozenset()
    make_run(folder / "out", Chatty(), [FAMILIES[family]["task"]], metadata=options_of_task(folder, family))
    (file,) = folder.glob("out/**/results_*.json")
    return json.loads(file.read_text())["results"][FAMILIES[family]["task"]]


def by_inspect(folder, family):
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import get_model

    from tests.hosts.test_inspect import output

    task = tls_tasks.task(FAMILIES[family]["task"])
    arguments = options_of_task(folder, family)
    documents = task.documents(**arguments)
    said = dict(zip(map(task.prompt, documents), answers_of(family), strict=True))
    model = get_model(
        "mockllm/model", custom_outputs=lambda messages, *_: output(said[messages[-1].text]), memoize=False
    )
    options = {"model": model, "display": "none", "log_dir": str(folder / "logs")}
    (log,) = in_thread(inspect_ai.eval, f"tls_tasks/{task.name}", task_args=arguments, **options)
    assert log.status == "success", log.error
    return {key: metric.value for key, metric in log.results.scores[0].metrics.items()}


def by_command(folder, family, capsys):
    own = FAMILIES[family]
    key, predicted, right = own["fields"]
    columns = {"predictions": (predicted, answers_of(family)), "references": (right, map(own["reference"], range(N)))}
    arguments = list(own.get("arguments", ()))
    for option, (field, values) in columns.items():
        rows = ({key: f"t{i}", field: own} for i, own in enumerate(values))
        arguments += [f"--{option}", write(folder / f"{option}.jsonl", rows)]
    if family == "trees":
        (folder / "schema.json").write_text(json.dumps(FORM))
        arguments += ["--schema", folder / "schema.json"]
    if family == "evidence":
        rows = ({"journal_id": f"t{i}", "text": journal(i)} for i in range(N))
        arguments += ["--sources", write(folder / "sources.jsonl", rows)]
    if family == "reports":
        options_of_task(folder, family)
        arguments[arguments.index("--references") + 1] = folder / "nuggets.jsonl"
        arguments += ["--documents", folder / "documents.jsonl", "--recorded", folder / "verdicts.jsonl"]
    code, out, err = run(family, capsys, *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_route_gives_the_same_numbers_and_signatures(family, tmp_path, capsys):
    own = FAMILIES[family]
    logged = by_harness(tmp_path, family)
    inspected = by_inspect(tmp_path, family)
    code, out, err = run("score", capsys, tmp_path / "out", "--json", "-")
    assert code == 0, err
    (scored,) = json.loads(out)
    filed = by_command(tmp_path, family, capsys)
    columns = {"predictions": answers_of(family), "references": [own["reference"](i) for i in range(N)]}
    for name, keys in own["metrics"].items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            called = getattr(tls_tasks, name)(**columns, **own.get("options", {}))
        module = evaluate.load(str(ROOT / "metrics" / name))
        computed = module.compute(**columns, **own.get("options", {}))
        assert called.signature == computed["signature"] == scored["signatures"][name]
        assert called.signature in str(filed["signature"])
        for key, key_of_task in keys.items():
            value = called.results[key]
            assert 0.2 < value < 1, key
            assert computed[key] == value
            assert filed.get("metrics", filed)[key] == pytest.approx(value, abs=1e-12)
            for route in (scored["metrics"][key_of_task], logged[f"{key_of_task},none"], inspected[key_of_task]):
                assert route == pytest.approx(value, abs=1e-12), key
