"""Read many JSON Schemas: how many load, how many are refused, and how many are misread; prints counts.

    python benchmarks/json_schemas.py FOLDER [--every 4] [--draw 3] [--seconds 10] [--list]

FOLDER holds JSON files at any depth: a schema each, or ``{"schema": …, "tests": [{"valid": true, "data": …}]}`` as in
maskbench/data of guidance-ai/jsonschemabench. A schema is misread if it names a property that the nodes read from it
don't have at that path, or if a valid instance, as text or not, is refused though the schema describes all of it, does
not score 1 against itself (``f1_value``, which is NaN where the instance has no value, and ``treeval_score``), or has
a value that does not count. Drawn instances are kept if they are valid by the package jsonschema.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import signal
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from tls_tasks.core.errors import InputError
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import Again, Branch, ListOf, OneOf, SchemaNode

MOST_PATHS, MOST_STEPS = 2_000, 12
CASES = ("allOf", "anyOf", "oneOf")
KINDS = frozenset(("object", "array", "scalar"))
OF = {"object": ("properties", "patternProperties", "additionalProperties"), "array": ("items", "prefixItems")}
OLD = re.compile(r"draft-0[3467]\b")
Above = tuple[frozenset[str], tuple[int, ...]]


class _TooSlowError(Exception):
    pass


def _stop(*_: Any) -> None:
    raise _TooSlowError


def target(schema: Mapping[str, Any], root: Any) -> Any:
    """What a reference within the document refers to; None if there is none."""
    if not isinstance(schema.get("$ref"), str) or not schema["$ref"].startswith("#"):
        return None
    found = root
    for step in schema["$ref"].split("/")[1:]:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def kinds(schema: Any, root: Any, above: tuple[int, ...] = ()) -> frozenset[str]:
    """Whether values may be dictionaries, lists or scalars, by types and values; where nothing is said all three."""
    if not isinstance(schema, Mapping) or id(schema) in above:
        return KINDS
    above, found, referred = (*above, id(schema)), KINDS, target(schema, root)
    if referred is not None:
        found &= kinds(referred, root, above)
        if OLD.search(str(root.get("$schema"))):
            return found  # beside a reference nothing counts there
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        found &= {own for one in types for own in (kinds(one, root, above) if isinstance(one, Mapping) else kind(one))}
    if "enum" in schema or "const" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        are_of = ["object" if isinstance(one, dict) else "array" if isinstance(one, list) else "" for one in values]
        found &= {own for name in are_of for own in kind(name)}
    for key in CASES:
        own = [kinds(part, root, above) for part in schema[key]] if isinstance(schema.get(key), list) else []
        if own:
            found &= frozenset.intersection(*own) if key == "allOf" else frozenset.union(*own)
    return found


def kind(name: Any) -> frozenset[str]:
    """The kind of a type."""
    name = str(name).lower()
    return KINDS if name == "any" else frozenset([name if name in ("object", "array") else "scalar"])


def named(schema: Any, root: Any, path: tuple[Hashable, ...] = (), above: Above = (KINDS, ())) -> Iterator[Any]:
    """The paths of the properties that a schema names; items of lists have the path of their list.

    Properties where no value may be a dictionary, and items where none may be a list, say nothing, and so does what
    stands beside a reference in drafts before 2019.
    """
    around, seen = above
    if not isinstance(schema, Mapping) or id(schema) in seen or len(path) > MOST_STEPS:
        return
    seen, around, referred = (*seen, id(schema)), around & kinds(schema, root), target(schema, root)
    yield from named(referred, root, path, (around, seen))
    if referred is not None and OLD.search(str(root.get("$schema"))):
        return
    properties = schema.get("properties")
    for key, own in properties.items() if isinstance(properties, Mapping) and "object" in around else ():
        if own is not False and kinds(own, root):
            yield (*path, key)
            yield from named(own, root, (*path, key), (KINDS, seen))
    if "array" in around:
        yield from named(schema.get("items"), root, path, (KINDS, seen))
    inner = [schema.get(key) for key in ("if", "then", "else")]
    inner += [part for key in CASES if isinstance(schema.get(key), list) for part in schema[key]]
    for own in inner:
        yield from named(own, root, path, (around, seen))


def has(node: SchemaNode, path: tuple[Hashable, ...], above: tuple[int, ...] = ()) -> bool:
    """Whether the node has something at a path by name."""
    if id(node) in above:
        return False
    above = (*above, id(node))
    if isinstance(node, Again):
        return has(node.node, path, above)
    if isinstance(node, ListOf):
        return has(node.item, path, above)
    if isinstance(node, OneOf):
        return any(has(part, path, above) for part in node.parts)
    return not path or (isinstance(node, Branch) and path[0] in node.children and has(node.children[path[0]], path[1:]))


def explicit(schema: Any) -> Any:
    """A schema that says which kind of value it describes: what has ``properties`` and no type is an object.

    By JSON Schema's letter text complies with ``{"properties": …}``, and with ``{"patternProperties": …}`` a key that
    has none of the patterns; neither is described by it.
    """
    if not isinstance(schema, Mapping):
        return schema
    found = dict(schema)
    for key in ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas"):
        if isinstance(schema.get(key), Mapping):
            found[key] = {name: explicit(own) for name, own in schema[key].items()}
    for key in ("items", "additionalProperties", "additionalItems", "then", "else"):
        found |= {key: explicit(schema[key])} if isinstance(schema.get(key), Mapping) else {}
    for key in (*CASES, "items", "prefixItems"):
        found |= {key: [explicit(own) for own in schema[key]]} if isinstance(schema.get(key), list) else {}
    if not schema.keys() & {"type", "enum", "const", "$ref", *CASES}:
        are_of = [key for key, own in OF.items() if any(schema.get(key, True) is not True for key in own)]
        found |= {"type": are_of} if are_of else {}
    if "patternProperties" in schema and not schema.keys() & {"$ref", *CASES}:
        found.setdefault("additionalProperties", False)
    return found


def validator(schema: Any) -> Any:
    """The validator of a schema's own draft."""
    return validator_for(schema, default=Draft202012Validator)(schema)


def is_valid(schema: Any, tree: Any) -> bool | None:
    """Whether a tree complies; None: the schema can't be applied."""
    try:
        return bool(validator(schema).is_valid(tree))
    except _TooSlowError:
        raise
    except Exception:
        return None


def drawn(schema: Any, root: Any, chance: random.Random, depth: int = 0) -> Any:
    """A tree that may comply with a schema."""
    if not isinstance(schema, Mapping) or depth > 2 * MOST_STEPS:
        return chance.choice(["word", 7])
    if "enum" in schema or "const" in schema:
        return chance.choice(schema["enum"]) if schema.get("enum") else schema.get("const")
    if (referred := target(schema, root)) is not None:
        return drawn(referred, root, chance, depth + 1)
    parts = [chance.choice(schema[key]) for key in ("anyOf", "oneOf") if schema.get(key)]
    parts += schema.get("allOf", [])
    trees = [drawn(part, root, chance, depth + 1) for part in parts]
    scalars = [tree for tree in trees if not isinstance(tree, dict)]
    if scalars and "properties" not in schema:
        return scalars[0]
    untyped = "object" if parts or "properties" in schema else ""
    name: Any = schema.get("type") or ("array" if "items" in schema else untyped)
    name = chance.choice(name) if isinstance(name, list) and name else name
    if name == "object":
        own, required = schema.get("properties", {}), schema.get("required", [])
        is_needed = required.__contains__ if isinstance(required, list) else bool
        keys = [key for key in own if is_needed(key) or (depth < MOST_STEPS and chance.random() < 0.6)]
        tree = {key: drawn(own[key], root, chance, depth + 1) for key in keys if own[key] is not False}
        more = schema.get("additionalProperties", 0)
        tree |= {"other": drawn(more, root, chance, depth + 1)} if isinstance(more, Mapping) and not own else {}
        return {key: child for part in trees if isinstance(part, dict) for key, child in part.items()} | tree
    if name == "array":
        item = schema.get("items")
        n = max(schema.get("minItems", 0), chance.randrange(3) if depth < MOST_STEPS else 0)
        several = item if isinstance(item, list) else schema.get("prefixItems", [item] * min(n, 5))
        return [drawn(own, root, chance, depth + 1) for own in several]
    number = schema.get("minimum", schema.get("maximum", chance.randrange(9)))
    dates = {"date": "2024-05-06", "date-time": "2024-05-06T07:08:09Z"}
    text = dates.get(str(schema.get("format")), f"{chance.random()}")
    text = text[: schema.get("maxLength", 99)] + "x" * max(0, schema.get("minLength", 0) - len(text))
    others = {"integer": number, "number": number, "boolean": chance.random() < 0.5, "null": None}
    return others.get(str(name), text)


def n_values(tree: Any) -> int:
    """How many values a tree has: scalars, but for null."""
    if isinstance(tree, dict | list):
        return sum(map(n_values, tree.values() if isinstance(tree, dict) else tree))
    return int(tree is not None)


def of_instance(node: SchemaNode, schema: Any, tree: Any, others: list[Any]) -> str:
    """What is wrong with the score of a valid instance against itself."""
    try:
        for form in [json.dumps(tree), *([] if isinstance(tree, str) else [tree])]:
            score = tree_eval([form], [form], node)
            found = score.as_dict()
            if not all(math.isnan(own) or own > 1 - 1e-9 for own in (found["f1_value"], found["treeval_score"])):
                return "misread: a valid instance does not score 1"
            if score.units[0]["value_wanted"] != n_values(tree):
                return "misread: not every value of an instance counts"
    except InputError as error:
        if ": unknown: not in the schema" in error.got:
            return "loaded; an instance has a key that the schema does not name"
        if is_valid(explicit(schema), tree) is False:
            return "loaded; an instance has a value that the schema does not describe"
        return f"misread: a valid instance is refused, {error.got.rpartition(': ')[2][:50]}"
    for other in others:  # an answer that does not comply costs points, never a run
        f1 = tree_eval([json.dumps(other)], [json.dumps(tree)], node).as_dict()["f1_value"]
        if not (math.isnan(f1) or 0 <= f1 <= 1):
            return "misread: a score outside of 0 to 1"
    return ""


def verdict(schema: Any, tests: list[Any], n_drawn: int = 0) -> tuple[str, int]:
    """What became of a schema, and how many valid instances were scored."""
    try:
        node = read_schema(schema, form="json_schema")
    except InputError as error:
        return "refused: " + re.sub(r"'[^']*'|\{.*\}|\[.*\]", "…", error.got.partition(" at $")[0])[:60], 0
    for _, path in zip(range(MOST_PATHS), named(schema, schema), strict=False):
        if not has(node, path):
            return "misread: a property", 0
    valid = [test["data"] for test in tests if test.get("valid") and test.get("data") is not None]
    others = [test.get("data") for test in tests if not test.get("valid")]
    chance = random.Random(0)
    made = [drawn(schema, schema, chance) for _ in range(n_drawn)]
    valid += [tree for tree in made if tree is not None and is_valid(schema, tree)]
    trouble = list(filter(None, (of_instance(node, schema, tree, others) for tree in valid)))
    worst = next((own for own in trouble if own.startswith("misread")), trouble[0] if trouble else "loaded")
    return worst, len(valid) - len(trouble)


def main() -> None:
    """Read the files and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one of so many files")
    parser.add_argument("--draw", type=int, default=0, help="so many instances to draw at random for each schema")
    parser.add_argument("--seconds", type=int, default=10, help="the most CPU time for one schema with its instances")
    parser.add_argument("--list", action="store_true", help="name the files that were not just loaded")
    args = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    counts, n_scored = Counter[str](), 0
    for path in sorted(args.folder.rglob("*.json"))[:: args.every]:
        document = json.loads(path.read_text(encoding="utf-8"))
        is_case = isinstance(document, dict) and "tests" in document and "schema" in document
        schema, tests = (document["schema"], document["tests"]) if is_case else (document, [])
        signal.setitimer(signal.ITIMER_PROF, args.seconds)
        try:
            found, n = verdict(schema, tests, args.draw)
        except _TooSlowError:
            found, n = f"slow: more than {args.seconds} s", 0
        except Exception as error:
            found, n = f"failed: {type(error).__name__}", 0
        signal.setitimer(signal.ITIMER_PROF, 0)
        counts[found] += 1
        n_scored += n
        if args.list and found != "loaded":
            print(path.name, found, flush=True)
    print(f"{counts.total()} schemas, {n_scored} valid instances scored")
    for found, n in counts.most_common():
        print(f"{n:6} {found}")


if __name__ == "__main__":
    main()
