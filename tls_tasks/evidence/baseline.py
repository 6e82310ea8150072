"""The keyword baseline: words around a keyword of a domain are an object, and cue words give its attributes.

It reads the prompt and nothing else, as a model would: the document, the keys and the values that they may have. The
lists are short and English; matches in other languages are chance.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tls_tasks.core.task import read_prompt
from tls_tasks.text.tokenizers import sentences

_WORDS = json.loads(Path(__file__).with_name("keywords.json").read_text(encoding="utf-8"))

KEYWORDS: Mapping[str, list[str]] = _WORDS["keywords"]
"""Domain -> its keywords; a star stands for any letters. The first four are those of journals, then MACCROBAT's."""

_CUES: Mapping[str, list[str]] = _WORDS["cues"]  # value of an attribute -> patterns of words that indicate it
_UNMARKED = ("present", "today", "unknown")  # values without a cue; an attribute with none of them has its first value
_BEFORE, _AFTER = 3, 2  # words around the keywords that belong to the quote, within its clause

_KEY = re.compile(r'^- "([^"\n]+)"(?: \(only for ([^)\n]+)\))?: (.+)$', re.MULTILINE)
_VALUE = re.compile(r'"([^"\n]+)"')
_CLAUSE_END = re.compile(r"[,;:()“”]|\s[-–—]\s|\b(?:and|but|because|since|so|then|though|although|which)\b")
_EDGES = "\"'“”‘’.,;:!?()… "


def answer(prompt: str) -> str:
    r"""Answer an extraction prompt with a JSON array of objects.

    Args:
        prompt: A prompt of :func:`tls_tasks.evidence.data.prompt`.

    Returns:
        The array; ``[]`` if the document has no keyword, or the prompt asks for no objects. Quotes are verbatim.

    Example:
        >>> keys = '- "domain": one of "symptom"\n- "quote": the words\n- "polarity": one of "present", "absent"'
        >>> text = answer(f"<document>\nMild headache, no fever.\n</document>\n\nThe keys:\n{keys}\nJSON:")
        >>> [(item["quote"], item["polarity"]) for item in json.loads(text)]
        [('Mild headache', 'present'), ('no fever', 'absent')]
    """
    document, instruction = read_prompt(prompt)
    lines = _KEY.findall(instruction)
    keys = [(key, only.split(", ") if only else (), _VALUE.findall(rest)) for key, only, rest in lines]
    if len(keys) < 2:
        return "[]"
    (domain_key, _, domains), (span_key, _, _), *attributes = keys
    objects: dict[tuple[str, str], dict[str, str]] = {}
    for sentence in sentences(document):
        for clause in _CLAUSE_END.split(sentence):
            for domain in domains:
                if (quote := _quote(clause, domain)) and (domain, quote) not in objects:
                    choices = ((key, values) for key, only, values in attributes if domain in (only or domains))
                    chosen = {key: _choose_value(_plain(clause), values) for key, values in choices}
                    objects[domain, quote] = {domain_key: domain, span_key: quote, **chosen}
    return json.dumps(list(objects.values()), ensure_ascii=False)


def _quote(clause: str, domain: str) -> str:
    """Return the part of a clause from the domain's first to its last keyword, with a few words around; else ``""``."""
    words = list(re.finditer(r"\S+", clause))
    keyword = _keyword(domain)
    hits = [index for index, word in enumerate(words) if keyword.fullmatch(_plain(word[0]))]
    if not hits:
        return ""
    around = words[max(0, hits[0] - _BEFORE) : hits[-1] + _AFTER + 1]
    return clause[around[0].start() : around[-1].end()].strip(_EDGES)


@lru_cache
def _keyword(domain: str) -> re.Pattern[str]:
    """Return a pattern of the domain's keywords, which matches nothing for a domain without a list."""
    words = [re.escape(word.casefold()).replace(r"\*", r"\w*") for word in KEYWORDS.get(domain, ())]
    return re.compile("|".join(words) or "(?!)")


def _plain(text: str) -> str:
    return text.strip(_EDGES).replace("’", "'").casefold()


def _choose_value(clause: str, values: Sequence[str]) -> str:
    """Return the first value that a clause has a cue for, or the value without a cue."""
    cued = [value for value in values if value in _CUES and re.search(rf"\b(?:{'|'.join(_CUES[value])})\b", clause)]
    return [*cued, *(value for value in _UNMARKED if value in values), *values][0]
