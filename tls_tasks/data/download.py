"""One file over HTTP: by size and hash, resumed where it was cut off, and never half there."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import secrets
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError

Report = Callable[[int], None]
"""Takes how many bytes have arrived; less than 0 where a file is begun anew."""

_ATTEMPTS = 4  # for a server that stops in the middle; each one but the first asks for the rest
_TIMEOUT = 30  # seconds without a byte
_BLOCK = 1 << 16
_BY_HAND = "get the data by hand (tls-tasks list --obtain says how)"


def sha256_of(file: Path) -> str:
    """The hash of a file in hexadecimal; empty if there is no such file."""
    if not file.is_file():
        return ""
    with file.open("rb") as content:
        digest = hashlib.sha256()
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def download(url: str, target: Path, size: int, sha256: str, report: Report = lambda n_bytes: None) -> None:
    """Put a file at ``target``, unless it is there already.

    What arrives goes into a file of this process's own, which takes the name ``target`` when it is whole and its hash
    is right: processes that download the same file don't disturb each other. What a failure leaves is kept as
    ``NAME.part``, and the next call goes on from there.

    Args:
        url: Where from: https, or http from a mirror.
        target: The file.
        size: How many bytes it has; no more are read.
        sha256: Its hash.
        report: Called as bytes arrive.

    Raises:
        DataError: If it can't be had; one line that says why and what to do.
        OSError: If it can't be written.
    """
    if sha256_of(target) == sha256:
        report(size)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    kept = target.with_name(f"{target.name}.part")
    own = target.with_name(f"{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    with contextlib.suppress(FileNotFoundError):
        kept.rename(own)  # of several processes one gets it
    try:
        _receive(url, own, size, sha256, report)
        own.replace(target)
    finally:
        if own.exists():
            if own.stat().st_size:
                own.replace(kept)
            else:
                own.unlink()


class _CutOffError(Exception):
    """The connection ended too early."""


def _receive(url: str, own: Path, size: int, sha256: str, report: Report) -> None:
    reason = ""
    for _ in range(_ATTEMPTS):
        start = own.stat().st_size if own.exists() else 0
        if start >= size:
            own.unlink()
            start = 0
        report(start)
        try:
            resumed = _append(url, own, start, size, report)
        except _CutOffError as error:
            reason = str(error)
            report(-own.stat().st_size if own.exists() else 0)
            continue
        found = sha256_of(own)
        if found == sha256:
            return
        own.unlink()
        report(-size)
        if not resumed:
            raise DataError(
                f"{url}: its sha256 is {found}, but {sha256} is pinned: not the file that this release knows, and "
                f"was not kept; try again, and if it stays like this {_BY_HAND}"
            )
        reason = "what had arrived before was damaged"
    n_bytes = own.stat().st_size if own.exists() else 0
    raise DataError(
        f"{url}: broke off {_ATTEMPTS} times, the last time with {n_bytes:,} of {size:,} bytes ({reason}); what has "
        "arrived is kept: run the same command again to go on"
    )


def _append(url: str, own: Path, start: int, size: int, report: Report) -> bool:
    """Fetch what is missing; whether it was added to something.

    Raises:
        _CutOffError: If it ended too early, and can be gone on with.
        DataError: If the server refuses, can't be reached, or sends too much.
    """
    headers = {"User-Agent": "tls-tasks", **({"Range": f"bytes={start}-"} if start else {})}
    try:
        response = _opener(url).open(urllib.request.Request(url, headers=headers), timeout=_TIMEOUT)  # noqa: S310 - see _opener
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            own.unlink()
            raise _CutOffError("the server could not go on in the middle") from error
        raise DataError(f"{url}: HTTP {error.code} {error.reason}; {_advice(error.code)}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{url}: can't be reached: {' '.join(str(reason).split()) or type(error).__name__}; check the network, or "
            "set TLS_TASKS_MIRROR to a mirror"
        ) from error
    with response:
        resumed = start > 0 and response.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and not str(response.headers.get("Content-Range")).startswith(f"bytes {start}-"):
            own.unlink()
            raise _CutOffError("the server went on at another place")
        if start and not resumed:
            report(-start)
        coming = str(response.headers.get("Content-Length", ""))
        if coming.isdigit() and int(coming) + (start if resumed else 0) != size:
            own.unlink(missing_ok=True)
            raise DataError(
                f"{url}: would be {int(coming) + (start if resumed else 0):,} bytes, but {size:,} are pinned: not "
                f"the file that this release knows; {_BY_HAND}"
            )
        with own.open("ab" if resumed else "wb") as file:
            n_bytes = start if resumed else 0
            while block := _read(response):
                n_bytes += len(block)
                if n_bytes > size:
                    file.truncate(0)
                    raise DataError(f"{url}: sends more than the {size:,} bytes that are pinned; nothing of it is kept")
                file.write(block)
                report(len(block))
    if n_bytes < size:
        raise _CutOffError("the server ended the connection")
    return resumed


def _read(response: Any) -> bytes:
    try:
        block: bytes = response.read(_BLOCK)
    except (OSError, http.client.HTTPException) as error:
        raise _CutOffError(f"{type(error).__name__}: {error}") from error
    return block


def _advice(status: int) -> str:
    if status in {403, 404, 410, 451}:
        return f"it is not there (any more): {_BY_HAND}"
    return "try again later; what has arrived is kept"


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    """Follows no redirect to anything but https."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Refuse what isn't https."""
        if not newurl.startswith("https://"):
            raise urllib.error.URLError(f"redirected to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Opens https, and http where the user's mirror is that; proxies as the environment says."""
    if not url.startswith(("https://", "http://")):
        raise ValueError("not an address that begins with https:// or http://")
    return urllib.request.build_opener(*([_OnlyHttps()] if url.startswith("https://") else []))
