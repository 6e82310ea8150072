"""The order in which a task's data is looked for, whatever the data is.

1. ``--metadata '{"data": …}'``: what a user names must work.
2. ``TLS_TASKS_DATA``: a folder with a folder a data set.
3. The hub.
4. The embedded edition: small, written by us, and not comparable with anything published. It says so.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from tls_tasks.core.errors import DataError, InputError, OptionError

EDITIONS = ("local", "hub", "embedded")
"""Where data can come from: a folder or file of the user's, the hub, this package."""

DATA_VARIABLE = "TLS_TASKS_DATA"
EMBEDDED = Path(__file__).parent / "embedded"
HUB_ID = re.compile(r"([\w.-]+/[\w.-]+?)(?:@([\w./-]+))?")
"""``org/name`` or ``org/name@revision``."""

_log = logging.getLogger(__name__)
_warned: set[str] = set()


class EmbeddedEditionWarning(UserWarning):
    """The numbers of this run can't be compared with published ones: the data is our small embedded edition."""


class Wanted(Protocol):
    """What must be known of a data set to look for it."""

    @property
    def name(self) -> str:
        """Name of the task and of the embedded edition."""

    @property
    def title(self) -> str:
        """The field's name of it."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Names that its folder has where people keep it."""

    @property
    def obtain(self) -> str:
        """How to get the original, a sentence without capital and full stop."""


class Found(Protocol):
    """What was found of a data set."""

    @property
    def edition(self) -> str:
        """One of :data:`EDITIONS`."""

    @property
    def origin(self) -> str:
        """Folder, file, or hub repository with revision."""


FoundT = TypeVar("FoundT", bound=Found)


def take_first(
    wanted: Wanted,
    named: Callable[[], FoundT] | None,
    steps: Mapping[str, Callable[[], FoundT | str]],
    edition: str | None,
) -> FoundT:
    """Take a data set from the first source that has it.

    Args:
        wanted: The data set.
        named: Reads what the user named; no other source is tried. None if the user named nothing.
        steps: Edition -> reads it, or says in words why it isn't there.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If no source has it, or the edition that was asked for isn't there; says how to get the data.
        OptionError: If there is no such edition.
    """
    if edition is not None and edition not in EDITIONS:
        raise OptionError.unknown("edition", edition, EDITIONS)
    if named is not None:
        return _accept(wanted, named(), edition)
    passed_over = []
    for step in EDITIONS if edition is None else (edition,):
        found = steps[step]()
        if not isinstance(found, str):
            return _accept(wanted, found, edition)
        passed_over.append(found)
    raise DataError(f"{wanted.name}: no data: {'; '.join(passed_over)}. {_advice(wanted)}")


def folder_names(wanted: Wanted) -> Sequence[str]:
    """The names that the data set's folder may have."""
    return (wanted.name, *wanted.folders)


def own_folder(wanted: Wanted, parent: Path) -> Path | None:
    """The data set's folder in ``parent``."""
    return next((parent / name for name in folder_names(wanted) if (parent / name).is_dir()), None)


def edition_of(folder: Path) -> str:
    """``embedded`` for what lies in this package, so that nothing passes it off as the real data; else ``local``."""
    return "embedded" if EMBEDDED in folder.resolve().parents else "local"


def refuse_other(wanted: Wanted, folder: Path, known: Iterable[Wanted]) -> None:
    """Refuse a folder that is named like another data set, so that no task scores another one's data by mistake.

    Raises:
        DataError: If it is.
    """
    name = folder.resolve().name
    owner = next((entry.name for entry in known if name in folder_names(entry)), None)
    if owner is not None and owner != wanted.name:
        raise DataError(f"{folder}: this folder is named like {owner}, not {wanted.name}")


def whole_number(option: str, value: object) -> int:
    """An option's value, if it is a whole number above 0.

    Raises:
        InputError: If it isn't.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(option, None, repr(value), "a whole number above 0")
    return value


def pass_over(wanted: Wanted, reason: str) -> str:
    """Log why a source that might have had the data is passed over, and return the reason."""
    _log.warning("%s: going on to the next source: %s", wanted.name, reason)
    return reason


def _accept(wanted: Wanted, found: FoundT, edition: str | None) -> FoundT:
    if edition is not None and found.edition != edition:
        raise DataError(f"{found.origin}: is the {found.edition} edition, but {edition} was asked for")
    if found.edition == "embedded":
        _warn_embedded(wanted)
    return found


def _warn_embedded(wanted: Wanted) -> None:
    """Once a process and data set: a group loads the same one twice, with articles and closed-book."""
    if wanted.name in _warned:
        return
    _warned.add(wanted.name)
    warnings.warn(
        f"{wanted.name} runs on the EMBEDDED EDITION: a few texts written for tls-tasks, good for trying things out. "
        f"Its numbers must not be compared with published ones and can't be submitted. {_advice(wanted)}",
        EmbeddedEditionWarning,
        stacklevel=2,
    )


def _advice(wanted: Wanted) -> str:
    return (
        f"For the real {wanted.title}: {wanted.obtain}, then set {DATA_VARIABLE}=<folder with {wanted.folders[0]} in "
        f'it> or pass --metadata \'{{"data": "<folder>"}}\'.'
    )
