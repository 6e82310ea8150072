"""The files of a family's command: by name, in any order."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from tests.cli.conftest import refused, run, write

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
OPTIONS = {"trees": ["--schema", "schema.json"], "reports": ["--recorded", "recording.jsonl"]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("schema.json"), {"song": "string"})
    write(Path("recording.jsonl"), {"kind": "negative", "sentence": "It rained.", "verdict": "NO"})


def files_of(family):
    """Each kind of file of a family."""
    return {kind: write(Path(f"{kind}.jsonl"), row) for kind, row in CASES["FAMILIES"][family].items()}


@pytest.mark.parametrize("family", CASES["FAMILIES"])
def test_names_mean_the_same_in_every_family(family, capsys):
    files, more = files_of(family), [*OPTIONS.get(family, ()), "--json"]
    printed = []
    for order in permutations(files):
        named = [word for kind in order for word in (f"--{kind}", files[kind])]
        printed.append(run(family, capsys, *named, *more))
    assert printed[0][1].startswith("{"), printed[0]
    assert all(one == printed[0] for one in printed)


@pytest.mark.parametrize("family", [family for family in CASES["FAMILIES"] if family != "reports"])
def test_a_file_without_a_name_is_refused(family, capsys):
    """Nobody has to know which of the sides stands first."""
    files, more = files_of(family), OPTIONS.get(family, [])
    named = ["--predictions", files["predictions"], "--references", files["references"], *more]
    code, out, err = run(family, capsys, *named, files["references"])
    assert (code, out) == (2, "") and "unrecognized arguments: " in err
    code, out, err = run(family, capsys, *named[:2], *more)
    assert (code, out) == (2, "") and "required: --references" in err


def test_what_is_wrong_with_one_file_is_said_of_it(tmp_path, capsys):
    same, tree = files_of("evidence"), write(Path("p.json"), {"song": "Rain"})
    named = ["--references", same["references"], "--predictions", same["references"]]
    code, out, _ = run("evidence", capsys, *named, "--json")
    assert code == 0 and json.loads(out)["evidence_coverage"] is None, "without sources, as in Python"
    day = {"id": "a", "timelines": [{"2011-02-30": "Protests."}]}
    a, b = write(Path("a.jsonl"), day), write(Path("b.jsonl"), {**day, "timelines": [{"2011-02-20": "Protests."}]})
    refused("timelines", capsys, "--references", a, "--predictions", b, said="a.jsonl, line 1: got date")
    gold, told = ({"id": "a", name: "the cat"} for name in ("answer", "output"))  # output is a field of both sides
    given = ["--references", write(a, gold), "--predictions", write(b, told)]
    refused("summaries", capsys, *given, said="a.jsonl, line 1: no field references")
    Path("gold.json").write_text('{"song": "Rain"')
    given = ["--references", "gold.json", "--predictions", tree, "--schema", "schema.json"]
    refused("trees", capsys, *given, said="gold.json")
    for family, schema in (("trees", {"song": [None, {}]}), ("evidence", {"domains": ["a"], "atributes": []})):
        given = [*(named if family == "evidence" else given[:4]), "--schema", write(Path("bad.json"), schema)]
        refused(family, capsys, *given, said="bad.json: ")
