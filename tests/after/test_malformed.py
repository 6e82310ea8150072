"""Whatever a stranger sends is one refused row with its reason, and the board is written with the good one in it."""

import hashlib
import json
import os
import shutil
import struct
import zipfile
import zlib

import pytest

from tls_tasks.after import foreign, logs
from tls_tasks.after.submission import archive
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASK = "tls_crisis"


@pytest.fixture(scope="module")
def good(chat_runs, tmp_path_factory):
    """A submission that holds, as a folder and as the zip beside it."""
    folder = tmp_path_factory.mktemp("good") / "good"
    run = chat_runs / "good"
    assert main(["submit", str(run), "-o", str(folder), "--zip", f"{folder}.zip"]) == 0
    return folder


def sign_again(folder):
    """Make the manifest fit the files, as a forger would, so that what is read next is the malformed file itself."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    manifest["files"] = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def put(value, *keys, what):
    node = value
    for key in keys[:-1]:
        node = node[key]
    node[keys[-1]] = what


def results(*keys, what):
    """The results file with another value somewhere."""

    def spoil(folder):
        (path,) = folder.glob("run/results_*")
        value = json.loads(path.read_text(encoding="utf-8"))
        put(value, *keys, what=what)
        path.write_text(json.dumps(value), encoding="utf-8")
        sign_again(folder)

    return spoil


def samples_of(folder):
    (path,) = folder.glob(f"run/samples_{TASK}_*")
    return path


def row(*keys, what, number=1):
    """A row of the samples with another value somewhere."""

    def spoil(folder):
        path = samples_of(folder)
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        put(rows[number], *keys, what=what)
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        sign_again(folder)

    return spoil


def raw(which, change):
    """The bytes of a file changed."""

    def spoil(folder):
        (path,) = folder.glob(which)
        path.write_bytes(change(path.read_bytes()))
        if which != "manifest.json":
            sign_again(folder)

    return spoil


def manifest(*keys, what):
    return raw("manifest.json", lambda old: json.dumps(_with(json.loads(old), keys, what)).encode())


def _with(value, keys, what):
    put(value, *keys, what=what)
    return value


def line(number, change):
    def spoiled(old):
        lines = old.splitlines(keepends=True)
        lines[number] = change(lines[number])
        return b"".join(lines)

    return raw(f"run/samples_{TASK}_*", spoiled)


SAMPLES, RESULTS = f"run/samples_{TASK}_*", "run/results_*"
DEEP = b"[" * 500 + b"]" * 500

FOLDERS = {
    "results: no object": (raw(RESULTS, lambda old: b"[]"), "expected an object, got list"),
    "results: empty": (raw(RESULTS, lambda old: b""), "not JSON"),
    "results: UTF-16": (raw(RESULTS, lambda old: old.decode().encode("utf-16")), "not UTF-8: byte 0"),
    "results: deep": (raw(RESULTS, lambda old: b'{"results": ' + DEEP + b"}"), "more than 100 deep"),
    "results: very deep": (raw(RESULTS, lambda old: b"[" * 200_000), "not JSON"),
    "results: a long number": (raw(RESULTS, lambda old: b'{"date": ' + b"9" * 5000 + b"}"), "not JSON"),
    "results: results is a list": (results("results", what=[]), "`results` is [], expected a valid dictionary"),
    "results: a task is a list": (results("results", TASK, what=[1]), f"`results.{TASK}` is [1]"),
    "results: configs is text": (results("configs", what="x"), "`configs` is 'x'"),
    "results: metadata is a list": (results("configs", TASK, "metadata", what=[]), "metadata` is []"),
    "results: provenance is text": (results("configs", TASK, "metadata", "provenance", what="x"), "provenance` is 'x'"),
    "results: provenance of numbers": (
        results("configs", TASK, "metadata", "provenance", "edition", what=7),
        "provenance.edition` is 7, expected a valid string",
    ),
    "results: versions is a number": (results("versions", what=2), "`versions` is 2"),
    "results: a version is an object": (results("versions", TASK, what={}), f"`versions.{TASK}.float` is {{}}"),
    "results: a size is a fraction": (results("n-samples", TASK, "effective", what=1.5), "effective` is 1.5"),
    "results: a size below 0": (results("n-samples", TASK, "original", what=-8), "greater than or equal to 0"),
    "results: a size of 10^18": (results("n-samples", TASK, "effective", what=10**18), "less than or equal to"),
    "results: sizes of 10^9": (
        results("n-samples", TASK, what={"effective": 10**9, "original": 10**9}),
        "999999992 of 1000000000 documents are missing: 8, 9, 10",
    ),
    "results: config is a list": (results("config", what=[1]), "`config` is [1]"),
    "results: a limit of text": (results("config", "limit", what="2"), "`config.limit` is '2'"),
    "results: model_args is a number": (results("config", "model_args", what=3), "`config.model_args."),
    "results: effort is a list": (results("config", "tls_corpus", what=[1]), "`config.tls_corpus` is [1]"),
    "results: date is text": (results("date", what="today"), "`date` is 'today', expected a valid number"),
    "results: date is NaN": (results("date", what=float("nan")), "`date` is nan"),
    "results: date in the year 30000": (results("date", what=1e12), "`date` is 1000000000000.0, expected less than"),
    "results: the model is a list": (results("model_name", what=["a"]), "`model_name` is ['a']"),
    "results: groups are a list": (results("group_subtasks", what=["tls"]), "`group_subtasks` is ['tls']"),
    "results: hashes are numbers": (results("task_hashes", TASK, what=1), f"`task_hashes.{TASK}` is 1"),
    "results: a template is a number": (results("chat_template", what=1.5), "`chat_template."),
    "results: the release is a list": (results("lm_eval_version", what=[]), "`lm_eval_version` is []"),
    "samples: empty": (raw(SAMPLES, lambda old: b""), "8 of 8 documents are missing"),
    "samples: cut": (raw(SAMPLES, lambda old: old[:-30]), ":8: not JSON"),
    "samples: a line that is a list": (line(1, lambda old: b"[1]\n"), ":2: expected an object, got list"),
    "samples: not UTF-8": (line(2, lambda old: old[:100] + b"\xc3\x28" + old[100:]), ":3: not UTF-8: byte 100 is 0xc3"),
    "samples: a line twice": (line(1, lambda old: old + old), "document 1 comes again, with the same answer"),
    "samples: doc_id of 10^9": (row("doc_id", what=10**9), "doc_id 1000000000 among 8 documents"),
    "samples: doc_id of 10^400": (row("doc_id", what=10**400), "expected less than or equal to 9007199254740992"),
    "samples: doc_id below 0": (row("doc_id", what=-1), "doc_id -1 among 8 documents"),
    "samples: doc_id is true": (row("doc_id", what=True), ":2: `doc_id` is True"),
    "samples: doc_id twice": (row("doc_id", what=0), "document 0 comes again"),
    "samples: a name twice": (row("doc", "doc_id", what="egypt/0"), ":2: a second document egypt/0"),
    "samples: doc is text": (row("doc", what="x"), ":2: `doc` is 'x', expected a valid dictionary"),
    "samples: doc is empty": (row("doc", what={}), ":2: document 1 can't be scored (KeyError"),
    "samples: the first doc is empty": (row("doc", what={}, number=0), ":1: document 0 can't be scored"),
    "samples: references are a number": (row("doc", "references", what=3), "of document egypt/1 differ"),
    "samples: a doc of numbers": (row("doc", what={"doc_id": [1], "topic": {"a": 1}}), "can't be scored"),
    "samples: answer is text": (row("filtered_resps", what="x"), ":2: `filtered_resps` is 'x'"),
    "samples: answers of objects": (row("filtered_resps", what=[{"a": [1]}]), "in the results, rescored"),
    "samples: arguments are text": (row("arguments", what="x"), ":2: `arguments."),
    "samples: a prompt of objects": (row("arguments", "gen_args_0", "arg_0", what={"a": 1}), "prompt_hash of document"),
    "samples: filter is a list": (row("filter", what=["none"]), ":2: `filter` is ['none']"),
    "samples: a hash is null": (row("doc_hash", what=None), ":2: `doc_hash` is None"),
    "samples: target is a list": (row("target", what=[1]), "target_hash of document"),
    "manifest: a list": (raw("manifest.json", lambda old: b"[]"), "expected an object, got list"),
    "manifest: too long": (raw("manifest.json", lambda old: old + b" " * (1 << 20)), "more than 1 MiB"),
    "manifest: format is text": (manifest("format", what="1"), "`format` is '1'"),
    "manifest: the model is an object": (manifest("model", what={}), "`model` is {}"),
    "manifest: a hash is a number": (manifest("files", "model-index.yml", what=1), "`files.model-index.yml` is 1"),
    "manifest: a climbing path": (manifest("files", "../../secret", what="0" * 64), "file: ../../secret is missing"),
    "manifest: no chat template": (manifest("chat_template", what="no"), "`chat_template` is 'no'"),
    "folder: no manifest": (lambda folder: (folder / "manifest.json").unlink(), "no manifest.json"),
    "folder: a link": (lambda folder: (folder / "run" / "l").symlink_to("/etc/hosts"), "run/l is a link"),
    "folder: a link to a folder": (lambda folder: (folder / "l").symlink_to(folder.parent), "l is a link"),
    "folder: a pipe": (
        lambda folder: os.mkfifo(folder / "run" / "p"),
        "run/p is a link, pipe or device, expected a file",
    ),
    "folder: a name with an escape": (lambda folder: (folder / "a\x1b[2J").touch(), r"the name 'a\x1b[2J' leads out"),
    "folder: a name that is not UTF-8": (
        lambda folder: (folder / os.fsdecode(b"a\xff")).touch(),
        r"the name 'a\udcff' leads out",
    ),
    "folder: too many files": (
        lambda folder: [(folder / f"f{n}").touch() for n in range(archive.MOST_FILES + 1)],
        "more than 1,000 files",
    ),
    "folder: too large": (
        lambda folder: os.truncate(_made(folder / "hole"), archive.MOST_BYTES + 1),  # sparse: no disk is used
        "more than 2,048 MiB unpacked",
    ),
}


def _made(path):
    path.touch()
    return path


def entry(name="x", content=b"x", kind=0, **fields):
    """A zip with one more entry."""

    def make(path):
        info = zipfile.ZipInfo(name)
        info.external_attr = kind << 16
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(info, content, fields.get("method", zipfile.ZIP_DEFLATED))

    return make


def bits(at, value):
    """A flag set in the first entry of the zip's list of files."""

    def make(path):
        content = bytearray(path.read_bytes())
        place = content.index(b"PK\x01\x02") + at
        content[place : place + 2] = struct.pack("<H", value)
        path.write_bytes(bytes(content))

    return make


def damaged(path):
    content = bytearray(path.read_bytes())
    content[100:140] = bytes(40)
    path.write_bytes(bytes(content))


def many(path):
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(archive.MOST_FILES + 1):
            packed.writestr(f"f{number}", "")


def long_list(path):
    with zipfile.ZipFile(path, "w") as packed:
        for number in range(6_000):
            packed.writestr(f"{number:0200}", "")


def lying_bomb(path):
    """Its list of files says 10 bytes; there are 64 MiB."""
    content = bytes(64 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("manifest.json", content)
    packed_bytes = bytearray(path.read_bytes())
    place = packed_bytes.index(b"PK\x01\x02") + 24
    packed_bytes[place : place + 4] = struct.pack("<I", 10)
    packed_bytes[14:18] = packed_bytes[place - 8 : place - 4] = struct.pack("<I", zlib.crc32(content[:10]))
    path.write_bytes(bytes(packed_bytes))


ZIPS = {
    "zip: text": (lambda path: path.write_text("no zip"), "not a zip that tls-tasks submit wrote"),
    "zip: cut": (lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a zip that tls-tasks submit wrote"),
    "zip: damaged": (damaged, "not a zip that tls-tasks submit wrote"),
    "zip: no manifest": (lambda path: zipfile.ZipFile(path, "w").close(), ".zip left out: no manifest.json"),
    "zip: encrypted": (bits(8, 1), "is encrypted"),
    "zip: an unknown method": (bits(10, 99), "is packed by method 99, expected deflate or none"),
    "zip: bzip2": (entry(method=zipfile.ZIP_BZIP2), "x is packed by method 12"),
    "zip: climbing": (entry("../x"), "the name '../x' leads out of the submission"),
    "zip: deep folders": (entry("/".join("a" * 1900)), "lies more than 20 folders deep"),
    "zip: absolute": (entry("/tmp/x"), "the name '/tmp/x' leads out"),
    "zip: a drive": (entry("C:\\x"), "leads out of the submission"),
    "zip: a long name": (entry("a" * 300), "leads out of the submission"),
    "zip: a link": (entry(kind=0o120777, content=b"/etc/hosts"), "x is a link, pipe or device, expected a file"),
    "zip: a name twice": (entry("manifest.json"), "can't be unpacked: File exists"),
    "zip: a name in capitals": (entry("Manifest.JSON"), "file: Manifest.JSON is not in the manifest"),
    "zip: a file as a folder": (entry("manifest.json/x"), "can't be unpacked: File exists"),
    "zip: many files": (many, "more than 1,000 files"),
    "zip: a long list": (long_list, "its list of files is longer than 1 MiB"),
    "zip: a bomb": (entry(content=bytes(64 << 20)), "x: unpacked more than 200 times as large as the zip"),
    "zip: a bomb that lies": (lying_bomb, "manifest.json"),
    "place: a pipe": (
        lambda path: (path.unlink(), os.mkfifo(path)),
        "a link, pipe or device, expected a folder or zip",
    ),
    "place: a link": (lambda path: (path.unlink(), path.symlink_to("/etc")), "a link, pipe or device, expected"),
    "place: nothing": (lambda path: path.unlink(), "no such file or folder"),
}


@pytest.fixture(scope="module")
def board(good, tmp_path_factory):
    """One call of the leaderboard with the good submission among all malformed ones: code, reasons by case, page."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("sent")
    places = {}
    for number, (case, (spoil, _)) in enumerate({**FOLDERS, **ZIPS}.items()):
        places[case] = place = folder / (f"{number:03}" + (".zip" if case in ZIPS else ""))
        if case in ZIPS:
            shutil.copy(f"{good}.zip", place)
        else:
            shutil.copytree(good, place)
        spoil(place)
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        code = main(["leaderboard", *map(str, places.values()), str(good), "-o", str(folder / "site")])
    for case in ("folder: a pipe", "place: a pipe", "folder: too large"):
        shutil.rmtree(places[case]) if places[case].is_dir() else places[case].unlink()
    reasons = {
        case: [text for text in err.getvalue().splitlines() if text.startswith(f"tls-tasks leaderboard: {place} left")]
        for case, place in places.items()
    }
    return code, reasons, (folder / "site" / "index.html").read_text(encoding="utf-8"), err.getvalue()


def test_the_board_is_written_with_the_good_submission_in_it(board):
    code, _, page, err = board
    assert len(FOLDERS) + len(ZIPS) >= 60
    assert code == 1 and page.count('<th scope="row">acme/good</th>') == 2
    assert "Traceback" not in err and "\x1b" not in err


@pytest.mark.parametrize("case", [*FOLDERS, *ZIPS])
def test_a_malformed_submission_is_refused_with_its_reason(board, case):
    _, reasons, _, _ = board
    assert reasons[case], "not left out"
    assert any({**FOLDERS, **ZIPS}[case][1] in reason for reason in reasons[case]), reasons[case]
    assert not any("please report" in reason for reason in reasons[case]), reasons[case]


def test_rows_are_limited_while_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "samples.jsonl"
    path.write_text("{}\n" * 5)
    monkeypatch.setattr(archive, "MOST_ROWS", 4)
    with pytest.raises(DataError, match=r"samples.jsonl: more than 4 rows"):
        archive.check_rows(path)
    assert len(logs.read_samples(path).problems) == 6  # one's own log may have any number of rows
    monkeypatch.setattr(logs, "MOST_BYTES", 2)
    with pytest.raises(DataError, match=r"samples.jsonl:1: a row of more than"):
        logs.read_samples(path)


def test_what_the_harness_says_of_tasks_of_others_is_left_out():
    content = json.dumps({"results": {"mine": {"x,none": [1]}, "other": 3}, "date": 1, "configs": {"other": 7}})
    read = foreign.read_results(content.encode(), ["mine"])
    assert read["results"] == {"mine": {"x,none": [1]}} and read["configs"] == {}
