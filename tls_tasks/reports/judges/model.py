"""A model behind an OpenAI-compatible endpoint: where it is, how it is asked, and what was asked of it."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError, TlsTasksError, check_whole_number
from tls_tasks.core.secrets import check_no_secret
from tls_tasks.reports.judges.cache import VerdictCache

DEFAULTS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 512}
"""Parameters of a request. A word takes fewer than 512 tokens, but some models think before they answer."""


_KEY = re.compile(r"[!-~]([ -~]*[!-~])?")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an endpoint, and how it is asked.

    Attributes:
        url: The base URL, such as ``http://localhost:8000/v1``.
        model: The model, as the server calls it.
        api_key: Sent as a bearer token.
        headers: Further headers.
        name: For the signature; by default model and host. If it doesn't contain the model, the model is added.
        parameters: What a request has besides model and messages. They are merged into the defaults (temperature 0,
            512 tokens), of which None removes one, as in ``{"max_tokens": None, "max_completion_tokens": 2000}``.
            They are part of the judge's name, and of what makes two requests the same.
        cache: Where verdicts are kept, a file or a cache; by default in memory, as long as the judge lives.
        max_in_flight: How many requests are under way at a time.
        timeout: Seconds until a try is given up.
        max_tries: How often a request is sent before its question is given up.
        give_up_after: After so many questions given up in a row, the rest of the call is not sent.
        host: The host of the URL.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    name: str | None = None
    parameters: Mapping[str, Any] | None = None
    cache: VerdictCache | str | Path | None = None
    max_in_flight: int = 16
    timeout: float = 60.0
    max_tries: int = 7
    give_up_after: int = 8
    host: str = field(default="", init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse now what would fail later."""
        import httpx

        check_no_secret(self.url, "url")  # it is in messages
        with suppress(httpx.InvalidURL, TypeError):
            parts = httpx.URL(self.url)
            object.__setattr__(self, "host", parts.host if parts.scheme in {"http", "https"} else "")
        if not self.host:
            raise InputError("url", None, repr(self.url), "an address such as http://localhost:8000/v1")
        object.__setattr__(self, "url", self.url.rstrip("/").removesuffix("/chat/completions"))
        if not isinstance(self.model, str) or not self.model:
            raise InputError("model", None, repr(self.model), "the name of a model")
        if self.api_key is not None and not _KEY.fullmatch(self.api_key):
            raise InputError("api_key", None, "something else (not shown)", "printable characters, no blanks around")
        for name in ("max_in_flight", "max_tries", "give_up_after"):
            check_whole_number(name, getattr(self, name))
        if not isinstance(self.timeout, int | float) or not 0 < self.timeout < math.inf:
            raise InputError("timeout", None, repr(self.timeout), "a number of seconds above 0")
        try:
            json.dumps(self.sent, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError("parameters", None, repr(self.parameters), f"JSON values ({error})") from error

    @property
    def sent(self) -> dict[str, Any]:
        """What a request has besides model and messages."""
        parameters = {**DEFAULTS, **(self.parameters or {})}
        return {name: value for name, value in parameters.items() if value is not None}


@dataclass(slots=True)
class JudgeStats:
    """What a judge has done since it was made.

    Attributes:
        asked: Questions put to it.
        cached: Different questions answered from the cache.
        answered: Different questions that the model answered with a readable verdict.
        failed: Different questions left without a verdict.
        tries: Requests sent.
        prompt_tokens: Tokens read, as the server counts them.
        completion_tokens: Tokens written, as the server counts them.
        seconds: Time spent waiting for answers.
    """

    asked: int = 0
    cached: int = 0
    answered: int = 0
    failed: int = 0
    tries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class Unanswered(TlsTasksError):
    """A question got no answer: the verdict's ``reason``, and the words of who gave none."""
