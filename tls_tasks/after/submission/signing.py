"""Who submitted: a signature of the manifest by an SSH key, made and checked by OpenSSH as git does it; no network."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tls_tasks.after.submission import Refusal
from tls_tasks.core.errors import DataError, TlsTasksError

_NAMESPACE = "tls-tasks"
_PROGRAM = "ssh-keygen"
_KEY = re.compile(r"key (SHA256:\S+)")
_NO_KEY = re.compile(r":(\d+): (?:invalid|missing) key")
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed a submission.

    Attributes:
        name: The name that the board's allowed signers bind to the key; empty if there is none.
        key: The key's hash; empty if nothing is signed.
    """

    name: str = ""
    key: str = ""

    def __str__(self) -> str:
        """For people."""
        if self.name:
            return f"signed by {self.name}"
        return f"signed by a key without a name here ({self.key})" if self.key else "unsigned"


def sign(manifest: Path, key: Path) -> None:
    """Sign a manifest; the signature lies beside it.

    Raises:
        TlsTasksError: If OpenSSH is not installed, or it refuses the key.
    """
    done = _run("sign", "-f", str(key), str(manifest), is_asked_for=True)
    if done.returncode != 0:
        raise DataError(f"{key}: {_said(done) or 'ssh-keygen could not sign with it'}")


def check_signing(key: Path) -> None:
    """Refuse to go on where nothing can be signed.

    Raises:
        DataError: If the key is not there.
        TlsTasksError: If OpenSSH is not installed.
    """
    if not key.is_file():
        raise DataError(f"{key}: no such key")
    _check_openssh()


def _check_openssh() -> None:
    if shutil.which(_PROGRAM) is None:
        raise TlsTasksError(f"signatures need OpenSSH's {_PROGRAM}, which is not installed (package openssh-client)")


def signer_of(manifest: Path, allowed: Path | None) -> tuple[Signer, list[Refusal]]:
    """Who signed a manifest, and what is wrong with the signature.

    Args:
        manifest: The file; its signature lies beside it, if there is one.
        allowed: Whose keys are known, in OpenSSH's format of allowed signers: ``ORG ssh-ed25519 AAAA…`` a line.

    Raises:
        DataError: If the file of allowed signers is not there.
        TlsTasksError: If there is a signature and OpenSSH is not installed.
    """
    if allowed is not None and not allowed.is_file():
        raise DataError(f"{allowed}: no such file of allowed signers")
    signature = manifest.with_name(f"{manifest.name}.sig")
    if not signature.is_file():
        return Signer(), []
    of_signature = ("-s", str(signature))
    content = manifest.read_bytes()
    made = _run("check-novalidate", *of_signature, content=content)
    if made.returncode != 0:
        advice = "ask the submitter for the archive as it was written"
        return Signer(), [Refusal("signature", f"it is not one of this manifest: {_said(made)}", advice)]
    match = _KEY.search(made.stdout.decode(errors="replace"))
    key = match[1] if match else "unknown"
    if allowed is None:
        return Signer("", key), []
    known = _run("find-principals", *of_signature, "-f", str(allowed))
    if wrong := _NO_KEY.search(known.stderr.decode(errors="replace")):
        raise DataError(f"{allowed}:{wrong[1]}: no key in this line, expected ORG ssh-ed25519 AAAA…")
    for name in known.stdout.decode(errors="replace").split():
        if _run("verify", *of_signature, "-f", str(allowed), "-I", name, content=content).returncode == 0:
            return Signer(name, key), []
    return Signer("", key), []


def bound_names(allowed: Path | None) -> set[str]:
    """The names that allowed signers bind to keys.

    Raises:
        DataError: If the file can't be read.
    """
    if allowed is None:
        return set()
    try:
        lines = allowed.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise DataError(f"{allowed}: can't be read as allowed signers: {error}") from error
    return {name for line in lines if (own := line.split()) and own[0][0] != "#" for name in own[0].split(",")}


def _run(
    action: str, *arguments: str, content: bytes = b"", is_asked_for: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run OpenSSH; without input of ours it may ask on the terminal for a key's passphrase."""
    _check_openssh()
    named = () if action == "find-principals" else ("-n", _NAMESPACE)
    command = [_PROGRAM, "-Y", action, *named, *arguments]
    source: dict[str, Any] = {} if is_asked_for else {"input": content, "timeout": _SECONDS}
    return subprocess.run(command, capture_output=True, check=False, **source)  # noqa: S603 - a program, no shell


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(done.stderr.decode(errors="replace").split())
