"""Intervals of scores that are a function of sums."""

import math

import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.core.intervals import bootstrap_interval, bootstrap_results, total_of


class TestAdditive:
    class Accuracy:
        units = (*({"right": n % 3, "of": 1 + n % 5} for n in range(9)), {"right": 0, "of": 0})

        def results(self, totals):
            return {"accuracy": totals["right"] / totals["of"] if totals["of"] else math.nan}

    def test_intervals_hold_the_result_and_are_the_seeds(self):
        low, high = bootstrap_results(self.Accuracy(), n_resamples=500)["accuracy"]
        assert 0 < low < self.Accuracy().results(total_of(self.Accuracy.units))["accuracy"] < high < 1
        again = bootstrap_results(self.Accuracy(), n_resamples=500)
        assert again == {"accuracy": (low, high)} != bootstrap_results(self.Accuracy(), n_resamples=500, seed=1)

    def test_the_same_resamples_as_any_other_statistic(self):
        values = [0.0, 0.25, 0.5, 1.0]

        class Mean:
            units = tuple({"value": value, "n": 1} for value in values)

            def results(self, totals):
                return {"mean": totals["value"] / totals["n"]}

        expected = bootstrap_interval(4, lambda rows: sum(values[row] for row in rows) / 4, n_resamples=300)
        assert bootstrap_results(Mean(), n_resamples=300)["mean"] == expected

    def test_nothing_has_no_interval(self):
        with pytest.raises(InputError, match="0 items"):
            bootstrap_results(type("Empty", (), {"units": ()})())
