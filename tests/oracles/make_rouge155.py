"""Record what ROUGE-1.5.5 itself gives, through an installed tilse: word stems and n-gram counts.

    pip install tilse==0.2.1          # and Perl's XML::Parser
    python tests/oracles/make_rouge155.py [--pairs 150] [--words 4000]

Writes ``rouge155_stems.tsv`` (word, stem) and ``rouge155_counts.jsonl`` (prediction, references, the six counts) beside
this file. The texts are made here, from the words of the embedded edition and from characters that a tokeniser trips
over.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
EMBEDDED = HERE.parent.parent / "tls_tasks" / "data" / "embedded"
SUFFIXES = (
    "s es ed ing eed y ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness "
    "ousness aliti iviti biliti logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment "
    "ent ou ism ate iti ous ive ize ion sion tion e ll l"
).split()
ODD = ["<", ">", "^", "&", "&amp;", "-", "–", "—", "'", "’", '"', "$", "_", "é", "ï", "\u00a0", "\u2028", "\x00",
       "開羅", "😀", "ﬁ", "K", "İ", "9,000", "U.S.", "co-op", "didn't", "3rd", "a<b", "x^y", "\t", "..."]  # fmt: skip


def embedded_words() -> list[str]:
    """All different lower-case words of the embedded articles."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted(EMBEDDED.glob("*/*/articles.jsonl")))
    return sorted(set(re.findall(r"[a-z0-9]+", text.lower())))


def make_words(n: int, generator: random.Random) -> list[str]:
    """Real words, stacked suffixes and letter salad with many y, vowels and digits."""
    real = embedded_words()
    words = set(generator.sample(real, min(len(real), n // 2)))
    while len(words) < n:
        stem = generator.choice(real)[: generator.randint(1, 8)]
        words.add(stem + "".join(generator.choices(SUFFIXES, k=generator.randint(1, 3))))
        words.add("".join(generator.choices("abeyyiosldtn1z", k=generator.randint(1, 10))))
    return sorted(words)[:n]


def perl_stems(words: list[str], script: Path) -> list[str]:
    """The stems by the stemmer inside ROUGE-1.5.5.pl, run from the installed script, not from a copy."""
    program = (
        "undef $/; open(F, shift @ARGV); $code = <F>; close F; $/ = chr(10);"
        "$code = substr($code, index($code, 'local %step2list;')); $code =~ s/^1;$//m; eval $code; die $@ if $@;"
        "initialise(); while (<STDIN>) { chomp; print stem($_), chr(10); }"
    )
    output = subprocess.run(
        ["perl", "-e", program, str(script)], input="\n".join(words) + "\n", capture_output=True, text=True, check=True
    )
    return output.stdout.splitlines()


def make_sentences(words: list[str], generator: random.Random) -> list[str]:
    """Up to four sentences, some empty, with capitals and odd characters."""
    sentences = []
    for _ in range(generator.randint(0, 4)):
        tokens = []
        for word in generator.choices(words, k=generator.choice([0, 1, 3, 8, 15])):
            case = generator.random()
            tokens.append(word.upper() if case < 0.05 else word.capitalize() if case < 0.2 else word)
            if generator.random() < 0.12:
                odd = generator.choice(ODD)
                tokens[-1:] = [tokens[-1] + odd] if generator.random() < 0.5 else [tokens[-1], odd]
        sentences.append(" ".join(tokens))
    return sentences


def perl_counts(prediction: list[str], references: list[list[str]]) -> dict[str, int]:
    """The six counts, by tilse's own way of calling the script."""
    from pyrouge import Rouge155

    rouge = Rouge155(average="raw", stem=True, ignore_stopwords=True)
    given = {str(number): [sentence.split() for sentence in reference] for number, reference in enumerate(references)}
    counts = rouge.score_summary([sentence.split() for sentence in prediction], given)
    return {f"{letter}{n}": int(counts[f"rouge_{n}_{letter}_count"]) for n in (1, 2) for letter in "hpm"}


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--words", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    import pyrouge

    script = Path(pyrouge.__file__).parent / "tools" / "ROUGE-1.5.5" / "ROUGE-1.5.5.pl"
    generator = random.Random(155)
    words = make_words(arguments.words, generator)
    rows = [f"{word}\t{stem}" for word, stem in zip(words, perl_stems(words, script), strict=True)]
    (arguments.out / "rouge155_stems.tsv").write_text("\n".join(rows) + "\n", encoding="ascii")
    vocabulary = [*generator.sample(embedded_words(), 9), "the", "of", "men", "went", "children", "days", "day"]
    with (arguments.out / "rouge155_counts.jsonl").open("w", encoding="utf-8") as file:
        for _ in range(arguments.pairs):
            prediction = make_sentences(vocabulary, generator)
            references = [make_sentences(vocabulary, generator) for _ in range(generator.randint(1, 3))]
            row = {"prediction": prediction, "references": references, "counts": perl_counts(prediction, references)}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
