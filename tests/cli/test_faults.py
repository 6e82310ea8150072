"""What a machine may do to a command: a full disk, a place that can't be written, a signal, another process.

For each command that writes: what it writes is there as a whole or not at all, what was there before is as it was, the
message names the file that was asked for, and the same command works when the fault is gone.
"""

import contextlib
import json
import re
import shutil
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.after.conftest import make_chat_runs
from tests.cli.conftest import refused, write
from tests.cli.test_prepare_repo import sources
from tests.cli.test_reports import serve
from tests.conftest import made_once
from tests.fault_parts import SIGNALS, contents, end, own_disk, read_only, start
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.reports.judges import VerdictCache
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.types import Verdict

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

__all__ = ["serve", "sources"]

# Command -> its words, and what it writes; a folder ends in /.
COMMANDS = CASES["COMMANDS"]
MOST = [name for name in COMMANDS if name != "score -o"]
"""Those to which everything is done; the other writes by the same means, and starts processes of its own."""

_OLD = b"{}"  # what an output held before
_MAY_STAND = re.compile(r"(.*/)?\.[^/]+\.[0-9a-f]{8}(/.*)?")
"""What SIGKILL leaves: names that nothing reads."""


@pytest.fixture(scope="module")
def words(tmp_path_factory, sources):
    """A command's words, with inputs that are really there."""
    runs = made_once(tmp_path_factory, "chat", make_chat_runs)
    made = tmp_path_factory.mktemp("inputs")
    for name in ("good", "worse"):  # of one task, which is scored soonest
        for file in (runs / name).rglob("*"):
            if "summ_qmsum" in file.name or file.name.startswith("results_"):
                (made / name).mkdir(exist_ok=True)
                shutil.copy(file, made / name)
    assert main(["submit", str(runs / "good"), "-o", str(made / "sent")]) == 0
    texts = [f"Talks of round {n} ended." for n in range(20)]
    write(made / "answers.jsonl", *({"prediction": text, "reference": "Talks ended."} for text in texts))
    write(made / "documents.jsonl", *({"id": f"d{n}", "text": text} for n, text in enumerate(texts)))
    sentences = [{"text": text, "citations": [f"d{n}"]} for n, text in enumerate(texts)]
    write(made / "reports.jsonl", {"request_id": "1", "run_id": "a", "sentences": sentences})
    nuggets = [{"question_text": "What ended?", "gold_answers": {"talks": ["d1"]}}]
    write(made / "nuggets.jsonl", {"request_id": "1", "items": nuggets})
    said = [{"kind": "citation_support", "sentence": one["text"], "doc_id": one["citations"][0]} for one in sentences]
    asked = {"kind": "nugget_agreement", "question": "What ended?", "answer": "talks"}
    rows = [*said, *({**asked, "sentence": text} for text in texts)]
    write(made / "verdicts.jsonl", *({**row, "verdict": "YES"} for row in rows))

    def of(command, out, **more):
        told = COMMANDS[command][0] if command in COMMANDS else command
        return [word.format(runs=runs, made=made, sources=sources, out=out, **more) for word in told.split()]

    return of


@pytest.fixture(scope="module")
def wanted(words, tmp_path_factory):
    """What a command writes where nothing goes wrong."""
    kept = {}

    def of(command):
        if command not in kept:
            out = tmp_path_factory.mktemp("whole") / "out"  # of the same name: some files say where they lie
            out.mkdir()
            assert end(start(words(command, out), out.parent / "log")) == 0, (out.parent / "log").read_text()
            kept[command] = contents(out)
        return kept[command]

    return of


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture
def said(tmp_path):
    return lambda: (tmp_path / "log").read_text(encoding="utf-8")


@contextlib.contextmanager
def disk(folder, *, is_full=False):
    with own_disk(folder, is_full=is_full) as mounted:
        if mounted is None:
            pytest.skip("no disk can be mounted here: only root may")
        yield mounted


def put_old(command, out):
    """Something where a file will be written, and nothing where a folder will."""
    files = [name for name in COMMANDS[command][1] if not name.endswith("/")]
    for name in files:
        (out / name).write_bytes(_OLD)
    return dict.fromkeys(files, _OLD)


def is_named(text, out, command):
    """Whether the last line is of the file that was asked for, and of no unfinished one."""
    last = text.splitlines()[-1]
    is_asked_for = any(str(out / name.rstrip("/")) in last for name in COMMANDS[command][1])
    return last.startswith("tls-tasks ") and is_asked_for and not re.search(r"\.[0-9a-f]{8}\b", last)


@pytest.mark.parametrize(("command", "signal"), [*product(MOST, SIGNALS), ("score -o", "SIGKILL")])
def test_a_signal(command, signal, words, wanted, out, said, tmp_path):
    number, code = SIGNALS[signal]
    old = put_old(command, out)
    assert end(start(words(command, out), tmp_path / "log", signalled=number)) == code, said()
    assert "Traceback" not in said()
    found = contents(out)
    left = [name for name in found if _MAY_STAND.fullmatch(name)]
    assert {name: found[name] for name in found if name not in left} == old
    assert bool(left) == (signal == "SIGKILL")
    if left:  # what is left is in nobody's way
        assert end(start(words(command, out), tmp_path / "log")) == 0, said()
        assert set(contents(out)) - set(left) == set(wanted(command))


@pytest.mark.parametrize("command", MOST)
def test_a_file_that_may_not_grow(command, words, out, said, tmp_path):
    """A limit of the system on the size of a file, or a quota: writing stops in the middle."""
    old = put_old(command, out)
    assert end(start(words(command, out), tmp_path / "log", small_files=True)) == 2, said()
    assert is_named(said(), out, command), said()
    assert contents(out) == old


@pytest.mark.parametrize("command", [*MOST, "score -o"])
def test_a_full_disk(command, words, wanted, said, tmp_path):
    with disk(tmp_path / "out", is_full=True) as out:
        assert end(start(words(command, out), tmp_path / "log")) == 2, said()
        assert is_named(said(), out, command), said()
        assert contents(out) == {}
        (out / "filler").unlink()
        assert end(start(words(command, out), tmp_path / "log")) == 0, said()
        assert contents(out).keys() == wanted(command).keys()


@pytest.mark.parametrize("command", MOST)
def test_a_place_that_is_only_read(command, words, said, tmp_path):
    with disk(tmp_path / "out") as out:
        old = put_old(command, out)
        read_only(out)
        assert end(start(words(command, out), tmp_path / "log")) == 2, said()
        assert is_named(said(), out, command), said()
        assert contents(out) == old


@pytest.mark.parametrize("command", MOST)
def test_a_place_below_a_file(command, words, out, said, tmp_path):
    (out / "file").write_bytes(_OLD)
    assert end(start(words(command, out / "file" / "below"), tmp_path / "log")) == 2, said()
    assert str(out / "file") in said().splitlines()[-1] and contents(out) == {"file": _OLD}


@pytest.mark.parametrize("command", [*MOST, "score -o"])
def test_two_processes(command, words, wanted, out, tmp_path):
    """Of two that write the same folder one may say that it is not empty; what is there is whole."""
    both = [start(words(command, out), tmp_path / f"log{n}") for n in range(2)]
    codes = sorted(map(end, both))
    assert codes[0] == 0 and codes[1] in ((0, 2) if COMMANDS[command][1][-1].endswith("/") else (0,))
    assert contents(out).keys() == wanted(command).keys()


# ---- what is read


DAMAGED = CASES["DAMAGED"]


@pytest.mark.parametrize("command", DAMAGED)
def test_a_file_that_is_cut(command, words, out, tmp_path, capsys):
    cut = tmp_path / "cut.parquet"
    pq.write_table(pa.table({"id": ["d1", "d2"], "text": ["Talks.", "Ended."], "summary": ["a", "b"]}), cut)
    cut.write_bytes(cut.read_bytes()[:-100])
    name, *arguments = words(DAMAGED[command], out, cut=cut)
    refused(name, capsys, *arguments, said=f"{name}: {cut}")
    assert contents(out) == {}


@contextlib.contextmanager
def spoiled(fault, folder):
    """A place for a cache of verdicts in which none can be kept."""
    place = folder / "cache" / "verdicts.sqlite"
    if fault == "below a file":
        place.parent.write_bytes(b"")
        yield place
    elif fault in ("no cache", "cut", "overwritten"):
        place.parent.mkdir()
        with contextlib.closing(VerdictCache(place)) as cache:
            for n in range(200):
                cache.store(f"{n:064}", Verdict(True, raw="YES"))
        whole = place.read_bytes()
        put = {"no cache": b"text, and more of it " * 300, "cut": whole[: len(whole) // 2 + 7]}
        place.write_bytes(put.get(fault, whole[:4096] + bytes(len(whole) - 4096)))
        yield place
    else:
        with disk(place.parent, is_full=fault == "full disk") as mounted:
            if fault == "only read":
                read_only(mounted)
            yield place


@pytest.mark.parametrize("fault", ["below a file", "no cache", "cut", "overwritten", "full disk", "only read"])
def test_a_cache_of_verdicts_that_can_not_be_kept_is_said_before_anything_is_asked(
    fault, words, serve, out, tmp_path, capsys
):
    server = serve()
    with spoiled(fault, tmp_path) as cache:
        name, *arguments = words(CASES["CACHED"], out, url=server.url, cache=cache)
        refused(name, capsys, *arguments, said=f"tls-tasks reports: {cache}: cache of verdicts: ")
        with pytest.raises(DataError, match=r"cache of verdicts: .*; name another file as `cache`") as caught:
            check_judge({"base_url": server.url, "model": "m", "cache": str(cache)})  # as a task is loaded
        assert str(caught.value).startswith(f"{cache}: ")
    assert not server.requests and contents(out) == {}
