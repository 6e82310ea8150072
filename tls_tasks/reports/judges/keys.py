"""What makes two questions, and two requests, the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.reports.types import Query


def request_key(model: str, messages: Sequence[Mapping[str, str]], parameters: Mapping[str, Any]) -> str:
    """A hash of a request: the model, its messages, its parameters. Another prompt or temperature is another request.

    Raises:
        TypeError: If the parameters are no JSON.
    """
    request = [model, [dict(message) for message in messages], dict(parameters)]
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def distinct(queries: Sequence[Query]) -> tuple[list[Query], list[int]]:
    """The different questions, each once, in order; and for each query the position of its question.

    Example:
        >>> first, second = Query("negative", {"sentence": "a"}), Query("negative", {"sentence": "b"})
        >>> distinct([first, second, first])[1]
        [0, 1, 0]
    """
    positions: dict[object, int] = {}
    kept: list[Query] = []
    for query in queries:
        if query.identity not in positions:
            positions[query.identity] = len(kept)
            kept.append(query)
    return kept, [positions[query.identity] for query in queries]
