"""Data of one's own under its own name, and what is said of data under a public name that nobody knows."""

import json
from pathlib import Path

import pytest

import tls_tasks
from tests.data_parts import prepare
from tests.harness_parts import manager, run_here
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.timelines.data import _load_topics

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

TOPIC = {"topic": "harbour", "timelines": [[{"date": "2024-03-01", "text": "Dredging begins."}]]}
CUSTOM = {
    "tls_custom": "tls_crisis",
    "tls_custom_closed_book": "tls_crisis",
    "summ_custom": "summ_qmsum",
    "evidence_custom": "evidence_journals",
    "tree_custom": "tree_extraction",
    "report_custom": "report_generation",
}


def provenance_of(task, **options):
    found = {}
    tls_tasks.task(task).documents(provenance=found, **options)
    return found


@pytest.mark.parametrize("task", CUSTOM)
def test_it_bears_the_name_that_it_is_given(task):
    place = str(EMBEDDED / CUSTOM[task])
    assert provenance_of(task, data=place, name="ours")["data"] == "ours"
    assert provenance_of(task, data=place)["data"] == "own data"
    with pytest.raises(InputError, match="name: got 7, expected a name for your data in the results"):
        provenance_of(task, data=place, name=7)
    with pytest.raises(DataError, match=r'_custom: runs on data of yours: --metadata .*"name": "ours"'):
        tls_tasks.task(task).documents()


@pytest.fixture
def rows_file(tmp_path):
    def write(*rows):
        file = tmp_path / "topics.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    return write


def test_a_row_is_a_topic(rows_file):
    (document,) = tls_tasks.task("tls_custom_closed_book").documents(data=rows_file(TOPIC))
    assert (document["doc_id"], document["n_dates"], document["n_sentences"]) == ("harbour/0", 1, 1)
    with pytest.raises(DataError, match="no articles of harbour"):
        tls_tasks.task("tls_custom").documents(data=rows_file(TOPIC))


@pytest.mark.parametrize(("row", "message"), CASES["a_row_that_is_none_is_named"])
def test_a_row_that_is_none_is_named(rows_file, row, message):
    with pytest.raises(DataError, match=message):
        _load_topics("tls_custom", data=rows_file(row), need_articles=False)


def test_two_rows_of_a_name(rows_file):
    with pytest.raises(DataError, match="two documents have the name 'harbour'"):
        _load_topics("tls_custom", data=rows_file(TOPIC, TOPIC), need_articles=False)


def test_a_fingerprint_is_of_the_content(crisis, tmp_path):
    before = _load_topics("tls_crisis", data=crisis)
    prepare("tls_crisis", crisis, tmp_path / "out")
    assert _load_topics("tls_crisis", data=tmp_path / "out").fingerprint == before.fingerprint
    file = crisis / "libya" / "timelines.jsonl"
    file.write_text(file.read_text().replace("Curfew.", "curfew."))
    assert _load_topics("tls_crisis", data=crisis).fingerprint != before.fingerprint


def test_unknown_data_under_a_public_name_is_said_once(crisis, caplog):
    assert provenance_of("tls_crisis", data=str(crisis))["data"] == "unknown data"
    assert provenance_of("tls_crisis", data=str(crisis), name="ours")["data"] == "unknown data"
    (record,) = caplog.records
    assert record.message.startswith(f"tls_crisis: unknown data: {crisis} is not what this release knows as Crisis")
    assert f'run tls_custom with --metadata \'{{"data": "{crisis}", "name": "ours"}}\'' in record.message
    assert "data" not in provenance_of("tls_crisis", edition="embedded")


@pytest.mark.parametrize(
    ("task", "options", "alias"),
    [
        ("summ_qmsum", {}, "summ_qmsum (unknown data)"),
        ("summ_custom", {"name": "ours"}, "summ_custom (ours)"),
        ("tls_custom_closed_book", {}, "tls_custom_closed_book (own data)"),
        ("summ_dialogsum", {"edition": "embedded", "data": None}, "summ_dialogsum"),
    ],
)
def test_the_table_of_the_harness_says_what_the_data_is(rows_file, task, options, alias):
    from lm_eval.utils import make_table

    from tls_tasks.hosts.models import DatewiseLM, LeadLM

    qmsum = {"id": "a", "transcript": "It rained.", "query": "Rain?", "summary": "Rain."}
    options = {"data": str(rows_file(TOPIC if task.startswith("tls") else qmsum)), **options}
    model = LeadLM() if task.startswith("summ") else DatewiseLM()
    for _ in range(2):  # the harness may use one configuration twice
        run = run_here(manager(**{key: value for key, value in options.items() if value}), [task], model)
        assert make_table(run).split("\n")[2].split("|")[1].strip() == alias
