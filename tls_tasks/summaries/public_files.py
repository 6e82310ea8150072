"""Summaries that people have rated, as others have published them: what ``tls-tasks fetch summeval`` and ``qags`` get.

Of each system a log of the task ``summ_custom``, which all that reads logs can read, and ``people.csv``, the ratings as
``tls-tasks meta --people`` takes them. In SummEval twelve systems summarise each article, and each expert has a row. In
QAGS one system summarises articles of CNN/DM and another those of XSum; the rating is the share of a summary's
sentences that hold by a majority of three, and the source stands for the reference, of which there is none.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.data.fetched import PublicCopy, public_copy
from tls_tasks.data.files import json_lines

PEOPLE_FILE = "people.csv"
_COLUMNS = ("system", "id", "aspect", "rating", "rater")
_TASK = "summ_custom"


class _Rated(NamedTuple):
    """A summary, and its ratings: aspect, rating, rater."""

    system: str
    id: str
    text: str
    references: list[str]
    summary: str
    ratings: list[tuple[str, float, str]]


def _summeval(files: Mapping[str, Path]) -> Iterator[_Rated]:
    """A file a system, a line an article."""
    for file in files.values():
        for _, row in json_lines(file):
            raters = enumerate(row["expert_annotations"], start=1)
            ratings = [(aspect, value, f"expert {n}") for n, own in raters for aspect, value in own.items()]
            yield _Rated(row["model_id"], row["id"], row["text"], row["references"], row["decoded"], ratings)


def _qags(files: Mapping[str, Path]) -> Iterator[_Rated]:
    """A file a system."""
    for file in files.values():
        system = file.stem.removeprefix("qags_")
        for row in json.loads(file.read_text(encoding="utf-8")):
            ratings = [("consistency", row["scores"]["consistency"], "")]
            name = f"{system}-{row['doc_id']}"
            yield _Rated(system, name, row["source"], [row["reference"]], row["system_output"], ratings)


def _write(copy: PublicCopy, files: Mapping[str, Path], folder: Path) -> None:
    """Ratings as a table, answers as the logs of runs."""
    logs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with (folder / PEOPLE_FILE).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(_COLUMNS)
        for one in {"summeval": _summeval, "qags": _qags}[copy.name](files):
            table.writerows((one.system, one.id, *rating) for rating in one.ratings)
            references = json.dumps(one.references, ensure_ascii=False)
            doc = {"data_set": _TASK, "doc_id": one.id, "text": one.text, "query": "", "references": references}
            row = {"doc_id": len(logs[one.system]), "doc": doc, "target": one.references[0]}
            logs[one.system].append({**row, "resps": [[one.summary]], "filtered_resps": [one.summary]})
    for system, rows in logs.items():
        log = folder / system / f"samples_{_TASK}_{copy.settings['published']}T00-00-00.jsonl"
        log.parent.mkdir()
        log.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


_GIVEN = json.loads(Path(__file__).with_name("public_files.json").read_text(encoding="utf-8"))

RATED = {name: public_copy(name, given, _write) for name, given in _GIVEN.items()}
"""The data sets by name."""
