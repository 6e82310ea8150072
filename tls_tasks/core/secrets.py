"""What looks like a password or key: such things end in logs and submissions, so that options name variables."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tls_tasks.core.errors import InputError

_KNOWN = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_PATTERNS: Mapping[str, str] = _KNOWN["patterns"]
_NAME, _HEADER, _RANDOM = (re.compile(_KNOWN[kind]) for kind in ("name", "header", "random"))
"""How options are called whose values are secrets, where the values of headers lie, and values that nobody words."""

_ANY = re.compile("|".join(f"(?P<k{number}>{pattern})" for number, pattern in enumerate(_PATTERNS.values())))
_ESCAPED_BLANK = re.compile(r"\\[nrt]")  # in JSON, where it is no part of a word
_SECRET_VARIABLE = re.compile(r"(?i)key|token|secret|passw|credential|auth")
_SHORTEST = 12  # characters of a variable's value that can't stand in a text by chance

_ADVICE = 'the name of an environment variable: api_key_env for a key, {"env": "NAME"} for a header'


def secret_in(text: str) -> str:
    """What kind of secret a text seems to hold; empty if none.

    Example:
        >>> secret_in("http://me:1234@host/v1"), secret_in("a text on keys and passwords")
        ('a password in a URL', '')
    """
    found = _ANY.search(_ESCAPED_BLANK.sub(" ", text))
    return list(_PATTERNS)[int(str(found.lastgroup)[1:])] if found else ""


def secret_values(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of variables whose names say that they are secret, as they are and as JSON writes them -> the name.

    Example:
        >>> secret_values({"MY_TOKEN": "correct horse battery", "NAME": "correct horse battery", "KEY": "short"})
        {'correct horse battery': 'MY_TOKEN'}
    """
    secret = {name: value.strip() for name, value in environment.items() if _SECRET_VARIABLE.search(name)}
    long = {name: value for name, value in secret.items() if len(value) >= _SHORTEST and not value.startswith("/")}
    return {text: name for name, value in long.items() for text in (value, json.dumps(value)[1:-1])}


_hidden: dict[str, str] = {}  # hash -> value, of this process


def hide_headers(spec: Any) -> None:
    """Put a hash in the place of each value of ``headers`` in a judge's specification, which is going to be logged.

    It is changed as it stands, so that whoever writes it later has no value to write. ``{"env": NAME}`` stays.

    Example:
        >>> spec = {"headers": {"X-Team": "red"}}
        >>> hide_headers(spec)
        >>> spec, hidden_value(spec["headers"]["X-Team"])
        ({'headers': {'X-Team': {'masked': 'b1f51a511f1d'}}}, 'red')
    """
    for name, value in spec.items() if isinstance(spec, Mapping) else ():
        if name == "headers" and isinstance(value, MutableMapping):
            for header, text in value.items():
                if isinstance(text, str):
                    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
                    _hidden[digest], value[header] = text, {"masked": digest}
        else:
            hide_headers(value)


def hidden_value(value: Any) -> str | None:
    """The header's value that :func:`hide_headers` put aside in this process; None for all else."""
    return _hidden.get(str(value.get("masked"))) if isinstance(value, Mapping) else None


def without_secrets(text: str, secrets: Iterable[str | None]) -> str:
    """A text that somebody sent, without these secrets, their last words, and what :func:`hide_headers` put aside.

    Example:
        >>> without_secrets("You are Bearer abcd1234.", ["Bearer abcd1234", "t"])
        'You are ***.'
    """
    parts = {part for secret in (*secrets, *_hidden.values()) if secret for part in (secret, secret.split()[-1])}
    for part in sorted(parts, key=len, reverse=True):
        text = text.replace(part, "***") if len(part) >= 8 else text
    return text


def check_no_secret(options: Any, field: str, expected: str = _ADVICE, *, headers: bool = False) -> None:
    """Refuse options that hold a secret itself, at any depth.

    Args:
        options: Plain values, which are going to be logged.
        field: What they are called.
        expected: What to give instead.
        headers: Refuse the value of any header too, as where :func:`hide_headers` should have hidden it.

    Raises:
        InputError: Names the place, never the secret.

    Example:
        >>> check_no_secret({"headers": {"Authorization": "Bearer 123"}}, "judge")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: judge.headers.Authorization: got a secret (not shown), expected the name of an environment variable: api_key_env for a key, {"env": "NAME"} for a header
    """  # noqa: E501
    for place, text in _texts(options, field):
        is_secret = _NAME.search(place) or (headers and _HEADER.search(place))
        if text and (kind := "a secret" if is_secret else _secret_in_option(text)):
            raise InputError(place, None, f"{kind} (not shown)", expected)


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not (set(value) in ({"env"}, {"masked"}) and isinstance(item, str)):
                yield from _texts(item, f"{place}.{key}")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, item in enumerate(value):
            yield from _texts(item, f"{place}[{number}]")


def _secret_in_option(text: str) -> str:
    """As :func:`secret_in`, and stricter: an option has no prose in it that could look like a secret by chance."""
    if re.search(r"://[^\s/?#]*@", text):
        return "a URL with a user's name or password"
    # The parameters of a URL, and the harness's way to write a model's arguments.
    pairs = re.findall(r"(?:^|([?&])|[,\s])([\w-]+)=([^&,\s]+)", text)
    is_secret = any(_NAME.search(name) or (of_url and _RANDOM.search(value)) for of_url, name, value in pairs)
    return "a secret" if is_secret else secret_in(text)
