"""The embedded journals and case reports: every quote verbatim, every value covered, and what their pages say."""

import collections
import json
import re

import pytest

from tests.conftest import read_jsonl
from tls_tasks.data.order import EMBEDDED
from tls_tasks.evidence.data import DATA_SETS, schema_of
from tls_tasks.evidence.types import JOURNAL_SCHEMA

pytestmark = pytest.mark.usefixtures("isolated")

FOLDER = EMBEDDED / "evidence_journals"
REPORTS = EMBEDDED / "evidence_maccrobat" / "documents.json"
JOURNALS = read_jsonl(FOLDER / "journals.jsonl")
GOLD = {row["journal_id"]: row["items"] for row in read_jsonl(FOLDER / "gold.jsonl")}
ITEMS = [(row, item) for row in JOURNALS for item in GOLD[row["journal_id"]]]


def value(attribute, item):
    return item.get(attribute.field_of(item["domain"]))


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
        keys = [attribute.field_of(item["domain"]) for attribute in JOURNAL_SCHEMA.attributes]
        assert list(item) == ["domain", "evidence_span", *keys], row["journal_id"]
        assert all(value(attribute, item) in attribute.values for attribute in JOURNAL_SCHEMA.attributes)


@pytest.mark.parametrize("attribute", JOURNAL_SCHEMA.attributes, ids=lambda attribute: attribute.name)
def test_every_domain_has_every_value_more_than_once(attribute):
    counts = collections.Counter((item["domain"], value(attribute, item)) for _, item in ITEMS)
    assert set(counts) == {(domain, one) for domain in JOURNAL_SCHEMA.domains for one in attribute.values}
    assert min(counts.values()) >= 2, counts


def test_the_traps_are_what_the_gold_says():
    for row in JOURNALS:
        items, traps = GOLD[row["journal_id"]], set(row["traps"])
        assert ("no_objects" in traps) is (not items)
        assert ("negation" in traps) is any(item["polarity"] == "absent" for item in items)
        assert ("hedging" in traps) is any(item["polarity"] == "uncertain" for item in items)
        late = {"last_night", "past_week"}
        assert ("other_times" in traps) is any(item["time_bucket"] in late for item in items)
        assert ("mixed_language" in traps) is (row["lang"] != "en")


def test_there_are_traps_of_every_kind():
    counts = collections.Counter(trap for row in JOURNALS for trap in row["traps"])
    assert {"negation", "hedging", "repeated_phrase", "mixed_language", "numbers", "quotes"} <= set(counts)
    assert {"no_objects", "one_sentence", "other_times", "others", "hypothetical"} <= set(counts)
    assert counts["no_objects"] >= 4 and counts["mixed_language"] >= 10 and counts["hedging"] >= 8
    text = "".join(row["text"] for row in JOURNALS)
    assert all(mark in text for mark in "'’\"“”\n") and re.search(r"[\u0900-\u097f]", text)


def test_one_phrase_stands_for_several_objects():
    (row,) = (row for row in JOURNALS if row["journal_id"] == "J005")
    spans = [item for item in GOLD["J005"] if "tomach cramps" in item["evidence_span"]]
    assert row["text"].count("tomach cramps") == len(spans) == 3
    assert {item["polarity"] for item in spans} == {"present", "absent"}


def test_the_page_is_counted_from_the_files():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    lengths = [n_words(row["text"]) for row in JOURNALS]
    head = (
        f"{len(JOURNALS)} entries of {min(lengths)} to {max(lengths)} words in the first person, with {len(ITEMS)} gold"
    )
    assert head in page
    for name in (*JOURNAL_SCHEMA.domains, "all"):
        items = [item for _, item in ITEMS if name in ("all", item["domain"])]
        cells = [len(items)]
        for attribute in JOURNAL_SCHEMA.attributes:
            cells += [sum(value(attribute, item) == one for item in items) for one in attribute.values]
        assert f"| {name} | {' | '.join(map(str, cells))} |" in page.splitlines()
    counts = collections.Counter(trap for row in JOURNALS for trap in row["traps"])
    for trap, count in counts.items():
        assert f"| {trap} | {count} | " in page


def test_the_case_reports_have_the_form_of_maccrobat():
    documents = json.loads(REPORTS.read_text(encoding="utf-8"))["data"]
    labels = collections.Counter()
    for document in documents:
        assert set(document) == {"full_text", "ner_info"}
        for entity in document["ner_info"]:
            assert document["full_text"][entity["start"] : entity["end"]] == entity["text"]
            labels[entity["label"]] += 1
    domains = schema_of(DATA_SETS["evidence_maccrobat"]).domains
    assert len(documents) >= 3 and set(domains) < set(labels)
    assert min(labels[domain] for domain in domains) >= 4


def test_the_page_of_the_edition_tells_of_them():
    page = (EMBEDDED / "README.md").read_text(encoding="utf-8")
    assert f"| `evidence_journals` | {len(JOURNALS)} | {len(ITEMS)} |" in page
