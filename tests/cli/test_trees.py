"""tls-tasks trees: two trees side by side on a terminal, in a file, and with a hostile answer."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tls_tasks.cli import main

ROOT = Path(__file__).parents[2]
SCHEMA = {
    "name": "string",
    "tempo": "integer",
    "seller": {"city": "string"},
    "tags": ["string"],
    "lines": [{"x": "integer"}],
}
REFERENCE = {"name": "bar", "tempo": 81, "seller": {"city": "Ulm"}, "tags": ["a", "bb"], "lines": [{"x": 1}, {"x": 2}]}
ANSWER = json.dumps({"name": "baroo", "tempo": "81", "tags": ["bb", "cc", "a"], "lines": [{"x": 2}], "fax": "1"})


@pytest.fixture
def files(tmp_path):
    def write(answer=ANSWER, reference=REFERENCE, schema=SCHEMA):
        paths = [tmp_path / name for name in ("answer.txt", "gold.json", "schema.json")]
        data = [answer if isinstance(answer, bytes) else answer.encode("utf-8", "surrogatepass")]
        data += [one if isinstance(one, bytes) else json.dumps(one).encode() for one in (reference, schema)]
        for path, content in zip(paths, data, strict=True):
            path.write_bytes(content)
        return [str(paths[0]), str(paths[1]), "--schema", str(paths[2])]

    return write


def test_a_comparison(files, capsys):
    assert main(["trees", *files()]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[0].split() == ["key", "reference", "prediction"]
    table = [re.split(r"\s{2,}", line.strip()) for line in lines[1:14]]
    assert table == [
        ["~ name", '"bar"', '"baroo"', "0.75"],
        ["! tempo", "81", '"81"', "0.00"],
        ["- seller"],
        ["-", "city", '"Ulm"'],
        ["tags", "2 items", "3 items"],
        ["=", "[0] ~ [2]", '"a"', '"a"', "1.00"],
        ["=", "[1] ~ [0]", '"bb"', '"bb"', "1.00"],
        ["+", "[1]", '"cc"'],
        ["lines", "2 items", "1 item"],
        ["-", "[0]"],
        ["-", "x", "1"],
        ["[1] ~ [0]"],
        ["=", "x", "2", "2", "1.00"],
    ]
    assert re.fullmatch(r'\+ fax +"1"', lines[14])
    assert "= the best score   ~ between   ! a value of another type   - only in the reference" in out
    assert "schema: tempo: type: wanted integer, got str" in out
    assert "schema: seller: missing: required by the schema" in out
    assert re.search(r"^treeval score 0\.\d{3}  indel_ratio 0\.\d{3}  exact_match 0\.\d{3}$", out, re.MULTILINE)
    assert re.search(r"^node: precision .* recall .* F1 0\.\d{3}$", out, re.MULTILINE)
    assert re.search(r"^tree_eval\|.*\|v:\d+$", out, re.MULTILINE)


def test_metrics_and_compat(files, capsys):
    assert main(["trees", *files(), "--metric", "exact_match", "--metric", "name=token_f1"]) == 0
    assert "exact_match 0.00 token_f1 0.00" in capsys.readouterr().out
    assert main(["trees", *files(), "--compat", "treeval"]) == 0
    assert "treeval" in capsys.readouterr().out.splitlines()[-1]
    assert main(["trees", *files(), "--compat", "extractbench", "--detailed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "extract_unified_value_f1"
    assert lines[-1].startswith("tree_eval|compat:extractbench|")


DIFFERENCES = [  # of an ANSWER with "82" for "81", and "=1+1" for "cc", which a spreadsheet would compute
    ("$.name", "bar", "baroo", "wrong", 0.75),
    ("$.tempo", 81, "82", "wrong", 0.0),
    ("$.seller.city", "Ulm", None, "missed", 0.0),
    ("$.tags[1]", None, "=1+1", "invented", 0.0),
    ("$.lines[0].x", 1, None, "missed", 0.0),
    ("$.fax", None, "1", "invented", 0.0),
]


def test_what_differs_as_rows(files, capsys):
    told = files(ANSWER.replace("cc", "=1+1").replace("81", "82"))
    name = told[0]
    assert main(["trees", *told, "--csv"]) == 0
    head, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert head == ["id", "row", "path", "expected", "got", "kind", "score"]
    assert rows == [
        [name, "0", "$.name", "bar", "baroo", "wrong", "0.75"],
        [name, "0", "$.tempo", "81", '"82"', "wrong", "0.0"],
        [name, "0", "$.seller.city", "Ulm", "", "missed", "0.0"],
        [name, "0", "$.tags[1]", "", "'=1+1", "invented", "0.0"],
        [name, "0", "$.lines[0].x", "1", "", "missed", "0.0"],
        [name, "0", "$.fax", "", '"1"', "invented", "0.0"],
    ]
    assert main(["trees", *told, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["differences"]
    assert [tuple(one.values()) for one in found] == [(name, 0, *one) for one in DIFFERENCES]
    assert [tuple(one) for one in found] == [tuple(head)] * len(DIFFERENCES)


def test_nothing_differs_and_nothing_to_tell(files, capsys):
    told = files(json.dumps(REFERENCE))
    assert main(["trees", *told, "--csv"]) == 0
    assert capsys.readouterr().out == "id,row,path,expected,got,kind,score\n"
    assert main(["trees", *told, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []
    assert main(["trees", *told, "--csv", "--compat", "extractbench"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "differences: got tree_eval|compat:extractbench" in err and err.count("\n") == 1


def test_an_answer_that_cannot_be_read(files, capsys):
    assert main(["trees", *files(answer="I don't know.")]) == 1
    out, err = capsys.readouterr()
    assert err.startswith("tls-tasks trees: ") and err.endswith("answer.txt: no tree could be read in it\n")
    assert "reading: no_json: I don't know." in out
    assert "treeval score 0.000" in out
    assert main(["trees", *files(answer="{'name': 'bar'}"), "--strict"]) == 1
    assert "reading: not_strict" in capsys.readouterr().out


def test_what_was_mended_is_said(files, capsys):
    assert main(["trees", *files(answer="Here: ```json\n{'name': 'bar',}\n```")]) == 0
    assert "reading: repaired_json: quotes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"name": "\x1b[2J\x1b]0;title\x07", "\x1b[1m": {"\u202e": "\x9b31m"}}),
        '{"name": "\x1b[31mred", "tempo": \x1b}',
        "\x1b[31mno tree\x1b[0m \x07\u202e",
        b'{"name": "\xff\xfe\x1b[1m"}',
        '{"name": "\ud800"}',
        "null",
        "[1]",
        "5",
        '{"a":' * 5000,
        json.dumps({"name": "x" * 100_000, "tags": ["y"] * 500}),
    ],
)
def test_no_answer_reaches_the_terminal_unescaped(files, capsys, answer):
    assert main(["trees", *files(answer=answer)]) in (0, 1)
    out = capsys.readouterr().out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)


@pytest.mark.parametrize(
    ("reference", "schema", "message"),
    [
        (b"not json", SCHEMA, "references[0]: got text that is no JSON document"),
        (b"\xff", SCHEMA, "which is no UTF-8 at byte 0, expected a text file in UTF-8"),
        (REFERENCE, b"\xff", "schema: got"),
        (REFERENCE, {"a": None}, "got None at a"),
        (REFERENCE, b"{", "text that is no JSON"),
    ],
)
def test_errors_are_one_line(files, capsys, reference, schema, message):
    assert main(["trees", *files(reference=reference, schema=schema)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("tls-tasks trees: ")
    assert err.count("\n") == 1
    assert message in err


def test_wrong_arguments(files, capsys, tmp_path):
    arguments = files()
    wrong = [("exact_mach", "exact_mach"), *((argument, "NAME or WHERE=NAME") for argument in ("", "=", "name=", "=x"))]
    for argument, message in wrong:
        extra = ["--metric", argument]
        assert main(["trees", *arguments, *extra]) == 2
        assert message in capsys.readouterr().err
    assert main(["trees", str(tmp_path / "none"), *arguments[1:]]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["trees", "-", "-", *arguments[2:]]) == 2
    assert "'-' twice" in capsys.readouterr().err


def test_standard_input(files, capsys, monkeypatch):
    arguments = files()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(REFERENCE).encode())))
    assert main(["trees", "-", *arguments[1:]]) == 0
    assert "treeval score 1.000" in capsys.readouterr().out


def on_a_terminal(arguments, **environment):
    """What a process writes on a terminal."""
    ours, theirs = pty.openpty()
    environ = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tls_tasks", "trees", *arguments],
        env={**environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
        stdout=theirs,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # Linux's way to say that the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return written.decode().replace("\r\n", "\n")


def test_colour_on_a_terminal(files):
    colored = on_a_terminal(files())
    assert "\x1b[33m~ name" in colored
    plain = [on_a_terminal(files(), NO_COLOR="1"), on_a_terminal(files(), TERM="dumb")]
    for text in (*plain, on_a_terminal([*files(), "--no-color"])):
        assert "\x1b" not in text
        assert "~ name" in text
    assert "\x1b" in on_a_terminal(files(), NO_COLOR="")


def test_an_output_that_has_not_all_characters(files):
    process = subprocess.run(
        [sys.executable, "-m", "tls_tasks", "trees", *files(answer=json.dumps({"name": "東京…"}))],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert rb'"\u6771\u4eac\u2026"' in process.stdout


def test_lists_in_a_list_as_root(files, capsys):
    reference = [{"tags": ["a", "b"], "m": [[1, 2], [3]]}, {"tags": ["x"], "m": []}]
    answer = [{"tags": ["x"], "m": []}, {"tags": ["b", "a"], "m": [[3], [2, 1]]}]
    schema = [{"tags": ["string"], "m": [["integer"]]}]
    assert main(["trees", *files(json.dumps(answer), reference, schema)]) == 0
    table = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert not any(line.startswith(("-", "+", "x", "~", "!")) for line in table)
    assert sum(line.startswith("=") for line in table) == 6


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def many(files, tmp_path):
    """Three references, and two answers in rows, an object and a folder; the schema's option last."""
    gold = write(tmp_path / "gold.jsonl", *({"id": name, "reference": REFERENCE} for name in "abc"))
    answers = {"a": json.dumps(REFERENCE), "b": "No tree."}
    rows = write(tmp_path / "rows.jsonl", *({"id": name, "prediction": text} for name, text in answers.items()))
    (tmp_path / "folder").mkdir()
    for name, text in answers.items():
        (tmp_path / "folder" / f"{name}.txt").write_text(text)
    (tmp_path / "object.json").write_text(json.dumps(answers))
    return (
        {"rows": rows, "folder": str(tmp_path / "folder"), "object": str(tmp_path / "object.json")},
        gold,
        files()[2:],
    )


def test_many_trees_in_every_form(many, capsys):
    told, gold, schema = many
    for name, place in told.items():
        assert main(["trees", place, gold, *schema]) == 1, "one could not be read"
        out, err = capsys.readouterr()
        first, *lines = out.splitlines()
        assert first.split()[0] == "f1_value" and lines[-1].startswith("tree_eval|"), name
        assert ["parsed", "0.3333"] in [line.split() for line in lines]
        assert "1 of 3 trees without a prediction ('c'); it counts as empty" in err
        assert "tls-tasks trees: b: no tree could be read in it" in err


def test_many_trees_as_json_are_the_scores_own(many, capsys):
    from tls_tasks.trees.tree_eval import tree_eval

    told, gold, schema = many
    assert main(["trees", told["rows"], gold, *schema, "--json", "--detailed"]) == 1
    found = json.loads(capsys.readouterr().out)
    with pytest.warns(UserWarning, match="could not be read"):
        direct = tree_eval([REFERENCE, "No tree.", ""], [REFERENCE] * 3, SCHEMA)
    assert found["treeval_score"] == direct.results["treeval_score"]
    assert found["documents"]["a"]["f1_node"] == 1.0 and found["documents"]["c"]["recall_node"] == 0.0
    assert [item["id"] for item in found["items"]] == ["a", "b", "c"]


def test_many_trees_in_detail_are_the_view_of_two(many, capsys):
    told, gold, schema = many
    main(["trees", told["rows"], gold, *schema, "--detailed"])
    out = capsys.readouterr().out
    assert re.search(r"^a:$", out, re.MULTILINE) and re.search(r'^= name +"bar" +"bar" +1.00$', out, re.MULTILINE)
    assert "reading: no_json: No tree." in out


@pytest.mark.parametrize(
    ("swap", "row", "said"),
    [
        (False, {"id": "x", "prediction": "{}"}, "p.jsonl, line 1: 'x' is not in"),
        (False, {"id": "a", "tree": {}}, "p.jsonl, line 1: no field prediction or answer"),
        (False, {"id": "a", "prediction": 3.5}, None),
        (True, {"id": "a", "reference": "{}"}, "gold.jsonl, line 2: 'b' is not in"),
        (True, {"id": "a", "prediction": "{}"}, "which has 'a'; are gold and predictions swapped?"),
    ],
)
def test_a_mistake_among_many_is_told_in_one_line(many, tmp_path, capsys, swap, row, said):
    _, gold, schema = many
    places = [write(tmp_path / "p.jsonl", row), gold]
    if said is None:
        assert main(["trees", *places, *schema]) == 0
        return
    assert main(["trees", *(reversed(places) if swap else places), *schema]) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1
