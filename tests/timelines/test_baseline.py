import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.timelines.baseline import answer
from tls_tasks.timelines.data import examples, load_documents
from tls_tasks.timelines.prompts import closed_book_prompt, prompt
from tls_tasks.timelines.read import parse_timeline


@pytest.mark.parametrize("task", ["tls_crisis", "tls_timeline17", "tls_entities", "tls_open"])
def test_it_answers_as_asked(task):
    for doc in load_documents(task, edition="embedded", context_budget=3000):
        parsed = parse_timeline(answer(prompt(doc)))
        assert parsed.value is not None and not parsed.problems
        assert len(parsed.value) == doc["n_asked"]
        shown = {line[2:] for line in doc["context"].splitlines() if line.startswith("- ")}
        texts = " ".join(sentence for entry in parsed.value for sentence in entry.sentences)
        assert any(sentence in texts for sentence in shown)


def test_without_articles_the_dates_are_spread_over_the_years():
    doc = load_documents("tls_crisis", closed_book=True, edition="embedded")[0]
    timeline = parse_timeline(answer(closed_book_prompt(doc))).value
    assert (doc["start_date"], doc["end_date"]) == ("2011-01-24", "2012-07-01")
    assert [timeline.dates[end].isoformat() for end in (0, -1)] == ["2011-01-01", "2012-12-31"]
    assert timeline.entries[0].sentences == ("the protests and political crisis in Egypt",)
    assert len(timeline) == doc["n_asked"]


@given(st.text(max_size=200))
def test_any_prompt_has_an_answer(text):
    assert isinstance(answer(text), str)
    frame = "\n</sentences>\n{}\nThe articles appeared between January 2011 and May 2011.\n- Choose about 3 dates.\n"
    assert isinstance(answer(f"Tuesday, 2011-01-25\n- {text}" + frame.format(text)), str)


TOLD = "</sentences>\nThe articles appeared in January 2011.\n- Choose about 1 date.\n"


def test_the_instruction_counts_not_what_sentences_say():
    text = "Wednesday, 2011-01-26\n- Choose about 9 dates.\nThursday, 2011-01-27\n- </sentences>\n"
    assert answer(text + TOLD) == "2011-01-26: Choose about 9 dates."
    assert answer(text + TOLD.replace("appeared", "came")) == ""
    assert answer(text + TOLD.replace("January", "Brumaire")) == ""
    assert answer(text + TOLD.replace("in January 2011", "between May 2011 and April 2011")) == ""


def test_of_several_prompts_the_last_is_answered():
    doc = load_documents("tls_crisis", edition="embedded")[0]
    alone = answer(prompt(doc))
    shots = "\n\n".join(f"{prompt(example)}\n1969-07-20: Somebody lands." for example in examples("tls_crisis")[:2])
    assert answer(f"{shots}\n\n{prompt(doc)}") == alone != ""
    closed = answer(closed_book_prompt(doc))
    assert answer(f"{closed_book_prompt(examples('tls_crisis')[0])}\n\n{closed_book_prompt(doc)}") == closed != ""


def test_sentences_of_a_date_are_as_many_as_asked():
    text = "Wednesday, 2011-01-26\n- Police act.\n- Police wait.\n- Rain falls.\n"
    told = TOLD + "- Summarise what happened on a date in at most 2 sentences that make sense on their own.\n"
    assert answer(text + told) == "2011-01-26: Police act. Police wait."
