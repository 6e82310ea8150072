"""Recordings: what judges have said, one line per question; and the judge that says it again.

A line of a recording::

    {"kind": "nugget_agreement", "key": "3f…", "fields": {"sentence": …, "question": …, "answer": …},
     "about": {"request_id": "300", "sentence": 3}, "verdict": "YES", "reason": "", "raw": "Yes.", "probability": null,
     "judge": "openai/gpt-x,prompts:1a2b3c4d"}

``key`` is a hash of kind and fields, so that the line needs no document. Lines written by hand are shorter: ``kind``,
``sentence``, what else identifies the question (``doc_id``, or ``question`` and ``answer``), and ``verdict``;
``request_id``, ``run_id``, ``scope`` and ``place`` (the sentence's index) restrict a verdict to where they match. In
place of ``doc_id``, or of ``question`` and ``answer``, ``*`` stands for all that have no line of their own.

The results that report_gen_eval writes are read as a recording too (:func:`recorded_rows`). They say of each sentence
what the judge answered, but not of which document, since only the conjunction of all is written, and of the nuggets
only those that the sentence gives. So such lines stand for every document or nugget (``*``), and are restricted to the
program's own arithmetic (``compat="report_gen_eval"``): under other rules a sentence with several citations would need
the verdict on each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import describe
from tls_tasks.reports.files import read_objects, write_rows
from tls_tasks.reports.judges.questions import read_verdict, shorten
from tls_tasks.reports.types import QUERY_KINDS, Judge, Query, Verdict

ANY = "*"
"""In place of a document's id, or of a question and its answer: all that have no line of their own."""

PROGRAM = "report_gen_eval"
"""The ``scope`` of verdicts that count in its arithmetic only."""

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
}
_RESTRICTIONS = ("request_id", "run_id", "scope", "place")
PARTS = ("sentence", "doc_id", "question", "answer", *_RESTRICTIONS)
"""What tells two questions of a kind apart."""

_WORDS = {True: "YES", False: "NO", None: None}

_Key = tuple[Any, ...]


class Judgment(NamedTuple):
    """A line of a recording: what a judge said to one question.

    Attributes:
        place: Where the line is.
        kind: One of :data:`~tls_tasks.reports.types.QUERY_KINDS`.
        key: A hash of the question; empty if the line has none.
        parts: Those of :data:`PARTS` that are known.
        attempts: What was said at the first, second … try, word by word.
        verdict: That of the last attempt that can be read.
    """

    place: str
    kind: str
    key: str
    parts: Mapping[str, str]
    attempts: tuple[Any, ...]
    verdict: Verdict


def read_judgment(row: Any, place: str) -> Judgment:
    """Read a line of a recording, long or short.

    Raises:
        InputError: Not such a line.

    Example:
        >>> row = {"kind": "check_negative", "sentence": "s", "verdict": "NO."}
        >>> read_judgment(row, "line 1")[:4]
        ('line 1', 'negative', '', {'sentence': 's'})
    """
    if not isinstance(row, Mapping):
        raise InputError(place, None, describe(row), "a line of a recording: a dict")
    kind, key = _kind(row.get("kind"), place), row.get("key")
    about, fields = (value if isinstance(value := row.get(name), Mapping) else {} for name in ("about", "fields"))
    known = {**about, "sentence": None, **row, **fields}  # about.sentence is a number, not the text
    parts = {name: str(known[name]) for name in PARTS if known.get(name) is not None}
    return Judgment(place, kind, key if isinstance(key, str) else "", parts, *_said(row, place))


def keep(judgments: dict[_Key, Judgment], question: _Key, new: Judgment) -> None:
    """Keep what a judge said to a question; of several lines the first with a verdict counts.

    Raises:
        InputError: Another line contradicts this one.
    """
    known, value = judgments.setdefault(question, new), new.verdict.value
    if known.verdict.value is None and value is not None:
        judgments[question] = new
    elif value not in (None, known.verdict.value):
        said = f"{_WORDS[value]} to a {new.kind} question to which {known.place} says {_WORDS[known.verdict.value]}"
        raise InputError(new.place, None, said, "the verdicts of one judge")


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
        self._judgments: dict[_Key, Judgment] = {}
        self._restricted_by: set[str] = set()
        judges: dict[str, None] = {}
        for place, row in zip(places or (f"judge[{number}]" for number in count()), rows, strict=False):
            judgment = read_judgment(row, place)
            keep(self._judgments, _key(judgment), judgment)
            self._restricted_by |= judgment.parts.keys() & _RESTRICTIONS
            if isinstance(row.get("judge"), str):
                judges[row["judge"]] = None
        self._defaults = {
            known: Judgment("defaults", known, "", {}, *_said({"verdict": word}, "defaults"))
            for kind, word in (defaults or {}).items()
            for known in [_kind(kind, "defaults")]
        }
        assumed = [f"default:{kind}={_WORDS[said.verdict.value]}" for kind, said in sorted(self._defaults.items())]
        self.is_of_program = any(judgment.parts.get("scope") == PROGRAM for judgment in self._judgments.values())
        self.name = ",".join([name or "+".join(judges) or f"recorded#{_hash(self._judgments)}", *assumed])

    @classmethod
    def read(cls, path: str | Path, *, defaults: Mapping[str, Any] | None = None, name: str | None = None) -> Recorded:
        """The judge of a recording in a JSON Lines file.

        Raises:
            DataError: A file that can't be read.
            InputError: As for rows; names file and line.
        """
        lines = [(place, own) for place, row in read_objects(Path(path)) for own in recorded_rows(row)]
        return cls([row for _, row in lines], defaults=defaults, name=name, places=[place for place, _ in lines])

    def __len__(self) -> int:
        """How many verdicts it knows."""
        return len(self._judgments)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict per query, in order; ``missing`` where nothing is recorded."""
        found = [self._find(query) for query in queries]
        return [Verdict(None, "missing") if judgment is None else judgment.verdict for judgment in found]

    def tries(self, query: Query) -> tuple[Any, ...]:
        """What was said at the first, second … try, word by word; empty where nothing is recorded.

        Example:
            >>> row = {"kind": "negative", "sentence": "s", "attempts": ["Well"], "verdict": "YES."}
            >>> Recorded([row]).tries(Query("negative", {"sentence": "s"}))
            ('Well', 'YES.')
        """
        found = self._find(query)
        return () if found is None else found.attempts

    def _find(self, query: Query) -> Judgment | None:
        keys = _keys(query, self._restricted_by)
        known = (self._judgments[key] for key in keys if key in self._judgments)
        return next(known, self._defaults.get(query.kind))


class Recorder:
    """Passes questions on to a judge and keeps what it says: every judged run is a recording.

    A question that it has a verdict on is not passed on again, though its sentence may stand in another passage.

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
        self._known: dict[object, Verdict] = {}

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """What the judge says."""
        new = [query for query in queries if query.identity not in self._known]
        told = dict(zip((query.identity for query in new), self.judge.ask(new), strict=True)) if new else {}
        verdicts = [self._known.get(query.identity) or told[query.identity] for query in queries]
        self._known |= {identity: verdict for identity, verdict in told.items() if verdict.value is not None}
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
        "about": {name: value for name, value in query.about.items() if name != "passage"},
        "verdict": _WORDS[verdict.value],
        "reason": verdict.reason,
        "raw": verdict.raw,
        "probability": verdict.probability,
        "judge": judge,
    }


def _hash(judgments: Mapping[_Key, Judgment]) -> str:
    """A hash of what was said to which question, in whatever order."""
    said = sorted(repr((key, judgment.verdict.value)) for key, judgment in judgments.items())
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:8]


def _question_key(kind: str, fields: Mapping[str, str]) -> str:
    """A hash of a question, whoever is asked and in whatever words.

    Example:
        >>> _question_key("negative", {"sentence": "s"}) == _question_key("negative", {"sentence": "s"})
        True
    """
    return hashlib.sha256(json.dumps([kind, sorted(fields.items())]).encode()).hexdigest()


def _keys(query: Query, restricted_by: Container[str]) -> Iterator[_Key]:
    """Where a query's verdict may be recorded, the most specific first."""
    yield query.kind, _question_key(query.kind, query.fields)
    about = {**query.about, "place": query.about.get("sentence")}
    parts = {**query.about, **query.fields}
    names = _IDENTIFYING.get(query.kind, ())
    fits = [
        dict.fromkeys((None if name not in restricted_by or about.get(name) is None else str(about[name]), None))
        for name in _RESTRICTIONS
    ]
    for known in (parts, dict.fromkeys(names, ANY) | {"sentence": parts.get("sentence")}):
        for fit in product(*fits):
            yield query.kind, *(known.get(name) for name in names), *fit


def _key(judgment: Judgment) -> _Key:
    """Where a line is kept."""
    kind, parts = judgment.kind, judgment.parts
    if judgment.key:
        return kind, judgment.key
    for name in _IDENTIFYING[kind]:
        if name not in parts:
            raise InputError(f"{judgment.place}: {name}", None, "nothing", "a str, or a key or fields")
    return kind, *(parts[name] for name in _IDENTIFYING[kind]), *(parts.get(name) for name in _RESTRICTIONS)


def _kind(kind: Any, place: str) -> str:
    if not isinstance(kind, str) or kind not in _KIND_NAMES:
        raise OptionError.unknown(f"{place}: kind", kind, _KIND_NAMES)
    return _KIND_NAMES[kind]


def _said(row: Mapping[str, Any], place: str) -> tuple[tuple[Any, ...], Verdict]:
    """The attempts of a line, and its verdict."""
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
    return said, Verdict(value, str(reason), shorten(str(raw)), known, cached=True)


def recorded_rows(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The lines of a recording in a line of a file: itself, or those that a result of report_gen_eval holds.

    A sentence with an ``error`` has no verdict; scored again, it fails again.

    Example:
        >>> said = {"model_responses": [{"type": "citation_relevance", "response": "YES"}]}
        >>> matched = [{"question_text": "q", "matched_answer": "a", "importance": "vital"}]
        >>> sentence = {"sentence": "s", "evaluation_details": said, "matched_nuggets": matched}
        >>> lines = recorded_rows({"request_id": "7", "run_id": "r", "sentence_results": [sentence]})
        >>> [(line["kind"], line.get("doc_id") or line["answer"], line["verdict"]) for line in lines]
        [('citation_relevance', '*', 'YES'), ('nugget_agreement', 'a', 'YES'), ('nugget_agreement', '*', 'NO')]
    """
    if "sentence_results" not in row:
        return [row]
    return [
        {**line, "request_id": row.get("request_id"), "run_id": row.get("run_id"), "place": index, "scope": PROGRAM}
        for index, sentence in enumerate(_objects(row["sentence_results"]))
        if not sentence.get("error")
        for line in _lines(sentence)
    ]


def _lines(sentence: Mapping[str, Any]) -> list[dict[str, Any]]:
    details = sentence.get("evaluation_details")
    said = _objects(details.get("model_responses")) if isinstance(details, Mapping) else []
    given = [
        (own.get("question_text"), own.get("matched_answer"), "YES")
        for own in _objects(sentence.get("matched_nuggets"))
    ]
    text = {"sentence": sentence.get("sentence")}
    return [
        *({**text, "kind": own.get("type"), "doc_id": ANY, "verdict": own.get("response")} for own in said),
        *({**text, "kind": "nugget_agreement", "question": question, "answer": answer, "verdict": verdict}
          for question, answer, verdict in (*given, (ANY, ANY, "NO"))),
    ]  # fmt: skip


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [own if isinstance(own, Mapping) else {} for own in value] if isinstance(value, list) else []
