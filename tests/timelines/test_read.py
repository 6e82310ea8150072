"""Timelines in model text: every form that models write, every policy, every kind of trouble."""

from __future__ import annotations

import pytest

from tls_tasks.core.errors import OptionError
from tls_tasks.core.parsed import Parsed
from tls_tasks.timelines.prompts import EXAMPLE
from tls_tasks.timelines.read import OPTIONS, PROBLEM_KINDS, TimelinePolicy, parse_timeline
from tls_tasks.timelines.types import Timeline

A, B, AB = {"2011-01-25": ["A"]}, {"2011-01-26": ["B"]}, {"2011-01-25": ["A"], "2011-01-26": ["B"]}
RULE = "-" * 32


def days(parsed: Parsed[Timeline]) -> dict[str, list[str]] | None:
    """The timeline as a dict, None for a parse failure."""
    return None if parsed.value is None else {str(day): list(sentences) for day, sentences in parsed.value}


JSON_FORMS = [
    # lists of objects, with the usual names
    ('[{"date": "2011-01-25", "text": "A"}, {"date": "2011-01-26", "text": "B"}]', AB, {}),
    ('[{"start": "2011-01-25", "summary": "A"}, {"start": "2011-01-26", "summary": "B"}]', AB, {}),
    ('[{"timestamp": "2011-01-25T10:00:00Z", "event": "A"}, {"time": "2011-01-26 10:00", "events": ["B"]}]', AB, {}),
    ('[{"day": "25 January 2011", "description": "A"}, {"when": "Jan 26, 2011", "content": "B"}]', AB, {}),
    ('[{"Date": "2011-01-25", "Sentences": ["A"]}, {"Start Date": "2011-01-26", "headline": "B"}]', AB, {}),
    ('[{"date": "2011-01-25", "event_description": "A"}, {"date": "2011-01-26", "key events": ["B"]}]', AB, {}),
    ('[{"date": "2011-01-25", "title": "Rage", "text": "A"}]', {"2011-01-25": ["Rage", "A"]}, {}),
    ('[{"date": "2011-01-25", "summary": "A", "events": ["B", "C"]}]', {"2011-01-25": ["A", "B", "C"]}, {}),
    (
        '[{"date": "2011-01-25", "events": [{"time": "10:00", "event": "A"}, {"event": "B"}]}]',
        {"2011-01-25": ["A", "B"]},
        {},
    ),
    ('{"date": "2011-01-25", "text": "A"}', A, {}),
    # wrappers and nesting
    ('{"timeline": [{"date": "2011-01-25", "text": "A"}], "sources": ["BBC"], "n": 1}', A, {}),
    ('{"events": [{"date": "2011-01-25", "text": "A"}]}', A, {}),
    ('{"date": "2024-01-01", "events": [{"date": "2011-01-25", "text": "A"}]}', A, {}),
    ('[[{"date": "2011-01-25", "text": "A"}], [{"date": "2011-01-26", "text": "B"}]]', AB, {}),
    ('{"phases": [{"summary": "s", "events": [{"date": "2011-01-25", "text": "A"}]}]}', A, {}),
    ('{"timeline": "2011-01-25: A\\n2011-01-26: B"}', AB, {}),
    # date -> text
    ('{"2011-01-25": "A", "2011-01-26": ["B"]}', AB, {}),
    ('{"timeline": {"2011-01-25": {"summary": "A"}, "26 January 2011": ["B"]}}', AB, {}),
    ('{"2011-01-25": "A", "2011-01-25": "B"}', {"2011-01-25": ["A", "B"]}, {"duplicate_key": 1, "repeated_date": 1}),
    ('{"title": "Egypt", "2011-01-25": "A", "2011-13-45": "C"}', A, {"bad_entry": 1, "invalid_date": 1}),
    # pairs, as in news-tls, and dated strings
    ('[["2011-01-25T00:00:00", ["A"]], ["2011-01-26T00:00:00", ["B"]]]', AB, {}),
    ('["2011-01-25", "A"]\n["2011-01-26", "B"]', AB, {}),
    ('["2011-01-25: A", "2011-01-26: B"]', AB, {}),
    ('["2011-01-25", "2011-01-26"]', {"2011-01-25": [], "2011-01-26": []}, {"empty_entry": 2}),
    ('"2011-01-25: A\\n2011-01-26: B"', AB, {}),
    # around it
    ('{"date": "2011-01-25", "text": "A"}\n{"date": "2011-01-26", "text": "B"}', AB, {}),
    ('Sure [1]:\n```json\n[{"date": "2011-01-25", "text": "A"}]\n```\nAs of 2024-01-01: done.', A, {"dated_text": 1}),
    ('```json\n{"2011-01-25": "A"}\n```\nand\n```json\n{"2011-01-26": "B"}\n```', AB, {}),
    ('Here is [the list]: [{"date": "2011-01-25", "text": "A"}]. I hope {it} helps [2].', A, {}),
    ('<timeline>[{"date": "2011-01-25", "text": "A"}]</timeline>', A, {}),
    ('<think>[{"date": "2011-01-01", "text": "C"}]</think>\n[{"date": "2011-01-25", "text": "A"}]', A, {}),
    # damage
    ('[{"date": "2011-01-25", "text": "A"},\n]', A, {"repaired_json": 1}),
    ("[{'date': '2011-01-25', 'text': 'A'}]", A, {"repaired_json": 1}),
    ("[{'date': '2011-01-25', 'text': 'Cairo's day'}]", {"2011-01-25": ["Cairo's day"]}, {"repaired_json": 1}),
    ('[{"date": "2011-01-25", "text": "the "big" A"}]', {"2011-01-25": ['the "big" A']}, {"repaired_json": 1}),
    ('[{date: "2011-01-25", text: "A"}]', A, {"repaired_json": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": "2011-01-26", "te', A, {"truncated": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": "2011-01-26", "text": "B and', A, {"truncated": 1}),
    ('{"timeline": [{"date": "2011-01-25", "text": "A"}, {"date": "2011', A, {"truncated": 1}),
    ('{"2011-01-25": ["A"], "2011-01-26": ["B", "C', A, {"truncated": 1}),
    ('```json\n[["2011-01-25", ["A"]], ["2011-01-26", ["B"', A, {"truncated": 1}),
    ('{"date": "2011-01-25", "text": "A"}\n{"date": "2011-01-26", "te', A, {"truncated": 1}),
    ('[{"date": "2011-01-25", "text": "A and', None, {"truncated": 1}),
    ('{"2011-01-25": ["A", "B', None, {"truncated": 1}),
    ('{"date": "2011-01-25", "text": "A and', None, {"truncated": 1}),
    # dates that are numbers, null or nothing
    ('[{"date": 20110125, "text": "A"}, {"date": 2012, "text": "C"}]', {**A, "2012-01-01": ["C"]}, {"partial_date": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": null, "text": "C"}]', A, {"undated_text": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": 25, "text": "C"}]', A, {"invalid_date": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": 1e999, "text": "C"}]', A, {"invalid_date": 1, "non_finite": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": ["x"], "text": "C"}]', A, {"invalid_date": 1}),
    ('[{"date": "2011-01-25", "text": "A"}, {"date": true, "text": "C"}]', A, {"invalid_date": 1}),
    ('[{"date": null, "when": "2011-01-25", "text": "A"}]', A, {}),
    ('[{"date": "2011-01-25", "text": "A"}, {"text": "C"}]', A, {"undated_text": 1}),
    # texts that are none
    ('[{"date": "2011-01-25"}]', {"2011-01-25": []}, {"empty_entry": 1}),
    ('[{"date": "2011-01-25", "text": null}]', {"2011-01-25": []}, {"empty_entry": 1}),
    ('[{"date": "2011-01-25", "text": NaN}]', {"2011-01-25": []}, {"empty_entry": 1, "non_finite": 1}),
    ('[{"date": "2011-01-25", "text": [" "]}]', {"2011-01-25": [" "]}, {"empty_entry": 1}),
    ('[{"date": "2011-01-25", "text": ["A", {"a": 1}, null]}]', A, {"bad_entry": 1}),
    ('[{"date": "2011-01-25", "text": {"text": {"text": {"text": "A"}}}}]', A, {}),
    (
        '[{"date": "2011-01-25", "text": {"text": {"text": {"text": {"text": "A"}}}}}]',
        {"2011-01-25": []},
        {"bad_entry": 1, "empty_entry": 1},
    ),
    ('[{"date": "2011-01-25", "text": "A"}, null, 3, "x", {}]', A, {"bad_entry": 4}),
    # ranges
    ('[{"start": "2011-01-25", "end": "2011-01-28", "summary": "A"}]', A, {"date_range": 1}),
    ('[{"date": "2011-01-25 to 2011-01-28", "text": "A"}]', A, {"date_range": 1}),
]

LINE_FORMS = [
    ("2011-01-25: A\n2011-01-26: B", AB, {}),
    ("2011-01-25:A\r\n2011-01-26 : B\r\n", AB, {}),
    ("2011-01-25 - A\n2011-01-26 – B", AB, {}),
    ("2011-01-25 A\n2011-01-26\tB", AB, {}),
    ("2011-01-25 | A\n2011-01-26 => B", AB, {}),
    ("2011-01-25,A\n2011-01-26. B", AB, {}),
    ("- 2011-01-25: A\n* 2011-01-26: B", AB, {}),
    ("1. 2011-01-25: A\n2) 2011-01-26: B", AB, {}),
    ("- **2011-01-25**: A\n- **2011-01-26:** B", AB, {}),
    ("**2011-01-25** A\n__2011-01-26__ B", AB, {}),
    ("[2011-01-25] A\n(2011-01-26) B", AB, {}),
    ("[2011-01-25](https://example.org/a_(b)): A", None, {"dated_text": 1}),
    ("[2011-01-25](https://example.org/a): A", A, {}),
    ("• 📅 *25 January 2011* — A\n> Jan. 26th, 2011: B", AB, {}),
    ("- [ ] 2011-01-25: A\n- [x] 2011-01-26: B", AB, {}),
    ("Tuesday, 25 January 2011: A\n2011-01-26 (Wednesday): B", AB, {}),
    ("2011-01-25T10:00:00Z: A\n2011-01-26 at 10:30 - B", AB, {}),
    ("25/01/2011 A\n26.01.2011: B", AB, {}),
    ("date: 2011-01-25\nsummary: A\n\n**Date:** 2011-01-26\n**Event:** B", AB, {}),
    ("- date: 2011-01-25\n  text: A\n- date: 2011-01-26\n  text: B", AB, {}),
    ("Here is the timeline:\n\n2011-01-25: A\n2011-01-26: B", AB, {}),
    ("```\n2011-01-25: A\n2011-01-26: B\n```", AB, {}),
    ("<think>2011-01-01: C</think>2011-01-25: A", A, {}),
    ("2011-01-01: C</think>2011-01-25: A", A, {}),
    ("<answer>\n2011-01-25: A\n</answer>", A, {}),
    # colons, times and dates within the text stay
    ("2011-01-25: At 10:30 a.m.: they march", {"2011-01-25": ["At 10:30 a.m.: they march"]}, {}),
    ("2011-01-25: A, until 2011-01-28: B", {"2011-01-25": ["A, until 2011-01-28: B"]}, {}),
    ("2011-01-25 - 28 people die", {"2011-01-25": ["28 people die"]}, {}),
    ("January 25, 2011 - 2012 budget", {"2011-01-25": ["2012 budget"]}, {}),
    # headings and blocks
    (
        "## 2011-01-25\n- A\n- B\n\n### 26 January 2011\nC\n\nD",
        {"2011-01-25": ["A", "B"], "2011-01-26": ["C", "D"]},
        {},
    ),
    ("**25 January 2011**\n1. A\n\n**January 26, 2011**\n\n* B", AB, {}),
    ("**25 January 2011: Rage**\nA\n\nB", {"2011-01-25": ["Rage", "A", "B"]}, {}),
    ("## 25 January 2011\n### Rage\nA\n## Sources\n- BBC", {"2011-01-25": ["Rage", "A"]}, {"undated_text": 2}),
    ("## 2011\n### 2011-01-25\nA", A, {}),
    ("## January 2011\n- A\n- B", {"2011-01-01": ["A", "B"]}, {"partial_date": 1}),
    # continuation
    ("2011-01-25: A\nand more", {"2011-01-25": ["A", "and more"]}, {}),
    ("2011-01-25: A\n  - detail\n\n  - more", {"2011-01-25": ["A", "detail", "more"]}, {}),
    ("2011-01-25: A\n\nI hope this helps!\n- It should.", A, {"undated_text": 2}),
    ("## 2011-01-25\n- A\n\nI hope this helps!", A, {"undated_text": 1}),
    ("2011-01-25: A\n---\nNote: C", A, {"undated_text": 1}),
    ("```\n2011-01-25: A\n```\nNote: C", A, {"undated_text": 1}),
    # tilse
    (f"2011-01-25\nA\n{RULE}\n2011-01-26\nB\n{RULE}\n", AB, {}),
    (f"2011-01-25\nA\n{RULE}\n2011-01-26\nB", AB, {}),
    ("2011-01-25\r\nA\r\n--\r\n2011-01-26\r\nB\r\n----------", AB, {}),
    (f"2011-01\nA\n{RULE}\n2011-1-26\nB\n{RULE}", {"2011-01-01": ["A"], "2011-01-26": ["B"]}, {"partial_date": 1}),
    (f"2011-13-45\nC\nD\n{RULE}\n2011-01-25\nA\n{RULE}", A, {"invalid_date": 1}),
    (f"2011-01-25\n{RULE}\n2011-01-26\nB\n{RULE}", {"2011-01-25": [], **B}, {"empty_entry": 1}),
    # dates that are none, or not quite
    ("2011-01-25: A\n2011-02-30: C\nmore of it", A, {"invalid_date": 1}),
    ("2011-01-25: A\n01/02/2011: C", A, {"invalid_date": 1}),
    ("2011-01-25: A\n2011-01-25: B", {"2011-01-25": ["A", "B"]}, {"repeated_date": 1}),
    ("2012: C\n2011-01-25: A", {**A, "2012-01-01": ["C"]}, {"partial_date": 1}),
    ("from 25 to 28 January 2011: A", A, {"date_range": 1}),
    ("2011-01-28 to 2011-01-25: C\n2011-01-25: A", A, {"invalid_date": 1}),
    # prose
    ("It began on 2011-01-25: people marched.", None, {"dated_text": 1}),
    ("On January 25, 2011, it began.", None, {"dated_text": 1}),
    ("January 25, 2011, was cold.", None, {"dated_text": 1}),
    ("2000 - 3000 people marched.", None, {}),
    ("2011-based reports", None, {}),
]

TABLES = [
    ("| Date | Event |\n|---|---|\n| 2011-01-25 | A |\n| 2011-01-26 | B |", AB, {}),
    ("| # | What happened | When |\n|:-:|---|--:|\n| 1 | A | Jan 25, 2011 |\n| 2 | B | Jan 26, 2011 |\n", AB, {}),
    ("Event | Date\n--- | ---\nA | 2011-01-25\nB | 2011-01-26\n\nBye", AB, {"undated_text": 1}),
    ("| Datum | Was |\n|---|---|\n| **2011-01-25** | **A** |", A, {}),
    ("| 2011-01-25 | A |\n| 2011-01-26 | B |", AB, {}),
    ("| A | 2011-01-25 |", A, {}),
    ("| Date | Event | Source |\n|---|---|---|\n| 2011-01-25 | A | BBC |", A, {}),
    ("| Date | Who | What |\n|---|---|---|\n| 2011-01-25 | Police | A |", {"2011-01-25": ["Police", "A"]}, {}),
    ("| Date | Event |\n|---|---|\n| 2011-01-25 | A<br>B \\| C |", {"2011-01-25": ["A B | C"]}, {}),
    ("| Date | Event |\n|---|---|\n| 2011-01-25 | A |\n| | B |", {"2011-01-25": ["A", "B"]}, {}),
    ("| Date | Event |\n|---|---|\n| 2011-02-30 | C |\n| 2011-01-25 | A |", A, {"invalid_date": 1}),
    ("| Date | Event |\n|---|---|\n| 2011-01-25 | |", {"2011-01-25": []}, {"empty_entry": 1}),
    ("| Name | Role |\n|---|---|\n| Mubarak | president |\n\n2011-01-25: A", A, {"undated_text": 1}),
    ("| Date | Event |\n|---|---|", None, {}),
    ("Intro\n\n| Date | Event |\n|---|---|\n| 2011-01-25 | A |\n- 2011-01-26: B", AB, {}),
]

SECTIONS = [
    # the year, or year and month, above a line
    ("## 2011\n\n- **January 25** – A\n- **January 26** – B", AB, {}),
    ("### January 2011\n- **25**: A\n- **26**: B", AB, {}),
    ("January 2011\n  25th: A\n  The 26th: B", AB, {}),
    ("- 2011\n  - January\n    - 25: A\n    - 26: B", AB, {}),
    ("### Phase 1: Uprising (January-March 2011)\n- 25 January: A\n- January 26: B", AB, {}),
    ("Egypt in 2011\n\nJan 25 - A\nJan 26 - B", AB, {}),
    ("2011-01-25: A\nJanuary 26: B", AB, {}),
    ("December 31, 2010: C\nJanuary 25: A", {"2010-12-31": ["C"], **A}, {}),
    ("## 2011: the rising\n- January 25: A", A, {}),
    ("## January 2011\n- 25 people die.", {"2011-01-01": ["25 people die."]}, {"partial_date": 1}),
    ("## 2011-01-25\n10:30 - A\n14:00: B", {"2011-01-25": ["10:30 - A", "14:00: B"]}, {}),
    ("- January 25: A\n- January 26: B", None, {}),
    ("| Year | Date | Event |\n|---|---|---|\n| 2011 | Jan 25 | A |\n| | Jan 26 | B |", AB, {}),
    ("| Year | Month | Day | Event |\n|--|--|--|--|\n| 2011 | 1 | 25 | A |\n| 2011 | January | 26 | B |", AB, {}),
    ("| Year | Month | Day | Event |\n|--|--|--|--|\n| 2011 | 1 | 25 | A |\n| | | 2011-01-26 | B |", AB, {}),
    ("**2011**\n\n| Date | Event |\n|---|---|\n| Jan 25 | A |\n| Jan 26 | B |", AB, {}),
    ("| Date | Event |\n|---|---|\n| **2011** | |\n| Jan 25 | A |\n| Jan 26 | B |", AB, {}),
    ('{"2011": [["January 25", "A"], ["January 26", "B"]]}', AB, {}),
    ('[{"year": 2011, "January 25": "A", "January 26": "B"}]', AB, {}),
    ('{"year": 2011, "events": [{"date": "January 25", "text": "A"}, {"date": "January 26", "text": "B"}]}', AB, {}),
    ('{"2011": {"January 25": "A", "January 26": "B"}}', AB, {}),
    ('{"2011": {"January": {"25": "A", "26": "B"}}}', AB, {}),
    ('{"2011": ["January 25: A", "January 26: B"]}', AB, {}),
    ('[{"year": 2011, "month": 1, "day": 25, "text": "A"}]', A, {}),
    ('{"years": [{"year": 2011, "months": [{"month": "January", "events": [{"day": 25, "text": "A"}]}]}]}', A, {}),
    ('[{"fecha": "2011-01-25", "suceso": "A"}]', A, {}),
]

LEADS = [
    ("January 12 (2010): A\nJanuary 15 (2010): B", {"2010-01-12": ["A"], "2010-01-15": ["B"]}, {}),
    ("2011-01-25: A\n2011-01-26: B\n2011-01-25: A", {"2011-01-25": ["A"], "2011-01-26": ["B"]}, {"repeated_date": 1}),
    ("a) 2011-01-25: A\nb) 2011-01-26: B", AB, {}),
    ("I. January 25, 2011 – A\nII. January 26, 2011 – B", AB, {}),
    ("1️⃣ **25 January 2011**: A\n2️⃣ **26 January 2011**: B", AB, {}),
    ("#1 2011-01-25: A\n#2 2011-01-26: B", AB, {}),
    ("Event 1: January 25, 2011 - A\nDay 2 (January 26, 2011): B", AB, {}),
    ("Timeline: 2011-01-25: A\n2011-01-26: B", AB, {}),
    ("Date: 2011-01-25 | Event: A\nDate: 2011-01-26; Event: B", AB, {}),
    ("Event 1\nDate: 2011-01-25\nWhat: A\n\nEvent 2\nDate: 2011-01-26\nWhat: B", AB, {}),
    ("2011-01-25 ... A\n2011-01-26 … B", AB, {}),
    ("25 January 2011 [Tue]: A\n2011-01-26 (day 2): B", AB, {}),
    ("2011-01-25:: A\n2011\\-01\\-26: B", AB, {}),
    ("1. Januar 2011: A\n2. Januar 2011: B", {"2011-01-01": ["A"], "2011-01-02": ["B"]}, {}),
    ("2011-01-25: A\n2.", A, {}),
    # several on a line
    ("2011-01-25: A. 2011-01-26: B.", {"2011-01-25": ["A."], "2011-01-26": ["B."]}, {}),
    ("2011-01-25: A; 2011-01-26: B", AB, {}),
    ("Here it is: 2011-01-25: A | 2011-01-26: B", AB, {}),
    ("2011-01-25: A. B follows on 2011-01-26: C", {"2011-01-25": ["A. B follows on 2011-01-26: C"]}, {}),
    # text before its date, only where no line begins with one
    ("- A (2011-01-25)\n- B (January 26, 2011)", AB, {}),
    ("* A – **25 January 2011**\n* B – **26 January 2011**", AB, {}),
    ("- A: 2011-01-25\n- B: 2011-01-26", AB, {}),
    ("- On January 25, 2011, A\n- On January 26, 2011, B", AB, {}),
    ("2011-01-25: A\n\nSources:\n- C (2011-01-26)\n- D (2011-01-27)", A, {"undated_text": 1, "dated_text": 2}),
    ("Title: T\nDate: 2011-01-25\nEvent: A\nDate: 2011-01-26\nEvent: B", AB, {}),
    (
        "- Musk leads SpaceX – 2011-01-25\n- B – 2011-01-26",
        {"2011-01-25": ["Musk leads SpaceX"], "2011-01-26": ["B"]},
        {},
    ),
    # marks in the text
    ("2011-01-25: *A*[1]\n2011-01-26: [B](https://example.org/b)【4†source】", AB, {}),
    ('2011-01-25: "A"\n2011-01-26: B</s>', AB, {}),
]

MARKUP = [
    ("<ul><li><b>2011-01-25</b>: A</li>\n<li><b>2011-01-26</b>: B</li></ul>", AB, {}),
    ("<h2>2011</h2><ol><li>January 25: A</li><li>January 26: B</li></ol>", AB, {}),
    ("<h2>2011-01-25</h2><p>A</p><h2>Other</h2><p>C</p>", A, {"undated_text": 2}),
    ("<dl><dt>2011-01-25</dt><dd>R &amp; D</dd></dl>", {"2011-01-25": ["R & D"]}, {}),
    ("2011-01-25: A<br>2011-01-26: B", AB, {}),
    (
        "<table><tr><th>Date</th><th>Event</th></tr>\n<tr>\n<td>2011-01-25</td>\n<td>A</td></tr>\n"
        "<tr><td>2011-01-26</td><td>B</td></tr></table>",
        AB,
        {},
    ),
    (
        "<table><tr><th>Year</th><th>Date</th><th>Event</th></tr><tr><td>2011</td><td>Jan 25</td>"
        "<td>A</td></tr><tr><td></td><td>Jan 26</td><td>B</td></tr></table>",
        AB,
        {},
    ),
    ('<event date="2011-01-25">A</event>\n<event date="2011-01-26">B</event>', AB, {}),
    (
        "<entry><date>2011-01-25</date><text>A</text></entry><entry><date>2011-01-26</date><text>B</text></entry>",
        AB,
        {},
    ),
    ("<e><year>2011</year><month>January</month><day>25</day><text>A</text></e>", A, {}),
    ('<year value="2011"><event day="January 25">A</event></year>', A, {}),
    ("2011-01-25: 1 < 2 > 0 and <b", {"2011-01-25": ["1 < 2 > 0 and <b"]}, {}),
    (
        "\\begin{itemize}\n\\item \\textbf{2011-01-25}: A\n\\item \\textbf{2011-01-26}: B\n\\end{itemize}",
        None,
        {"dated_text": 2},
    ),
    ("So:\n\\boxed{\n2011-01-25: A\n2011-01-26: B\n}", AB, {}),
    ('date,event\n2011-01-25,"A"\n2011-01-26,B', AB, {}),
    ('id;date;summary\n1;2011-01-25;A\n2;2011-01-26;"B"', AB, {}),
    ("[('2011-01-25', 'A'), ('2011-01-26', 'B')]", AB, {"repaired_json": 1}),
    ("2011-01-25: A\\n2011-01-26: B", AB, {}),
    ('{"answer": "[{\\"date\\": \\"2011-01-25\\", \\"text\\": \\"A\\"}]"}', A, {"repaired_json": 1}),
]

A_TITLED = {"2011-01-25": ["Rage: A"], "2011-01-26": ["Army: B"]}
A_BLOCK = {"2011-01-25": ["Rage", "A"], "2011-01-26": ["Army", "B"]}
TITLES = [
    ("1. **Rage (January 25, 2011)**: A\n2. **Army (January 26, 2011)**: B", A_TITLED, {}),
    ("**Rage** (2011-01-25) – A\n\n**Army** (2011-01-26) – B", A_TITLED, {}),
    ("- Rage – 25 January 2011: A\n- Army – 26 January 2011: B", A_TITLED, {}),
    ("- [2011-01-25] **Rage**: A\n- [2011-01-26] **Army**: B", A_TITLED, {}),
    ("### Rage (January 25, 2011)\nA\n\n### Army (January 26, 2011)\nB", A_BLOCK, {}),
    ("**1. Rage — 25 January 2011**\n\nA\n\n**2. Army — 26 January 2011**\n\nB", A_BLOCK, {}),
    ("- Rage (2011-01-25)\n  - A\n- Army (2011-01-26)\n  - B", A_BLOCK, {}),
    (
        "**1. Rage**\n- Date: 2011-01-25\n- Event: A\n\n**2. Army**\n- Date: 2011-01-26\n- Event: B",
        AB,
        {"undated_text": 1},
    ),
    # A title of the whole answer, and a phase, are no entries.
    ("## Egypt (January 25, 2011)\n2011-01-25: A\n2011-01-26: B", AB, {"dated_text": 1}),
    ("### Rage (January 25 – February 11, 2011)\n- January 25: A\n- January 26: B", AB, {"dated_text": 1}),
    ("He left (25 January 2011). Then nothing.", None, {"dated_text": 1}),
]
SIGNS = [
    *((f"2011-01-25 {sign} A\n2011-01-26 {sign} B", AB, {}) for sign in ("———", "───", "➜", "➡️", "▶", "»", "//", "•")),
    ("2011年1月25日——A\n2011年1月26日　B", AB, {}),
    ("- 2011年1月25日，A\n- 2011年1月26日，B", AB, {}),
    ("・2011/1/25：A\n・2011/1/26：B", AB, {}),
    ("25.01.11: A\n26.01.11: B", AB, {}),
    ("Il 25 gennaio 2011: A\nL'26 gennaio 2011: B", AB, {}),
    ("25 stycznia 2011 r. – A\n26.01.2011 r.: B", AB, {}),
    ("25 ม.ค. 2554: A\n26 มกราคม 2011: B", AB, {}),
    ("Di., 25.01.2011: A\nMi., 26.01.2011: B", AB, {}),
    ("25.–28.01.2011: A\n26./27.01.2011: B", AB, {"date_range": 2}),
    ("Tue 25 – Wed 26 Jan 2011: A\n26.01.–02.02.2011: B", AB, {"date_range": 2}),
    ("Ende Januar 2011: A", {"2011-01-01": ["A"]}, {"partial_date": 1}),
    ("1. A (2011-01-25).\n2. B (2011-01-26).", {"2011-01-25": ["A."], "2011-01-26": ["B."]}, {}),
    ('"2011-01-25": "A",\n"2011-01-26": "B"', AB, {}),
    ("t = {\n  '2011-01-25': 'A',\n  '2011-01-26': 'B',\n}\nprint(t)", AB, {"repaired_json": 2}),
    ('[{"start_date": {"year": "2011", "month": "1", "day": "25"}, "text": {"text": "A"}}]', A, {}),
]
DRAFTS = [
    ("2011-01-24: C\n\nFinal timeline:\n2011-01-25: A", A, {"draft": 1, "undated_text": 1}),
    ("2011-01-25: C\n\n**Corrected version:**\n2011-01-25: A", A, {"draft": 1, "undated_text": 1}),
    ("### First years\n2011-01-25: A\n### Final years\n2011-01-26: B", AB, {"undated_text": 1}),
    ("2011-01-25: A\n\nFinal timeline:\nSee above.", A, {"undated_text": 2}),
    (f"2010-04-14: {EXAMPLE}\n2011-01-25: A", A, {"draft": 1}),
    (f"2010-04-14: {EXAMPLE}", {"2010-04-14": [EXAMPLE]}, {}),
]

LOSSES = [
    (
        'On 2011-01-20 I knew:\n[{"date": "2011-01-25", "text": "A"}]\nIt ended in 2011.',
        {"2011-01-25": ["A"]},
        {"dated_text": 1},
    ),
    ('Since 25 May 2010:\n```json\n{"2011-01-25": "A"}\n```\nThat is all.', {"2011-01-25": ["A"]}, {"dated_text": 1}),
    ("- 2011-01-25: A\n- B\n- 2011-01-26: B", {"2011-01-25": ["A", "B"], **B}, {"undated_text": 1}),
    ("- 2011-01-25: A\n  - B\n- 2011-01-26: B", {"2011-01-25": ["A", "B"], **B}, {}),
    ("It began on 25 January 2011.\n\n2011-01-26: B", B, {"dated_text": 1}),
    ("2011-01-25: A\n\nIt ended on 11 February 2011.", A, {"dated_text": 1}),
    ("2011-01-25: A\n\nReferences:\n1. 2011-01-26, BBC", A, {"undated_text": 1, "dated_text": 1}),
]

NOTHING = [
    ("", None, {}),
    ("   \n", None, {}),
    ("There are no events.", None, {}),
    ("null", None, {}),
    ("None", None, {}),
    ("42", None, {}),
    ("1" * 10_000, None, {}),
    ("<think>2011-01-25: A", None, {"unfinished_thinking": 1}),
    ('<think>[{"date": "2011-01-25", "text": "A"}]', None, {"unfinished_thinking": 1}),
    ('[{"date": "soon", "text": "A"}]', None, {"invalid_date": 1}),
    ('[{"date": null, "text": "A"}]', None, {"undated_text": 1}),
    ("01/02/2011: A", None, {"invalid_date": 1}),
    ("January 24: A.\nJanuary 30: B, empty since 1981.\nJanuary 31: C.", None, {}),  # no year of the list's
    ("2011", None, {"empty_entry": 1}),
    ("[1] See [2].", None, {}),
    ("I found no events: []", None, {}),
    ("[]", {}, {}),
    ("{}", {}, {}),
    (' {"timeline": []} ', {}, {}),
    ("<think>Nothing?</think>\n[]", {}, {}),
    ("I found none.\n```json\n[]\n```", {}, {}),
]


FORMS = JSON_FORMS + LINE_FORMS + TABLES + SECTIONS + LEADS + MARKUP + TITLES + SIGNS + DRAFTS + LOSSES + NOTHING


@pytest.mark.parametrize(("text", "expected", "counts"), FORMS)
def test_forms(text: str, expected: dict[str, list[str]] | None, counts: dict[str, int]) -> None:
    parsed = parse_timeline(text)
    assert (days(parsed), parsed.counts()) == (expected, counts)
    assert set(parsed.counts()) <= set(PROBLEM_KINDS)


def test_an_undated_json_object_on_its_own_is_nothing() -> None:
    assert parse_timeline('[{"text": "A"}]').failed


def test_json_that_needs_guessing_does_not_win_over_lines() -> None:
    parsed = parse_timeline("[[2011-01-25]] A\n[[2011-01-26]] B\n{note: 'it's'}")
    assert parsed.value is not None
    assert [str(day) for day in parsed.value.dates] == ["2011-01-25", "2011-01-26"]


def test_lists_in_one_text_are_one_timeline() -> None:
    text = 'First [{"date": "2011-01-25", "text": "A"}], then [{"date": "2011-01-25", "text": "B"}].'
    parsed = parse_timeline(text)
    assert (days(parsed), parsed.counts()) == ({"2011-01-25": ["A", "B"]}, {"repeated_date": 1})


POLICIES = [
    (
        {"partial": "first_day"},
        "2011-01: A\n2011: B",
        {"2011-01-01": ["A", "B"]},
        {"partial_date": 2, "repeated_date": 1},
    ),
    ({"partial": "drop"}, "2011-01: A\n2011-01-26: B", B, {"partial_date": 1}),
    ({"partial": "drop"}, '{"2011": "A", "2011-01-26": "B"}', B, {"partial_date": 1}),
    ({"partial": "drop"}, "2011-01: A", None, {"partial_date": 1}),
    ({"range": "start"}, "2011-01-25 to 2011-01-26: A", A, {"date_range": 1}),
    ({"range": "end"}, "2011-01-25 to 2011-01-26: B", B, {"date_range": 1}),
    ({"range": "end"}, '[{"start": "2011-01-25", "end": "2011-01-26", "text": "B"}]', B, {"date_range": 1}),
    ({"range": "drop"}, "2011-01-25 to 2011-01-26: C\n2011-01-26: B", B, {"date_range": 1}),
    (
        {"range": "end", "partial": "drop"},
        "2011-01 to 2011-03: C\n2011-01-25: A",
        A,
        {"date_range": 1, "partial_date": 1},
    ),
    ({"range": "end"}, "2011-01 to 2011-03: C", {"2011-03-01": ["C"]}, {"date_range": 1, "partial_date": 1}),
    ({"repeated": "merge"}, "2011-01-25: A\n2011-01-25: B", {"2011-01-25": ["A", "B"]}, {"repeated_date": 1}),
    ({"repeated": "first"}, "2011-01-25: A\n2011-01-25: B\n2011-01-25: C", A, {"repeated_date": 2}),
    ({"repeated": "last"}, "2011-01-25: C\n2011-01-25: A", A, {"repeated_date": 1}),
    ({"repeated": "last"}, '{"2011-01-25": "C", "2011-01-25": "A"}', A, {"repeated_date": 1, "duplicate_key": 1}),
    ({"undated": "continue"}, "Intro\n2011-01-25: A\nB", {"2011-01-25": ["A", "B"]}, {}),
    ({"undated": "drop"}, "Intro\n2011-01-25: A\nB", A, {"undated_text": 2}),
    ({"undated": "drop"}, f"2011-01-25\nA\n{RULE}\n**2011-01-26**\n- B", AB, {}),
    ({"undated": "drop"}, "| Date | Event |\n|---|---|\n| 2011-01-25 | A |\n| | C |", A, {"undated_text": 1}),
]


@pytest.mark.parametrize(("options", "text", "expected", "counts"), POLICIES)
def test_policies(
    options: dict[str, str], text: str, expected: dict[str, list[str]] | None, counts: dict[str, int]
) -> None:
    parsed = parse_timeline(text, TimelinePolicy(**options))
    assert (days(parsed), parsed.counts()) == (expected, counts)


def test_the_defaults_are_the_first_choices() -> None:
    policy = TimelinePolicy()
    assert {option: getattr(policy, option) for option in OPTIONS} == {
        name: values[0] for name, values in OPTIONS.items()
    }


@pytest.mark.parametrize("option", OPTIONS)
def test_an_unknown_option_is_the_callers_fault(option: str) -> None:
    with pytest.raises(OptionError, match=f"^{option}: got 'x', expected one of '{OPTIONS[option][0]}'"):
        TimelinePolicy(**{option: "x"})


def test_problems_stand_in_the_order_of_the_text_and_are_short() -> None:
    parsed = parse_timeline("2011-02-30: C\n2012: D\n2011-01-25: A\n2011-01-25: B\n\n" + "That is all. " * 50)
    assert [noted.kind for noted in parsed.problems] == [
        "invalid_date",
        "partial_date",
        "repeated_date",
        "undated_text",
    ]
    assert [noted.detail for noted in parsed.problems[:3]] == ["2011-02-30", "2012", "2011-01-25"]
    assert all(len(noted.detail) <= 80 for noted in parsed.problems)


@pytest.mark.parametrize(
    ("text", "day_month", "days"),
    [
        ("01/02/2011: A\n25/01/2011: B", "list", ["2011-01-25", "2011-02-01"]),
        ("01/02/2011: A\n01/25/2011: B", "list", ["2011-01-02", "2011-01-25"]),
        ("01/02/2011: A\n25.01.2011: B", "list", ["2011-01-25"]),  # another separator says nothing
        ("01/02/2011: A\n01/25/2011: B\n25/01/2011: C", "list", ["2011-01-25"]),  # both orders, so neither
        ("1.2.2011: A", "list", ["2011-02-01"]),
        ("1.2.2011: A\n1.25.2011: B", "list", ["2011-01-02", "2011-01-25"]),
        ("05/05/2011: A", "list", ["2011-05-05"]),
        ("01/02/2011: A", "list", []),
        ("01/02/2011: A", "day_first", ["2011-02-01"]),
        ("01/02/2011: A", "month_first", ["2011-01-02"]),
        ("1.2.2011: A", "month_first", ["2011-01-02"]),
        ('{"01/02/2011": "A", "25/01/2011": "B"}', "list", ["2011-01-25", "2011-02-01"]),
        ("25/01/2011 - 01/02/2011: A", "list", ["2011-01-25"]),
    ],
)
def test_a_list_settles_the_order_of_day_and_month(text, day_month, days):
    parsed = parse_timeline(text, TimelinePolicy(day_month=day_month))
    assert [str(day) for day in (parsed.value.dates if parsed.value else ())] == days


def test_an_entry_with_a_day_keeps_it_whatever_its_text_begins_with():
    assert parse_timeline("2018-03-05: March 6: A").value.as_rows() == [{"date": "2018-03-05", "text": ["March 6: A"]}]


def test_marks_of_code_are_no_text():
    read = parse_timeline("2011-01-25: It ran `make test` twice.").value.as_rows()
    assert read == [{"date": "2011-01-25", "text": ["It ran make test twice."]}]


@pytest.mark.parametrize("sign", ["-", "–", "—", "~"])
def test_a_span_of_numbers_is_no_year(sign):
    assert parse_timeline(f"2000 {sign} 3000 people came.").value is None
