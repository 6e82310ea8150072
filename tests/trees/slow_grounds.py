"""Grounded values the slow, obvious way: every way to give equal items of a list to their partners is tried."""

from __future__ import annotations

import datetime
import itertools
import re

from rapidfuzz.distance import Indel

KINDS = {"name": "text", "n": "number", "day": "date", "kind": "choice", "sku": "text", "qty": "number"}
MONTHS = "January February March April May June July August September October November December".split()


def quoted(leaf):
    """The value of a leaf and its quote."""
    return (leaf["value"], leaf.get("quote")) if isinstance(leaf, dict) and "value" in leaf else (leaf, None)


def bare(tree):
    if isinstance(tree, dict):
        return tree["value"] if "value" in tree else {key: bare(own) for key, own in tree.items()}
    return [bare(own) for own in tree] if isinstance(tree, list) else tree


def has_value(tree):
    own = tree.values() if isinstance(tree, dict) else tree
    return any(map(has_value, own)) if isinstance(tree, dict | list) else tree is not None


def is_read(kind, value, quote):
    if kind == "number":
        return value in [float(number) for number in re.findall(r"\d+(?:\.\d+)?", quote)]
    if kind == "date":
        days = [
            f"{y}-{MONTHS.index(m) + 1:02}-{int(d):02}" for d, m, y in re.findall(r"(\d+) ([A-Z]\w+) (\d{4})", quote)
        ]
        return value in [*days, *re.findall(r"\d{4}-\d\d-\d\d", quote)]
    return value in re.findall("[a-z]+", quote.lower()) if kind == "choice" else value in quote


def similarity(kind, left, right):
    if kind == "text":
        return Indel.normalized_similarity(left, right)
    if kind == "date":
        return 1 / (1 + abs((datetime.date.fromisoformat(left) - datetime.date.fromisoformat(right)).days))
    return float(left == right)


def leaf_hits(kind, reference, leaf, source):
    value, quote = quoted(leaf)
    if reference is None or value is None or quote is None:
        return 0.0
    return similarity(kind, reference, value) * (quote in source and is_read(kind, value, quote))


def item_hits(reference, item, source):
    if isinstance(reference, dict):
        return sum(leaf_hits(KINDS[key], own, item.get(key), source) for key, own in reference.items())
    return leaf_hits("text", reference, item, source)


def list_hits(reference, items, matched, source):
    """The best of all ways to give each matched item a place among its equals; and the pairs of that way."""
    plain, best = [bare(item) for item in items], (-1.0, [])
    for order in itertools.permutations(range(len(items)), len(matched)):
        if all(plain[j] == plain[own] for (_, j), own in zip(matched, order, strict=True)):
            pairs = [(i, own) for (i, _), own in zip(matched, order, strict=True)]
            best = max(best, (sum(item_hits(reference[i], items[j], source) for i, j in pairs), pairs))
    return best


def grounded(reference, prediction, source, alignments):
    """``grounded_hits``, ``left_empty``, ``filled``, ``filled_quoted``, of the best ways (the last two: of one)."""
    hits, empty = 0.0, []
    for key, own in reference.items():
        told = prediction.get(key)
        if not isinstance(own, list):
            hits += leaf_hits(KINDS[key], own, told, source)
            empty += [told] if own is None else []
        elif own:
            of_list, pairs = list_hits(own, told or [], alignments.get((key,), []), source)
            hits += of_list
            of_items = [(own[i], told[j]) for i, j in pairs if isinstance(own[i], dict)]
            empty += [item.get(inner) for wanted, item in of_items for inner in wanted if wanted[inner] is None]
        else:
            empty.append(told)
    return hits, len(empty), sum(has_value(bare(one)) for one in empty)
