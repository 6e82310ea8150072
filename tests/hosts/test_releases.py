"""Releases of lm-eval that we mend: what is said of one that nobody has tried."""

import pytest

pytest.importorskip("lm_eval")

from tls_tasks.hosts import releases


@pytest.mark.parametrize("change", [("api.nowhere", "", "f", str), ("api", "", "no_such_function", str)])
def test_of_a_release_that_was_never_tried_one_line_is_said_and_the_run_goes_on(monkeypatch, caplog, change):
    monkeypatch.setattr(releases, "_changes", lambda: [change])
    releases.mend.cache_clear()
    with pytest.raises((AttributeError, ImportError)):
        releases.mend()
    monkeypatch.setattr(releases, "version", lambda name: "0.7.0")
    releases.mend()
    releases.mend()
    assert [text.split(" (")[0] for text in caplog.messages] == ["lm-eval 0.7.0 was never tried with tls-tasks"]
