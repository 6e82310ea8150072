"""The lead baseline for reports: the first sentence of each of the first documents, cited by its number.

Every sentence is supported word for word, so its scores are those of a report that is all support and no search. Like a
model, it reads nothing but the prompt.
"""

import re
from itertools import islice

from tls_tasks.text.tokenizers import sentences

_NUMBER = re.compile(r"^\[([0-9]+)\] ?(.*)$", re.MULTILINE)


def answer(prompt: str, k: int = 10) -> str:
    r"""Answer a report prompt with the first sentences of its first documents.

    Args:
        prompt: What :func:`tls_tasks.reports.data.prompt` makes: numbered documents between the lines
            ``<documents>`` and ``</documents>``. If there are several such lists (few-shot), the last one counts.
        k: How many documents.

    Returns:
        A sentence per document with its mark; empty if there is no document in the prompt.

    Example:
        >>> documents = "[1] Rain\nIt rained. It stopped.\n\n[2] Snow\nIt snowed."
        >>> answer(f"<documents>\n{documents}\n</documents>\n\nReport:")
        'It rained. [1] It snowed. [2]'
    """
    texts = enumerate(islice(_documents(prompt), k), start=1)
    return " ".join(f"{first} [{number}]" for number, text in texts if (first := next(sentences(text), "")))


def _documents(prompt: str) -> list[str]:
    """Return the texts of the documents, without their titles, in the order of their numbers."""
    _, opening, section = ("\n" + prompt.rpartition("\n</documents>")[0]).rpartition("\n<documents>\n")
    starts: list[re.Match[str]] = []
    for match in _NUMBER.finditer(section if opening else ""):
        # A line of a document may begin with a number in brackets too; only the next number begins a document.
        if match[1] == str(len(starts) + 1):
            starts.append(match)
    stops = [*(match.start() for match in starts[1:]), len(section)]
    texts = [section[match.end() : stop].strip() for match, stop in zip(starts, stops, strict=False)]
    return [text or match[2] for text, match in zip(texts, starts, strict=True)]
