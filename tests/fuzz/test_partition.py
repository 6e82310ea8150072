"""No word of an answer is lost without a word: it is read, or frame, or in a problem that is counted.

Timelines have tests of their own, in tests/timelines/test_partition.py.
"""

import json
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.parts import fuzzed
from tests.test_batteries import cases, document_of
from tls_tasks.core.reasoning import FRAME, strip_thinking
from tls_tasks.evidence.read import parse_evidence
from tls_tasks.evidence.types import read_schema as read_evidence_schema
from tls_tasks.reports.task import parse_answer
from tls_tasks.summaries.read import parse_summary
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.schema import read_schema as read_tree_schema

GUESSED = {"truncated", "broken_json", "repaired_json", "several_trees", "wrapper", "draft", "example"}
"""Problems whose detail does not show all that they concern: what is lost within JSON is theirs."""

NAME = r"""["']?(?:\w+_)?(?:id|name|type|title|status)["']?\s*:\s*["'][^"'\n]*["']"""

LABELS = r"null|n/a|docs?|documents?|dok|doku\w+|sources?|quelle|see|ref|cite"
NOTATION = re.compile(  # names, tags, fences, commands, marks of citations and their labels, names of fields, numbers
    rf"{NAME}|</?\w[^<>]*>|```\w*|\\\w+\{{[^{{}}]*\}}|【[^】]*】|\[\^?[@\w][^\[\]\n]*\]"
    r"|\]\([^()\s]*\)|:contentReference|\{index=\d+\}|[\"'“]?\w+[\"'”]?\s*:(?!\S)|^\W*[0-9]+[.)]\s"
    rf"|\b(?:{LABELS})\b|^\s*[\"'](?:string|integer|number|boolean|array|object)[\"'],?$",
    re.IGNORECASE,
)
HEADING = re.compile(r"\s*(?:#.*|[*_]{2}.*[*_]{2}|.*[:：]|\|[^|\d]*\|[^|\d]*\|)\s*$")
TITLE = re.compile(r"\A\s*[^.!?\[\]{}\n]*\n\s*(?=\n|<)")
BEHIND = re.compile(  # a list of sources, or the length
    r"\n\W*(?:sources|references|works cited|documents used|[\[¹²][^\n]*[\])]?[ :]|[^\n]*(?:word|character) count)",
    re.IGNORECASE,
)
AROUND_JSON = re.compile(r"""\n|(?<=[}\]]) |(?<=[^"']:)[* ]{1,3}(?=[{\[])""")
IS_JSON = {family: re.compile(r"[\[{]") for family in ("summaries", "evidence", "trees")}
IS_JSON["reports"] = re.compile(r'"(?:sentences?|text|report|answer|responses)"\s*:')


def words(text):
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return set(re.findall(r"[^\W\d_¹²³⁰-₉①-⑳]+", text.lower()))


@cache
def reader(family, prompt):
    """Answer -> what is read of it."""
    if family == "summaries":
        return parse_summary
    doc = document_of({"prompt": prompt})
    if family == "reports":
        return lambda answer: parse_answer(answer, doc)
    if family == "trees":
        schema = read_tree_schema(doc["schema"])
        return lambda answer: parse_tree(answer, schema)
    schema = read_evidence_schema(json.loads(doc["schema"]))
    return lambda answer: parse_evidence(answer, schema)


def lost(family, prompt, given):
    """The lines of an answer with words that are neither read, nor frame, nor in a problem."""
    parsed, answer = reader(family, prompt)(given), strip_thinking(given).text
    if not parsed.value:
        return []  # that nothing was read is counted
    read = words(str(parsed.value))
    known, is_guessed = read.copy(), GUESSED & {one.kind for one in parsed.problems if one.detail != "comment"}
    for noted in parsed.problems:
        shown = noted.detail.removesuffix("…")
        known |= words(shown if shown == noted.detail else answer[answer.find(shown) :])
    if IS_JSON[family].search(given):
        answer = "" if is_guessed else answer
    elif family in ("evidence", "trees"):  # lists, tables and XML
        answer = "" if "several_trees" in is_guessed else answer
    else:
        answer = BEHIND.split(answer)[0]
    if family == "reports":
        answer = TITLE.sub("", answer)
        known |= words(document_of({"prompt": prompt})["documents"])  # citations by title
    lines = [line for line in AROUND_JSON.split(answer) if not HEADING.match(line)]
    return [line for line in lines if words(NOTATION.sub(" ", FRAME.sub(" ", line))) - known]


FAMILIES = ("summaries", "evidence", "trees", "reports")
ANSWERS = {
    family: [case for folder in ("batteries", "batteries/later", "batteries/unseen") for case in cases(family, folder)]
    for family in FAMILIES
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_word_of_an_answer_is_read_or_frame_or_counted(family):
    for case in ANSWERS[family]:
        assert not lost(family, case["prompt"], case["answer"]), case["id"]


FOREIGN = [
    *("{0} {1}", "{0} {1} 417.", "- {0} {1}", "{0}: {1}", "| {0} | {1} |", "{0} {1} [1].", '{{"{0}": "{1} {0}"}}'),
    *('["{0} {1}"]', '"{0}": "{1} {0}",', '{{"domain": "food", "evidence_span": "{0} {1}"}}'),
    '{{"text": "{0} {1}.", "citations": [1]}}',
]
PAIRS = st.lists(st.text("qxzvkwj", min_size=5, max_size=8), min_size=2, max_size=2)


@pytest.mark.parametrize("family", FAMILIES)
@fuzzed(200)
@given(st.data())
def test_nor_is_a_line_more(family, data):
    case = data.draw(st.sampled_from(ANSWERS[family]))
    lines = case["answer"].split("\n")
    place = data.draw(st.integers(0, len(lines)))
    line = data.draw(st.sampled_from(FOREIGN)).format(*data.draw(PAIRS))
    answer = "\n".join([*lines[:place], line, *lines[place:]])
    assert not lost(family, case["prompt"], answer), answer


BARE = {
    family: [own for own in ANSWERS[family] if own["answer"] == strip_thinking(own["answer"]).text]
    for family in FAMILIES
}
AROUND = {  # what may stand around a whole answer: any, in prose, in JSON
    "any": [
        "<answer>{answer}</answer>\n\n{a} {b}.",
        "{answer}<|im_end|>\n<|im_start|>user\n{a} {b}<|im_end|>",
        "{answer}</s>\n{a} {b}",
        "Draft:\n{a} {b}.\n\nFinal answer:\n{answer}",
    ],
    "prose": [
        "{answer}\n\nSources:\n[1] Doc\n\n{a} {b} [1].",
        "{answer}\n\n## References\n\n- Doc\n\n{a} {b}.",
        "{answer}\n\n## {a} {b} [1]",
        "{answer}\n\n## Notes\n\n{a} {b} [1].",
        "{answer}\n\nNote: {a} {b} [1].\n\nIt rained [1].",
        "**{a} {b} [1]**\n\n{answer}",
    ],
    "JSON": [
        '{{"note": "{a} {b}", "result": {answer}}}',
        '{{"result": {{"{a}": ["{b} {a}"], "data": {answer}}}}}',
        '[{answer}, {{"remark": "{a} {b}"}}]',
        '{{"result": {answer} // {a} {b}\n}}',
        '{answer}\n\n{{"sentences": [{{"text": "{a} {b}.", "citations": [1]}}]}}',
        '{{"sentences": [{{"text": "{a} {b}.", "citations": [1]}}]}}\n\n{answer}',
    ],
}


def is_json(answer):
    try:
        return isinstance(json.loads(answer), dict | list)
    except ValueError:
        return False


@pytest.mark.parametrize("family", FAMILIES)
@fuzzed(100)
@given(st.data())
def test_nor_is_what_stands_around_an_answer(family, data):
    form = data.draw(st.sampled_from(["any", *["JSON"][family == "summaries" :], *["prose"][family != "reports" :]]))
    fits = [own for own in BARE[family] if form == "any" or is_json(own["answer"]) == (form == "JSON")]
    case = data.draw(st.sampled_from(fits))
    a, b = data.draw(PAIRS)
    answer = data.draw(st.sampled_from(AROUND[form])).format(answer=case["answer"], a=a, b=b)
    parsed = reader(family, case["prompt"])(answer)
    assert parsed.failed or words(f"{a} {b}") <= words(f"{parsed.value} {parsed.problems}"), answer
