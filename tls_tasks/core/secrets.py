"""Find passwords and keys in options: options end in logs and submissions, so they must name variables instead."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import InputError

_PATTERNS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_NAME, _HEADER, _RANDOM = (re.compile(_PATTERNS[kind]) for kind in ("name", "header", "random"))
"""Patterns of the names of options whose values are secrets, of the paths of headers, and of random values."""

_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|passw|credential|auth")

_ADVICE = "the name of an environment variable, as api_key_env"


def secret_in(text: str) -> str:
    """Return the kind of secret that a text seems to hold; empty if it holds none.

    Example:
        >>> secret_in("http://me:1234@host/v1"), secret_in("a text on keys and passwords")
        ('a password in a URL', '')
    """
    text = re.sub(r"\\[nrt]", " ", text)  # JSON escapes that would join two words
    return next((kind for kind, pattern in _PATTERNS["patterns"].items() if re.search(pattern, text)), "")


def secret_values(environment: Mapping[str, str]) -> dict[str, str]:
    """Return secret values of an environment -> their variable, as they are and as JSON writes them.

    Example:
        >>> secret_values({"MY_TOKEN": "correct horse battery", "NAME": "correct horse battery", "KEY": "short"})
        {'correct horse battery': 'MY_TOKEN'}
    """
    secret = {value.strip(): name for name, value in environment.items() if _SECRET_VARIABLE.search(name)}
    # Shorter values and paths may occur in a text by chance.
    long = {value: name for value, name in secret.items() if len(value) >= 12 and value[0] != "/"}
    return long | {json.dumps(value)[1:-1]: name for value, name in long.items()}


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    """Return a text without these secrets and their last words, each replaced by ``***``.

    Example:
        >>> without_secrets("You are Bearer abcd1234.", ["Bearer abcd1234", "t"])
        'You are ***.'
    """
    parts = {part for secret in secrets if secret for part in (secret, secret.split()[-1])}
    longest_first = sorted((re.escape(part) for part in parts if len(part) >= 8), key=len, reverse=True)
    return re.sub("|".join(longest_first) or "(?!)", "***", text)  # (?!) matches nowhere


def check_no_secret(options: Any, field: str, expected: str = _ADVICE, *, headers: bool = False) -> None:
    """Refuse options that hold a secret, at any depth.

    Args:
        options: Plain values, which are going to be logged.
        field: The name of the options in the error.
        expected: The expected value in the error.
        headers: Whether to refuse the value of any header too.

    Raises:
        InputError: Names the option, never the secret.

    Example:
        >>> check_no_secret({"headers": {"Authorization": "Bearer 123"}}, "judge")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: judge.headers.Authorization: got a secret (not shown), expected the name of an environment variable, as api_key_env
    """  # noqa: E501
    is_list = isinstance(options, list | tuple)
    items = enumerate(options) if is_list else options.items() if isinstance(options, Mapping) else ()
    for key, item in items:
        check_no_secret(item, f"{field}[{key}]" if is_list else f"{field}.{key}", expected, headers=headers)
    if isinstance(options, str) and options:
        is_header = headers and _HEADER.search(field) and not field.endswith(".env")
        # These pairs are parameters of a URL, or a model's arguments in the harness's form. Options hold no prose.
        pairs = re.findall(r"(?:^|([?&])|[,\s])([\w-]+)=([^&,\s]+)", options)
        has_secret = any(_NAME.search(name) or (in_url and _RANDOM.search(value)) for in_url, name, value in pairs)
        kind = "a secret" if has_secret or is_header or _NAME.search(field) else secret_in(options)
        if kind := "a URL with a user's name or password" if re.search(r"://[^\s/?#]*@", options) else kind:
            raise InputError(field, None, f"{kind} (not shown)", expected)
