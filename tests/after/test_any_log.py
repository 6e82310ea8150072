"""Logs of other people's tasks, from real runs of the harness and of Inspect: read, joined, compared, gated."""

import json
import math
import re
import shutil

import pytest

from tests.conftest import made_once
from tests.harness_parts import in_thread
from tests.stock_logs import STOCK, N, knows, make_stock_runs, questions
from tls_tasks.after.comparisons import compare_systems, read_system
from tls_tasks.after.scored_runs import read_runs
from tls_tasks.cli import main
from tls_tasks.core.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Systems ``a`` and ``b``, which is better, on six stock tasks of the harness."""
    pytest.importorskip("lm_eval")
    return made_once(tmp_path_factory, "other_tasks", make_stock_runs)


@pytest.fixture(scope="module")
def inspected(tmp_path_factory):
    """The questions of ``gsm8k`` asked by Inspect: ``a``, ``b`` in the opposite order, ``ids`` with other ids."""
    pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")
    return made_once(tmp_path_factory, "inspected", make_inspect_runs)


def make_inspect_runs(folder):
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match

    asked = dict(questions())
    samples = [Sample(id=str(place), input=text, target=str(sum_)) for place, (text, sum_) in enumerate(asked.items())]
    other = [sample.model_copy(update={"id": f"q-{sample.id}"}) for sample in samples]
    for name, skill, rows, epochs in (
        ("a", 0.5, samples, 1),
        ("b", 0.6, samples[::-1], 1),
        ("ids", 0.6, other, 1),
        ("epochs", 0.6, samples, 2),
        ("fewer", 0.6, samples[1:], 1),
    ):
        seed = "a" if name == "a" else "b"

        def say(messages, tools, tool_choice, config, seed=seed, skill=skill):
            text = messages[-1].text
            said = ModelOutput.from_content("mockllm", f"#### {asked[text] + (not knows(seed, skill, text))}")
            said.usage = ModelUsage()  # without it the model fetches a tokeniser, to count
            return said

        (log,) = in_thread(
            inspect_ai.eval,
            inspect_ai.Task(MemoryDataset(rows), scorer=match(numeric=True), epochs=epochs, name="sums"),
            model=get_model("mockllm/model", custom_outputs=say, memoize=False),
            display="none",
            log_dir=str(folder / name),
        )
        assert log.status == "success", log.error


def run_of(place, task):
    return read_system(place, tasks={task: task}).tasks[task]


def compared(capsys, *arguments):
    """The exit code of a comparison, and what it says as JSON and on stderr."""
    capsys.readouterr()
    code = main(["compare", *map(str, arguments), "--permutations", "500", "--json", "-"])
    told = capsys.readouterr()
    return code, json.loads(told.out) if told.out else None, told.err


def metrics(found):
    return {row["metric"]: row for row in found[0]["metrics"]}


def changed(path, change, target=None):
    """Write the rows of a log that a function gives, there or elsewhere."""
    rows = change([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    (target or path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_which_way_is_better(stock):
    better = {key: one.better for key, one in run_of(stock / "a", "wmt16-de-en").score.definitions.items()}
    assert better == {"bleu": True, "chrf": True, "ter": False}
    assert not any(one.better for one in run_of(stock / "a", "wikitext").score.definitions.values())


def test_two_systems_on_all_tasks(stock, capsys):
    code, found, _ = compared(capsys, stock / "a", stock / "b", "--show", "3")
    assert code == 0 and sorted(one["task"] for one in found) == sorted(STOCK)
    assert run_of(stock / "b", "cola").model == "CUSTOM", "not the name that the harness makes up, another each time"
    for one in found:
        for row in one["metrics"]:
            assert row["wins"] + row["ties"] + row["losses"] + row["undefined"] == N == one["n_documents"]
            gaps = [abs(right - left) for left, right in row["most"].values()]
            assert gaps == sorted(gaps, reverse=True) and len(gaps) <= 3
            assert row["difference"] == pytest.approx(row["second"] - row["first"])
            assert row["interval"][0] <= row["difference"] <= row["interval"][1] and 0 < row["p_value"] <= 1
    of = {one["task"]: {row["metric"]: row for row in one["metrics"]} for one in found}
    # b knows more words: less perplexed and edited is a win.
    assert of["wikitext"]["bits_per_byte"]["difference"] < 0 < of["wikitext"]["bits_per_byte"]["wins"] - 20
    assert of["wmt16-de-en"]["ter"]["wins"] > of["wmt16-de-en"]["ter"]["losses"]
    acc = of["arc_easy"]["acc"]
    rows = [
        {row["doc_id"]: row["acc"] for row in map(json.loads, path.read_text().splitlines())}
        for name in "ab"
        for path in stock.glob(f"{name}/**/samples_arc_easy_*")
    ]
    gains = [rows[1][place] - rows[0][place] for place in rows[0]]
    assert (acc["wins"], acc["losses"]) == (gains.count(1.0), gains.count(-1.0)) != (0, 0)
    spread = math.sqrt(sum((gain - acc["difference"]) ** 2 for gain in gains) / (N - 1) / N)
    assert acc["detectable"] == pytest.approx(spread * (2.0227 + 0.8512), rel=1e-3), "t of 39 degrees at .975 and .8"


def test_the_same_documents_in_another_order(stock, tmp_path):
    shutil.copytree(stock / "b", tmp_path / "b")
    (path,) = (tmp_path / "b").glob("**/samples_gsm8k_*")
    changed(path, lambda rows: [{**row, "doc_id": N - 1 - row["doc_id"]} for row in rows[::-1]])
    systems = [
        [read_system(place, tasks={"gsm8k": "gsm8k"}) for place in (stock / "a", b / "b")] for b in (stock, tmp_path)
    ]
    [as_it_was], [turned] = (compare_systems(pair) for pair in systems)
    assert as_it_was.metrics == turned.metrics


def test_other_documents_are_named(stock, tmp_path):
    shutil.copytree(stock / "b", tmp_path / "b")
    (path,) = (tmp_path / "b").glob("**/samples_arc_easy_*")
    changed(path, lambda rows: [*rows[:7], {**rows[7], "doc": {**rows[7]["doc"], "question": "Really?"}}, *rows[8:]])
    named = {"arc_easy": "arc_easy"}
    with pytest.raises(
        InputError, match=r"no or another document for 1 of 40: 7; 1 of 40 documents that the first .*: 7"
    ):
        compare_systems([read_system(stock / "a", tasks=named), read_system(tmp_path / "b", tasks=named)])


def test_a_document_that_comes_twice_counts_twice(stock, tmp_path):
    """A data set may hold a document twice; a row that comes twice is a problem of the log."""
    for name in "ab":
        (source,) = stock.glob(f"{name}/**/samples_arc_easy_*")
        (tmp_path / name).mkdir()
        changed(source, lambda rows: [*rows, {**rows[0], "doc_id": N}], tmp_path / name / source.name)
    [found] = compare_systems([read_system(tmp_path / name) for name in "ab"])
    assert found.n_documents == N + 1


def test_the_harness_beside_inspect(stock, inspected, capsys):
    """The same model on the same questions gives the same numbers, joined by id, and by what was asked."""
    pair = ("--task", "gsm8k=sums", "--metric", "exact_match,flexible-extract=match")
    own = run_of(stock / "b", "gsm8k").metrics["exact_match,flexible-extract"]
    code, found, said = compared(capsys, stock / "b", inspected / "b", *pair)
    [row] = metrics(found).values()
    assert (code, said) == (0, "") and row["first"] == row["second"] == own and row["ties"] == N
    code, found, _ = compared(capsys, stock / "a", inspected / "ids", "--join", "question=input", *pair)
    [row] = metrics(found).values()
    [direct] = metrics(
        compared(capsys, stock / "a", stock / "b", "--task", "gsm8k", "--metric", row["metric"])[1]
    ).values()
    assert code == 0 and row == direct
    assert compared(capsys, stock / "a", inspected / "ids", *pair)[0] == 2
    code, _, said = compared(capsys, stock / "a", inspected / "fewer", *pair)
    assert (
        code == 2
        and "no or another document for 1 of 40: 0; 0 of 39 documents that the first run lacks: none, expected the same"
        in said
    )


def test_two_logs_of_inspect(inspected, capsys):
    code, found, _ = compared(capsys, inspected / "a", inspected / "b")
    same = metrics(compared(capsys, inspected / "a", inspected / "ids")[1])
    assert code == 0 and metrics(found) == same, "joined by id, or by what was asked where the ids differ"
    assert metrics(compared(capsys, inspected / "a", inspected / "epochs")[1]) == same, "the mean of the epochs"


def test_equal_ids_with_other_targets_are_warned_of(inspected, tmp_path, capsys):
    rows = [{"id": place, "match": 1, "target": f"x{place}"} for place in range(N)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, found, _ = compared(capsys, inspected / "a", tmp_path / "rows.jsonl")
    assert "40 of 40 documents with the same id have other targets (0, 1, " in found[0]["warnings"][0]
    _, found, _ = compared(capsys, inspected / "a", tmp_path / "rows.jsonl", "--join", "id")
    assert not any("targets" in said for said in found[0]["warnings"])


def write_rows_of_every_eval_ever(made_runs, name, folder):
    run = folder / name
    run.mkdir()
    (results,) = {path.parent for path in made_runs.glob(f"{name}/**/samples_evidence_journals_*")}
    date = next(results.glob("samples_evidence_journals_*")).stem.split("_")[-1]
    for path in (*results.glob(f"samples_evidence_journals_{date}.jsonl"), *results.glob(f"results_{date}.json")):
        shutil.copy(path, run)
    arguments = ["submit", run, "-o", folder / f"sent-{name}", "--model", f"acme/{name}", "--no-chat-template"]
    assert main(list(map(str, arguments))) == 0
    return next((folder / f"sent-{name}").glob("**/*_samples.jsonl"))


def test_rows_of_every_eval_ever(made_runs, tmp_path, capsys):
    """As `tls-tasks submit` writes them: their numbers are those of the runs, as far as a row has one."""
    rows = [write_rows_of_every_eval_ever(made_runs, name, tmp_path) for name in ("base", "noisy")]
    [run] = read_runs(rows[:1])
    assert (run.name, run.model, run.run.host) == ("evidence_journals", "acme/base", "every_eval_ever")
    [own] = read_runs([tmp_path / "base"])
    assert run.ids == own.ids and [*run.log.samples[0].answer] and run.log.samples[0].request
    code, found, said = compared(capsys, *rows)
    [row] = found[0]["metrics"]
    assert row["wins"] == 0 < row["losses"] and row["difference"] < 0
    # The number of a corpus's F1 can't be made of rows, which is said; the mean of the rows is compared.
    assert code == 1 and row["metric"] == "evidence_f1 (mean of documents)" and "can't be made again" in said
    assert compared(capsys, *rows, "--join", "sample_hash")[1][0]["metrics"] == [row]


@pytest.fixture
def plain(tmp_path):
    """Writes plain rows: name -> values of ``score``, with what else a row has."""

    def write(name, values, **columns):
        rows = [{"id": f"d{place}", "score": value} for place, value in enumerate(values)]
        for key, of in columns.items():
            rows = [{**row, key: own} for row, own in zip(rows, of, strict=True)]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_plain_rows(plain, capsys):
    first = plain("first", [0.1 * (place % 7) for place in range(20)], kind=["x", "y"] * 10)
    second = plain("second", [0.1 * (place % 7) + 0.2 + 0.01 * place for place in range(20)], kind=["x", "y"] * 10)
    code, [found], _ = compared(capsys, first, second)
    [row] = found["metrics"]
    assert code == 0 and (found["task"], row["metric"], row["wins"]) == ("first", "score", 20)
    assert row["difference"] == pytest.approx(0.295)
    _, [of_two], _ = compared(capsys, first, second, "--cluster", "kind")
    assert (of_two["n_units"], of_two["unit"], of_two["metrics"][0]["p_value"]) == (2, "topic", 0.5)
    _, [lower], _ = compared(capsys, first, second, "--lower-is-better", "score")
    assert lower["metrics"][0]["losses"] == 20
    assert compared(capsys, first, second, "--lower-is-better", "loss")[0] == 2
    code, _, said = compared(capsys, first, second, "--cluster", "topic")
    assert code == 2 and "no field 'topic' in the document; its fields: id, score, kind" in said


def test_values_that_are_missing_or_no_numbers(plain, capsys):
    first, second = plain("first", [1.0, None, 0.5] * 6), plain("second", [math.nan, 0.5, 0.5] * 6)
    _, [found], _ = compared(capsys, first, second)
    [row] = found["metrics"]
    assert (row["first"], row["second"], row["p_value"], row["interval"]) == (0.75, None, None, None)
    assert (row["ties"], row["undefined"]) == (6, 12)
    code, _, said = compared(capsys, first, second, "--fail-if-worse", "score")
    assert code == 3 and "can't be told from its logs: --fail-if-worse fails, to be safe" in said
    words = plain("words", ["good", "bad"] * 9)
    code, _, said = compared(capsys, first, words)
    assert code == 2 and "no metric that all runs have" in said


@pytest.mark.parametrize(
    ("change", "gate", "code", "words"),
    [
        (0.0, "score", 0, "is not surely worse"),
        (-0.2, "score", 3, "is worse than first"),
        (-0.2, "score:0.1", 3, "is worse than first"),
        (-0.2, "score:0.3", 0, "is not surely worse"),  # worse, but by less than the margin
        (-0.004, "score", 0, "is not surely worse"),  # so little that documents vary more
        (0.2, "score", 0, "is not surely worse"),
    ],
)
def test_a_gate(plain, capsys, change, gate, code, words):
    values = [0.3 + 0.02 * (place % 20) for place in range(60)]
    moved = [value + change + 0.03 * ((place * 7) % 5 - 2) * (change != 0) for place, value in enumerate(values)]
    found = compared(capsys, plain("first", values), plain("second", moved), "--fail-if-worse", gate)
    assert found[0] == code and words in found[2]


def test_gates_of_metrics_of_which_less_is_better(plain, stock, capsys):
    values = [0.3 + 0.02 * (place % 20) for place in range(60)]
    files = (
        plain("first", values),
        plain("second", [value + 0.1 + 0.001 * (place % 3) for place, value in enumerate(values)]),
    )
    assert compared(capsys, *files, "--fail-if-worse", "score", "--lower-is-better", "score")[0] == 3
    assert compared(capsys, *files, "--fail-if-worse", "score")[0] == 0
    task = ("--task", "wikitext", "--metric", "bits_per_byte", "--fail-if-worse", "bits_per_byte")
    assert compared(capsys, stock / "a", stock / "b", *task)[0] == 0
    assert compared(capsys, stock / "b", stock / "a", *task)[0] == 3


@pytest.mark.parametrize("gate", ["other", "score:-1", "score:nan", "score:inf", "score:much", ""])
def test_gates_that_do_not_exist(plain, capsys, gate):
    files = plain("first", [1, 0, 1]), plain("second", [1, 0, 1])
    code, _, said = compared(capsys, *files, "--fail-if-worse", gate)
    assert code == 2 and "--fail-if-worse: got" in said


def test_markdown(stock, tmp_path, capsys):
    written = tmp_path / "table.md"
    arguments = [*map(str, (stock / "a", stock / "b", stock / "a"))]
    assert main(["compare", *arguments, "--task", "arc_easy", "--show", "2", "--markdown", str(written)]) == 0
    text = written.read_text(encoding="utf-8")
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert all(len({line.count(" | ") for line in table}) == 1 for table in tables), "as many cells in each row"
    assert text.count("| acc |") == 2 and "p (Holm)" in text and "most different in acc" in text
    printed = capsys.readouterr().out
    assert "won-tied-lost" in printed and "most different in acc" in printed


HUGE = '{"id": 1, "score": 1' + "0" * 400 + '}\n{"id": 2, "score": 1e308}\n{"id": 3, "score": -1e308}\n'
TWO = "".join(
    json.dumps({"evaluation_id": "x", "sample_id": name, "evaluation_name": name}) + "\n" for name in ("A", "B")
)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.eval", "no zip", "needs an optional dependency|not a whole log of Inspect .*; expected an .eval"),
        ("a.json", '{"a": 1}', "no log there; expected results_<date>"),
        ("a.jsonl", "hello", "no log there; expected results_<date>"),
        ("a.jsonl", "", "no log there; expected results_<date>"),
        ("a.jsonl", '{"score": 1}', "a.jsonl:1: expected an object with `id`, a text or number"),
        ("a.jsonl", '{"id": 1, "score": ' + "[" * 200 + "]" * 200 + "}", "in each other more than 100 deep"),
        ("a.jsonl", '{"id": 1, "score": "good"}', "no metric that all runs have with values that are numbers"),
        ("a.jsonl", '{"id": 1, "score": 1}\n{"id": 2, "sco', "a.jsonl:2: not JSON"),
        ("a.jsonl", '{"id": 1, "score": 1}\n{"id": 1, "score": 0}', "document 1 comes again; the first counts"),
        ("a.jsonl", HUGE, "a: score: 3 of 3 values are NaN, infinite or above 1e\\+100"),
        ("a.jsonl", '{"id": 1, "score": 1e999}\n{"id": 2, "score": 1}', "1 of 2 values are NaN, infinite or above"),
        ("a.jsonl", TWO, r"rows of 2 evaluations \(A, B\)"),
    ],
)
def test_odd_logs(tmp_path, capsys, name, text, words):
    """Not compared, or compared with what is wrong on stderr; never anything else."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    code, found, said = compared(capsys, path, path)
    assert code == (1 if found else 2) and re.search(words, said), said


def test_the_page_of_any_log(stock, plain, tmp_path, open_page):
    """Numbers as reported, distributions, a document with prompt, answer and target, and a second run beside it."""
    rows = plain(
        "rows", [0.1 * (place % 9) for place in range(30)], input=[f"Question {place}?" for place in range(30)]
    )
    target = tmp_path / "page.html"
    assert main(["page", str(stock), str(rows), "-o", str(target)]) == 0
    opened = open_page(target)
    page = opened.page
    for task in STOCK:
        article = page.locator("article", has=page.locator(f"h3:text-is('{task}')"))
        shown = article.locator("table").inner_text()
        for name in "ab":
            run = run_of(stock / name, task)
            assert all(f"{value:.4f}" in shown for value in run.metrics.values())
        assert article.locator("svg.spread").count() == 1
    page.select_option("#control-Task", label="gsm8k")
    run = run_of(stock / "a", "gsm8k")
    page.locator("#list tbody button", has_text=re.compile("^7$")).click()
    shown = page.locator("#view").inner_text()
    assert run.log.samples[7].row["target"].splitlines()[-1] in shown and run.log.samples[7].answer[0] in shown
    page.select_option("#control-Beside-it", index=1)
    assert page.locator("#view .beside > div").count() == 2
    page.select_option("#control-Task", label="rows")
    assert page.locator("#list tbody tr").count() == 30
    assert opened.errors == [] and opened.violations() == []


def test_the_page_of_logs_of_inspect_and_of_every_eval_ever(inspected, made_runs, tmp_path, open_page):
    rows = write_rows_of_every_eval_ever(made_runs, "base", tmp_path)
    target = tmp_path / "page.html"
    places = [inspected / "a", inspected / "ids", rows]
    assert main(["page", *map(str, places), "-o", str(target)]) == 1  # a corpus's F1 can't be made of rows
    opened = open_page(target)
    page = opened.page
    for task, place in (("sums", inspected / "a"), ("evidence_journals", rows)):
        page.select_option("#control-Task", label=task)
        [run] = read_runs([place])
        article = page.locator("article", has=page.locator(f"h3:text-is('{task}')"))
        shown = article.locator("table").first.inner_text()
        assert all(f"{value:.4f}" in shown for value in run.metrics.values()) and run.metrics
        assert article.locator("svg.spread").count() == len(run.metrics)
        assert page.locator("#list tbody tr").count() == len(run.ids)
        page.locator("#list tbody button").first.click()
        view, first = page.locator("#view").text_content(), run.log.samples[0]
        assert str(first.answer[0])[:20] in view and first.request.splitlines()[0][:40] in view
    assert opened.errors == [] and opened.violations() == []
