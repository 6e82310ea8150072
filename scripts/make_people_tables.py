"""Write how far people agree into the metrics' cards, from ``tls_tasks/data/people.json``.

``--measure`` (``make people``) measures it first: fetches SummEval, QAGS and Timeline17 (TLS_TASKS_MIRROR may name a
mirror), writes the file, and puts what the commands that ``tls-tasks fetch`` suggests print into docs/people.md; what
can't be had is named and stays as it was. ``--check`` only says whether the cards are up to date.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import tls_tasks
from tls_tasks.after.meta import LEVELS, references_among_themselves
from tls_tasks.cli import main as command
from tls_tasks.core.errors import DataError
from tls_tasks.data.files import file_rows
from tls_tasks.reports.judges.endpoint import ChatJudge
from tls_tasks.summaries.public_files import PEOPLE_FILE, RATED
from tls_tasks.text.tokenizers import sentences
from tls_tasks.timelines.public_files import PUBLIC

ROOT = Path(__file__).parent.parent
PEOPLE = ROOT / "tls_tasks" / "data" / "people.json"
PAGE = ROOT / "docs" / "people.md"
_END = "<!-- end of {} -->\n"
_START = "<!-- {}: generated from tls_tasks/data/people.json by scripts/make_people_tables.py -->\n"
_PRINTED = "<!-- {}: printed by make people -->\n"

Known = dict[str, dict[str, Any]]
Row = Mapping[str, Any]


def answers(name: str) -> dict[str, list[dict[str, Any]]]:
    """System -> its summaries of a data set: id, source, references, summary."""
    found: dict[str, list[dict[str, Any]]] = {}
    for log in sorted(RATED[name].fetch().glob("*/samples_*.jsonl")):
        for _, row in file_rows(log):
            doc = row["doc"]
            references = json.loads(doc["references"])
            one = {"id": doc["doc_id"], "source": doc["text"], "references": references, "summary": row["resps"][0][0]}
            found.setdefault(log.parent.name, []).append(one)
    return found


# ---- rouge_l on SummEval

_SCORES = {"rouge_l, 1 reference": 1, "rouge_l, 11 references": 11}


def summeval(known: Known) -> None:
    """Experts' relevance against ROUGE-L, and the references against each other."""
    by_system = answers("summeval")
    scores: dict[str, dict[str, dict[str, float]]] = {system: {} for system in by_system}
    for system, rows in by_system.items():
        for name, n in _SCORES.items():
            columns = [row["summary"] for row in rows], [row["references"][:n] for row in rows]
            values = tls_tasks.rouge_l(*columns, use_aggregator=False).as_dict()["rouge_l_f1"]
            for row, value in zip(rows, values, strict=True):
                scores[system].setdefault(row["id"], {})[name] = value
    found = tls_tasks.meta(scores, RATED["summeval"].folder / PEOPLE_FILE)["aspects"]["relevance"]
    near = {
        name: [[one["in_peoples_order"], one["pairs"]] for one in own["near"]] for name, own in found["metrics"].items()
    }
    taus = {
        name: {level: [own[level]["tau_b"], *own[level]["tau_b_ci"]] for level in LEVELS}
        for name, own in found["metrics"].items()
    }
    documents = next(iter(by_system.values()))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "summeval.jsonl")
        rows = [{"id": one["id"], "text": one["source"], "references": one["references"]} for one in documents]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        among = references_among_themselves("summ_custom", data=str(data))["mean_of_topics"]
    own = known["rouge_l"]
    means = [np.mean([cell["rouge_l, 11 references"] for cell in cells.values()]) for cells in scores.values()]
    own["among"] = [among["rouge_l_f1"], float(min(means)), float(max(means))]
    one, eleven = (taus[f"rouge_l, {n}"] for n in ("1 reference", "11 references"))
    own["measured"] = (
        f"SummEval's experts ({len(scores)} systems, {len(documents)} documents, relevance): Kendall's tau by system "
        f"{_tau(one, 'by_system')} with one reference and {_tau(eleven, 'by_system')} with eleven, by document "
        f"{_tau(one, 'by_document')} and {_tau(eleven, 'by_document')}. {_among(own)}"
    )
    own["data"] = RATED["summeval"].origin
    below, between, above = ("{:g} of {}".format(*counts) for counts in near["rouge_l, 1 reference"])
    own["difference"] = (
        f"of systems less than .01 apart by F1, {below} pairs stood in people's order; of .01 to .02 "
        f"{between}, from .02 on {above} (SummEval, one reference)"
    )
    show("summeval")


def _among(own: Row) -> str:
    """People beside systems, in a sentence."""
    people, least, most = own["among"]
    systems = f"systems {least:.3f} to {most:.3f} against all eleven"
    return f"SummEval's references reach F1 {people:.3f}, each against the ten others; {systems}."


def _tau(taus: Mapping[str, Sequence[float]], level: str) -> str:
    return "{:.2f} [{:.2f}, {:.2f}]".format(*taus[level])


# ---- claim support on QAGS

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"<(document|sentence)>\n(.*?)\n</\1>", re.DOTALL)
_ENOUGH = 0.8


def overlap(prompt: str) -> str:
    """A toy: YES if so many of the sentence's words stand in the document."""
    document, sentence = ({*_WORD.findall(part.lower())} for _, part in _PARTS.findall(prompt))
    return "YES" if len(sentence & document) >= _ENOUGH * len(sentence) else "NO"


def support(rows: Sequence[Row], judge: Any) -> list[float]:
    """Of each summary, the share of its sentences that its source supports: each sentence cites the source."""
    reports = [
        {
            "request_id": row["id"],
            "sentences": [{"text": one, "citations": [row["id"]]} for one in sentences(row["summary"])],
        }
        for row in rows
    ]
    nuggets = [{"query_id": row["id"], "items": []} for row in rows]
    score = tls_tasks.report_eval(reports, nuggets, {row["id"]: row["source"] for row in rows}, judge)
    return [item["citation_support"] for item in score.as_dict(detailed=True)["items"]]


def qags(known: Known) -> None:
    """The share of sentences that hold, by three people and by the toy."""
    parts: Any = importlib.import_module("tests.harness_parts")
    own, rhos = known["report_eval"], []
    rated = {row["id"]: float(row["rating"]) for _, row in file_rows(RATED["qags"].fetch() / PEOPLE_FILE)}
    server = parts.Server(overlap)
    try:
        for rows in answers("qags").values():
            people = [rated[row["id"]] for row in rows]
            judge = ChatJudge(server.url.removesuffix("/chat/completions"), "word-overlap", cache=None)
            rhos.append(_spearman(people, support(rows, judge)))
    finally:
        server.close()
    told = " and ".join("{:.2f} [{:.2f}, {:.2f}]".format(*rho) for rho in rhos)
    own["measured"] = (
        f"as claim support of summaries, with a toy that counts words as judge: Spearman's rho with people's "
        f"consistency {told} on QAGS' summaries of CNN/DM and of XSum. Another judge agrees otherwise."
    )
    own["data"] = RATED["qags"].origin
    show("qags")


def _spearman(people: Sequence[float], values: Sequence[float]) -> list[float]:
    """Rho and its 95 % interval: 1,000 resamples of summaries."""
    pairs = np.array([people, values], float)
    draw, n = np.random.default_rng(12345), pairs.shape[1]
    drawn = [spearmanr(*pairs[:, draw.integers(0, n, n)]).statistic for _ in range(1000)]
    return [float(spearmanr(*pairs).statistic), *np.nanquantile(drawn, [0.025, 0.975]).tolist()]


# ---- journalists among themselves


def timeline17(known: Known) -> None:
    """The references of Timeline17 against each other."""
    PUBLIC["tls_timeline17"].fetch()
    found = references_among_themselves("tls_timeline17_closed_book", edition="fetched")
    mean, n = found["mean_of_topics"], len(found["topics"])
    told = {
        "alignment_rouge": f"AR-1 {mean['ar1_f1']:.3f} and AR-2 {mean['ar2_f1']:.3f}",
        "date_f1": f"date F1 {mean['date_f1']:.3f}",
    }
    for name, values in told.items():
        known[name]["measured"] = (
            f"only people among themselves: journalists' timelines reach {values} against each other (the {mean['n']} "
            f"references of Timeline17's {n} topics with several)."
        )
        known[name]["data"] = PUBLIC["tls_timeline17"].origin
        known[name]["difference"] = (
            f"not known without ratings; above {values}, Timeline17's journalists against each other, a higher score "
            f"can't tell a system from a person on Timeline17"
        )
        known[name]["task"] = "tls_timeline17"


# ---- the page and the cards


def card(own: Row) -> str:
    """The lines of a metric's card."""
    measured = own.get("measured")
    by = f" (`make people` on {own['data'][:-28]})" if "data" in own else ""  # twelve digits of the commit
    lines = [f"- Measured by us{by}: {measured}"] if measured else []
    lines += [f"- Published by others: {own['published']}"] if "published" in own else []
    lines += [f"- No public human judgements exist. {own['needed']}"] if "needed" in own else []
    return "\n".join([*lines, f"- How large a difference means something: {own['difference']}."]) + "\n"


def show(name: str) -> None:
    """Put into the page what the command prints that ``tls-tasks fetch`` suggests for a data set."""
    copy, printed = RATED[name], io.StringIO()
    words = copy.settings["try"].partition(" && tls-tasks ")[2]
    paths = re.compile(rf"(?<==).+|^{re.escape(PEOPLE_FILE)}$")
    given = [paths.sub(lambda path: str(copy.folder / path[0]), word) for word in words.split()]
    with contextlib.redirect_stdout(printed):
        command(given)
    block = f"```text\ntls-tasks {words}\n```\n\n```text\n{printed.getvalue().rstrip()}\n```\n"
    PAGE.write_text(_put(PAGE.read_text("utf-8"), _PRINTED.format(name), name, block), encoding="utf-8")


def written(known: Known) -> Iterator[tuple[Path, str]]:
    """Each card, and its text as it should be."""
    for name, own in known.items():
        path = ROOT / "metrics" / name / "README.md"
        yield path, _put(path.read_text("utf-8"), _START.format("people"), "people", card(own))


def _put(text: str, head: str, name: str, table: str) -> str:
    before, start, rest = text.partition(head)
    _, end, after = rest.partition(_END.format(name))
    if not end:
        raise ValueError(f"no {head}")
    return before + start + table + end + after


def _try(step: Callable[[Known], None], known: Known) -> None:
    try:
        step(known)
    except DataError as error:
        print(f"{step.__name__}: left as it was: {error}")


def main() -> int:
    """Measure, write, or check."""
    known: Known = json.loads(PEOPLE.read_text(encoding="utf-8"))
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in written(known)))
    for step in (summeval, qags, timeline17) if "--measure" in sys.argv[1:] else ():
        _try(step, known)
    PEOPLE.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, text in written(known):
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
