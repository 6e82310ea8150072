"""The files of a family's command: by name in any order, without names in the command's own, and swapped."""

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
    """Each kind of file of a family, in the order of those without a name."""
    kinds = CASES["FAMILIES"][family]["order"].split()
    return {kind: write(Path(f"{kind}.jsonl"), CASES["FAMILIES"][family][kind]) for kind in kinds}


@pytest.mark.parametrize("family", CASES["FAMILIES"])
def test_names_mean_the_same_in_every_family(family, capsys):
    files, more = files_of(family), [*OPTIONS.get(family, ()), "--json"]
    wanted = run(family, capsys, *files.values(), *more)
    assert wanted[1].startswith("{"), wanted
    for order in permutations(files):
        named = [word for kind in order for word in (f"--{kind}", files[kind])]
        assert run(family, capsys, *named, *more) == wanted, order
    first, *others = files
    named = [word for kind in others for word in (f"--{kind}", files[kind])]
    assert run(family, capsys, *named, *more, files[first]) == wanted, "the one without a name is the one left"
    assert run(family, capsys, files[first], *more, *list(files.values())[1:]) == wanted, "options between files"


@pytest.mark.parametrize("family", CASES["FAMILIES"])
def test_files_that_were_swapped_are_said_with_what_fits(family, capsys):
    files = files_of(family)
    fit = " ".join(f"--{kind} {file}" for kind, file in files.items())
    for order in [*permutations(files)][1:]:
        named = [word for kind, other in zip(files, order, strict=True) for word in (f"--{kind}", files[other])]
        said = f"are files swapped? These can be read: {fit}\n"
        refused(family, capsys, *named, *OPTIONS.get(family, ()), said=said)
    write(files["references"], "{oops")
    line = refused(family, capsys, *files.values(), *OPTIONS.get(family, ()), said="references.jsonl")
    assert "swapped" not in line, "a file that can't be read anyhow is not swapped"


@pytest.mark.parametrize(("family", "words", "fit"), CASES["test_a_file_of_another_option_is_said_with_what_fits"])
def test_a_file_of_another_option_is_said_with_what_fits(family, words, fit, capsys):
    files_of(family)
    for name, row in CASES["MORE"].items():
        write(Path(name), row)
    said = f"are files swapped? These can be read: {fit}\n"
    refused(family, capsys, *words.split(), *OPTIONS.get(family, ())[2 * (family == "trees") :], said=said)


def test_what_is_wrong_with_one_file_is_said_of_it(tmp_path, capsys):
    same, tree = files_of("evidence"), write(Path("p.json"), {"song": "Rain"})
    named = ["--references", same["references"], "--predictions", same["references"]]
    code, out, _ = run("evidence", capsys, *named, "--json")
    assert code == 0 and json.loads(out)["evidence_coverage"] is None, "without sources, as in Python"
    day = {"id": "a", "timelines": [{"2011-02-30": "Protests."}]}
    a, b = write(Path("a.jsonl"), day), write(Path("b.jsonl"), {**day, "timelines": [{"2011-02-20": "Protests."}]})
    line = refused("timelines", capsys, "--references", a, "--predictions", b, said="a.jsonl, line 1: got date")
    assert "swapped" not in line, "a wrong value, and names that say nothing"
    gold, told = ({"id": "a", name: "the cat"} for name in ("answer", "output"))  # output is a field of both sides
    given = ["--references", write(a, gold), "--predictions", write(b, told)]
    assert "swapped" not in refused("summaries", capsys, *given, said="a.jsonl, line 1: no field references")
    Path("gold.json").write_text('{"song": "Rain"')
    given = ["--references", "gold.json", "--predictions", tree, "--schema", "schema.json"]
    assert "swapped" not in refused("trees", capsys, *given, said="gold.json")
    for family, schema in (("trees", {"song": [None, {}]}), ("evidence", {"domains": ["a"], "atributes": []})):
        given = [*(named if family == "evidence" else given[:4]), "--schema", write(Path("bad.json"), schema)]
        refused(family, capsys, *given, said="bad.json: ")


@pytest.mark.parametrize(("words", "said"), CASES["test_a_place_that_is_missing_or_too_many_is_named"])
def test_a_place_that_is_missing_or_too_many_is_named(words, said, capsys):
    files_of("timelines")
    refused("timelines", capsys, *words.split(), said=said)
