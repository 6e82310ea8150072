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

from tls_tasks.core.errors import InputError, check_choice, describe
from tls_tasks.data.files import read_objects
from tls_tasks.reports.judges.questions import read_verdict, shorten
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

_KIND_NAMES: Mapping[str, str] = {
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
    "criterion": ("criterion",),
}
_RESTRICTIONS = ("request_id", "run_id", "scope")
PARTS = ("sentence", "doc_id", "question", "answer", "criterion", *_RESTRICTIONS)
"""What tells two questions of a kind apart."""

_WORDS = {True: "YES", False: "NO", None: None}

_Question = tuple[Any, ...]


class Judgment(NamedTuple):
    """A line of a recording: what a judge said to one question.

    Attributes:
        place: Where the line is.
        kind: One of :data:`~tls_tasks.reports.types.QUERY_KINDS`.
        parts: Those of :data:`PARTS` that are known, and ``key``, a hash of the question, if the line has one.
        attempts: What was said at the first, second … try, word by word.
        verdict: That of the last attempt that can be read.
    """

    place: str
    kind: str
    parts: Mapping[str, str]
    attempts: tuple[Any, ...]
    verdict: Verdict

    @property
    def question(self) -> _Question:
        """What identifies the question in a recording.

        Raises:
            InputError: The line lacks one of the parts that identify a question of its kind.
        """
        if "key" in self.parts:
            return self.kind, self.parts["key"]
        for name in _IDENTIFYING[self.kind]:
            if name not in self.parts:
                raise InputError(f"{self.place}: {name}", None, "nothing", "a str, or a key or fields")
        return self.kind, *(self.parts.get(name) for name in (*_IDENTIFYING[self.kind], *_RESTRICTIONS))


def read_judgment(row: Any, place: str) -> Judgment:
    """Read a line of a recording, long or short.

    Raises:
        InputError: Not such a line.

    Example:
        >>> row = {"kind": "check_negative", "sentence": "s", "verdict": "NO."}
        >>> read_judgment(row, "line 1")[:3]
        ('line 1', 'negative', {'sentence': 's'})
    """
    if not isinstance(row, Mapping):
        raise InputError(place, None, describe(row), "a line of a recording: a dict")
    kind: Any = row.get("kind")
    key, attempts = row.get("key"), row.get("attempts")
    check_choice(f"{place}: kind", kind, _KIND_NAMES)
    about, fields = (value if isinstance(value := row.get(name), Mapping) else {} for name in ("about", "fields"))
    known = {**about, "sentence": None, **row, **fields}  # about.sentence is a number, not the text
    parts = {name: str(known[name]) for name in PARTS if known.get(name) is not None}
    if isinstance(key, str) and key:
        parts["key"] = key
    answers = (*(attempts if isinstance(attempts, list) else ()), row.get("verdict"))
    fits = (answer is None or isinstance(answer, str | bool) for answer in answers)
    if "verdict" not in row or not all(fits):
        got = describe(row["verdict"]) if "verdict" in row else "nothing"
        raise InputError(f"{place}: verdict", None, got, "YES, NO, null or the words of a judge")
    said = [(read_verdict(answer) if isinstance(answer, str) else answer, answer) for answer in reversed(answers)]
    value, answer = next((pair for pair in said if pair[0] is not None), said[0])
    reason = "" if value is not None else str(row.get("reason") or ("missing" if answer is None else "unreadable"))
    raw, probability = str(row.get("raw", answer if isinstance(answer, str) else "")), row.get("probability")
    if isinstance(probability, bool) or not isinstance(probability, float | int):
        probability = None
    verdict = Verdict(value, reason, shorten(raw), probability, cached=True)
    return Judgment(place, _KIND_NAMES[kind], parts, answers, verdict)


class Recorded:
    """A judge that repeats what was recorded.

    Args:
        rows: Lines of a recording, long or short. ``attempts`` holds what the judge said
            before ``verdict``; the last one that can be read counts.
        defaults: Kind -> verdict (YES or NO) for the questions that no line answers.
        name: For the signature; by default the judges that the lines name, or ``recorded`` and a hash of the
            verdicts. ``defaults`` are added to it.
        places: Where the lines are, for errors.

    Raises:
        InputError: A line that can't be read.

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
        self._judgments: dict[_Question, Judgment] = {}
        judges: dict[str, None] = {}
        for place, row in zip(places or (f"judge[{number}]" for number in count()), rows, strict=False):
            judgment = read_judgment(row, place)
            kept = self._judgments.setdefault(judgment.question, judgment)
            if kept.verdict.value is None:  # of several lines the first with a verdict counts
                self._judgments[judgment.question] = judgment
            if isinstance(row.get("judge"), str):
                judges[row["judge"]] = None
        assumed = ({"kind": kind, "verdict": verdict} for kind, verdict in (defaults or {}).items())
        self._defaults = {judgment.kind: judgment for row in assumed for judgment in [read_judgment(row, "defaults")]}
        if not name and not judges:
            verdicts = sorted(repr((key, judgment.verdict.value)) for key, judgment in self._judgments.items())
            name = f"recorded#{digest(verdicts)[:8]}"
        signed = [f"default:{kind}={_WORDS[self._defaults[kind].verdict.value]}" for kind in sorted(self._defaults)]
        self.name = ",".join([name or "+".join(judges), *signed])

    @classmethod
    def read(cls, path: str | Path, *, defaults: Mapping[str, Any] | None = None, name: str | None = None) -> Recorded:
        """The judge of a recording in a JSON Lines file.

        Raises:
            DataError: A file that can't be read.
            InputError: As for rows; names file and line.
        """
        lines = list(read_objects(Path(path)))
        return cls([line for _, line in lines], defaults=defaults, name=name, places=[place for place, _ in lines])

    def __len__(self) -> int:
        """How many verdicts it knows."""
        return len(self._judgments)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; ``missing`` where nothing is recorded."""
        return [judgment.verdict if judgment else Verdict(None, "missing") for judgment in map(self._find, queries)]

    def tries(self, query: Query) -> tuple[Any, ...]:
        """What was said at the first, second … try, word by word; empty where nothing is recorded.

        Example:
            >>> row = {"kind": "negative", "sentence": "s", "attempts": ["Well"], "verdict": "YES."}
            >>> Recorded([row]).tries(Query("negative", {"sentence": "s"}))
            ('Well', 'YES.')
        """
        judgment = self._find(query)
        return judgment.attempts if judgment else ()

    def _find(self, query: Query) -> Judgment | None:
        """The most specific line on a question: by its key, then by its parts."""
        parts = {**query.about, **query.fields}
        identity = (query.kind, *(parts.get(name) for name in _IDENTIFYING.get(query.kind, ())))
        restrictions = [(None if parts.get(name) is None else str(parts[name]), None) for name in _RESTRICTIONS]
        questions: list[_Question] = [(query.kind, digest(query.identity))]
        questions += [(*identity, *restriction) for restriction in product(*restrictions)]
        judgments = (self._judgments[question] for question in questions if question in self._judgments)
        return next(judgments, self._defaults.get(query.kind))


class Recorder:
    """Passes questions on to a judge, each once, and keeps what it says: every judged run is a recording.

    Args:
        judge: The judge to ask.

    Attributes:
        asked: The questions with its verdicts by their identity, in the order of asking.

    Example:
        >>> recorder = Recorder(Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}]))
        >>> _ = recorder.ask([Query("negative", {"sentence": "Nobody knows."})])
        >>> [(row["kind"], row["verdict"]) for row in recorder.rows()]
        [('negative', 'YES')]
    """

    def __init__(self, judge: Judge) -> None:
        self.judge, self.name = judge, judge.name
        self.asked: dict[object, tuple[Query, Verdict]] = {}

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """What the judge says, or once said to the same question."""
        new = {query.identity: query for query in queries if query.identity not in self.asked}
        verdicts = self.judge.ask([*new.values()]) if new else ()
        self.asked |= zip(new, zip(new.values(), verdicts, strict=True), strict=True)
        return [self.asked[query.identity][1] for query in queries]

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the recording."""
        return [record(query, verdict, self.name) for query, verdict in self.asked.values()]


def record(query: Query, verdict: Verdict, judge: str) -> dict[str, Any]:
    """One line of a recording.

    Args:
        query: The question.
        verdict: The answer.
        judge: The judge's name.
    """
    fields = {name: text for name, text in query.fields.items() if name not in ("document", "report")}  # in the key
    about = {name: value for name, value in query.about.items() if name != "passage"}
    asked = {"kind": query.kind, "key": digest(query.identity), "fields": fields, "about": about}
    said = {"verdict": _WORDS[verdict.value], "reason": verdict.reason, "raw": verdict.raw}
    return {**asked, **said, "probability": verdict.probability, "judge": judge}


def digest(value: Any) -> str:
    """A hash of plain values; of a query's ``identity``: the same whoever is asked and in whatever words."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
