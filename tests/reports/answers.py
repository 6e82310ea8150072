"""The sample reports of the embedded edition as a model would have written them."""

import json

from tls_tasks.reports.data import EMBEDDED_RECORDING, load_documents
from tls_tasks.reports.read import read_reports


def docs(**options):
    return load_documents("report_generation", edition="embedded", **options)


def sample_reports(run):
    lines = (EMBEDDED_RECORDING.parent / "reports.jsonl").read_text(encoding="utf-8").splitlines()
    return [report for report in read_reports(lines, "reports")[0] if report.run_id == run]


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
