"""The files of the embedded edition, and its sample reports as a model would have written them."""

import json

from tests.conftest import read_jsonl
from tls_tasks.reports.data import EMBEDDED_RECORDING, load_documents
from tls_tasks.reports.nuggets import read_requests
from tls_tasks.reports.read import read_reports

FOLDER = EMBEDDED_RECORDING.parent


def docs(**options):
    return load_documents("report_generation", edition="embedded", **options)


def rows(name):
    return read_jsonl(FOLDER / f"{name}.jsonl")


def read_all(read, name):
    found, bad = read((FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines(), name)
    assert not bad
    return found


def requests():
    return {request.request_id: request for request in read_all(read_requests, "nuggets")}


def sample_reports(run=None):
    return [report for report in read_all(read_reports, "reports") if run in (None, report.run_id)]


def documents():
    """Collection -> id -> document."""
    by_collection = {}
    for row in rows("documents"):
        by_collection.setdefault(row["collection"], {})[row["id"]] = row
    return by_collection


def written(report, doc):
    """A report as prose with marks, numbered as the prompt of its request numbers the documents."""
    numbers = {document["id"]: number for number, document in enumerate(json.loads(doc["documents"]), start=1)}
    sentences = []
    for sentence in report.sentences:
        marks = ", ".join(str(numbers.get(doc_id, doc_id)) for doc_id in sentence.citations)
        text, stop = sentence.text[:-1], sentence.text[-1]
        sentences.append(f"{text} [{marks}]{stop}" if marks else sentence.text)
    return "\n".join(sentences)


def answers(run, **options):
    """The answers of a sample run to the documents of the task."""
    return [written(report, doc) for report, doc in zip(sample_reports(run), docs(**options), strict=True)]
