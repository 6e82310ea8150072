"""What every parser of model text returns."""

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_Frame = re.Pattern[str] | None

DETAIL_LENGTH = 80
"""Characters of model text kept in a problem's detail."""

_NOT_IN_NAMES = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
_NAMES = re.compile(r"(?:.*[_-])?(?:q?id|title|heading|name|type|role|status|tool|function|model|language)s?|.*[a-z]Id")
"""Keys whose values say what an answer or a part of it is called."""


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


def unread(pieces: Iterable[str], read: str = "", frame: _Frame = None, mark: str = "") -> Iterator[Problem]:
    """What a reader left out: the pieces of a text with a word that is nowhere in what was read.

    Args:
        pieces: The pieces.
        read: All the words that were read.
        frame: What in a piece is only a frame; then a piece before the first that was read is a ``remark``.
        mark: A sign before the first piece on its line, if the piece does not begin the line as headings do.

    Example:
        >>> for noted in unread(["Oh.", "- tea", "- tea or cake"], "Tea", re.compile("-")):
        ...     print(noted.kind, noted.detail)
        remark Oh.
        unread - tea or cake
    """
    known, begun = set(_WORD.findall(read.lower())), frame is None
    known_or_nothing = known | {"n", "a", "null"}
    for piece in pieces:
        words = _WORD.findall((frame.sub(" ", mark + piece) if frame else piece).lower())
        mark = ""
        begun = begun or not known.isdisjoint(words)
        if not known_or_nothing.issuperset(words):
            yield problem("unread" if begun else "remark", piece)


def unread_in(value: Any, read: Any, but_for: Container[str] = ()) -> Iterator[Problem]:
    """The texts in a JSON value of which nothing was read, but for metadata, ids, titles and the like, and these keys.

    Example:
        >>> wrapper = {"run_id": "my run", "note": "Not sure.", "result": {"drink": "tea"}}
        >>> [noted.detail for noted in unread_in(wrapper, {"drink": "tea"})]
        ['Not sure.']
    """

    def is_frame(key: Any, inner: Any) -> bool:
        is_name = _NAMES.fullmatch(str(key)) is not None and not isinstance(inner, Mapping)
        return is_name or key == "metadata" or key in but_for

    texts = (leaf for leaf in leaves(value, is_frame) if isinstance(leaf, str))
    return unread(texts, "\n".join(map(str, leaves(read))))


def leaves(value: Any, is_frame: Callable[[Any, Any], bool] = lambda key, inner: False) -> Iterator[Any]:
    """The scalars in a value, in order, but for those in a frame, which is a key and what is under it."""
    waiting = [value]  # no recursion: JSON may be nested deeper than Python goes
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            inner = [child for key, child in inner.items() if not is_frame(key, child)]
        if isinstance(inner, list | tuple):
            waiting += inner[::-1]
        else:
            yield inner


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
