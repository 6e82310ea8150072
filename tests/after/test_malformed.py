"""Whatever a stranger sends is one refused row with its reason, and the board is written with the good one in it."""

import contextlib
import io
import json
import os
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from tests.after.conftest import change_json, change_rows, only, put, sign_again
from tests.cli.conftest import write
from tls_tasks.after import foreign, logs
from tls_tasks.after.submission import archive
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.fixture(scope="module")
def good(chat_runs, tmp_path_factory):
    """A submission that holds, as a folder and as the zip beside it."""
    folder = tmp_path_factory.mktemp("good") / "good"
    for out in (str(folder), f"{folder}.zip"):
        assert main(["submit", str(chat_runs / "good"), "-o", out]) == 0
    return folder


def changed(name, change):
    """A file changed, and the manifest made to fit it: what is read next is the malformed file itself."""

    def spoil(folder):
        change(only(folder, FILES[name]))
        if name != "manifest":
            sign_again(folder)

    return spoil


def putting(name, keys, value):
    """A file with another value somewhere; of the samples the first key is the row."""
    change = change_rows if name == "samples" else change_json
    return changed(name, lambda path: change(path, put(*keys, value=value)))


def raw(name, change):
    """The bytes of a file changed."""
    return changed(name, lambda path: path.write_bytes(change(path.read_bytes())))


def line(number, change):
    """A line of the samples changed."""

    def spoiled(old):
        lines = old.splitlines(keepends=True)
        lines[number] = change(lines[number])
        return b"".join(lines)

    return raw("samples", spoiled)


def hole(path, size):
    """A file of this size that uses no disk."""
    os.truncate(write(path), size)


FILES = {"results": "results_*", "samples": "samples_tls_crisis_*", "manifest": "manifest.json"}
DEEP = b"[" * 500 + b"]" * 500

FOLDERS = {
    **{case: (putting(name, keys, value), words) for case, name, keys, value, words in CASES["PUT"]},
    "results: no object": (raw("results", lambda old: b"[]"), "expected an object, got list"),
    "results: empty": (raw("results", lambda old: b""), "not JSON"),
    "results: UTF-16": (raw("results", lambda old: old.decode().encode("utf-16")), "not UTF-8: byte 0"),
    "results: deep": (raw("results", lambda old: b'{"results": ' + DEEP + b"}"), "more than 100 deep"),
    "results: very deep": (raw("results", lambda old: b"[" * 200_000), "not JSON"),
    "results: a long number": (raw("results", lambda old: b'{"date": ' + b"9" * 5000 + b"}"), "not JSON"),
    "results: a key twice": (
        raw("results", lambda old: b'{"date": 1,' + old[1:]),
        "a key stands twice in an object: date, ",
    ),
    "samples: a key twice": (
        line(1, lambda old: b'{"doc_id": 7,' + old[1:]),
        ":2: a key stands twice in an object: doc_id, ",
    ),
    "manifest: a key twice": (
        raw("manifest", lambda old: b'{"model": "acme/x",' + old[1:]),
        "a key stands twice in an object: model, ",
    ),
    "samples: empty": (raw("samples", lambda old: b""), "8 of 8 documents missing"),
    "samples: cut": (raw("samples", lambda old: old[:-30]), ":8: not JSON"),
    "samples: a line that is a list": (line(1, lambda old: b"[1]\n"), ":2: expected an object, got list"),
    "samples: not UTF-8": (line(2, lambda old: old[:100] + b"\xc3\x28" + old[100:]), ":3: not UTF-8: byte 100 is 0xc3"),
    "samples: a line twice": (line(1, lambda old: old + old), "document 1 comes again, with the same answer"),
    "samples: doc_id of 10^400": (putting("samples", [1, "doc_id"], 10**400), "less than or equal to 9007199254740992"),
    "manifest: a list": (raw("manifest", lambda old: b"[]"), "expected an object, got list"),
    "folder: no manifest": (lambda folder: (folder / "manifest.json").unlink(), "no manifest.json"),
    "folder: a link": (lambda folder: (folder / "run/l").symlink_to("/etc/hosts"), "run/l is a link"),
    "folder: a link to a folder": (lambda folder: (folder / "l").symlink_to(folder.parent), "l is a link"),
    "folder: a pipe": (lambda folder: os.mkfifo(folder / "run/p"), "run/p is a link, pipe or device, expected a file"),
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
        lambda folder: [hole(folder / f"run/samples_{n}", 1 << 30) for n in range(3)],
        "more than 2,048 MiB unpacked",
    ),
    "manifest: too long": (lambda folder: hole(folder / "manifest.json", 9 << 20), "bytes, at most 1,048,576 are read"),
    "results: too long": (lambda folder: hole(folder / "run/results_x", 17 << 20), "bytes, at most 16,777,216 are"),
    "samples: too long": (lambda folder: hole(folder / "run/samples_x", 1 << 31), "bytes, at most 1,073,741,824 are"),
    "signature: too long": (
        lambda folder: (folder / "manifest.json.sig").write_text("A" * (8 << 20)),
        "manifest.json.sig has 8,388,608 bytes, at most 16,384 are read",
    ),
}


def entry(name="x", content=b"x", kind=0, method=zipfile.ZIP_DEFLATED):
    """A zip with one more entry."""

    def make(path):
        info = zipfile.ZipInfo(name)
        info.external_attr = kind << 16
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(info, content, method)

    return make


def names(texts):
    """A zip of empty files only."""

    def make(path):
        with zipfile.ZipFile(path, "w") as packed:
            for text in texts:
                packed.writestr(text, "")

    return make


def patch(path, start, piece):
    content = path.read_bytes()
    path.write_bytes(content[:start] + piece + content[start + len(piece) :])


def bits(at, value):
    """A flag set in the first entry of the zip's list of files."""
    return lambda path: patch(path, path.read_bytes().index(b"PK\x01\x02") + at, struct.pack("<H", value))


def lying_bomb(path):
    """Its list of files says 10 bytes; there are 64 MiB."""
    content = bytes(64 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("manifest.json", content)
    listed = path.read_bytes().index(b"PK\x01\x02")
    patch(path, listed + 24, struct.pack("<I", 10))
    for start in (14, listed + 16):
        patch(path, start, struct.pack("<I", zlib.crc32(content[:10])))


ZIPS = {
    "zip: text": (lambda path: path.write_text("no zip"), "not a zip that tls-tasks submit wrote"),
    "zip: cut": (lambda path: path.write_bytes(path.read_bytes()[:-200]), "not a zip that tls-tasks submit wrote"),
    "zip: damaged": (lambda path: patch(path, 100, bytes(40)), "not a zip that tls-tasks submit wrote"),
    "zip: no manifest": (lambda path: zipfile.ZipFile(path, "w").close(), ".zip left out: no manifest.json"),
    "zip: encrypted": (bits(8, 1), "is encrypted"),
    "zip: an unknown method": (bits(10, 99), "is packed by method 99, expected deflate or none"),
    "zip: bzip2": (entry(method=zipfile.ZIP_BZIP2), "x is packed by method 12"),
    "zip: climbing": (entry("../x"), "the name '../x' leads out of the submission"),
    "zip: deep folders": (entry("/".join("a" * 1900)), "lies more than 3 folders deep"),
    "zip: absolute": (entry("/tmp/x"), "the name '/tmp/x' leads out"),
    "zip: a drive": (entry("C:\\x"), "leads out of the submission"),
    "zip: a long name": (entry("a" * 300), "leads out of the submission"),
    "zip: a link": (entry(kind=0o120777, content=b"/etc/hosts"), "x is a link, pipe or device, expected a file"),
    "zip: a name twice": (entry("manifest.json"), "can't be unpacked: File exists"),
    "zip: a name in capitals": (entry("Manifest.JSON"), "file: Manifest.JSON is not in the manifest"),
    "zip: a file as a folder": (entry("manifest.json/x"), "can't be unpacked: File exists"),
    "zip: many files": (names(f"f{n}" for n in range(archive.MOST_FILES + 1)), "more than 1,000 files"),
    "zip: a long list": (names(f"{n:0200}" for n in range(6_000)), "its list of files is longer than 1 MiB"),
    "zip: a bomb": (entry(content=bytes(64 << 20)), "x has 67,108,864 bytes, at most 1,048,576 are read"),
    "zip: a long signature": (
        entry("manifest.json.sig", b"A" * (8 << 20)),
        "manifest.json.sig has 8,388,608 bytes, at most 16,384 are read",
    ),
    "zip: a bomb that lies": (lying_bomb, "manifest.json"),
    "place: a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "a link, pipe or device, expected a folder or"),
    "place: a link": (lambda path: (path.unlink(), path.symlink_to("/etc")), "a link, pipe or device, expected"),
    "place: nothing": (lambda path: path.unlink(), "no such file or folder"),
}


@pytest.fixture(scope="module")
def board(good, tmp_path_factory):
    """One call of the leaderboard with the good submission among all malformed ones: code, reasons by case, page."""
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
    assert code == 1 and page.count('<th scope="row">acme/good</th>') == 2 * 2  # in the ranking and in all results
    assert "Traceback" not in err and "\x1b" not in err


@pytest.mark.parametrize("case", [*FOLDERS, *ZIPS])
def test_a_malformed_submission_is_refused_with_its_reason(board, case):
    _, reasons, _, _ = board
    assert reasons[case], "not left out"
    assert any({**FOLDERS, **ZIPS}[case][1] in reason for reason in reasons[case]), reasons[case]
    assert not any("please report" in reason for reason in reasons[case]), reasons[case]


def test_rows_are_limited_while_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "run" / "samples_x.jsonl"
    path.parent.mkdir()
    path.write_text("{}\n" * 5)
    monkeypatch.setattr(archive, "MOST_ROWS", 4)
    with pytest.raises(DataError, match=r"more than 4 rows"):
        archive.count_rows(tmp_path)
    assert len(logs.read_samples(path).problems) == 6  # one's own log may have any number of rows
    monkeypatch.setattr(logs, "MOST_BYTES", 2)
    with pytest.raises(DataError, match=r"samples_x.jsonl:1: a row of more than"):
        logs.read_samples(path)


def test_what_the_harness_says_of_tasks_of_others_is_left_out():
    content = json.dumps({"results": {"mine": {"x,none": [1]}, "other": 3}, "date": 1, "configs": {"other": 7}})
    read = foreign.read_results(content.encode(), ["mine"])
    assert read["results"] == {"mine": {"x,none": [1]}} and read["configs"] == {}
