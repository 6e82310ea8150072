"""Recordings of judges: one line per question with its verdict; and the judge that replays them.

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
"""Name of a kind in recordings, those of report_gen_eval included -> its name here."""

# Kind -> the fields that identify a question in a line without a key. Restrictions tie a verdict to some reports.
_IDENTIFYING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(QUERY_KINDS, ("sentence",)),
    "citation_support": ("doc_id", "sentence"),
    "nugget_agreement": ("sentence", "question", "answer"),
    "criterion": ("criterion",),
}
_RESTRICTIONS = ("request_id", "run_id", "scope")
PARTS = ("sentence", "doc_id", "question", "answer", "criterion", *_RESTRICTIONS)
"""The fields by which two questions of a kind differ."""

_WORDS = {True: "YES", False: "NO", None: None}

_Question = tuple[Any, ...]


class Judgment(NamedTuple):
    """A line of a recording: a judge's answer to one question.

    Attributes:
        source: File and line, or list and index, for errors.
        kind: One of :data:`~tls_tasks.reports.types.QUERY_KINDS`.
        parts: Those of :data:`PARTS` that the line has, and ``key``, a hash of the question, if it has one.
        attempts: The judge's words at the first, second … attempt.
        verdict: The verdict of the last attempt that can be read.
    """

    source: str
    kind: str
    parts: Mapping[str, str]
    attempts: tuple[Any, ...]
    verdict: Verdict

    @property
    def question(self) -> _Question:
        """The key of the question in a recording: its kind with its hash, or with its identifying parts.

        Raises:
            InputError: The line lacks one of the parts that identify a question of its kind.
        """
        if "key" in self.parts:
            return self.kind, self.parts["key"]
        for name in _IDENTIFYING[self.kind]:
            if name not in self.parts:
                raise InputError(f"{self.source}: {name}", None, "nothing", "a str, or a key or fields")
        return self.kind, *(self.parts.get(name) for name in (*_IDENTIFYING[self.kind], *_RESTRICTIONS))


def read_judgment(row: Any, source: str) -> Judgment:
    """Read a line of a recording, long or short.

    Raises:
        InputError: Not such a line.

    Example:
        >>> row = {"kind": "check_negative", "sentence": "s", "verdict": "NO."}
        >>> read_judgment(row, "line 1")[:3]
        ('line 1', 'negative', {'sentence': 's'})
    """
    if not isinstance(row, Mapping):
        raise InputError(source, None, describe(row), "a line of a recording: a dict")
    kind: Any = row.get("kind")
    key, attempts = row.get("key"), row.get("attempts")
    check_choice(f"{source}: kind", kind, _KIND_NAMES)
    about, fields = (value if isinstance(value := row.get(name), Mapping) else {} for name in ("about", "fields"))
    merged = {**about, "sentence": None, **row, **fields}  # about.sentence is a number, not the text
    parts = {name: str(merged[name]) for name in PARTS if merged.get(name) is not None}
    if isinstance(key, str) and key:
        parts["key"] = key
    answers = (*(attempts if isinstance(attempts, list) else ()), row.get("verdict"))
    fits = (answer is None or isinstance(answer, str | bool) for answer in answers)
    if "verdict" not in row or not all(fits):
        got = describe(row["verdict"]) if "verdict" in row else "nothing"
        raise InputError(f"{source}: verdict", None, got, "YES, NO, null or the words of a judge")
    readings = [(read_verdict(answer) if isinstance(answer, str) else answer, answer) for answer in reversed(answers)]
    value, answer = next((pair for pair in readings if pair[0] is not None), readings[0])
    reason = "" if value is not None else str(row.get("reason") or ("missing" if answer is None else "unreadable"))
    raw, probability = str(row.get("raw", answer if isinstance(answer, str) else "")), row.get("probability")
    if isinstance(probability, bool) or not isinstance(probability, float | int):
        probability = None
    verdict = Verdict(value, reason, shorten(raw), probability, cached=True)
    return Judgment(source, _KIND_NAMES[kind], parts, answers, verdict)


class Recorded:
    """A judge that replays recorded verdicts.

    Args:
        rows: Lines of a recording, long or short. ``attempts`` holds the judge's answers before ``verdict``; the last
            answer that can be read counts.
        defaults: Kind -> verdict (YES or NO) for the questions that no line answers.
        name: For the signature; by default the judges that the lines name, or ``recorded`` and a hash of the
            verdicts. ``defaults`` are added to it.
        sources: File and line of each row, for errors.

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
        sources: Iterable[str] | None = None,
    ) -> None:
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise InputError("judge", None, describe(rows), "a list of lines of a recording")
        self._judgments: dict[_Question, Judgment] = {}
        judges: dict[str, None] = {}
        for source, row in zip(sources or (f"judge[{number}]" for number in count()), rows, strict=False):
            judgment = read_judgment(row, source)
            stored = self._judgments.setdefault(judgment.question, judgment)
            if stored.verdict.value is None:  # of several lines the first with a verdict counts
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
        """Build the judge of a recording in a JSON Lines file.

        Raises:
            DataError: A file that can't be read.
            InputError: As for rows; names file and line.
        """
        lines = list(read_objects(Path(path)))
        return cls([line for _, line in lines], defaults=defaults, name=name, sources=[source for source, _ in lines])

    def __len__(self) -> int:
        """Return the number of recorded verdicts."""
        return len(self._judgments)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Return one verdict per query, in order; ``missing`` where nothing is recorded."""
        return [judgment.verdict if judgment else Verdict(None, "missing") for judgment in map(self._find, queries)]

    def tries(self, query: Query) -> tuple[Any, ...]:
        """Return the words of the first, second … attempt at a query; empty where nothing is recorded.

        Example:
            >>> row = {"kind": "negative", "sentence": "s", "attempts": ["Well"], "verdict": "YES."}
            >>> Recorded([row]).tries(Query("negative", {"sentence": "s"}))
            ('Well', 'YES.')
        """
        judgment = self._find(query)
        return judgment.attempts if judgment else ()

    def _find(self, query: Query) -> Judgment | None:
        """Return the most specific line on a query: by its key, then by its parts; None if there is none."""
        parts = {**query.about, **query.fields}
        identity = (query.kind, *(parts.get(name) for name in _IDENTIFYING.get(query.kind, ())))
        restrictions = [(None if parts.get(name) is None else str(parts[name]), None) for name in _RESTRICTIONS]
        questions: list[_Question] = [(query.kind, digest(query.identity))]
        questions += [(*identity, *restriction) for restriction in product(*restrictions)]
        judgments = (self._judgments[question] for question in questions if question in self._judgments)
        return next(judgments, self._defaults.get(query.kind))


class Recorder:
    """A judge that passes each question on to another judge once, and stores the verdicts for a recording.

    Args:
        judge: The judge to ask.

    Attributes:
        verdicts: Identity of a query -> the query and its verdict, in the order of asking.

    Example:
        >>> recorder = Recorder(Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}]))
        >>> _ = recorder.ask([Query("negative", {"sentence": "Nobody knows."})])
        >>> [(row["kind"], row["verdict"]) for row in recorder.rows()]
        [('negative', 'YES')]
    """

    def __init__(self, judge: Judge) -> None:
        self.judge, self.name = judge, judge.name
        self.verdicts: dict[object, tuple[Query, Verdict]] = {}

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """Return the judge's verdict on each query; a question that was asked before is not asked again."""
        new = {query.identity: query for query in queries if query.identity not in self.verdicts}
        verdicts = self.judge.ask([*new.values()]) if new else ()
        self.verdicts |= zip(new, zip(new.values(), verdicts, strict=True), strict=True)
        return [self.verdicts[query.identity][1] for query in queries]

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines of the recording."""
        return [recorded_row(query, verdict, self.name) for query, verdict in self.verdicts.values()]


def recorded_row(query: Query, verdict: Verdict, judge: str) -> dict[str, Any]:
    """Build one line of a recording.

    Args:
        query: The question.
        verdict: The answer.
        judge: The judge's name.
    """
    # The hash of the question covers these long texts.
    fields = {name: text for name, text in query.fields.items() if name not in ("document", "report")}
    about = {name: value for name, value in query.about.items() if name != "passage"}
    question = {"kind": query.kind, "key": digest(query.identity), "fields": fields, "about": about}
    answer = {"verdict": _WORDS[verdict.value], "reason": verdict.reason, "raw": verdict.raw}
    return {**question, **answer, "probability": verdict.probability, "judge": judge}


def digest(value: Any) -> str:
    """Return a hash of plain values; of a query's ``identity``: the same for every judge and prompt."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
