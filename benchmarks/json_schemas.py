"""Read many JSON Schemas: how many load, how many are refused, and how many are misread; prints counts.

    python benchmarks/json_schemas.py FOLDER [--every 4] [--seconds 10] [--list]

FOLDER holds JSON files at any depth: a schema each, or ``{"schema": …, "tests": [{"valid": true, "data": …}]}`` as in
maskbench/data of guidance-ai/jsonschemabench. A schema is misread if it names a property that the nodes read from it
don't have at that path, or if a valid instance does not score 1 against itself (``f1_value``, which is NaN where the
instance has no value, and ``treeval_score``).
"""

from __future__ import annotations

import argparse
import json
import math
import re
import signal
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import Again, Branch, ListOf, OneOf, SchemaNode

MOST_PATHS, MOST_STEPS = 2_000, 12
CASES = ("allOf", "anyOf", "oneOf")


class _TooSlowError(Exception):
    pass


def _stop(*_: Any) -> None:
    raise _TooSlowError


def named(schema: Any, root: Any, path: tuple[Hashable, ...] = (), above: tuple[int, ...] = ()) -> Iterator[Any]:
    """The paths of the properties that a schema names; items of lists have the path of their list."""
    if not isinstance(schema, Mapping) or id(schema) in above or len(path) > MOST_STEPS:
        return
    above = (*above, id(schema))
    properties = schema.get("properties")
    for key, own in properties.items() if isinstance(properties, Mapping) else ():
        if own is not False:
            yield (*path, key)
            yield from named(own, root, (*path, key), above)
    inner = [schema.get(key) for key in ("items", "if", "then", "else")]
    inner += [part for key in CASES if isinstance(schema.get(key), list) for part in schema[key]]
    if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target.get(step) if isinstance(target, Mapping) else None
        inner.append(target)
    for own in inner:
        yield from named(own, root, path, above)


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


def verdict(schema: Any, tests: list[Any]) -> tuple[str, int]:
    """What became of a schema, and how many valid instances were scored."""
    try:
        node = read_schema(schema, form="json_schema")
    except InputError as error:
        return "refused: " + re.sub(r"'[^']*'|\{.*\}|\[.*\]", "…", error.got.partition(" at $")[0])[:60], 0
    for _, path in zip(range(MOST_PATHS), named(schema, schema), strict=False):
        if not has(node, path):
            return "misread: a property", 0
    valid = [test["data"] for test in tests if test.get("valid") and test.get("data") is not None]
    for tree in valid:
        try:
            text = json.dumps(tree)
            found = tree_eval([text], [text], node).as_dict()
        except InputError as error:
            if ": unknown: not in the schema" in error.got:
                return "loaded; an instance has a key that the schema does not name", 0
            return f"misread: a valid instance is refused, {error.got.rpartition(': ')[2][:50]}", 0
        if not all(math.isnan(value) or value > 1 - 1e-9 for value in (found["f1_value"], found["treeval_score"])):
            return "misread: a valid instance does not score 1", 0
    return "loaded", len(valid)


def main() -> None:
    """Read the files and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one of so many files")
    parser.add_argument("--seconds", type=int, default=10, help="the most for one schema with its instances")
    parser.add_argument("--list", action="store_true", help="name the files that were not just loaded")
    args = parser.parse_args()
    signal.signal(signal.SIGALRM, _stop)
    counts, n_scored = Counter[str](), 0
    for path in sorted(args.folder.rglob("*.json"))[:: args.every]:
        document = json.loads(path.read_text(encoding="utf-8"))
        is_case = isinstance(document, dict) and "tests" in document and "schema" in document
        schema, tests = (document["schema"], document["tests"]) if is_case else (document, [])
        signal.alarm(args.seconds)
        try:
            found, n = verdict(schema, tests)
        except _TooSlowError:
            found, n = f"slow: more than {args.seconds} s", 0
        except Exception as error:
            found, n = f"failed: {type(error).__name__}", 0
        signal.alarm(0)
        counts[found] += 1
        n_scored += n
        if args.list and found != "loaded":
            print(path.name, found, flush=True)
    print(f"{counts.total()} schemas, {n_scored} valid instances scored")
    for found, n in counts.most_common():
        print(f"{n:6} {found}")


if __name__ == "__main__":
    main()
