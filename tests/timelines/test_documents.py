"""Documents: what a model is shown and asked, under which budget."""

import datetime
import itertools
import json
import random
import sys

import pytest

from tls_tasks.core.errors import InputError, MissingExtraError
from tls_tasks.timelines.context import Budget, _spread_order, build_context, token_budget
from tls_tasks.timelines.data import DEFAULT_CONTEXT_BUDGET, load_documents
from tls_tasks.timelines.documents import (
    _query_words,
    _sentences_per_date,
    closed_book_prompt,
    documents,
    prompt,
)
from tls_tasks.timelines.news_tls import read_data_set
from tls_tasks.timelines.topics import Article, Topic
from tls_tasks.timelines.types import Timeline

pytestmark = pytest.mark.usefixtures("isolated")

DAY = datetime.date


def articles_of(n_days, n_sentences, text="Day {day} sentence {number}."):
    """One article a day."""
    first = DAY(2011, 1, 1)

    def article(day):
        sentences = tuple(text.format(day=day, number=number) for number in range(n_sentences))
        return Article(str(day), first + datetime.timedelta(day), "", sentences)

    return [article(day) for day in range(n_days)]


# ---- documents


def test_one_document_a_reference_timeline(crisis):
    rows = documents(read_data_set(crisis), "local", Budget(1000))
    assert [row["doc_id"] for row in rows] == ["egypt/0", "egypt/1", "libya/0", "libya/1"]
    assert rows[0] == {
        "doc_id": "egypt/0",
        "topic": "egypt",
        "timeline_index": 0,
        "query": "egypt",
        "start_date": "2011-01-25",
        "end_date": "2011-01-28",
        "n_dates": 2,
        "n_sentences": 2,
        "context": "2011-01-25: Protests in Egypt.\n2011-01-25: It rains.\n2011-01-28: The army is in Cairo.\n",
        "context_truncated": 0,
        "reference": '[{"date": "2011-01-25", "text": ["Protests begin."]}, '
        '{"date": "2011-01-28", "text": ["The army is deployed.", "Curfew."]}]',
        "edition": "local",
    }
    assert (rows[1]["n_dates"], rows[1]["n_sentences"]) == (1, 1)


def test_closed_book_has_no_articles_and_the_time_of_the_reference(crisis):
    rows = documents(read_data_set(crisis, articles=False), "hub", None)
    assert {row["context"] for row in rows} == {""}
    assert {row["context_truncated"] for row in rows} == {0}
    assert (rows[1]["start_date"], rows[1]["end_date"]) == ("2011-02-11", "2011-02-11")


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([1], 1), ([0, 0], 1), ([1, 2], 2), ([2, 3], 2), ([3, 4], 4), ([1, 1, 2], 1)],
    ids=str,
)
def test_sentences_per_date_rounds_halves_to_even_as_python_and_news_tls_do(lengths, expected):
    days = {DAY(2011, 1, 1 + number): ["S."] * length for number, length in enumerate(lengths)}
    assert _sentences_per_date(Timeline.of(days)) == expected


def test_query_is_the_keywords_or_the_name():
    assert _query_words(Topic("bpoil", ("bp", "oil", "spill"), (), ())) == ("bp", "oil", "spill")
    assert _query_words(Topic("U.S.-Syria_2017.4.7", (), (), ())) == ("U.S.-Syria",)
    assert _query_words(Topic("Rosetta_mission", (), (), ())) == ("Rosetta mission",)


def test_prompts_say_what_is_wanted(crisis):
    (doc, *_) = documents(read_data_set(crisis), "local", Budget(1000))
    text = prompt(doc)
    articles, instruction = text.split("\n\n", 2)[1:]
    assert articles + "\n" == doc["context"]
    for part in ("egypt", "2011-01-25 to 2011-01-28", "exactly 2.", "at most 2.", "YYYY-MM-DD: summary"):
        assert part in instruction
    assert not text.endswith(("\n", " "))
    closed = closed_book_prompt({**doc, "context": ""})
    assert closed.splitlines()[1:] == instruction.splitlines()[1:]
    assert "Protests" not in closed


# ---- the budget


def test_everything_is_shown_when_it_fits():
    articles = articles_of(3, 2)
    text, n_left_out = build_context(articles, ["x"], Budget(10_000))
    assert n_left_out == 0
    assert text == "".join(f"{a.date}: {sentence}\n" for a in articles for sentence in a.sentences)
    assert build_context(articles, ["x"], Budget(len(text))) == (text, 0)
    assert build_context(articles, ["x"], Budget(len(text) - 1))[1] == 1


@pytest.mark.parametrize("size", [1, 40, 100, 1_000, 5_000])
def test_budget_is_never_exceeded_and_what_is_left_out_is_counted(size):
    text, n_left_out = build_context(articles_of(40, 5), ["7"], Budget(size))
    assert len(text) <= size
    assert text.count("\n") + n_left_out == 200
    assert text.splitlines() == sorted(text.splitlines(), key=lambda line: line[:10])


def test_days_take_turns_and_first_sentences_come_first():
    text, _ = build_context(articles_of(10, 5), ["x"], Budget(10 * len("2011-01-01: Day 0 sentence 0.\n")))
    assert [line[-2] for line in text.splitlines()] == ["0"] * 10
    assert len({line[:10] for line in text.splitlines()}) == 10


def test_too_small_a_budget_for_all_days_shows_days_from_the_whole_time():
    articles = articles_of(800, 3)
    text, _ = build_context(articles, ["x"], Budget(1_600))
    shown = [(DAY.fromisoformat(line[:10]) - DAY(2011, 1, 1)).days for line in text.splitlines()]
    gaps = [after - before for before, after in itertools.pairwise(shown)]
    assert len(shown) > 45
    assert shown[0] < 32
    assert shown[-1] > 800 - 32
    assert max(gaps) <= 32


def test_sentences_with_a_keyword_come_first_whatever_its_case():
    articles = [
        Article("a", DAY(2011, 1, 1), "", ("The weather.", "Last: EGYPT.")),
        Article("b", DAY(2011, 1, 2), "", ("The weather.",)),
    ]
    text, n_left_out = build_context(articles, ["Egypt"], Budget(30))
    assert (text, n_left_out) == ("2011-01-01: Last: EGYPT.\n", 2)


def test_articles_of_a_day_take_turns():
    articles = [Article("a", DAY(2011, 1, 1), "", ("a0", "a1")), Article("b", DAY(2011, 1, 1), "", ("b0", "b1"))]
    text, _ = build_context(articles, [], Budget(2 * len("2011-01-01: a0\n")))
    assert text == "2011-01-01: a0\n2011-01-01: b0\n"


def test_context_does_not_depend_on_the_order_of_days_in_the_file():
    articles = articles_of(50, 3)
    expected = build_context(articles, ["7"], Budget(700))
    for seed in range(5):
        shuffled = random.Random(seed).sample(articles, len(articles))
        assert build_context(shuffled, ["7"], Budget(700)) == expected


def test_line_break_in_a_sentence_does_not_break_its_line():
    text, _ = build_context([Article("a", DAY(2011, 1, 1), "", ("one\ntwo",))], [], Budget(99))
    assert text == "2011-01-01: one two\n"


def test_no_sentences_give_no_text():
    assert build_context([Article("a", DAY(2011, 1, 1), "", ())], ["x"], Budget(99)) == ("", 0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 100, 1000])
def test_spread_order_is_a_permutation_whose_every_beginning_is_spread(n):
    order = _spread_order(n)
    assert sorted(order) == list(range(n))
    for visits in (4, 16, 64):
        if visits < n:
            shown = sorted(day for day, rank in enumerate(order) if rank < visits)
            assert max(b - a for a, b in zip([-1, *shown], [*shown, n], strict=True)) <= 4 * n / visits


# ---- tokens


@pytest.fixture
def tokenizer(tmp_path):
    """A real tokenizer in a folder: one token a word or mark."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=model, unk_token="[UNK]").save_pretrained(tmp_path / "tok")
    return str(tmp_path / "tok")


def test_token_budget_counts_tokens(tokenizer):
    budget = token_budget(100, tokenizer)
    assert budget.cost("2011-01-25: It rains.\n") == len(["2011", "-", "01", "-", "25", ":", "It", "rains", "."])
    text, _ = build_context(articles_of(40, 5), [], budget)
    assert 85 < sum(budget.cost(line) for line in text.splitlines()) <= 100


def test_task_with_token_budget(crisis, tokenizer):
    named = load_documents("tls_crisis", data=crisis, context_tokens=11, tokenizer=tokenizer)
    assert named[0]["context"] == "2011-01-25: Protests in Egypt.\n"
    models_own = load_documents("tls_crisis", data=crisis, context_tokens=11, pretrained=tokenizer)
    assert [doc["context"] for doc in models_own] == [doc["context"] for doc in named]


def test_unknown_tokenizer_is_an_error(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match=r"tokenizer: got '.*', expected a Hugging Face tokenizer"):
        token_budget(100, str(tmp_path / "none"))


def test_token_budget_without_transformers_gives_the_install_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tls-tasks\[hf\]'"):
        token_budget(100, "any")


@pytest.mark.parametrize(
    "options",
    [{"context_budget": 0}, {"context_budget": "many"}, {"context_budget": True}, {"context_tokens": 100},
     {"context_tokens": -1, "tokenizer": "x"}],
    ids=str,
)  # fmt: skip
def test_impossible_budgets_are_errors(crisis, options):
    with pytest.raises(InputError):
        load_documents("tls_crisis", data=crisis, **options)


# ---- the whole way


def test_rows_are_text_and_whole_numbers(crisis):
    row = load_documents("tls_crisis", data=crisis)[0]
    numbers = {"timeline_index", "n_dates", "n_sentences", "context_truncated"}
    texts = {"doc_id", "topic", "query", "start_date", "end_date", "context", "reference", "edition"}
    assert {key: type(value) for key, value in row.items()} == {
        **dict.fromkeys(texts, str),
        **dict.fromkeys(numbers, int),
    }
    assert (row["start_date"], row["end_date"]) == ("2011-01-25", "2011-01-28")
    assert [day["date"] for day in json.loads(row["reference"])] == ["2011-01-25", "2011-01-28"]


def test_smaller_budget_shows_less(crisis):
    small = load_documents("tls_crisis", data=crisis, context_budget=40)[0]
    whole = load_documents("tls_crisis", data=crisis)[0]
    assert small["context_truncated"] == 2
    assert whole["context_truncated"] == 0
    assert len(small["context"]) <= 40 < len(whole["context"]) <= DEFAULT_CONTEXT_BUDGET


def test_real_open_tls_closed_book(shared_data):
    task = load_documents("tls_open", closed_book=True, data=shared_data)
    assert len(task) == 50
    assert sum(row["n_dates"] for row in task) == 1130
    for row in task:
        dates = [day["date"] for day in json.loads(row["reference"])]
        assert dates == sorted(set(dates))
        assert (row["start_date"], row["end_date"], row["n_dates"]) == (dates[0], dates[-1], len(dates))
        assert all(DAY.fromisoformat(date).isoformat() == date for date in dates)
