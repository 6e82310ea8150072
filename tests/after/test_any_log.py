"""Logs of other people's tasks, from real runs of the harness and of Inspect: read, joined, compared, gated."""

import json
import math
import re
import shutil
from pathlib import Path

import pytest

from tests.after.conftest import change_rows, only
from tests.after.stock_tasks import SIX, N, knows, make_two_runs, row_of
from tests.cli.conftest import run, write
from tests.conftest import made_once, read_jsonl
from tests.harness_parts import in_thread
from tls_tasks.after.comparisons import compare_systems, read_systems
from tls_tasks.core.errors import InputError

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """Systems ``a`` and ``b``, which is better, on six stock tasks of the harness."""
    pytest.importorskip("lm_eval")
    return made_once(tmp_path_factory, "other_tasks", make_two_runs)


@pytest.fixture(scope="module")
def inspected(tmp_path_factory):
    """The questions of ``gsm8k`` asked by Inspect: ``a``, ``b`` in the opposite order."""
    pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")
    return made_once(tmp_path_factory, "inspected", make_inspect_runs)


def make_inspect_runs(folder):
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match

    rows = [row_of(place)["gsm8k"] for place in range(N)]
    asked = {row["question"]: row["answer"].rpartition(" ")[2] for row in rows}
    samples = [Sample(id=str(place), input=text, target=n) for place, (text, n) in enumerate(asked.items())]
    for name, skill, rows, epochs in (
        ("a", 0.5, samples, 1),
        ("b", 0.6, samples[::-1], 1),
        ("epochs", 0.6, samples, 2),
        ("fewer", 0.6, samples[1:], 1),
    ):
        seed = "a" if name == "a" else "b"

        def say(messages, tools, tool_choice, config, seed=seed, skill=skill):
            text = messages[-1].text
            said = ModelOutput.from_content("mockllm", f"#### {int(asked[text]) + (not knows(seed, skill, text))}")
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
    return read_systems(place, tasks=[task])[0].tasks[task]


def compared(capsys, *arguments):
    """The exit code of a comparison, and what it says as JSON and on stderr."""
    capsys.readouterr()
    code, out, err = run("compare", capsys, *arguments, "--permutations", "500", "--json", "-")
    return code, json.loads(out) if out else None, err


def metrics(found):
    return {row["metric"]: row for row in found[0]["metrics"]}


def test_which_way_is_better(stock):
    better = {key: one.better for key, one in run_of(stock / "a", "wmt16-de-en").score.definitions.items()}
    assert better == {f"{key} (mean of documents)": key != "ter" for key in ("bleu", "chrf", "ter")}
    assert not any(one.better for one in run_of(stock / "a", "wikitext").score.definitions.values())


def test_two_systems_on_all_tasks(stock, capsys):
    code, found, _ = compared(capsys, stock / "a", stock / "b")
    assert code == 0 and sorted(one["task"] for one in found) == sorted(SIX)
    assert run_of(stock / "b", "cola").model == "CUSTOM", "not the name that the harness makes up, another each time"
    for one in found:
        for row in one["metrics"]:
            assert row["wins"] + row["ties"] + row["losses"] + row["undefined"] == N == one["n_documents"]
            assert row["difference"] == pytest.approx(row["second"] - row["first"])
            assert row["interval"][0] <= row["difference"] <= row["interval"][1] and 0 < row["p_value"] <= 1
    of = {one["task"]: {row["metric"]: row for row in one["metrics"]} for one in found}
    bits = of["wikitext"]["bits_per_byte (mean of documents)"]
    # b knows more words: less perplexed and edited is a win.
    assert bits["difference"] < 0 < bits["wins"] - 20
    edits = of["wmt16-de-en"]["ter (mean of documents)"]
    assert edits["wins"] > edits["losses"]
    acc = of["arc_easy"]["acc"]
    rows = [read_jsonl(only(stock / name, "samples_arc_easy_*")) for name in "ab"]
    gains = [second["acc"] - first["acc"] for first, second in zip(*rows, strict=True)]
    assert (acc["wins"], acc["losses"]) == (gains.count(1.0), gains.count(-1.0)) != (0, 0)
    spread = math.sqrt(sum((gain - acc["difference"]) ** 2 for gain in gains) / (N - 1) / N)
    assert acc["detectable"] == pytest.approx(spread * (2.0227 + 0.8512), rel=1e-3), "t of 39 degrees at .975 and .8"


def test_the_same_documents_in_another_order(stock, tmp_path):
    shutil.copytree(stock / "b", tmp_path / "b")
    path = only(tmp_path / "b", "samples_gsm8k_*")
    change_rows(path, lambda rows: [{**row, "doc_id": N - 1 - row["doc_id"]} for row in rows[::-1]])
    asked = ["gsm8k"]
    systems = [[read_systems(run, tasks=asked)[0] for run in (stock / "a", b / "b")] for b in (stock, tmp_path)]
    [as_it_was], [turned] = (compare_systems(pair) for pair in systems)
    assert as_it_was.metrics == turned.metrics


def test_other_documents_are_named(stock, tmp_path):
    shutil.copytree(stock / "b", tmp_path / "b")
    path = only(tmp_path / "b", "samples_arc_easy_*")
    change_rows(path, lambda rows: rows[7]["doc"].update(question="Really?"))
    systems = [read_systems(place, tasks=["arc_easy"])[0] for place in (stock / "a", tmp_path / "b")]
    words = r"no or another document for 1 of 40: 7; 1 of 40 documents that the first .*: 7"
    with pytest.raises(InputError, match=words):
        compare_systems(systems)


def test_a_document_that_comes_twice_counts_twice(stock, tmp_path):
    """A data set may hold a document twice; a row that comes twice is a problem of the log."""
    for name in "ab":
        source = only(stock / name, "samples_arc_easy_*")
        change_rows(source, lambda rows: [*rows, {**rows[0], "doc_id": N}], tmp_path / name / source.name)
    [found] = compare_systems([read_systems(tmp_path / name)[0] for name in "ab"])
    assert found.n_documents == N + 1


def test_two_logs_of_inspect(inspected, capsys):
    code, found, _ = compared(capsys, inspected / "a", inspected / "b")
    assert code == 0, "in another order, joined by id"
    same = metrics(found)
    assert metrics(compared(capsys, inspected / "a", inspected / "epochs")[1]) == same, "the mean of the epochs"
    code, _, said = compared(capsys, inspected / "a", inspected / "fewer")
    words = "another document for 1 of 40: 0; 0 of 39 documents that the first run lacks: none, expected the same"
    assert code == 2 and words in said


@pytest.fixture
def plain(tmp_path):
    """Writes plain rows: name -> values of ``score``, with what else a row has."""

    def written(name, values, **columns):
        rows = [{"id": f"d{place}", "score": value} for place, value in enumerate(values)]
        for key, of in columns.items():
            rows = [{**row, key: own} for row, own in zip(rows, of, strict=True)]
        return write(tmp_path / f"{name}.jsonl", *rows)

    return written


def test_plain_rows(plain, capsys):
    first = plain("first", [0.1 * (place % 7) for place in range(20)])
    second = plain("second", [0.1 * (place % 7) + 0.2 + 0.01 * place for place in range(20)])
    code, [found], _ = compared(capsys, first, second)
    [row] = found["metrics"]
    assert code == 0 and (found["task"], row["metric"], row["wins"]) == ("first", "score", 20)
    assert row["difference"] == pytest.approx(0.295)


def test_values_that_are_missing_or_no_numbers(plain, capsys):
    first, second = plain("first", [1.0, None, 0.5] * 6), plain("second", [math.nan, 0.5, 0.5] * 6)
    _, [found], _ = compared(capsys, first, second)
    [row] = found["metrics"]
    assert (row["first"], row["second"], row["p_value"], row["interval"]) == (0.75, None, None, None)
    assert (row["ties"], row["undefined"]) == (6, 12)
    code, _, said = compared(capsys, first, second, "--fail-if-worse", "score")
    assert code == 3 and "can't be told from its logs: --fail-if-worse fails, to be safe" in said
    fewer = plain("fewer", [0.5, 0.5, None] * 6)
    by_hand = plain("a", [1.0] * 6, kind=["x"] * 6), plain("b", [0.5] * 6, kind=["x"] * 6)
    code, [found, _], _ = compared(capsys, first, fewer, first)
    [row] = found["metrics"]
    assert (code, row["first"], row["second"], row["undefined"]) == (1, 1.0, 0.5, 12), "of the rows that both have"
    _, [whole], _ = compared(capsys, *by_hand)
    same = ("first", "second", "difference", "interval", "wins", "ties", "losses")
    assert [row[name] for name in same] == [whole["metrics"][0][name] for name in same]
    words = r"warning: score compares the 6 documents .*: 6 that only first .* has and 6 that only fewer .* has"
    assert re.search(words, found["warnings"][0])
    words = plain("words", ["good", "bad"] * 9)
    code, _, said = compared(capsys, first, words)
    assert code == 2 and "no metric that all runs have" in said


@pytest.mark.parametrize(("change", "gate", "code", "words"), CASES["test_a_gate"])
def test_a_gate(plain, capsys, change, gate, code, words):
    values = [0.3 + 0.02 * (place % 20) for place in range(60)]
    moved = [value + change + 0.03 * ((place * 7) % 5 - 2) * (change != 0) for place, value in enumerate(values)]
    found = compared(capsys, plain("first", values), plain("second", moved), "--fail-if-worse", gate)
    assert found[0] == code and words in found[2]


def test_gates_of_metrics_of_which_less_is_better(stock, capsys):
    bits = "bits_per_byte (mean of documents)"
    task = ("--task", "wikitext", "--metric", bits, "--fail-if-worse", bits)
    assert compared(capsys, stock / "a", stock / "b", *task)[0] == 0
    assert compared(capsys, stock / "b", stock / "a", *task)[0] == 3


@pytest.mark.parametrize("gate", ["other", "score:-1", "score:nan", "score:inf", "score:much", ""])
def test_gates_that_do_not_exist(plain, capsys, gate):
    files = plain("first", [1, 0, 1]), plain("second", [1, 0, 1])
    code, _, said = compared(capsys, *files, "--fail-if-worse", gate)
    assert code == 2 and "--fail-if-worse: got" in said


DEEP = '{"id": 1, "score": ' + "[" * 200 + "]" * 200 + "}"
HUGE = '{"id": 1, "score": 1' + "0" * 400 + '}\n{"id": 2, "score": 1e308}\n{"id": 3, "score": -1e308}\n'


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        *CASES["test_odd_logs"],
        ("a.jsonl", DEEP, "in each other more than 100 deep"),
        ("a.jsonl", HUGE, "a: score: 3 of 3 values NaN, infinite or above 1e\\+100"),
    ],
)
def test_odd_logs(tmp_path, capsys, name, text, words):
    """Not compared, or compared with what is wrong on stderr; never anything else."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    code, found, said = compared(capsys, path, path)
    assert code == (1 if found else 2) and re.search(words, said), said


def test_the_page_of_any_log(stock, plain, tmp_path, capsys, open_page):
    """Numbers as reported, distributions, a document with prompt, answer and target, and a second run beside it."""
    values = [0.1 * (place % 9) for place in range(30)]
    rows = plain("rows", values, input=[f"Question {place}?" for place in range(30)])
    target = tmp_path / "page.html"
    assert run("page", capsys, stock, rows, "-o", target)[0] == 0
    opened = open_page(target)
    page = opened.page
    for task in SIX:
        page.select_option("#task", label=task)
        shown = page.locator("#results table").text_content()
        for name in "ab":
            assert all(f"{value:.4f}" in shown for value in run_of(stock / name, task).metrics.values())
        assert page.locator(".forest tr.here").count() == 2
    page.select_option("#task", label="gsm8k")
    sample = run_of(stock / "a", "gsm8k").log.samples[7]
    page.locator("#list .row", has=page.locator(".name > span:text-is('7')")).click()
    shown = page.locator("#view").inner_text()
    assert sample.row["target"].splitlines()[-1] in shown and sample.answer[0] in shown
    page.get_by_role("button", name="both", exact=True).click()
    assert page.locator("#view section").evaluate_all("n => n.filter((s) => /side-/.test(s.className)).length") == 2
    page.select_option("#task", label="rows")
    assert page.locator("#count").inner_text() == "30 documents"
    assert opened.errors == [] and opened.violations() == []
