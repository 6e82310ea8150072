"""Secrets in the files that a submission would publish."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from tls_tasks.after.conditions import model_arguments, stated_metadata
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.archive import packed_files
from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.errors import InputError
from tls_tasks.core.secrets import check_no_secret, secret_in, secret_values

_ADVICE = "give secrets by the name of an environment variable, run again, and change what has been written to a file"


# Settings of tokenisers, no secrets whatever they end in.
_SPECIAL = re.compile(r"(add_)?(bos|eos|pad|unk|sep|cls|mask)_token")


def secrets(scored: Sequence[ScoredTask]) -> Iterator[Refusal]:
    """What looks like a secret in a run's options, or in a line of its files; and secrets of this environment there."""
    for task in scored:
        options = {**stated_metadata(task.name, task.results), **model_arguments(task.results)}
        try:
            check_no_secret({key: value for key, value in options.items() if not _SPECIAL.fullmatch(key)}, task.name)
        except InputError as error:
            yield Refusal("secret", f"{task.run.results}: {error.field} holds {error.got}", _ADVICE)
    values = secret_values(os.environ)
    for path in packed_files(scored):
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for line, text in enumerate(lines, start=1):
                kind = next((f"the value of {name}" for value, name in values.items() if value in text), "")
                if kind := kind or secret_in(text):
                    yield Refusal("secret", f"{path}:{line} holds {kind} (not shown)", _ADVICE)
                    break
