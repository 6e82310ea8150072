"""Published summaries with ratings by people, for ``tls-tasks fetch summeval`` and ``tls-tasks fetch qags``.

Each system gets a log of the task ``summ_custom``, as if it had run it; ``people.csv`` holds the ratings in the form of
``tls-tasks meta --people``. In SummEval twelve systems summarise each article, and each expert has a row. In
QAGS one system summarises articles of CNN/DM and another those of XSum; the rating is the share of a summary's
sentences that two of three raters find consistent; the source takes the place of the reference, which is absent.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.data.fetched import PublicCopy, public_copies
from tls_tasks.data.files import json_lines

PEOPLE_FILE = "people.csv"
_COLUMNS = ("system", "id", "aspect", "rating", "rater")
_TASK = "summ_custom"


class _Rated(NamedTuple):
    """A summary with its ratings (aspect, rating, rater)."""

    system: str
    id: str
    text: str
    references: list[str]
    summary: str
    ratings: list[tuple[str, float, str]]


def _summeval(files: Mapping[str, Path]) -> Iterator[_Rated]:
    """Yield the summaries of SummEval: one file a system, one line an article."""
    for file in files.values():
        for _, row in json_lines(file):
            raters = enumerate(row["expert_annotations"], start=1)
            ratings = [(aspect, value, f"expert {n}") for n, values in raters for aspect, value in values.items()]
            yield _Rated(row["model_id"], row["id"], row["text"], row["references"], row["decoded"], ratings)


def _qags(files: Mapping[str, Path]) -> Iterator[_Rated]:
    """Yield the summaries of QAGS: one file a system."""
    for file in files.values():
        system = file.stem.removeprefix("qags_")
        for row in json.loads(file.read_text(encoding="utf-8")):
            ratings = [("consistency", row["scores"]["consistency"], "")]
            name = f"{system}-{row['doc_id']}"
            yield _Rated(system, name, row["source"], [row["reference"]], row["system_output"], ratings)


def write(copy: PublicCopy, files: Mapping[str, Path], folder: Path) -> None:
    """Write the ratings as a table and the answers as logs of runs, one for each system."""
    logs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with (folder / PEOPLE_FILE).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(_COLUMNS)
        for rated in {"summeval": _summeval, "qags": _qags}[copy.name](files):
            table.writerows((rated.system, rated.id, *rating) for rating in rated.ratings)
            references = json.dumps(rated.references, ensure_ascii=False)
            doc = {"data_set": _TASK, "doc_id": rated.id, "text": rated.text, "query": "", "references": references}
            row = {"doc_id": len(logs[rated.system]), "doc": doc, "target": rated.references[0]}
            logs[rated.system].append({**row, "resps": [[rated.summary]], "filtered_resps": [rated.summary]})
    for system, rows in logs.items():
        log = folder / system / f"samples_{_TASK}_{copy.settings['published']}T00-00-00.jsonl"
        log.parent.mkdir()
        log.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


RATED = public_copies("summaries")
"""Name -> data set."""
