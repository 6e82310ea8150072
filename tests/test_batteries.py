"""Answers in the styles of models, written from the prompts alone, and what a careful reader takes from each.

``tests/batteries`` was written without a look at the readers. How many answers are read so is counted here, family by
family; ``python -m tests.test_batteries FAMILY [batteries/unseen]`` shows those that are not.
"""

import functools
import json
import sys
import warnings

import pytest

from tests.conftest import ROOT
from tls_tasks.registry import find_task

READ_RIGHT = {"timelines": 281, "evidence": 78, "trees": 79, "reports": 78, "summaries": 20}
"""How many are read as a careful reader reads them; a change of a reader may only raise these."""

LATER = {"timelines": 73, "evidence": 18, "trees": 14, "reports": 47, "summaries": 7}
"""The same of ``later``: rarer forms, written when the readers were done, to see how well they generalise."""

UNSEEN = {"timelines": 60, "evidence": 59, "trees": 57, "reports": 57, "summaries": 56}
"""The same of ``unseen``: 60 answers a family, by authors who saw the prompts and no reader. Never extended by whoever
edits a reader; ``make readings`` shows what each layer of a reader wins on them."""


def cases(family, folder="batteries"):
    file = ROOT / "tests" / folder / f"{family}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def squeezed(text):
    return " ".join(str(text).split())


def document_of(case):
    name, doc_id = case["prompt"].removeprefix("##### ").split(" / ")
    return documents_of(name)[doc_id]


@functools.cache
def documents_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {doc["doc_id"]: doc for doc in find_task(name).documents(edition="embedded")}


def timelines(case):
    from tls_tasks.timelines.read import parse_timeline

    timeline = parse_timeline(case["answer"]).value
    read = [] if timeline is None else timeline.as_rows()
    found = {row["date"]: squeezed(" ".join(row["text"])) for row in read}
    return found, {date: squeezed(" ".join(texts)) for date, texts in case["expected"]}


def evidence(case):
    """Objects as those of the plain JSON of what is expected; the keys' own spelling is the reader's matter."""
    from tls_tasks.evidence.read import parse_evidence
    from tls_tasks.evidence.types import read_schema

    schema = read_schema(json.loads(document_of(case)["schema"]))
    read, wanted = (parse_evidence(text, schema).value for text in (case["answer"], json.dumps(case["expected"])))
    return list(read or ()), list(wanted or ())


def trees(case):
    from tls_tasks.trees.read import parse_tree
    from tls_tasks.trees.schema import read_schema

    return parse_tree(case["answer"], read_schema(document_of(case)["schema"])).value, case["expected"]


def reports(case):
    from tls_tasks.reports.task import parse_answer

    doc = document_of(case)
    report = parse_answer(case["answer"], doc).value
    numbers = {shown["id"]: place for place, shown in enumerate(json.loads(doc["documents"]), start=1)}
    sentences = [] if report is None else report.sentences
    found = [(squeezed(one.text), [numbers.get(name, name) for name in one.citations]) for one in sentences]
    return found, [(squeezed(one["text"]), one["citations"]) for one in case["expected"]]


def summaries(case):
    from tls_tasks.summaries.read import parse_summary

    return squeezed(parse_summary(case["answer"]).value or ""), squeezed(case["expected"])


def wrong(family, folder="batteries"):
    read = {"timelines": timelines, "evidence": evidence, "trees": trees, "reports": reports, "summaries": summaries}
    found = []
    for case in cases(family, folder):
        got, expected = read[family](case)
        if got != expected:
            found.append((case, got, expected))
    return found


@pytest.mark.parametrize("family", READ_RIGHT)
def test_answers_are_read_as_a_careful_reader_reads_them(family):
    for folder, floors in (("batteries", READ_RIGHT), ("batteries/later", LATER), ("batteries/unseen", UNSEEN)):
        n_cases = len(cases(family, folder))
        assert n_cases - len(wrong(family, folder)) >= floors[family], f"of {n_cases} in {folder}"


def test_every_layer_can_be_switched_off():
    from scripts.readings import LAYERS

    for layer in LAYERS:
        assert layer.lines() >= 0
        with layer.switched_off():
            pass


if __name__ == "__main__":
    for one, read_as, wanted in wrong(*sys.argv[1:]):
        lines = (f"{one['id']} {one['style']}", f"  answer   {one['answer'][:300]!r}", f"  read     {read_as}")
        print(*lines, f"  expected {wanted}", sep="\n")  # noqa: T201 - what it is for
