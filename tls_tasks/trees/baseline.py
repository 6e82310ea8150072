"""The rules baseline: fills a JSON Schema from a document by regular expressions and the words of the keys.

A value is what stands behind the words of its key: a date, a number, one of the choices, or the rest of the line. It
reads the prompt and nothing else, as a model would, and the same prompt always gives the same answer.
"""

import json
import re
from collections.abc import Hashable
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.task import read_prompt
from tls_tasks.text.dates import read_date
from tls_tasks.trees.grounds import with_quotes
from tls_tasks.trees.plan import make_plan
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import Branch, Leaf, ListOf, SchemaNode, UnionNode

_REACH = 80  # characters between the words of a key and its value: about a line

_SCHEMA = "\n\nJSON Schema:\n"  # what follows the document in a prompt

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,7}"
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}})\b", re.IGNORECASE | re.ASCII
)
_NUMBER = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d{1,15})(\.\d{1,4})?(?![\w-]|[.,]\d)", re.ASCII)
_NO = re.compile(r"\b(?:no|not|none|never|without)\b[^.\n]{0,20}$", re.IGNORECASE)
_LABEL = re.compile(r"[ .]*:[ .]*([^\n;()]{1,320})")
_KEY_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_KIND_WORDS = frozenset(("date", "has", "id", "is", "name", "number", "of"))  # say what kind a value is, not which one


def answer(prompt: str) -> str:
    r"""Answer an extraction prompt.

    Args:
        prompt: What :func:`tls_tasks.trees.data.prompt` makes: the document between the lines ``<document>`` and
            ``</document>``, then a line of JSON Schema. If there are more than one (few-shot), the last is the one
            that is asked about.

    Returns:
        JSON that has the form of the schema; ``{}`` if there is no schema in the prompt.

    Example:
        >>> schema = '{"type": "object", "properties": {"due_date": {"type": "string", "format": "date"}, "total": {"type": "number"}}}'
        >>> answer(f"<document>\nDue on 4 April 2024. Total: 1,342.30\n</document>\n\nJSON Schema:\n{schema}\n\nJSON:")
        '{"due_date": "2024-04-04", "total": 1342.3}'
    """  # noqa: E501 - a schema is one line
    document, request = read_prompt(prompt)
    schema = request.removeprefix(_SCHEMA).partition("\n")[0]
    try:
        node = read_schema(json.loads(schema), "json_schema")
    except (ValueError, RecursionError, InputError):  # the prompt belongs to another task
        return "{}"
    tree = _fill(node, document)
    asks_for_quotes = '"quote"' in request.removeprefix(_SCHEMA).partition("\n")[2]
    return json.dumps(with_quotes(make_plan(node), tree, document) if asks_for_quotes else tree, ensure_ascii=False)


def _fill(node: SchemaNode, text: str, key: Hashable = "") -> Any:
    """Return the value of a schema node, by its key, from a text.

    Args:
        node: A part of the schema.
        text: What it is filled from.
        key: The node's key, whose words say what to look for.

    Returns:
        A dictionary, a list or a scalar, as the node wants; None for a leaf that was not found.

    Example:
        >>> _fill(ListOf(Leaf("string")), "Present: Ann Lee, Bo Ek and Cy.", "present")
        ['Ann Lee', 'Bo Ek', 'Cy']
    """
    if isinstance(node, Branch):
        return {str(name): _fill(child, text, name) for name, child in node.children.items()}
    if isinstance(node, ListOf):
        return _parts(text, key) if node.item == Leaf("string") else []
    if not isinstance(node, Leaf):
        return _fill(node.parts[-1], text, key) if isinstance(node, UnionNode) else None
    mentions = _mentions(text, key)
    if node.choices:
        return _choice(node, text)
    if node.type in ("date", "datetime"):
        match = _behind(_DATE, text, mentions) or _DATE.search(text)
        expression = read_date(match[0]) if match else None
        return expression.date.isoformat() if expression and not expression.other else None
    if node.type in ("number", "integer"):
        match = _behind(_NUMBER, text, mentions)
        if match is None or (match[2] and node.type == "integer"):
            return None
        whole = match[1].replace(",", "")
        return float(whole + match[2]) if match[2] else int(whole)
    if node.type == "boolean":
        return not _NO.search(text[max(0, mentions[0] - _REACH) : mentions[0]]) if mentions else None
    return _label(text, key) if node.type == "string" else None


def _mentions(text: str, key: Hashable) -> list[int]:
    """Return the positions in a text where a key's words end; ``ingredient`` also matches ``ingredients``."""
    words = [word.lower() for word in _KEY_WORD.findall(str(key))]
    stems = [re.escape(word[:-1] if len(word) > 4 else word) for word in words if word not in _KIND_WORDS]
    pattern = rf"(?<![^\W\d_])(?:{'|'.join(stems)})\w{{0,4}}"
    return [match.end() for match in re.finditer(pattern, text, re.IGNORECASE)] if stems else []


def _behind(pattern: re.Pattern[str], text: str, mentions: list[int]) -> re.Match[str] | None:
    """Return the first match behind a mention, within reach."""
    return next((match for end in mentions if (match := pattern.search(text, end, end + _REACH))), None)


def _choice(leaf: Leaf, text: str) -> Any:
    """Return the choice that comes first in the text; None if there is none."""
    names = {str(choice).lower(): choice for choice in leaf.choices}
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    match = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE)
    return names.get(match[0].lower()) if match else None


def _label(text: str, key: Hashable) -> str | None:
    """Return the text behind the key's words and a colon; for a name or title else the first line."""
    for end in _mentions(text, key):
        if match := _LABEL.match(text, end):
            return match[1].partition(". ")[0].strip(" .,") or None
    is_title = not {"name", "title"}.isdisjoint(str(key).lower().split("_"))
    return (text.strip().partition("\n")[0][:_REACH].strip(" .,") or None) if is_title else None


def _parts(text: str, key: Hashable) -> list[str]:
    """Return the items that are enumerated behind the key's words and a colon."""
    label = _label(text, key)
    return [part for part in re.split(r"[,;]\s*(?:and\s+)?|\s+and\s+", label) if part] if label else []
