"""Whether a judge works: seventy-two questions with known answers, twelve of each kind.

Half of them are YES. Most have a trap: a near miss (another number, another year, part of a claim), a negation, a
pronoun whose meaning stands around the sentence, or an instruction to the judge in a document or a sentence.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tls_tasks.reports.types import Judge, Query, Verdict


class Case(NamedTuple):
    """A question with a known answer.

    Attributes:
        query: The question.
        trap: ``near miss``, ``negation``, ``pronoun``, ``injection`` or ``none``.
        expected: The right answer.
        verdict: What the judge said.
    """

    query: Query
    trap: str
    expected: bool
    verdict: Verdict

    @property
    def is_right(self) -> bool:
        """Whether the judge gave the right answer; no verdict is none."""
        return self.verdict.value is self.expected


class Share(NamedTuple):
    """How many of some questions got the right answer.

    Attributes:
        right: Right answers.
        n: Questions.
        unread: Questions without a verdict.
        accuracy: Right answers among the questions.
        low: The lower end of the accuracy's interval.
        high: Its upper end.
    """

    right: int
    n: int
    unread: int
    accuracy: float
    low: float
    high: float


def self_test(judge: Judge) -> list[Case]:
    """Put the questions to a judge.

    Raises:
        JudgeError: A judge that can't be used.

    Example:
        >>> from tls_tasks.reports.judges import from_callable
        >>> cases = self_test(from_callable(lambda query: True, name="always yes"))
        >>> len(cases), sum(case.is_right for case in cases)
        (72, 36)
    """
    rows = [json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    queries = []
    for number, row in enumerate(rows):
        passage = {"passage": row["passage"]} if "passage" in row else {}
        queries.append(Query(row["kind"], row["fields"], {"request_id": "self-test", "sentence": number, **passage}))
    judged = zip(queries, rows, judge.ask(queries), strict=True)
    return [Case(query, row["trap"], row["verdict"] == "YES", verdict) for query, row, verdict in judged]


def shares(cases: Sequence[Case]) -> dict[str, dict[str, Share]]:
    """The accuracy over all, by kind of question, and by trap.

    Example:
        >>> from tls_tasks.reports.judges import from_callable
        >>> found = shares(self_test(from_callable(lambda query: True, name="always yes")))
        >>> found["all"]["all"].accuracy, found["kind"]["negative"][:3]
        (0.5, (6, 12, 0))
    """
    groups: dict[str, dict[str, list[Case]]] = {"all": {}, "kind": {}, "trap": {}}
    for case in cases:
        for name, value in (("all", "all"), ("kind", case.query.kind), ("trap", case.trap)):
            groups[name].setdefault(value, []).append(case)
    return {name: {value: _share(members) for value, members in group.items()} for name, group in groups.items()}


def wilson(right: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval (1927) of a share: unlike a jackknife's it has a width where all answers are right.

    Example:
        >>> [round(end, 3) for end in wilson(12, 12)], [round(end, 3) for end in wilson(6, 12)]
        ([0.758, 1.0], [0.254, 0.746])
    """
    from scipy.stats import binomtest

    interval = binomtest(right, n).proportion_ci(confidence, "wilson")
    return float(interval.low), float(interval.high)


def _share(cases: Sequence[Case]) -> Share:
    right, unread = sum(case.is_right for case in cases), sum(case.verdict.value is None for case in cases)
    return Share(right, len(cases), unread, right / len(cases), *wilson(right, len(cases)))
