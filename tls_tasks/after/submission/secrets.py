"""Secrets in the files that a submission would publish."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.secrets import secret_in, secret_values

_ADVICE = "give secrets by the name of an environment variable, run again, and change what has been written to a file"


def secrets(paths: Iterable[Path]) -> Iterator[Refusal]:
    """The first line of each file that holds what looks like a secret, or a secret of this environment.

    Args:
        paths: Text files.
    """
    values = secret_values(os.environ)
    for path in paths:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for line, text in enumerate(lines, start=1):
                kind = next((f"the value of {name}" for value, name in values.items() if value in text), "")
                if kind := kind or secret_in(text):
                    yield Refusal("secret", f"{path}:{line} holds {kind} (not shown)", _ADVICE)
                    break
