"""Runs as archives that others can check, and the board that ranks them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run can't be submitted.

    Attributes:
        check: Which check: ``limit``, ``edition``, ``version`` …
        problem: What was found, with the task and file.
        advice: What to do.
    """

    check: str
    problem: str
    advice: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.check}: {self.problem}; {self.advice}"
