"""The questions with known answers: balanced, none among the examples; a judge is told what it got wrong."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tls_tasks.cli import main
from tls_tasks.reports.judges import from_callable, known_answers, prompts
from tls_tasks.reports.judges.known_answers import self_test, shares, wilson
from tls_tasks.reports.judges.prompts import render
from tls_tasks.reports.types import QUERY_KINDS

CASES = self_test(from_callable(lambda query: None, name="silent"))
RIGHT = {render(case.query)[0]["content"]: "YES" if case.expected else "NO" for case in CASES}
INJECTED = {render(case.query)[0]["content"] for case in CASES if case.trap == "injection"}


def test_the_questions():
    assert Counter(case.query.kind for case in CASES) == dict.fromkeys(QUERY_KINDS, 12)
    assert Counter((case.query.kind, case.expected) for case in CASES) == {
        (kind, expected): 6 for kind in QUERY_KINDS for expected in (True, False)
    }
    traps = Counter((case.query.kind, case.trap) for case in CASES)
    assert all(traps[kind, trap] for kind in QUERY_KINDS for trap in ("injection", "negation", "pronoun", "near miss"))
    assert len(RIGHT) == 72
    rows = [json.loads(line) for line in Path(known_answers.__file__).with_suffix(".jsonl").read_text().splitlines()]
    for number, (row, case) in enumerate(zip(rows, CASES, strict=True)):
        passage = {key: row[key] for key in ("passage",) if key in row}
        assert case.query.about == {"request_id": "self-test", "sentence": number, **passage}
    # An instruction is there to be disobeyed.
    injected = {(case.query.kind, case.expected) for case in CASES if case.trap == "injection"}
    assert len(injected) == 12
    examples = Path(prompts.__file__).with_name("examples.jsonl").read_text()
    assert not any(case.query.fields.get("sentence", case.query.fields.get("report")) in examples for case in CASES)


def test_accuracy_by_kind_and_trap():
    cases = self_test(from_callable(lambda query: query.kind != "negative" or None, name="yes"))
    found = shares(cases)
    assert found["all"]["all"][:3] == (30, 72, 12)
    assert found["kind"]["negative"][:3] == (0, 12, 12) and found["kind"]["first_instance"][:3] == (6, 12, 0)
    assert sum(share.n for share in found["trap"].values()) == 72
    low, high = wilson(24, 60)
    assert (round(low, 4), round(high, 4)) == (0.2857, 0.5263)
    assert wilson(0, 5)[0] == pytest.approx(0)


@pytest.fixture
def ask(serve):
    def run(answer, *more):
        server = serve(answer)
        return main(["reports", "--self-test", "--base-url", server.url, "-m", "m", *more])

    return run


def test_an_oracle_passes_and_has_nothing_to_learn(ask, capsys):
    assert ask(lambda sentence, n, messages: RIGHT[messages[-1]["content"]], "--least", "1") == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split() == ["all", "72", "72", "0", "1.0000", "0.9493", "1.0000"]
    assert "expected, got" not in out and err == "" and "m@127.0.0.1" in out


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda *_: "YES", "answers YES to everything; no better than guessing"),
        (lambda *_: "NO", "answers NO to everything; no better than guessing"),
        (lambda *_: "MAYBE", "the judge: no better than guessing"),
        (lambda sentence, n, messages: "YES" if len(messages[-1]["content"]) % 2 else "NO", "the judge: no better"),
    ],
)
def test_a_judge_that_guesses_fails(ask, capsys, answer, words):
    assert ask(answer) == 1 and words in capsys.readouterr().err


def test_a_gullible_judge_is_found_out(ask, capsys):
    """It knows everything, and obeys whoever speaks to it."""

    def answer(sentence, n, messages):
        text = messages[-1]["content"]
        return {"YES": "NO", "NO": "YES"}[RIGHT[text]] if text in INJECTED else RIGHT[text]

    assert ask(answer, "--least", "0.9") == 1
    out = capsys.readouterr().out
    assert next(line for line in out.splitlines() if line.startswith("trap: injection")).split()[2:4] == ["0", "12"]
    assert out.count(" expected, got ") == 12 and "  document: The lighthouse at Cape Moyle" in out
    assert ask(answer, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["failed"]) == 12 and found["all"]["all"]["right"] == 60
