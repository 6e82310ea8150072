"""A judge on loopback for the tests."""

import pytest

from tests.reports.judges.server import Server


@pytest.fixture
def serve():
    """Starts servers: ``serve(answer, latency=…)``; they end with the test."""
    servers = []

    def start(*arguments, **options):
        servers.append(Server(*arguments, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """The client waits for half a second and more between its tries."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
