"""The notebooks of examples/: each runs from top to bottom, and its stored outputs are what it prints today."""

import json
import re

import pytest

from tests.conftest import ROOT, SHARED
from tests.data.test_fetched import made_up_copy, only, put_real
from tls_tasks.cli import main
from tls_tasks.timelines.data import PUBLIC

EXAMPLES = sorted((ROOT / "examples").glob("*.ipynb"))


def test_the_readme_lists_them():
    listed = re.findall(r"\]\((.+?)\.ipynb\)", (ROOT / "examples" / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in EXAMPLES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_small_and_tells_nothing_of_the_machine_that_ran_it(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 60_000
    outputs = [cell["outputs"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert any(outputs)
    telling = ('"error"', '"stderr"', "/home/", "/work/", "/tmp/", "127.0.0.1:")
    assert not any(word in json.dumps(outputs) for word in telling)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "paper_table"], ids=lambda path: path.stem)
def test_it_prints_what_is_stored(path):
    assert again(path) == stored(path)


@pytest.mark.slow
def test_the_table_prints_what_is_stored(mirror, monkeypatch, capsys):
    """On what the command fetches from a mirror: the real files of both topics, or made-up ones where those are absent.

    The command stands before the notebook, since only this process knows that the other topics' files are not there.
    """
    is_real = (SHARED / "data").is_dir()
    for name, topic in (("tls_crisis", "yemen"), ("tls_timeline17", "h1n1")):
        if is_real:
            missing = put_real(mirror, SHARED / "data", name)
            paths = {file.path for one in PUBLIC[name].sources for file in one.files} - set(missing)
            copy = only(PUBLIC[name], paths)
        else:
            places = [(source.repository, source.commit) for source in PUBLIC[name].sources]
            copy = made_up_copy(mirror, name, topic, places)
        monkeypatch.setitem(PUBLIC, name, copy)
        assert main(["fetch", name]) == 0
    path = ROOT / "examples" / "paper_table.ipynb"
    printed = again(path)
    if is_real:
        assert printed == stored(path)


def again(path):
    pytest.importorskip("nbclient", reason="nbclient runs the notebooks")
    from scripts.run_examples import executed, printed

    return printed(executed(path))


def stored(path):
    import nbformat

    from scripts.run_examples import printed

    return printed(nbformat.read(path, as_version=4))
