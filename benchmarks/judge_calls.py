"""What several nuggets a request save, on two sets of reports: ``tls-tasks reports`` against a server on loopback.

    python benchmarks/judge_calls.py

The first set is the embedded edition with its recorded verdicts. The second has the form and the size of RAGTIME's:
20 reports of up to 2,000 characters, five topics with 16 nuggets each, 60 documents, and a judge that goes by rules.
The server says what either judge says, alone or among others. It is consistent, so that verdicts and scores are equal;
how often a real judge answers otherwise when it is asked for several at once, ``tls-tasks agree`` says.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.reports.judges.server import Server  # noqa: E402
from tls_tasks.cli import main as tls_tasks  # noqa: E402
from tls_tasks.core.terminal import text_table  # noqa: E402
from tls_tasks.reports.data import EMBEDDED_RECORDING  # noqa: E402
from tls_tasks.reports.judges import Recorded, from_callable  # noqa: E402
from tls_tasks.reports.judges.prompts import neutral, render  # noqa: E402
from tls_tasks.reports.runs import read_run, score_run  # noqa: E402
from tls_tasks.reports.types import Judge, Query, Verdict  # noqa: E402

NUMBERED = re.compile(r"^(\d+)\. (Question: .*)$", re.MULTILINE)
SIZES = (1, 5, 10, 20)
FILES = ("reports.jsonl", "nuggets.jsonl", "documents.jsonl")

PLACES = ("Aldmere", "Brinsk", "Corvane", "Dunhollow", "Estrel")
THINGS = "harbour bridge school library station theatre market museum hospital reservoir tower canal mill park".split()
PEOPLE = ("Ann Sorel", "Bo Lindqvist", "Carla Weiss", "Deniz Aksoy", "Emil Novak", "Farah Haddad")
FILLER = (
    "People who live nearby remember the years of work and the noise that came with it.",
    "The council discussed the plans in public, and some of the meetings went on until midnight.",
    "Whether it was worth the money is still a matter of debate among those who paid for it.",
    "Visitors come from the whole region, most of them at the weekend and in the summer.",
)
SYSTEMS = ("careful", "loose", "uncited", "wordy")
LIMIT = 2000


class Noting:
    """A judge, which also notes what each question looks like; a server then says the same."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self.name = judge, judge.name
        self._alone: dict[str, str] = {}
        self._together: dict[tuple[str, str], str] = {}

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """What the judge says."""
        verdicts = self._judge.ask(queries)
        for query, verdict in zip(queries, verdicts, strict=True):
            word = "YES" if verdict.value else "NO"
            self._alone[render(query)[0]["content"]] = word
            if query.kind == "nugget_agreement":
                pair = f"Question: {query.fields['question']} Answer: {query.fields['answer']}"
                self._together[neutral(query.fields["sentence"]), neutral(" ".join(pair.split()))] = word
        return verdicts

    def answer(self, sentence: str, n_before: int, messages: list[dict[str, str]]) -> str:
        """What the server says."""
        text = messages[0]["content"]
        if text in self._alone:
            return self._alone[text]
        return "\n".join(f"{number}: {self._together[sentence, pair]}" for number, pair in NUMBERED.findall(text))


def by_rules(query: Query) -> bool:
    """A verdict that depends on the question and on nothing else."""
    fields = query.fields
    sentence = fields["sentence"]
    if query.kind == "citation_support":
        return set(re.findall(r"\d+|(?<!^)\b[A-Z]\w+", sentence)) <= set(re.findall(r"\w+", fields["document"]))
    if query.kind == "nugget_agreement":
        return fields["answer"] in sentence
    if query.kind == "first_instance":
        return sentence not in fields["previous"]
    return "not known" in sentence if query.kind == "negative" else any(map(str.isdigit, sentence))


def make_set(folder: Path, n_topics: int = len(PLACES)) -> None:
    """Write reports, nuggets and documents in the form of RAGTIME, the same every time."""
    rows: dict[str, list[Any]] = {name: [] for name in FILES}
    for topic, place in enumerate(PLACES[:n_topics], start=1):
        draw = random.Random(topic)
        facts = [_fact(draw, thing, place) for thing in THINGS]
        documents = [_document(draw, f"{place.lower()}-{number:02}", facts) for number in range(12)]
        rows["documents.jsonl"] += documents
        bank = [
            {
                "question": question,
                "aggregator_type": "OR",
                "answers": [{"answer": answer, "references": _sources(answer, documents)} for answer in answers],
            }
            for fact in facts
            for question, *answers in fact["nuggets"]
        ]
        metadata = {"team_id": "bench", "topic_id": str(topic), "run_id": "bank", "run_desc": f"The town of {place}"}
        rows["nuggets.jsonl"].append({"metadata": metadata, "nugget_bank": draw.sample(bank, 16)})
        rows["reports.jsonl"] += [_report(draw, str(topic), name, facts, documents) for name in SYSTEMS]
    for name, own in rows.items():
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in own), encoding="utf-8")


def _fact(draw: random.Random, thing: str, place: str) -> dict[str, Any]:
    name, year, cost = f"the {thing} of {place}", draw.randint(1850, 2020), draw.randint(2, 900)
    one, other = draw.sample(PEOPLE, 2)
    told = (
        f"{name.capitalize().replace(place.lower(), place)} was opened in {year} by {one}.",
        f"It cost {cost} million crowns and was designed by {other}.",
    )
    asked = (
        (f"When was {name} opened?", str(year)),
        (f"How much did {name} cost?", f"{cost} million crowns", f"{cost} million"),
        (f"Who designed {name}?", other),
    )
    return {"told": told, "unknown": f"Why {name} was built there is not known.", "nuggets": asked}


def _document(draw: random.Random, name: str, facts: Sequence[dict[str, Any]]) -> dict[str, str]:
    told = [line for fact in draw.sample(facts, 4) for line in (*fact["told"], *draw.sample(FILLER, 3))]
    return {"id": name, "title": f"Report {name}", "text": " ".join(told)}


def _sources(text: str, documents: Iterable[dict[str, str]]) -> list[str]:
    return [document["id"] for document in documents if text in document["text"]]


def _report(
    draw: random.Random, topic: str, system: str, facts: Sequence[dict[str, Any]], documents: Sequence[dict[str, str]]
) -> dict[str, Any]:
    responses = [{"text": "This report tells what was built in the town, when, and by whom.", "citations": {}}]
    for fact in draw.sample(facts, len(facts)):
        for line in (*fact["told"], *([fact["unknown"]] if draw.random() < 0.2 else [])):
            sources = _sources(line, documents)[:2]
            if system == "loose" and draw.random() < 0.4:
                sources = [draw.choice(documents)["id"]]
            cited = [] if system == "uncited" and draw.random() < 0.6 else sources
            responses.append({"text": line, "citations": {name: 1.0 for name in cited}})
        if system == "wordy":
            responses.append({"text": draw.choice(FILLER), "citations": {}})
    while sum(len(own["text"]) + 1 for own in responses) > LIMIT:
        responses.pop()
    metadata = {"team_id": "bench", "run_id": system, "topic_id": topic, "task": "english", "collection_ids": ["bench"]}
    references = sorted({name for own in responses for name in own["citations"]})
    return {"metadata": metadata, "responses": responses, "references": references}


def measure(folder: Path, judge: Judge, sizes: Sequence[int] = SIZES) -> list[dict[str, Any]]:
    """Judge the reports of a folder with each number of nuggets a call: requests, tokens, verdicts and scores."""
    noting, found = Noting(judge), []
    files = [folder / name for name in FILES]
    lines = files[2].read_text(encoding="utf-8").splitlines()
    score_run(read_run(*files[:2]), noting, documents={row["id"]: row for row in map(json.loads, lines)})
    make: Any = Server
    server = make(noting.answer)
    for size in sizes:
        with tempfile.TemporaryDirectory() as out, redirect_stdout(StringIO()):
            options = f"-o {out} --documents {files[2]} --base-url {server.url} -m rules --nuggets-per-call {size}"
            code = tls_tasks(["judge", *map(str, files[:2]), *options.split()])
            told = [json.loads(line) for line in (Path(out) / "verdicts.jsonl").open(encoding="utf-8")]
            scores = json.loads((Path(out) / "scores.json").read_text(encoding="utf-8"))
        sent = [request["messages"][0]["content"] for request in server.requests]
        server.requests.clear()
        found.append(
            {
                "size": size,
                "code": code,
                "requests": len(sent),
                "of nuggets": sum("question" in text.partition("\n")[0] for text in sent),
                "tokens": sum(len(text.encode()) for text in sent) // 4,
                "verdicts": {(row["kind"], row["key"]): row["verdict"] for row in told},
                "scores": {name: scores[name] for name in ("recall", "precision", "f1", "n_unscored")},
            }
        )
    server.close()
    return found


def main() -> None:
    """Measure both sets and print the table."""
    head = ("reports", "nuggets per call", "requests", "of nuggets", "prompt tokens", "verdicts", "scores")
    table = []
    with tempfile.TemporaryDirectory() as folder:
        make_set(Path(folder))
        embedded = (EMBEDDED_RECORDING.parent, Recorded.read(EMBEDDED_RECORDING))
        for name, own in (("embedded", embedded), ("RAGTIME's form", (Path(folder), from_callable(by_rules)))):
            first, *_ = found = measure(*own)
            for one in found:
                counts = (f"{one[key]:,}" for key in ("requests", "of nuggets", "tokens"))
                equal = ("equal" if one[key] == first[key] else "other" for key in ("verdicts", "scores"))
                table.append((name, str(one["size"]), *counts, *equal))
            print(f"{name}: {len(first['verdicts']):,} questions, scores {first['scores']}")
    print(text_table([head, *table]))


if __name__ == "__main__":
    main()
