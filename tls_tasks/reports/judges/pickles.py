"""The look-up files of report_gen_eval: pickled dicts, read without running anything in them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NoReturn

from tls_tasks.core.errors import DataError


class _DataOnly(pickle.Unpickler):
    """Builds what the instructions of a pickle can build by themselves: text, numbers, lists, dicts and the like.

    Functions and classes would be fetched by :meth:`find_class`; without them nothing can be called.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which plain data don't need; nothing in it was run")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("it refers to an object outside; nothing in it was run")


def read_lookup(path: Path) -> dict[str, Any]:
    """A pickled dict with string keys.

    Raises:
        DataError: A file that can't be read, or that holds anything but plain data.
    """
    try:
        with path.open("rb") as file:
            lookup = _DataOnly(file).load()
    except Exception as error:  # damaged pickles raise almost anything
        raise DataError(f"{path}: not readable as a pickled dict: {error}") from error
    if not isinstance(lookup, dict) or not all(isinstance(key, str) for key in lookup):
        raise DataError(f"{path}: not a pickled dict with string keys")
    return lookup
