"""One file over HTTP: hashes, bad servers, and what is left behind. The server is real, on loopback."""

import hashlib

import pytest

from tls_tasks.core.errors import DataError
from tls_tasks.data.fetched import download

CONTENT = bytes(range(256)) * 1000
SIZE = len(CONTENT)
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def get(mirror, tmp_path):
    """Downloads the file ``a/b.bin`` and returns its path."""
    mirror.files["a/b.bin"] = CONTENT

    def run(size=SIZE, path="a/b.bin"):
        target = tmp_path / "cache" / "deep" / "b.bin"
        download(mirror.address + path, target, size, SHA)
        return target

    return run


def left(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache").rglob("*") if path.is_file())


def test_a_file_arrives_once(get, mirror, tmp_path):
    target = get()
    assert target.read_bytes() == CONTENT
    assert get() == target
    assert len(mirror.asked) == 1, "what is there with the right hash is not asked for again"
    target.write_bytes(b"damaged")
    assert get().read_bytes() == CONTENT
    assert left(tmp_path) == ["b.bin"]


def test_nothing_is_kept_of_a_server_that_stops(get, mirror, tmp_path):
    mirror.cuts["a/b.bin"] = [2000]
    with pytest.raises(DataError, match=r"ended after 2,000 of 256,000 bytes; run the same"):
        get()
    assert left(tmp_path) == []
    assert get().read_bytes() == CONTENT


def test_another_file_is_refused_and_not_kept(get, mirror, tmp_path):
    mirror.files["a/b.bin"] = CONTENT[::-1]
    with pytest.raises(DataError, match=rf"a/b.bin: its sha256 is \w{{64}}, but {SHA} is pinned"):
        get()
    assert left(tmp_path) == [] and len(mirror.asked) == 1


def test_a_file_of_another_size_is_refused_and_not_kept(get, mirror, tmp_path):
    with pytest.raises(DataError, match="sends more than the 1,000 bytes"):
        get(size=1000)
    with pytest.raises(DataError, match="after 256,000 of 256,001 bytes"):
        get(size=256_001)
    assert left(tmp_path) == []


@pytest.mark.parametrize(("status", "advice"), [(404, "get the data by hand"), (503, "try again later")])
def test_a_refusal_says_what_to_do(get, mirror, tmp_path, status, advice):
    mirror.status["a/b.bin"] = status
    with pytest.raises(DataError, match=f"a/b.bin: HTTP {status} .*{advice}"):
        get()
    assert left(tmp_path) == []


def test_nobody_there(mirror, tmp_path):
    url = mirror.address
    mirror.shutdown()
    mirror.server_close()
    with pytest.raises(DataError, match=r"can't be reached: .*refused.*TLS_TASKS_MIRROR"):
        download(f"{url}x", tmp_path / "x", 1, SHA)


def test_a_mirror_may_redirect(get, mirror):
    mirror.redirects["old"] = f"{mirror.address}a/b.bin"
    assert get(path="old").read_bytes() == CONTENT
