"""Why something is not accepted: the one form of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run can't be submitted.

    Attributes:
        check: Which check: ``limit``, ``edition``, ``version`` …
        found: What was found, with the task and file.
        advice: What to do.
    """

    check: str
    found: str
    advice: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.check}: {self.found}; {self.advice}"
