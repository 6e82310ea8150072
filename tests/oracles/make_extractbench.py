"""Writes ``extractbench.jsonl``: made-up pairs of trees with the numbers of ExtractBench's own code.

It needs the repository run-llama/ExtractBench (Apache-2.0, git 0aa76ce), Python 3.12, and of its packages scipy,
pydantic, python-dateutil, rapidfuzz and autoevals::

    python make_extractbench.py EXTRACTBENCH/src > extractbench.jsonl
    python make_extractbench.py EXTRACTBENCH/src 2000 > /tmp/pairs.jsonl    # 2,000 pairs of any size

Pairs are drawn with seeds 0, 1, 2 …; without a number, those that are short and have a cell are kept.
"""

import json
import random
import sys
import warnings

DATES = [
    *["2024-05-03", "May 3, 2024", "May 3,2024", "05/03/2024", "5/3/24", "3 May 2024", "Fri May 3, 2024", "2024-5-3"],
    *["2024-05-03T10:00:00Z", "2024-05-03 10:00 XYZ", "2024-05-03 25:00", "2024-05-04", "2024-13-45", "1850-01-01"],
    *["Foo 3, 2024", "Due 2024-05-03", "Sept. 5, 2023", "5 Sept 2023", "2023-09-05", "٣-٤-٢٠٢٤", "01-02-1976"],
    *["1/2/76", "1/2/75", "1976-01-02", "2075-01-02", "1975-01-02"],
]
TEXTS = [
    *[
        "",
        " ",
        "Rain",
        "rain",
        "Rain ",
        "Rain\n coat",
        "Rain coat",
        "A\u00a0B",
        "A B",
        "Café",
        "Cafe\u0301",
        "東京",
        "ß",
        "SS",
    ],
    *["null", "true", "1", "1.0", "1,000", "Acme, Inc.", "Acme Inc", "acme inc", "x" * 60, "12345678901", "20240503"],
    *DATES,
]
SIMILAR = [
    "The quick brown fox jumps over the lazy dog",
    "The quick brown fox, jumps over the lazy dog!",
    "the quick brown fox jumps over the lazy dogs",
    "the quick brown fox leaps over the lazy dog",
    *["Supreme Court", "Supreme Courts", "SUPREME  COURT.", "Superior Court", "!!", "", "..."],
]
NUMBERS = [0, 1, 2, -1, 100, 2**53 + 1, 0.0, 1.0, 0.1, 0.30000000000000004, 100.0, 1e300, float(2**53)]
NAMES = ["a", "b", "c", "d", "description", "court", "_provenance", "value", "naïve key", "lines"]
ODD_SCHEMAS = [{}, {"type": ["array", "null"]}, {"type": "array"}, {"type": "array", "items": {}}, {"type": "string"}]
COUNTS = ("v_correct", "expected_cells", "predicted_cells", "expected_rows", "predicted_rows", "value_incomplete")
LONGEST = 900


class Draw(random.Random):
    def chance(self, p):
        return self.random() < p

    def scalar(self):
        texts = [self.choice(SIMILAR), *[self.choice(TEXTS)] * 4]
        return self.choice([None, self.chance(0.5), *[self.choice(NUMBERS)] * 2, *texts])

    def value(self, depth=0):
        kind = self.random()
        if depth > 3 or kind < 0.55:
            return self.scalar()
        if kind < 0.62:
            return [self.scalar() for _ in range(self.randrange(4))]
        if kind < 0.70:
            return {self.choice(NAMES): self.value(depth + 1) for _ in range(self.randrange(4))}
        if kind < 0.74:
            return [self.value(depth + 1) for _ in range(self.randrange(4))]
        return self.records(depth)

    def records(self, depth):
        """Few different values, so that many pairings are equally good."""
        keys, pool = self.sample(NAMES, self.randrange(1, 5)), [self.scalar() for _ in range(self.randrange(1, 6))]
        deep, rows = self.choice(keys) if self.chance(0.4) else None, []
        for _ in range(self.randrange(6)):
            row = {
                key: self.value(depth + 1) if self.chance(0.3) else self.choice(pool)
                for key in keys
                if self.chance(0.9)
            }
            if deep:
                names = self.sample(NAMES, 2)
                row[deep] = [{name: self.choice(pool) for name in names} for _ in range(self.randrange(4))]
            rows.append(self.scalar() if self.chance(0.04) else row)
        return rows

    def ties(self):
        """Records whose own fields decide little, with lists within them."""
        return {
            "lines": [
                {"a": self.randrange(2), "d": [{"b": self.randrange(3)} for _ in range(self.randrange(4))]}
                for _ in range(self.randrange(2, 6))
            ]
        }

    def texts(self):
        """Dates in many forms, and text where likeness will do."""
        lines = [{"description": self.choice(SIMILAR), "court": self.choice(SIMILAR)} for _ in range(3)]
        return {"lines": lines, **{key: self.choice(DATES) for key in NAMES[:4]}}

    def answer(self, value, depth=0):
        """A reference as a model might give it back."""
        if self.chance(0.08):
            return self.value(depth)
        if isinstance(value, list):
            items = [self.answer(item, depth + 1) for item in value]
            if self.chance(0.4):
                self.shuffle(items)
            if items and self.chance(0.25):
                items.pop(self.randrange(len(items)))
            if value and self.chance(0.25):
                items.insert(self.randrange(len(items) + 1), self.answer(self.choice(value), depth + 1))
            return items
        if isinstance(value, dict):
            tree = {key: self.answer(own, depth + 1) for key, own in value.items() if self.chance(0.94)}
            return tree | ({self.choice(NAMES): self.value(depth)} if self.chance(0.05) else {})
        if isinstance(value, str) and self.chance(0.15):
            return self.choice([value + " ", value.upper(), value.replace(" ", "  "), value[:-1], self.scalar()])
        return self.choice([str(value), self.scalar(), None]) if self.chance(0.15) else value

    def schema(self, value):
        if self.chance(0.06):
            return self.choice(ODD_SCHEMAS)
        if isinstance(value, dict):
            return self.object(value)
        if not isinstance(value, list):
            return {"type": "string"}
        fields = {key: own for item in value if isinstance(item, dict) for key, own in item.items()}
        fields |= {self.choice(NAMES): None} if self.chance(0.1) else {}
        kind = self.choice([{"type": "array"}] * 8 + [{"type": ["array", "null"]}, {}])
        return {**kind, "items": self.object(fields) if fields else {"type": "string"}}

    def object(self, fields):
        return {"type": "object", "properties": {k: self.schema(v) for k, v in fields.items() if self.chance(0.9)}}


def draw(seed):
    by = Draw(f"extractbench-{seed}")
    if seed % 8 < 2:
        kind = (by.ties, by.texts)[seed % 8]
        return kind(), kind(), {}
    expected = {key: by.value() for key in by.sample(NAMES, by.choice([0, *[1, 2, 3, 4, 5] * 5]))}
    actual = by.answer(expected) if by.chance(0.85) else by.value()
    schema = {} if by.chance(0.3) else by.object(expected | {by.choice(NAMES): [{"a": 1, "lines": [{"b": 1}]}]})
    wrap = by.random()
    return {"value": expected} if wrap < 0.02 else expected, {"value": actual} if wrap > 0.98 else actual, schema


def main(source, wanted=None):
    sys.path.insert(0, source)
    from extract_bench.evaluation.metrics.extract.unified_evidence_metric import compute_unified_evidence_metrics

    warnings.simplefilter("ignore")  # of unknown time zones
    n_left, seed = int(wanted or 300), 0
    while n_left:
        expected, actual, schema = draw(seed)
        seed += 1
        metrics = {one.metric_name: one for one in compute_unified_evidence_metrics(expected, actual, [], None, schema)}
        found = {name: metric.value for name, metric in metrics.items()}
        if metrics:
            counts = metrics["extract_unified_value_f1"].metadata
            found |= {name: int(counts[name]) for name in COUNTS}
        case = {"seed": seed - 1, "expected": expected, "actual": actual, "schema": schema, "scores": found}
        line = json.dumps(case, ensure_ascii=False)
        if wanted or (len(line) <= LONGEST and found.get("expected_cells", 0) > 1):
            n_left -= 1
            print(line)  # noqa: T201 - its only output


if __name__ == "__main__":
    main(*sys.argv[1:])
