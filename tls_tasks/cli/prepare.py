"""``tls-tasks prepare``: data as Parquet with a card, for tasks and for the hub."""

import argparse
import importlib
import json
import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, count, say
from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.data.cards import Prepared
from tls_tasks.data.catalogue import find_data_set
from tls_tasks.data.sources import LoadedData, read_path
from tls_tasks.evidence.data import read_schema_file
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceSchema
from tls_tasks.registry import find_task
from tls_tasks.reports.data import folder_rows
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.timelines import data as timelines
from tls_tasks.timelines.topics import write_parquet

_ABOUT = json.loads(Path(__file__).with_name("prepare.json").read_text(encoding="utf-8"))
"""Family -> its task, the card's title, the hub's category and a tag (``labels``), and the card's text."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "prepare", _run_prepare).add_argument
    add("name", choices=[*_MAKERS, *sorted(timelines.ALL_SETS)], help="the data set, or a family")
    add("--source", type=Path, required=True, help="the data set's folder or file, or its parent")
    add("--out", type=Path, required=True, help="folder to write")
    add("--schema", type=Path, help="evidence: JSON file with the schema; default: that of journals")
    add("--licence", help="licence for the card: an identifier of the hub, or any text")
    add("--repo", metavar="ORG/NAME", help="also write what makes it a benchmark in this repository of the hub")


def _run_prepare(args: argparse.Namespace) -> None:
    """Turn downloaded or own data into Parquet with a data set card.

    The source is a downloaded timeline data set (the news-tls distribution, CHRONOS' data/open), or data of your own:
    texts with gold objects (evidence), which are a folder with journals.jsonl ({"journal_id", "text"}) and gold.jsonl
    ({"journal_id", "items"}), or a file of rows with "text" and "items"; texts with their summaries (summaries), a file
    of rows with "text" and "summary"; texts with their trees (trees), a file of rows with "text", "schema" and
    "reference"; or a folder with requests.jsonl, nuggets.jsonl and documents.jsonl (reports).

    The folder that it writes is what --metadata '{"data": "FOLDER"}' takes, and is ready to be pushed to the hub. The
    first row that can't be used is named with its file and line (of evidence also the first object that breaks the
    schema or quotes what is not in its text), and nothing is written.

    With --repo ORG/NAME it also holds the task's prompts with their targets, and an eval.yaml with an id for each
    result, such as tls_crisis.ar1_f1: in that repository the hub collects the .eval_results that tls-tasks submit
    writes. eval.yaml admits only the scorers that Inspect brings along, and none of ours is among them: f1 stands there
    in their place, and a comment in the file says so. Nothing is uploaded; the last line says how.

    Examples:
      tls-tasks prepare tls_crisis --source datasets/crisis --out prepared/tls_crisis
      tls-tasks prepare evidence --source my_journals --out prepared/journals
      tls-tasks prepare summaries --source meetings.csv --out prepared/meetings --repo ORG/NAME --licence cc-by-4.0
    """
    if args.repo is not None and not _REPOSITORY.fullmatch(args.repo):
        raise OptionError("--repo", None, repr(args.repo), "ORG/NAME, a data set repository on the hub")
    prepared = read_prepared(args.name, args.source, args.schema)
    prepared.write(args.out, args.licence, find_task(prepared.task) if args.repo else None, args.repo or "")
    say(f"{args.out}: {prepared.counts}\ntry it: {prepared.command(str(args.out))}")
    if args.repo:
        say(f"upload it: hf upload {args.repo} {args.out} . --repo-type dataset")


def read_prepared(name: str, source: Path, schema: Path | None = None) -> Prepared:
    """Read and check a data set.

    Args:
        name: A timeline data set, or the family of other data.
        source: Its folder or file.
        schema: The file with the schema of evidence.
    """
    if schema is not None and name != "evidence":
        raise OptionError("--schema", None, str(schema), f"none: it belongs to evidence, not to {name}")
    if name not in _MAKERS:
        return _timelines(name, source)
    about = _ABOUT[name]
    family = importlib.import_module(f"tls_tasks.{name}.data")
    with_schema = [JOURNAL_SCHEMA if schema is None else read_schema_file(schema)] if name == "evidence" else []
    found = read_path(family.make_reader(find_data_set(family.ALL_SETS, about["task"]), *with_schema), source)
    given = {"counts": count(len(found.documents), "document"), **_MAKERS[name](found, *with_schema)}
    return Prepared(found, **about, **given)


def _timelines(name: str, source: Path) -> Prepared:
    """Topics, one a row; without articles the task is the closed-book form."""
    wanted = find_data_set(timelines.ALL_SETS, name)
    found = read_path(timelines.make_reader(wanted, need_articles=True), source)
    topics = found.documents
    n_timelines, n_articles = (sum(len(getattr(topic, part)) for topic in topics) for part in ("timelines", "articles"))
    return Prepared(
        found,
        task=name if all(topic.articles for topic in topics) else f"{name}_closed_book",
        labels=(wanted.title, "summarization", "timeline-summarization"),
        counts=f"{count(len(topics), 'topic')}, {count(n_timelines, 'timeline')}, {count(n_articles, 'article')}",
        card=_ABOUT["timelines"]["card"].format(homepage=wanted.homepage, citation=wanted.citation),
        rows=partial(write_parquet, name, topics),
        options={},
        licence=wanted.licence,
    )


def _summaries(found: LoadedData[Any]) -> dict[str, Any]:
    return {"rows": [{**asdict(document), "references": list(document.references)} for document in found.documents]}


def _evidence(found: LoadedData[Any], schema: EvidenceSchema) -> dict[str, Any]:
    """Documents with their objects as JSON text: a struct column would give each of them the keys of all."""
    n_objects = sum(len(document.objects) for document in found.documents)
    rows = [
        {"id": document.id, "text": document.text, "items": json.dumps(document.objects, ensure_ascii=False)}
        for document in found.documents
    ]
    return {
        "rows": rows,
        "counts": f"{count(len(rows), 'document')}, {count(n_objects, 'object')} of the schema {schema.name}",
        "texts": {"schema.json": json.dumps(schema.as_dict(), indent=2, ensure_ascii=False) + "\n"},
        "options": {"name": "ours", **({} if schema == JOURNAL_SCHEMA else {"schema": "{folder}/schema.json"})},
    }


def _trees(found: LoadedData[Any]) -> dict[str, Any]:
    rows = [asdict(document) for document in found.documents]
    return {"rows": [{"title": row.pop("kind"), **row} for row in rows]}


def _reports(found: LoadedData[Any]) -> dict[str, Any]:
    """The three files as they are, their nuggets checked."""
    asked, texts, counts = {doc["doc_id"] for doc in found.documents}, {}, []
    for name in ("requests", "nuggets", "documents"):
        rows = list(folder_rows(Path(found.origin), name, needed=name != "nuggets"))
        texts[f"{name}.jsonl"] = "".join(json.dumps(row, ensure_ascii=False) + "\n" for _, row in rows)
        counts.append(count(len(rows), name.removesuffix("s")))
        for where, row in rows if name == "nuggets" else ():
            nuggets = parse_request(row)
            if nuggets.problems or nuggets.value is None:
                flaws = "; ".join(f"{flaw.kind}: {flaw.detail}" for flaw in nuggets.problems)
                raise DataError(f"{where}: nuggets with flaws ({flaws})")
            if nuggets.value.request_id not in asked:
                raise DataError(f"{where}: nuggets of {nuggets.value.request_id!r}, which requests.jsonl does not have")
    return {"counts": ", ".join(counts), "texts": texts}


_MAKERS: dict[str, Any] = {"evidence": _evidence, "reports": _reports, "summaries": _summaries, "trees": _trees}
"""The families whose data is prepared under the family's name, and what makes files of it."""
