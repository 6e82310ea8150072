"""evidence_extraction beside nervaluate's four schemes on the embedded journals; prints the tables of its document.

    python benchmarks/evidence_schemes.py

nervaluate wants offsets: a gold span has the place that its text gives it (embedded gold spans stand verbatim), a
predicted one the first place where it stands and no other prediction has been put; a quote that does not stand in the
text has no place, and is put behind its end. Every object that one side credits and the other does not is given a
reason; one without a reason is an error. Needs the extra ``bench``.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparisons import Comparison, run
from tls_tasks.evidence import baseline as keyword
from tls_tasks.evidence.data import prompt
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.read import parse_evidence
from tls_tasks.evidence.types import JOURNAL_SCHEMA

Object = dict[str, Any]
FOLDER = Path(__file__).parent.parent / "tls_tasks" / "data" / "embedded" / "evidence_journals"
DOMAINS = JOURNAL_SCHEMA.domains
SCHEMES = {
    "strict": "same domain, same boundaries",
    "exact": "same boundaries",
    "partial": "any overlap; half a point if the boundaries differ",
    "ent_type": "same domain, any overlap",
}
CHANGES = ("crop", "extend", "crop a lot", "extend a lot", "other domain", "reword", "twice", "drop", "add")


def read(name: str) -> list[Object]:
    """A file of the embedded set."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def perturbed(text: str, gold: Sequence[Object], generator: random.Random) -> list[Object]:
    """Predictions made from gold: half of the objects as they are, the others changed in one of :data:`CHANGES`."""
    told = []
    for one in gold:
        change = generator.choice(CHANGES) if generator.random() < 0.5 else "none"
        words, start = one["evidence_span"].split(), text.index(one["evidence_span"])
        behind = text[start + len(one["evidence_span"]) :].split()
        span = {
            "crop": " ".join(words[: max(1, len(words) - 1)]),
            "extend": " ".join([one["evidence_span"], *behind[:1]]),
            "crop a lot": words[0],
            "extend a lot": " ".join([one["evidence_span"], *behind[: len(words) + 2]]),
            "reword": " ".join([*words[:-1], "rather", words[-1]]),
        }.get(change, one["evidence_span"])
        if change == "other domain":
            one = {**one, "domain": generator.choice([domain for domain in DOMAINS if domain != one["domain"]])}
        told += [{**one, "evidence_span": span}] * {"drop": 0, "twice": 2}.get(change, 1)
        if change == "add":
            told.append({**one, "evidence_span": " ".join(generator.choice(text.split(". ")).split()[:4])})
    generator.shuffle(told)
    return told


def baseline(text: str) -> list[Object]:
    """What the keyword baseline answers."""
    doc = {"data_set": "evidence_journals", "text": text, "schema": json.dumps(JOURNAL_SCHEMA.as_dict())}
    return [dict(one.fields) for one in parse_evidence(keyword.answer(prompt(doc))).value or ()]


def placed(text: str, objects: Sequence[Object]) -> list[Object]:
    """Objects as nervaluate takes them: label, and offsets of the first and the last character."""
    taken: set[int] = set()
    entities = []
    for number, one in enumerate(objects):
        span = one["evidence_span"]
        start = text.find(span)
        while start in taken and text.find(span, start + 1) >= 0:
            start = text.find(span, start + 1)
        if start < 0:
            start = len(text) + 1000 * (number + 1)
        taken.add(start)
        entities.append({"label": one["domain"], "start": start, "end": start + len(span) - 1})
    return entities


class SideBySide:
    """Both sides' view of the same predictions: what each credits, as (document, prediction)."""

    def __init__(self, texts: Sequence[str], gold: Sequence[list[Object]], told: Sequence[list[Object]]) -> None:
        from nervaluate import Evaluator

        self.texts, self.gold, self.told = texts, gold, told
        self.score = evidence_extraction(told, gold, texts)
        documents = enumerate(self.score.items)
        self.ours = {(row, match.prediction): match for row, document in documents for match in document.matches}
        pairs = zip(texts, gold, told, strict=True)
        placed_pairs = [(placed(text, wanted), placed(text, predicted)) for text, wanted, predicted in pairs]
        self.places, self.told_places = ([pair[side] for pair in placed_pairs] for side in (0, 1))
        evaluator = Evaluator(self.places, self.told_places, tags=list(DOMAINS), loader="dict")
        self.results = evaluator.evaluate()

    def theirs(self, scheme: str) -> set[tuple[int, int]]:
        """What a scheme credits, wholly or half."""
        indices = self.results["overall_indices"][scheme]
        return {*indices.correct_indices, *indices.partial_indices}

    def reasons(self, scheme: str) -> tuple[Counter[str], Counter[str]]:
        """Why something is credited there only, and here only."""
        theirs = self.theirs(scheme)
        there = Counter(self._why_there(*one) for one in theirs - set(self.ours))
        here = Counter(self._why_here(*one, scheme) for one in set(self.ours) - theirs)
        return there, here

    def _touching(self, row: int, position: int) -> Iterator[int]:
        """Gold objects with a character in common."""
        mine = self.told_places[row][position]
        for number, one in enumerate(self.places[row]):
            if one["start"] <= mine["end"] and mine["start"] <= one["end"]:
                yield number

    def _why_there(self, row: int, position: int) -> str:
        predicted, gold = self.told[row][position], self.gold[row]
        touching = [gold[number] for number in self._touching(row, position)]
        if not any(one["domain"] == predicted["domain"] for one in touching):
            return "other domain"
        if not any(evidence_extraction([[predicted]], [[one]]).results["tp"] for one in touching):
            return "less than half of the words"
        return "its reference object is taken by a better match"

    def _why_here(self, row: int, position: int, scheme: str) -> str:
        predicted, match = self.told[row][position], self.ours[row, position]
        mine, gold = self.told_places[row][position], self.places[row][match.reference]
        if predicted["evidence_span"] not in self.texts[row]:
            return "quote not in the text"
        if match.reference not in self._touching(row, position):
            return "phrase stands more than once"
        same = (mine["start"], mine["end"]) == (gold["start"], gold["end"])
        if not same and scheme in ("strict", "exact"):
            return "other boundaries"
        if any(
            other < position and one["start"] <= gold["end"] and gold["start"] <= one["end"]
            for other, one in enumerate(self.told_places[row])
        ):
            return "its reference object is taken by an earlier prediction"
        raise ValueError(f"no reason: journal {row}, prediction {predicted}, scheme {scheme}")


def lines_of(name: str, comparison: SideBySide) -> Iterator[str]:
    """The rows of one set of predictions."""
    mine = comparison.score.as_dict()
    counts = f"{mine['tp']} / - / - / {mine['fn']} / {mine['fp']}"
    values = " / ".join(f"{mine[key]:.3f}" for key in ("precision", "recall", "f1"))
    yield f"| {name} | **evidence_extraction** | same domain, half of the words or more | {counts} | {values} | | |"
    for scheme, asks in SCHEMES.items():
        result = comparison.results["overall"][scheme]
        counts = " / ".join(
            str(getattr(result, part)) for part in ("correct", "incorrect", "partial", "missed", "spurious")
        )
        values = " / ".join(f"{getattr(result, part):.3f}" for part in ("precision", "recall", "f1"))
        there, here = (_listed(reasons) for reasons in comparison.reasons(scheme))
        yield f"| {name} | nervaluate {scheme} | {asks} | {counts} | {values} | {there} | {here} |"


def _listed(reasons: Counter[str]) -> str:
    return "; ".join(
        f"{count} {reason}" for reason, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    )


def predictions() -> dict[str, SideBySide]:
    """Both sides on changed reference objects and on the keyword baseline's answers."""
    texts = [row["text"] for row in read("journals.jsonl")]
    gold = [row["items"] for row in read("gold.jsonl")]
    generator = random.Random(2026)
    changed = [perturbed(text, one, generator) for text, one in zip(texts, gold, strict=True)]
    told = {"perturbed gold": changed, "keyword baseline": [baseline(text) for text in texts]}
    return {name: SideBySide(texts, gold, one) for name, one in told.items()}


def tables() -> list[str]:
    """The table, line by line."""
    heads = (
        "predictions",
        "scheme",
        "a match needs",
        "right / wrong / partial / missed / spurious",
        "P / R / F1",
        "credited there only",
        "credited here only",
    )
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(line for name, both in predictions().items() for line in lines_of(name, both))]


def same_credit() -> list[float]:
    """Of all objects that either side credits by overlap, the part that both do; one without a reason is an error."""
    both = predictions().values()
    for one in both:
        one.reasons("ent_type")
    same = sum(len(one.theirs("ent_type") & set(one.ours)) for one in both)
    return [same / sum(len(one.theirs("ent_type") | set(one.ours)) for one in both)]


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    note = "each other one has a reason, named in its document"
    yield Comparison("credited by both of all", same_credit, "nervaluate ent_type", "(share)", 0.75, note=note)


if __name__ == "__main__":
    print("\n".join(tables()))
    sys.exit(run("evidence_schemes", comparisons()))
