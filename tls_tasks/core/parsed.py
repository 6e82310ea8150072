"""What every parser of model text returns."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

DETAIL_LENGTH = 80
"""Characters of model text kept in a problem's detail."""

_NOT_IN_NAMES = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing in a model's text that could not be taken as it stood.

    Attributes:
        kind: What sort of trouble, a fixed word of the parser's (``invalid_date``, ``repeated_date`` …); counted.
        detail: The text concerned, shortened: for people, never parsed.
    """

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """A parsed value and what was wrong on the way.

    Attributes:
        value: The typed object; None if nothing at all could be read (a parse failure). An empty object is a value.
        problems: Everything that was dropped, repaired or merged, in the order of the text.

    Example:
        >>> parsed = Parsed((1, 2), (Problem("invalid_date", "2011-13-45"),))
        >>> parsed.failed, parsed.counts()
        (False, {'invalid_date': 1})
    """

    value: T | None
    problems: tuple[Problem, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether nothing at all could be read."""
        return self.value is None

    def counts(self) -> dict[str, int]:
        """How often each kind of problem occurred."""
        return dict(Counter(problem.kind for problem in self.problems))


def problem(kind: str, text: str) -> Problem:
    """A problem with its text shortened and made safe to write (a lone surrogate can't be encoded).

    Example:
        >>> problem("invalid_date", " " + "soon " * 100).detail[-9:]
        'oon soon…'
    """
    detail = text[: 4 * DETAIL_LENGTH].strip()
    if len(detail) > DETAIL_LENGTH:
        detail = detail[: DETAIL_LENGTH - 1] + "…"
    return Problem(kind, detail.encode("utf-8", "replace").decode("utf-8"))


def problem_kinds(*readers: str) -> Mapping[str, str]:
    """Each kind of problem that readers report -> what it means: those of a family, of ``json``, and of any text.

    Example:
        >>> problem_kinds("trees", "json")["wrapped"]
        'a wrapper was taken off'
    """
    known = json.loads(Path(__file__).with_name("problem_kinds.json").read_text(encoding="utf-8"))
    return {kind: meaning for reader in (*readers, "text") for kind, meaning in known[reader].items()}


def folded(name: str) -> str:
    """A name without what does not tell names apart: case, blanks, hyphens and underscores.

    Example:
        >>> folded("Last night"), folded("last_night"), folded("lastNight")
        ('lastnight', 'lastnight', 'lastnight')
    """
    return _NOT_IN_NAMES.sub("", name).casefold()
