"""One file over HTTP: by size and hash, and never half there."""

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path

from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import replaced

_TIMEOUT = 30  # seconds without a byte
_BY_HAND = "get the data by hand (tls-tasks list --obtain says how)"


def sha256_of(file: Path) -> str:
    """The hash of a file in hexadecimal; empty if there is no such file."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def download(url: str, target: Path, size: int, sha256: str) -> None:
    """Put a file at ``target``, unless it is there already.

    Args:
        url: Where from: https, or http from a mirror.
        target: The file, which gets its name when it is whole and its hash is right.
        size: How many bytes it has; no more are read.
        sha256: Its hash.

    Raises:
        DataError: If it can't be had; one line that says why and what to do.
        OSError: If it can't be written.
    """
    if sha256_of(target) == sha256:
        return
    content = _content(url, size)
    if len(content) < size:
        problem = f"the connection ended after {len(content):,} of {size:,} bytes"
        raise DataError(f"{url}: {problem}; run the same command again: it goes on from here")
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        problem = f"its sha256 is {found}, but {sha256} is pinned: not the file that this release knows, and not kept"
        raise DataError(f"{url}: {problem}; try again, and if it stays like this {_BY_HAND}")
    with replaced(target) as file:
        file.write_bytes(content)


def _content(url: str, size: int) -> bytes:
    """The bytes of a file; too few if the connection ended too early.

    Where redirects lead does not matter: the bytes are pinned.

    Raises:
        DataError: If the server refuses, can't be reached, or sends too many bytes.
    """
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "tls-tasks"})  # noqa: S310 - https, or a mirror
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:  # noqa: S310
            content: bytes = response.read(size + 1)
    except urllib.error.HTTPError as error:
        gone = error.code in {403, 404, 410, 451}
        advice = f"it is not there (any more): {_BY_HAND}" if gone else "try again later"
        raise DataError(f"{url}: HTTP {error.code} {error.reason}; {advice}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__
        advice = "check the network, or set TLS_TASKS_MIRROR to a mirror"
        raise DataError(f"{url}: can't be reached: {reason}; {advice}") from error
    if len(content) > size:
        problem = f"sends more than the {size:,} bytes that are pinned: not the file that we know"
        raise DataError(f"{url}: {problem}; {_BY_HAND}")
    return content
