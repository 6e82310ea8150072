"""The lead baseline: the first sentences of the document are its summary.

For news it is hard to beat (Nenkova, Automatic Text Summarization of Newswire, AAAI 2005). It reads the prompt and
nothing else, as a model would, and the same prompt always gives the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tls_tasks.baselines.prompts import read_prompt

_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+")
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sen|Rep|Gov|vs)\.$")


def answer(prompt: str, n: int = 3) -> str:
    r"""Answer a summary prompt with the first sentences of its document.

    Args:
        prompt: What :func:`tls_tasks.datasets.summaries.prompt` makes; see
            :func:`~tls_tasks.baselines.prompts.read_prompt`.
        n: How many sentences.

    Returns:
        The sentences, joined by blanks; empty if there is no document in the prompt.

    Example:
        >>> answer("<document>\nDr. Hale left. It rained.\nThen it stopped.\n</document>\n\nSummary:", n=2)
        'Dr. Hale left. It rained.'
    """
    return " ".join(islice(sentences(read_prompt(prompt).document), n))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in order; a sentence never goes over the end of a line, a line without words is none.

    Example:
        >>> list(sentences("She asked: why? Dr. Hale knew."))
        ['She asked: why?', 'Dr. Hale knew.']
    """
    for line in text.split("\n"):
        begin = 0
        for end in _SENTENCE_END.finditer(line):
            if _ABBREVIATION.search(line[begin : end.start() + 1]):
                continue
            yield line[begin : end.end()].strip()
            begin = end.end()
        rest = line[begin:].strip()
        if any(character.isalnum() for character in rest):
            yield rest
