"""The table in docs/evidence_schemes.md is what its script makes today; every difference has a reason."""

import importlib.util

import pytest

from tests.conftest import ROOT

pytest.importorskip("nervaluate", reason="the extra bench is not installed")


def test_the_table_is_todays():
    path = ROOT / "benchmarks" / "evidence_schemes.py"
    spec = importlib.util.spec_from_file_location("evidence_schemes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    document = (ROOT / "docs" / "evidence_schemes.md").read_text(encoding="utf-8")
    assert "\n".join(module.tables()) in document, "run python benchmarks/evidence_schemes.py"
