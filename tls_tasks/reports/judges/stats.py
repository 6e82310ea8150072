"""What a judge did and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class JudgeStats:
    """Counts of one judge since it was made.

    Attributes:
        asked: Questions that it was given.
        distinct: Different questions among those of each call; each window of a long document is one.
        cached: Of these, answered from the cache.
        answered: Of these, answered by the judge with a verdict that could be read.
        failed: Of these, left without a verdict.
        tries: Requests that were sent, second tries among them.
        prompt_tokens: Tokens read, as the server counts them.
        completion_tokens: Tokens written, as the server counts them.
        seconds: Time spent waiting for answers.
        prices: What a million tokens read and a million written cost; None: not known.

    Example:
        >>> stats = JudgeStats(asked=3, distinct=2, answered=2, prompt_tokens=500_000, prices=(2.0, 8.0))
        >>> stats.price
        1.0
        >>> print(stats.table())
        asked              3
        distinct           2
        cached             0
        answered           2
        failed             0
        tries              0
        prompt tokens      500,000
        completion tokens  0
        seconds            0.0
        price              1.0000
    """

    asked: int = 0
    distinct: int = 0
    cached: int = 0
    answered: int = 0
    failed: int = 0
    tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    prices: tuple[float, float] | None = None

    @property
    def price(self) -> float | None:
        """What the tokens cost, in the unit of ``prices``; None where no prices are known."""
        if self.prices is None:
            return None
        return (self.prompt_tokens * self.prices[0] + self.completion_tokens * self.prices[1]) / 1e6

    def as_dict(self) -> dict[str, Any]:
        """All counts and the price as plain values."""
        values = asdict(self)
        del values["prices"]
        return {**values, "price": self.price}

    def table(self) -> str:
        """One line a count, for a terminal; without the price where it isn't known."""
        rows = [(name.replace("_", " "), value) for name, value in self.as_dict().items() if value is not None]
        decimals = {"seconds": 1, "price": 4}
        return "\n".join(f"{name:<19}{value:,.{decimals.get(name, 0)}f}" for name, value in rows)
