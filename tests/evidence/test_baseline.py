import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.evidence.baseline import KEYWORDS, answer
from tls_tasks.evidence.data import DATA_SETS, data_set_schema, load_documents, prompt
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.read import parse_evidence

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

NAMES = list(DATA_SETS)
SCHEMAS = {name: data_set_schema(data_set) for name, data_set in DATA_SETS.items()}


def doc(text, name="evidence_journals"):
    schema = json.dumps(SCHEMAS[name].as_dict())
    return {"data_set": name, "text": text, "schema": schema}


def objects(text, **other):
    return json.loads(answer(prompt(doc(text, **other))))


def scored(name):
    docs = load_documents(name, edition="embedded")
    columns = [answer(prompt(one)) for one in docs], [json.loads(one["references"]) for one in docs]
    return evidence_extraction(*columns, [one["text"] for one in docs], schema=SCHEMAS[name])


def test_its_numbers_on_the_journals_are_those_of_the_readme():
    result = scored("evidence_journals").as_dict()
    keys = ("precision", "recall", "f1", "polarity_accuracy", "bucket_accuracy", "level_accuracy", "time_accuracy")
    assert [round(result[key], 3) for key in keys] == [0.727, 0.391, 0.509, 0.971, 0.587, 0.654, 0.885]
    assert result["evidence_coverage"] == 1.0
    assert result["schema_invalid"] == result["parse_failures"] == 0


def test_its_numbers_on_the_case_reports_are_those_of_the_readme():
    result = scored("evidence_maccrobat").as_dict()
    assert round(result["f1"], 3) == 0.444 and result["evidence_coverage"] == 1.0


def test_an_object():
    assert objects("I had a splitting headache last night.") == [
        {
            "domain": "symptom",
            "evidence_span": "had a splitting headache last night",
            "polarity": "present",
            "intensity_bucket": "unknown",
            "time_bucket": "last_night",
        }
    ]


@pytest.mark.parametrize(("text", "key", "value"), CASES["cues"])
def test_cues(text, key, value):
    (one,) = objects(text)
    assert one[key] == value


def test_the_key_of_the_level_fits_the_domain():
    by_domain = {one["domain"]: one for one in objects("A headache. Ate bread. So anxious. My memory fails.")}
    assert set(by_domain) == {"symptom", "food", "emotion", "mind"}
    assert all(("arousal_bucket" in one) is (domain == "emotion") for domain, one in by_domain.items())
    assert all(("intensity_bucket" in one) is (domain != "emotion") for domain, one in by_domain.items())


def test_a_cue_holds_for_its_clause_only():
    assert [one["polarity"] for one in objects("No fever, but a headache.")] == ["absent", "present"]


def test_one_passage_is_one_object():
    assert len(objects("A headache. A headache.")) == 1


@pytest.mark.parametrize("text", ["The bus was late.", "", "   "])
def test_nothing_is_an_empty_list(text):
    assert answer(prompt(doc(text))) == "[]"


@pytest.mark.parametrize("text", ["", "Extract things.", "<document>\nA headache.\n</document>\n\nSummary:"])
def test_a_prompt_that_asks_for_no_objects_is_answered_with_none(text):
    assert answer(text) == "[]"


def test_it_reads_the_schema_from_the_prompt():
    told = json.loads(answer(prompt(doc("I had a headache. I felt calm."))))
    assert {one["domain"]: list(one)[1:] for one in told} == {
        "symptom": ["evidence_span", "polarity", "intensity_bucket", "time_bucket"],
        "emotion": ["evidence_span", "polarity", "arousal_bucket", "time_bucket"],
    }
    plain = json.loads(answer(prompt(doc("He had a fever.", name="evidence_maccrobat"))))
    assert list(plain[0]) == ["domain", "evidence_span"]


def test_every_domain_of_the_tasks_has_keywords():
    assert {domain for schema in SCHEMAS.values() for domain in schema.domains} == set(KEYWORDS)


def test_a_domain_without_keywords_is_never_found():
    schema = json.dumps({"name": "own", "domains": ["food", "weather"], "attributes": []})
    found = json.loads(answer(prompt({**doc("Rain. Had soup in the rain."), "schema": schema})))
    assert found == [{"domain": "food", "evidence_span": "Had soup in the"}]


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.sampled_from(NAMES))
def test_any_document_gets_valid_objects_with_verbatim_quotes(text, name):
    text = f"{text} headache {text}"
    schema = SCHEMAS[name]
    parsed = parse_evidence(answer(prompt(doc(text, name=name))), schema)
    assert parsed.status == "json" and not parsed.problems
    assert all(one.span in text and not one.issues for one in parsed.value)


@given(st.text(max_size=200))
def test_any_prompt_has_an_answer(text):
    assert isinstance(json.loads(answer(text)), list)


def test_a_long_document_takes_no_time():
    assert len(objects("I had a headache, no fever and soup. " * 20_000)) == 3
