"""tls-tasks trees: two trees side by side on a terminal, in a file, and with a hostile answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import scoring, write
from tls_tasks.trees.tree_eval import tree_eval

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

CITY = {"city": "string"}
SCHEMA = {"name": "string", "tempo": "integer", "seller": CITY, "tags": ["string"], "lines": [{"x": "integer"}]}
REFERENCE = {"name": "bar", "tempo": 81, "seller": {"city": "Ulm"}, "tags": ["a", "bb"], "lines": [{"x": 1}, {"x": 2}]}
ANSWER = json.dumps({"name": "baroo", "tempo": "81", "tags": ["bb", "cc", "a"], "lines": [{"x": 2}], "fax": "1"})


run, refused = scoring("trees", "predictions", "references")


@pytest.fixture
def files(tmp_path):
    def write(answer=ANSWER, reference=REFERENCE, schema=SCHEMA):
        gold, shape = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in (reference, schema))
        said = answer if isinstance(answer, bytes) else answer.encode("utf-8", "surrogatepass")
        for name, content in {"answer.txt": said, "gold.json": gold, "schema.json": shape}.items():
            (tmp_path / name).write_bytes(content)
        return [str(tmp_path / "answer.txt"), str(tmp_path / "gold.json"), "--schema", str(tmp_path / "schema.json")]

    return write


def test_a_comparison(files, capsys):
    code, out, _ = run(capsys, *files())
    assert code == 0 and "\x1b" not in out
    results, lines = out.splitlines(), out.partition("answer.txt\n")[2].replace("\n  ", "\n").splitlines()[1:]
    assert lines[0].split() == ["key", "reference", "prediction"]
    table = [re.split(r"\s{2,}", line.strip()) for line in lines[1:14]]
    assert table == CASES["test_a_comparison"]
    assert re.fullmatch(r'\+ fax +"1"', lines[14])
    assert "= the best score   ~ between   ! a value of another type   - only in the reference" in out
    assert "schema: tempo: type: wanted integer, got str" in out
    assert "schema: seller: missing: required by the schema" in out
    assert re.match(r"f1_value +0\.\d{4}$", results[0]) and re.fullmatch(r"tree_eval\|.*\|v:\d+", results[-1])


def test_metrics_and_compat(files, capsys):
    _, out, _ = run(capsys, *files(), "--metric", "exact_match", "--metric", "name=token_f1")
    assert "exact_match 0.00 token_f1 0.00" in out
    assert "treeval" in run(capsys, *files(), "--compat", "treeval")[1].splitlines()[-1]


def test_without_a_schema_the_shape_of_the_references_counts(files, capsys):
    code, out, _ = run(capsys, *files()[:2], "--metric", "exact_match")
    assert code == 0 and "|metrics:exact_match|" in out and "|schema:references|" in out
    assert float(re.search(r"f1_value_exact +(\S+)", out)[1]) == round(
        tree_eval([ANSWER], [REFERENCE]).f1_value_exact, 4
    )


# Of an ANSWER with "82" for "81", and "=1+1" for "cc".
DIFFERENCES = CASES["DIFFERENCES"]


def test_what_differs_as_rows(files, capsys):
    told = files(ANSWER.replace("cc", "=1+1").replace("81", "82"))
    name = told[0]
    found = json.loads(run(capsys, *told, "--json")[1])["differences"]
    assert [tuple(one.values()) for one in found] == [(name, 0, *row) for row in DIFFERENCES]
    names = ("id", "row", "path", "expected", "got", "kind", "score")
    assert [tuple(one) for one in found] == [names] * len(DIFFERENCES)


def test_nothing_differs(files, capsys):
    told = files(json.dumps(REFERENCE))
    assert json.loads(run(capsys, *told, "--json")[1])["differences"] == []


def test_an_answer_that_cannot_be_read(files, capsys):
    code, out, err = run(capsys, *files(answer="I don't know."))
    assert code == 1 and err.startswith("tls-tasks trees: ")
    assert err.endswith("answer.txt: no tree could be read in it\n")
    assert "reading: no_json: I don't know." in out
    assert re.search("^treeval_score +0.0000$", out, re.MULTILINE)
    code, out, _ = run(capsys, *files(answer="{'name': 'bar'}"), "--strict")
    assert code == 1 and "reading: not_strict" in out
    code, out, _ = run(capsys, *files(answer="Here: ```json\n{'name': 'bar',}\n```"))
    assert code == 0 and "reading: repaired_json" in out, "what was mended is said"


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
    code, out, _ = run(capsys, *files(answer=answer))
    assert code in (0, 1)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out)


@pytest.mark.parametrize(
    ("reference", "schema", "message"),
    [
        (b"not json", SCHEMA, "gold.json: got text that is no JSON document"),
        (b"\xff", SCHEMA, "gold.json: no UTF-8 at byte 0, expected a text file in UTF-8"),
        (REFERENCE, b"\xff", "schema.json: no UTF-8 at byte 0"),
        (REFERENCE, {"a": None}, "got None at a"),
        (REFERENCE, b"{", "schema.json: not JSON: Expecting property name"),
        (REFERENCE, b"invoice", "schema.json: not JSON: Expecting value at character 1"),
    ],
)
def test_errors_are_one_line(files, capsys, reference, schema, message):
    refused(capsys, *files(reference=reference, schema=schema), said=message)


def test_wrong_arguments(files, capsys, tmp_path):
    arguments = files()
    refused(capsys, *arguments, "--metric", "exact_mach", said="exact_mach")
    for argument in ("", "=", "name=", "=x"):
        refused(capsys, *arguments, "--metric", argument, said="NAME or WHERE=NAME")
    refused(capsys, tmp_path / "none", *arguments[1:], said="no such file")


def test_lists_in_a_list_as_root(files, capsys):
    reference = [{"tags": ["a", "b"], "m": [[1, 2], [3]]}, {"tags": ["x"], "m": []}]
    answer = [{"tags": ["x"], "m": []}, {"tags": ["b", "a"], "m": [[3], [2, 1]]}]
    schema = [{"tags": ["string"], "m": [["integer"]]}]
    table = (
        run(capsys, *files(json.dumps(answer), reference, schema))[1]
        .split("\n\n")[1]
        .replace("\n  ", "\n")
        .splitlines()[1:]
    )
    assert not any(line.startswith(("-", "+", "x", "~", "!")) for line in table)
    assert sum(line.startswith("=") for line in table) == 6


@pytest.fixture
def many(files, tmp_path):
    """Three references, and two answers in rows and a folder; the schema's option last."""
    gold = write(tmp_path / "gold.jsonl", *({"id": name, "reference": REFERENCE} for name in "abc"))
    answers = {"a": json.dumps(REFERENCE), "b": "No tree."}
    rows = write(tmp_path / "rows.jsonl", *({"id": name, "prediction": text} for name, text in answers.items()))
    for name, text in answers.items():
        write(tmp_path / "folder" / f"{name}.txt", text)
    null = write(tmp_path / "null.jsonl", *({"id": name, "prediction": answers.get(name)} for name in "abc"))
    return {"rows": rows, "null": null, "folder": tmp_path / "folder"}, gold, files()[2:]


def test_many_trees_in_every_form(many, capsys):
    told, gold, schema = many
    for name, place in told.items():
        code, out, err = run(capsys, place, gold, *schema)
        assert code == 1, "one could not be read"
        first, *lines = out.splitlines()
        assert first.split()[0] == "f1_value" and lines[-1].startswith("tree_eval|"), name
        assert ["parsed", "0.3333"] in [line.split() for line in lines]
        assert "1 of 3 trees without a prediction ('c'): counted as empty" in err
        assert "tls-tasks trees: b: no tree could be read in it" in err


def test_many_trees_as_json_are_the_scores_own(many, capsys):
    told, gold, schema = many
    found = json.loads(run(capsys, told["rows"], gold, *schema, "--json", "--detailed")[1])
    with pytest.warns(UserWarning, match="could not be read"):
        direct = tree_eval([REFERENCE, "No tree.", ""], [REFERENCE] * 3, SCHEMA)
    assert found["treeval_score"] == direct.results["treeval_score"]
    assert found["documents"]["a"]["f1_node"] == 1.0 and found["documents"]["c"]["recall_node"] == 0.0
    assert [item["id"] for item in found["items"]] == ["a", "b", "c"]


def test_many_trees_in_detail_are_the_view_of_two(many, capsys):
    told, gold, schema = many
    _, out, _ = run(capsys, told["rows"], gold, *schema, "--detailed")
    assert re.search(r"^a$", out, re.MULTILINE) and re.search(r'^ *= name +"bar" +"bar" +1.00$', out, re.MULTILINE)
    assert "reading: no_json: No tree." in out


@pytest.mark.parametrize(("swap", "row", "said"), CASES["test_a_mistake_among_many_is_told_in_one_line"])
def test_a_mistake_among_many_is_told_in_one_line(many, tmp_path, capsys, swap, row, said):
    _, gold, schema = many
    places = [write(tmp_path / "p.jsonl", row), gold]
    refused(capsys, *(reversed(places) if swap else places), *schema, said=said)


def test_a_number_is_a_tree_that_fits_no_schema(many, tmp_path, capsys):
    _, gold, schema = many
    assert run(capsys, write(tmp_path / "p.jsonl", {"id": "a", "prediction": 3.5}), gold, *schema)[0] == 0


def test_quotes_are_looked_up_in_sources(files, capsys, tmp_path):
    told = {"name": {"value": "bar", "quote": "bar"}, "tempo": {"value": 81, "quote": "none"}}
    text = write(tmp_path / "text.txt", "The bar: 81.")
    places = files(answer=json.dumps(told), reference={"name": "bar", "tempo": 81})
    _, out, _ = run(capsys, *places, "--sources", text)
    assert out.startswith("grounded_f1            0.5000\n") and "ungrounded: $.tempo: 81" in out
    [row] = json.loads(run(capsys, *places, "--sources", text, "--json")[1])["differences"]
    assert (row["path"], row["expected"], row["got"], row["kind"]) == ("$.tempo", 81, 81, "ungrounded")
    names = "wrong", "a", "b"
    trees = write(tmp_path / "gold.jsonl", *({"id": name, "reference": {"name": name}} for name in names[1:]))
    rows = ({"id": name, "prediction": {"name": {"value": name, "quote": name}}} for name in names[1:])
    places = [write(tmp_path / "told.jsonl", *rows), trees, *places[2:]]
    texts = write(tmp_path / "texts.jsonl", *({"id": name, "text": f"{name}."} for name in names))
    assert run(capsys, *places, "--sources", texts)[1].startswith("grounded_f1            1.0000\n")
    write(texts, {"id": "a", "text": "a"})
    refused(capsys, *places, "--sources", texts, said="'b' is not in")
