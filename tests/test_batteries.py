"""Answers in the styles of models, written from the prompts alone, and what a careful reader takes from each.

``tests/batteries`` was written without a look at the readers. How many answers are read so is counted here, family by
family; ``python -m tests.test_batteries FAMILY [batteries/unseen]`` shows those that are not. The problems of each are
recorded by their kinds; ``python -m tests.test_batteries`` records them anew: look at the difference.
"""

import functools
import json
import re
import sys
import warnings

import pytest

from tests.conftest import ORACLES, ROOT, read_jsonl
from tls_tasks.core.parsed import problem_kinds
from tls_tasks.registry import find_task

READ_RIGHT = {"timelines": 260, "evidence": 74, "trees": 78, "reports": 75, "summaries": 20}
"""How many are read as a careful reader reads them; a change of a reader may only raise these."""

LATER = {"timelines": 69, "evidence": 17, "trees": 13, "reports": 41, "summaries": 7}
"""The same of ``later``: rarer forms, written when the readers were done, to see how well they generalise."""

UNSEEN = {"timelines": 57, "evidence": 57, "trees": 54, "reports": 56, "summaries": 53}
"""The same of ``unseen``: 60 answers a family, by authors who saw the prompts and no reader. Never extended by whoever
edits a reader; ``make readings`` shows what each layer of a reader wins on them."""


PROBLEMS = ROOT / "tests" / "recorded" / "problems.json"
RECORDED = json.loads(PROBLEMS.read_text("utf-8"))
FAMILIES = (*READ_RIGHT, "rows", "json", "yaml")
FOLDERS = ("batteries", "batteries/later", "batteries/unseen")


OF_REFERENCES = {"no_tree", "other_request", "leaf_object"}
"""Kinds of problems that only a reference shows, or a schema."""


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

    parsed = parse_timeline(case["answer"])
    read = [] if parsed.value is None else parsed.value.as_rows()
    found = {row["date"]: squeezed(" ".join(row["text"])) for row in read}
    return found, {date: squeezed(" ".join(texts)) for date, texts in case["expected"]}, parsed.problems


def evidence(case):
    """Objects as those of the plain JSON of what is expected; the keys' own spelling is the reader's matter."""
    from tls_tasks.evidence.read import parse_evidence
    from tls_tasks.evidence.types import read_schema

    schema = read_schema(json.loads(document_of(case)["schema"]))
    read, wanted = (parse_evidence(text, schema) for text in (case["answer"], json.dumps(case["expected"])))
    return list(read.value or ()), list(wanted.value or ()), read.problems


def trees(case):
    from tls_tasks.trees.read import parse_tree
    from tls_tasks.trees.schema import read_schema

    parsed = parse_tree(case["answer"], read_schema(document_of(case)["schema"]))
    return parsed.value, case["expected"], parsed.problems


def reports(case):
    from tls_tasks.reports.task import parse_answer

    doc = document_of(case)
    parsed = parse_answer(case["answer"], doc)
    numbers = {shown["id"]: place for place, shown in enumerate(json.loads(doc["documents"]), start=1)}
    sentences = [] if parsed.value is None else parsed.value.sentences
    found = [(squeezed(one.text), [numbers.get(name, name) for name in one.citations]) for one in sentences]
    return found, [(squeezed(one["text"]), one["citations"]) for one in case["expected"]], parsed.problems


def summaries(case):
    from tls_tasks.summaries.read import parse_summary

    parsed = parse_summary(case["answer"])
    return squeezed(parsed.value or ""), squeezed(case["expected"]), parsed.problems


READ = {"timelines": timelines, "evidence": evidence, "trees": trees, "reports": reports, "summaries": summaries}


def wrong(family, folder="batteries"):
    found = []
    for case in cases(family, folder):
        got, expected, _ = READ[family](case)
        if got != expected:
            found.append((case, got, expected))
    return found


def texts():
    """Family, text and options of each text that tests try a reader with; then one for each kind of problem."""
    from tests.core.test_json_text import STAGED

    for row in read_jsonl(ORACLES / "evidence_parsing.jsonl"):
        yield "evidence", str(row["raw"]), {}
    for family, name in (("timelines", "forms"), ("trees", "texts"), ("reports", "texts")):
        for case in read_jsonl(ROOT / "tests" / family / f"{name}.jsonl"):
            yield family, case["text"], case.get("policy", {})
    for text, *_ in STAGED:
        yield "json", text, {}
    for case in read_jsonl(ROOT / "tests/recorded/damaged.jsonl"):
        yield case["family"], case["text"] * case["times"] if "times" in case else case["text"], case.get("options", {})


def problems(wanted):
    """Answers and texts of a family with problems -> their kinds; each kind -> the detail of the first."""
    from tests.core.test_json_text import n_objects
    from tls_tasks.core.json_text import find_json
    from tls_tasks.core.yaml_text import find_yaml
    from tls_tasks.evidence.read import parse_evidence
    from tls_tasks.reports.read import parse_report, parse_report_row
    from tls_tasks.summaries.read import parse_summary
    from tls_tasks.timelines.read import TimelinePolicy, parse_timeline
    from tls_tasks.trees.read import parse_tree

    every = [(case["id"], READ[wanted](case)[2]) for at in FOLDERS if wanted in READ for case in cases(wanted, at)]
    read = {
        "timelines": lambda text, **policy: parse_timeline(text, TimelinePolicy(**policy)),
        "evidence": parse_evidence,
        "trees": parse_tree,
        "reports": functools.partial(parse_report, doc_ids=["coast-01", "coast-02", "coast-03"]),
        "rows": parse_report_row,
        "summaries": parse_summary,
        "json": functools.partial(find_json, weigh=n_objects),
        "yaml": functools.partial(find_yaml, weigh=n_objects),
    }
    every += [(str(text)[:60], read[name](text, **how).problems) for name, text, how in texts() if name == wanted]
    kinds = {f"{wanted} {name}": " ".join(sorted(one.kind for one in {*noted})) for name, noted in every}
    first = {f"{wanted}: {one.kind}": one.detail for _, noted in reversed(every) for one in reversed(noted)}
    return {name: own for name, own in kinds.items() if own} | dict(sorted(first.items()))


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_the_recorded_ones(family):
    assert problems(family) == {name: kinds for name, kinds in RECORDED.items() if re.match(rf"{family}\b", name)}


def test_each_kind_of_problem_has_an_example():
    seen = {name.partition(": ")[2] for name in RECORDED}
    assert {kind for family in (*READ_RIGHT, "json") for kind in problem_kinds(family)} - seen == OF_REFERENCES


@pytest.mark.parametrize("family", READ_RIGHT)
def test_answers_are_read_as_a_careful_reader_reads_them(family):
    for folder, floors in zip(FOLDERS, (READ_RIGHT, LATER, UNSEEN), strict=True):
        n_cases = len(cases(family, folder))
        assert n_cases - len(wrong(family, folder)) >= floors[family], f"of {n_cases} in {folder}"


def test_every_layer_can_be_switched_off():
    from scripts.readings import LAYERS

    for layer in LAYERS:
        assert layer.lines() >= 0
        family = "evidence" if layer.family == "all" else layer.family
        with layer.switched_off():
            assert READ[family](cases(family)[0])


if __name__ == "__main__":
    if not sys.argv[1:]:
        whole = {name: kinds for family in FAMILIES for name, kinds in problems(family).items()}
        PROBLEMS.write_text(f"{json.dumps(whole, indent=0, ensure_ascii=False)}\n", "utf-8")
    for one, read_as, wanted in wrong(*sys.argv[1:]) if sys.argv[1:] else ():
        lines = (f"{one['id']} {one['style']}", f"  answer   {one['answer'][:300]!r}", f"  read     {read_as}")
        print(*lines, f"  expected {wanted}", sep="\n")  # noqa: T201 - what it is for
