"""Prompts of your own: a folder of those files that report_gen_eval keeps its prompts in, or of text files.

A prompt has a part for the system and one for the user; the texts are put into the second. In the program's files,
``check_relevance.py`` and so on, they are the strings ``SYSTEM_PROMPT`` and ``USER_PROMPT``, which are read and never
run. A text file, ``check_relevance.txt`` or ``citation_support.txt``, has the user's part, or both with a line
``=====`` between them. Texts are shown as they are: what stands between tags in our own prompts is open here.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.rows import describe
from tls_tasks.reports.judges.prompts import BETWEEN, Message
from tls_tasks.reports.types import QUERY_KINDS, Query

_PROGRAMS_NAMES = {"citation_support": "check_relevance", "negative": "check_negative"}
_FIELDS = {
    "sentence": "sentence",
    "citation_content": "document",
    "nugget_question": "question",
    "nugget_answer": "answer",
    "previous_sentences": "previous",
}
"""The program's placeholder -> our field; ours may be written as well."""

_SHOWN: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(QUERY_KINDS, ("sentence",)),
    "citation_support": ("sentence", "document"),
    "nugget_agreement": ("sentence", "question", "answer"),
    "first_instance": ("sentence", "previous"),
}


class PromptFolder:
    """The five prompts of a folder.

    Attributes:
        hash: Eight digits that change with every change of a prompt; part of the judge's name.

    Raises:
        DataError: A prompt that is missing or can't be read; says where was looked.
        InputError: A placeholder that does not exist, or one that a prompt lacks.
    """

    def __init__(self, folder: str | Path) -> None:
        self._prompts = {kind: _read(kind, Path(folder).expanduser()) for kind in QUERY_KINDS}
        parts = "\0".join(text for kind, prompt in self._prompts.items() for text in (kind, *prompt))
        self.hash = hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:8]

    def render(self, query: Query) -> list[Message]:
        """The messages that put a question to a judge.

        Raises:
            InputError: A field that is missing or not text.
        """
        system, user = self._prompts[query.kind]
        for name in _SHOWN[query.kind]:
            if not isinstance(query.fields.get(name), str):
                got = f"{name}: {describe(query.fields.get(name))}"
                raise InputError(f"fields of {query.kind}", None, got, "a str")
        # Lone surrogates are the one thing that no server takes.
        texts = {name: text.encode("utf-8", "replace").decode() for name, text in query.fields.items()}
        shown = user.format(**texts, **{name: texts.get(field, "") for name, field in _FIELDS.items() if name != field})
        messages = [{"role": "system", "content": system}] if system else []
        return [*messages, {"role": "user", "content": shown}]


def _read(kind: str, folder: Path) -> tuple[str, str]:
    names = dict.fromkeys((_PROGRAMS_NAMES.get(kind, kind), kind))
    files = [folder / f"{name}{suffix}" for name in names for suffix in (".py", ".txt")]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise DataError(f"{folder}: no prompt for {kind}, looked for {', '.join(file.name for file in files)}")
    try:
        text = file.read_text(encoding="utf-8")
        system, user = _strings(text) if file.suffix == ".py" else _parts(text)
        names_in = {name for _, name, _, _ in Formatter().parse(user) if name is not None}
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise DataError(f"{file}: can't be read as a prompt: {error}") from error
    fields = {_FIELDS.get(name, name) for name in names_in}
    if fields != set(_SHOWN[kind]):
        wanted = [f"{{{name}}}" for name, field in _FIELDS.items() if field in _SHOWN[kind]]
        got = ", ".join(f"{{{name}}}" for name in sorted(names_in)) or "no placeholder"
        raise InputError(str(file), None, got, " and ".join(wanted))
    return system, user


def _parts(text: str) -> tuple[str, str]:
    system, between, user = text.partition(BETWEEN)
    return (system.strip(), user.strip()) if between else ("", text.strip())


def _strings(source: str) -> tuple[str, str]:
    r"""``SYSTEM_PROMPT`` and ``USER_PROMPT`` of a Python file, which is not run.

    Example:
        >>> _strings('SYSTEM_PROMPT = "a"\nUSER_PROMPT = "b"')
        ('a', 'b')
    """
    found: dict[str, object] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            found |= {name.id: statement.value.value for name in statement.targets if isinstance(name, ast.Name)}
    system, user = found.get("SYSTEM_PROMPT", ""), found.get("USER_PROMPT")
    if not isinstance(system, str) or not isinstance(user, str):
        raise ValueError("it has no string USER_PROMPT")
    return system, user
