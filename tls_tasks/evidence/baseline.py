"""The keyword baseline: what stands around a keyword of a domain is an object, and cue words give its attributes.

It reads the prompt and nothing else, as a model would: the document, the keys and the values that they may have. The
lists are short and English; what it finds in other languages is chance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from tls_tasks.core.prompts import read_prompt
from tls_tasks.evidence.baseline_lists import CUES, KEYWORDS, OUTER_WORDS, SENTENCE_CUES
from tls_tasks.text.sentences import sentences

BEFORE, AFTER = 3, 3
"""How many words before the first and after the last keyword belong to the quote, within its clause."""

PLAIN = ("present", "today", "unknown")
"""What an attribute has without a cue, if it may have it; else the first of its values."""

_KEY = re.compile(r'^- "([^"\n]+)"(?: \(of ([^)\n]+) only\))?: (.+)$', re.MULTILINE)
_VALUE = re.compile(r'"([^"\n]+)"')
_CLAUSE_END = re.compile(r"[,;:()“”]|\s[-–—]\s|\b(?:and|but|because|since|so|then|though|although|which)\b")
_EDGES = "\"'“”‘’.,;:!?()… "
_NEVER = re.compile(r"(?!)")


class Request(NamedTuple):
    """What a prompt asks for.

    Attributes:
        domains: The domains, in order.
        domain_key, span_key: The keys of domain and quote.
        attributes: Key, the domains that have it, and its values.
    """

    domains: tuple[str, ...]
    domain_key: str
    span_key: str
    attributes: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]


def answer(prompt: str) -> str:
    r"""Answer an extraction prompt with a JSON array of objects.

    Args:
        prompt: What :func:`tls_tasks.evidence.data.prompt` makes.

    Returns:
        The array; ``[]`` if nothing is found or asked for. Every quote is verbatim in the document.

    Example:
        >>> keys = '- "domain": one of "symptom"\n- "quote": the words\n- "polarity": one of "present", "absent"'
        >>> text = answer(f"<document>\nMild headache, no fever.\n</document>\n\nThe keys:\n{keys}\nJSON:")
        >>> [(one["quote"], one["polarity"]) for one in json.loads(text)]
        [('Mild headache', 'present'), ('no fever', 'absent')]
    """
    document, instruction = read_prompt(prompt)
    request = read_request(instruction)
    if request is None:
        return "[]"
    return json.dumps(list(_objects(document, request)), ensure_ascii=False)


def read_request(instruction: str) -> Request | None:
    """The keys that an instruction lists, each with its values; None if it lists no domain and no quote."""
    keys = [(key, _names(only), tuple(_VALUE.findall(rest))) for key, only, rest in _KEY.findall(instruction)]
    if len(keys) < 2:
        return None
    (domain_key, _, domains), (span_key, _, _), *attributes = keys
    return Request(domains, domain_key, span_key, tuple((key, only or domains, of) for key, only, of in attributes))


def _names(only: str) -> tuple[str, ...]:
    return tuple(only.split(", ")) if only else ()


def _objects(document: str, request: Request) -> Iterator[dict[str, str]]:
    found = set()
    for sentence in sentences(document):
        for clause in _CLAUSE_END.split(sentence):
            for domain in request.domains:
                quote = _quote(clause, domain)
                if quote and (domain, quote) not in found:
                    found.add((domain, quote))
                    yield {
                        request.domain_key: domain,
                        request.span_key: quote,
                        **_attributes(clause, sentence, domain, request),
                    }


def _quote(clause: str, domain: str) -> str:
    """The keywords of the domain in a clause with the words around them; empty if there is none."""
    words = list(re.finditer(r"\S+", clause))
    keyword = _keyword(domain)
    hits = [index for index, word in enumerate(words) if keyword.fullmatch(_plain(word[0]))]
    if not hits:
        return ""
    around = words[max(0, hits[0] - BEFORE) : hits[-1] + AFTER + 1]
    while len(around) > 1 and _plain(around[0][0]) in OUTER_WORDS:
        around = around[1:]
    while len(around) > 1 and _plain(around[-1][0]) in OUTER_WORDS:
        around = around[:-1]
    return clause[around[0].start() : around[-1].end()].strip(_EDGES)


@lru_cache
def _keyword(domain: str) -> re.Pattern[str]:
    """Any keyword of the domain; nothing for a domain without a list."""
    words = KEYWORDS.get(domain, "").casefold().split()
    return re.compile("|".join(re.escape(word).replace(r"\*", r"\w*") for word in words)) if words else _NEVER


@lru_cache
def _cue(value: str) -> re.Pattern[str]:
    """What speaks for a value in a clause."""
    return _phrases(CUES.get(value, ()))


@lru_cache
def _sentence_cue(value: str) -> re.Pattern[str]:
    return _phrases(SENTENCE_CUES.get(value, ()))


def _phrases(cues: Iterable[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, cues))
    return re.compile(rf"\b(?:{either})\b") if either else _NEVER


def _plain(word: str) -> str:
    return word.strip(_EDGES).replace("’", "'").casefold()


def _attributes(clause: str, sentence: str, domain: str, request: Request) -> Mapping[str, str]:
    clause, sentence = clause.replace("’", "'").casefold(), sentence.replace("’", "'").casefold()
    chosen = {}
    for key, domains, values in request.attributes:
        if domain in domains:
            cued = [value for value in values if _cue(value).search(clause) or _sentence_cue(value).search(sentence)]
            chosen[key] = next(iter([*cued, *(value for value in PLAIN if value in values), *values]))
    return chosen
