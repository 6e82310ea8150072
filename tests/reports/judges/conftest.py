"""Quick retries for the tests of judges, and the judge on loopback, which tests/cli has from here."""

import pytest

from tests.harness_parts import serve

__all__ = ["serve"]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """The client waits for half a second and more between its tries."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
