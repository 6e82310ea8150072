"""The lead baseline: the first sentences of the document are its summary.

For news it is hard to beat (Nenkova, Automatic Text Summarization of Newswire, AAAI 2005). It reads the prompt and
nothing else, as a model would, and the same prompt always gives the same answer.
"""

from itertools import islice

from tls_tasks.core.task import read_prompt
from tls_tasks.text.tokenizers import sentences


def answer(prompt: str, n: int = 3) -> str:
    r"""Answer a summary prompt with the first sentences of its document.

    Args:
        prompt: A prompt of :func:`tls_tasks.summaries.data.prompt`.
        n: Number of sentences.

    Returns:
        The sentences, joined by spaces; empty if there is no document in the prompt.

    Example:
        >>> answer("<document>\nDr. Hale left. It rained.\nThen it stopped.\n</document>\n\nSummary:", n=2)
        'Dr. Hale left. It rained.'
    """
    return " ".join(islice(sentences(read_prompt(prompt)[0]), n))
