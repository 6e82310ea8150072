"""Real answers of real models: how many are read as their labels say, by family; skipped without the texts.

``python -m tests.real.fetch FOLDER`` fetches the texts, ``TLS_TASKS_REAL=FOLDER`` names them. The labels were written
before any reader was run on the texts; SOURCES.md says where they are from.
"""

import os
import re
from pathlib import Path

import pytest

from tests.real.fetch import labels, text_at
from tls_tasks.summaries.read import parse_summary
from tls_tasks.timelines.read import parse_timeline

FOLDER = os.environ.get("TLS_TASKS_REAL", "")
READ_RIGHT = {"timelines": 31, "summaries": 23}  # of 41 and 26
"""Family -> how many of all labelled answers were read right when this was written."""


def words(text):
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def is_timeline(text, expected):
    timeline = parse_timeline(text).value
    read = {row["date"]: words(" ".join(row["text"])) for row in (timeline.as_rows() if timeline else ())}
    return {date for date, _ in expected} == set(read) and all(
        words(text[slice(*span)]) in read[date] for date, span in expected
    )


def is_summary(text, expected):
    read = words(parse_summary(text).value or "")
    start, end = (words(text[slice(*(expected[key] or (0, 0)))]) for key in ("starts", "ends"))
    return read.startswith(start) and read.endswith(end)


@pytest.mark.skipif(not FOLDER, reason="TLS_TASKS_REAL names no folder of texts")
@pytest.mark.parametrize(("family", "agrees"), [("timelines", is_timeline), ("summaries", is_summary)])
def test_real_answers_are_read(family, agrees):
    rows = [row for row in labels() if row["family"] == family]
    texts = {row["sha256"]: Path(FOLDER, f"{row['sha256']}.txt") for row in rows}
    present = [row for row in rows if texts[row["sha256"]].is_file()]
    right = 0
    for row in present:
        text = texts[row["sha256"]].read_text(encoding="utf-8")
        right += any(agrees(text, reading) for reading in row.get("accept") or [row["expected"]])
    assert right >= READ_RIGHT[family] - (len(rows) - len(present))


def test_texts_are_found_by_their_locators():
    lines = '{"a": [{"b": "x"}]}\n{"a": [{"b": "y"}]}\n'
    assert text_at(lines, "line 2 /a/0/b") == "y" and text_at('["z"]', "/0") == "z"
    assert text_at("label\ntext", "file without its first line (a label)") == "text"
    assert text_at("text", "cell 3 output 1") is None
