"""Keys of providers: from the environment, else from a file ``.env`` in the working directory. Never logged."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tls_tasks.core.errors import InputError

_ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\n]*))""")


def read_key(variable: str, folder: Path | None = None) -> str:
    """The key in a variable.

    Args:
        variable: Such as ``OPENAI_API_KEY``; the environment's wins over the file's.
        folder: Where ``.env`` is looked for; None: the working directory.

    Raises:
        InputError: It is nowhere, or empty; says where it was looked for.

    Example:
        >>> read_key("NO_SUCH_KEY", Path("nowhere"))
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: NO_SUCH_KEY: got nothing, expected a key in the environment or in nowhere/.env
    """
    file = (folder or Path()) / ".env"
    key = os.environ.get(variable, "").strip() or read_env(file).get(variable, "").strip()
    if not key:
        raise InputError(variable, None, "nothing", f"a key in the environment or in {file}")
    return key


def read_env(file: Path) -> dict[str, str]:
    """The assignments ``NAME=value`` of a file; text, in which nothing is replaced and nothing run.

    Args:
        file: One assignment a line, maybe with ``export`` and quotation marks; other lines are passed over. A file that
            isn't there or can't be read has none.

    Example:
        >>> read_env(Path("nowhere/.env"))
        {}
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = (_ASSIGNMENT.match(line) for line in lines)
    return {
        match[1]: next((part for part in match.groups()[1:] if part is not None), "").strip()
        for match in found
        if match
    }


def hide(text: str, secret: str | None) -> str:
    """A server's words without the key, which some repeat.

    Example:
        >>> hide("wrong key: sk-123456", "sk-123456")
        'wrong key: ***'
    """
    return text.replace(secret, "***") if secret else text
