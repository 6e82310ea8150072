"""Which lists of an answer count, and answers in other forms than JSON; expected by hand, as a careful reader reads."""

import json

import pytest

from tests import hostile
from tls_tasks.evidence.read import parse_evidence


def one(domain, span, **others):
    return {"domain": domain, "evidence_span": span, **others}


def listed(*objects):
    return json.dumps(list(objects))


TEA, MIND, FEVER, CALM = (
    one("food", "Had tea"),
    one("mind", "racing thoughts"),
    one("symptom", "No fever"),
    one("emotion", "calm"),
)
TOAST = one("food", "Had tea and toast")
PEAR = one("food", "a pear")
SCHEMA = {"properties": {"domain": {"type": "string", "enum": ["food"]}, "evidence_span": {"type": "string"}}}

LISTS = [
    (f"First draft: {listed(TEA)}\nToast is missing. Final: {listed(TOAST, MIND)}", [TOAST, MIND]),
    (f"Symptoms\n```json\n{listed(FEVER)}\n```\nFood\n```json\n{listed(TEA)}\n```", [FEVER, TEA]),
    (f"{listed(TEA, MIND)}\n\nWait, I also missed the fever: {listed(FEVER)}", [TEA, MIND, FEVER]),
    (f'{listed(TEA, MIND, CALM)}\n\nActually, "calm" is not in it. Revised:\n{listed(TEA, MIND)}', [TEA, MIND]),
    (f"Symptoms: {listed(FEVER)} Food: {listed(TEA)}\nAll:\n{listed(FEVER, TEA)}", [FEVER, TEA]),
    (f"Final answer:\n{listed(TEA, MIND)}\nExplanation: {json.dumps(TEA)} is drunk.", [TEA, MIND]),
    (f"Draft: {listed(TEA, MIND)} Final: {listed(TEA, MIND, FEVER)[:-30]}", [TEA, MIND]),  # the last whole one
    (f"{listed(TEA, MIND)}\n" * 3, [TEA, MIND]),
    (f"My first attempt:\n{listed(TEA)}\n\nNothing is about the writer, so the answer is [].", []),
    (f"1. {json.dumps(TEA)}\n2. {json.dumps(MIND)}\nCorrection of 1: {json.dumps(TOAST)}", [MIND, TOAST]),
    (f"Pain: {json.dumps(FEVER)}\nIt came again, and should be noted: {json.dumps(MIND)}", [FEVER, MIND]),
    (f"Initial symptoms:\n{listed(FEVER)}\nFinal diagnosis:\n{listed(TEA)}", [FEVER, TEA]),
    (json.dumps({"draft": [TEA], "final": [TOAST, MIND]}), [TOAST, MIND]),
    # other prompts, and labels with nothing behind them
    (f"{listed(TEA)}\n\n<document>\nb\n</document>\n\nJSON:\n{listed(MIND)}", [TEA]),
    (f"[]\n\n<document>\nb\n</document>\n\nJSON:\n{listed(MIND)}", []),
    (f"{listed(TEA)}\n\nFinal answer:\nThe list has one object.", [TEA]),
    (listed(TEA).replace('"', "&quot;"), [TEA]),
    # examples and templates
    (f"For example: {listed(PEAR)}\n\nSo for this journal:\n{listed(TEA)}", [TEA]),
    (f"Example output:\n```json\n{listed(PEAR)}\n```", None),
    (f"Objects (e.g. {json.dumps(PEAR)}) follow.\n{json.dumps(TEA)}\n{json.dumps(MIND)}", [TEA, MIND]),
    (f"Symptoms:\n{listed(FEVER)}\nThe rest, as in your example:\n{listed(TEA)}", [FEVER, TEA]),
    (f"Tea (e.g. green tea) is food:\n{listed(TEA)}", [TEA]),
    (json.dumps({"example": [PEAR], "answer": [TEA]}), [TEA]),
    (json.dumps(SCHEMA), None),
    (f"```json\n{json.dumps(SCHEMA)}\n```\n```json\n{listed(TEA)}\n```", [TEA]),
    (listed(one("<domain>", "<exact words>")) + "\n" + listed(TEA), [TEA]),
    (listed(one("symptom | food | emotion | mind", "...")), None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_of_drafts_the_last_counts_and_examples_do_not(text, expected):
    read = parse_evidence(text).value
    assert (None if read is None else [dict(each.fields) for each in read]) == expected


def test_what_is_dropped_is_said():
    text = f"For example {json.dumps(PEAR)}. Draft: {listed(TEA)} Final: {listed(TOAST)}"
    assert parse_evidence(text).counts() == {"example": 1, "draft": 1}


THERE = {"polarity": "present"}
FORMS = [
    ('| **Domain** | **Evidence span** | Polarity |\n|:-:|:-:|:-:|\n| food | "Had tea" | present |\n'
     '| `mind` | racing thoughts | - |',
     [{**TEA, **THERE}, MIND]),
    ("#### Food\n\n| evidence_span |\n|---|\n| Had tea |\n\n**Mind**\n\n| evidence_span |\n|---|\n"
     "| racing thoughts |", [TEA, MIND]),
    ("| domain | evidence_span | intensity_bucket / arousal_bucket |\n|---|---|---|\n"
     "| emotion | calm | low |\n| food | Had tea | high |",
     [{**CALM, "arousal_bucket": "low"}, {**TEA, "intensity_bucket": "high"}]),
    ("domain\tevidence_span\nfood\tHad tea\nmind\tracing thoughts", [TEA, MIND]),
    ("```yaml\nfood:\n  - evidence_span: Had tea\n    polarity: present\nmind:\n"
     "  - evidence_span: racing thoughts\n```", [{**TEA, **THERE}, MIND]),
    ("Here you go:\n\n- domain: food\n  evidence_span: 'Had tea'\n- domain: mind\n"
     "  evidence_span: racing thoughts\n\nThat is all.", [TEA, MIND]),
    ("### Object 1\n- **domain**: food\n- **evidence_span**: Had tea\n\n### Object 2\n"
     "- **Domain:** mind\n- **Evidence span:** racing thoughts", [TEA, MIND]),
    ("1. domain: food, evidence_span: Had tea\n2. domain: mind, evidence_span: racing thoughts", [TEA, MIND]),
    ("## food\n- Had tea\n\n## mind\n- racing thoughts", [TEA, MIND]),
    (""
     "<os><o domain='food' polarity='present'>Had tea</o><o domain='mind' evidence_span='racing thoughts'/></os>",
     [{**TEA, **THERE}, MIND]),
    ("<o domain='food' evidence_span='Had tea'>She had tea.</o>", [TEA]),  # what is named goes before what is around
    ("The writer had tea (food), and racing thoughts (mind).", None),
    ("The domain: food. She drank a lot.", None),
    ("An object would have a domain: and an evidence_span: key.", None),
    ("[Evidence(domain='food', evidence_span='Had tea'), Evidence(domain='mind', evidence_span='racing thoughts')]",
     [TEA, MIND]),
    ("- **food**: Had tea\n- **mind**: racing thoughts", None),
    ("| a | b |\n|---|---|\n| food | Had tea |", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_objects_in_other_forms(text, expected):
    parsed = parse_evidence(text)
    assert (None if parsed.value is None else [dict(each.fields) for each in parsed.value]) == expected
    assert parsed.status == ("failed" if expected is None else "repaired")


REPEATED = {
    "pairs": "domain: food evidence_span: tea ",
    "rows": "| domain | evidence_span |\n|-|-|\n",
    "xml": "<domain>food",
    "attributes": "<a domain=",
    "lists": listed(TEA) + "\nwait ",
    "long lists": listed(*(one("food", f"tea {at}") for at in range(19))) + " actually ",
    "headings": "**food**\n",
}


@pytest.mark.parametrize("name", REPEATED)
def test_time_is_linear_in_hostile_forms(name):
    piece = REPEATED[name]
    assert hostile.is_linear(parse_evidence, *(piece * (size // len(piece)) for size in (hostile.SMALL, hostile.LARGE)))
