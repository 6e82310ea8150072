"""Submissions: one that was changed somewhere is refused in words, or nobody reads what was changed.

The forger signs again: the manifest has the hashes of the changed files. What is still accepted has the numbers that
its answers have, and is called verified only with the documents of the maintainer's data.
"""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.after.conftest import make_chat_runs
from tests.after.test_malformed import sign_again
from tests.conftest import made_once
from tests.fuzz.parts import changed, changed_bytes, fuzzed
from tls_tasks.after.submission import archive
from tls_tasks.after.submission.verification import AGAINST_DATA, verify_submission
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

TASK = "summ_qmsum"  # of those in the runs the one that is scored soonest


@pytest.fixture(scope="module")
def sent(tmp_path_factory):
    """A submission that holds, to be changed and put right again; with its zip and its data beside it."""
    pytest.importorskip("lm_eval")
    pytest.importorskip("tenacity")
    runs = made_once(tmp_path_factory, "chat", make_chat_runs)
    folder = tmp_path_factory.mktemp("submission")
    for file in (runs / "good").rglob("*"):
        if TASK in file.name or file.name.startswith("results_"):
            (folder / "run").mkdir(exist_ok=True)
            shutil.copy(file, folder / "run")
    for out in ("sent", "sent.zip"):
        assert main(["submit", str(folder / "run"), "-o", str(folder / out)]) == 0
    shutil.copytree(runs / "data" / TASK, folder / "data" / TASK)
    documents = documents_of(verified(folder / "sent"))
    assert verified(folder / "sent").level == AGAINST_DATA and documents
    return folder / "sent", documents


def verified(folder):
    return verify_submission(folder, data=str(folder.parent / "data"))


def documents_of(found):
    return [(sample.doc, sample.request) for task in found.scored for sample in task.log.samples]


def check(folder, documents):
    """Whether it is refused in words, or what is accepted holds; returns whether it is accepted."""
    try:
        found = verified(folder)
    except DataError as error:
        assert str(folder) in str(error)
        return False
    if found.refusals:
        assert all(str(refusal) for refusal in found.refusals)
        return False
    (task,) = found.scored
    assert not task.disagreements and task.reported
    assert found.level != AGAINST_DATA or documents_of(found) == documents
    return True


@pytest.mark.parametrize("pattern", ["run/results_*", f"run/samples_{TASK}_*", "manifest.json"])
@fuzzed(12)
@given(signs=st.booleans(), data=st.data())
def test_one_file_changed(sent, pattern, signs, data):
    folder, documents = sent
    (path,) = folder.glob(pattern)
    manifest = folder / "manifest.json"
    before, manifest_before = path.read_bytes(), manifest.read_bytes()
    lines = before.splitlines() if path.suffix == ".jsonl" else [before]
    place = data.draw(st.integers(0, len(lines) - 1))
    if data.draw(st.booleans()):
        lines[place] = json.dumps(data.draw(changed(json.loads(lines[place])))).encode()
    else:
        lines[place] = data.draw(changed_bytes(lines[place]))
    try:
        path.write_bytes(b"\n".join(lines) + b"\n")
        if signs and path != manifest:
            sign_again(folder)
        is_other = path.read_bytes() != before  # a value may have been replaced with its like
        accepted = check(folder, documents)
        assert not (accepted and is_other) or signs or path == manifest
    finally:
        path.write_bytes(before)
        manifest.write_bytes(manifest_before)


@fuzzed(12)
@given(data=st.data())
def test_a_zip_that_was_changed(sent, tmp_path_factory, data):
    folder, _ = sent
    path = folder.with_suffix(".fuzzed.zip")
    path.write_bytes(data.draw(changed_bytes(folder.with_suffix(".zip").read_bytes())))
    scratch = tmp_path_factory.mktemp("unpacked")
    try:
        unpacked, _ = archive.unpacked(path, scratch)
        found, _ = archive.verify(unpacked)
        files = {one.relative_to(unpacked): one.read_bytes() for one in unpacked.rglob("*") if one.is_file()}
    except DataError as error:
        assert str(path) in str(error) or str(scratch) in str(error)
        return
    assert found or files == {one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
