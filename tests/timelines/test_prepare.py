"""``tls-tasks prepare``: what it writes, and that nothing is lost on the way through Parquet."""

import argparse

import pytest
import yaml

from tests.data_parts import prepare
from tls_tasks.cli import prepare as command
from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.data.order import EMBEDDED
from tls_tasks.timelines.data import _load_topics
from tls_tasks.timelines.news_tls import read_data_set

pytestmark = pytest.mark.usefixtures("isolated")


def front_matter(folder):
    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def test_round_trip(crisis, tmp_path):
    out = tmp_path / "out"
    prepare("tls_crisis", crisis, out)
    assert _load_topics("tls_crisis", data=out).documents == read_data_set(crisis)
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()) == [
        "README.md",
        "data/test-00000-of-00001.parquet",
    ]


def test_oddities_are_set_right_and_read_back(tmp_path, topic_writer):
    rows = [["2011-02-11 T00:00:00", ["B.\\nC."]], ["2011-01T00:00:00", ["A.", ""]], ["2011-01-01", []]]
    topic_writer(tmp_path / "open" / "Odd_2011.2.11", timelines=[rows], articles=None, keywords=None)
    out = tmp_path / "out"
    prepare("tls_open", tmp_path, out)
    before, after = (_load_topics("tls_open", data=place, need_articles=False).documents for place in (tmp_path, out))
    assert before == after
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "lm_eval --tasks tls_open_closed_book " in card


def test_dates_are_strings_to_every_reader(crisis, tmp_path):
    import datasets
    import pyarrow.parquet as pq

    prepare("tls_crisis", crisis, tmp_path / "out")
    schema = pq.read_schema(tmp_path / "out" / "data/test-00000-of-00001.parquet")
    assert str(schema.field("timelines").type).count("string") == 2
    assert schema.metadata is None
    row = datasets.load_dataset(str(tmp_path / "out"), split="test")[0]
    assert row["timelines"][0][0] == {"date": "2011-01-25", "text": ["Protests begin."]}
    assert row["articles"][1] == {"id": "a2", "date": "2011-01-28", "title": "", "sentences": ["The army is in Cairo."]}


def test_card(crisis, tmp_path):
    prepare("tls_crisis", crisis, tmp_path / "out")
    assert front_matter(tmp_path / "out") == {
        "pretty_name": "Crisis",
        "license": "unknown",
        "task_categories": ["summarization"],
        "tags": ["timeline-summarization"],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "data/test-*.parquet"}]}],
    }
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| egypt | 2 | 3 | 2 |" in card
    assert "lm_eval --tasks tls_crisis " in card
    assert "hf upload ORG/NAME FOLDER . --repo-type dataset" in card


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("cc-by-nc-4.0", {"license": "cc-by-nc-4.0"}),
        ('Ask the "owner": first', {"license": "other", "license_name": 'Ask the "owner": first'}),
    ],
)
def test_licence_in_the_card(crisis, tmp_path, licence, expected):
    prepare("tls_crisis", crisis, tmp_path / "out", licence=licence)
    assert {key: value for key, value in front_matter(tmp_path / "out").items() if "license" in key} == expected
    assert f"Licence: {licence}." in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_folder_in_use_is_refused_without_force(crisis, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    prepare("tls_crisis", crisis, out)
    (out / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="not an empty folder"):
        prepare("tls_crisis", crisis, out)
    prepare("tls_crisis", crisis, out, force=True)
    assert (out / "mine.txt").read_text() == "mine"
    with pytest.raises(DataError, match="not an empty folder"):
        prepare("tls_crisis", crisis, out / "mine.txt", force=True)


def test_nothing_is_written_when_the_source_is_broken(crisis, tmp_path):
    (crisis / "libya" / "timelines.jsonl").write_text("{")
    with pytest.raises(DataError, match=r"libya/timelines\.jsonl, line 1"):
        prepare("tls_crisis", crisis, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not EMBEDDED.joinpath("tls_crisis").is_dir(), reason="the embedded edition isn't there yet")
def test_embedded_edition_is_not_prepared(tmp_path):
    with pytest.raises(DataError, match="the embedded edition stays"):
        prepare("tls_crisis", EMBEDDED, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sources_that_are_not_there(crisis, tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        prepare("tls_crisis", tmp_path / "none", tmp_path / "out")
    with pytest.raises(DataError, match="named like tls_crisis"):
        prepare("tls_open", crisis, tmp_path / "out")
    with pytest.raises(OptionError, match="data set: got 'crisis'"):
        prepare("crisis", crisis, tmp_path / "out")


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["prepare", *map(str, arguments)])
    return args.run(args)


def test_command(crisis, tmp_path, capsys):
    out = tmp_path / "out"
    assert run("tls_crisis", "--source", crisis, "--out", out, "--licence", "cc0-1.0") == 0
    printed = capsys.readouterr().out
    assert "2 topics, 4 timelines, 4 articles" in printed
    assert f'lm_eval --tasks tls_crisis --metadata \'{{"data": "{out}"}}\'' in printed
    assert front_matter(out)["license"] == "cc0-1.0"
    with pytest.raises(DataError):
        run("tls_crisis", "--source", crisis, "--out", out)
    assert run("tls_crisis", "--source", crisis, "--out", out, "--force") == 0


@pytest.mark.parametrize(
    ("name", "folder", "n_topics", "has_articles"),
    [("tls_crisis", "crisis", 4, True), ("tls_open", "open_tls", 50, False)],
)
def test_real_data_survives(shared_data, tmp_path, name, folder, n_topics, has_articles):
    assert prepare(name, shared_data / folder, tmp_path / "out").startswith(f"{n_topics} topics")
    loaded = _load_topics(name, data=tmp_path / "out", need_articles=has_articles)
    assert loaded.documents == read_data_set(shared_data / folder)
