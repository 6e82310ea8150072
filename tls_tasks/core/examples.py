"""Whether a value in a model's text is an example, by what stands before it: no example is an answer."""

from __future__ import annotations

import re

LEAD = 200
"""Characters before a value in which words are looked for."""

_FENCE_BEGINS = re.compile(r"[`~]{3,}[\w+.-]*\s*\Z")
_FORM = r"(?:array|dictionary|entry|entries|form|format|items?|json|list|objects?|output|records?|structure)"
_EXAMPLE = re.compile(
    rf"(?:\bfor (?:example|instance)|\be\.\s?g\.|\beg)[^.!?\n)]{{0,60}}$|\b{_FORM}\s+(?:such as|like)(?: this)?\W*$"
    r"|\b(?:an?|each|every|one)\s+(?:[\w-]+\s+){1,6}(?:(?:could|might|should|will|would)\s+)?looks?\s+like\b[^.!?\n]{0,30}$"
    rf"|(?:^|[\n.!?])\W*(?:[\w-]+\s+){{0,3}}(?:example\b|sample\s+{_FORM})(?:\s+[\w'-]+){{0,6}}\W*$",
    re.IGNORECASE,
)
_AS_THE_EXAMPLE = re.compile(
    r"\b(?:as|follow\w*|like|match\w*|per|same)\s+(?:\w+\s+){0,3}(?:that|the|this|your)\s+(?:\w+\s+){0,2}example\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\b(?:must|should|will|would)\s+look\b[^.!?\n]{0,40}$|\b(?:format|schema|structure|template)(?:\s+is)?\W*$",
    re.IGNORECASE,
)
_IN_THE_FORMAT = re.compile(
    r"\b(?:in|into|with|as|using|to)\s+(?:[\w-]+\s+){0,4}(?:format|schema|structure|template)\b", re.IGNORECASE
)


def lead_of(text: str, begin: int, start: int) -> str:
    r"""What stands before a value at ``start``, from ``begin`` on, without the line that opens its fence.

    Example:
        >>> lead_of("[1] For example:\n```json\n[2]", 3, 25)
        ' For example:\n'
    """
    return _FENCE_BEGINS.sub("", text[max(begin, start - LEAD) : start])


def is_example(lead: str, more_follow: bool) -> bool:
    """Whether a value with this lead is an example, or, where others follow, the form that they have.

    Example:
        >>> is_example("An entry could look like this, for example:", False), is_example("As in your example:", False)
        (True, False)
        >>> is_example("The format is:", True), is_example("The format is:", False)
        (True, False)
    """
    lead = lead[-LEAD:].rstrip()
    if _EXAMPLE.search(lead) and not _AS_THE_EXAMPLE.search(lead):
        return True
    return more_follow and bool(_TEMPLATE.search(lead)) and not _IN_THE_FORMAT.search(lead)
