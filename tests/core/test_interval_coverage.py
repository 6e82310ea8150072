"""How often intervals hold the true value: a small run of benchmarks/interval_coverage.py, with its seed."""

import importlib.util
import sys

import pytest

from tests.conftest import ROOT

N_SAMPLES = 400  # a true coverage of .95 gives .92 or less in two of a thousand runs; this one is seeded


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("interval_coverage", ROOT / "benchmarks" / "interval_coverage.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("n", [8, 20])
@pytest.mark.parametrize("name", ["mean of Beta(5, 2) scores", "ratio, Beta(2, 1) right of 1 + NB asked"])
def test_intervals_hold_the_true_value_as_often_as_they_say(bench, name, n):
    population = next(one for one in bench.populations() if one.name == name)
    assert bench.coverage(population, n, N_SAMPLES) >= 0.92


def test_the_percentile_bootstrap_of_four_does_not(bench):
    """That the simulation can tell: the issue's figure for it is .77."""
    population = next(one for one in bench.populations() if one.name == "mean of Beta(5, 2) scores")
    assert bench.rivals(population, 4, 200)[0] < 0.87
