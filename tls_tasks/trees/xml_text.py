"""XML in model text as dictionaries and lists: no parser of XML, since models leave ``&`` and ends of elements out."""

from __future__ import annotations

import html
import re
from typing import Any

from tls_tasks.core.yaml_text import Unquoted
from tls_tasks.trees.types import MAX_DEPTH

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.-]{0,60})(?:\s[^<>]{0,200})?(/?)>")


def elements_of(text: str) -> dict[str, Any]:
    r"""The elements of a text by name: a dictionary if there are others in it, otherwise its text, as it is written.

    An element that comes again makes a list. One without its end ends with the one around it. Attributes are left out.

    Example:
        >>> elements_of("Here:\n<a><b>1 & 2</b><c/><d>x</d><d>y</d></a>")
        {'a': {'b': '1 & 2', 'c': '', 'd': ['x', 'y']}}
        >>> elements_of("a < b, <a><b>1</b><c>2")
        {'a': {'b': '1'}}
    """
    root: dict[str, Any] = {}
    path = [("", root)]
    position = 0
    for tag in _TAG.finditer(text):
        between, position = text[position : tag.start()], tag.end()
        ends, name, is_empty = tag.groups()
        if is_empty:
            _put(path[-1][1], name, Unquoted(""))
        elif not ends and len(path) > MAX_DEPTH:
            break
        elif not ends:
            path.append((name, {}))
        elif any(name == opened for opened, _ in path):
            while path[-1][0] != name:
                _close(path)
            _, inner = path.pop()
            _put(path[-1][1], name, inner or Unquoted(html.unescape(between).strip()))
    while len(path) > 1:
        _close(path)
    return root


def _close(path: list[tuple[str, dict[str, Any]]]) -> None:
    """End an element that has no end of its own: only the elements in it count."""
    name, inner = path.pop()
    if inner:
        _put(path[-1][1], name, inner)


def _put(into: dict[str, Any], name: str, value: Any) -> None:
    if name not in into:
        into[name] = value
    elif isinstance(into[name], list):
        into[name].append(value)
    else:
        into[name] = [into[name], value]
