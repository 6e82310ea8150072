"""What looks like a password or key: such things end in logs and submissions, so that options name variables."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import InputError

_KNOWN = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_NAME, _HEADER, _RANDOM = (re.compile(_KNOWN[kind]) for kind in ("name", "header", "random"))
"""How options are called whose values are secrets, where the values of headers lie, and values that nobody words."""

_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|passw|credential|auth")

_ADVICE = "the name of an environment variable, as api_key_env"


def secret_in(text: str) -> str:
    """What kind of secret a text seems to hold; empty if none.

    Example:
        >>> secret_in("http://me:1234@host/v1"), secret_in("a text on keys and passwords")
        ('a password in a URL', '')
    """
    text = re.sub(r"\\[nrt]", " ", text)  # in JSON, where it is no part of a word
    return next((kind for kind, pattern in _KNOWN["patterns"].items() if re.search(pattern, text)), "")


def secret_values(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of variables whose names say that they are secret, as they are and as JSON writes them -> the name.

    Example:
        >>> secret_values({"MY_TOKEN": "correct horse battery", "NAME": "correct horse battery", "KEY": "short"})
        {'correct horse battery': 'MY_TOKEN'}
    """
    secret = {value.strip(): name for name, value in environment.items() if _SECRET_VARIABLE.search(name)}
    # Shorter ones may stand in a text by chance, and so may paths.
    long = {value: name for value, name in secret.items() if len(value) >= 12 and value[0] != "/"}
    return long | {json.dumps(value)[1:-1]: name for value, name in long.items()}


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    """A text that somebody sent, without these secrets and their last words.

    Example:
        >>> without_secrets("You are Bearer abcd1234.", ["Bearer abcd1234", "t"])
        'You are ***.'
    """
    parts = {part for secret in secrets if secret for part in (secret, secret.split()[-1])}
    longest_first = sorted((re.escape(part) for part in parts if len(part) >= 8), key=len, reverse=True)
    return re.sub("|".join(longest_first) or "(?!)", "***", text)  # the second matches nowhere


def check_no_secret(options: Any, field: str, expected: str = _ADVICE, *, headers: bool = False) -> None:
    """Refuse options that hold a secret itself, at any depth.

    Args:
        options: Plain values, which are going to be logged.
        field: What they are called.
        expected: What to give instead.
        headers: Refuse the value of any header too.

    Raises:
        InputError: Names the place, never the secret.

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
        # The parameters of a URL, and the harness's way to write a model's arguments; an option has no prose in it.
        pairs = re.findall(r"(?:^|([?&])|[,\s])([\w-]+)=([^&,\s]+)", options)
        is_given = any(_NAME.search(name) or (of_url and _RANDOM.search(value)) for of_url, name, value in pairs)
        kind = "a secret" if is_given or is_header or _NAME.search(field) else secret_in(options)
        if kind := "a URL with a user's name or password" if re.search(r"://[^\s/?#]*@", options) else kind:
            raise InputError(field, None, f"{kind} (not shown)", expected)
