"""Reads our docstrings for the site: ``Example:`` is a section of code, and roles such as ``:func:`x``` are code."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Docstrings(griffe.Extension):
    """What mkdocstrings loads."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.M)
            text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
            obj.docstring.value = re.sub(r"::\n(?=\n +\S)", ":\n", text).replace("``", "`")
