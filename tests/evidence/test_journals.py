"""The embedded journals and case reports: every quote verbatim, every value covered, and what their pages say."""

import collections
import json

import pytest

from tests.conftest import read_jsonl
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.evidence.data import DATA_SETS, data_set_schema
from tls_tasks.evidence.types import JOURNAL_SCHEMA

pytestmark = pytest.mark.usefixtures("isolated")

FOLDER = EMBEDDED / "evidence_journals"
REPORTS = EMBEDDED / "evidence_maccrobat" / "documents.json"
JOURNALS = read_jsonl(FOLDER / "journals.jsonl")
GOLD = {row["journal_id"]: row["items"] for row in read_jsonl(FOLDER / "gold.jsonl")}
ITEMS = [(row, item) for row in JOURNALS for item in GOLD[row["journal_id"]]]


def value(attribute, item):
    return item.get(attribute.key_for(item["domain"]))


def n_words(text):
    return len(text.split())


def test_there_are_enough_entries_each_with_gold_and_no_id_twice():
    ids = [row["journal_id"] for row in JOURNALS]
    assert len(ids) == len(set(ids)) >= 44
    assert list(GOLD) == ids
    assert len({row["text"] for row in JOURNALS}) == len(ids)
    assert all(40 <= n_words(row["text"]) <= 90 for row in JOURNALS)
    assert all(set(row) == {"journal_id", "text", "lang", "traps"} for row in JOURNALS)


def test_every_quote_stands_verbatim_once_and_no_two_overlap():
    for row in JOURNALS:
        end = 0
        for item in GOLD[row["journal_id"]]:
            span = item["evidence_span"]
            assert span == span.strip() != "" and row["text"].count(span) >= 1, (row["journal_id"], span)
            begin = row["text"].index(span, end)
            end = begin + len(span)


def test_every_object_has_the_keys_of_its_domain_and_values_of_the_schema():
    for row, item in ITEMS:
        assert item["domain"] in JOURNAL_SCHEMA.domains
        keys = [attribute.key_for(item["domain"]) for attribute in JOURNAL_SCHEMA.attributes]
        assert list(item) == ["domain", "evidence_span", *keys], row["journal_id"]
        assert all(value(attribute, item) in attribute.values for attribute in JOURNAL_SCHEMA.attributes)


def test_the_case_reports_have_the_form_of_maccrobat():
    documents = json.loads(REPORTS.read_text(encoding="utf-8"))["data"]
    labels = collections.Counter()
    for document in documents:
        assert set(document) == {"full_text", "ner_info"}
        for entity in document["ner_info"]:
            assert document["full_text"][entity["start"] : entity["end"]] == entity["text"]
            labels[entity["label"]] += 1
    domains = data_set_schema(DATA_SETS["evidence_maccrobat"]).domains
    assert len(documents) >= 3 and set(domains) < set(labels)
    assert min(labels[domain] for domain in domains) >= 4
