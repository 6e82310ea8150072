"""Recordings: what judges have said, one line per question; and the judge that says it again.

A line of a recording::

    {"kind": "nugget_agreement", "key": "3f…", "fields": {"sentence": …, "question": …, "answer": …},
     "about": {"request_id": "300", "sentence": 3}, "verdict": "YES", "reason": "", "raw": "Yes.", "probability": null,
     "judge": "openai/gpt-x,prompts:1a2b3c4d"}

``key`` is a hash of kind and fields, so that the line needs no document. Lines written by hand are shorter: ``kind``,
``sentence``, what else identifies the question (``doc_id``, or ``question`` and ``answer``), and ``verdict``;
``request_id``, ``run_id`` and ``scope`` restrict a verdict to where they match.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.rows import describe
from tls_tasks.reports.files import read_objects, write_rows
from tls_tasks.reports.judges.verdicts import read_verdict, shorten
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

KIND_NAMES: Mapping[str, str] = {
    **{kind: kind for kind in QUERY_KINDS},
    "citation_relevance": "citation_support",
    "check_relevance": "citation_support",
    "check_negative": "negative",
}
"""Kinds as recordings name them, those of report_gen_eval included -> ours."""

# Kind -> what identifies a question in a line without a key, and what may restrict a verdict to some reports.
_IDENTIFYING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(QUERY_KINDS, ("sentence",)),
    "citation_support": ("doc_id", "sentence"),
    "nugget_agreement": ("sentence", "question", "answer"),
}
_RESTRICTIONS = ("request_id", "run_id", "scope")
_WORDS = {True: "YES", False: "NO", None: None}

_Key = tuple[Any, ...]


class _Recorded(NamedTuple):
    place: str
    attempts: tuple[Any, ...]
    verdict: Verdict


class Recorded:
    """A judge that repeats what was recorded.

    Args:
        rows: Lines of a recording, long or short. ``attempts`` holds what the judge said
            before ``verdict``; the last one that can be read counts.
        defaults: Kind -> verdict (YES or NO) for the questions that no line answers.
        name: For the signature; by default the judges that the lines name, or ``recorded``.
        places: Where the lines are, for errors.

    Raises:
        InputError: A line that can't be read, or two lines that contradict each other.

    Example:
        >>> judge = Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}])
        >>> known, unknown = (Query("negative", {"sentence": text}) for text in ("Nobody knows.", "It rains."))
        >>> [(verdict.value, verdict.reason) for verdict in judge.ask([known, unknown])]
        [(True, ''), (None, 'missing')]
    """

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
        places: Iterable[str] | None = None,
    ) -> None:
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise InputError("judge", None, describe(rows), "a list of lines of a recording")
        self._recorded: dict[_Key, _Recorded] = {}
        judges: dict[str, None] = {}
        for place, row in zip(places or (f"judge[{number}]" for number in count()), rows, strict=False):
            if not isinstance(row, Mapping):
                raise InputError(place, None, describe(row), "a line of a recording: a dict")
            self._add(row, place)
            if isinstance(row.get("judge"), str):
                judges[row["judge"]] = None
        self._defaults = {
            _kind(kind, "defaults"): _recorded({"verdict": word}, "defaults") for kind, word in (defaults or {}).items()
        }
        self.name = name or "+".join(judges) or "recorded"

    @classmethod
    def read(cls, path: str | Path, *, defaults: Mapping[str, Any] | None = None, name: str | None = None) -> Recorded:
        """The judge of a recording in a JSON Lines file.

        Raises:
            DataError: A file or a line that can't be read; names file and line.
        """
        rows = list(read_objects(Path(path)))
        try:
            return cls([row for _, row in rows], defaults=defaults, name=name, places=[place for place, _ in rows])
        except InputError as error:
            raise DataError(str(error)) from error

    def __len__(self) -> int:
        """How many verdicts it knows."""
        return len(self._recorded)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; ``missing`` where nothing is recorded."""
        found = [self._find(query) for query in queries]
        return [Verdict(None, "missing") if recorded is None else recorded.verdict for recorded in found]

    def tries(self, query: Query) -> tuple[Any, ...]:
        """What was said at the first, second … try, word by word; empty where nothing is recorded.

        Example:
            >>> row = {"kind": "negative", "sentence": "s", "attempts": ["Well"], "verdict": "YES."}
            >>> Recorded([row]).tries(Query("negative", {"sentence": "s"}))
            ('Well', 'YES.')
        """
        found = self._find(query)
        return () if found is None else found.attempts

    def _find(self, query: Query) -> _Recorded | None:
        for key in _keys(query):
            if key in self._recorded:
                return self._recorded[key]
        return self._defaults.get(query.kind)

    def _add(self, row: Mapping[str, Any], place: str) -> None:
        key, new = _key(row, place), _recorded(row, place)
        known, value = self._recorded.get(key), new.verdict.value
        if known is None or known.verdict.value is None:
            if known is None or value is not None:
                self._recorded[key] = new
        elif value not in (None, known.verdict.value):
            said = f"{_WORDS[value]} to a {key[1]} question to which {known.place} says {_WORDS[known.verdict.value]}"
            raise InputError(place, None, said, "the verdicts of one judge")


class Recorder:
    """Passes questions on to a judge and keeps what it says: every judged run is a recording.

    Args:
        judge: The judge to ask.

    Example:
        >>> recorder = Recorder(Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}]))
        >>> _ = recorder.ask([Query("negative", {"sentence": "Nobody knows."})])
        >>> [(row["kind"], row["verdict"]) for row in recorder.rows()]
        [('negative', 'YES')]
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._asked: list[tuple[Query, Verdict]] = []

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """What the judge says."""
        verdicts = list(self.judge.ask(queries))
        self._asked += zip(queries, verdicts, strict=True)
        return verdicts

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the recording, in the order of asking."""
        return [record(query, verdict, self.judge.name) for query, verdict in self._asked]

    def write(self, path: str | Path) -> int:
        """Write the recording; returns how many lines it has."""
        return write_rows(Path(path), self.rows())


def record(query: Query, verdict: Verdict, judge: str) -> dict[str, Any]:
    """One line of a recording.

    Args:
        query: The question.
        verdict: The answer.
        judge: The judge's name.
    """
    return {
        "kind": query.kind,
        "key": _question_key(query.kind, query.fields),
        "fields": {name: text for name, text in query.fields.items() if name != "document"},  # the key stands for it
        "about": dict(query.about),
        "verdict": _WORDS[verdict.value],
        "reason": verdict.reason,
        "raw": verdict.raw,
        "probability": verdict.probability,
        "judge": judge,
    }


def _question_key(kind: str, fields: Mapping[str, str]) -> str:
    """A hash of a question, whoever is asked and in whatever words.

    Example:
        >>> _question_key("negative", {"sentence": "s"}) == _question_key("negative", {"sentence": "s"})
        True
    """
    return hashlib.sha256(json.dumps([kind, sorted(fields.items())]).encode()).hexdigest()


def _keys(query: Query) -> list[_Key]:
    """Where a query's verdict may be recorded, the most specific first."""
    parts = {**query.about, **query.fields}
    identity = "fields", query.kind, *(parts.get(name) for name in _IDENTIFYING.get(query.kind, ()))
    restrictions = (dict.fromkeys((_text(query.about.get(name)), None)) for name in _RESTRICTIONS)
    key = "key", query.kind, _question_key(query.kind, query.fields)
    return [key, *((*identity, *fit) for fit in product(*restrictions))]


def _key(row: Mapping[str, Any], place: str) -> _Key:
    """Where a line is kept."""
    kind = _kind(row.get("kind"), place)
    if isinstance(row.get("key"), str):
        return "key", kind, row["key"]
    fields, about = (value if isinstance(value := row.get(name), Mapping) else {} for name in ("fields", "about"))
    parts = {**about, **row, **fields}
    for name in _IDENTIFYING[kind]:
        if not isinstance(parts.get(name), str):
            raise InputError(f"{place}: {name}", None, describe(parts.get(name)), "a str, or a key or fields")
    identity = (parts[name] for name in _IDENTIFYING[kind])
    return "fields", kind, *identity, *(_text(parts.get(name)) for name in _RESTRICTIONS)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _kind(kind: Any, place: str) -> str:
    if not isinstance(kind, str) or kind not in KIND_NAMES:
        raise OptionError.unknown(f"{place}: kind", kind, KIND_NAMES)
    return KIND_NAMES[kind]


def _recorded(row: Mapping[str, Any], place: str) -> _Recorded:
    """The verdict of a line: the last attempt that can be read."""
    attempts = row.get("attempts")
    said = (*(attempts if isinstance(attempts, list) else ()), row.get("verdict"))
    if "verdict" not in row or any(word is not None and not isinstance(word, str | bool) for word in said):
        got = describe(row["verdict"]) if "verdict" in row else "nothing"
        raise InputError(f"{place}: verdict", None, got, "YES, NO, null or the words of a judge")
    values = [read_verdict(word) if isinstance(word, str) else word for word in said]
    chosen = next((index for index in reversed(range(len(said))) if values[index] is not None), -1)
    value, word = values[chosen], said[chosen]
    reason = "" if value is not None else row.get("reason") or ("missing" if word is None else "unreadable")
    probability = row.get("probability")
    known = probability if isinstance(probability, float | int) and not isinstance(probability, bool) else None
    raw = row.get("raw", word if isinstance(word, str) else "")
    return _Recorded(place, said, Verdict(value, str(reason), shorten(str(raw)), known, cached=True))
