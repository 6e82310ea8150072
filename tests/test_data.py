"""Data of every family: rows from any file, the order of the sources, and what results are told of it."""

import csv
import gzip
import importlib
import json
import logging
import re
import warnings
from pathlib import Path

import pytest

import tls_tasks
from tests.data_parts import write_lines, write_topic
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.data import hub
from tls_tasks.data.sources import EMBEDDED, EmbeddedEditionWarning
from tls_tasks.registry import FAMILIES

pytestmark = pytest.mark.usefixtures("isolated")

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
ROWS = CASES["ROWS"]
"""Task -> rows of its data."""

TASKS = ["tls_crisis", *ROWS, "report_generation"]
ALL_SETS = {
    name: data_set
    for family in FAMILIES
    for name, data_set in importlib.import_module(f"tls_tasks.{family}.data").DATA_SETS.items()
    if "same_as" not in data_set.settings  # it is loaded as the other
}
HUB_SETS = [name for name, data_set in ALL_SETS.items() if data_set.hub]
OTHER_SETS = [(task, other) for task in TASKS for other in ALL_SETS if task[:4] == other[:4] and task != other]
CLOSED = {name: f"{name}_closed_book" for name in ALL_SETS if name.startswith("tls_")}  # the form that the hub serves
FIRST_FILE = {"tls_crisis": "egypt/timelines.jsonl", "report_generation": "requests.jsonl"}

every_task = pytest.mark.parametrize("task", TASKS)
every_row_task = pytest.mark.parametrize("task", ROWS)
every_set = pytest.mark.parametrize("name", ALL_SETS)


def put(task, folder):
    """Write data of a task into a folder, which is returned."""
    if task == "tls_crisis":
        write_topic(folder / "egypt")
    elif task == "report_generation":
        write_lines(folder / "requests.jsonl", [{"request_id": "r1", "problem_statement": "Report on rain."}])
        write_lines(folder / "documents.jsonl", [{"id": "d1", "text": "It rained."}])
    else:
        write_lines(folder / "x.jsonl", ROWS[task])
    return folder


def load(task, **options):
    """The documents, and what results are told of them but for the fingerprint."""
    provenance = {}
    documents = tls_tasks.task(CLOSED.get(task, task)).documents(provenance=provenance, **options)
    assert len(provenance.pop("fingerprint")) == 64
    provenance.pop("judge", None)
    return documents, provenance


def edition(task, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the embedded edition warns
        return load(task, **options)[1]["edition"]


# ---- the data sets


@every_set
def test_the_catalogue_is_pinned_and_complete(name):
    wanted = ALL_SETS[name]
    assert all((wanted.title, wanted.folders, wanted.licence, wanted.citation, wanted.obtain, wanted.split))
    assert not wanted.obtain.endswith(".")
    assert name.startswith(("tls_", "tree_", "report_")) or wanted.settings["instruction"]
    if wanted.hub is not None:
        assert re.fullmatch(r"[0-9a-f]{40}", wanted.hub.revision)
        assert wanted.homepage.startswith("https://")


# ---- rows


FIELDS = CASES["FIELDS"]
"""Task -> field -> its other names."""


@pytest.mark.parametrize(
    ("task", "field", "name"),
    [(task, field, name) for task, fields in FIELDS.items() for field, names in fields.items() for name in names],
)
def test_every_name_of_the_fields_is_read(tmp_path, task, field, name):
    rows = [{name if key == field else key: value for key, value in row.items()} for row in ROWS[task]]
    write_lines(tmp_path / "x.jsonl", rows)
    assert load(task, data=tmp_path)[0] == load(task, data=put(task, tmp_path / "usual"))[0]


@every_row_task
def test_rows_without_an_id_are_numbered_and_numbers_are_ids(tmp_path, task):
    (row, *_) = ROWS[task]
    without = {key: value for key, value in row.items() if key != "id"}
    write_lines(tmp_path / "x.jsonl", [without, without, {**row, "id": 7}])
    assert [one["doc_id"] for one in load(task, data=tmp_path)[0]] == ["0", "1", "7"]


@every_row_task
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: [], "no row in the data"),
        (lambda row: [[row]], "line 1: expected an object, got list"),
        (lambda row: [row, {**row, "text": None}], "line 2: no field text or .*there are id, text"),
        (lambda row: [{**row, "text": 3}], "line 1: text/.* must be a valid string, got int"),
        (lambda row: [row, row], "two documents have the id 'a'"),
    ],
)
def test_rows_that_are_no_documents_are_errors(tmp_path, task, change, message):
    write_lines(tmp_path / "x.jsonl", change(ROWS[task][0]))
    with pytest.raises(DataError, match=message):
        load(task, data=tmp_path)


# ---- files


@every_row_task
@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "json", "JSON Lines.json", "data.json", "csv", "parquet"])
def test_user_data_in_every_form_as_file_folder_or_parent(tmp_path, task, form):
    rows, folder = ROWS[task], tmp_path / ALL_SETS[task].folders[0]
    folder.mkdir()
    file = folder / f"test.{form}"
    if form == "parquet":
        write_parquet(file, rows)
    elif form == "csv":
        cells = [
            {key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()} for row in rows
        ]
        with file.open("w", newline="", encoding="utf-8") as lines:
            table = csv.DictWriter(lines, rows[0])
            table.writeheader()
            table.writerows(cells)
    elif form == "json":
        file.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    elif form == "data.json":
        file.write_text(json.dumps({"data": rows, "more": 1}), encoding="utf-8")
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        file.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    expected = [row["id"] for row in rows], [row["text"] for row in rows]
    for data in (file, folder, tmp_path):
        documents, told = load(task, data=data)
        assert ([one["doc_id"] for one in documents], [one["text"] for one in documents]) == expected
        assert told["edition"] == "local"


def write_parquet(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize("folder", ["data", "document"])
def test_a_copy_of_a_hub_repository(tmp_path, folder):
    write_parquet(tmp_path / folder / "test-00000-of-00001.parquet", ROWS["summ_govreport"])
    write_parquet(tmp_path / folder / "train-00000-of-00001.parquet", [{"other": 1}])
    assert len(load("summ_govreport", data=tmp_path)[0]) == 2


@every_row_task
def test_a_data_set_on_the_hub_that_the_user_names(tmp_path, monkeypatch, task):
    file = write_parquet(tmp_path / "set" / "data" / "test-00000-of-00001.parquet", ROWS[task])
    rows = list(hub.split_rows(str(tmp_path / "set"), None))  # as datasets reads it, with null for keys that lack
    asked = []
    monkeypatch.setattr(hub, "split_rows", lambda *names: asked.append(names) or rows)
    documents, told = load(task, data="org/set@v1")
    assert asked == [("org/set", "v1")]
    assert told == {"edition": "hub", "origin": "org/set@v1", "data": "unknown data"}
    assert [{**one, "edition": "local"} for one in documents] == load(task, data=file)[0]


@pytest.mark.parametrize(("name", "content", "message"), CASES["test_broken_files_are_errors_that_name_the_file"])
def test_broken_files_are_errors_that_name_the_file(tmp_path, name, content, message):
    (tmp_path / name).write_text(content, encoding="latin-1")  # ÿ is a byte that no UTF-8 has
    with pytest.raises(DataError, match=rf"{re.escape(name)}.*{message}"):
        load("summ_govreport", data=tmp_path / name)


@every_task
@pytest.mark.parametrize("data", ["/no/such/folder/at all", "nowhere", "no-such-org/no-such-set", "org/set@v1"])
def test_data_that_is_nowhere_is_an_error_and_nothing_else_is_tried(task, data):
    with pytest.raises(DataError, match="data: "):
        load(task, data=data)


@pytest.mark.parametrize(("task", "other"), OTHER_SETS)
def test_data_of_another_data_set_is_refused(tmp_path, task, other):
    folder = put(task, tmp_path / ALL_SETS[other].folders[0])
    with pytest.raises(DataError, match=f"named like {other}, not {task}"):
        load(task, data=folder)


# ---- the order


@every_task
def test_data_beats_the_environment_and_the_environment_the_rest(tmp_path, monkeypatch, task):
    for folder in (task, ALL_SETS[task].folders[0]):
        place = put(task, tmp_path / f"root of {folder}" / folder)
        monkeypatch.setenv("TLS_TASKS_DATA", str(place.parent))
        for options in ({}, {"edition": "local"}, {"data": place.parent}):
            assert load(task, **options)[1] == {"edition": "local", "origin": str(place), "data": "unknown data"}
    other = put(task, tmp_path / "other")
    assert load(task, data=str(other))[1]["origin"] == str(other)
    assert edition(task, edition="embedded") == "embedded"
    with pytest.raises(DataError, match="is the local edition, but hub was asked for"):
        load(task, data=other, edition="hub")


@every_task
def test_an_environment_with_a_broken_file_is_an_error(tmp_path, monkeypatch, task):
    folder = put(task, tmp_path / ALL_SETS[task].folders[0])
    file = folder / FIRST_FILE.get(task, "x.jsonl")
    file.write_text("{")
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    with pytest.raises(DataError, match=rf"{file.name}, line 1: not JSON"):
        load(task)


@every_task
def test_an_environment_without_this_data_set_is_passed_over_aloud(tmp_path, monkeypatch, caplog, task):
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    assert edition(task) == "embedded"
    assert f"has no folder {' or '.join((task, *ALL_SETS[task].folders))}" in caplog.text


@every_set
def test_offline_the_embedded_edition_runs_and_is_loud_once(name, caplog):
    wanted = ALL_SETS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert load(name)[1] == {"edition": "embedded", "origin": str(EMBEDDED / name)}
    said = [str(one.message) for one in caught if one.category is EmbeddedEditionWarning]
    assert len(said) == (not wanted.self_contained)
    assert all(f"{name} runs on the EMBEDDED EDITION" in one and wanted.obtain in one for one in said)
    records = [record for record in caplog.records if record.name.startswith("tls_tasks.data")]
    assert len(records) == bool(wanted.hub)
    for record in records:
        assert record.levelno == logging.WARNING and "\n" not in record.message
        assert "is not in the cache, and the hub is switched off (HF_HUB_OFFLINE)" in record.message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "report_[a-z]+: no judge is named")
        load(name)


@every_set
def test_errors_without_any_data_name_what_to_do(name):
    with pytest.raises(DataError) as error:
        load(name, edition="hub")
    message, wanted = str(error.value), ALL_SETS[name]
    why = "is not in the cache, and the hub is switched off" if wanted.hub else "it has no source on the hub"
    assert f"{name}: no data: " in message and why in message and wanted.obtain in message
    assert "TLS_TASKS_DATA=<folder with" in message and '--metadata \'{"data": "<folder>"}\'' in message
    with pytest.raises(DataError, match="no data: TLS_TASKS_DATA is not set"):
        load(name, edition="local")


@pytest.mark.parametrize("variable", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
def test_each_way_to_switch_the_hub_off(variable, monkeypatch, caplog):
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv(variable, "1")
    assert edition("summ_qmsum") == "embedded"
    assert "qmsum.zip is not in the cache, and the hub is switched off" in caplog.text


@pytest.mark.parametrize("name", HUB_SETS)
def test_a_download_that_fails_goes_on_in_one_line(name, monkeypatch, caplog):
    monkeypatch.delenv("HF_HUB_OFFLINE")  # huggingface_hub itself still refuses, as it does without a network
    assert edition(name) == "embedded"
    (record,) = [record for record in caplog.records if record.name.startswith("tls_tasks.data")]
    assert f"{ALL_SETS[name].hub.files[0]} can't be downloaded: " in record.message and "\n" not in record.message


@every_task
def test_the_embedded_edition_cannot_be_passed_off_as_local(tmp_path, monkeypatch, task):
    assert edition(task, data=EMBEDDED / task) == "embedded"
    monkeypatch.setenv("TLS_TASKS_DATA", str(EMBEDDED))
    assert edition(task) == "embedded"
    link = tmp_path / ALL_SETS[task].folders[0]
    link.symlink_to(EMBEDDED / task)
    assert edition(task, data=link) == "embedded"


@every_task
def test_unknown_names_are_errors_that_list_the_known(task):
    load_documents = tls_tasks.task(task).load
    with pytest.raises(OptionError, match=f"data set: got 'crisis', expected one of .*'{task}'"):
        load_documents("crisis")
    with pytest.raises(OptionError, match="edition: got 'real', expected one of 'local'"):
        load_documents(task, edition="real")


# ---- the budget of a prompt


@every_task
@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "6"])
def test_impossible_budgets_are_errors(task, budget):
    with pytest.raises(InputError, match="context_budget"):
        tls_tasks.task(task).documents(edition="embedded", context_budget=budget)


@every_row_task
def test_a_text_is_cut_to_the_budget(tmp_path, task):
    (first, *_), _ = load(task, data=put(task, tmp_path), context_budget=6)
    whole = ROWS[task][0]["text"]
    assert (first["text"], first["text_truncated"], first["data_set"]) == (whole[:6], len(whole) - 6, task)
    assert load(task, data=tmp_path)[0][0]["text_truncated"] == 0
