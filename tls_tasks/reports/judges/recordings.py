"""Recordings: what judges have said, one line a question, and the judge that says it again.

A line of a recording::

    {"kind": "nugget_agreement", "key": "3f…", "fields": {"sentence": …, "question": …, "answer": …},
     "about": {"request_id": "300", "sentence": 3}, "verdict": "YES", "reason": "", "raw": "Yes.", "probability": null,
     "judge": "openai/gpt-x,prompts:1a2b3c4d"}

``key`` is a hash of kind and fields, so that long documents can be left out. A line by hand is shorter: ``kind``,
``sentence``, what else tells the question apart (``doc_id``, or ``question`` and ``answer``), ``verdict``; maybe
``request_id``, ``run_id`` and ``scope``, for a verdict that holds there only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, product
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError, JudgeError, OptionError
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.judges.verdicts import read_verdict, shorten
from tls_tasks.reports.types import QUERY_KINDS, Query, Verdict

KIND_NAMES: Mapping[str, str] = {
    **{kind: kind for kind in QUERY_KINDS},
    "citation_relevance": "citation_support",
    "check_relevance": "citation_support",
    "check_negative": "negative",
}
"""Kinds as recordings name them, report_gen_eval's among them -> ours."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "citation_support": ("document", "sentence"),
    "nugget_agreement": ("sentence", "question", "answer"),
    "negative": ("sentence",),
    "requires_citation": ("sentence",),
    "first_instance": ("previous", "sentence"),
}
"""Kind -> the fields of a question."""

_SHORT = {**dict.fromkeys(QUERY_KINDS, ("sentence",)), "citation_support": ("doc_id", "sentence")} | {
    "nugget_agreement": FIELDS["nugget_agreement"]
}
_NARROWING = ("request_id", "run_id", "scope")
_WORDS = {True: "YES", False: "NO", None: None}
_A_ROW = "a line of a recording: a dict, or its JSON"


class _Said(NamedTuple):
    place: str
    tries: tuple[Any, ...]
    verdict: Verdict


class Recorded:
    """A judge that repeats what was recorded.

    Args:
        rows: Lines of a recording, long or short, each a dict or its JSON. ``attempts`` are the words of tries that
            came before ``verdict``; the last one that can be read counts.
        strict: Whether a question without a recorded verdict raises; else its verdict is unscored, ``missing``.
        defaults: Kind -> verdict (YES or NO) of the questions that no line answers.
        name: Stands in the signature; by default the judge that the lines name, else ``recorded``.
        places: Where in files the lines stand, for messages.

    Raises:
        InputError: A line that is none, or two that contradict each other; names them. DataError if they are of a file.

    Example:
        >>> judge = Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}])
        >>> known, unknown = (Query("negative", {"sentence": text}) for text in ("Nobody knows.", "It rains."))
        >>> [(verdict.value, verdict.reason) for verdict in judge.ask([known, unknown])]
        [(True, ''), (None, 'missing')]
    """

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any] | str],
        *,
        strict: bool = False,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
        places: Sequence[str] | None = None,
    ) -> None:
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise InputError("judge", None, describe(rows), "a list of lines of a recording")
        self._strict = strict
        self._said: dict[tuple[Any, ...], _Said] = {}
        judges: dict[str, None] = {}
        for place, line in zip(places or (f"judge[{number}]" for number in count()), rows, strict=False):
            try:
                row = _row(line)
                self._add(row, place)
            except _Fault as fault:
                raise fault.told(place, of_a_file=places is not None) from fault
            if isinstance(row.get("judge"), str):
                judges[row["judge"]] = None
        try:
            self._defaults = {_kind(kind): _read({"verdict": word}) for kind, word in (defaults or {}).items()}
        except _Fault as fault:
            raise fault.told("defaults", of_a_file=False) from fault
        self._name = name or "+".join(judges) or "recorded"

    @property
    def name(self) -> str:
        """Stands in the signature."""
        return self._name

    def __len__(self) -> int:
        """How many verdicts it knows."""
        return len(self._said)

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """One verdict a query, in order.

        Raises:
            JudgeError: In strict mode, at the first question without a verdict.
        """
        return [self._answer(query) for query in queries]

    def tries(self, query: Query) -> tuple[Any, ...]:
        """What was said at the first, second … try, word by word; nothing where nothing is recorded.

        Example:
            >>> row = {"kind": "negative", "sentence": "s", "attempts": ["Well"], "verdict": "YES."}
            >>> Recorded([row]).tries(Query("negative", {"sentence": "s"}))
            ('Well', 'YES.')
        """
        said = self._find(query)
        return () if said is None else said.tries

    def _answer(self, query: Query) -> Verdict:
        said = self._find(query)
        if said is not None:
            return said.verdict
        if self._strict:
            raise JudgeError(f"judge {self._name}: nothing is recorded for {query.kind} of {_whereabouts(query)}")
        return Verdict(None, "missing")

    def _find(self, query: Query) -> _Said | None:
        for key in _keys_of(query):
            if key in self._said:
                return self._said[key]
        verdict = self._defaults.get(query.kind)
        return None if verdict is None else _Said("defaults", (_WORDS[verdict.value],), verdict)

    def _add(self, row: Mapping[str, Any], place: str) -> None:
        key, verdict = _key_of(row), _read(row)
        known = self._said.get(key)
        if known is not None:
            if verdict.value is None or verdict.value == known.verdict.value:
                return
            if known.verdict.value is not None:
                raise _Fault(
                    f"{_WORDS[verdict.value]} to a {key[1]} question to which {known.place} says "
                    f"{_WORDS[known.verdict.value]}",
                    "one judge's verdicts in one recording",
                )
        tries = row.get("attempts")
        self._said[key] = _Said(place, (*(tries if isinstance(tries, list) else ()), row.get("verdict")), verdict)


def record(query: Query, verdict: Verdict, judge: str, documents: bool = False) -> dict[str, Any]:
    """One line of a recording.

    Args:
        query: What was asked.
        verdict: What was said.
        judge: The judge's name.
        documents: Whether the text of a document stands in the line; the key tells documents apart without it.
    """
    return {
        "kind": query.kind,
        "key": question_key(query.kind, query.fields),
        "fields": {name: text for name, text in query.fields.items() if documents or name != "document"},
        "about": dict(query.about),
        "verdict": _WORDS[verdict.value],
        "reason": verdict.reason,
        "raw": verdict.raw,
        "probability": verdict.probability,
        "judge": judge,
    }


def question_key(kind: str, fields: Mapping[str, str]) -> str:
    """A hash of a question, whoever is asked and in whatever words.

    Example:
        >>> question_key("negative", {"sentence": "s"}) == question_key("negative", {"sentence": "s"})
        True
    """
    return hashlib.sha256(json.dumps([kind, sorted(fields.items())]).encode()).hexdigest()


class _Fault(Exception):
    """What is wrong with a line; becomes an error with its place."""

    def __init__(self, got: str, expected: str, name: str = "") -> None:
        super().__init__(got, expected, name)
        self.got, self.expected, self.name = got, expected, f".{name}" if name else ""

    def told(self, place: str, of_a_file: bool) -> DataError | InputError:
        if of_a_file:
            return DataError(
                f"{place}: {f'{self.name[1:]}: ' if self.name else ''}got {self.got}, expected {self.expected}"
            )
        return InputError(f"{place}{self.name}", None, self.got, self.expected)


def _row(line: Any) -> Mapping[str, Any]:
    if isinstance(line, str):
        try:
            line = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Fault(f"no JSON ({error})", _A_ROW) from error
    if not isinstance(line, Mapping):
        raise _Fault(describe(line), _A_ROW)
    return line


def _keys_of(query: Query) -> list[tuple[Any, ...]]:
    """Where a query's verdict may stand, the closest fit first."""
    parts = {**query.about, **query.fields}
    short = "short", query.kind, *(parts.get(name) for name in _SHORT.get(query.kind, ()))
    narrowing = (dict.fromkeys((_text(query.about.get(name)), None)) for name in _NARROWING)
    return [_long_key(query.kind, query.fields), *((*short, *fit) for fit in product(*narrowing))]


def _key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = _kind(row.get("kind"))
    if isinstance(row.get("key"), str):
        return "key", kind, row["key"]
    fields, about = (value if isinstance(value := row.get(name), Mapping) else {} for name in ("fields", "about"))
    if all(isinstance(fields.get(name), str) for name in FIELDS[kind]):
        return _long_key(kind, {name: fields[name] for name in FIELDS[kind]})
    parts = {**about, **row, **fields}
    for name in _SHORT[kind]:
        if not isinstance(parts.get(name), str):
            raise _Fault(describe(parts.get(name)), "a str, or a key or fields", name)
    return "short", kind, *(parts[name] for name in _SHORT[kind]), *(_text(parts.get(name)) for name in _NARROWING)


def _long_key(kind: str, fields: Mapping[str, str]) -> tuple[Any, ...]:
    return "key", kind, question_key(kind, fields)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _kind(kind: Any) -> str:
    if not isinstance(kind, str) or kind not in KIND_NAMES:
        unknown = OptionError.unknown("kind", kind, KIND_NAMES)
        raise _Fault(unknown.got, unknown.expected, "kind")
    return KIND_NAMES[kind]


def _read(row: Mapping[str, Any]) -> Verdict:
    """The verdict of a line: of its tries the last that can be read."""
    if "verdict" not in row:
        raise _Fault("none", "YES, NO, null or the words of a judge", "verdict")
    tries = row.get("attempts")
    said = [*(tries if isinstance(tries, list) else ()), row.get("verdict")]
    for word in said:
        if word is not None and not isinstance(word, str | bool):
            raise _Fault(describe(word), "YES, NO, null or the words of a judge", "verdict")
    values = [read_verdict(word) if isinstance(word, str) else word for word in said]
    chosen = next((index for index in reversed(range(len(said))) if values[index] is not None), -1)
    value, word = values[chosen], said[chosen]
    reason = "" if value is not None else row.get("reason") or ("missing" if word is None else "unreadable")
    probability = row.get("probability")
    known = probability if isinstance(probability, float | int) and not isinstance(probability, bool) else None
    raw = row.get("raw", word if isinstance(word, str) else "")
    return Verdict(value, str(reason), shorten(str(raw)), known, cached=True)


def _whereabouts(query: Query) -> str:
    place = ", ".join(f"{name} {value}" for name, value in query.about.items())
    return place or shorten(query.fields.get("sentence", ""))
