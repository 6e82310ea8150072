"""One file over HTTP: hashes, bad servers, and what is left behind. The server is real, on loopback."""

import hashlib

import pytest

from tls_tasks.core.errors import DataError
from tls_tasks.data.fetched import download

CONTENT = bytes(range(256)) * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def get(mirror, tmp_path):
    """Downloads the file ``a/b.bin`` and returns its path."""
    mirror.files["a/b.bin"] = CONTENT

    def run(path="a/b.bin"):
        target = tmp_path / "cache" / "deep" / "b.bin"
        download(mirror.address + path, target, SHA)
        return target

    return run


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())


def test_a_file_arrives_once(get, mirror, tmp_path):
    target = get()
    assert target.read_bytes() == CONTENT
    assert get() == target
    assert len(mirror.asked) == 1, "what is there with the right hash is not asked for again"
    target.write_bytes(b"damaged")
    assert get().read_bytes() == CONTENT
    assert kept(tmp_path) == ["b.bin"]


def test_nothing_is_kept_of_a_server_that_stops(get, mirror, tmp_path):
    mirror.cuts["a/b.bin"] = [2000]
    with pytest.raises(DataError, match=r"a/b.bin: can't be downloaded: ChunkedEncodingError; check the network"):
        get()
    assert kept(tmp_path) == []
    assert get().read_bytes() == CONTENT


def test_another_file_is_refused_and_not_kept(get, mirror, tmp_path):
    mirror.files["a/b.bin"] = CONTENT[::-1]
    with pytest.raises(DataError, match=f"a/b.bin: SHA256 hash .*{SHA}.*Try again, .* get the data by hand"):
        get()
    assert kept(tmp_path) == [] and len(mirror.asked) == 1


def test_a_refusal_says_what_to_do(get, mirror, tmp_path):
    mirror.status["a/b.bin"] = 404
    with pytest.raises(DataError, match=r"a/b.bin: can't be downloaded: HTTP 404; .* or get the data by hand"):
        get()
    assert kept(tmp_path) == []


def test_nobody_there(mirror, tmp_path):
    url = mirror.address
    mirror.shutdown()
    mirror.server_close()
    with pytest.raises(DataError, match=r"can't be downloaded: ConnectionError; .* set TLS_TASKS_MIRROR"):
        download(f"{url}x", tmp_path / "x", SHA)
