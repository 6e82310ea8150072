"""Tables of peers in the developers' page on tree_eval: what the script makes today."""

import importlib.util

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("tree_peers", ROOT / "benchmarks" / "tree_peers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_todays(peers):
    document = (ROOT / "docs" / "developing" / "tree_eval_options.md").read_text(encoding="utf-8").splitlines()
    for line in peers.table(peers.numbers()):
        assert line in document or "not installed" in line, "run python benchmarks/tree_peers.py"


def test_value_scores_of_the_20_cases(peers):
    found = peers.numbers()
    cases = [(name, kind) for name, kind, *_ in peers.cases()]
    assert len(set(cases)) == 20
    soft, exact = (dict(zip(cases, found[f"`{key}`"], strict=True)) for key in ("f1_value", "f1_value_exact"))
    for tree in peers.TREES:
        assert soft[tree, "silent"] == exact[tree, "silent"] == exact[tree, "wrong"] == 0, tree
        assert soft[tree, "perfect"] == exact[tree, "perfect"] == 1, tree
        # one value of four (of two where two are rightly null), and nothing else
        assert soft[tree, "lazy"] == exact[tree, "lazy"] == pytest.approx(2 / 3 if tree == "nulls" else 2 / 5), tree
        assert soft[tree, "wrong"] < soft[tree, "lazy"], tree
